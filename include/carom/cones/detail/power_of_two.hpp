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
template <typename Derived>
[[nodiscard]] CAROM_DEVICE int largest_exponent(const Eigen::MatrixBase<Derived>& x) noexcept {
  using Scalar = typename Derived::Scalar;
  if constexpr (std::floating_point<Scalar>) {
    const Scalar largest = x.cwiseAbs().maxCoeff();
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

/// Every entry of x · 2^exponent, exactly unless it is subnormal.
template <RealScalar Scalar, int Size>
[[nodiscard]] CAROM_DEVICE Vector<Scalar, Size> shifted(const Vector<Scalar, Size>& x,
                                                        int exponent) noexcept {
  if constexpr (std::floating_point<Scalar>) {
    using Limits = std::numeric_limits<Scalar>;
    if (exponent >= Limits::min_exponent && exponent < Limits::max_exponent) {
      return x * shifted(Scalar(1), exponent);  // the power is a normal number
    }
  }
  Vector<Scalar, Size> result;
  for (Index i = 0; i < Size; ++i) result(i) = shifted(x(i), exponent);
  return result;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
