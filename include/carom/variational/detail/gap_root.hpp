// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/variational/detail/step_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Finds the first instant within a step at which a gap closes.
///
/// The problem: q₁(s) is the end of a step of length s from the state, by the step's own equations;
/// ϕ_i are the gaps. Find the least s in (0, span] with ϕ_i(q₁(s)) = 0 for some contact i. For a
/// contact that is closed at the start, find the next instant at which it closes.
///
/// The steps of find_first():
/// 1. Solve the step of the current length (first: span). Of the contacts that are closed at its
///    end, select the one whose chord between start and end crosses zero first.
/// 2. If there is none, search dips: a gap that is open at both ends but decreases at the first and
///    increases at the second. A convex gap is bounded below by its tangents. The interval is
///    reduced until this bound is positive or a closed instant is found. All dips of a gap that is
///    convex along the path are found, except dips that need more than `dip_evaluations`
///    reductions.
/// 3. If a contact was found, compute its root by Newton's method on the length inside a bracket,
///    with the exact derivative Dϕ dq₁/dh. Continue with step 1 at this shorter length.
/// The search ends when no other contact closes before the current length. It fails if a solve
/// fails or after 2 × (count of gaps) + 3 rounds.
template <LagrangianSystemLike System>
class GapRoot {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;

  static constexpr int dip_evaluations = 8;    ///< per contact and step.
  static constexpr int root_evaluations = 80;  ///< bisections only need 40 for 1e-12.

