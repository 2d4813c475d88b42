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

/// The impulses of a point in a step, in the world's axes.
struct PointImpulse {
  Vector3<double> force;   ///< on body A [N·s]
  Vector3<double> moment;  ///< against rolling and spinning [N·m·s]
};

/// The numbers that Bullet stores in a point: impulses along its two lateral directions and its
/// normal [N·s].
[[nodiscard]] inline Vector3<btScalar> stored_impulse(const btManifoldPoint& point) {
  return {point.m_appliedImpulseLateral1, point.m_appliedImpulseLateral2, point.m_appliedImpulse};
}

/// The impulses of the points of one step in full precision. Bullet's numbers round them, cannot
/// store moments, and are lost where Bullet makes the point of a pair anew in each step, as for two
/// spheres. For bodies at rest they are the answer of the next step.
class BulletMemory {
 public:
  /// Starts a step: the impulses that were stored since the last call become those of the step
  /// before.
  void begin_step() {
    known_.swap(kept_);
    kept_.clear();
    std::size_t size = 2;
    while (size < 2 * known_.size()) size *= 2;
    table_.assign(size, -1);
    for (std::size_t k = 0; k < known_.size(); ++k) table_[place_of(known_[k].point)] = int(k);
  }
  void clear() noexcept {
    known_.clear();
    kept_.clear();
    table_.clear();
  }
  /// Keeps the impulse of a point, whose own numbers are the rounded values.
  void keep(const btManifoldPoint& point, const PointImpulse& impulse) {
    kept_.push_back(
        {&point, stored_impulse(point), from_bullet(point.getPositionWorldOnB()), impulse});
  }
  /// The impulse of a point in the step before. It was kept if a point at this address had the
  /// numbers that this point stores; if this point stores zeros, as Bullet's new points do, it may
  /// also be a point in almost the same place. Otherwise it is what the point stores. If it belongs
  /// to another point, only the guess is affected.
  /// @param reach  largest distance of the same place [m].
  [[nodiscard]] PointImpulse recall(const btManifoldPoint& point, double reach) const {
    const Vector3<btScalar> stored = stored_impulse(point);
    const int found = known_.empty() ? -1 : table_[place_of(&point)];
    if (found >= 0) {
      const Kept& known = known_[std::size_t(found)];
      const Vector3<double> place = from_bullet(point.getPositionWorldOnB());
      const bool renewed = stored.isZero(0) && (place - known.place).norm() <= reach;
      if (renewed || known.stored == stored) return known.impulse;
    }
    const Vector3<double> own = stored.cast<double>();
    return {own(0) * from_bullet(point.m_lateralFrictionDir1) +
                own(1) * from_bullet(point.m_lateralFrictionDir2) +
                own(2) * from_bullet(point.m_normalWorldOnB),
            Vector3<double>::Zero()};
  }

 private:
  struct Kept {
    /// never dereferenced, because the manifold may be deleted
    const btManifoldPoint* point;
    Vector3<btScalar> stored;
    Vector3<double> place;  ///< on body B, in the world [m]
    PointImpulse impulse;
  };
  /// The place of a point in the hash table, or the free place where it belongs. At least half of
  /// the places are free.
  [[nodiscard]] std::size_t place_of(const btManifoldPoint* point) const noexcept {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = (std::hash<const btManifoldPoint*>()(point) / sizeof(btManifoldPoint)) & mask;
    while (table_[at] >= 0 && known_[std::size_t(table_[at])].point != point) at = (at + 1) & mask;
    return at;
  }

  std::vector<Kept> kept_, known_;
  std::vector<int> table_;  ///< hash table of the points in known_: their index, −1 if free
};

/// J of a point on the coordinates of a body: rows t₁, t₂, n.
using PointRows = Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, 6>;

/// One point of a manifold.
struct BulletPoint {
  btManifoldPoint* point;
  int manifold;
  std::array<int, 2> body_slots;
  SquareMatrix<double, 3> frame;        ///< rows t₁, t₂, n; n points from body B to body A
  std::array<Vector3<double>, 2> kept;  ///< tangents for which Bullet stores friction impulses
  std::array<PointRows, 2> sides;
  Vector<double, 6> held;    ///< velocity that no impulse changes, of t₁, t₂, n and about them
  Vector<double, 6> weight;  ///< diagonal of W_ii, the last three only of a wrench
  double inverse_mass;       ///< ‖W‖_F/3 of the first three rows [1/kg]
  double gap, approach, restitution;
  double reach;                  ///< distance within which points of its two bodies are found [m]
  ImpulseShape shape;            ///< friction, elliptic, or rolling for a wrench
  Vector3<double> friction;      ///< coefficients of the shape, as in ImpulseSet
  bool soft;                     ///< whether the point has its own stiffness
  double regularization, bias;   ///< normal R and v̂ of a soft point
  std::array<double, 2> motion;  ///< wanted speed of A over B along t₁ and t₂ [m/s]
  Vector3<double> struck = Vector3<double>::Zero();  ///< impulse of impacts
  Index block = -1;                                  ///< in the problem
  Index first_impulse = -1;                          ///< place among the problem's impulses

