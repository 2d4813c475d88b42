// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "carom/variational/detail/contact_impact.hpp"
#include "carom/variational/detail/gap_root.hpp"
#include "carom/variational/detail/held_friction.hpp"
#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/detail/step_record.hpp"
#include "carom/variational/detail/step_solver.hpp"
#include "carom/variational/impact_step_report.hpp"
#include "carom/variational/mechanical_state.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Guesses the end of a flight, q₁ ≈ q + h v + ½ h² a. The acceleration a is that of the flight
/// before if the state continues that flight, otherwise a = 0.
/// @note  Real-time safe once prepared: no allocation, no exception.
template <RealScalar Scalar>
class FlightGuess {
 public:
  using State = MechanicalState<Scalar>;

  /// Cold: allocates.
  void prepare(Index size) {
    end_ = State{Scalar(0), VectorX<Scalar>::Zero(size), VectorX<Scalar>::Zero(size)};
    velocity_.setZero(size);
    span_ = 0;
  }

  /// Stores a flight: its velocity at the start [m/s, rad/s], its end, its span [s].
  void remember(const VectorX<Scalar>& velocity, const State& end, const Scalar& span) noexcept {
    velocity_ = velocity;
    end_ = end;
    span_ = span;
  }

  /// @param velocity  of the state.
  /// @param span      of the flight that starts here [s].
  /// @param guess     written: configuration at its end.
  void write(const State& state, const VectorX<Scalar>& velocity, const Scalar& span,
             VectorX<Scalar>& guess) const noexcept {
    guess = state.q + span * velocity;
    if (span_ == Scalar(0) || state.q != end_.q || state.momentum != end_.momentum) return;
    guess += (span * span / (2 * span_)) * (velocity - velocity_);
  }

 private:
  State end_;
  VectorX<Scalar> velocity_;
  Scalar span_ = 0;
};

/// Phases of a step with impacts. The diagram at StepMachine shows their order.
enum class StepPhase {
  measure,   ///< Velocity and gaps of the state: whether a contact strikes or the step is finished.
  strike,    ///< The impact of all closed contacts.
  predict,   ///< A flight over the remaining part of the step begins.
  solve,     ///< The equations of the flight, with the constrained contacts.
  rub,       ///< Friction of the constrained contacts.
  release,   ///< Constrained contacts that pull are released, one at a time.
  hold,      ///< Closed contacts that rest, and that the flight would press, are constrained.
  search,    ///< The first instant of the flight at which a gap closes.
  shorten,   ///< A released contact penetrates: it is constrained again, and the flight is halved.
  accept,    ///< The state moves to the end of the flight.
  land,      ///< Its momentum is completed: constraints, constrained contacts, friction.
  finished,  ///< The step is done.
  failed,    ///< An equation has no solution or a number is not finite.
};

/// Advances a mechanical state by one step with impacts, flight by flight. Each phase is one
/// function below, which returns the next phase; run() is the loop.
///
///     start ──► measure ──(nothing is left of the step)──────────────────► finished
///                │ ▲ ▲ ▲
///                │ │ │ └─ strike ◄──(a closed contact that is not held approaches)── measure
///                ▼ │ │
///            predict │
///                │ │ └─ shorten ◄───────────────────────────────────────────┐
///                ▼ │                                                        │
///              solve ◄──(friction changed)── rub                            │
///                │ │ ◄──(a contact pulled)── release                        │
///                ▼ └─────(a contact is held from here on)── hold            │
///               rub ──► release ──► hold ──► search ──(a released contact sinks in)
///                                              ▼
///                                           accept ──(end of the step, nothing held)──► finished
///                                              ▼
///                                            land ──(end of the step)──────────────────► finished
///                                              ├──(a gap closes)──► strike
///                                              └──(a shortened flight ends)──► measure
///
/// A contact is held while it is constrained to stay closed. A step may fail in measure, strike,
/// solve, search and land. It also fails in strike after ImpactStepOptions::event_limit impacts,
/// and in hold after too many flights between two impacts.
/// @note  Real-time safe once grown: no allocation, no exception. The first impacts grow the
///        ImpactProblem and the law; later ones with no more contacts do not.
/// @cite  seghete2014propagative, section VI, eq. (30)
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
class StepMachine {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Report = ImpactStepReport<Scalar>;

