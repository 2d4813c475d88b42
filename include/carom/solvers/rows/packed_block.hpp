// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A block that is not a friction contact in the packed arrays, where it takes one part or two. Its
/// rows are scaled so that R = 1: J_s = D J, γ_s = D⁻¹ γ, y_s = D⁻¹ y with D = √R⁻¹.
template <RealScalar Scalar>
struct PackedBlock {
  using Rows = RowNumbers<Scalar>;

  ImpulseSet<Scalar> set;
  Rows regularization;  ///< R
  Rows scale;           ///< D; zero beyond the rows
  Index number;         ///< in the problem
  Index first_part;     ///< in the packed arrays
  int part_count;       ///< 1 or 2

  PackedBlock() noexcept = default;
  PackedBlock(const WeightedBlock<Scalar>& law, Index number_given, Index first_part_given) noexcept
      : set(law.set),
        regularization(law.regularization),
        scale(Rows::Zero()),
        number(number_given),
        first_part(first_part_given),
        part_count((law.set.rows + 2) / 3) {
    using std::sqrt;
    for (int i = 0; i < set.rows; ++i) scale(i) = Scalar(1) / sqrt(regularization(i));
  }

  /// The component that holds a row, three to a part: the rows of a plane, (t, n), take the first
  /// and the last, so that every normal row is the last component of a part.
  [[nodiscard]] int component_of(int row) const noexcept {
    return set.shape == ImpulseShape::planar ? 2 * row : row;
  }
  /// The numbers of the rows out of three arrays of components over all parts.
  [[nodiscard]] Rows read(const Scalar* const (&components)[3]) const noexcept {
    Rows rows = Rows::Zero();
    for (int i = 0; i < set.rows; ++i) {
      const int at = component_of(i);
      rows(i) = components[at % 3][first_part + at / 3];
    }
    return rows;
  }
  void write(const Rows& rows, Scalar* const (&components)[3]) const noexcept {
    for (int i = 0; i < 3 * part_count; ++i) components[i % 3][first_part + i / 3] = Scalar(0);
    for (int i = 0; i < set.rows; ++i) {
      const int at = component_of(i);
      components[at % 3][first_part + at / 3] = rows(i);
    }
  }

  /// D y.
  [[nodiscard]] Rows unscaled(const Rows& y) const noexcept {
    Rows result;
    for (int i = 0; i < 6; ++i) result(i) = scale(i) * y(i);
    return result;
  }
  /// γ_s = D⁻¹ γ(D y_s) of a law.
  [[nodiscard]] Rows impulse_scaled(FrictionLaw law, const Rows& trial) const noexcept {
    const Rows y = unscaled(trial);
    const Rows gamma = law == FrictionLaw::coulomb ? coulomb_impulse(set, regularization, y)
                                                   : nearest_impulse(set, regularization, y);
    Rows impulse = Rows::Zero();
    for (int i = 0; i < set.rows; ++i) impulse(i) = gamma(i) / scale(i);
    return impulse;
  }
  /// How many of its parts begin with two rows of equal weight whose norm the cone bounds: each has
  /// a direction of friction.
  [[nodiscard]] int direction_count() const noexcept {
    switch (set.shape) {
      case ImpulseShape::friction:
      case ImpulseShape::torsional:
        return 1;
      case ImpulseShape::rolling:
      case ImpulseShape::spinless_rolling:
        return 2;
      default:
        return 0;
    }
  }
  /// D⁻¹ G D⁻¹ of the convex law, no larger than the identity, by components.
  [[nodiscard]] SquareMatrix<Scalar, 6> curvature(const Rows& trial) const noexcept {
    return scale_curvature(impulse_curvature(set, regularization, unscaled(trial)));
  }
  /// The same of Coulomb's law, which need not be symmetric.
  [[nodiscard]] SquareMatrix<Scalar, 6> curvature_of_coulomb(const Rows& trial) const noexcept {
    return scale_curvature(coulomb_curvature(set, regularization, unscaled(trial)));
  }
  /// The region of intervals that holds the trial impulse, one bit per row: set where the row is
  /// within its bounds. It fixes the curvature. −1 for cones, whose curvature changes inside a
  /// region.
  [[nodiscard]] signed char settled_region(const Rows& trial) const noexcept {
    if (set.shape != ImpulseShape::intervals) return -1;
    int region = 0;
    for (int i = 0; i < set.rows; ++i) {
      const Scalar y = scale(i) * trial(i);
      if (set.lower(i) <= y && y <= set.upper(i)) region |= 1 << i;
    }
    return static_cast<signed char>(region);
  }
  /// D⁻¹ G D⁻¹, by components.
  /// @param g  G by rows.
  [[nodiscard]] SquareMatrix<Scalar, 6> scale_curvature(
      const SquareMatrix<Scalar, 6>& g) const noexcept {
    SquareMatrix<Scalar, 6> scaled = SquareMatrix<Scalar, 6>::Zero();
    for (int j = 0; j < set.rows; ++j) {
      for (int i = 0; i < set.rows; ++i) {
        scaled(component_of(i), component_of(j)) = g(i, j) / (scale(i) * scale(j));
      }
    }
    return scaled;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
