// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

#include "carom/linalg/detail/panel_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of invert_reduced_factor.
struct ReducedFactorTuning {
  /// Shares θ that are tried in this order [-].
  static constexpr double shares[] = {1, 0.9, 0.5, 0};
  /// Least pivot for θ > 0 [-]. The pivots of a Schur complement of a matrix H ≥ I are at least
  /// one. Smaller pivots show that the terms neglected in the reduction spoil it.
  static constexpr double least_pivot = 0.5;
};

/// C⁻¹, where C is the Cholesky factor of A − θ B and θ is the largest share for which A − θ B is
/// sufficiently positive definite.
///
/// @param a, b     A ≥ I and B ≥ 0, size × size, in columns of lanes_above(size) numbers.
/// @param factor   scratch of the same shape.
/// @param inverse  C⁻¹ of the same shape, lower triangle written.
/// @return  false when A is not positive definite or contains NaN.
template <RealScalar Scalar>
[[nodiscard]] bool invert_reduced_factor(const Scalar* a, const Scalar* b, Index size,
                                         Scalar* factor, Scalar* inverse) noexcept {
  using std::sqrt;
  const Index lanes = lanes_above(size);
  const auto factored = [&](double share) {
    const Scalar least = share > 0 ? Scalar(ReducedFactorTuning::least_pivot) : Scalar(0);
    for (Index c = 0; c < size; ++c) {
      for (Index r = c; r < size; ++r) {
        Scalar sum = a[c * lanes + r] - Scalar(share) * b[c * lanes + r];
        for (Index m = 0; m < c; ++m) sum -= factor[m * lanes + r] * factor[m * lanes + c];
        factor[c * lanes + r] = sum;
      }
      const Scalar pivot = factor[c * (lanes + 1)];
      if (!(pivot > least)) return false;
      const Scalar scale = 1 / sqrt(pivot);
      for (Index r = c + 1; r < size; ++r) factor[c * lanes + r] *= scale;
      factor[c * (lanes + 1)] = scale;
    }
    return true;
  };
  const auto& shares = ReducedFactorTuning::shares;
  if (std::none_of(std::begin(shares), std::end(shares), factored)) return false;
  for (Index c = 0; c < size; ++c) {
    inverse[c * (lanes + 1)] = factor[c * (lanes + 1)];
    for (Index r = c + 1; r < size; ++r) {
      Scalar sum = 0;
      for (Index m = c; m < r; ++m) sum -= factor[m * lanes + r] * inverse[c * lanes + m];
      inverse[c * lanes + r] = sum * factor[r * (lanes + 1)];
    }
  }
  return true;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