  explicit GapRoot(const StepOptions<Scalar>& options = {}) noexcept : solver_(options) {}

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size(), gaps = StepSolver<System>::Gaps::count(system);
    solver_.prepare(system);
    for (VectorX<Scalar>* v : {&velocity_, &bend_, &guess_, &path_rate_, &force_}) v->setZero(n);
    pushed_ = State{Scalar(0), VectorX<Scalar>::Zero(n), VectorX<Scalar>::Zero(n)};
    for (VectorX<Scalar>* v : {&gaps_start_, &rates_start_, &gaps_end_}) v->setZero(gaps);
  }

  [[nodiscard]] StepSolver<System>& solver() noexcept { return solver_; }
  [[nodiscard]] const StepSolver<System>& solver() const noexcept { return solver_; }

  /// Starts from a solved step of length `span` from `state`.
  /// @param gaps, gradients  at the state.
  /// @param gap_tolerance    gaps up to this value are closed.
  void start(const State& state, const Scalar& span, const VectorX<Scalar>& velocity,
             const VectorX<Scalar>& gaps, const MatrixX<Scalar>& gradients,
             const Scalar& gap_tolerance) noexcept {
    span_ = at_ = span;
    gap_tolerance_ = gap_tolerance;
    solves_ = iterations_ = 0;
    failed_ = fresh_ = pushes_ = read_ = false;
    velocity_ = velocity;
    gaps_start_ = gaps;
    rates_start_.setZero();
    for (Index j = 0; j < velocity.size(); ++j) {
      for (Index i = 0; i < gaps.size(); ++i) rates_start_(i) += gradients(i, j) * velocity(j);
    }
    for (Index j = 0; j < velocity.size(); ++j) {
      bend_(j) = (solver_.q_next()(j) - state.q(j)) / span - velocity(j);
    }
  }

  /// After start(): a step of length s begins with the impulse s·force, which is added to the
  /// momentum.
  /// @param force  [N, N·m], n.
  void push(const VectorX<Scalar>& force) noexcept {
    force_ = force;
    pushes_ = true;
  }

  /// Finds the gap that closes first. Afterwards the solver is at that instant, or at the end if no
  /// gap closes.
  /// @param tolerance  on the instant [s].
  /// @param time       written: the instant, counted from the time of the state [s].
  /// @return  the contact, or −1.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  Index find_first(const System& system, const State& state, const Scalar& tolerance,
                   Scalar& time) noexcept {
    time = span_;
    Index contact = -1;
    Index rounds = 0;
    while (!failed_ && rounds++ <= 2 * gaps_start_.size() + 2) {
      if (at_ != time && !evaluate(system, state, time)) break;
      solver_.gaps().write_values(system, solver_.q_next());
      if (contact < 0) gaps_end_ = solver_.gaps().values;
      Scalar before = time;
      Index next = earliest_closed(contact);
      if (next < 0) next = find_dip(system, state, contact, before);
      if (failed_) break;
      if (next < 0) {
        if (at_ != time && !evaluate(system, state, time)) break;
        return contact;
      }
      contact = next;
      time = before;
      find_root(system, state, contact, tolerance, time);
    }
    failed_ = true;
    return -1;
  }

  [[nodiscard]] int solves() const noexcept { return solves_; }
  [[nodiscard]] int iterations() const noexcept { return iterations_; }
  /// Whether a solve did not converge.
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  /// Within the span divided by this number, the line through the last point is the better guess of
  /// the step's end. For larger distances it is the parabola from the start. The guess affects only
  /// the work.
  static constexpr int nearby_parts = 16;
  /// A root is accurate when its bracket is shorter than the tolerance divided by this number. In
  /// most cases Newton's step is that small before.
  static constexpr int bracket_parts = 4;

  [[nodiscard]] bool starts_closed(Index i) const noexcept {
    return gaps_start_(i) <= gap_tolerance_;
  }

  /// Of the contacts that are closed at the current length, the one whose chord crosses zero first.
  [[nodiscard]] Index earliest_closed(Index known) noexcept {
    Index first = -1;
    Scalar earliest = (std::numeric_limits<Scalar>::max)();
    for (Index i = 0; i < gaps_start_.size(); ++i) {
      if (i == known || solver_.holds(i)) continue;
      const Scalar gap = solver_.gaps().values(i);
      // A contact that closes together with the selected one needs no separate root.
      const Scalar limit = starts_closed(i) ? (std::min)(gaps_start_(i), Scalar(0)) - gap_tolerance_
                                            : (known < 0 ? Scalar(0) : -gap_tolerance_);
      if (!(gap < limit)) continue;
      const Scalar share = starts_closed(i) ? Scalar(0) : gaps_start_(i) / (gaps_start_(i) - gap);
      if (share >= earliest) continue;
      earliest = share;
      first = i;
    }
    return first;
  }

  /// Solves the step of length s from the state.
  /// @param roughly  whether one correction of the guess is sufficient.
  bool evaluate(const System& system, const State& state, const Scalar& s,
                bool roughly = false) noexcept {
    using std::abs;
    const Scalar ahead = s - at_;
    const bool nearby = read_ && abs(ahead) < span_ / nearby_parts;
    for (Index j = 0; j < guess_.size(); ++j) {
      guess_(j) = nearby ? solver_.q_next()(j) + ahead * path_rate_(j)
                         : state.q(j) + s * (velocity_(j) + s / span_ * bend_(j));
    }
    if (pushes_) {
      pushed_ = state;
      pushed_.momentum += s * force_;
    }
    const State& start = pushes_ ? pushed_ : state;
    ++solves_;
    at_ = s;
    fresh_ = read_ = false;
    if (roughly) {
      ++iterations_;
      failed_ = failed_ || !solver_.correct(system, start, s, guess_);
    } else {
      const SolveReport<Scalar> solved = solver_.solve(system, start, s, guess_);
      iterations_ += solved.iterations;
      failed_ = failed_ || !solved.converged();
    }
    return !failed_;
  }

  /// ϕ_i and its exact rate along the path at the current length. The exact rate costs a
  /// factorisation.
  void read_exactly(const System& system, const State& state, Index i, Scalar& gap,
                    Scalar& rate) noexcept {
    if (!fresh_) {
      fresh_ = solver_.refresh(system, state, at_);
      read_ = false;
    }
    failed_ = failed_ || !fresh_;
    read_gap(system, i, gap, rate);
  }

  /// The same with a rate that is accurate enough for Newton's method.
  void read_gap(const System& system, Index i, Scalar& gap, Scalar& rate) noexcept {
    if (!read_) {
      solver_.gaps().write_gradients(system, solver_.q_next());
      path_rate_ = solver_.action().left_by_step;
      if (pushes_) path_rate_ += force_;
      solver_.write_response(path_rate_);
      read_ = true;
    }
    gap = solver_.gaps().values(i);
    rate = 0;
    for (Index j = 0; j < path_rate_.size(); ++j) {
      rate += solver_.gaps().gradients(i, j) * path_rate_(j);
    }
  }

  /// Root of ϕ_i in (0, s] with ϕ_i(s) < 0. On return, s is the root.
  void find_root(const System& system, const State& state, Index i, const Scalar& tolerance,
                 Scalar& s) noexcept {
    using std::abs, std::sqrt;
    const bool closed = starts_closed(i);
    const Scalar start = gaps_start_(i);
    Scalar low = 0, high = s;
    // The parabola through the start, its rate and the gap at the end of the span.
    const Scalar b = rates_start_(i) * span_, a = gaps_end_(i) - start - b;
    Scalar x =
        closed ? -b / a : 2 * start / (-b + sqrt((std::max)(b * b - 4 * a * start, Scalar(0))));
    x *= span_;
    if (!(x > low && x < high)) x = low + (high - low) / 2;
    const Scalar bend = closed ? Scalar(0) : a / (span_ * span_);
    for (int k = 0; k < root_evaluations; ++k) {
      const bool rough = k == 0;  // the first point need not be accurate
      if (!evaluate(system, state, x, rough)) return;
      s = x;
      Scalar gap = 0, slope = 0;
      read_gap(system, i, gap, slope);
      if (closed) {  // divided by the root at the start: (ϕ − ϕ₀(1 − s/span))/s
        gap = (gap - start * (1 - x / span_)) / x;
        slope = (slope + start / span_ - gap) / x;
      }
      if (gap == Scalar(0) && !rough) return;
      if (!rough) (gap > Scalar(0) ? low : high) = x;
      // Along the parabola with this point and slope and with the curvature of the first parabola.
      const Scalar root = slope * slope - 4 * bend * gap;
      const bool bends = slope < Scalar(0) && root > Scalar(0);
      Scalar next = x - (bends ? 2 * gap / (slope - sqrt(root)) : gap / slope);
      if (!(next > low && next < high)) next = low + (high - low) / 2;
      const Scalar move = abs(next - x);
      if (!rough && (move <= tolerance || high - low <= tolerance / bracket_parts)) return;
      x = next;
    }
  }

  /// Finds a gap that is open at the start and at the current length and closes in between.
  /// @param instant  the current length; written: an instant at which the gap is closed.
  Index find_dip(const System& system, const State& state, Index known, Scalar& instant) noexcept {
    const Scalar end = instant;
    for (Index i = 0; i < gaps_start_.size() && !failed_; ++i) {
      if (i == known || solver_.holds(i) || starts_closed(i)) continue;
      // A convex gap is above its tangent.
      if (!(gaps_start_(i) + rates_start_(i) * end < Scalar(0))) continue;
      if (at_ != end && !evaluate(system, state, end)) return -1;
      Scalar a = 0, b = end, gap_a = gaps_start_(i), rate_a = rates_start_(i);
      Scalar gap_b = 0, rate_b = 0;
      read_exactly(system, state, i, gap_b, rate_b);
      for (int k = 0; k < dip_evaluations && rate_b > Scalar(0); ++k) {
        // The minimum of a convex gap is above the intersection of its tangents.
        const Scalar meet = (gap_b - gap_a - rate_b * (b - a)) / (rate_a - rate_b);
        if (gap_a + rate_a * meet >= Scalar(0)) break;
        const Scalar x = a + meet;
        if (!(x > a && x < b) || !evaluate(system, state, x)) break;
        Scalar gap = 0, rate = 0;
        read_exactly(system, state, i, gap, rate);
        if (gap < Scalar(0)) {
          instant = x;
          return i;
        }
        if (rate < Scalar(0)) {
          a = x, gap_a = gap, rate_a = rate;
        } else {
          b = x, gap_b = gap, rate_b = rate;
        }
      }
    }
    return -1;
  }

  StepSolver<System> solver_;
  State pushed_;
  VectorX<Scalar> velocity_, bend_, guess_, path_rate_, force_;
  VectorX<Scalar> gaps_start_, rates_start_, gaps_end_;
  Scalar span_ = 0, at_ = 0, gap_tolerance_ = 0;
  int solves_ = 0, iterations_ = 0;
  bool failed_ = false, fresh_ = false, pushes_ = false;
  bool read_ = false;  ///< gradients and path_rate_ are those at the current length
};

}  // namespace CAROM_ABI
}  // namespace carom
