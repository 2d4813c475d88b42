// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace carom::files {

/// Reads a whole word as a finite number, independent of the locale. A magnitude below the smallest
/// double is read as zero. The result is empty for anything else, including `nan`, `inf` and
/// `1e999`.
[[nodiscard]] inline std::optional<double> parse_number(std::string_view word) noexcept {
  const char* const end = word.data() + word.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (stop != end || word.empty()) return {};
  if (error == std::errc::result_out_of_range) {  // too large, or so small that it is zero
    long double wide = 0;
    const auto wide_result = std::from_chars(word.data(), end, wide);
    if (wide_result.ec != std::errc{} || !(wide < 1 && wide > -1)) return {};
    return static_cast<double>(wide);
  }
  if (error != std::errc{} || !std::isfinite(value)) return {};
  return value;
}

/// Reads a whole word as a whole number ≥ 0.
[[nodiscard]] inline std::optional<std::int64_t> parse_count(std::string_view word) noexcept {
  const char* const end = word.data() + word.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (stop != end || word.empty() || error != std::errc{} || value < 0) return {};
  return value;
}

/// The shortest text that reads back as the same double.
[[nodiscard]] inline std::string format_number(double value) {
  char text[32];
  const auto [stop, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc{} ? std::string(text, stop) : std::string("nan");
}

/// A rounded number for readers: `digits` significant digits, as in %g.
[[nodiscard]] inline std::string format_rounded(double value, int digits) {
  char text[48];
  const auto [stop, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
  return error == std::errc{} ? std::string(text, stop) : std::string("nan");
}

}  // namespace carom::files
