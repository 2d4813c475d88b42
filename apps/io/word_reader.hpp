// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/bad_input.hpp"
#include "io/number_text.hpp"

namespace carom::files {

/// The range of the numbers of a field.
enum class NumberRange { finite, nonnegative, positive };

/// The range as words, for messages.
[[nodiscard]] constexpr const char* describe(NumberRange range) noexcept {
  switch (range) {
    case NumberRange::finite:
      return "a finite number";
    case NumberRange::nonnegative:
      return "a finite number >= 0";
    case NumberRange::positive:
      return "a finite number > 0";
  }
  return "a number";
}

[[nodiscard]] constexpr bool in_range(double number, NumberRange range) noexcept {
  return range == NumberRange::finite || number > 0 ||
         (range == NumberRange::nonnegative && number == 0);
}

/// Reads text word by word and counts lines. A byte-order mark at the beginning, as some editors
/// write it, is skipped, and lines may end in CR LF. A missing item is reported as BadInput: "line
/// 7: body 0: size: expected a whole number >= 1, got '-3'". A place is passed as a function that
/// returns its name; it is called only for a message.
class WordReader {
 public:
  explicit WordReader(std::string_view text) noexcept : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  /// The next word, empty at the end of the text.
  std::string_view next() noexcept {
    while (at_ < text_.size() && is_space(text_[at_])) line_ += text_[at_++] == '\n' ? 1 : 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  /// Line of the last word, from 1.
  [[nodiscard]] std::int64_t line() const noexcept { return line_; }
  /// Count of characters that are not yet read.
  [[nodiscard]] std::size_t remaining() const noexcept { return text_.size() - at_; }

  [[noreturn]] void fail(const std::string& sentence) const {
    throw BadInput("line " + std::to_string(line_) + ": " + sentence);
  }
  [[noreturn]] void fail(const std::string& place, const std::string& expected,
                         std::string_view got) const {
    constexpr std::size_t most = 40;
    const std::string shown =
        got.empty() ? "the end of the file"
                    : "'" + std::string(got.substr(0, most)) + (got.size() > most ? "...'" : "'");
    fail((place.empty() ? "" : place + ": ") + "expected " + expected + ", got " + shown);
  }

  /// Reads one word, which must be the expected one.
  void keyword(const char* expected, const std::string& place = {}) {
    const std::string_view word = next();
    if (word != expected) fail(place, std::string("'") + expected + "'", word);
  }

  template <typename Place>
  double number(const Place& place, NumberRange range = NumberRange::finite) {
    const std::string_view word = next();
    const std::optional<double> value = parse_number(word);
    if (!value || !in_range(*value, range)) fail(place(), describe(range), word);
    return *value;
  }

  template <typename Place>
  std::int64_t count(const Place& place, std::int64_t least = 0) {
    const std::string_view word = next();
    const std::optional<std::int64_t> value = parse_count(word);
    if (!value || *value < least) {
      fail(place(), "a whole number >= " + std::to_string(least), word);
    }
    return *value;
  }

 private:
  [[nodiscard]] static bool is_space(char c) noexcept {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace carom::files
