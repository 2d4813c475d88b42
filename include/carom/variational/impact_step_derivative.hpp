// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "carom/variational/detail/impact_jacobian.hpp"
#include "carom/variational/detail/motion_derivative.hpp"
#include "carom/variational/detail/step_record.hpp"
#include "carom/variational/impact_step_report.hpp"
#include "carom/variational/impact_stepper.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A law of ImpactStepper that can be differentiated: ImpactResolver, RestitutionImpact or
/// PlasticImpact.
template <typename Law, typename Scalar>
concept DifferentiableStepLaw = ImpactLawFor<Law, Scalar> && DifferentiableImpactLaw<Law, Scalar>;

/// Derivative of a step of ImpactStepper, (q₀, p₀) → (q₁, p₁), with the times of its impacts.
///
/// ```
/// carom::ImpactStepDerivative derivative(stepper);                 // cold
/// const auto report = derivative.step(stepper, state, 0.01);       // the step, and its derivative
/// if (report.usable()) total = derivative.matrix() * total;        // over a trajectory
/// ```
/// The step is recorded while it is computed; its bits are those of a step without a derivative.
/// Then its flights and impacts are differentiated one after the other. The time of an impact
/// changes such that the gap stays closed at the impact. The last flight compensates the changes of
/// the other times. For a smooth motion between impacts, the product of the three derivatives is
/// known as the saltation matrix.
///
/// The derivative is that of the step with fixed decisions: which contacts are constrained or
/// released, how many times the step was halved, in which order contacts reflect. Constrained
/// contacts are included. Cases that are not differentiated are rejected by a status, see
/// StepLinearizationStatus. If a system writes the gradients of its gaps and constraints, their
/// second derivatives are needed too, see LevelFunctions.
/// @note  docs/derivations/saltation.md derives it.
/// @cite  muller1995calculation, for the saltation matrix
template <LagrangianSystemLike System, DifferentiableStepLaw<typename System::scalar_type> Law>
class ImpactStepDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Report = StepLinearization<Scalar>;

  static_assert(
      !WrittenGapsLike<System> ||
          requires(const System& s, const VectorX<Scalar>& q,
                   const Eigen::Map<const VectorX<Scalar>>& weights,
                   MatrixX<Scalar>& out) { s.add_gap_curvature(q, weights, out); },
      "a system that writes gradients of gaps also needs add_gap_curvature(q, weights, out)");
  static_assert(
      !WrittenConstraintsLike<System> ||
          requires(const System& s, const VectorX<Scalar>& q,
                   const Eigen::Map<const VectorX<Scalar>>& weights,
                   MatrixX<Scalar>& out) { s.add_constraint_curvature(q, weights, out); },
      "a system that writes gradients of constraints also needs add_constraint_curvature");

  /// @param stepper   the stepper whose steps will be differentiated.
  /// @param capacity  largest total count of flights, impacts and projections of a step, ≥ 1.
  /// Cold: allocates.
  explicit ImpactStepDerivative(const ImpactStepper<System, Law>& stepper, Index capacity = 1024)
      : flight_(stepper.options().step, stepper.options().gap_tolerance),
        impact_(stepper.law()),
        gap_tolerance_(stepper.options().gap_tolerance) {
    CAROM_EXPECTS(capacity >= 1);
    const System& system = stepper.system();
    const Index n = system.size();
    record_.prepare(n, Gaps::count(system), capacity);
    flight_.prepare(system);
    motion_.prepare(system);
    impact_.prepare(system);
    gaps_.prepare(system);
    tangent_.prepare(n, 2 * n + 1);
    matrix_.setZero(2 * n, 2 * n);
    by_restitution_.setZero(2 * n);
    before_ = State{Scalar(0), VectorX<Scalar>::Zero(n), VectorX<Scalar>::Zero(n)};
    after_ = before_;
    times_.setZero(2 * n + 1);
    moved_.setZero(n, 2 * n + 1);
    work_.setZero(2 * n);
  }

  /// Computes a step of the stepper and differentiates it.
  /// @param stepper  that of the constructor, or one with the same sizes, law and options.
  /// @param state  advanced, as by stepper.step(state, h).
  /// @param h      [s], > 0.
  /// @note  Real-time safe once grown, as the stepper is: no allocation, no exception. It costs a
  ///        solve for each flight and 2n + 1 triangular solves for each flight and impact.
  // NOLINTNEXTLINE(bugprone-exception-escape): see ContactImpact::resolve
  Report step(ImpactStepper<System, Law>& stepper, State& state, const Scalar& h) noexcept;

  /// ∂(q₁, p₁)/∂(q₀, p₀), 2n×2n, of the last step if it was usable().
  [[nodiscard]] const MatrixX<Scalar>& matrix() const noexcept { return matrix_; }
  /// ∂(q₁, p₁)/∂R of RestitutionImpact, 2n; zero for other laws.
  [[nodiscard]] const VectorX<Scalar>& by_restitution() const noexcept { return by_restitution_; }

  /// Change of (q₁, p₁) for a change of (q₀, p₀), in place, 2n.
  void push_forward(VectorX<Scalar>& change) noexcept {
    CAROM_EXPECTS(change.size() == matrix_.cols());
    work_ = change;
    change.noalias() = matrix_.lazyProduct(work_);
  }
  /// Gradient of a cost by (q₀, p₀) from its gradient by (q₁, p₁), in place, 2n.
  /// @return  its derivative by R.
  Scalar pull_back(VectorX<Scalar>& gradient) noexcept {
    CAROM_EXPECTS(gradient.size() == matrix_.cols());
    work_ = gradient;
    gradient.noalias() = matrix_.transpose().lazyProduct(work_);
    return by_restitution_.dot(work_);
  }

 private:
  using Gaps = LevelFunctions<System, LevelKind::gaps>;
  using Outcome = StepLinearizationStatus;
  using Event = StepEvent<Scalar>;

  [[nodiscard]] Outcome replay(const System& system, const State& end, Report& report) noexcept;
  [[nodiscard]] Outcome take(const System& system, std::size_t k, Report& report) noexcept;
  [[nodiscard]] Outcome strike(const System& system, const Event& event, Report& report) noexcept;
  [[nodiscard]] Outcome strike_at_once(const System& system, Report& report) noexcept;
  [[nodiscard]] bool holds(Index contact) const noexcept {
    return std::find(held_.begin(), held_.end(), contact) != held_.end();
  }
  /// Whether friction acts in a constrained contact.
  [[nodiscard]] bool rubs([[maybe_unused]] const System& system) const noexcept {
    if constexpr (FrictionalSystemLike<System>) {
      for (const Index contact : held_) {
        if (system.friction(contact) > Scalar(0)) return true;
      }
    }
    return false;
  }

  StepRecord<Scalar> record_;
  FlightDerivative<System> flight_;
  MotionDerivative<System> motion_;
  ImpactJacobian<System, Law> impact_;
  Gaps gaps_;
  StateTangent<Scalar> tangent_;
  MatrixX<Scalar> matrix_, moved_;
  VectorX<Scalar> by_restitution_, times_, work_;
  State before_, after_;
  Scalar gap_tolerance_;
  std::span<const Index> held_;  ///< contacts that were constrained when the event began
  Index closing_ = -1;           ///< contact that ended the last flight, −1 if there is none
  Index bounced_ = -1;   ///< contact whose closing caused the last impact, −1 if there is none
  bool struck_ = false;  ///< the last event, projections excluded, was an impact
  bool moving_ = false;  ///< the time of the state depends on the parameters
};

