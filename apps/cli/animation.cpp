// SPDX-License-Identifier: BSD-3-Clause
#include "cli/animation.hpp"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

namespace carom::cli {
namespace {

constexpr double picture_width = 440;  ///< of the picture

/// Fixed notation, one decimal.
std::string number(double value) {
  char text[64];
  const auto [stop, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 1);
  return error == std::errc{} ? std::string(text, stop) : "0";
}

/// Numbers as differences from the numbers before.
std::string differences(const std::vector<long>& numbers, std::vector<long> before) {
  std::string text;
  before.resize(numbers.size(), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(numbers[i] - before[i]);
  }
  return text;
}

}  // namespace

Animation::Animation(std::string title, Range x, Range y)
    : title_(std::move(title)), x_(x), y_(y), scale_(picture_width / (x.high - x.low)) {}

void Animation::backdrop(PlotPoint low, PlotPoint high, const std::string& style) {
  still_ += "<rect class=\"" + style + "\" x=\"" + number(to_x(low.x)) + "\" y=\"" +
            number(to_y(high.y)) + "\" width=\"" + number((high.x - low.x) * scale_) +
            "\" height=\"" + number((high.y - low.y) * scale_) + "\"/>\n";
}

void Animation::line(PlotPoint from, PlotPoint to, const std::string& style) {
  still_ += "<line class=\"" + style + "\" x1=\"" + number(to_x(from.x)) + "\" y1=\"" +
            number(to_y(from.y)) + "\" x2=\"" + number(to_x(to.x)) + "\" y2=\"" +
            number(to_y(to.y)) + "\"/>\n";
}

void Animation::ball(std::size_t centre, double radius, const std::string& style) {
  shapes_.push_back({{centre}, radius * scale_, style});
}

void Animation::limb(const std::vector<std::size_t>& joints, const std::string& style) {
  shapes_.push_back({joints, 0, style});
}

void Animation::add_frame(double time, const std::vector<PlotPoint>& points) {
  times_.push_back(std::lround(1000 * time));
  std::vector<long> frame;
  for (const PlotPoint& point : points) {
    frame.push_back(std::lround(10 * to_x(point.x)));
    frame.push_back(std::lround(10 * to_y(point.y)));
  }
  frames_.push_back(std::move(frame));
}

std::string Animation::shape_text(const Shape& shape) const {
  std::string hung, places;
  for (const std::size_t point : shape.points) {
    hung += (hung.empty() ? "" : " ") + std::to_string(point);
    places += (places.empty() ? "" : " ") + number(double(frames_.front()[2 * point]) / 10) + "," +
              number(double(frames_.front()[2 * point + 1]) / 10);
  }
  if (shape.radius == 0) {
    return "<polyline class=\"limb " + shape.style + "\" data-points=\"" + hung + "\" points=\"" +
           places + "\"/>\n";
  }
  const std::size_t comma = places.find(',');
  return "<circle class=\"ball " + shape.style + "\" data-points=\"" + hung + "\" cx=\"" +
         places.substr(0, comma) + "\" cy=\"" + places.substr(comma + 1) + "\" r=\"" +
         number(shape.radius) + "\"/>\n";
}

/// {"times":[..],"frames":[[..]..]}: each number minus its predecessor in time.
std::string Animation::frames_text() const {
  std::string text = "{\"times\":[";
  for (std::size_t k = 0; k < times_.size(); ++k) {
    text += (k == 0 ? "" : ",") + std::to_string(times_[k] - (k == 0 ? 0 : times_[k - 1]));
  }
  text += "],\n\"frames\":[";
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    text += (k == 0 ? "[" : ",\n[") +
            differences(frames_[k], k == 0 ? std::vector<long>{} : frames_[k - 1]) + "]";
  }
  return text + "]}";
}

std::string Animation::str() const {
  std::string text = "<div class=\"player\">\n<svg viewBox=\"0 0 " + number(picture_width) + " " +
                     number((y_.high - y_.low) * scale_) + "\" role=\"img\" aria-label=\"" +
                     title_ + "\">\n" + still_;
  for (const Shape& shape : shapes_) text += shape_text(shape);
  return text +
         "</svg>\n<div class=\"controls\" hidden><button type=\"button\" class=\"play\">Play"
         "</button><input type=\"range\" min=\"0\" max=\"" +
         std::to_string(frames_.size() - 1) +
         "\" step=\"1\" value=\"0\" aria-label=\"Time of: " + title_ +
         "\"><output>0.00 s</output></div>\n<script type=\"application/json\">" + frames_text() +
         "</script>\n</div>\n";
}

const char* const animation_script = R"js(
(() => {
  const rate = 30;  // frames per second
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  function sums(rows) {  // from differences to values
    let before = null;
    return rows.map(row => before = before ? row.map((d, i) => d + before[i]) : row);
  }

  function start(player) {
    const data = JSON.parse(player.querySelector("script").textContent);
    const times = sums(data.times.map(t => [t])).map(t => t[0] / 1000);
    const frames = sums(data.frames);
    const last = frames.length - 1;
    const shapes = [...player.querySelectorAll("[data-points]")].map(
      element => ({element, points: element.dataset.points.split(" ").map(Number)}));
    const [button, slider, clock] = player.querySelector(".controls").children;
    let at = 0, playing = !still.matches, seen = true, before = null;

    function show() {
      const k = Math.min(Math.floor(at), last), next = Math.min(k + 1, last), part = at - k;
      const mix = i => ((1 - part) * frames[k][i] + part * frames[next][i]) / 10;
      for (const {element, points} of shapes) {
        if (element.tagName === "circle") {
          element.setAttribute("cx", mix(2 * points[0]).toFixed(2));
          element.setAttribute("cy", mix(2 * points[0] + 1).toFixed(2));
        } else {
          element.setAttribute("points",
            points.map(p => mix(2 * p).toFixed(2) + "," + mix(2 * p + 1).toFixed(2)).join(" "));
        }
      }
      const time = ((1 - part) * times[k] + part * times[next]).toFixed(2) + " s";
      clock.textContent = time;
      slider.value = k;
      slider.setAttribute("aria-valuetext", time);
    }
    function turn(now) {
      if (!playing || !seen) { before = null; return; }
      if (before !== null) at += Math.min(now - before, 100) / 1000 * rate;
      before = now;
      if (at > last + rate) at = 0;  // rests for a second at the end
      const kept = at;
      at = Math.min(at, last);
      show();
      at = kept;
      requestAnimationFrame(turn);
    }
    function set(on) {
      const moving = playing && seen;
      playing = on;
      button.textContent = on ? "Pause" : "Play";
      if (on && seen && !(moving && before !== null)) requestAnimationFrame(turn);
    }
    button.addEventListener("click", () => {
      if (!playing && at >= last) at = 0;
      set(!playing);
    });
    slider.addEventListener("input", () => { set(false); at = Number(slider.value); show(); });
    still.addEventListener("change", () => { if (still.matches) set(false); });
    new IntersectionObserver(entries => {
      const was = seen;
      seen = entries[entries.length - 1].isIntersecting;
      if (seen && !was && playing) requestAnimationFrame(turn);
    }).observe(player);
    player.querySelector(".controls").hidden = false;
    show();
    playing = false;
    set(!still.matches);
  }
  document.querySelectorAll(".player").forEach(start);
})();
)js";

}  // namespace carom::cli
