// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve_impact.hpp"
#include "carom/variational/chatter.hpp"
#include "carom/variational/constrained_mass.hpp"
#include "carom/variational/gap_root.hpp"
#include "carom/variational/impact_step_report.hpp"
#include "carom/variational/legendre.hpp"
#include "carom/variational/step_solver.hpp"

namespace carom::inline CAROM_ABI {

/// What maps momenta across an impact: ImpactResolver, RestitutionImpact, PlasticImpact,
/// GeneralizedReflections or a law of the user. Law: the contacts separate or rest afterwards.
template <typename Law, typename Scalar>
concept ImpactLawFor = ImpactLawLike<Law, Scalar> &&
    requires(Law& law, const ImpactProblem<Scalar>& problem) {
  law.prepare(problem);
};

/// Steps a system with unilateral contacts: advances to the instant a gap closes, maps the momentum
/// across the impact of all closed contacts, then finishes the original step, so that the grid of
/// times stays and the energy does not drift.
///
/// Chatter ends in rest: the contact is held as a constraint until its multiplier would pull. A gap
/// that closes and opens again within a step is looked for where its rate changes sign; found are
/// dips of gaps with one minimum in the step.
/// @tparam Law  see ImpactLawFor.
/// @note  A step without impact is real-time safe: no allocation, no exception. An impact rebuilds
///        the ImpactProblem, which allocates.
/// @cite  seghete2014propagative, section VI, eq. (30)
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law =
                                           ImpactResolver<typename System::scalar_type>>
class ImpactStepper {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Report = ImpactStepReport<Scalar>;

  /// Cold: allocates.
  explicit ImpactStepper(System system, Law law = Law{},
                         const ImpactStepOptions<Scalar>& options = {});

  [[nodiscard]] const System& system() const noexcept { return system_; }

  /// Advances a state by h > 0 [s].
  Report step(State& state, const Scalar& h) noexcept;

  /// Impacts of the last step in time order, as many as options.recorded_events.
  [[nodiscard]] std::span<const ImpactEvent<Scalar>> events() const noexcept { return events_; }
  /// Contacts held closed, and impulses of the last step: constraints first, then these.
  [[nodiscard]] std::span<const Index> held() const noexcept { return root_.solver().held(); }
  [[nodiscard]] const VectorX<Scalar>& multipliers() const noexcept {
    return root_.solver().multipliers();
  }
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
    chatter_.forget_all();
    fastest_ = 0;
  }

 private:
  enum class Move { finished, event, retry, failed };

  Move advance(State& state, const Scalar& h, Scalar& elapsed, Report& report) noexcept;
  [[nodiscard]] bool write_motion(State& state) noexcept;
  [[nodiscard]] bool solve_pushing(const State& state, const Scalar& span, Report& report) noexcept;
  [[nodiscard]] bool hold_resting(const State& state, const Scalar& span, const Scalar& h) noexcept;
  void accept(State& state, const Scalar& time) noexcept;
  [[nodiscard]] bool resolve(State& state, const Scalar& h, Report& report) noexcept;
  void collect(const State& state);

  [[nodiscard]] Scalar rate(const MatrixX<Scalar>& gradients, Index contact) const noexcept {
    Scalar sum = 0;
    for (Index j = 0; j < velocity_.size(); ++j) sum += gradients(contact, j) * velocity_(j);
    return sum;
  }
  /// Whether a contact closes faster than what rounding leaves of impacts and of resting.
  [[nodiscard]] bool approaches(const MatrixX<Scalar>& gradients, Index contact,
                                const Scalar& h) const noexcept {
    Scalar scale = fastest_;
    for (Index j = 0; j < velocity_.size(); ++j) {
      using std::abs;
      scale = std::max(scale, Scalar(abs(gradients(contact, j) * velocity_(j))));
    }
    const Scalar rest = options_.gap_tolerance * Scalar(1e-6) / h;
    return rate(gradients, contact) <
           -(256 * std::numeric_limits<Scalar>::epsilon() * scale + rest);
  }

  System system_;
  Law law_;
  ImpactStepOptions<Scalar> options_;
  GapRoot<System> root_;
  LegendreMap<System> legendre_;
  ConstrainedMass<Scalar> mass_;
  ImpactProblem<Scalar> problem_;
  PlasticImpact<Scalar> plastic_;
  ChatterWatch<Scalar> chatter_;
  std::vector<ImpactEvent<Scalar>> events_;
  std::vector<Index> closed_;
  Scalar fastest_ = 0;  ///< closing rate of the last impact
  std::vector<char> released_, chatters_;
  State saved_;
  VectorX<Scalar> velocity_, guess_, gradient_, gaps_now_, saved_momentum_;
  MatrixX<Scalar> gradients_now_, rows_now_;
};

