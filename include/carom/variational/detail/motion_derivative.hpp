// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/detail/step_record.hpp"
#include "carom/variational/detail/step_solver.hpp"
#include "carom/variational/impact_step_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivatives of a state within a step by m parameters.
template <RealScalar Scalar>
struct StateTangent {
  MatrixX<Scalar> q, p;  ///< ∂q, ∂p, n×m
  VectorX<Scalar> rest;  ///< ∂(remaining time of the step) [s], m

  /// Cold: allocates.
  void prepare(Index size, Index parameters) {
    q.setZero(size, parameters);
    p.setZero(size, parameters);
    rest.setZero(parameters);
  }
};

namespace detail {

/// Adds the second derivatives of constraints and constrained contacts, weighted by row.
/// @param gap_weights  scratch for one number per gap.
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

/// Moves a tangent through the instantaneous changes of a state except impacts: projections of the
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

  /// The part of the momentum across constraints and constrained contacts is removed: C v = 0,
  /// p = ∂L/∂v.
  [[nodiscard]] Outcome project(const System& system, std::span<const Index> held, const State& now,
                                Tangent& tangent) noexcept;

  /// Moves a state by the time dt of each parameter: dq = v dt, dp = (∂L/∂q + f) dt. It is for
  /// states without constraints and constrained contacts.
  [[nodiscard]] Outcome shift(const System& system, const State& now, const VectorX<Scalar>& times,
                              Tangent& tangent) noexcept;

  /// Writes the velocity at a state without constraints to velocity().
  [[nodiscard]] Outcome move_freely(const System& system, const State& now) noexcept {
    solver_.release_all();
    if (solver_.rows(system) > 0) return Outcome::boundary;
    return write_motion(system, now);
  }
  /// The velocity at the last move_freely() or shift() [m/s, rad/s].
  [[nodiscard]] const VectorX<Scalar>& velocity() const noexcept { return velocity_; }

 private:
  /// Writes velocity_ with C v = 0 and the Lagrangian there. column_ becomes (v, κ) with
  /// ∂L/∂v = p − Cᵀκ, and mass_ the factors of [M Cᵀ; C 0].
  [[nodiscard]] Outcome write_motion(const System& system, const State& now) noexcept;
  /// Writes second derivatives weighted by multipliers_ to curvature_.
  void write_curvature(const System& system, const VectorX<Scalar>& q) noexcept {
    curvature_.setZero();
    detail::add_row_curvature(system, solver_, q, multipliers_, weights_, curvature_);
  }

  StepSolver<System> solver_;  ///< for its constraints and constrained contacts
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
  // The rounding of a mass matrix that does not depend on the velocity is far below this.
  const Scalar some = sqrt(std::numeric_limits<Scalar>::epsilon()) * earlier_.cwiseAbs().maxCoeff();
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Scalar change = at_.by_vv(i, j) - earlier_(i, j);
      if (!(change <= some && -change <= some)) return Outcome::not_quadratic;
    }
  }
  return Outcome::linearized;
}

/// Differentiates ∂L/∂v + Cᵀκ = p and C v = 0.
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

