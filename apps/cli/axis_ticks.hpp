// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "io/number_text.hpp"

namespace carom::cli {

/// An interval of an axis.
struct Range {
  double low;
  double high;
};

struct Tick {
  double value;
  std::string label;
};

/// A number for a label, with a true minus sign.
[[nodiscard]] inline std::string label_text(double value) {
  std::string text = files::format_rounded(std::abs(value) < 1e-12 ? 0.0 : value, 4);
  if (text.front() == '-') text.replace(0, 1, "−");
  return text;
}

/// Ticks at 1, 2 or 5 times a power of ten, about `count` of them.
[[nodiscard]] inline std::vector<Tick> make_ticks(Range range, int count = 5) {
  const double rough = (range.high - range.low) / count;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * decade >= 0.999 * rough) step = factor * decade;
  }
  std::vector<Tick> ticks;
  const auto first = static_cast<long>(std::ceil(range.low / step - 1e-9));
  const auto last = static_cast<long>(std::floor(range.high / step + 1e-9));
  for (long i = first; i <= last; ++i) {
    ticks.push_back({double(i) * step, label_text(double(i) * step)});
  }
  return ticks;
}

/// Ticks at powers of ten for an axis with log₁₀ of its quantity.
[[nodiscard]] inline std::vector<Tick> make_decade_ticks(Range exponents) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto low = static_cast<int>(std::ceil(exponents.low));
  const auto high = static_cast<int>(std::floor(exponents.high));
  const int stride = (high - low) / 5 + 1;
  std::vector<Tick> ticks;
  for (int e = high; e >= low; e -= stride) {
    std::string label = e < 0 ? "10⁻" : "10";
    for (const char c : std::to_string(std::abs(e))) label += digits[c - '0'];
    ticks.push_back({double(e), e == 0 ? "1" : label});
  }
  return ticks;
}

}  // namespace carom::cli
