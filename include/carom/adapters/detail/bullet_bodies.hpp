// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

[[nodiscard]] inline Vector3<double> from_bullet(const btVector3& x) noexcept {
  return {double(x.x()), double(x.y()), double(x.z())};
}
[[nodiscard]] inline btVector3 to_bullet(const Vector3<double>& x) noexcept {
  return {btScalar(x.x()), btScalar(x.y()), btScalar(x.z())};
}

/// Velocity of a body in the world: (v, ω) [m/s, rad/s].
using BodyVelocity = Vector<double, 6>;
/// Rows (linear, angular) that act on it.
using MovementRows = Eigen::Matrix<double, Eigen::Dynamic, 6, 0, 6, 6>;
/// The same rows on a body's own coordinates.
using CoordinateRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
/// Numbers per coordinate of a body, 0 to 6.
using Coordinates = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;

/// One body of a group. (v, ω) = held + basis y. y are its coordinates, in which its inertia is
/// diagonal. `held` is the part that no impulse changes; for a kinematic body it is everything.
struct BulletBody {
  btRigidBody* body = nullptr;
  bool refused = false;
  Index index = -1;  ///< in the problem; −1: no coordinates
  Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6> basis;  ///< orthonormal columns
  Coordinates inertia;                                      ///< [kg, kg·m²], > 0
  Coordinates inverse_inertia;
  Coordinates velocity;  ///< y before the step
  Coordinates thrust;    ///< change of y by outer forces
  BodyVelocity held = BodyVelocity::Zero();
  BodyVelocity motion = BodyVelocity::Zero();  ///< (v, ω) that Bullet gave

  [[nodiscard]] BodyVelocity moves(const Coordinates& y) const { return held + basis * y; }
};

/// Rotation of a transform, orthonormal in double for any precision of Bullet.
[[nodiscard]] inline SquareMatrix<double, 3> rotation_of(const btTransform& transform) {
  const btQuaternion q = transform.getRotation();
  return Eigen::Quaterniond(double(q.w()), double(q.x()), double(q.y()), double(q.z()))
      .normalized()
      .toRotationMatrix();
}

/// The bodies of one group: which of them move, their coordinates, and their velocities.
///
/// Linear coordinates are the world axes, with mass m/f for a linear factor f. Angular coordinates
/// are the principal axes, or those of F^½ I⁻¹ F^½ for angular factors F. Directions with zero
/// inverse mass or inertia have no coordinate.
class BulletBodies {
 public:
  static constexpr int world = 0;  ///< slot of all static objects

  /// @note  Cold: allocates only for a group larger than every group before.
  void gather(btCollisionObject** objects, int count, const btContactSolverInfo& info) {
    slots_.clear();
    slots_.emplace_back();
    refused_ = 0;
    fault_.clear();
    for (int i = 0; i < count; ++i) objects[i]->setCompanionId(-1);
    for (int i = 0; i < count; ++i) static_cast<void>(slot_of(*objects[i], info));
  }
  /// Ends the work of gather(), and restores Bullet's own marks.
  void release() noexcept {
    for (const BulletBody& slot : slots_) {
      if (slot.body != nullptr) slot.body->setCompanionId(-1);
    }
  }

  /// The slot of an object. A new slot is made if it has none.
  int slot_of(btCollisionObject& object, const btContactSolverInfo& info) {
    btRigidBody* const body = btRigidBody::upcast(&object);
    const bool moves = body != nullptr && !body->isStaticObject() &&
                       (body->getInvMass() != btScalar(0) || body->isKinematicObject());
    if (!moves) return world;
    if (body->getCompanionId() > 0 && body->getCompanionId() < int(slots_.size()) &&
        slots_[std::size_t(body->getCompanionId())].body == body) {
      return body->getCompanionId();
    }
    const int slot = int(slots_.size());
    body->setCompanionId(slot);
    slots_.push_back(make(*body, info));
    if (slots_.back().refused) refuse(slot);
    return slot;
  }

  [[nodiscard]] int count() const noexcept { return int(slots_.size()); }
  [[nodiscard]] BulletBody& operator[](int slot) noexcept { return slots_[std::size_t(slot)]; }
  [[nodiscard]] const BulletBody& operator[](int slot) const noexcept {
    return slots_[std::size_t(slot)];
  }
  /// Count of bodies that were omitted because a number is not finite. The next function: the first
  /// one in words.
  [[nodiscard]] int refused() const noexcept { return refused_; }
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  /// Converts rows on a body to rows on its coordinates.
  [[nodiscard]] CoordinateRows coordinate_rows(int slot, const MovementRows& rows) const {
    return rows * (*this)[slot].basis;
  }

 private:
  void refuse(int slot) {
    ++refused_;
    if (!fault_.empty()) return;
    const int place = slots_[std::size_t(slot)].body->getWorldArrayIndex();
    fault_ = "body " + std::to_string(place) +
             ": transform, velocity, force, mass: expected finite numbers, got others";
  }
  [[nodiscard]] static bool finite(const btRigidBody& body) {
    const btTransform& at = body.getWorldTransform();
    bool all = std::isfinite(body.getInvMass());
    for (int i = 0; i < 3; ++i) all = all && from_bullet(at.getBasis()[i]).allFinite();
    for (const btVector3& x :
         {at.getOrigin(), body.getLinearVelocity(), body.getAngularVelocity(), body.getTotalForce(),
          body.getTotalTorque(), body.getInvInertiaDiagLocal(), body.getLinearFactor(),
          body.getAngularFactor()}) {
      all = all && from_bullet(x).allFinite();
    }
    return all;
  }