/// Moves a tangent through flights.
///
/// A flight of length s satisfies p₀ + left(q₀, q₁, s) + C₀ᵀλ = 0, c(q₁) = 0, p₁ = right(q₀, q₁,
/// s). By the implicit function theorem, its end is a function of (q₀, p₀) and of s. s changes such
/// that the gap that ends the flight stays zero: ds = −Dϕ dq₁|ₛ/(Dϕ ∂q₁/∂s). See
/// docs/derivations/saltation.md.
/// @note  Real-time safe once prepared: no allocation, no exception.
template <LagrangianSystemLike System>
class FlightDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Event = StepEvent<Scalar>;
  using Tangent = StateTangent<Scalar>;
  using Outcome = StepLinearizationStatus;

  /// @param gap_tolerance  gaps up to this value are closed [unit of the gaps].
  FlightDerivative(const StepOptions<Scalar>& options, const Scalar& gap_tolerance) noexcept
      : solver_(options), gap_tolerance_(gap_tolerance) {}

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size();
    solver_.prepare(system);
    const Index rows = solver_.multipliers().size();
    curvature_.setZero(n, n);
    for (VectorX<Scalar>* v : {&column_, &by_span_}) v->setZero(n + rows);
    for (VectorX<Scalar>* v :
         {&momentum_by_span_, &earlier_left_, &earlier_right_, &closing_start_, &closing_end_}) {
      v->setZero(n);
    }
    weights_.setZero(StepSolver<System>::Gaps::count(system));
  }

  /// The data of a flight.
  struct Flight {
    const Event& event;
    std::span<const Index> held;
    const State& start;
    const VectorX<Scalar>& end;  ///< configuration at its end
  };
  /// Moves the tangent through a flight.
  /// @param moving  whether the time of its start depends on the parameters.
  [[nodiscard]] Outcome fly(const System& system, const Flight& flight, bool moving,
                            Tangent& tangent) noexcept;
  /// Whether the gap that ended the last flight was closed at its start, within the tolerance.
  [[nodiscard]] bool started_closed() const noexcept { return started_closed_; }

 private:
  /// Whether the equations of the solved flight depend on the time.
  [[nodiscard]] bool depends_on_time(const System& system, const State& now,
                                     const Scalar& span) noexcept {
    // A share of the span that is not a simple fraction: a periodic drive is different at the two
    // instants.
    constexpr double elsewhere = 0.6180339887498949;
    auto& action = solver_.action();
    action.write_slopes(system, now.q, solver_.q_next(), now.time, span);
    earlier_left_ = action.left;
    earlier_right_ = action.right;
    action.write_slopes(system, now.q, solver_.q_next(), now.time + Scalar(elsewhere) * span, span);
    return action.left != earlier_left_ || action.right != earlier_right_;
  }

  /// Writes the derivatives by the length of the solved flight: of q₁ and λ to by_span_, of p₁ to
  /// momentum_by_span_.
  void write_span_slopes(Index rows) noexcept;
  /// The data for the change of the length of a flight that a gap ends.
  struct Closing {
    Scalar rate = 0;         ///< of the gap, by the length of the flight
    Scalar start_share = 0;  ///< remaining share at the end of the change of the gap at the start
    Scalar span_share = 0;  ///< change of the gap at the end for a longer flight that had not ended
  };
  [[nodiscard]] Outcome write_closing(const System& system, const Event& event, const State& now,
                                      Closing& closing) noexcept;
  /// Writes (dq₁, dλ) of a column at fixed length to column_.
  void write_end(Index c, const Tangent& tangent) noexcept;

  StepSolver<System> solver_;
  Scalar gap_tolerance_;
  bool started_closed_ = false;
  MatrixX<Scalar> curvature_;
  VectorX<Scalar> column_, by_span_, momentum_by_span_, weights_;
  VectorX<Scalar> earlier_left_, earlier_right_, closing_start_, closing_end_;
};

// --- implementation ---

template <LagrangianSystemLike System>
void FlightDerivative<System>::write_span_slopes(Index rows) noexcept {
  const auto& action = solver_.action();
  const Index n = momentum_by_span_.size();
  by_span_.setZero();
  by_span_.head(n) = -action.left_by_step;
  solver_.solve_linearized(by_span_);
  by_span_.tail(by_span_.size() - n - rows).setZero();
  for (Index i = 0; i < n; ++i) {
    Scalar sum = action.right_by_step(i);
    for (Index j = 0; j < n; ++j) sum += action.right_by_1(i, j) * by_span_(j);
    momentum_by_span_(i) = sum;
  }
}

