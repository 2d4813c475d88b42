// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "carom/variational/contact_impact.hpp"
#include "carom/variational/flight_guess.hpp"
#include "carom/variational/gap_root.hpp"
#include "carom/variational/held_friction.hpp"
#include "carom/variational/impact_step_report.hpp"
#include "carom/variational/legendre.hpp"
#include "carom/variational/overlap.hpp"
#include "carom/variational/step_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Steps a system with unilateral contacts: advances to the instant a gap closes, maps the momentum
/// across the impact of all closed contacts, then finishes the original step, so that the grid of
/// times stays and the energy does not drift.
///
/// Chatter ends in rest: the contact is held as a constraint until its multiplier would pull. A gap
/// that closes and opens again within a step is looked for where its rate changes sign; found are
/// dips of gaps with one minimum in the step.
/// @tparam Law  see ImpactLawFor.
///
/// A step that Newton cannot solve is halved, at most halving_limit times; the report says so.
/// @note  Real-time safe once grown: no allocation, no exception. The first impacts grow the
///        ImpactProblem and the law; no later one with no more contacts does.
/// @cite  seghete2014propagative, section VI, eq. (30)
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law =
                                           ImpactResolver<typename System::scalar_type>>
class ImpactStepper {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Report = ImpactStepReport<Scalar>;

  static constexpr int halving_limit = 8;  ///< most halvings of a step

  /// Cold: allocates.
  explicit ImpactStepper(System system, Law law = Law{},
                         const ImpactStepOptions<Scalar>& options = {});

  [[nodiscard]] const System& system() const noexcept { return system_; }

  /// Advances a state by h > 0 [s].
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  Report step(State& state, const Scalar& h) noexcept;

  /// Impacts of the last step in time order, as many as options.recorded_events.
  [[nodiscard]] std::span<const ImpactEvent<Scalar>> events() const noexcept {
    return impact_.events();
  }
  /// Contacts held closed.
  [[nodiscard]] std::span<const Index> held() const noexcept { return root_.solver().held(); }
  /// Normal impulse that each contact gave in the last step while it was held, one per gap, per
  /// unit of its gradient [N·s]. Over h it is the contact's mean force; impacts are not in it.
  [[nodiscard]] const VectorX<Scalar>& held_impulses() const noexcept { return held_impulses_; }
  /// Velocity of a state, along its constraints; false where the mass matrix is singular.
  [[nodiscard]] bool write_velocity(State state, VectorX<Scalar>& out) {
    return write_motion(state) ? (out = velocity_, true) : false;
  }
  /// Energy p·v − L of a state [J].
  [[nodiscard]] Scalar energy(State state) {
    if (!write_motion(state)) return std::numeric_limits<Scalar>::quiet_NaN();
    return legendre_.energy(system_, state.q, velocity_, state.time);
  }
  /// Forgets what is known of a trajectory: held contacts, chatter.
  void restart() noexcept {
    root_.solver().release_all();
    impact_.restart();
  }

 private:
  enum class Move { finished, event, shorter, retry, failed };

  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  Move advance(State& state, const Scalar& h, Scalar& elapsed, Report& report) noexcept;
  [[nodiscard]] bool write_motion(State& state) noexcept;
  static constexpr bool rubs = FrictionalSystemLike<System>;

  [[nodiscard]] bool solve_rubbing(const State& state, const Scalar& span, Report& report) noexcept;
  void finish_rubbing(State& state) noexcept;
  /// A contact let go for the whole span sinks in before its end: it pushes at first. It is held
  /// again, for half of the span.
  void hold_released() noexcept {
    for (std::size_t i = 0; i < released_.size(); ++i) {
      if (released_[i]) root_.solver().hold(Index(i));
    }
  }
  [[nodiscard]] bool hold_resting(const State& state, const Scalar& span, const Scalar& h) noexcept;
  void accept(State& state, const Scalar& time) noexcept;
  /// Adds what impulse_of(k) says of the k-th held contact.
  template <typename ImpulseOf>
  void add_held_impulses(const ImpulseOf& impulse_of) noexcept {
    Index k = 0;
    for (const Index contact : held()) held_impulses_(contact) += impulse_of(k++);
  }
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  [[nodiscard]] bool resolve(State& state, const Scalar& h, Report& report) noexcept {
    return impact_.resolve({system_, root_.solver(), legendre_, rows_now_, velocity_}, state, h,
                           report);
  }
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  [[nodiscard]] bool fly(State& state, const Scalar& h, Report& report) noexcept;
  void go_back(State& state) noexcept;
  [[nodiscard]] bool part_overlap(State& state, Report& report) noexcept;

