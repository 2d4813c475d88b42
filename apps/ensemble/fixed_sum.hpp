// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

namespace carom::ensemble {

/// A sum of doubles that does not depend on their order: 128 bits, 64 of them after the binary
/// point.
///
/// Each number is truncated separately to a multiple of 2⁻⁶⁴, towards zero. The error of the sum is
/// therefore below 2⁻⁶⁴ per number; additions are exact integer additions. Numbers that are not
/// finite or beyond 2³¹ are not added but counted, so that 2³¹ numbers of any sign cannot overflow.
class FixedSum {
 public:
  void add(double number) noexcept {
    constexpr double largest = 0x1p31;
    if (!(std::abs(number) <= largest)) {
      ++left_out_;
      return;
    }
    const double size = std::abs(number), whole = std::floor(size);
    const auto high = std::uint64_t(whole);
    // in [0, 1): both operations are exact
    const auto low = std::uint64_t((size - whole) * 0x1p64);
    if (number < 0) {
      add_words(~high + (low == 0 ? 1U : 0U), ~low + 1);
    } else {
      add_words(high, low);
    }
    ++count_;
  }
  void add(const FixedSum& other) noexcept {
    add_words(other.high_, other.low_);
    count_ += other.count_;
    left_out_ += other.left_out_;
  }

  /// Count of numbers in the sum.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Count of numbers that were not finite or too large.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// The sum, rounded.
  [[nodiscard]] double value() const noexcept {
    const bool negative = (high_ >> 63U) != 0;  // in two's complement
    const std::uint64_t low = negative ? ~low_ + 1 : low_;
    const std::uint64_t high = negative ? ~high_ + (low_ == 0 ? 1U : 0U) : high_;
    const double size = double(high) + double(low) * 0x1p-64;
    return negative ? -size : size;
  }
  /// Mean of the numbers in the sum; 0 if there are none.
  [[nodiscard]] double mean() const noexcept { return count_ > 0 ? value() / double(count_) : 0.0; }

  /// The state, for files: visit(word) reads or sets each word.
  template <typename Visit>
  void visit_words(const Visit& visit) {
    for (std::uint64_t* word : {&high_, &low_, &count_, &left_out_}) visit(*word);
  }
  friend bool operator==(const FixedSum&, const FixedSum&) = default;

 private:
  void add_words(std::uint64_t high, std::uint64_t low) noexcept {
    low_ += low;
    high_ += high + (low_ < low ? 1U : 0U);
  }

  std::uint64_t high_ = 0, low_ = 0;  ///< two's complement, in units of 1 and 2⁻⁶⁴
  std::uint64_t count_ = 0, left_out_ = 0;
};

}  // namespace carom::ensemble