/// The search ends at the length s with ϕ(q₁) = 0, or with ϕ(q₁) = ϕ₀ (1 − s/whole) for a contact
/// that was closed at the start. If ϕ₀ is zero within the tolerance, it stays zero on the relevant
/// side.
template <LagrangianSystemLike System>
StepLinearizationStatus FlightDerivative<System>::write_closing(const System& system,
                                                                const Event& event,
                                                                const State& now,
                                                                Closing& closing) noexcept {
  using std::abs, std::sqrt;
  auto& gaps = solver_.gaps();
  gaps.write_gradients(system, now.q);
  const Scalar start = gaps.values(event.closing);
  closing_start_ = gaps.gradients.row(event.closing).transpose();
  gaps.write_gradients(system, solver_.q_next());
  closing_end_ = gaps.gradients.row(event.closing).transpose();
  Scalar scale = 0;
  closing = {};
  for (Index j = 0; j < closing_end_.size(); ++j) {
    closing.rate += closing_end_(j) * by_span_(j);
    scale += abs(closing_end_(j) * by_span_(j));
  }
  if (!(abs(closing.rate) > sqrt(std::numeric_limits<Scalar>::epsilon()) * scale))
    return Outcome::grazing;
  started_closed_ = start <= gap_tolerance_ && start >= -gap_tolerance_;
  if (start < -gap_tolerance_) {
    closing.rate += start / event.whole;
    closing.start_share = 1 - event.span / event.whole;
    closing.span_share = start * event.span / (event.whole * event.whole);
  }
  return Outcome::linearized;
}

template <LagrangianSystemLike System>
void FlightDerivative<System>::write_end(Index c, const Tangent& tangent) noexcept {
  const auto& action = solver_.action();
  const Index n = tangent.q.rows();
  column_.setZero();
  for (Index i = 0; i < n; ++i) {
    Scalar sum = tangent.p(i, c);
    for (Index j = 0; j < n; ++j) {
      sum += (action.left_by_0(i, j) + curvature_(i, j)) * tangent.q(j, c);
    }
    column_(i) = -sum;
  }
  solver_.solve_linearized(column_);
}

template <LagrangianSystemLike System>
StepLinearizationStatus FlightDerivative<System>::fly(const System& system, const Flight& flight,
                                                      bool moving, Tangent& tangent) noexcept {
  const auto& [event, held, now, end] = flight;
  const Index n = now.q.size();
  detail::hold_only(solver_, held);
  if (!solver_.solve(system, now, event.span, end).converged()) return Outcome::not_solved;
  auto& action = solver_.action();
  action.write_all(system, now.q, solver_.q_next(), now.time, event.span);
  if (!solver_.factor(solver_.rows(system))) return Outcome::singular;
  curvature_.setZero();
  detail::add_row_curvature(system, solver_, now.q, solver_.multipliers(), weights_, curvature_);
  const bool closes = event.closing >= 0;
  if ((closes || moving) && depends_on_time(system, now, event.span))
    return Outcome::time_dependent;
  write_span_slopes(solver_.rows(system));
  Closing closing;
  if (closes) {
    if (const Outcome status = write_closing(system, event, now, closing);
        status != Outcome::linearized) {
      return status;
    }
  }
  for (Index c = 0; c < tangent.q.cols(); ++c) {
    write_end(c, tangent);
    Scalar span = event.share * tangent.rest(c);
    if (closes) {
      Scalar sum = closing.span_share * span;
      for (Index j = 0; j < n; ++j) {
        sum += closing.start_share * closing_start_(j) * tangent.q(j, c) -
               closing_end_(j) * column_(j);
      }
      span = sum / closing.rate;
    }
    for (Index i = 0; i < n; ++i) {
      Scalar sum = momentum_by_span_(i) * span;
      for (Index j = 0; j < n; ++j) {
        sum += action.right_by_0(i, j) * tangent.q(j, c) + action.right_by_1(i, j) * column_(j);
      }
      tangent.p(i, c) = sum;
    }
    for (Index i = 0; i < n; ++i) tangent.q(i, c) = column_(i) + by_span_(i) * span;
    tangent.rest(c) -= span;
  }
  return Outcome::linearized;
}

}  // namespace CAROM_ABI
}  // namespace carom