// --- implementation ---

template <LagrangianSystemLike System, DifferentiableStepLaw<typename System::scalar_type> Law>
StepLinearization<typename System::scalar_type> ImpactStepDerivative<System, Law>::step(
    ImpactStepper<System, Law>& stepper, State& state, const Scalar& h) noexcept {
  CAROM_EXPECTS(2 * stepper.system().size() == matrix_.rows());
  CAROM_EXPECTS(Gaps::count(stepper.system()) == gaps_.values.size());
  Report report;
  report.step = stepper.step(state, h, record_);
  if (!report.step.converged()) return report;
  report.status = report.step.projected ? Outcome::projected : Outcome::incomplete;
  if (report.step.projected || record_.incomplete()) return report;
  report.status = replay(stepper.system(), state, report);
  return report;
}

template <LagrangianSystemLike System, DifferentiableStepLaw<typename System::scalar_type> Law>
StepLinearizationStatus ImpactStepDerivative<System, Law>::replay(const System& system,
                                                                  const State& end,
                                                                  Report& report) noexcept {
  const Index n = end.q.size();
  tangent_.q.setZero();
  tangent_.p.setZero();
  for (Index i = 0; i < n; ++i) tangent_.q(i, i) = tangent_.p(i, n + i) = 1;
  for (std::size_t k = 0; k < record_.events().size(); ++k) {
    record_.write_state(k, before_);
    after_ = end;
    if (k + 1 < record_.events().size()) record_.write_state(k + 1, after_);
    if (const Outcome status = take(system, k, report); status != Outcome::linearized)
      return status;
  }
  matrix_.topRows(n) = tangent_.q.leftCols(2 * n);
  matrix_.bottomRows(n) = tangent_.p.leftCols(2 * n);
  by_restitution_.head(n) = tangent_.q.col(2 * n);
  by_restitution_.tail(n) = tangent_.p.col(2 * n);
  if (!matrix_.allFinite() || !by_restitution_.allFinite()) return Outcome::singular;
  return Outcome::linearized;
}