  /// A released contact is not constrained again if the flight is this share of the remaining part
  /// of the step [-]: twenty halvings, which no accurately computed motion needs. With a larger
  /// share, contacts that push at first penetrate. A smaller one costs a solve per halving.
  static constexpr Scalar shortest_share = Scalar(1e-6);

  /// Cold: allocates.
  StepMachine(System system, Law law, const ImpactStepOptions<Scalar>& options);

  /// Marks the start of a step. go_back() returns to it.
  void start_step() noexcept;
  /// Returns to the start of the step. The caller restores the state.
  void go_back() noexcept;

  /// Advances a state by h > 0 [s], a step or a part of a step.
  /// @return  false if that failed: report.status is the reason, and the state is that of the
  ///          failure.
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  [[nodiscard]] bool run(State& state, const Scalar& h, Report& report) noexcept;

  /// Writes velocity() of the state along its constraints and constrained contacts. The part of the
  /// momentum across them is removed.
  /// @return  false where the mass matrix is singular.
  [[nodiscard]] bool write_motion(State& state) noexcept;
  [[nodiscard]] const VectorX<Scalar>& velocity() const noexcept { return velocity_; }
  /// Energy at the state and velocity of the last write_motion() [J].
  [[nodiscard]] Scalar energy(const State& state) noexcept {
    return legendre_.energy(system_, state.q, velocity_, state.time);
  }

  [[nodiscard]] const System& system() const noexcept { return system_; }
  [[nodiscard]] LegendreMap<System>& legendre() noexcept { return legendre_; }
  [[nodiscard]] std::span<const ImpactEvent<Scalar>> events() const noexcept {
    return impact_.events();
  }
  [[nodiscard]] std::span<const Index> held() const noexcept { return root_.solver().held(); }
  [[nodiscard]] const VectorX<Scalar>& held_impulses() const noexcept { return held_impulses_; }
  [[nodiscard]] const Law& law() const noexcept { return impact_.law(); }
  [[nodiscard]] const ImpactStepOptions<Scalar>& options() const noexcept { return options_; }
  /// Records all events in `record`, until it is called with nullptr. The record belongs to the
  /// caller.
  void keep(StepRecord<Scalar>* record) noexcept { record_ = record; }
  void restart() noexcept {
    root_.solver().release_all();
    impact_.restart();
  }

 private:
  static constexpr bool rubs = FrictionalSystemLike<System>;

  /// The common data of the phases of one run.
  struct Run {
    State& state;
    Report& report;
    Scalar step;         ///< length of the step [s]
    Scalar elapsed = 0;  ///< time from the start of the step to the state [s]
    Scalar share = 1;    ///< share of the remaining part of the step for the next flight [-]
    Scalar span = 0;     ///< of the flight [s]
    Scalar end = 0;      ///< end of the flight, counted from the time of the state [s]
    Index closing = -1;  ///< the contact that ends it, −1 if there is none
    Index retries = 0;   ///< repeated flights since the last impact
    int rounds = 0;      ///< of friction in the flight's equations
    bool last = false;   ///< the flight ends the step
  };

  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  [[nodiscard]] StepPhase next(StepPhase phase, Run& run) noexcept;
  [[nodiscard]] StepPhase measure(Run& run) noexcept;
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  [[nodiscard]] StepPhase strike(Run& run) noexcept;
  [[nodiscard]] StepPhase predict(Run& run) noexcept;
  [[nodiscard]] StepPhase solve(Run& run) noexcept;
  [[nodiscard]] StepPhase rub(Run& run) noexcept;
  [[nodiscard]] StepPhase release(Run& run) noexcept;
  [[nodiscard]] StepPhase hold(Run& run) noexcept;
  [[nodiscard]] StepPhase search(Run& run) noexcept;
  [[nodiscard]] StepPhase shorten(Run& run) noexcept;
  [[nodiscard]] StepPhase accept(Run& run) noexcept;
  [[nodiscard]] StepPhase land(Run& run) noexcept;
  [[nodiscard]] static StepPhase fail(Run& run, SolveStatus why) noexcept {
    run.report.status = why;
    return StepPhase::failed;
  }

