// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "carom/adapters/detail/bullet_bodies.hpp"
#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// One point of a manifold.
struct BulletPoint {
  btManifoldPoint* point;
  int manifold;
  std::array<int, 2> slots;
  SquareMatrix<double, 3> frame;        ///< rows t₁, t₂, n; n points from body B to body A
  std::array<Vector3<double>, 2> kept;  ///< tangents along which Bullet keeps friction impulses
  std::array<CoordinateRows, 2> sides;  ///< t₁, t₂, n, and spins about them for a wrench
  Vector<double, 6> held;               ///< J of the parts no impulse changes
  Vector<double, 6> weight;             ///< W_ii
  double inverse_mass;                  ///< ‖W‖_F/3 of the first three rows [1/kg]
  double gap, approach, restitution;
  ImpulseSet<double> set;
  bool soft;                     ///< whether the point has a stiffness of its own
  double regularization, bias;   ///< normal R and v̂ of a soft point
  std::array<double, 2> motion;  ///< wanted speed of A over B along t₁ and t₂ [m/s]
  Vector3<double> struck = Vector3<double>::Zero();  ///< impulse of impacts
  Index first_impulse = -1;                          ///< place among the problem's impulses

  [[nodiscard]] bool was_struck() const noexcept { return struck.z() > 0; }
  /// Whether positions may correct it: springs and elliptic friction keep their overlap.
  [[nodiscard]] bool is_separable() const noexcept {
    return !soft && set.shape != ImpulseShape::elliptic;
  }
  /// Whether it is a friction contact of three rows with one coefficient.
  [[nodiscard]] bool is_plain() const noexcept { return set.shape == ImpulseShape::friction; }
};

/// Whether the users' numbers for a pair of bodies can make a contact. Only what their flags ask
/// for is looked at.
[[nodiscard]] inline bool is_sound(const btCollisionObject& a, const btCollisionObject& b,
                                   const btContactSolverInfo& info, const btManifoldPoint& m) {
  const auto anisotropy = [](const btCollisionObject& object) {
    return !object.hasAnisotropicFriction() ||
           from_bullet(object.getAnisotropicFriction()).allFinite();
  };
  const auto nonnegative = [](btScalar x) { return std::isfinite(x) && x >= btScalar(0); };
  const bool damped = (m.m_contactPointFlags & BT_CONTACT_FLAG_CONTACT_STIFFNESS_DAMPING) != 0;
  return anisotropy(a) && anisotropy(b) && nonnegative(info.m_globalCfm) &&
         nonnegative(info.m_erp2) && std::isfinite(info.m_linearSlop) &&
         (!damped ||
          (nonnegative(m.m_combinedContactStiffness1) && nonnegative(m.m_combinedContactDamping1)));
}

/// Whether Bullet gave numbers that a contact can have.
[[nodiscard]] inline bool is_sound(const btManifoldPoint& m) {
  const auto nonnegative = [](btScalar x) { return std::isfinite(x) && x >= btScalar(0); };
  const double length = from_bullet(m.m_normalWorldOnB).norm();
  return from_bullet(m.getPositionWorldOnA()).allFinite() &&
         from_bullet(m.getPositionWorldOnB()).allFinite() && std::abs(length - 1) < 1e-2 &&
         std::isfinite(m.m_distance1) && nonnegative(m.m_combinedFriction) &&
         nonnegative(m.m_combinedRollingFriction) && nonnegative(m.m_combinedSpinningFriction) &&
         nonnegative(m.m_combinedRestitution) && std::isfinite(m.m_contactMotion1) &&
         std::isfinite(m.m_contactMotion2) && nonnegative(m.m_contactCFM) &&
         nonnegative(m.m_contactERP);
}

/// The part of a direction that lies in the plane of normal n.
[[nodiscard]] inline Vector3<double> along_plane(const Vector3<double>& n,
                                                 const Vector3<double>& direction) {
  return direction - n * n.dot(direction);
}