  System system_;
  ImpactStepOptions<Scalar> options_;
  GapRoot<System> root_;
  LegendreMap<System> legendre_;
  ContactImpact<System, Law> impact_;
  OverlapProjection<System> overlap_;
  typename detail::FrictionOf<System>::type friction_;
  std::vector<char> released_;
  Scalar share_ = 1;  ///< of what is left of the step that the next flight is to take
  std::vector<Index> saved_held_;
  State saved_, start_;
  FlightGuess<Scalar> flight_;
  VectorX<Scalar> velocity_, guess_, gaps_now_, held_impulses_;
  MatrixX<Scalar> gradients_now_, rows_now_;
};

// --- implementation ---

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
ImpactStepper<System, Law>::ImpactStepper(System system, Law law,
                                          const ImpactStepOptions<Scalar>& options)
    : system_(std::move(system)),
      options_(options),
      root_(options.step),
      impact_(std::move(law), options) {
  CAROM_EXPECTS(options.gap_tolerance > Scalar(0) && options.root_tolerance > Scalar(0));
  CAROM_EXPECTS(options.rest_share >= Scalar(0) && options.event_limit >= 1);
  const Index n = system_.size(), gaps = StepSolver<System>::Gaps::count(system_);
  root_.prepare(system_);
  const Index rows = root_.solver().multipliers().size();
  legendre_.prepare(system_, rows);
  impact_.prepare(system_, rows);
  if (options.project_out) overlap_.prepare(system_);
  saved_held_.reserve(std::size_t(gaps));
  released_.assign(std::size_t(gaps), 0);
  for (VectorX<Scalar>* v : {&velocity_, &guess_}) v->setZero(n);
  gaps_now_.setZero(gaps);
  held_impulses_.setZero(gaps);
  gradients_now_.setZero(gaps, n);
  rows_now_.setZero(rows, n);
  if constexpr (rubs) friction_.prepare(system_);
  flight_.prepare(n);
  saved_ = start_ = State{Scalar(0), VectorX<Scalar>::Zero(n), VectorX<Scalar>::Zero(n)};
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
ImpactStepReport<typename System::scalar_type> ImpactStepper<System, Law>::step(
    State& state, const Scalar& h) noexcept {
  CAROM_EXPECTS(state.q.size() == system_.size() && state.momentum.size() == system_.size());
  CAROM_EXPECTS(h > Scalar(0));
  Report report;
  saved_ = state;
  saved_held_.assign(held().begin(), held().end());
  impact_.start_step();
  held_impulses_.setZero();
  if (options_.project_out && !part_overlap(state, report)) return report;
  if (fly(state, h, report)) {
    state.time = saved_.time + h;
    return report;
  }
  go_back(state);
  const bool finite = state.q.allFinite() && state.momentum.allFinite();
  for (int halvings = 1; finite && halvings <= halving_limit; ++halvings) {
    if (report.impacts > options_.event_limit) break;
    const int parts = 1 << halvings;
    Report sum;
    sum.penetration = report.penetration;
    sum.projected = report.projected;
    sum.iterations = report.iterations;
    sum.solves = report.solves;
    bool done = true;
    if (report.projected) {
      static_cast<void>(
          overlap_.project_out(system_, state.time, options_.gap_tolerance / 2, state.q));
    }
    for (int k = 0; done && k < parts; ++k) {
      done = fly(state, h / Scalar(parts), sum);
      state.time = saved_.time + h * (Scalar(k + 1) / Scalar(parts));
    }
    sum.substeps = parts;
    report = sum;
    if (done) return report;
    go_back(state);
  }
  return report;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
void ImpactStepper<System, Law>::go_back(State& state) noexcept {
  state = saved_;
  root_.solver().release_all();
  for (const Index contact : saved_held_) root_.solver().hold(contact);
  held_impulses_.setZero();
  impact_.go_back();
}

/// Projects deep overlap out; the state is as it was where that fails. Halves of the step start
/// from the projected state.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ImpactStepper<System, Law>::part_overlap(State& state, Report& report) noexcept {
  report.penetration = overlap_.depth(system_, state.q);
  if (report.penetration <= options_.gap_tolerance) return true;
  const SolveReport<Scalar> parted =
      overlap_.project_out(system_, state.time, options_.gap_tolerance / 2, state.q);
  report.iterations += parted.iterations;
  report.status = parted.status;
  report.projected = parted.converged();
  if (!report.projected) state = saved_;
  return report.projected;
}

/// All flights of a step or of a part of it; false where one fails.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ImpactStepper<System, Law>::fly(State& state, const Scalar& h, Report& report) noexcept {
  Scalar elapsed = 0;
  Index retries = 0;
  share_ = 1;
  report.status = SolveStatus::no_progress;  // unless something else is known of a failure
  while (true) {
    const Move move = advance(state, h, elapsed, report);
    if (move == Move::finished) break;
    if (move == Move::failed) return false;
    retries = move == Move::event ? 0 : retries + Index(move == Move::retry);
    if (retries > 2 * gaps_now_.size() + 4 || report.impacts > options_.event_limit) {
      report.status = SolveStatus::iteration_limit;
      return false;
    }
  }
  report.status = SolveStatus::converged;
  return true;
}

