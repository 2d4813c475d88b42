// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/cones/friction_cone.hpp"

namespace carom::inline CAROM_ABI {

/// Curvature of one contact's cost, G = (dP/dy) R⁻¹, as a sum of at most three outer products.
template <RealScalar Scalar>
struct ContactCurvature {
  /// Columns s_k with G = Σ s_k s_kᵀ over the first `rank` columns [√kg].
  SquareMatrix<Scalar, 3> root;
  int rank;  ///< 3 in stick, 2 in slide (1 without friction), 0 when separate.
};

/// G = (dP/dy) R⁻¹ at a trial impulse, in factored form: symmetric positive semidefinite, exactly.
///
/// Notation: t = yₜ/r, t⊥ the tangent across it, p = (μ t, 1). Stick: G = R⁻¹. Slide:
/// G = p pᵀ/(Rₙ + μ² Rₜ) + μ γₙ/(r Rₜ) t⊥ t⊥ᵀ. Separate: 0.
/// @note  Real-time safe: no allocation, no exception, constant work.
/// @cite  castro2021unconstrained, Hessian of the regularizer, dP/dy written in the eigenvectors
///        of its tangential part (docs/derivations/cones.md).
template <RealScalar Scalar>
[[nodiscard]] ContactCurvature<Scalar> make_curvature(const FrictionCone<Scalar>& cone,
                                                      const ContactWeights<Scalar>& weights,
                                                      const Vector3<Scalar>& y) noexcept {
  using std::sqrt;
  const detail::ConeNumbers<Scalar> k(cone, weights, y);
  ContactCurvature<Scalar> curvature;
  curvature.root.setZero();
  if (k.sticks(cone.friction, y)) {
    curvature.root(0, 0) = curvature.root(1, 1) = Scalar(1) / sqrt(weights.tangent);
    curvature.root(2, 2) = Scalar(1) / sqrt(weights.normal);
    curvature.rank = 3;
    return curvature;
  }
  curvature.rank = 0;
  if (!(k.drive > Scalar(0))) return curvature;
  const Scalar t1 = y.x() / k.tangent_norm;
  const Scalar t2 = y.y() / k.tangent_norm;
  const Scalar along = Scalar(1) / sqrt(k.resistance);
  curvature.root.col(0) << cone.friction * t1 * along, cone.friction * t2 * along, along;
  curvature.rank = 1;
  const Scalar across_squared =
      cone.friction * (k.drive / k.resistance) / (k.tangent_norm * weights.tangent);
  if (across_squared > Scalar(0)) {
    const Scalar across = sqrt(across_squared);
    curvature.root.col(1) << -t2 * across, t1 * across, Scalar(0);
    curvature.rank = 2;
  }
  return curvature;
}

}  // namespace carom::inline CAROM_ABI