/// Writes the axes of a point. t₁ is the one that the user gave, if Bullet is told to keep it.
/// Otherwise it is Bullet's choice. Bullet writes its choice again whenever it finds the point, but
/// it does not turn the impulses along it.
inline void write_contact_frame(const btContactSolverInfo& info, BulletPoint& made) {
  const btManifoldPoint& m = *made.point;
  const Vector3<double> n = from_bullet(m.m_normalWorldOnB).normalized();
  btVector3 own, own_second;
  btPlaneSpace1(m.m_normalWorldOnB, own, own_second);
  Vector3<double> t1 = along_plane(n, from_bullet(own)).normalized();
  made.motion = {0, 0};
  Vector3<double> t2 = n.cross(t1);
  const bool given = (m.m_contactPointFlags & BT_CONTACT_FLAG_LATERAL_FRICTION_INITIALIZED) != 0 &&
                     (info.m_solverMode & SOLVER_ENABLE_FRICTION_DIRECTION_CACHING) != 0;
  if (given) {
    const Vector3<double> along = along_plane(n, from_bullet(m.m_lateralFrictionDir1));
    const Vector3<double> other = from_bullet(m.m_lateralFrictionDir2);
    if (along.allFinite() && along.norm() > 1e-3) {
      t1 = along.normalized();
      t2 = n.cross(t1);
      if (other.allFinite() && t2.dot(other) < 0) t2 = -t2;
      made.motion = {double(m.m_contactMotion1), double(m.m_contactMotion2)};
    }
  }
  made.frame << t1.transpose(), t2.transpose(), n.transpose();
  made.kept = {t1, t2};
}

/// Each body scales friction along its own axes; the tangents turn to the principal directions
/// of what both make of the contact plane.
inline void write_anisotropic_friction(const btCollisionObject& a, const btCollisionObject& b,
                                       double mu, BulletPoint& made) {
  using Plane = SquareMatrix<double, 2>;
  const auto in_plane = [&](const btCollisionObject& object) -> Plane {
    if (!object.hasAnisotropicFriction()) return Plane::Identity();
    const SquareMatrix<double, 3> axes = rotation_of(object.getWorldTransform());
    const Vector3<double> scale = from_bullet(object.getAnisotropicFriction()).cwiseAbs();
    const Eigen::Matrix<double, 2, 3> local = made.frame.topRows<2>() * axes;
    return local * scale.asDiagonal() * local.transpose();
  };
  const Plane product = in_plane(a) * in_plane(b);
  const Plane both = (product + product.transpose()) / 2;
  const Eigen::SelfAdjointEigenSolver<Plane> own(both);
  const Eigen::Matrix<double, 2, 3> tangents =
      own.eigenvectors().transpose() * made.frame.topRows<2>();
  made.frame.topRows<2>() = tangents;
  const Vector<double, 2> coefficients = mu * own.eigenvalues().cwiseMax(0.0);
  made.set =
      cone_impulses(ImpulseShape::elliptic, Vector3<double>(coefficients(0), coefficients(1), 0));
}

/// R and v̂ of a point with a stiffness and a damping, or a softness and an error reduction.
inline void write_point_softness(const btContactSolverInfo& info, BulletPoint& made) {
  const btManifoldPoint& m = *made.point;
  const double dt = double(info.m_timeStep);
  double cfm = double(info.m_globalCfm), erp = double(info.m_erp2);
  const int flags = m.m_contactPointFlags;
  const bool mixed =
      (flags & (BT_CONTACT_FLAG_HAS_CONTACT_CFM | BT_CONTACT_FLAG_HAS_CONTACT_ERP)) != 0;
  if ((flags & BT_CONTACT_FLAG_HAS_CONTACT_CFM) != 0) cfm = double(m.m_contactCFM);
  if ((flags & BT_CONTACT_FLAG_HAS_CONTACT_ERP) != 0) erp = double(m.m_contactERP);
  if (!mixed && (flags & BT_CONTACT_FLAG_CONTACT_STIFFNESS_DAMPING) != 0) {
    const double stiffness = double(m.m_combinedContactStiffness1);
    const double both = dt * stiffness + double(m.m_combinedContactDamping1);
    cfm = 1 / std::max(both, 1e-12);
    erp = dt * stiffness * cfm;
  }
  made.soft = cfm > 0;
  made.regularization = cfm / dt;
  made.bias = -made.gap / dt * (made.gap > 0 ? 1 : erp);
}

/// The law of a point as Bullet has mixed it of both bodies: gap, restitution, frame, set,
/// softness.
inline void write_point_law(const btCollisionObject& a, const btCollisionObject& b,
                            const btContactSolverInfo& info, BulletPoint& made) {
  const btManifoldPoint& m = *made.point;
  made.gap = double(m.getDistance()) + double(info.m_linearSlop);
  made.restitution = std::min(double(m.m_combinedRestitution), 1.0);
  write_contact_frame(info, made);
  const double mu = double(m.m_combinedFriction);
  made.set = friction_impulses(mu);
  const double roll = double(m.m_combinedRollingFriction);
  const double spin = double(m.m_combinedSpinningFriction);
  if (roll > 0 || spin > 0) {
    made.set = cone_impulses(ImpulseShape::rolling, Vector3<double>(mu, roll, spin));
  } else if (a.hasAnisotropicFriction() || b.hasAnisotropicFriction()) {
    write_anisotropic_friction(a, b, mu, made);
  }
  write_point_softness(info, made);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
