// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "carom/variational/detail/constrained_mass.hpp"
#include "carom/variational/detail/step_solver.hpp"
#include "carom/variational/impact_step_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// How a state within a step moves with m parameters.
template <RealScalar Scalar>
struct StateTangent {
  MatrixX<Scalar> q, p;  ///< ∂q, ∂p, n×m
  VectorX<Scalar> rest;  ///< ∂(what is left of the step) [s], m

  /// Cold: allocates.
  void prepare(Index size, Index parameters) {
    q.setZero(size, parameters);
    p.setZero(size, parameters);
    rest.setZero(parameters);
  }
};

namespace detail {

/// Adds the second derivatives of constraints and held contacts, weighted by row.
/// @param gap_weights  room for a number per gap.
template <LagrangianSystemLike System>
void add_row_curvature(const System& system, StepSolver<System>& solver,
                       const VectorX<typename System::scalar_type>& q,
                       const VectorX<typename System::scalar_type>& weights,
                       VectorX<typename System::scalar_type>& gap_weights,
                       MatrixX<typename System::scalar_type>& out) noexcept {
  solver.constraints().add_curvature(system, q, weights, out);
  if (solver.held().empty()) return;
  Index row = StepSolver<System>::Constraints::count(system);
  gap_weights.setZero();
  for (const Index contact : solver.held()) gap_weights(contact) += weights(row++);
  solver.gaps().add_curvature(system, q, gap_weights, out);
}

template <LagrangianSystemLike System>
void hold_only(StepSolver<System>& solver, std::span<const Index> held) noexcept {
  solver.release_all();
  for (const Index contact : held) solver.hold(contact);
}

}  // namespace detail

/// Moves a tangent through what happens to a state in no time, but for impacts: projections of the
/// momentum, and small changes of the time.
/// @note  Real-time safe once prepared: no allocation, no exception.
template <LagrangianSystemLike System>
class MotionDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Tangent = StateTangent<Scalar>;
  using Outcome = StepLinearizationStatus;

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size();
    solver_.prepare(system);
    const Index rows = solver_.multipliers().size();
    lagrangian_.prepare(system);
    force_.prepare(system);
    mass_.prepare(n, rows);
    at_.resize(n);
    for (MatrixX<Scalar>* m : {&curvature_, &earlier_}) m->setZero(n, n);
    for (MatrixX<Scalar>* m : {&gradients_, &bends_}) m->setZero(rows, n);
    for (VectorX<Scalar>* v : {&velocity_, &push_}) v->setZero(n);
    column_.setZero(n + rows);
    weights_.setZero(StepSolver<System>::Gaps::count(system));
    multipliers_.setZero(rows);
  }

  /// The momentum loses what it has across constraints and held contacts: C v = 0, p = ∂L/∂v.
  [[nodiscard]] Outcome project(const System& system, std::span<const Index> held, const State& now,
                                Tangent& tangent) noexcept;

  /// Moves a state by the time dt of each parameter: dq = v dt, dp = (∂L/∂q + f) dt, where no
  /// constraint and no held contact acts.
  [[nodiscard]] Outcome shift(const System& system, const State& now, const VectorX<Scalar>& times,
                              Tangent& tangent) noexcept;

  /// Writes the velocity at a state without constraints into velocity().
  [[nodiscard]] Outcome move_freely(const System& system, const State& now) noexcept {
    solver_.release_all();
    if (solver_.rows(system) > 0) return Outcome::boundary;
    return write_motion(system, now);
  }
  /// Where the last move_freely() or shift() was [m/s, rad/s].
  [[nodiscard]] const VectorX<Scalar>& velocity() const noexcept { return velocity_; }

 private:
  /// Writes velocity_ with C v = 0 and the Lagrangian there; column_ becomes (v, κ) with
  /// ∂L/∂v = p − Cᵀκ, and mass_ holds the factors of [M Cᵀ; C 0].
  [[nodiscard]] Outcome write_motion(const System& system, const State& now) noexcept;
  /// Writes second derivatives weighted by multipliers_ into curvature_.
  void write_curvature(const System& system, const VectorX<Scalar>& q) noexcept {
    curvature_.setZero();
    detail::add_row_curvature(system, solver_, q, multipliers_, weights_, curvature_);
  }

  StepSolver<System> solver_;  ///< for its constraints and held contacts
  LagrangianEvaluator<System> lagrangian_;
  ForceEvaluator<System> force_;
  ConstrainedMass<Scalar> mass_;
  LagrangianDerivatives<Scalar> at_;
  MatrixX<Scalar> curvature_, earlier_, gradients_, bends_;
  VectorX<Scalar> column_, velocity_, push_, weights_, multipliers_;
};

