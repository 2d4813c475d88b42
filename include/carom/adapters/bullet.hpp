// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <btBulletDynamicsCommon.h>
#include <limits>
#include <string>

#include <Eigen/Geometry>

#include "carom/adapters/detail/bullet_bodies.hpp"
#include "carom/adapters/detail/bullet_contacts.hpp"
#include "carom/adapters/detail/bullet_impacts.hpp"
#include "carom/adapters/detail/bullet_joints.hpp"
#include "carom/adapters/detail/bullet_moves.hpp"
#include "carom/adapters/detail/bullet_options.hpp"
#include "carom/solvers/contact_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Solves contacts and joints of a Bullet world: a btConstraintSolver for btDiscreteDynamicsWorld.
///
/// ```
/// carom::BulletSolver solver;
/// btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
/// ```
/// Bullet finds collisions, stores manifolds, combines friction and restitution, integrates
/// positions and puts bodies to sleep. This class replaces Bullet's own solver between these steps.
/// It handles outer forces and gyroscopic terms according to the bodies' flags, static and
/// kinematic bodies, linear and angular factors, contacts with sliding, rolling, spinning and
/// anisotropic friction, conveyor motion, and stiffness and damping of points. It handles all
/// joints by their getInfo2 rows with motors, limits, softness, breaking thresholds and feedback.
/// Impulses are written to the manifold points and joints.
///
/// With the library target carom::compiled, include carom/compiled.hpp too. The solvers are then
/// not compiled again.
///
/// Not used: iterations and relaxation (the solver ends at options.tolerance), split impulses
/// (positions are corrected by positions), m_erp2 except for points with a softness, m_frictionERP,
/// and friction anchors. Multi-bodies and soft bodies count as immobile.
/// @note  Cold: allocates until the memory has grown. No exception passes through Bullet's calls:
///        an item with invalid numbers is omitted from the step, its velocity does not change, and
///        report() names it.
class BulletSolver : public btConstraintSolver {
 public:
  /// @throws std::invalid_argument  naming the option.
  explicit BulletSolver(const BulletOptions& options = {})
      : options_(checked(options)),
        solver_({.law = options.law, .tolerance = options.tolerance}),
        mover_({.tolerance = mover_tolerance}) {}

