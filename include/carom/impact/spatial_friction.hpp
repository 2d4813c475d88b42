// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Core>

#include "carom/cones/ellipsoidal_cone.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/symmetric_eigen.hpp"

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

namespace detail {

/// Direction of the nearest point of |Pₜ| ≤ Pₙ to the free optimum, in the metric of W: there the
/// cone is an elliptic one, about an axis that is an eigenvector.
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> sliding_edge(const SquareMatrix<Scalar, 3>& w,
                                           const Vector3<Scalar>& u) noexcept {
  using std::sqrt;
  SquareMatrix<Scalar, 3> lower = w;  // W = L Lᵀ, z = Lᵀ P
  static_cast<void>(factor_cholesky(lower.data(), 3, 3));
  SquareMatrix<Scalar, 3> inverse = SquareMatrix<Scalar, 3>::Identity();  // L⁻¹
  solve_lower(lower.data(), 3, 3, inverse.data(), 3);
  const Vector3<Scalar> sides(Scalar(1), Scalar(1), Scalar(-1));
  const SquareMatrix<Scalar, 3> form =
      inverse * sides.asDiagonal() * inverse.transpose();  // zᵀ form z ≤ 0
  SymmetricEigen<Scalar, 3> axes;
  axes.matrix() = form;
  static_cast<void>(axes.solve());
  Index own = 0;  // the axis of the cone: one eigenvalue is negative, two are positive
  axes.values().minCoeff(&own);
  const Index across[] = {(own + 1) % 3, (own + 2) % 3};
  SquareMatrix<Scalar, 3> frame;
  frame << axes.vectors().col(across[0]), axes.vectors().col(across[1]), axes.vectors().col(own);
  if (inverse.col(2).dot(frame.col(2)) < Scalar(0)) frame.col(2) = -frame.col(2);
  EllipticCone<Scalar> cone;
  for (int i = 0; i < 2; ++i) {
    cone.friction(i) = sqrt(-axes.values()(own) / axes.values()(across[i]));
  }
  const Vector3<Scalar> free = -(frame.transpose() * (inverse * u));
  const Vector3<Scalar> nearest = frame * project(cone, Vector3<Scalar>(1, 1, 1), free).point;
  const Vector3<Scalar> impulse = inverse.transpose() * nearest;
  const Scalar tangent = impulse.template head<2>().norm();
  if (!(tangent > Scalar(0))) return {Scalar(0), Scalar(0), Scalar(1)};
  return {impulse(0) / tangent, impulse(1) / tangent, Scalar(1)};
}

}  // namespace detail

/// Impulse of a spatial contact after Moreau: (1 + e) times the plastic one, which is the
/// projection onto the friction cone in the metric, argmin ½ PᵀWP + uᵀP over |Pₜ| ≤ μ Pₙ.
///
/// Never gains energy whatever the coupling; a sliding contact leaves with uₙ = μ |uₜ|, as the
/// convex law has it.
/// @pre   W symmetric positive definite, μ ≥ 0, e in [0, 1].
/// @return  P = (P_t1, P_t2, Pₙ) [N·s].
/// @note  Real-time safe: no allocation, no exception.
/// @cite  moreau1988unilateral
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> moreau_impulse(const SpatialImpact<Scalar>& contact) noexcept {
  CAROM_EXPECTS(contact.friction >= Scalar(0));
  CAROM_EXPECTS(contact.restitution >= Scalar(0) && contact.restitution <= Scalar(1));
  const Scalar& mu = contact.friction;
  const Scalar all = Scalar(1) + contact.restitution;
  const Vector3<Scalar>& u = contact.velocity;
  if (mu * u.template head<2>().norm() <= u(2)) return Vector3<Scalar>::Zero();  // separates
  if (mu == Scalar(0)) return {Scalar(0), Scalar(0), -all * u(2) / contact.inverse_mass(2, 2)};

  SquareMatrix<Scalar, 3> lower = contact.inverse_mass;
  Vector3<Scalar> stick = -u;
  if (factor_cholesky(lower.data(), 3, 3)) {
    solve_lower(lower.data(), 3, 3, stick.data());
    solve_lower_transposed(lower.data(), 3, 3, stick.data());
    if (stick.template head<2>().norm() <= mu * stick(2)) return all * stick;
  }
  const Vector3<Scalar> measure(mu, mu, Scalar(1));  // tangents in units of μ
  const SquareMatrix<Scalar, 3> w =
      measure.asDiagonal() * contact.inverse_mass * measure.asDiagonal();
  const Vector3<Scalar> scaled = measure.cwiseProduct(u);
  const Vector3<Scalar> edge = detail::sliding_edge(w, scaled);
  const Scalar normal = -edge.dot(scaled) / edge.dot(w * edge);  // on the surface to the last digit
  return all * normal * measure.cwiseProduct(edge);
}

}  // namespace CAROM_ABI
}  // namespace carom
