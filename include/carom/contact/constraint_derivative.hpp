// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/weighted_constraint.hpp"

namespace carom::inline CAROM_ABI {

/// A constraint's impulse γ = P(R⁻¹e) as a function of e = v̂ − J v and R: dγ = G (de − γ∘dR), as γ
/// is the least of ½γᵀRγ − eᵀγ over the set. The set itself, its bounds and coefficients of
/// friction, is held fixed.
template <RealScalar Scalar>
struct ConstraintDerivative {
  RowNumbers<Scalar> impulse;         ///< γ [N·s]
  SquareMatrix<Scalar, 6> by_excess;  ///< G = (dP/dy) R⁻¹ [kg], symmetric positive semidefinite
  /// Distance of e from where a row of intervals reaches a bound [m/s, rad/s], ≥ 0; infinite for
  /// cones, whose boundaries are not looked for.
  Scalar margin;

  /// dγ for a change of e and of R.
  [[nodiscard]] RowNumbers<Scalar> change(const RowNumbers<Scalar>& excess,
                                          const RowNumbers<Scalar>& regularization) const noexcept {
    return by_excess * RowNumbers<Scalar>(excess - impulse.cwiseProduct(regularization));
  }
};

/// @param law     gives the set and R.
/// @param excess  e [m/s, rad/s], finite.
/// @note  Real-time safe: no allocation, no exception, bounded work.
template <RealScalar Scalar>
[[nodiscard]] ConstraintDerivative<Scalar> make_constraint_derivative(
    const WeightedConstraint<Scalar>& law, const RowNumbers<Scalar>& excess) noexcept {
  using std::abs;
  RowNumbers<Scalar> trial = RowNumbers<Scalar>::Zero();
  for (int i = 0; i < law.set.rows; ++i) trial(i) = excess(i) / law.regularization(i);
  ConstraintDerivative<Scalar> result{nearest_impulse(law.set, law.regularization, trial),
                                      impulse_curvature(law.set, law.regularization, trial),
                                      std::numeric_limits<Scalar>::infinity()};
  if (law.set.shape != ImpulseShape::intervals) return result;
  for (int i = 0; i < law.set.rows; ++i) {
    for (const Scalar& bound : {law.set.lower(i), law.set.upper(i)}) {
      result.margin =
          (std::min)(result.margin, Scalar(abs(trial(i) - bound) * law.regularization(i)));
    }
  }
  return result;
}

}  // namespace carom::inline CAROM_ABI
