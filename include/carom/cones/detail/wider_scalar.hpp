// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A floating type with room for the squares and products of `Scalar`, where the platform has one.
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
  using type = long double;
};

/// Products of four numbers between this and its inverse keep a full mantissa.
template <std::floating_point Scalar>
inline constexpr Scalar moderate_low = [] {
  Scalar low = 1;
  for (int i = 0; i < -std::numeric_limits<Scalar>::min_exponent / 5; ++i) low /= 2;
  return low;
}();

/// Whether coefficients of friction are zero or moderate, and the metric's entries within the same
/// factor of each other, so that μ² R can be formed in the type itself.
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

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
