// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <Eigen/Eigenvalues>

#include "carom/adapters/detail/bullet_bodies.hpp"
#include "carom/adapters/detail/bullet_options.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/contact/impulse_set.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/contact/wrench_contact.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// The impulses of a point in a step.
struct PointImpulse {
  Vector3<double> force;   ///< along the point's two lateral directions and its normal [N·s]
  Vector3<double> moment;  ///< against rolling and spinning, in the world's axes [N·m·s]
};

/// The impulses of the points of one step in full precision. Bullet's numbers round them and cannot
/// store moments. For bodies at rest they are the answer of the next step.
class BulletMemory {
 public:
  /// Starts a step: the impulses that were stored since the last call become those of the step
  /// before.
  void begin_step() {
    known_.swap(kept_);
    kept_.clear();
    std::sort(known_.begin(), known_.end(), before);
  }
  void clear() noexcept {
    known_.clear();
    kept_.clear();
  }
  /// @param impulse  its force has the rounded value of the point.
  void keep(const btManifoldPoint& point, const PointImpulse& impulse) {
    kept_.push_back({&point, impulse});
  }
  /// @return  the impulse in the point. If a point at this address with the same rounded numbers
  ///          was stored, the result has more digits and the moment. If it is another point, only
  ///          the guess is affected.
  [[nodiscard]] PointImpulse recall(const btManifoldPoint& point) const {
    PointImpulse rounded{{double(point.m_appliedImpulseLateral1),
                          double(point.m_appliedImpulseLateral2), double(point.m_appliedImpulse)},
                         Vector3<double>::Zero()};
    const Kept wanted{&point, rounded};
    const auto found = std::lower_bound(known_.begin(), known_.end(), wanted, before);
    if (found == known_.end() || found->point != &point) return rounded;
    const Vector3<double> kept = found->impulse.force.cast<btScalar>().cast<double>();
    return kept == rounded.force ? found->impulse : rounded;
  }

 private:
  struct Kept {
    /// never dereferenced, because the manifold may be deleted
    const btManifoldPoint* point;
    PointImpulse impulse;
  };
  [[nodiscard]] static bool before(const Kept& a, const Kept& b) noexcept {
    return std::less<>()(a.point, b.point);
  }

  std::vector<Kept> kept_, known_;
};

/// One point of a manifold.
struct BulletPoint {
  btManifoldPoint* point;
  int manifold;
  std::array<int, 2> body_slots;
  SquareMatrix<double, 3> frame;        ///< rows t₁, t₂, n; n points from body B to body A
  std::array<Vector3<double>, 2> kept;  ///< tangents for which Bullet stores friction impulses
  std::array<CoordinateRows, 2> sides;  ///< t₁, t₂, n, and rotations about them for a wrench
  Vector<double, 6> held;               ///< J of the parts that no impulse changes
  Vector<double, 6> weight;             ///< W_ii
  double inverse_mass;                  ///< ‖W‖_F/3 of the first three rows [1/kg]
  double gap, approach, restitution;
  ImpulseSet<double> set;
  bool soft;                     ///< whether the point has its own stiffness
  double regularization, bias;   ///< normal R and v̂ of a soft point
  std::array<double, 2> motion;  ///< wanted speed of A over B along t₁ and t₂ [m/s]
  Vector3<double> struck = Vector3<double>::Zero();  ///< impulse of impacts
  Index first_impulse = -1;                          ///< place among the problem's impulses

  [[nodiscard]] bool was_struck() const noexcept { return struck.z() > 0; }
  /// Whether a correction of positions may separate it: springs and elliptic friction keep their
  /// overlap.
  [[nodiscard]] bool is_separable() const noexcept {
    return !soft && set.shape != ImpulseShape::elliptic;
  }
  /// Whether it is a friction contact of three rows with one coefficient.
  [[nodiscard]] bool is_plain() const noexcept { return set.shape == ImpulseShape::friction; }
};

/// Whether the users' numbers of a pair of bodies are valid for a contact. Only numbers that their
/// flags enable are checked.
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

/// Whether Bullet's numbers are valid for a contact.
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