/// One flight: to the next impact, or to the end of the step.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
auto ImpactStepper<System, Law>::advance(State& state, const Scalar& h, Scalar& elapsed,
                                         Report& report) noexcept -> Move {
  const Scalar rest = h - elapsed, span = rest * share_;
  const bool first = elapsed == Scalar(0) && report.impacts == 0;
  if (!write_motion(state)) {
    const bool finite = state.q.allFinite() && state.momentum.allFinite();
    report.status = finite ? SolveStatus::no_progress : SolveStatus::not_finite;
    return Move::failed;
  }
  auto& gaps = root_.solver().gaps();
  gaps.write_gradients(system_, state.q);
  if (!gaps.values.allFinite()) {
    report.status = SolveStatus::not_finite;
    return Move::failed;
  }
  gaps_now_ = gaps.values;
  gradients_now_ = gaps.gradients;
  for (Index i = 0; i < gaps_now_.size(); ++i) {
    if (first) report.penetration = (std::max)(report.penetration, Scalar(-gaps_now_(i)));
    const bool closing = gaps_now_(i) <= options_.gap_tolerance &&
                         impact_.approaches(gradients_now_, velocity_, i, h);
    if (!closing || root_.solver().holds(i)) continue;
    return resolve(state, h, report) ? Move::event : Move::failed;
  }
  if (rest <= options_.root_tolerance * h) return Move::finished;
  std::fill(released_.begin(), released_.end(), char(0));
  if (!solve_rubbing(state, span, report)) return Move::failed;
  root_.start(state, span, velocity_, gaps_now_, gradients_now_, options_.gap_tolerance);
  if constexpr (rubs) root_.push(friction_.force());
  if (hold_resting(state, span, h)) return Move::retry;
  Scalar time = span;
  const Index contact = root_.find_first(system_, state, options_.root_tolerance * h, time);
  report.solves += root_.solves();
  report.iterations += root_.iterations();
  if (root_.failed()) return Move::failed;
  if (contact >= 0 && released_[std::size_t(contact)] && share_ > Scalar(1e-6)) {
    hold_released();
    share_ /= 2;
    return Move::shorter;
  }
  const bool ends = contact < 0 && share_ == Scalar(1);
  share_ = 1;
  accept(state, time);
  elapsed = ends ? h : elapsed + time;
  if (ends && root_.solver().rows(system_) == 0) return Move::finished;
  if (!write_motion(state)) return Move::failed;
  finish_rubbing(state);
  if (contact < 0) return ends ? Move::finished : Move::shorter;
  return resolve(state, h, report) ? Move::event : Move::failed;
}