  [[nodiscard]] const BulletOptions& options() const noexcept { return options_; }
  /// Sets the limits of all later solves, as ContactSolver::set_limits() does: set a new deadline
  /// before each step of the world. A part of its time is kept for the motion out of penetration,
  /// which then removes a third of an overlap in each step. For each group of bodies ten sweeps are
  /// made for velocities, and thirty for that motion, even if the time is over.
  void set_limits(const SolveLimits& limits) noexcept {
    limits_ = limits;
    limits_.least_sweeps = std::max(limits.least_sweeps, hurried_sweeps);
    solver_.set_limits(limits_);
    mover_.set_limits(SolveLimits().with_iterations(limits.iteration_limit));
  }
  /// The report of the last step of the world. A group solved outside of a step is added to it.
  [[nodiscard]] const BulletReport& report() const noexcept { return report_; }
  /// The last group's problem, for write_problem() or certify().
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }

  void prepareSolve(int /*bodies*/, int /*manifolds*/) override {
    report_ = {};
    memory_.begin_step();
  }
  void reset() override {
    report_ = {};
    memory_.clear();
  }
  [[nodiscard]] btConstraintSolverType getSolverType() const override {
    return BT_SEQUENTIAL_IMPULSE_SOLVER;
  }

  /// Solves one group of bodies, their manifolds and joints.
  /// @return  the natural map error of the impulses [-].
  // NOLINTNEXTLINE(readability-function-size): the parameters are Bullet's
  btScalar solveGroup(btCollisionObject** bodies, int body_count, btPersistentManifold** manifolds,
                      int manifold_count, btTypedConstraint** joints, int joint_count,
                      const btContactSolverInfo& info, btIDebugDraw* /*drawer*/,
                      btDispatcher* /*dispatcher*/) override {
    ++report_.groups;
    if (!(info.m_timeStep > btScalar(0)) || !detail::is_finite(double(info.m_timeStep))) {
      refuse(1, detail::fault("time step", "a finite number > 0", double(info.m_timeStep)));
      return 0;
    }
    bodies_.gather(bodies, body_count, info);
    joints_.read(joints, joint_count, info, bodies_);
    contacts_.read(manifolds, manifold_count, info, bodies_);
    refuse(bodies_.refused(), bodies_.fault());
    refuse(joints_.refused(), joints_.fault());
    refuse(contacts_.refused(), contacts_.fault());
    if (options_.impact == BulletImpact::propagative) strike(info);
    write_problem(info);
    share_time();
    const SolveReport<double> solved = solve(warm(info));
    bodies_.release();
    if (solved.status == SolveStatus::not_finite) return btScalar(solved.residual);
    write_back(info);
    separate();
    return btScalar(solved.residual);
  }

 private:
  [[nodiscard]] static const BulletOptions& checked(const BulletOptions& options) {
    detail::reject_if(check(options));
    return options;
  }
  void refuse(int count, const std::string& fault) {
    report_.refused += count;
    if (report_.fault.empty()) report_.fault = fault;
  }
  [[nodiscard]] static bool warm(const btContactSolverInfo& info) noexcept {
    return (info.m_solverMode & SOLVER_USE_WARMSTARTING) != 0;
  }

  void strike(const btContactSolverInfo& info) {
    impacts_.resolve(bodies_, contacts_.points(), joints_, double(info.m_timeStep),
                     double(info.m_restitutionVelocityThreshold), options_.impact_limit);
    report_.impacts += impacts_.count();
    report_.impact_energy += impacts_.energy();
    report_.impacts_cut = report_.impacts_cut || impacts_.cut();
  }

  void write_problem(const btContactSolverInfo& info) {
    problem_.reset(double(info.m_timeStep));
    for (int slot = 0; slot < bodies_.count(); ++slot) {
      detail::BulletBody& body = bodies_[slot];
      if (body.inertia.size() == 0) continue;
      const detail::CoordinateRows inertia = body.inertia.asDiagonal();
      body.index = problem_.add_body(inertia, body.velocity + body.thrust);
    }
    contacts_.add_to(problem_, bodies_, options_, double(info.m_restitutionVelocityThreshold));
    joints_.add_to(problem_, bodies_, options_.joint_softness);
    for (const detail::BulletPoint& p : contacts_.points()) {
      report_.penetration = std::max(report_.penetration, -p.gap);
    }
    report_.contacts += int(contacts_.points().size());
    report_.joint_rows += joints_.row_count();
  }

  /// Keeps a share of the time until a deadline for the motion out of penetration, if there will be
  /// one.
  void share_time() noexcept {
    if (!limits_.has_deadline()) return;
    SolveLimits own = limits_;
    if (overlap_to_remove() > 0) {
      const double now = limits_.now(limits_.context);
      own.deadline = now + solve_share * (limits_.deadline - now);
    }
    solver_.set_limits(own);
  }
  /// How deep the deepest point is that has to be moved apart [m]; 0 if there is none.
  [[nodiscard]] double overlap_to_remove() const noexcept {
    double deepest = 0;
    for (const detail::BulletPoint& p : contacts_.points()) {
      if (p.is_separable() && (options_.rigid || p.was_struck())) {
        deepest = std::max(deepest, -p.gap);
      }
    }
    return deepest > (options_.rigid ? options_.allowed_penetration : 0) ? deepest : 0;
  }

  /// Writes the impulses of the step before to guess_; false if none is known.
  [[nodiscard]] bool recall() {
    guess_.setZero(problem_.impulse_count());
    return contacts_.write_guess(memory_, guess_);
  }

  /// Writes velocity_ and impulse_. They are invalid if the status is not_finite.
  SolveReport<double> solve(bool warm) {
    velocity_ = problem_.free_velocity();
    impulse_.setZero(problem_.impulse_count());
    SolveReport<double> solved;
    solved.status = SolveStatus::converged;
    if (problem_.impulse_count() == 0) return solved;
    for (int slot = 0; slot < bodies_.count(); ++slot) {
      const detail::BulletBody& body = bodies_[slot];
      if (body.index < 0) continue;
      velocity_.segment(problem_.body(body.index).start, body.velocity.size()) = body.velocity;
    }
    const bool begun = warm && options_.rigid && recall();
    if (begun) {
      solved = solver_.solve_from(problem_, guess_, velocity_);
      report_.iterations += solved.iterations;
    }
    const bool late = solved.status == SolveStatus::deadline;
    if (!begun || (!solved.converged() && !late)) {
      if (!velocity_.allFinite()) velocity_ = problem_.free_velocity();
      solved = solver_.solve(problem_, velocity_);
      report_.iterations += solved.iterations;
    }
    if (!velocity_.allFinite() || !solver_.impulse().allFinite()) {
      solved.status = SolveStatus::not_finite;
    } else {
      impulse_ = solver_.impulse();
    }
    report_.residual = std::max(report_.residual, solved.residual);
    report_.status = std::max(report_.status, solved.status);
    return solved;
  }

  void write_back(const btContactSolverInfo& info) {
    for (int slot = 0; slot < bodies_.count(); ++slot) {
      const detail::BulletBody& body = bodies_[slot];
      if (body.index < 0) continue;
      const detail::Coordinates y =
          velocity_.segment(problem_.body(body.index).start, body.velocity.size());
      const detail::BodyVelocity moves = body.moves(y);
      body.body->setLinearVelocity(detail::to_bullet(moves.head<3>()));
      body.body->setAngularVelocity(detail::to_bullet(moves.tail<3>()));
    }
    contacts_.write_back(impulse_, memory_);
    joints_.write_back(problem_, impulse_, double(info.m_timeStep));
  }

  /// Separates rigid contacts with too deep an overlap, by the shortest motion that joints permit.
  /// It also separates compliant contacts that an impact found overlapping.
  void separate() {
    if (!(overlap_to_remove() > 0)) return;
    ++report_.projections;
    if (limits_.has_deadline()) {
      sweep_apart();
    } else {
      solve_apart();
    }
    if (!shift_.allFinite()) return;
    for (int slot = 0; slot < bodies_.count(); ++slot) {
      const detail::BulletBody& body = bodies_[slot];
      if (body.index < 0) continue;
      const BodyRange range = problem_.body(body.index);
      move(*body.body, body.basis * shift_.segment(range.start, range.size));
    }
  }
  /// The distance that a point may close [m]; negative if it has to open. A rigid point opens by at
  /// most half of the distance within which points are found, so that two bodies that move towards
  /// each other seldom overlap before their point is known. A compliant one that an impact found
  /// overlapping opens at once: its spring would add energy.
  /// @param share  of an overlap that is to be removed [-].
  [[nodiscard]] double closable(const detail::BulletPoint& p, double share) const noexcept {
    if (!options_.rigid) return p.was_struck() ? p.gap : std::max(p.gap, 0.0);
    const double distance = p.gap + options_.allowed_penetration / 2;
    return distance < 0 ? std::max(share * distance, -p.reach / 2) : distance;
  }
  /// Writes the motion out of penetration to shift_.
  void solve_apart() {
    moves_.reset(1.0);
    for (Index b = 0; b < problem_.body_count(); ++b) {
      moves_.add_body(problem_.momentum_matrix(b), VectorX<double>::Zero(problem_.body(b).size));
    }
    for (const detail::BulletPoint& p : contacts_.points()) {
      if (p.is_separable())
        detail::BulletContacts::add_position(moves_, bodies_, p, closable(p, 1));
    }
    hold_joints();
    shift_.setZero(moves_.velocity_count());
    static_cast<void>(mover_.solve(moves_, shift_));
  }
  /// The same by sweeps until the deadline.
  void sweep_apart() {
    swept_moves_.reset(problem_);
    for (const detail::BulletPoint& p : contacts_.points()) {
      if (p.is_separable())
        swept_moves_.add(problem_, p.block, 2, -closable(p, hurried_share), false);
    }
    for (const detail::JointBlock& block : joints_.blocks()) {
      for (int i = 0; block.number >= 0 && i < block.rows; ++i) {
        if (!joints_.row(block, i).bilateral()) continue;
        swept_moves_.add(problem_, block.number, i, 0, true);
      }
    }
    swept_moves_.sweep(limits_);
    swept_moves_.write(problem_, shift_);
  }
  void hold_joints() {
    for (const detail::JointBlock& block : joints_.blocks()) {
      if (block.number < 0) continue;
      WeightedBlock<double> law = problem_.law(block.number);
      law.bias_velocity.setZero();
      for (int i = 0; i < block.rows; ++i) {
        if (joints_.row(block, i).bilateral()) continue;
        law.set.lower(i) = law.set.upper(i) = 0;
      }
      detail::BulletJoints::add_constraint(moves_, bodies_, block, law);
    }
  }
  static void move(btRigidBody& body, const detail::BodyVelocity& by) {
    btTransform at = body.getWorldTransform();
    const Vector3<double> turn = by.tail<3>();
    const double angle = turn.norm();
    at.setOrigin(at.getOrigin() + detail::to_bullet(by.head<3>()));
    if (angle > 0) {
      const btQuaternion turned(detail::to_bullet(turn / angle), btScalar(angle));
      at.setRotation((turned * at.getRotation()).normalized());
    }
    body.setWorldTransform(at);
  }

  BulletOptions options_;
  BulletReport report_;
  detail::BulletBodies bodies_;
  detail::BulletJoints joints_;
  detail::BulletContacts contacts_;
  detail::BulletMemory memory_;
  detail::BulletImpacts impacts_;
  ContactProblem<double> problem_{1.0}, moves_{1.0};
  detail::BulletMoves swept_moves_;
  /// Natural map error of motions out of penetration [-], that is, their relative error. It need
  /// not be smaller, because half of a penetration remains.
  static constexpr double mover_tolerance = 1e-8;
  /// Share of the time until a deadline for velocities and impulses; the rest is for the motion out
  /// of penetration [-].
  static constexpr double solve_share = 0.6;
  /// Share of an overlap that a step with a deadline removes [-]. Sweeps that have not settled move
  /// bodies to places where they lose contacts, and with these the impulses of the step before: in
  /// a pile of 1,000 boxes and balls solved by ten sweeps overlaps of 40 mm remain after 2 s, and
  /// of 0.2 m with all of the overlap; in a wall those with a fifth are deeper.
  static constexpr double hurried_share = 0.35;
  /// Least count of sweeps for a group if there is a deadline [-], as many as Bullet's own solver
  /// makes.
  static constexpr int hurried_sweeps = 10;
  SolveLimits limits_;
  ContactSolver<double> solver_, mover_;
  VectorX<double> velocity_, impulse_, guess_, shift_;
};

}  // namespace CAROM_ABI
}  // namespace carom
