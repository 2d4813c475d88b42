// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/weighted_constraint.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// A constraint in the packed arrays: one or two places, as if it were so many contacts, in rows
/// scaled so that R = 1: J_s = D J, γ_s = D⁻¹ γ, y_s = D⁻¹ y, D = √R⁻¹.
template <RealScalar Scalar>
struct PackedConstraint {
  using Rows = RowNumbers<Scalar>;

  ImpulseSet<Scalar> set;
  Rows regularization;  ///< R
  Rows scale;           ///< D; zero beyond the rows
  Index number;         ///< in the problem
  Index place;          ///< its first
  int parts;

  PackedConstraint() noexcept = default;
  PackedConstraint(const WeightedConstraint<Scalar>& law, Index number_given,
                   Index place_given) noexcept
      : set(law.set),
        regularization(law.regularization),
        scale(Rows::Zero()),
        number(number_given),
        place(place_given),
        parts((law.set.rows + 2) / 3) {
    using std::sqrt;
    for (int i = 0; i < set.rows; ++i) scale(i) = Scalar(1) / sqrt(regularization(i));
  }

  /// The rows' numbers out of component arrays, given by their first.
  [[nodiscard]] Rows read(const Scalar* const (&components)[3]) const noexcept {
    Rows rows = Rows::Zero();
    for (int i = 0; i < set.rows; ++i) rows(i) = components[i % 3][place + i / 3];
    return rows;
  }
  void write(const Rows& rows, Scalar* const (&components)[3]) const noexcept {
    for (int i = 0; i < 3 * parts; ++i) components[i % 3][place + i / 3] = rows(i);
  }

  /// γ_s = D⁻¹ P(D y_s).
  [[nodiscard]] Rows project_scaled(const Rows& trial) const noexcept {
    const Rows nearest = nearest_impulse(set, regularization, Rows(scale.cwiseProduct(trial)));
    Rows impulse = Rows::Zero();
    for (int i = 0; i < set.rows; ++i) impulse(i) = nearest(i) / scale(i);
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
  /// D⁻¹ G D⁻¹, no larger than the identity.
  [[nodiscard]] SquareMatrix<Scalar, 6> curvature(const Rows& trial) const noexcept {
    return scale_curvature(impulse_curvature(set, regularization, Rows(scale.cwiseProduct(trial))));
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
  /// D⁻¹ G D⁻¹.
  [[nodiscard]] SquareMatrix<Scalar, 6> scale_curvature(SquareMatrix<Scalar, 6> g) const noexcept {
    for (int j = 0; j < set.rows; ++j) {
      for (int i = 0; i < set.rows; ++i) g(i, j) /= scale(i) * scale(j);
    }
    return g;
  }
};

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