/// The part of a direction in the plane with normal n.
[[nodiscard]] inline Vector3<double> along_plane(const Vector3<double>& n,
                                                 const Vector3<double>& direction) {
  return direction - n * n.dot(direction);
}

/// Writes the axes of a point. t₁ is that of the user if a flag of Bullet requires this. Otherwise
/// it is Bullet's choice. Bullet writes its choice again in each detection of the point, but it
/// does not rotate the impulses along it.
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

/// Each body scales friction along its own axes. The tangents are rotated to the principal
/// directions of the combined scaling in the contact plane.
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

/// The law of a point with the values that Bullet combined for both bodies: gap, restitution,
/// frame, set, softness.
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

/// The contact points of one group: from manifolds to a problem, and impulses back.
class BulletContacts {
 public:
  /// Reads the points of all manifolds within their processing threshold.
  /// @note  Cold: allocates only for a group larger than every group before.
  void read(btPersistentManifold** manifolds, int count, const btContactSolverInfo& info,
            BulletBodies& bodies) {
    points_.clear();
    refused_ = 0;
    fault_.clear();
    for (int i = 0; i < count; ++i) read_manifold(*manifolds[i], i, info, bodies);
  }
  [[nodiscard]] std::vector<BulletPoint>& points() noexcept { return points_; }
  [[nodiscard]] const std::vector<BulletPoint>& points() const noexcept { return points_; }
  [[nodiscard]] int refused() const noexcept { return refused_; }
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  /// Adds the points to the problem, plain friction contacts first.
  /// @return  whether a point contains impulses of the step before.
  bool add_to(ContactProblem<double>& problem, const BulletBodies& bodies,
              const BulletOptions& options, double bounce_threshold) {
    bool remembers = false;
    for (BulletPoint& p : points_) {
      p.first_impulse = -1;
      if (p.is_plain()) add(problem, bodies, p, weighted(p, options, problem, bounce_threshold));
      remembers = remembers || p.point->m_appliedImpulse > btScalar(0);
    }
    for (BulletPoint& p : points_) {
      if (!p.is_plain()) add(problem, bodies, p, block_of(p, options, problem, bounce_threshold));
    }
    return remembers;
  }
  /// The stored impulses of the points, in their frames.
  void write_guess(const BulletMemory& memory, VectorX<double>& impulse) const {
    for (const BulletPoint& p : points_) {
      const auto [force, moment] = memory.recall(*p.point);
      const Vector3<double> lateral = force(0) * from_bullet(p.point->m_lateralFrictionDir1) +
                                      force(1) * from_bullet(p.point->m_lateralFrictionDir2);
      const Vector3<double> along = p.frame * lateral;
      if (!along.allFinite()) continue;
      impulse.segment<3>(p.first_impulse) << along(0), along(1), force(2);
      if (p.set.rows == 6) impulse.segment<3>(p.first_impulse + 3) = p.frame * moment;
    }
  }
  /// R of a rigid point in the solves of impacts and of motions out of penetration, relative to its
  /// inverse mass [-]. The relative error of a velocity is about this value, and redundant points
  /// share their load. Other values were not measured.
  static constexpr double point_softness = 1e-6;

