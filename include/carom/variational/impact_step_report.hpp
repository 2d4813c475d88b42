// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/solve_report.hpp"
#include "carom/impact/impact_report.hpp"
#include "carom/variational/step_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Options of ImpactStepper: tolerances for closed and resting contacts, and the limit of impacts.
template <RealScalar Scalar>
struct ImpactStepOptions {
  StepOptions<Scalar> step;
  /// Gaps up to this value count as closed, so that contacts that close together are resolved
  /// together [unit of the gaps], > 0. With a smaller value, rounding hides resting contacts.
  Scalar gap_tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon()) / 16;
  /// The search for the instant of impact ends at this share of the step [-], > 0.
  Scalar root_tolerance = 4096 * std::numeric_limits<Scalar>::epsilon();
  /// A contact whose next flight is shorter than this share of the step comes to rest [-], ≥ 0.
  Scalar rest_share = Scalar(1e-6);
  /// Overlap deeper than gap_tolerance at the start of a step is removed first, by the shortest
  /// motion in the mass metric. The momentum does not change. Otherwise the overlap is only
  /// reported, and overlapping contacts are resolved as if they touched.
  bool project_out = false;
  int event_limit = 100'000;   ///< Largest count of impacts in one step, ≥ 1.
  int recorded_events = 1024;  ///< Capacity of events(), ≥ 0.
};

/// An impact: its time, and the contact whose gap closed.
template <RealScalar Scalar>
struct ImpactEvent {
  Scalar time = 0;  ///< [s]
  Index contact = 0;
};

/// Result of a step of ImpactStepper.
template <RealScalar Scalar>
struct [[nodiscard]] ImpactStepReport {
  /// Unless it is `converged`, the state does not change. no_progress: the equations were not
  /// solved even in the smallest part of the step. iteration_limit: event_limit was reached.
  /// not_finite: a state or a force was not finite.
  SolveStatus status = SolveStatus::not_finite;
  int iterations = 0;      ///< Newton iterations of all solves.
  int solves = 0;          ///< of the step's equations; one in a step without events.
  int substeps = 1;        ///< More than one if the step was halved.
  int impacts = 0;         ///< Instants of impact in the step.
  Index reflections = 0;   ///< As the impact law counts them.
  bool projected = false;  ///< Whether overlap at the start was removed.
  bool plastic = false;    ///< Whether an impact was plastic, because of chatter.
  Scalar penetration = 0;  ///< Deepest overlap at the start of the step [unit of the gaps].
  /// The last status that was not `resolved`.
  ImpactStatus impact_status = ImpactStatus::resolved;

  [[nodiscard]] constexpr bool converged() const noexcept {
    return status == SolveStatus::converged;
  }
};

/// The reason why a step has no derivative, or `linearized`.
enum class StepLinearizationStatus {
  linearized,      ///< The derivative is that of the step.
  step_failed,     ///< The step itself did not converge.
  incomplete,      ///< The step had more events than the capacity of the record.
  projected,       ///< Overlap was removed at the start, which is not differentiated.
  rubbing,         ///< A contact with friction was constrained, which is not differentiated.
  time_dependent,  ///< Forces depend on time, and the time of an impact changes.
  grazing,         ///< A gap closed at the rate zero: the time of its impact has no derivative.
  boundary,        ///< Under constraints, a contact struck exactly at the start or end of the step.
  singular,        ///< Matrices are singular or not finite, or impulses are not determined.
  not_quadratic,   ///< The Lagrangian is not quadratic in the velocity.
  unfinished_impact,  ///< An impact reached its limit of reflections, or has too many to repeat.
  not_solved,         ///< A flight could not be solved again.
};

/// The status as a word for messages and files.
[[nodiscard]] constexpr const char* to_string(StepLinearizationStatus status) noexcept {
  switch (status) {
    case StepLinearizationStatus::linearized:
      return "linearized";
    case StepLinearizationStatus::step_failed:
      return "step_failed";
    case StepLinearizationStatus::incomplete:
      return "incomplete";
    case StepLinearizationStatus::projected:
      return "projected";
    case StepLinearizationStatus::rubbing:
      return "rubbing";
    case StepLinearizationStatus::time_dependent:
      return "time_dependent";
    case StepLinearizationStatus::grazing:
      return "grazing";
    case StepLinearizationStatus::boundary:
      return "boundary";
    case StepLinearizationStatus::singular:
      return "singular";
    case StepLinearizationStatus::not_quadratic:
      return "not_quadratic";
    case StepLinearizationStatus::unfinished_impact:
      return "unfinished_impact";
    case StepLinearizationStatus::not_solved:
      return "not_solved";
  }
  return "unknown";
}

/// Result of the derivative of a step of ImpactStepper.
template <RealScalar Scalar>
struct [[nodiscard]] StepLinearization {
  StepLinearizationStatus status = StepLinearizationStatus::step_failed;
  ImpactStepReport<Scalar> step;  ///< Result of the step.
  int flights = 0;                ///< count of differentiated flights
  int impacts = 0;                ///< count of differentiated impacts
  /// Count of coincidences, for which the derivative is one-sided: contacts strike together, strike
  /// exactly at the start or end of a step, or come to rest without an impulse.
  int one_sided = 0;

  [[nodiscard]] constexpr bool usable() const noexcept {
    return status == StepLinearizationStatus::linearized;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