  /// Records an event if there is a record.
  void note(const StepEvent<Scalar>& event, const State& state, const VectorX<Scalar>& momentum,
            std::span<const Index> contacts) noexcept {
    if (record_ != nullptr) record_->add(event, state.q, momentum, contacts);
  }
  [[nodiscard]] bool rests(const Run& run, Index contact, const Scalar& end_gap) const noexcept;
  /// Adds impulse_of(k) to the impulse of the k-th constrained contact.
  template <typename ImpulseOf>
  void add_held_impulses(const ImpulseOf& impulse_of) noexcept {
    Index k = 0;
    for (const Index contact : held()) held_impulses_(contact) += impulse_of(k++);
  }

  System system_;
  ImpactStepOptions<Scalar> options_;
  GapRoot<System> root_;
  LegendreMap<System> legendre_;
  ContactImpact<System, Law> impact_;
  typename detail::FrictionOf<System>::type friction_;
  std::vector<char> released_;  ///< per contact, in this flight
  std::vector<Index> saved_held_;
  State rubbed_;  ///< start of the flight, its momentum with friction
  FlightGuess<Scalar> flight_;
  VectorX<Scalar> velocity_, guess_, gaps_now_, held_impulses_;
  MatrixX<Scalar> gradients_now_, rows_now_;
  StepRecord<Scalar>* record_ = nullptr;
};