/// Velocity of the state along what holds it; the momentum's part across is removed.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ImpactStepper<System, Law>::write_motion(State& state) noexcept {
  auto& solver = root_.solver();
  const Index rows = solver.rows(system_);
  velocity_.setZero();
  if (rows == 0) {
    return legendre_.write_velocity(system_, state.q, state.momentum, state.time, velocity_);
  }
  solver.write_rows(system_, state.q, rows_now_);
  return legendre_.constrain(system_, state.q, state.time, {rows_now_, rows}, velocity_,
                             state.momentum);
}

/// Friction and impulses at the end of a flight, which presses half at its start and half there.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
void ImpactStepper<System, Law>::finish_rubbing(State& state) noexcept {
  if constexpr (rubs) {
    friction_.finish(system_, root_.solver(), legendre_, rows_now_, state, velocity_);
    add_held_impulses([&](Index k) { return friction_.normals()(k); });
  } else {
    const Index first = root_.solver().rows(system_) - Index(held().size());
    add_held_impulses([&](Index k) { return legendre_.multiplier(first + k); });
  }
}

/// The step to the end of the span with the friction of the held contacts. Held contacts that would
/// pull are let go, the worst first, and only once the friction has settled: it shares the load.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ImpactStepper<System, Law>::solve_rubbing(const State& state, const Scalar& span,
                                               Report& report) noexcept {
  auto& solver = root_.solver();
  start_ = state;
  flight_.write(state, velocity_, span, guess_);
  if constexpr (rubs) friction_.start(solver);
  int round = 0;
  while (true) {
    const SolveReport<Scalar> solved = solver.solve(system_, start_, span, guess_);
    ++report.solves;
    report.iterations += solved.iterations;
    if (!solved.converged()) {
      report.status = solved.status;
      return false;
    }
    if constexpr (rubs) {
      if (round++ < friction_.round_limit && friction_.rub(system_, solver, state, span, start_)) {
        continue;
      }
    }
    const Index contact = solver.release_pulling(system_);
    if (contact < 0) return true;
    released_[std::size_t(contact)] = 1;
    round = 0;  // rub() sees that a contact is missing and begins anew
  }
}

/// Holds closed contacts that rest and would be pressed in.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ImpactStepper<System, Law>::hold_resting(const State& state, const Scalar& span,
                                              const Scalar& h) noexcept {
  auto& solver = root_.solver();
  bool any = false;
  solver.gaps().write_values(system_, solver.q_next());
  for (Index i = 0; i < gaps_now_.size(); ++i) {
    if (gaps_now_(i) > options_.gap_tolerance || solver.holds(i)) continue;
    if (released_[std::size_t(i)]) continue;
    const Scalar end = solver.gaps().values(i) - gaps_now_(i);
    const Scalar start = (std::max)(impact_.rate(gradients_now_, velocity_, i), Scalar(0));
    Scalar scale = 0;
    for (Index j = 0; j < state.q.size(); ++j) {
      using std::abs;
      scale += abs(gradients_now_(i, j) * state.q(j));
    }
    if (!(end < -64 * std::numeric_limits<Scalar>::epsilon() * scale)) continue;
    // The parabola with this rate and end returns to its start after `flight`.
    const Scalar flight = start * span * span / (start * span - end);
    if (flight > options_.rest_share * h) continue;
    solver.hold(i);
    impact_.chatter().forget(i);
    any = true;
  }
  return any;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
void ImpactStepper<System, Law>::accept(State& state, const Scalar& time) noexcept {
  for (Index i = 0; i < state.q.size(); ++i) {
    state.q(i) = root_.solver().q_next()(i);
    state.momentum(i) = root_.solver().momentum_next()(i);
  }
  const Index first = root_.solver().rows(system_) - Index(held().size());
  add_held_impulses([&](Index k) { return root_.solver().multipliers()(first + k); });
  state.time += time;
  flight_.remember(velocity_, state, time);
}

}  // namespace CAROM_ABI
}  // namespace carom
