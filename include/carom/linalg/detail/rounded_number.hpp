// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// u, half the distance from 1 to the next number: the largest relative rounding error of one
/// operation.
template <std::floating_point Scalar>
inline constexpr Scalar unit_rounding = std::numeric_limits<Scalar>::epsilon() / 2;

/// An upper bound of the exact value of a number that was computed by `roundings` operations on
/// numbers ≥ 0. Zero, infinity and NaN do not change.
template <std::floating_point Scalar>
[[nodiscard]] Scalar raised(const Scalar& computed, int roundings) noexcept {
  if (computed == Scalar(0)) return computed;
  const Scalar factor = 1 + 2 * Scalar(roundings + 2) * unit_rounding<Scalar>;
  return computed * factor + (std::numeric_limits<Scalar>::min)();
}

/// An upper bound of sum + a b for numbers ≥ 0 that are upper bounds themselves. If a or b is zero,
/// nothing is added. If the product underflows, the smallest normal number is added.
template <std::floating_point Scalar>
[[nodiscard]] Scalar add_bounds(const Scalar& sum, const Scalar& a, const Scalar& b) noexcept {
  if (a == Scalar(0) || b == Scalar(0)) return sum;
  return raised(sum + a * b + (std::numeric_limits<Scalar>::min)(), 3);
}

/// A computed number with a bound on its rounding error: |value − exact| ≤ error.
///
/// Each operation adds three bounds: its own rounding, u |result|; the loss by underflow, the
/// smallest normal number; and the rounding of the error bound itself, a factor. An exact zero
/// leaves the other operand unchanged in a sum and makes a product exactly zero. Where the range of
/// the type ends, the error is infinite or NaN.
/// @cite  docs/derivations/rounding.md
template <std::floating_point Scalar>
struct RoundedNumber {
  Scalar value = 0;
  Scalar error = 0;

  RoundedNumber() noexcept = default;
  RoundedNumber(const Scalar& exact) noexcept : value(exact) {}  // NOLINT: an exact number is one
  RoundedNumber(const Scalar& computed, const Scalar& bound) noexcept
      : value(computed), error(bound) {}

  /// An upper bound of |exact|.
  [[nodiscard]] Scalar most() const noexcept {
    return error == Scalar(0) ? std::abs(value) : raised(std::abs(value) + error, 2);
  }
  /// A lower bound of |exact|, ≥ 0. It is NaN if the error is NaN.
  [[nodiscard]] Scalar least() const noexcept {
    if (error == Scalar(0)) return std::abs(value);
    constexpr Scalar shrunk = 1 - 4 * unit_rounding<Scalar>;
    const Scalar low = std::abs(value) * shrunk - raised(error, 2);
    return low <= Scalar(0) ? Scalar(0) : low;
  }
  /// An upper bound of max(exact, 0).
  [[nodiscard]] Scalar most_or_zero() const noexcept {
    if (error == Scalar(0)) return value <= Scalar(0) ? Scalar(0) : value;
    const Scalar high = value + raised(error, 4) + 2 * unit_rounding<Scalar> * std::abs(value);
    return high <= Scalar(0) ? Scalar(0) : raised(high, 2);
  }
  [[nodiscard]] bool exact() const noexcept { return error == Scalar(0); }
  [[nodiscard]] bool zero() const noexcept { return value == Scalar(0) && exact(); }

  [[nodiscard]] RoundedNumber operator-() const noexcept { return {-value, error}; }
  friend RoundedNumber operator+(const RoundedNumber& a, const RoundedNumber& b) noexcept {
    if (a.zero()) return b;
    if (b.zero()) return a;
    const Scalar sum = a.value + b.value;
    if (sum == Scalar(0) && a.exact() && b.exact()) return {sum, Scalar(0)};
    return {sum, raised(a.error + b.error + unit_rounding<Scalar> * std::abs(sum), 4)};
  }
  friend RoundedNumber operator-(const RoundedNumber& a, const RoundedNumber& b) noexcept {
    return a + (-b);
  }
  friend RoundedNumber operator*(const RoundedNumber& a, const RoundedNumber& b) noexcept {
    const Scalar product = a.value * b.value;
    if (a.zero() || b.zero()) return {product, Scalar(0)};
    const Scalar doubt = std::abs(a.value) * b.error + std::abs(b.value) * a.error +
                         a.error * b.error + unit_rounding<Scalar> * std::abs(product);
    return {product, raised(doubt, 6) + (std::numeric_limits<Scalar>::min)()};
  }
  friend RoundedNumber operator/(const RoundedNumber& a, const RoundedNumber& b) noexcept {
    const Scalar quotient = a.value / b.value, divisor = b.least();
    if (a.zero() && divisor > Scalar(0)) return {quotient, Scalar(0)};
    if (!(divisor > Scalar(0))) return {quotient, std::numeric_limits<Scalar>::infinity()};
    const Scalar doubt = (a.error + std::abs(quotient) * b.error) / divisor +
                         unit_rounding<Scalar> * std::abs(quotient);
    return {quotient, raised(doubt, 10) + (std::numeric_limits<Scalar>::min)()};
  }
  RoundedNumber& operator+=(const RoundedNumber& b) noexcept { return *this = *this + b; }
  RoundedNumber& operator-=(const RoundedNumber& b) noexcept { return *this = *this - b; }
};

/// √x of a number whose exact value is ≥ 0.
template <std::floating_point Scalar>
[[nodiscard]] RoundedNumber<Scalar> square_root(const RoundedNumber<Scalar>& x) noexcept {
  if (x.zero()) return x;
  if (!(x.value > Scalar(0))) return {Scalar(0), raised(std::sqrt(x.most()), 2)};
  const Scalar root = std::sqrt(x.value);
  // |√X − √x| ≤ |X − x|/√x, and no more than √|X − x|.
  const Scalar steep = x.error / root, flat = std::sqrt(x.error);
  return {root, raised((steep < flat ? steep : flat) + unit_rounding<Scalar> * root, 6)};
}

/// An upper bound of the Euclidean norm of numbers ≥ 0 that are upper bounds themselves.
///
/// All numbers are divided by the largest one, such that no square overflows or underflows.
template <std::floating_point Scalar>
[[nodiscard]] Scalar norm_of_bounds(const Scalar* bounds, Index count) noexcept {
  Scalar largest(0), squared(0);
  for (Index i = 0; i < count; ++i) {
    if (!(bounds[i] <= largest)) largest = bounds[i];  // NaN stays NaN
    if (!(largest <= (std::numeric_limits<Scalar>::max)())) {
      return std::numeric_limits<Scalar>::infinity();
    }
  }
  if (largest == Scalar(0)) return largest;
  for (Index i = 0; i < count; ++i) {
    const Scalar part = bounds[i] / largest;
    squared += part * part;
  }
  return raised(largest * std::sqrt(squared), int(count) + 8);
}
template <typename Numbers>
[[nodiscard]] auto norm_of_bounds(const Numbers& bounds) noexcept {
  return norm_of_bounds(bounds.data(), Index(bounds.size()));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