// --- implementation: the phases, in the order of the diagram ---

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepMachine<System, Law>::StepMachine(System system, Law law,
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
  saved_held_.reserve(std::size_t(gaps));
  released_.assign(std::size_t(gaps), 0);
  for (VectorX<Scalar>* v : {&velocity_, &guess_}) v->setZero(n);
  gaps_now_.setZero(gaps);
  held_impulses_.setZero(gaps);
  gradients_now_.setZero(gaps, n);
  rows_now_.setZero(rows, n);
  if constexpr (rubs) friction_.prepare(system_);
  flight_.prepare(n);
  rubbed_ = State{Scalar(0), VectorX<Scalar>::Zero(n), VectorX<Scalar>::Zero(n)};
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
void StepMachine<System, Law>::start_step() noexcept {
  saved_held_.assign(held().begin(), held().end());
  impact_.start_step();
  held_impulses_.setZero();
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
void StepMachine<System, Law>::go_back() noexcept {
  root_.solver().release_all();
  for (const Index contact : saved_held_) root_.solver().hold(contact);
  held_impulses_.setZero();
  impact_.go_back();
  if (record_ != nullptr) record_->clear();
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool StepMachine<System, Law>::run(State& state, const Scalar& h, Report& report) noexcept {
  Run run{state, report, h};
  report.status = SolveStatus::no_progress;  // if a phase fails and sets no status
  StepPhase phase = StepPhase::measure;
  note({.kind = StepEventKind::begin, .time = state.time, .span = h}, state, state.momentum, {});
  while (phase != StepPhase::finished && phase != StepPhase::failed) phase = next(phase, run);
  if (phase == StepPhase::failed) return false;
  report.status = SolveStatus::converged;
  return true;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::next(StepPhase phase, Run& run) noexcept {
  switch (phase) {
    case StepPhase::measure:
      return measure(run);
    case StepPhase::strike:
      return strike(run);
    case StepPhase::predict:
      return predict(run);
    case StepPhase::solve:
      return solve(run);
    case StepPhase::rub:
      return rub(run);
    case StepPhase::release:
      return release(run);
    case StepPhase::hold:
      return hold(run);
    case StepPhase::search:
      return search(run);
    case StepPhase::shorten:
      return shorten(run);
    case StepPhase::accept:
      return accept(run);
    case StepPhase::land:
      return land(run);
    case StepPhase::finished:
    case StepPhase::failed:
      break;
  }
  return phase;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::measure(Run& run) noexcept {
  const bool first = run.elapsed == Scalar(0) && run.report.impacts == 0;
  if (!write_motion(run.state)) {
    const bool finite = run.state.q.allFinite() && run.state.momentum.allFinite();
    return fail(run, finite ? SolveStatus::no_progress : SolveStatus::not_finite);
  }
  auto& gaps = root_.solver().gaps();
  gaps.write_gradients(system_, run.state.q);
  if (!gaps.values.allFinite()) return fail(run, SolveStatus::not_finite);
  gaps_now_ = gaps.values;
  gradients_now_ = gaps.gradients;
  for (Index i = 0; i < gaps_now_.size(); ++i) {
    if (first) run.report.penetration = (std::max)(run.report.penetration, Scalar(-gaps_now_(i)));
    const bool strikes = gaps_now_(i) <= options_.gap_tolerance &&
                         impact_.approaches(gradients_now_, velocity_, i, run.step);
    if (strikes && !root_.solver().holds(i)) return StepPhase::strike;
  }
  const Scalar rest = run.step - run.elapsed;
  run.span = rest * run.share;
  if (!(rest <= options_.root_tolerance * run.step)) return StepPhase::predict;
  note({.kind = StepEventKind::cut, .time = run.state.time}, run.state, run.state.momentum, held());
  return StepPhase::finished;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::strike(Run& run) noexcept {
  if (!impact_.resolve({system_, root_.solver(), legendre_, rows_now_, velocity_}, run.state,
                       run.step, run.report)) {
    return StepPhase::failed;
  }
  note({.kind = StepEventKind::impact, .time = run.state.time, .rested = impact_.rested()},
       run.state, impact_.momentum_before(), impact_.closed());
  run.retries = 0;
  if (run.report.impacts > options_.event_limit) return fail(run, SolveStatus::iteration_limit);
  return StepPhase::measure;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::predict(Run& run) noexcept {
  std::fill(released_.begin(), released_.end(), char(0));
  rubbed_ = run.state;
  run.rounds = 0;
  flight_.write(run.state, velocity_, run.span, guess_);
  if constexpr (rubs) friction_.start(root_.solver());
  return StepPhase::solve;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::solve(Run& run) noexcept {
  const SolveReport<Scalar> solved = root_.solver().solve(system_, rubbed_, run.span, guess_);
  ++run.report.solves;
  run.report.iterations += solved.iterations;
  return solved.converged() ? StepPhase::rub : fail(run, solved.status);
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::rub(Run& run) noexcept {
  if constexpr (rubs) {
    if (run.rounds++ < friction_.round_limit &&
        friction_.rub(system_, root_.solver(), run.state, run.span, rubbed_)) {
      return StepPhase::solve;
    }
  }
  return StepPhase::release;
}

/// Releases the contact with the largest pull, and only after friction, which shares the load, has
/// converged.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::release(Run& run) noexcept {
  const Index contact = root_.solver().release_pulling(system_);
  if (contact < 0) return StepPhase::hold;
  released_[std::size_t(contact)] = 1;
  run.rounds = 0;  // friction_.rub() detects the missing contact and starts again
  return StepPhase::solve;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::hold(Run& run) noexcept {
  auto& solver = root_.solver();
  root_.start(run.state, run.span, velocity_, gaps_now_, gradients_now_, options_.gap_tolerance);
  if constexpr (rubs) root_.push(friction_.force());
  bool any = false;
  solver.gaps().write_values(system_, solver.q_next());
  for (Index i = 0; i < gaps_now_.size(); ++i) {
    if (!rests(run, i, solver.gaps().values(i))) continue;
    solver.hold(i);
    impact_.chatter().forget(i);
    any = true;
  }
  if (!any) return StepPhase::search;
  // Each contact may be constrained twice, and a few once more. Beyond this count, contacts are
  // constrained and released in a cycle. The limit bounds the work.
  constexpr Index holds_per_contact = 2, further_holds = 4;
  if (++run.retries > holds_per_contact * gaps_now_.size() + further_holds)
    return fail(run, SolveStatus::iteration_limit);
  return StepPhase::measure;
}

/// Whether a closed contact that is not constrained would be pressed so soon that it rests.
/// @param end_gap  its gap at the end of the flight.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool StepMachine<System, Law>::rests(const Run& run, Index contact,
                                     const Scalar& end_gap) const noexcept {
  const auto& solver = root_.solver();
  if (gaps_now_(contact) > options_.gap_tolerance || solver.holds(contact)) return false;
  if (released_[std::size_t(contact)]) return false;
  const Scalar end = end_gap - gaps_now_(contact);
  const Scalar start = (std::max)(impact_.rate(gradients_now_, velocity_, contact), Scalar(0));
  Scalar scale = 0;
  for (Index j = 0; j < run.state.q.size(); ++j) {
    using std::abs;
    scale += abs(gradients_now_(contact, j) * run.state.q(j));
  }
  // A gap that decreases by less than this count of roundings of its terms is not pressed.
  constexpr int roundings = 64;
  if (!(end < -roundings * std::numeric_limits<Scalar>::epsilon() * scale)) return false;
  // The parabola with this rate and end returns to its start after `flight`.
  const Scalar flight = start * run.span * run.span / (start * run.span - end);
  return !(flight > options_.rest_share * run.step);
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::search(Run& run) noexcept {
  run.end = run.span;
  run.closing = root_.find_first(system_, run.state, options_.root_tolerance * run.step, run.end);
  run.report.solves += root_.solves();
  run.report.iterations += root_.iterations();
  if (root_.failed()) return StepPhase::failed;
  const bool sinks = run.closing >= 0 && released_[std::size_t(run.closing)];
  return sinks && run.share > shortest_share ? StepPhase::shorten : StepPhase::accept;
}

/// A contact that pulls over the whole flight but penetrates must push at first: it is constrained
/// for a part of the flight.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::shorten(Run& run) noexcept {
  for (std::size_t i = 0; i < released_.size(); ++i) {
    if (released_[i]) root_.solver().hold(Index(i));
  }
  run.share /= 2;
  return StepPhase::measure;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::accept(Run& run) noexcept {
  const auto& solver = root_.solver();
  note({.kind = StepEventKind::flight,
        .time = run.state.time,
        .span = run.end,
        .whole = run.span,
        .share = run.share,
        .closing = run.closing},
       run.state, run.state.momentum, held());
  run.last = run.closing < 0 && run.share == Scalar(1);
  run.share = 1;
  for (Index i = 0; i < run.state.q.size(); ++i) {
    run.state.q(i) = solver.q_next()(i);
    run.state.momentum(i) = solver.momentum_next()(i);
  }
  const Index first = solver.rows(system_) - Index(held().size());
  add_held_impulses([&](Index k) { return solver.multipliers()(first + k); });
  run.state.time += run.end;
  flight_.remember(velocity_, run.state, run.end);
  run.elapsed = run.last ? run.step : run.elapsed + run.end;
  return run.last && solver.rows(system_) == 0 ? StepPhase::finished : StepPhase::land;
}

/// Constrained contacts press half at the start of a flight, which accept() adds, and half at its
/// end.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
StepPhase StepMachine<System, Law>::land(Run& run) noexcept {
  if (!write_motion(run.state)) return StepPhase::failed;
  if constexpr (rubs) {
    friction_.finish(system_, root_.solver(), legendre_, rows_now_, run.state, velocity_);
    add_held_impulses([&](Index k) { return friction_.normals()(k); });
  } else {
    const Index first = root_.solver().rows(system_) - Index(held().size());
    add_held_impulses([&](Index k) { return legendre_.multiplier(first + k); });
  }
  if (run.closing >= 0) return StepPhase::strike;
  return run.last ? StepPhase::finished : StepPhase::measure;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool StepMachine<System, Law>::write_motion(State& state) noexcept {
  auto& solver = root_.solver();
  const Index rows = solver.rows(system_);
  velocity_.setZero();
  if (rows == 0) {
    return legendre_.write_velocity(system_, state.q, state.momentum, state.time, velocity_);
  }
  note({.kind = StepEventKind::project, .time = state.time}, state, state.momentum, held());
  solver.write_rows(system_, state.q, rows_now_);
  return legendre_.constrain(system_, state.q, state.time, {rows_now_, rows}, velocity_,
                             state.momentum);
}

}  // namespace CAROM_ABI
}  // namespace carom
