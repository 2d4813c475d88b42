// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "carom/core/detail/step_parts.hpp"
#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/detail/step_solver.hpp"
#include "carom/variational/mechanical_state.hpp"
#include "carom/variational/step_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Result of a step.
template <RealScalar Scalar>
struct [[nodiscard]] StepReport {
  /// Unless it is `converged`, the state does not change.
  SolveStatus status = SolveStatus::not_finite;
  int iterations = 0;          ///< Newton iterations, summed over substeps.
  int substeps = 1;            ///< More than one if the step was halved.
  Scalar residual = 0;         ///< Largest remaining Newton correction [unit of q].
  Scalar residual_target = 0;  ///< Size of a correction that counts as zero, same unit.

  [[nodiscard]] constexpr bool converged() const noexcept {
    return status == SolveStatus::converged;
  }
};

/// Advances a mechanical system by the discrete Euler-Lagrange equations. The steps are symplectic
/// and preserve the momenta of the system's symmetries; the energy does not drift.
///
/// ```
/// struct Pendulum {
///   using scalar_type = double;
///   carom::Index size() const { return 1; }
///   template <typename Q, typename T>
///   T lagrangian(const Q& q, const Q& v, const T&) const {
///     return v(0) * v(0) / 2.0 + cos(q(0));
///   }
/// };
/// carom::VariationalStepper<Pendulum> stepper(Pendulum{});
/// auto state = stepper.make_state(q, v);     // cold
/// const auto report = stepper.step(state, 0.01);  // hot
/// ```
/// Contacts (gaps) are ignored here: see ImpactStepper.
/// @tparam System  see concepts.hpp.
template <LagrangianSystemLike System>
class VariationalStepper {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;

  /// Largest count of halvings of a step that Newton's method cannot solve.
  static constexpr int halving_limit = 8;

  /// Cold: allocates all memory that steps need.
  explicit VariationalStepper(System system, const StepOptions<Scalar>& options = {})
      : system_(std::move(system)), solver_(options) {
    const Index n = system_.size();
    solver_.prepare(system_);
    legendre_.prepare(system_, solver_.multipliers().size());
    for (VectorX<Scalar>* v : {&velocity_, &guess_, &before_, &earlier_}) v->setZero(n);
    saved_ = State{Scalar(0), VectorX<Scalar>::Zero(n), VectorX<Scalar>::Zero(n)};
  }

  [[nodiscard]] const System& system() const noexcept { return system_; }

  /// The fault of a state; empty if there is none.
  [[nodiscard]] Fault check(const State& state) const {
    return detail::state_fault(system_, state);
  }

  /// State at a configuration and a velocity: p = ∂L/∂v.
  /// @note  Cold: allocates, throws std::invalid_argument naming the entry.
  [[nodiscard]] State make_state(const VectorX<Scalar>& q, const VectorX<Scalar>& velocity,
                                 Scalar time = 0) {
    return detail::make_state(system_, legendre_, q, velocity, time);
  }

  /// Velocity of a state. Returns false if the mass matrix is singular.
  [[nodiscard]] bool write_velocity(const State& state, VectorX<Scalar>& velocity) noexcept {
    CAROM_EXPECTS(velocity.size() == system_.size());
    velocity.setZero();
    return legendre_.write_velocity(system_, state.q, state.momentum, state.time, velocity);
  }

  /// Energy p·v − L of a state [J]; NaN if the mass matrix is singular.
  [[nodiscard]] Scalar energy(const State& state) noexcept {
    if (!write_velocity(state, velocity_)) return std::numeric_limits<Scalar>::quiet_NaN();
    return legendre_.energy(system_, state.q, velocity_, state.time);
  }

