// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <span>
#include <utility>

#include "carom/core/detail/step_parts.hpp"
#include "carom/impact/concepts.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/detail/overlap.hpp"
#include "carom/variational/detail/step_machine.hpp"
#include "carom/variational/impact_step_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Steps a system with unilateral contacts. A step advances to the instant at which a gap closes,
/// maps the momentum across the impact of all closed contacts, and then completes the original
/// step. The times of the steps are therefore unchanged, and the energy does not drift.
///
/// ```
/// carom::ImpactStepper<Ball, carom::RestitutionImpact<double>> stepper(
///     Ball{}, carom::RestitutionImpact<double>(0.8));  // cold
/// auto state = stepper.make_state(q, v);               // cold
/// const auto report = stepper.step(state, 0.01);       // hot
/// ```
///
/// A step consists of flights between impacts (the diagram at StepMachine shows the phases of one
/// step):
///
///     state ──► flight ──► impact ──► flight ──► … ──► flight ──► state after h
///       ▲         └─ not solved: start again with 2, 4, … 2^halving_limit parts
///       └─ overlap is removed first, if the options require it
///
/// Chatter ends in rest: the contact is a constraint until its multiplier would pull. A gap that
/// closes and opens again within a step is searched where its rate changes sign. This finds the
/// dips of gaps with one minimum in the step.
/// @tparam Law  see ImpactLawFor.
/// @note  Real-time safe once grown: no allocation, no exception. The first impacts grow the
///        ImpactProblem and the law; later ones with no more contacts do not.
/// @cite  seghete2014propagative, section VI, eq. (30)
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law =
                                           ImpactResolver<typename System::scalar_type>>
class ImpactStepper {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Report = ImpactStepReport<Scalar>;

  /// Largest count of halvings of a step that Newton's method cannot solve.
  static constexpr int halving_limit = 8;

  /// Cold: allocates.
  explicit ImpactStepper(System system, Law law = Law{},
                         const ImpactStepOptions<Scalar>& options = {})
      : options_(options), machine_(std::move(system), std::move(law), options) {
    const Index n = machine_.system().size();
    if (options.project_out) overlap_.prepare(machine_.system());
    saved_ = State{Scalar(0), VectorX<Scalar>::Zero(n), VectorX<Scalar>::Zero(n)};
  }

  [[nodiscard]] const System& system() const noexcept { return machine_.system(); }

  /// State at a configuration and a velocity: p = ∂L/∂v.
  /// @note  Cold: allocates, throws std::invalid_argument naming the entry.
  [[nodiscard]] State make_state(const VectorX<Scalar>& q, const VectorX<Scalar>& velocity,
                                 Scalar time = 0) {
    return detail::make_state(system(), machine_.legendre(), q, velocity, time);
  }

  /// Advances a state by h > 0 [s].
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  Report step(State& state, const Scalar& h) noexcept {
    CAROM_EXPECTS(state.q.size() == system().size() && state.momentum.size() == system().size());
    CAROM_EXPECTS(h > Scalar(0));
    saved_ = state;
    machine_.start_step();
    Report report;
    if (options_.project_out && !clear_overlap(state, report)) return report;
    const auto take_part = [&](int k, Report& sum) {
      const bool done = machine_.run(state, h / Scalar(sum.substeps), sum);
      state.time = saved_.time + h * (Scalar(k + 1) / Scalar(sum.substeps));
      return done;
    };
    const auto start_again = [&](Report& sum, bool may_halve) {
      state = saved_;
      machine_.go_back();
      return may_halve && may_start_again(state, sum);
    };
    return detail::take_step_in_halves(report, halving_limit, take_part, start_again);
  }

  /// The same step, recorded for ImpactStepDerivative. The bits of the state are the same.
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  Report step(State& state, const Scalar& h, StepRecord<Scalar>& record) noexcept {
    record.clear();
    machine_.keep(&record);
    const Report report = step(state, h);
    machine_.keep(nullptr);
    return report;
  }

  [[nodiscard]] const Law& law() const noexcept { return machine_.law(); }
  [[nodiscard]] const ImpactStepOptions<Scalar>& options() const noexcept { return options_; }

  /// Impacts of the last step in time order, at most options.recorded_events.
  [[nodiscard]] std::span<const ImpactEvent<Scalar>> events() const noexcept {
    return machine_.events();
  }
  /// Contacts that are constrained to stay closed.
  [[nodiscard]] std::span<const Index> held() const noexcept { return machine_.held(); }
  /// Normal impulse of each contact in the last step while it was constrained, one per gap, per
  /// unit of its gradient [N·s]. Divided by h it is the mean force of the contact; impacts are not
  /// included.
  [[nodiscard]] const VectorX<Scalar>& held_impulses() const noexcept {
    return machine_.held_impulses();
  }
  /// Velocity of a state, along its constraints. Returns false if the mass matrix is singular.
  /// Cold: the copy of the state allocates, as in energy().
  [[nodiscard]] bool write_velocity(State state, VectorX<Scalar>& out) {
    return machine_.write_motion(state) ? (out = machine_.velocity(), true) : false;
  }
  /// Energy p·v − L of a state [J]; NaN if the mass matrix is singular.
  [[nodiscard]] Scalar energy(State state) {
    if (!machine_.write_motion(state)) return std::numeric_limits<Scalar>::quiet_NaN();
    return machine_.energy(state);
  }
  /// Removes the history of a trajectory: constrained contacts and chatter.
  void restart() noexcept { machine_.restart(); }

 private:
  /// Removes deep overlap. If that fails, the state does not change.
  [[nodiscard]] bool clear_overlap(State& state, Report& report) noexcept {
    report.penetration = overlap_.depth(system(), state.q);
    if (report.penetration <= options_.gap_tolerance) return true;
    const SolveReport<Scalar> cleared =
        overlap_.project_out(system(), state.time, options_.gap_tolerance / 2, state.q);
    report.iterations += cleared.iterations;
    report.status = cleared.status;
    report.projected = cleared.converged();
    if (!report.projected) state = saved_;
    return report.projected;
  }

  /// Writes the report for a start with smaller parts, and removes overlap again. Returns false if
  /// smaller parts would fail too.
  [[nodiscard]] bool may_start_again(State& state, Report& report) noexcept {
    if (!state.q.allFinite() || !state.momentum.allFinite()) return false;
    if (report.impacts > options_.event_limit) return false;
    const Report before = report;
    report = {};
    report.penetration = before.penetration;
    report.projected = before.projected;
    report.iterations = before.iterations;
    report.solves = before.solves;
    if (report.projected) {
      static_cast<void>(
          overlap_.project_out(system(), state.time, options_.gap_tolerance / 2, state.q));
    }
    return true;
  }

  ImpactStepOptions<Scalar> options_;
  StepMachine<System, Law> machine_;
  OverlapProjection<System> overlap_;
  State saved_;
};

}  // namespace CAROM_ABI
}  // namespace carom