  [[nodiscard]] bool was_struck() const noexcept { return struck.z() > 0; }
  /// Whether a correction of positions may separate it: springs and elliptic friction keep their
  /// overlap.
  [[nodiscard]] bool is_separable() const noexcept {
    return !soft && shape != ImpulseShape::elliptic;
  }
  /// Whether it is a friction contact of three rows with one coefficient.
  [[nodiscard]] bool is_plain() const noexcept { return shape == ImpulseShape::friction; }
  /// Whether it has rolling and spinning friction.
  [[nodiscard]] bool is_wrench() const noexcept { return shape == ImpulseShape::rolling; }
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
  made.shape = ImpulseShape::elliptic;
  made.friction = Vector3<double>(coefficients(0), coefficients(1), 0);
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
  made.shape = ImpulseShape::friction;
  made.friction = Vector3<double>(mu, 0, 0);
  const double roll = double(m.m_combinedRollingFriction);
  const double spin = double(m.m_combinedSpinningFriction);
  if (roll > 0 || spin > 0) {
    made.shape = ImpulseShape::rolling;
    made.friction = Vector3<double>(mu, roll, spin);
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
  void add_to(ContactProblem<double>& problem, const BulletBodies& bodies,
              const BulletOptions& options, double bounce_threshold) {
    for (BulletPoint& p : points_) {
      p.first_impulse = -1;
      if (p.is_plain()) add(problem, bodies, p, weighted(p, options, problem, bounce_threshold));
    }
    for (BulletPoint& p : points_) {
      if (!p.is_plain()) add(problem, bodies, p, block_of(p, options, problem, bounce_threshold));
    }
  }
  /// Writes the impulses of the step before.
  /// @param impulse  zeros.
  /// @return  whether there are any.
  bool write_guess(const BulletMemory& memory, VectorX<double>& impulse) const {
    bool any = false;
    for (const BulletPoint& p : points_) {
      const auto [force, moment] = memory.recall(*p.point, p.reach);
      const Vector3<double> along = p.frame * force;
      if (!along.allFinite() || along.isZero(0)) continue;
      any = true;
      impulse.segment<3>(p.first_impulse) = along;
      if (p.is_wrench()) impulse.segment<3>(p.first_impulse + 3) = p.frame * moment;
    }
    return any;
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
    static_cast<void>(add_block(moves, index, p.sides, law));
  }
  /// Writes impulses, including those of impacts, and friction directions to the points.
  void write_back(const VectorX<double>& impulse, BulletMemory& memory) const {
    for (const BulletPoint& p : points_) {
      btManifoldPoint& m = *p.point;
      const Vector3<double> all = p.struck + impulse.segment<3>(p.first_impulse);
      const Vector3<double> lateral = p.frame.topRows<2>().transpose() * all.head<2>();
      m.m_lateralFrictionDir1 = to_bullet(p.kept[0]);
      m.m_lateralFrictionDir2 = to_bullet(p.kept[1]);
      m.m_appliedImpulseLateral1 = btScalar(p.kept[0].dot(lateral));
      m.m_appliedImpulseLateral2 = btScalar(p.kept[1].dot(lateral));
      m.m_appliedImpulse = btScalar(all(2));
      Vector3<double> moment = Vector3<double>::Zero();
      if (p.is_wrench()) {
        moment = p.frame.transpose() * impulse.segment<3>(p.first_impulse + 3);
      }
      memory.keep(m, {p.frame.transpose() * all, moment});
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
      BulletPoint& made = points_.emplace_back();
      made.point = &point;
      made.manifold = number;
      made.reach = double(manifold.getContactBreakingThreshold());
      made.body_slots = body_slots;
      write_point_law(a, b, info, made);
      const std::array<btVector3, 2> arms = {
          point.getPositionWorldOnA() - a.getWorldTransform().getOrigin(),
          point.getPositionWorldOnB() - b.getWorldTransform().getOrigin()};
      write_sides(arms, bodies, made);
      const Index rows = made.is_wrench() ? 6 : 3;
      if (!made.is_plain() && !(made.weight.head(rows).minCoeff() > 0)) {
        // A locked degree of freedom can make a row of the cone without motion. Friction with one
        // coefficient does not need such a row.
        made.shape = ImpulseShape::friction;
        made.friction = Vector3<double>(double(point.m_combinedFriction), 0, 0);
      }
      // otherwise nothing can move at this point
      if (!(made.inverse_mass > 0)) points_.pop_back();
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
    made.held.setZero();
    made.weight.setZero();
    double before = 0;
    SquareMatrix<double, 3> delassus = SquareMatrix<double, 3>::Zero();
    for (std::size_t s = 0; s < 2; ++s) {
      const BulletBody& body = bodies[made.body_slots[s]];
      made.sides[s].resize(3, body.basis.cols());
      if (made.body_slots[s] == BulletBodies::world) continue;
      const Vector3<double> arm = from_bullet(arms[s]);
      Eigen::Matrix<double, 3, 6> rows;
      rows.leftCols<3>() = (s == 0 ? 1.0 : -1.0) * made.frame;
      for (int i = 0; i < 3; ++i) {
        rows.row(i).tail<3>() = arm.cross(rows.row(i).head<3>()).transpose();
      }
      made.held.head<3>() += rows.lazyProduct(body.held);
      before += rows.row(2).dot(body.motion);
      if (body.basis.cols() == 6) {  // the linear coordinates are the world axes
        PairOfThree side(made.sides[s].data());
        side.leftCols<3>() = rows.leftCols<3>();
        side.rightCols<3>() = rows.rightCols<3>().lazyProduct(body.basis.bottomRightCorner<3, 3>());
        add_delassus(side, body.inverse_inertia.head<6>(), delassus);
      } else {
        made.sides[s] = rows.lazyProduct(body.basis);
        add_delassus(made.sides[s], body.inverse_inertia, delassus);
      }
      if (made.is_wrench()) add_turning(body, rows.leftCols<3>(), made);
    }
    made.weight.head<3>() = delassus.diagonal();
    made.approach = -before;
    made.inverse_mass = delassus.norm() / 3;
  }
  using PairOfThree = Eigen::Map<Eigen::Matrix<double, 3, 6>>;

  static void add_delassus(const auto& side, const auto& inverse_inertia,
                           SquareMatrix<double, 3>& delassus) {
    const auto scaled = (side * inverse_inertia.asDiagonal()).eval();
    delassus += scaled.lazyProduct(side.transpose());
  }
  /// J of the rotations about t₁, t₂ and n.
  [[nodiscard]] static PointRows turning_rows(const BulletBody& body,
                                              const SquareMatrix<double, 3>& axes) {
    return axes.lazyProduct(body.basis.bottomRows<3>());
  }
  static void add_turning(const BulletBody& body, const SquareMatrix<double, 3>& axes,
                          BulletPoint& made) {
    const PointRows rows = turning_rows(body, axes);
    made.held.tail<3>() += axes.lazyProduct(body.held.tail<3>());
    for (Index k = 0; k < rows.cols(); ++k) {
      made.weight.tail<3>() += body.inverse_inertia(k) * rows.col(k).cwiseAbs2();
    }
  }

  [[nodiscard]] static WeightedContact<double> weighted(const BulletPoint& p,
                                                        const BulletOptions& options,
                                                        const ContactProblem<double>& problem,
                                                        double bounce_threshold) {
    const double dt = problem.time_step();
    WeightedContact<double> law{};
    if (options.rigid) {
      RigidContact<double> contact{.gap = p.gap, .friction = p.friction(0)};
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
                                   .friction = p.friction(0),
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
    law.set = cone_impulses(p.shape, p.friction);
    const auto [tangent, normal] = contact.regularization;
    law.regularization.head<3>() << tangent, tangent, normal;
    law.bias_velocity.head<3>() = contact.bias_velocity;
    if (p.is_wrench()) {
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
    p.block = p.is_wrench() ? add_block(problem, index, wrench_rows(bodies, p), law)
                            : add_block(problem, index, p.sides, law);
    p.first_impulse = problem.first_row(p.block);
  }
  /// J of a wrench: t₁, t₂, n, and the rotations about them.
  [[nodiscard]] static std::array<CoordinateRows, 2> wrench_rows(const BulletBodies& bodies,
                                                                 const BulletPoint& p) {
    std::array<CoordinateRows, 2> all;
    for (std::size_t s = 0; s < 2; ++s) {
      all[s].resize(6, p.sides[s].cols());
      if (p.sides[s].cols() == 0) continue;
      all[s].topRows<3>() = p.sides[s];
      all[s].bottomRows<3>() =
          turning_rows(bodies[p.body_slots[s]], (s == 0 ? 1.0 : -1.0) * p.frame);
    }
    return all;
  }
  /// Adds a block on one or two bodies. Bodies with six coordinates have rows of constant size.
  /// @param index  of the bodies in the problem; −1 if one does not move.
  template <typename Rows>
  static Index add_block(ContactProblem<double>& problem, const std::array<Index, 2>& index,
                         const std::array<Rows, 2>& sides, const auto& law) {
    constexpr int count = Rows::RowsAtCompileTime == 3 ? 3 : 6;
    using Six = Eigen::Map<const Eigen::Matrix<double, count, 6>>;
    const bool six =
        (index[0] < 0 || sides[0].cols() == 6) && (index[1] < 0 || sides[1].cols() == 6);
    const auto add = [&](const auto& first, const auto& second) {
      if (index[0] < 0) return problem.add_contact(index[1], second, law);
      if (index[1] < 0) return problem.add_contact(index[0], first, law);
      return problem.add_contact(index[0], first, index[1], second, law);
    };
    return six ? add(Six(sides[0].data()), Six(sides[1].data())) : add(sides[0], sides[1]);
  }

  std::vector<BulletPoint> points_;
  int refused_ = 0;
  std::string fault_;
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
