// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Binary exponent of the largest magnitude in x; 0 when x is zero, not finite or not a built-in
/// number. Shifting a homogeneous problem by it is exact and keeps its products in range.
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