  /// Adds a point, without friction, to a problem of positions.
  /// @param gap  [m], the distance that may close.
  static void add_position(ContactProblem<double>& moves, const BulletBodies& bodies,
                           const BulletPoint& p, double gap) {
    const double weight = point_softness * p.inverse_mass;
    const WeightedContact<double> law{0, {weight, weight}, Vector3<double>(0, 0, -gap), true};
    const std::array<Index, 2> index = {bodies[p.body_slots[0]].index,
                                        bodies[p.body_slots[1]].index};
    const CoordinateRows first = p.sides[0].topRows(3), second = p.sides[1].topRows(3);
    if (index[0] < 0) {
      moves.add_contact(index[1], second, law);
    } else if (index[1] < 0) {
      moves.add_contact(index[0], first, law);
    } else {
      moves.add_contact(index[0], first, index[1], second, law);
    }
  }
  /// Writes impulses, including those of impacts, and friction directions to the points.
  void write_back(const VectorX<double>& impulse, BulletMemory& memory) const {
    for (const BulletPoint& p : points_) {
      btManifoldPoint& m = *p.point;
      const Vector3<double> all = p.struck + impulse.segment<3>(p.first_impulse);
      const Vector3<double> lateral = p.frame.topRows<2>().transpose() * all.head<2>();
      m.m_lateralFrictionDir1 = to_bullet(p.kept[0]);
      m.m_lateralFrictionDir2 = to_bullet(p.kept[1]);
      const Vector3<double> kept(p.kept[0].dot(lateral), p.kept[1].dot(lateral), all(2));
      m.m_appliedImpulseLateral1 = btScalar(kept(0));
      m.m_appliedImpulseLateral2 = btScalar(kept(1));
      m.m_appliedImpulse = btScalar(kept(2));
      Vector3<double> moment = Vector3<double>::Zero();
      if (p.set.rows == 6) {
        moment = p.frame.transpose() * impulse.segment<3>(p.first_impulse + 3);
      }
      memory.keep(m, {kept, moment});
    }
  }

 private:
  void read_manifold(btPersistentManifold& manifold, int number, const btContactSolverInfo& info,
                     BulletBodies& bodies) {
    // Bullet passes objects that solvers may change as const objects.
    auto& a = const_cast<btCollisionObject&>(*manifold.getBody0());  // NOLINT
    auto& b = const_cast<btCollisionObject&>(*manifold.getBody1());  // NOLINT
    const std::array<int, 2> body_slots = {bodies.slot_of(a, info), bodies.slot_of(b, info)};
    if (bodies[body_slots[0]].refused || bodies[body_slots[1]].refused) return;
    if (bodies[body_slots[0]].basis.cols() + bodies[body_slots[1]].basis.cols() == 0) return;
    for (int k = 0; k < manifold.getNumContacts(); ++k) {
      btManifoldPoint& point = manifold.getContactPoint(k);
      if (point.getDistance() > manifold.getContactProcessingThreshold()) continue;
      if (!is_sound(point) || !is_sound(a, b, info, point)) {
        refuse(number, k);
        continue;
      }
      BulletPoint made{};
      made.point = &point;
      made.manifold = number;
      made.body_slots = body_slots;
      write_point_law(a, b, info, made);
      const std::array<btVector3, 2> arms = {
          point.getPositionWorldOnA() - a.getWorldTransform().getOrigin(),
          point.getPositionWorldOnB() - b.getWorldTransform().getOrigin()};
      write_sides(arms, bodies, made);
      if (!made.is_plain() && !(made.weight.head(made.set.rows).minCoeff() > 0)) {
        // A locked degree of freedom can make a row of the cone without motion. Friction with one
        // coefficient does not need such a row.
        made.set = friction_impulses(double(point.m_combinedFriction));
        write_sides(arms, bodies, made);
      }
      // otherwise nothing can move at this point
      if (made.inverse_mass > 0) points_.push_back(made);
    }
  }
  void refuse(int manifold, int point) {
    ++refused_;
    if (fault_.empty()) {
      fault_ = "manifold " + std::to_string(manifold) + ", point " + std::to_string(point) +
               ": expected finite numbers, a unit normal and coefficients >= 0, got others";
    }
  }

