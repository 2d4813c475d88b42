// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "fclib/comparison.hpp"

namespace carom::benchmarks {

namespace {

/// The picture [px]: a frame with the curves, their names to its right.
constexpr double frame_left = 60, frame_top = 40, frame_width = 480, frame_height = 320;
constexpr double picture_width = 780, picture_height = 420;
constexpr int decades = 4;  ///< of the ratio to the best time

/// Okabe and Ito's colours, which also people with colour blindness can distinguish.
constexpr std::array<const char*, 8> colours{"#000000", "#d55e00", "#0072b2", "#009e73",
                                             "#cc79a7", "#e69f00", "#56b4e9", "#8c6d00"};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

double x_of(double ratio) {
  return frame_left + frame_width * std::min(std::log10(ratio) / decades, 1.0);
}
double y_of(double share) {
  return frame_top + frame_height * (1 - share);
}

std::string text(double x, double y, const std::string& anchor, const std::string& words) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
         words + "</text>\n";
}
std::string line(double x1, double y1, double x2, double y2, const std::string& style) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
         "\" y2=\"" + number(y2) + "\" " + style + "/>\n";
}

std::string axes() {
  const std::string grid = "stroke=\"#dddddd\"";
  std::string svg;
  for (int k = 0; k <= decades; ++k) {
    const double x = x_of(std::pow(10, k));
    svg += line(x, y_of(0), x, y_of(1), grid);
    svg += text(x, y_of(0) + 18, "middle", std::to_string(int(std::pow(10, k))));
  }
  for (int percent = 0; percent <= 100; percent += 20) {
    const double y = y_of(percent / 100.0);
    svg += line(x_of(1), y, frame_left + frame_width, y, grid);
    svg += text(frame_left - 6, y + 4, "end", std::to_string(percent) + " %");
  }
  svg += text(frame_left + frame_width / 2, y_of(0) + 40, "middle",
              "time relative to the best for the file");
  return svg;
}

/// Dashes also mark the solvers that are not carom's.
std::string stroke(const Comparison::Curve& curve, std::size_t index) {
  const bool own = curve.solver.starts_with("carom:");
  return std::string("fill=\"none\" stroke=\"") + colours[index % colours.size()] +
         "\" stroke-width=\"" + (own ? "2.2\"" : "1.4\" stroke-dasharray=\"6 3\"");
}

std::string steps(const Comparison::Curve& curve, const Comparison::Curve& best,
                  const std::string& style) {
  std::vector<double> ratios;
  for (std::size_t k = 0; k < curve.seconds.size(); ++k) {
    if (curve.seconds[k]) ratios.push_back(*curve.seconds[k] / *best.seconds[k]);
  }
  std::sort(ratios.begin(), ratios.end());
  double share = 0;
  std::string points = number(x_of(1)) + ',' + number(y_of(0));
  for (std::size_t k = 0; k < ratios.size(); ++k) {
    if (!(ratios[k] <= std::pow(10, decades))) break;
    points += ' ' + number(x_of(ratios[k])) + ',' + number(y_of(share));
    share = double(k + 1) / double(curve.seconds.size());
    points += ' ' + number(x_of(ratios[k])) + ',' + number(y_of(share));
  }
  points += ' ' + number(frame_left + frame_width) + ',' + number(y_of(share));
  return "<polyline points=\"" + points + "\" " + style + "/>\n";
}

}  // namespace

std::string profile_svg(const Comparison& comparison) {
  std::array<char, 96> title{};
  std::snprintf(title.data(), title.size(), "Share of %zu files solved to err &#8804; %.0e",
                comparison.file_count(), comparison.tolerance());
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(picture_width) +
                    "\" height=\"" + number(picture_height) +
                    "\" font-family=\"sans-serif\" font-size=\"12\">\n<title>" + title.data() +
                    "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  svg += text(frame_left + frame_width / 2, frame_top - 16, "middle", title.data()) + axes();
  const Comparison::Curve best = comparison.best("");
  std::size_t index = 0;
  for (const Comparison::Curve& curve : comparison.curves()) {
    const std::string style = stroke(curve, index);
    svg += steps(curve, best, style);
    const double x = frame_left + frame_width + 16, y = frame_top + 12 + 20 * double(index++);
    svg += line(x, y, x + 28, y, style) + text(x + 34, y + 4, "start", curve.solver);
  }
  return svg + "</svg>\n";
}

}  // namespace carom::benchmarks
