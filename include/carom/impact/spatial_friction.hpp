// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/cones/convex_contact.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One spatial contact with friction at the instant of impact, in contact space (t₁, t₂, n).
///
/// Impulses change its velocity by u⁺ = u⁻ + W P, W = J M⁻¹ Jᵀ symmetric positive definite.
template <RealScalar Scalar>
struct SpatialImpact {
  SquareMatrix<Scalar, 3> inverse_mass;  ///< W [1/kg].
  Vector3<Scalar> velocity;              ///< u⁻ [m/s].
  Scalar friction;                       ///< μ [-], ≥ 0.
  Scalar restitution;                    ///< e [-], in [0, 1].
};

/// Impulse of a spatial contact by Moreau's law: (1 + e) times the plastic impulse, which is the
/// projection onto the friction cone in the metric, argmin ½ PᵀWP + uᵀP over |Pₜ| ≤ μ Pₙ.
///
/// It never gains energy, for any coupling. A sliding contact separates with uₙ = μ |uₜ|, as in the
/// convex law.
/// @pre   W symmetric positive definite, μ ≥ 0, e in [0, 1].
/// @return  P = (P_t1, P_t2, Pₙ) [N·s].
/// @note  Real-time safe: no allocation, no exception.
/// @cite  moreau1988unilateral
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> moreau_impulse(const SpatialImpact<Scalar>& contact) noexcept {
  CAROM_EXPECTS(contact.friction >= Scalar(0));
  CAROM_EXPECTS(contact.restitution >= Scalar(0) && contact.restitution <= Scalar(1));
  const ConvexInverseMass<Scalar> block(contact.inverse_mass);
  const Scalar all = Scalar(1) + contact.restitution;
  return all * block.solve(contact.velocity, contact.friction).impulse;
}

}  // namespace CAROM_ABI
}  // namespace carom
