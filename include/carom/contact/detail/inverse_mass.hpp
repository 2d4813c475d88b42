// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Core>

#include "carom/contact/impulse_set.hpp"
#include "carom/core/detail/plain_loops.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Adds J A⁻¹ Jᵀ of one body to W_ii of a block.
/// @param whitened  Ĵᵀ = L⁻¹ Jᵀ, size × rows.
template <RealScalar Scalar, int Capacity>
void add_own_delassus(const Scalar* whitened, Index size, int rows,
                      SquareMatrix<Scalar, Capacity>& own) noexcept {
  with_count(size, [&](auto count) noexcept {
    for (int c = 0; c < rows; ++c) {
      for (int r = c; r < rows; ++r) {
        own(r, c) += long_dot(whitened + r * count, whitened + c * count, count);
        own(c, r) = own(r, c);
      }
    }
  });
}
/// J A⁻¹ Jᵀ of one body, for three rows; ‖Σ‖_F/3 over the bodies is a contact's inverse mass.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 3> own_delassus(const Scalar* whitened, Index size) noexcept {
  SquareMatrix<Scalar, 3> result = SquareMatrix<Scalar, 3>::Zero();
  add_own_delassus(whitened, size, 3, result);
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
