// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "carom/variational/detail/motion_derivative.hpp"
#include "carom/variational/detail/step_record.hpp"
#include "carom/variational/detail/step_solver.hpp"
#include "carom/variational/impact_step_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Moves a tangent through flights.
///
/// A flight of length s obeys p₀ + left(q₀, q₁, s) + C₀ᵀλ = 0, c(q₁) = 0, p₁ = right(q₀, q₁, s).
/// By the implicit function theorem its end moves with (q₀, p₀) and with s, and s moves so that
/// the gap that ends it stays zero: ds = −Dϕ dq₁|ₛ/(Dϕ ∂q₁/∂s). See docs/derivations/saltation.md.
/// @note  Real-time safe once prepared: no allocation, no exception.
template <LagrangianSystemLike System>
class FlightDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Event = StepEvent<Scalar>;
  using Tangent = StateTangent<Scalar>;
  using Outcome = StepLinearizationStatus;

  /// @param gap_tolerance  gaps up to this are closed [unit of the gaps].
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

  /// A flight as it was taken.
  struct Flight {
    const Event& event;
    std::span<const Index> held;
    const State& start;
    const VectorX<Scalar>& end;  ///< configuration at its end
  };
  /// Carries the tangent through a flight.
  /// @param moving  whether the time of its start moves with the parameters.
  [[nodiscard]] Outcome fly(const System& system, const Flight& flight, bool moving,
                            Tangent& tangent) noexcept;
  /// Whether the gap that ended the last flight was just closed at its start, to tolerance.
  [[nodiscard]] bool started_closed() const noexcept { return started_closed_; }

 private:
  /// Whether the equations of the flight that was solved contain the time.
  [[nodiscard]] bool depends_on_time(const System& system, const State& now,
                                     const Scalar& span) noexcept {
    // A share of the span that is no simple fraction: two instants at which a drive that repeats
    // itself is not the same.
    constexpr double elsewhere = 0.6180339887498949;
    auto& action = solver_.action();
    action.write_slopes(system, now.q, solver_.q_next(), now.time, span);
    earlier_left_ = action.left;
    earlier_right_ = action.right;
    action.write_slopes(system, now.q, solver_.q_next(), now.time + Scalar(elsewhere) * span, span);
    return action.left != earlier_left_ || action.right != earlier_right_;
  }

  /// Writes how the end of the solved flight moves with its length, q₁ and λ into by_span_, p₁ into
  /// momentum_by_span_.
  void write_span_slopes(Index rows) noexcept;
  /// What it takes to move the length of a flight that a gap ends.
  struct Closing {
    Scalar rate = 0;         ///< of the gap with the length of the flight
    Scalar start_share = 0;  ///< of the change of the gap at the start that is left at the end
    Scalar span_share = 0;   ///< what a longer flight, had it not ended, adds to the gap at the end
  };
  [[nodiscard]] Outcome write_closing(const System& system, const Event& event, const State& now,
                                      Closing& closing) noexcept;
  /// Writes (dq₁, dλ) of a column at fixed length into column_.
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

/// The search ends at the length s at which ϕ(q₁) = 0, or ϕ₀ (1 − s/whole) for a contact that was
/// closed at the start. Where ϕ₀ is zero to tolerance it stays so on the side that counts.
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
