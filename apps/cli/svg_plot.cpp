// SPDX-License-Identifier: BSD-3-Clause
#include "cli/svg_plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace carom::cli {

std::string make_bar_chart(const std::string& title, const std::vector<Bar>& bars, double largest,
                           const std::string& style) {
  constexpr int width = 440, left = 128, right = 84, row = 36, top = 6;
  const int height = top + row * int(bars.size()) + 4;
  std::string text = "<svg viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) +
                     "\" role=\"img\" aria-label=\"" + title + "\">\n";
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const int y = top + row * int(i);
    text += "<text class=\"tick bar-name\" x=\"" + std::to_string(left - 8) + "\" y=\"" +
            std::to_string(y + 20) + "\" text-anchor=\"end\">" + bars[i].name + "</text>\n";
    if (!std::isfinite(bars[i].value)) continue;
    const double share = std::clamp(bars[i].value / largest, 0.0, 1.0);
    const int length = 2 + int((width - left - right) * share);
    text += "<rect class=\"bar " + style + "\" x=\"" + std::to_string(left) + "\" y=\"" +
            std::to_string(y + 5) + "\" width=\"" + std::to_string(length) +
            "\" height=\"20\" rx=\"2.5\"/>\n";
    text += "<text class=\"value\" x=\"" + std::to_string(left + length + 6) + "\" y=\"" +
            std::to_string(y + 20) + "\">" + bars[i].label + "</text>\n";
  }
  return text + "<line class=\"frame\" x1=\"128\" y1=\"2\" x2=\"128\" y2=\"" +
         std::to_string(height - 2) + "\"/>\n</svg>\n";
}

}  // namespace carom::cli
