// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Core>

#include "carom/contact/impulse_set.hpp"
#include "carom/core/detail/plain_loops.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// J A⁻¹ Jᵀ of one body, for three rows; ‖Σ‖_F/3 over the bodies is a contact's inverse mass.
/// @param whitened  Ĵᵀ = L⁻¹ Jᵀ, size × 3.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 3> own_delassus(const Scalar* whitened, Index size) noexcept {
  SquareMatrix<Scalar, 3> result;
  for (Index c = 0; c < 3; ++c) {
    for (Index r = c; r < 3; ++r) {
      result(r, c) = result(c, r) = long_dot(whitened + r * size, whitened + c * size, size);
    }
  }
  return result;
}

/// The inverse mass of a contact from those of its rows (t₁, t₂, n): ‖W_ii‖_F/3 without the
/// coupling of the rows. It does not depend on the rotation of the tangents.
template <RealScalar Scalar>
[[nodiscard]] Scalar contact_inverse_mass(const RowNumbers<Scalar>& rows) noexcept {
  using std::sqrt;
  const Scalar tangent = (rows(0) + rows(1)) / 2;
  return sqrt(2 * tangent * tangent + rows(2) * rows(2)) / 3;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
