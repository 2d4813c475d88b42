// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace carom::cli {

/// Count of characters that a terminal shows for UTF-8 text.
[[nodiscard]] inline std::size_t shown_width(const std::string& text) noexcept {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return width;
}

/// Rows of cells as lines with aligned columns: the first column to the left, others to the right.
[[nodiscard]] inline std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], shown_width(row[c]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - shown_width(row[c]), ' ');
      text += c == 0 ? row[c] + padding : "  " + padding + row[c];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace carom::cli
