// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A block that is not a friction contact in the packed arrays: one or two parts, as if it were so
/// many contacts, in rows scaled so that R = 1: J_s = D J, γ_s = D⁻¹ γ, y_s = D⁻¹ y, D = √R⁻¹.
template <RealScalar Scalar>
struct PackedBlock {
  using Rows = RowNumbers<Scalar>;

  ImpulseSet<Scalar> set;
  Rows regularization;  ///< R
  Rows scale;           ///< D; zero beyond the rows
  Index number;         ///< in the problem
  Index place;          ///< its first
  int parts;

  PackedBlock() noexcept = default;
  PackedBlock(const WeightedBlock<Scalar>& law, Index number_given, Index place_given) noexcept
      : set(law.set),
        regularization(law.regularization),
        scale(Rows::Zero()),
        number(number_given),
        place(place_given),
        parts((law.set.rows + 2) / 3) {
    using std::sqrt;
    for (int i = 0; i < set.rows; ++i) scale(i) = Scalar(1) / sqrt(regularization(i));
  }

  /// Where a row stands among the places of the parts: the rows of a plane, (t, n), at the first
  /// and the last place, so that every normal is at a last one.
  [[nodiscard]] int place_of(int row) const noexcept {
    return set.shape == ImpulseShape::planar ? 2 * row : row;
  }
  /// The rows' numbers out of component arrays, given by their first.
  [[nodiscard]] Rows read(const Scalar* const (&components)[3]) const noexcept {
    Rows rows = Rows::Zero();
    for (int i = 0; i < set.rows; ++i) {
      const int at = place_of(i);
      rows(i) = components[at % 3][place + at / 3];
    }
    return rows;
  }
  void write(const Rows& rows, Scalar* const (&components)[3]) const noexcept {
    for (int i = 0; i < 3 * parts; ++i) components[i % 3][place + i / 3] = Scalar(0);
    for (int i = 0; i < set.rows; ++i) {
      const int at = place_of(i);
      components[at % 3][place + at / 3] = rows(i);
    }
  }

  /// γ_s = D⁻¹ γ(D y_s) of a law.
  [[nodiscard]] Rows impulse_scaled(FrictionLaw law, const Rows& trial) const noexcept {
    const Rows y = scale.cwiseProduct(trial);
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
  /// D⁻¹ G D⁻¹ of the convex law, no larger than the identity, by places.
  [[nodiscard]] SquareMatrix<Scalar, 6> curvature(const Rows& trial) const noexcept {
    return scale_curvature(impulse_curvature(set, regularization, Rows(scale.cwiseProduct(trial))));
  }
  /// The same of Coulomb's law, which need not be symmetric.
  [[nodiscard]] SquareMatrix<Scalar, 6> curvature_of_coulomb(const Rows& trial) const noexcept {
    return scale_curvature(coulomb_curvature(set, regularization, Rows(scale.cwiseProduct(trial))));
  }
  /// A number for each of the curvatures there are, those of rows within and beyond their bounds;
  /// −1 for cones, whose curvature changes with the trial impulse.
  [[nodiscard]] signed char settled_region(const Rows& trial) const noexcept {
    if (set.shape != ImpulseShape::intervals) return -1;
    int region = 0;
    for (int i = 0; i < set.rows; ++i) {
      const Scalar y = scale(i) * trial(i);
      if (set.lower(i) <= y && y <= set.upper(i)) region |= 1 << i;
    }
    return static_cast<signed char>(region);
  }
  /// D⁻¹ G D⁻¹, by places.
  /// @param g  G by rows.
  [[nodiscard]] SquareMatrix<Scalar, 6> scale_curvature(
      const SquareMatrix<Scalar, 6>& g) const noexcept {
    SquareMatrix<Scalar, 6> scaled = SquareMatrix<Scalar, 6>::Zero();
    for (int j = 0; j < set.rows; ++j) {
      for (int i = 0; i < set.rows; ++i) {
        scaled(place_of(i), place_of(j)) = g(i, j) / (scale(i) * scale(j));
      }
    }
    return scaled;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