  /// Advances a state by h [s], not zero; negative steps back.
  ///
  /// A step that Newton's method cannot solve is halved, at most halving_limit times.
  /// @note  Real-time safe: no allocation, no exception, at most 2^(halving_limit + 1) solves.
  StepReport<Scalar> step(State& state, const Scalar& h) noexcept {
    CAROM_EXPECTS(state.q.size() == system_.size() && state.momentum.size() == system_.size());
    CAROM_EXPECTS(h != Scalar(0));
    saved_ = state;
    const auto take_part = [&](int, StepReport<Scalar>& report) {
      const StepReport<Scalar> part = advance(state, h / Scalar(report.substeps));
      detail::add_status(report.status, part.status);
      report.iterations += part.iterations;
      report.residual = (std::max)(report.residual, part.residual);
      report.residual_target = (std::max)(report.residual_target, part.residual_target);
      return part.converged();
    };
    const auto start_again = [&](StepReport<Scalar>& report, bool may_halve) {
      state = saved_;
      if (!may_halve) return false;
      const int iterations = report.iterations;
      report = {.status = SolveStatus::converged, .iterations = iterations};
      return true;
    };
    const StepReport<Scalar> whole{.status = SolveStatus::converged};
    const StepReport<Scalar> report =
        detail::take_step_in_halves(whole, halving_limit, take_part, start_again);
    if (report.converged()) state.time = saved_.time + h;
    return report;
  }

  /// λ of the last step, one impulse per constraint: Cᵀλ was added to the momentum at its start.
  [[nodiscard]] const VectorX<Scalar>& multipliers() const noexcept {
    return solver_.multipliers();
  }

  [[nodiscard]] StepSolver<System>& solver() noexcept { return solver_; }

 private:
  /// Computes a step by one solve. Unless it converges, the state may be partly advanced.
  StepReport<Scalar> advance(State& state, const Scalar& h) noexcept {
    StepReport<Scalar> report;
    if (!write_guess(state, h)) {
      history_ = 0;
      report.status = state.q.allFinite() && state.momentum.allFinite() ? SolveStatus::no_progress
                                                                        : SolveStatus::not_finite;
      return report;
    }
    const SolveReport<Scalar> solved = solver_.solve(system_, state, h, guess_);
    report.status = solved.status;
    report.iterations = solved.iterations;
    report.residual = solved.residual;
    report.residual_target = solved.residual_target;
    if (!solved.converged()) {
      history_ = 0;
      return report;
    }
    for (Index i = 0; i < state.q.size(); ++i) {
      earlier_(i) = before_(i);
      before_(i) = state.q(i);
      state.q(i) = solver_.q_next()(i);
      state.momentum(i) = solver_.momentum_next()(i);
    }
    guess_ = state.q;
    history_ = (std::min)(history_ + 1, 2);
    step_before_ = h;
    state.time += h;
    const Index rows = solver_.rows(system_);
    if (rows > 0) {
      velocity_ = (state.q - before_) / h;
      if (!legendre_.constrain(system_, state.q, state.time, {solver_.gradients_next(), rows},
                               velocity_, state.momentum)) {
        report.status = SolveStatus::no_progress;
        history_ = 0;
      }
    }
    return report;
  }

  /// q₁ by the parabola through the last three configurations if the state continues them,
  /// otherwise q₀ + h v₀.
  [[nodiscard]] bool write_guess(const State& state, const Scalar& h) noexcept {
    bool continues = history_ == 2 && h == step_before_;
    for (Index i = 0; continues && i < state.q.size(); ++i) continues = state.q(i) == guess_(i);
    if (continues) {
      for (Index i = 0; i < state.q.size(); ++i) {
        guess_(i) = 3 * (state.q(i) - before_(i)) + earlier_(i);
      }
      return true;
    }
    bool one_back = history_ > 0 && h == step_before_;
    for (Index i = 0; one_back && i < state.q.size(); ++i) one_back = state.q(i) == guess_(i);
    if (!one_back) history_ = 0;
    if (!write_velocity(state, velocity_)) return false;
    guess_ = state.q + h * velocity_;
    return true;
  }

  System system_;
  StepSolver<System> solver_;
  LegendreMap<System> legendre_;
  VectorX<Scalar> velocity_, guess_, before_, earlier_;
  State saved_;
  int history_ = 0;  ///< count of known configurations before the current one
  Scalar step_before_ = 0;
};

}  // namespace CAROM_ABI
}  // namespace carom