  [[nodiscard]] static BulletBody make(btRigidBody& body, const btContactSolverInfo& info) {
    BulletBody made;
    made.body = &body;
    made.refused = !finite(body);
    made.basis.resize(6, 0);
    made.inertia.resize(0);
    made.inverse_inertia.resize(0);
    made.velocity.resize(0);
    made.thrust.resize(0);
    if (made.refused) return made;
    BodyVelocity velocity;
    velocity << from_bullet(body.getLinearVelocity()), from_bullet(body.getAngularVelocity());
    if (!body.isKinematicObject()) write_coordinates(body, made);
    made.motion = velocity;
    made.inverse_inertia = made.inertia.cwiseInverse();
    made.velocity = made.basis.transpose().lazyProduct(velocity);
    made.held = velocity - made.basis.lazyProduct(made.velocity);
    write_thrust(body, info, made);
    return made;
  }

  static void write_coordinates(const btRigidBody& body, BulletBody& made) {
    Eigen::Matrix<double, 6, 6> basis = Eigen::Matrix<double, 6, 6>::Zero();
    Vector<double, 6> inertia;
    Index count = 0;
    const Vector3<double> factor = from_bullet(body.getLinearFactor());
    for (int i = 0; i < 3; ++i) {
      const double inverse = double(body.getInvMass()) * factor(i);
      if (!(inverse > 0)) continue;
      basis(i, count) = 1;
      inertia(count++) = 1 / inverse;
    }
    const auto [axes, inverse] = principal_axes(body);
    for (int i = 0; i < 3; ++i) {
      if (!(inverse(i) > 0)) continue;
      basis.bottomRows<3>().col(count) = axes.col(i);
      inertia(count++) = 1 / inverse(i);
    }
    made.basis = basis.leftCols(count);
    made.inertia = inertia.head(count);
  }

  /// The principal axes of the rotation of the body, and the inverse inertia about them.
  [[nodiscard]] static std::pair<SquareMatrix<double, 3>, Vector3<double>> principal_axes(
      const btRigidBody& body) {
    const SquareMatrix<double, 3> axes = rotation_of(body.getWorldTransform());
    const Vector3<double> inverse = from_bullet(body.getInvInertiaDiagLocal());
    const Vector3<double> factor = from_bullet(body.getAngularFactor()).cwiseMax(0.0).cwiseSqrt();
    if (factor == Vector3<double>::Ones()) return {axes, inverse};
    const SquareMatrix<double, 3> root = factor.asDiagonal() * axes;
    const SquareMatrix<double, 3> scaled = root * inverse.asDiagonal() * root.transpose();
    const Eigen::SelfAdjointEigenSolver<SquareMatrix<double, 3>> own(scaled);
    // Eigenvalues below this share of the largest are rounding of the product: no rotation about
    // that axis.
    constexpr double rounding = 1e-12;
    const double negligible = rounding * own.eigenvalues()(2);
    Vector3<double> kept = own.eigenvalues();
    for (int i = 0; i < 3; ++i) {
      if (kept(i) <= negligible) kept(i) = 0;
    }
    return {own.eigenvectors(), kept};
  }

  /// Writes the effect of forces, torques and the gyroscopic term in a step, according to the
  /// body's flags.
  static void write_thrust(const btRigidBody& body, const btContactSolverInfo& info,
                           BulletBody& made) {
    made.thrust = Coordinates::Zero(made.inertia.size());
    if (made.inertia.size() == 0) return;
    const btScalar dt = info.m_timeStep;
    BodyVelocity push;  // forces; a force along an axis with a factor already contains the factor
    push << from_bullet(body.getTotalForce()), from_bullet(body.getTotalTorque());
    const Coordinates along = made.basis.transpose().lazyProduct(push);
    for (Index i = 0; i < along.size(); ++i) {
      const bool linear = made.basis.col(i).head<3>().squaredNorm() > 0;
      const double inverse = linear ? double(body.getInvMass()) : made.inverse_inertia(i);
      made.thrust(i) = double(dt) * inverse * along(i);
    }
    const int flags = body.getFlags();
    Vector3<double> spin = Vector3<double>::Zero();
    if ((flags & BT_ENABLE_GYROSCOPIC_FORCE_EXPLICIT) != 0) {
      const btVector3 torque = body.computeGyroscopicForceExplicit(info.m_maxGyroscopicForce);
      spin -= from_bullet(body.getInvInertiaTensorWorld() * torque * dt);
    }
    if ((flags & BT_ENABLE_GYROSCOPIC_FORCE_IMPLICIT_WORLD) != 0) {
      spin += from_bullet(body.computeGyroscopicImpulseImplicit_World(dt));
    }
    if ((flags & BT_ENABLE_GYROSCOPIC_FORCE_IMPLICIT_BODY) != 0) {
      spin += from_bullet(body.computeGyroscopicImpulseImplicit_Body(dt));
    }
    made.thrust += made.basis.bottomRows<3>().transpose().lazyProduct(spin);
  }

  std::vector<BulletBody> slots_;
  int refused_ = 0;
  std::string fault_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