// --- implementation ---

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
ImpactStepper<System, Law>::ImpactStepper(System system, Law law,
                                          const ImpactStepOptions<Scalar>& options)
    : system_(std::move(system)), law_(std::move(law)), options_(options), root_(options.step) {
  CAROM_EXPECTS(options.gap_tolerance > Scalar(0) && options.root_tolerance > Scalar(0));
  CAROM_EXPECTS(options.rest_share >= Scalar(0) && options.event_limit >= 1);
  const Index n = system_.size(), gaps = StepSolver<System>::Gaps::count(system_);
  root_.prepare(system_);
  const Index rows = root_.solver().multipliers().size();
  legendre_.prepare(system_, rows);
  mass_.prepare(n, rows);
  chatter_.prepare(gaps);
  events_.reserve(std::size_t(options.recorded_events));
  closed_.reserve(std::size_t(gaps));
  released_.assign(std::size_t(gaps), 0);
  chatters_.assign(std::size_t(gaps), 0);
  for (VectorX<Scalar>* v : {&velocity_, &guess_, &gradient_, &saved_momentum_}) v->setZero(n);
  gaps_now_.setZero(gaps);
  gradients_now_.setZero(gaps, n);
  rows_now_.setZero(rows, n);
  saved_ = State{Scalar(0), VectorX<Scalar>::Zero(n), VectorX<Scalar>::Zero(n)};
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
ImpactStepReport<typename System::scalar_type> ImpactStepper<System, Law>::step(
    State& state, const Scalar& h) noexcept {
  CAROM_EXPECTS(state.q.size() == system_.size() && state.momentum.size() == system_.size());
  CAROM_EXPECTS(h > Scalar(0));
  Report report;
  events_.clear();
  saved_ = state;
  Scalar elapsed = 0;
  Index retries = 0;
  while (true) {
    const Move move = advance(state, h, elapsed, report);
    if (move == Move::finished) break;
    retries = move == Move::retry ? retries + 1 : 0;
    const bool stuck = retries > 2 * gaps_now_.size() + 4;
    if (move == Move::failed || stuck || report.impacts > options_.event_limit) {
      if (move != Move::failed) report.status = SolveStatus::iteration_limit;
      state = saved_;
      return report;
    }
  }
  state.time = saved_.time + h;
  report.status = SolveStatus::converged;
  return report;
}

/// One flight: to the next impact, or to the end of the step.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
auto ImpactStepper<System, Law>::advance(State& state, const Scalar& h, Scalar& elapsed,
                                         Report& report) noexcept -> Move {
  const Scalar span = h - elapsed;
  const bool first = elapsed == Scalar(0) && report.impacts == 0;
  if (!write_motion(state)) {
    const bool finite = state.q.allFinite() && state.momentum.allFinite();
    report.status = finite ? SolveStatus::no_progress : SolveStatus::not_finite;
    return Move::failed;
  }
  auto& gaps = root_.solver().gaps();
  gaps.write_gradients(system_, state.q);
  gaps_now_ = gaps.values;
  gradients_now_ = gaps.gradients;
  for (Index i = 0; i < gaps_now_.size(); ++i) {
    if (first) report.penetration = std::max(report.penetration, Scalar(-gaps_now_(i)));
    const bool closing = gaps_now_(i) <= options_.gap_tolerance && approaches(gradients_now_, i, h);
    if (!closing || root_.solver().holds(i)) continue;
    return resolve(state, h, report) ? Move::event : Move::failed;
  }
  if (span <= options_.root_tolerance * h) return Move::finished;
  if (!solve_pushing(state, span, report)) return Move::failed;
  root_.start(state, span, velocity_, gaps_now_, gradients_now_, options_.gap_tolerance);
  if (hold_resting(state, span, h)) return Move::retry;
  Scalar time = span;
  const Index contact = root_.find_first(system_, state, options_.root_tolerance * h, time);
  report.solves += root_.solves();
  report.iterations += root_.iterations();
  if (root_.failed()) {
    report.status = SolveStatus::no_progress;
    return Move::failed;
  }
  accept(state, time);
  elapsed = contact < 0 ? h : elapsed + time;
  if (contact < 0 && root_.solver().rows(system_) == 0) return Move::finished;
  if (!write_motion(state)) return Move::failed;
  if (contact < 0) return Move::finished;
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

/// The step to the end of the span; held contacts that would pull are let go, the worst first.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ImpactStepper<System, Law>::solve_pushing(const State& state, const Scalar& span,
                                               Report& report) noexcept {
  auto& solver = root_.solver();
  std::fill(released_.begin(), released_.end(), char(0));
  guess_ = state.q + span * velocity_;
  while (true) {
    const SolveReport<Scalar> solved = solver.solve(system_, state, span, guess_);
    ++report.solves;
    report.iterations += solved.iterations;
    if (!solved.converged()) {
      report.status = solved.status;
      return false;
    }
    const Index offset = solver.rows(system_) - Index(solver.held().size());
    Index worst = -1;
    Scalar lowest = 0;
    for (std::size_t k = 0; k < solver.held().size(); ++k) {
      const Scalar push = solver.multipliers()(offset + Index(k));
      if (push < lowest) {
        lowest = push;
        worst = solver.held()[k];
      }
    }
    if (worst < 0) return true;
    solver.release(worst);
    released_[std::size_t(worst)] = 1;
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
    const Scalar start = std::max(rate(gradients_now_, i), Scalar(0));
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
    chatter_.forget(i);
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
  state.time += time;
}

/// Puts every closed contact into the impact problem.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
void ImpactStepper<System, Law>::collect(const State& state) {
  auto& gaps = root_.solver().gaps();
  gaps.write_gradients(system_, state.q);
  problem_.reset(system_.size());
  closed_.clear();
  for (Index i = 0; i < gaps.values.size(); ++i) {
    if (gaps.values(i) > options_.gap_tolerance && !root_.solver().holds(i)) continue;
    gradient_ = gaps.gradients.row(i).transpose();
    if (!gradient_.allFinite() || gradient_.isZero(0)) continue;
    problem_.add_contact(mass_, gradient_);
    closed_.push_back(i);
  }
  problem_.prepare();
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ImpactStepper<System, Law>::resolve(State& state, const Scalar& h, Report& report) noexcept {
  auto& solver = root_.solver();
  const Index fixed = StepSolver<System>::Constraints::count(system_);
  if (!mass_.factor(legendre_.mass(), rows_now_, fixed)) {
    report.status = SolveStatus::no_progress;
    return false;
  }
  collect(state);
  const Scalar energy = state.momentum.dot(velocity_) / 2;
  saved_momentum_ = state.momentum;
  law_.prepare(problem_);
  const ImpactReport<Scalar> impact = law_.resolve(problem_, state.momentum);
  ++report.impacts;
  report.reflections += impact.reflections;
  if (impact.status != ImpactStatus::resolved) report.impact_status = impact.status;
  const bool lost =
      impact.energy_gain < -1024 * std::numeric_limits<Scalar>::epsilon() * (energy + 1);
  bool chatters = false;
  fastest_ = 0;
  for (const Index i : closed_) {
    fastest_ = std::max(fastest_, Scalar(-rate(solver.gaps().gradients, i)));
  }
  for (const Index i : closed_) {
    chatters_[std::size_t(i)] = 0;
    if (!approaches(solver.gaps().gradients, i, h)) continue;
    chatters_[std::size_t(i)] = chatter_.see(i, state.time, lost, h);
    chatters = chatters || chatters_[std::size_t(i)];
    if (events_.size() < events_.capacity()) events_.push_back({state.time, i});
  }
  if (chatters) {
    state.momentum = saved_momentum_;
    plastic_.prepare(problem_);
    static_cast<void>(plastic_.resolve(problem_, state.momentum));
    report.plastic = true;
  }
  // What a held contact felt may throw it off.
  for (std::size_t k = 0; k < closed_.size(); ++k) {
    const Index i = closed_[k];
    Scalar scale = 0;
    for (const auto& e : problem_.response(Index(k))) {
      using std::abs;
      scale += abs(e.value * state.momentum(e.index));
    }
    const Scalar leaves = problem_.rate(Index(k), state.momentum);
    if (solver.holds(i) && leaves > 256 * std::numeric_limits<Scalar>::epsilon() * scale) {
      solver.release(i);
    }
  }
  return true;
}

}  // namespace carom::inline CAROM_ABI
