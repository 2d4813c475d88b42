// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A number with the digits of double and an exponent of its own, m 2^e with 1 ≤ |m| < 2: squares
/// and products of any numbers of double neither overflow nor become zero.
///
/// Sums, products, quotients and roots are rounded as those of double, once each. The bits are the
/// same on every machine.
class WideRange {
 public:
  CAROM_DEVICE WideRange(double value = 0) noexcept  // NOLINT(google-explicit-constructor)
      : WideRange(value, 0) {}

  /// The nearest double; infinite or zero if it leaves the range.
  [[nodiscard]] CAROM_DEVICE explicit operator double() const noexcept {
    return std::ldexp(mantissa_, exponent_);
  }

  [[nodiscard]] CAROM_DEVICE friend WideRange operator-(const WideRange& a) noexcept {
    return {-a.mantissa_, a.exponent_};
  }
  [[nodiscard]] CAROM_DEVICE friend WideRange operator+(const WideRange& a,
                                                        const WideRange& b) noexcept {
    if (a.mantissa_ == 0) return b;
    if (b.mantissa_ == 0) return a;
    if (a.exponent_ < b.exponent_) return b + a;
    const int shift = a.exponent_ - b.exponent_;
    if (shift > lost_digits) return a;
    return {a.mantissa_ + std::ldexp(b.mantissa_, -shift), a.exponent_};
  }
  [[nodiscard]] CAROM_DEVICE friend WideRange operator-(const WideRange& a,
                                                        const WideRange& b) noexcept {
    return a + -b;
  }
  [[nodiscard]] CAROM_DEVICE friend WideRange operator*(const WideRange& a,
                                                        const WideRange& b) noexcept {
    return {a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_};
  }
  [[nodiscard]] CAROM_DEVICE friend WideRange operator/(const WideRange& a,
                                                        const WideRange& b) noexcept {
    return {a.mantissa_ / b.mantissa_, a.exponent_ - b.exponent_};
  }
  CAROM_DEVICE WideRange& operator+=(const WideRange& other) noexcept {
    return *this = *this + other;
  }
  CAROM_DEVICE WideRange& operator-=(const WideRange& other) noexcept {
    return *this = *this - other;
  }
  CAROM_DEVICE WideRange& operator*=(const WideRange& other) noexcept {
    return *this = *this * other;
  }
  CAROM_DEVICE WideRange& operator/=(const WideRange& other) noexcept {
    return *this = *this / other;
  }

  [[nodiscard]] CAROM_DEVICE friend bool operator==(const WideRange& a,
                                                    const WideRange& b) noexcept {
    return a.mantissa_ == b.mantissa_ && (a.exponent_ == b.exponent_ || a.mantissa_ == 0);
  }
  [[nodiscard]] CAROM_DEVICE friend bool operator<(const WideRange& a,
                                                   const WideRange& b) noexcept {
    return (a - b).mantissa_ < 0;
  }
  [[nodiscard]] CAROM_DEVICE friend bool operator>(const WideRange& a,
                                                   const WideRange& b) noexcept {
    return (a - b).mantissa_ > 0;
  }
  [[nodiscard]] CAROM_DEVICE friend bool operator<=(const WideRange& a,
                                                    const WideRange& b) noexcept {
    return (a - b).mantissa_ <= 0;
  }
  [[nodiscard]] CAROM_DEVICE friend bool operator>=(const WideRange& a,
                                                    const WideRange& b) noexcept {
    return (a - b).mantissa_ >= 0;
  }

  [[nodiscard]] CAROM_DEVICE friend WideRange abs(const WideRange& a) noexcept {
    return {std::abs(a.mantissa_), a.exponent_};
  }
  [[nodiscard]] CAROM_DEVICE friend WideRange sqrt(const WideRange& a) noexcept {
    const bool odd = a.exponent_ % 2 != 0;
    return {std::sqrt(odd ? 2 * a.mantissa_ : a.mantissa_), (a.exponent_ - (odd ? 1 : 0)) / 2};
  }

 private:
  /// A difference of exponents beyond which a sum is its larger term: the digits of a double, and
  /// one more for the direction of rounding.
  static constexpr int lost_digits = std::numeric_limits<double>::digits + 1;

  CAROM_DEVICE WideRange(double mantissa, int exponent) noexcept
      : mantissa_(mantissa), exponent_(0) {
    if (mantissa == 0 || mantissa - mantissa != 0) return;  // zero, infinite or not a number
    const int shift = std::ilogb(mantissa);
    mantissa_ = std::ldexp(mantissa, -shift);
    exponent_ = exponent + shift;
  }

  double mantissa_;
  int exponent_;
};

}  // namespace detail

template <>
inline constexpr bool enable_real_scalar<detail::WideRange> = true;

}  // namespace CAROM_ABI
}  // namespace carom

/// Needed by code that is written for any number with a given precision.
template <>
struct std::numeric_limits<carom::detail::WideRange> : std::numeric_limits<double> {
  static carom::detail::WideRange epsilon() noexcept {
    return std::numeric_limits<double>::epsilon();
  }
};