template <LagrangianSystemLike System, DifferentiableStepLaw<typename System::scalar_type> Law>
StepLinearizationStatus ImpactStepDerivative<System, Law>::take(const System& system, std::size_t k,
                                                                Report& report) noexcept {
  const Event& event = record_.events()[k];
  switch (event.kind) {
    case StepEventKind::begin:
      tangent_.rest.setZero();
      held_ = {};
      closing_ = bounced_ = -1;
      struck_ = moving_ = false;
      return Outcome::linearized;
    case StepEventKind::project:
      held_ = record_.contacts(event);
      if (rubs(system)) return Outcome::rubbing;
      return motion_.project(system, held_, before_, tangent_);
    case StepEventKind::flight: {
      held_ = record_.contacts(event);
      if (rubs(system)) return Outcome::rubbing;
      const Outcome status =
          flight_.fly(system, {event, held_, before_, after_.q}, moving_, tangent_);
      closing_ = event.closing;
      struck_ = false;
      // It was closed before the step, not by the impact before. If it were lifted, it would close
      // at another time.
      if (closing_ >= 0 && flight_.started_closed() && closing_ != bounced_) ++report.one_sided;
      moving_ = moving_ || closing_ >= 0;
      ++report.flights;
      return status;
    }
    case StepEventKind::impact: {
      Outcome status = Outcome::linearized;
      if (closing_ < 0 && !struck_) status = strike_at_once(system, report);
      if (status == Outcome::linearized) status = strike(system, event, report);
      bounced_ = closing_;
      closing_ = -1;
      struck_ = true;
      held_ = {};  // the projection after the event records the constrained contacts
      return status;
    }
    case StepEventKind::cut:
      held_ = record_.contacts(event);
      if (!moving_) return Outcome::linearized;
      ++report.one_sided;
      times_ = tangent_.rest;
      return held_.empty() ? motion_.shift(system, before_, times_, tangent_) : Outcome::boundary;
  }
  return Outcome::linearized;
}

template <LagrangianSystemLike System, DifferentiableStepLaw<typename System::scalar_type> Law>
StepLinearizationStatus ImpactStepDerivative<System, Law>::strike(const System& system,
                                                                  const Event& event,
                                                                  Report& report) noexcept {
  const std::span<const Index> closed = record_.contacts(event);
  const Outcome status = impact_.evaluate(system, before_, closed, event.rested);
  if (status != Outcome::linearized) return status;
  ++report.impacts;
  const std::span<const Index> sides = impact_.one_sided();
  const bool undecided = std::any_of(sides.begin(), sides.end(),
                                     [&](Index i) { return !holds(closed[std::size_t(i)]); });
  const bool together = closing_ >= 0 && std::any_of(closed.begin(), closed.end(), [&](Index i) {
                          return i != closing_ && !holds(i);
                        });
  if (undecided || together) ++report.one_sided;
  moved_.noalias() = impact_.by_p.lazyProduct(tangent_.p);
  moved_.noalias() += impact_.by_q.lazyProduct(tangent_.q);
  tangent_.p = moved_;
  tangent_.p.col(tangent_.p.cols() - 1) += impact_.by_restitution;
  return Outcome::linearized;
}

/// A contact that is closed where a flight could begin strikes at once. If it is only just closed,
/// a small change opens it, and it then strikes after a flight. This case is represented by a
/// flight of zero length whose end moves. With overlap, it strikes at once also after a small
/// change.
template <LagrangianSystemLike System, DifferentiableStepLaw<typename System::scalar_type> Law>
StepLinearizationStatus ImpactStepDerivative<System, Law>::strike_at_once(const System& system,
                                                                          Report& report) noexcept {
  using std::abs;
  gaps_.write_gradients(system, before_.q);
  const auto just_closed = [&](Index i) {
    return abs(gaps_.values(i)) <= gap_tolerance_ && !holds(i);
  };
  bool any = false;
  for (Index i = 0; i < gaps_.values.size(); ++i) any = any || just_closed(i);
  if (!any) return Outcome::linearized;
  ++report.one_sided;
  if (!held_.empty()) return Outcome::boundary;
  if (const Outcome status = motion_.move_freely(system, before_); status != Outcome::linearized)
    return status;
  const VectorX<Scalar>& velocity = motion_.velocity();
  Scalar fastest = 0;
  Index striking = -1;
  for (Index i = 0; i < gaps_.values.size(); ++i) {
    const Scalar rate = gaps_.gradients.row(i).dot(velocity);
    if (!just_closed(i) || !(rate < fastest)) continue;
    fastest = rate;
    striking = i;
  }
  if (striking < 0) return Outcome::linearized;
  for (Index c = 0; c < times_.size(); ++c) {
    times_(c) = -gaps_.gradients.row(striking).dot(tangent_.q.col(c)) / fastest;
  }
  moving_ = true;
  return motion_.shift(system, before_, times_, tangent_);
}

}  // namespace CAROM_ABI
}  // namespace carom