// --- implementation ---

template <LagrangianSystemLike System>
StepLinearizationStatus MotionDerivative<System>::write_motion(const System& system,
                                                               const State& now) noexcept {
  using std::sqrt;
  const Index n = now.q.size(), rows = solver_.rows(system);
  velocity_.setZero();
  lagrangian_.write_curvature(system, now.q, velocity_, now.time, at_);
  if (rows > 0) solver_.write_rows(system, now.q, gradients_);
  if (!mass_.factor(at_.by_vv, gradients_, rows)) return Outcome::singular;
  column_.setZero();
  for (Index i = 0; i < n; ++i) column_(i) = now.momentum(i) - at_.by_v(i);
  mass_.solve(column_);
  velocity_ = column_.head(n);
  earlier_ = at_.by_vv;
  lagrangian_.write_curvature(system, now.q, velocity_, now.time, at_);
  // Rounding of a mass matrix that does not depend on the velocity is far below this.
  const Scalar some = sqrt(std::numeric_limits<Scalar>::epsilon()) * earlier_.cwiseAbs().maxCoeff();
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Scalar change = at_.by_vv(i, j) - earlier_(i, j);
      if (!(change <= some && -change <= some)) return Outcome::not_quadratic;
    }
  }
  return Outcome::linearized;
}

/// ∂L/∂v + Cᵀκ = p and C v = 0, differentiated.
template <LagrangianSystemLike System>
StepLinearizationStatus MotionDerivative<System>::project(const System& system,
                                                          std::span<const Index> held,
                                                          const State& now,
                                                          Tangent& tangent) noexcept {
  const Index n = now.q.size();
  detail::hold_only(solver_, held);
  if (const Outcome status = write_motion(system, now); status != Outcome::linearized)
    return status;
  const Index rows = solver_.rows(system);
  for (Index r = 0; r < rows; ++r) {
    multipliers_.setZero();
    multipliers_(r) = 1;
    write_curvature(system, now.q);
    for (Index j = 0; j < n; ++j) {
      bends_(r, j) = 0;
      for (Index i = 0; i < n; ++i) bends_(r, j) += velocity_(i) * curvature_(i, j);
    }
  }
  multipliers_.setZero();
  for (Index r = 0; r < rows; ++r) multipliers_(r) = column_(n + r);
  write_curvature(system, now.q);
  for (Index c = 0; c < tangent.q.cols(); ++c) {
    column_.setZero();
    for (Index i = 0; i < n; ++i) {
      column_(i) = tangent.p(i, c);
      for (Index j = 0; j < n; ++j) {
        column_(i) -= (at_.by_qv(j, i) + curvature_(i, j)) * tangent.q(j, c);
      }
    }
    for (Index r = 0; r < rows; ++r) {
      for (Index j = 0; j < n; ++j) column_(n + r) -= bends_(r, j) * tangent.q(j, c);
    }
    mass_.solve(column_);
    for (Index i = 0; i < n; ++i) {
      Scalar sum = 0;
      for (Index j = 0; j < n; ++j) {
        sum += at_.by_vv(i, j) * column_(j) + at_.by_qv(j, i) * tangent.q(j, c);
      }
      tangent.p(i, c) = sum;
    }
  }
  return Outcome::linearized;
}

template <LagrangianSystemLike System>
StepLinearizationStatus MotionDerivative<System>::shift(const System& system, const State& now,
                                                        const VectorX<Scalar>& times,
                                                        Tangent& tangent) noexcept {
  if (const Outcome status = move_freely(system, now); status != Outcome::linearized) return status;
  push_ = at_.by_q;
  if constexpr (ForceEvaluator<System>::present) {
    force_.evaluate(system, now.q, velocity_, now.time);
    push_ += force_.value;
  }
  for (Index c = 0; c < tangent.q.cols(); ++c) {
    for (Index i = 0; i < now.q.size(); ++i) {
      tangent.q(i, c) += velocity_(i) * times(c);
      tangent.p(i, c) += push_(i) * times(c);
    }
    tangent.rest(c) -= times(c);
  }
  return Outcome::linearized;
}

}  // namespace CAROM_ABI
}  // namespace carom
