// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "carom/variational/detail/contact_impact.hpp"
#include "carom/variational/detail/flight_guess.hpp"
#include "carom/variational/detail/gap_root.hpp"
#include "carom/variational/detail/held_friction.hpp"
#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/detail/step_record.hpp"
#include "carom/variational/detail/step_solver.hpp"
#include "carom/variational/impact_step_report.hpp"
#include "carom/variational/mechanical_state.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Phases of a step with impacts; StepMachine draws how they follow each other.
enum class StepPhase {
  measure,   ///< Velocity and gaps of the state: whether a contact strikes or the step is done.
  strike,    ///< The impact of all closed contacts.
  predict,   ///< A flight over what is left of the step begins.
  solve,     ///< The flight's equations, with the contacts that are held.
  rub,       ///< Friction of the held contacts.
  release,   ///< Held contacts that pull are released, one at a time.
  hold,      ///< Closed contacts that rest, and that the flight would press in, are held.
  search,    ///< The first instant of the flight at which a gap closes.
  shorten,   ///< A released contact sinks in: it is held again, the flight is made half as long.
  accept,    ///< The state moves to the end of the flight.
  land,      ///< Its momentum is completed by what holds it: constraints, held contacts, friction.
  finished,  ///< The step is done.
  failed,    ///< An equation has no solution or a number is not finite.
};

/// Takes a mechanical state through one step with impacts, flight by flight. Each phase is one
/// function below, which returns the phase that follows; run() is the loop.
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
/// From measure, strike, solve, search and land a step may fail; from strike also because of
/// ImpactStepOptions::event_limit, and from hold after too many flights between two impacts.
/// @note  Real-time safe once grown: no allocation, no exception. The first impacts grow the
///        ImpactProblem and the law; later ones with no more contacts do not.
/// @cite  seghete2014propagative, section VI, eq. (30)
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
class StepMachine {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Report = ImpactStepReport<Scalar>;

  /// A contact that was released is not held again once a flight is this share of what is left of
  /// the step [-]: twenty halvings, which no motion that is followed well needs. A larger share
  /// lets contacts that push at first sink in; a smaller one costs a solve per halving.
  static constexpr Scalar shortest_share = Scalar(1e-6);

  /// Cold: allocates.
  StepMachine(System system, Law law, const ImpactStepOptions<Scalar>& options);

  /// Marks the start of a step, to which go_back() returns.
  void start_step() noexcept;
  /// Returns to the start of the step; the caller resets the state.
  void go_back() noexcept;

  /// Advances a state by h > 0 [s], a step or a part of it.
  /// @return  false where that failed: report.status says why, the state is where it was met.
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  [[nodiscard]] bool run(State& state, const Scalar& h, Report& report) noexcept;

  /// Writes velocity() of the state along its constraints and held contacts; what its momentum has
  /// across them is removed.
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
  /// Keeps a record of what follows, until it is given none. The record is the caller's.
  void keep(StepRecord<Scalar>* record) noexcept { record_ = record; }
  void restart() noexcept {
    root_.solver().release_all();
    impact_.restart();
  }

 private:
  static constexpr bool rubs = FrictionalSystemLike<System>;

  /// What the phases of one run share.
  struct Run {
    State& state;
    Report& report;
    Scalar step;         ///< to be taken [s]
    Scalar elapsed = 0;  ///< of the step, up to the state [s]
    Scalar share = 1;    ///< of what is left of the step that the next flight is to take [-]
    Scalar span = 0;     ///< of the flight [s]
    Scalar end = 0;      ///< when it ends, after the state [s]
    Index closing = -1;  ///< the contact that ends it, −1 where none does
    Index retries = 0;   ///< flights begun anew since the last impact
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

  /// Writes an event down where a record is kept.
  void note(const StepEvent<Scalar>& event, const State& state, const VectorX<Scalar>& momentum,
            std::span<const Index> contacts) noexcept {
    if (record_ != nullptr) record_->add(event, state.q, momentum, contacts);
  }
  [[nodiscard]] bool rests(const Run& run, Index contact, const Scalar& end_gap) const noexcept;
  /// Adds what impulse_of(k) says of the k-th held contact.
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

}  // namespace CAROM_ABI
}  // namespace carom
