// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cli/axis_ticks.hpp"

namespace carom::cli {

struct PlotPoint {
  double x;
  double y;
};

/// A picture of curves and marks between two axes, as SVG text.
///
/// Colors are CSS classes, which the page defines for light and dark: `s1`, `s2`, `s3` for series,
/// `grid`, `frame`, `tick`, `name` for the axes. Everything is drawn in data coordinates and in the
/// order of the calls. A point with a coordinate that is not finite is omitted.
class SvgPlot {
 public:
  struct Axis {
    std::string label;
    Range range;
    std::vector<Tick> ticks;  ///< Computed from the range if empty.
  };

  SvgPlot(std::string title, Axis x, Axis y, double height = 300)
      : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)), height_(height) {
    if (x_.ticks.empty()) x_.ticks = make_ticks(x_.range);
    if (y_.ticks.empty()) y_.ticks = make_ticks(y_.range);
  }

  void curve(const std::vector<PlotPoint>& points, const std::string& style) {
    body_ += "<polyline class=\"line " + style + "\" points=\"" + coordinates(points) + "\"/>\n";
  }
  void area(const std::vector<PlotPoint>& points, const std::string& style) {
    body_ += "<polygon class=\"" + style + "\" points=\"" + coordinates(points) + "\"/>\n";
  }
  void dots(const std::vector<PlotPoint>& points, const std::string& style, double radius = 3.2) {
    for (const PlotPoint& p : points) {
      if (!has_place(p)) continue;
      body_ += "<circle class=\"dot " + style + "\" cx=\"" + number(to_x(p.x)) + "\" cy=\"" +
               number(to_y(p.y)) + "\" r=\"" + number(radius) + "\"/>\n";
    }
  }
  void arrow(PlotPoint from, PlotPoint to, const std::string& style) {
    if (!has_place(from) || !has_place(to)) return;
    body_ += "<line class=\"arrow " + style + "\" marker-end=\"url(#tip)\" x1=\"" +
             number(to_x(from.x)) + "\" y1=\"" + number(to_y(from.y)) + "\" x2=\"" +
             number(to_x(to.x)) + "\" y2=\"" + number(to_y(to.y)) + "\"/>\n";
  }
  /// Text at a point; anchor is `start`, `middle` or `end`.
  void note(PlotPoint at, const std::string& text, const char* anchor = "start",
            const std::string& style = "note") {
    if (!has_place(at)) return;
    body_ += svg_text(to_x(at.x), to_y(at.y), text, anchor, style);
  }

  /// The finished picture.
  [[nodiscard]] std::string str() const {
    return "<svg viewBox=\"0 0 " + number(width) + " " + number(height_) +
           "\" role=\"img\" aria-label=\"" + title_ + "\">\n" + axes() + body_ + "</svg>\n";
  }

 private:
  static constexpr double width = 440, left = 62, right = 12, top = 10, bottom = 46;

  [[nodiscard]] double to_x(double x) const noexcept {
    return left + (x - x_.range.low) / (x_.range.high - x_.range.low) * (width - left - right);
  }
  [[nodiscard]] double to_y(double y) const noexcept {
    return height_ - bottom -
           (y - y_.range.low) / (y_.range.high - y_.range.low) * (height_ - top - bottom);
  }
  [[nodiscard]] bool has_place(PlotPoint p) const noexcept {
    return std::isfinite(to_x(p.x)) && std::isfinite(to_y(p.y));
  }
  [[nodiscard]] static std::string number(double value) {
    char text[64];
    const auto [stop, error] =
        std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 1);
    return error == std::errc{} ? std::string(text, stop) : "0";
  }
  [[nodiscard]] std::string coordinates(const std::vector<PlotPoint>& points) const {
    std::string text;
    for (const PlotPoint& p : points) {
      if (!has_place(p)) continue;
      text += (text.empty() ? "" : " ") + number(to_x(p.x)) + "," + number(to_y(p.y));
    }
    return text;
  }
  [[nodiscard]] static std::string svg_text(double x, double y, const std::string& text,
                                            const char* anchor, const std::string& style) {
    return "<text class=\"" + style + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
           "\" text-anchor=\"" + anchor + "\">" + text + "</text>\n";
  }
  [[nodiscard]] static std::string line(const char* style, double x1, double y1, double x2,
                                        double y2) {
    return std::string("<line class=\"") + style + "\" x1=\"" + number(x1) + "\" y1=\"" +
           number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
  }
  /// Grid lines, tick labels, the zero line, axis names.
  [[nodiscard]] std::string axes() const {
    const double floor = height_ - bottom, end = width - right;
    std::string text;
    for (const Tick& tick : x_.ticks) {
      const double x = to_x(tick.value);
      text += line("grid", x, top, x, floor);
      text += svg_text(x, floor + 17, tick.label, "middle", "tick");
    }
    for (const Tick& tick : y_.ticks) {
      const double y = to_y(tick.value);
      text += line("grid", left, y, end, y);
      text += svg_text(left - 7, y + 4, tick.label, "end", "tick");
    }
    text += line("frame", left, floor, end, floor) + line("frame", left, top, left, floor);
    text += svg_text((left + end) / 2, height_ - 6, x_.label, "middle", "name");
    const double middle = (top + floor) / 2;
    text += "<text class=\"name\" text-anchor=\"middle\" transform=\"translate(13 " +
            number(middle) + ") rotate(-90)\">" + y_.label + "</text>\n";
    return text;
  }

  std::string title_;
  Axis x_, y_;
  double height_;
  std::string body_;
};

/// One bar of a chart: its name, its length, the text at its end.
struct Bar {
  std::string name;
  double value;
  std::string label;
};

/// Horizontal bars from zero to `largest`, as SVG text. For a value that is not finite, only the
/// name is shown.
[[nodiscard]] std::string make_bar_chart(const std::string& title, const std::vector<Bar>& bars,
                                         double largest, const std::string& style);

}  // namespace carom::cli
