// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "carom/cones/detail/wide_range.hpp"
#include "carom/core/expects.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Checks that weights are > 0 and that the trial impulse is finite.
template <RealScalar Scalar>
CAROM_DEVICE void expect_positive_and_finite([[maybe_unused]] int size,
                                             [[maybe_unused]] const Scalar* weights,
                                             [[maybe_unused]] const Scalar* y) noexcept {
  for (int i = 0; i < size; ++i) {
    CAROM_EXPECTS(weights[i] > Scalar(0));
    CAROM_EXPECTS(y[i] - y[i] == Scalar(0));
  }
}

/// A type whose range contains the squares and products of `Scalar`: for double `long double` where
/// that has more exponents (not on ARM or with the compiler of Windows), and one of our own
/// elsewhere. With equal bits on every machine it is the latter.
template <typename Scalar>
struct WiderScalar {
  using type = Scalar;
};
template <>
struct WiderScalar<float> {
  using type = double;
};
template <>
struct WiderScalar<double> {
  static constexpr bool has_range = std::numeric_limits<long double>::max_exponent >
                                    4 * std::numeric_limits<double>::max_exponent;
  using type = std::conditional_t<has_range && CAROM_REPRODUCIBLE == 0, long double, WideRange>;
};

/// Products of four numbers between this one and its inverse have a full mantissa.
template <std::floating_point Scalar>
inline constexpr Scalar moderate_low = [] {
  Scalar low = 1;
  for (int i = 0; i < -std::numeric_limits<Scalar>::min_exponent / 5; ++i) low /= 2;
  return low;
}();

/// Whether the friction coefficients are zero or moderate, and the entries of the metric are within
/// the same factor of each other. Then μ² R can be computed in the type itself.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE bool has_moderate_range(int friction_count, const Scalar* friction,
                                                   int size, const Scalar* weights) noexcept {
  if constexpr (std::floating_point<Scalar>) {
    constexpr Scalar low = moderate_low<Scalar>;
    for (int i = 0; i < friction_count; ++i) {
      const Scalar mu = friction[i];
      if (mu != 0 && !(mu >= low && mu <= 1 / low)) return false;
    }
    Scalar least = weights[0], largest = weights[0];
    for (int i = 1; i < size; ++i) {
      if (weights[i] < least) least = weights[i];
      if (weights[i] > largest) largest = weights[i];
    }
    return largest <= least / low;
  } else {
    return true;
  }
}

/// Binary exponent of the largest magnitude in x. It is 0 if x is zero, not finite or not a
/// built-in number. Scaling a homogeneous problem by this power of two is exact and prevents
/// overflow of its products.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE int largest_exponent(const Scalar* x, int size) noexcept {
  if constexpr (std::floating_point<Scalar>) {
    Scalar largest(0);
    for (int i = 0; i < size; ++i) {
      const Scalar magnitude = std::abs(x[i]);
      if (!(magnitude <= largest)) largest = magnitude;
    }
    if (largest > 0 && std::isfinite(largest)) return std::ilogb(largest);
  }
  return 0;
}

/// x · 2^exponent, exactly unless the result is subnormal.
template <typename Scalar>
[[nodiscard]] CAROM_DEVICE Scalar shifted(const Scalar& x, int exponent) noexcept {
  if constexpr (std::floating_point<Scalar>) {
    return std::ldexp(x, exponent);
  } else {
    return x;
  }
}

/// Multiplies by a power of two, exactly unless the result is subnormal.
template <typename Scalar>
class PowerOfTwo {
 public:
  CAROM_DEVICE explicit PowerOfTwo(int exponent) noexcept : exponent_(exponent) {
    if constexpr (std::floating_point<Scalar>) {
      using Limits = std::numeric_limits<Scalar>;
      is_normal_ = exponent >= Limits::min_exponent && exponent < Limits::max_exponent;
      if (is_normal_) power_ = shifted(Scalar(1), exponent);
    }
  }
  [[nodiscard]] CAROM_DEVICE Scalar times(const Scalar& x) const noexcept {
    if constexpr (std::floating_point<Scalar>) {
      return is_normal_ ? Scalar(x * power_) : shifted(x, exponent_);
    } else {
      return x;
    }
  }

 private:
  int exponent_;
  bool is_normal_ = false;
  Scalar power_ = Scalar(1);
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