  static void write_sides(const std::array<btVector3, 2>& arms, const BulletBodies& bodies,
                          BulletPoint& made) {
    const int count = made.set.rows;
    made.held.setZero();
    made.weight.setZero();
    double before = 0;
    SquareMatrix<double, 3> delassus = SquareMatrix<double, 3>::Zero();
    for (std::size_t s = 0; s < 2; ++s) {
      const BulletBody& body = bodies[made.body_slots[s]];
      made.sides[s].resize(count, 0);
      if (made.body_slots[s] == BulletBodies::world) continue;
      const double sign = s == 0 ? 1 : -1;
      const Vector3<double> arm = from_bullet(arms[s]);
      MovementRows rows = MovementRows::Zero(count, 6);
      for (int i = 0; i < 3; ++i) {
        const Vector3<double> axis = sign * made.frame.row(i).transpose();
        rows.row(i) << axis.transpose(), arm.cross(axis).transpose();
        if (count == 6) rows.row(3 + i).tail<3>() = axis.transpose();
      }
      made.sides[s] = bodies.coordinate_rows(made.body_slots[s], rows);
      made.held.head(count) += rows * body.held;
      before += rows.row(2).dot(body.moves(body.velocity));
      for (Index k = 0; k < body.inertia.size(); ++k) {
        made.weight.head(count) += made.sides[s].col(k).cwiseAbs2() / body.inertia(k);
        const Vector3<double> column = made.sides[s].col(k).head<3>();
        delassus += column * column.transpose() / body.inertia(k);
      }
    }
    made.approach = -before;
    made.inverse_mass = delassus.norm() / 3;
  }

  [[nodiscard]] static WeightedContact<double> weighted(const BulletPoint& p,
                                                        const BulletOptions& options,
                                                        const ContactProblem<double>& problem,
                                                        double bounce_threshold) {
    const double dt = problem.time_step();
    WeightedContact<double> law{};
    if (options.rigid) {
      RigidContact<double> contact{.gap = p.gap, .friction = p.set.friction(0)};
      if (options.impact == BulletImpact::newton && p.approach > bounce_threshold) {
        contact.restitution = p.restitution;
        contact.approach = p.approach;
      }
      law = make_weighted(contact, dt, p.inverse_mass);
    } else {
      // A contact that an impact found overlapping is separated by positions, not by an impulse.
      law = make_weighted(
          CompliantContact<double>{.gap = p.was_struck() ? std::max(p.gap, 0.0) : p.gap,
                                   .stiffness = options.stiffness,
                                   .dissipation_time = options.dissipation_time,
                                   .friction = p.set.friction(0),
                                   .near_rigid = options.near_rigid,
                                   .relative_slip = options.relative_slip,
                                   .compliance = detail::is_finite(options.stiffness)
                                                     ? Compliance::stiffness
                                                     : Compliance::step},
          dt, p.inverse_mass);
    }
    law.bias_velocity -= p.held.head<3>();
    law.bias_velocity.x() += p.motion[0];
    law.bias_velocity.y() += p.motion[1];
    if (p.soft) {
      law.rigid = false;
      law.regularization.normal = p.regularization;
      law.bias_velocity.z() = p.bias - p.held(2);
    }
    return law;
  }
  /// The law of a point whose cone does not have three rows with one coefficient.
  [[nodiscard]] static WeightedBlock<double> block_of(const BulletPoint& p,
                                                      const BulletOptions& options,
                                                      const ContactProblem<double>& problem,
                                                      double bounce_threshold) {
    const auto contact = weighted(p, options, problem, bounce_threshold);
    WeightedBlock<double> law;
    law.set = p.set;
    const auto [tangent, normal] = contact.regularization;
    law.regularization.head<3>() << tangent, tangent, normal;
    law.bias_velocity.head<3>() = contact.bias_velocity;
    if (p.set.rows == 6) {
      const double share = tangent / p.inverse_mass;
      const double roll = share * (p.weight(3) + p.weight(4)) / 2;
      law.regularization.tail<3>() << roll, roll, share * p.weight(5);
      law.bias_velocity.tail<3>() = -p.held.tail<3>();
    }
    return law;
  }
  static void add(ContactProblem<double>& problem, const BulletBodies& bodies, BulletPoint& p,
                  const auto& law) {
    const std::array<Index, 2> index = {bodies[p.body_slots[0]].index,
                                        bodies[p.body_slots[1]].index};
    Index block = 0;
    if (index[0] < 0) {
      block = problem.add_contact(index[1], p.sides[1], law);
    } else if (index[1] < 0) {
      block = problem.add_contact(index[0], p.sides[0], law);
    } else {
      block = problem.add_contact(index[0], p.sides[0], index[1], p.sides[1], law);
    }
    p.first_impulse = problem.first_row(block);
  }

  std::vector<BulletPoint> points_;
  int refused_ = 0;
  std::string fault_;
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
