// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/solve_report.hpp"
#include "carom/impact/impact_report.hpp"
#include "carom/variational/step_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// What ImpactStepper counts as closed and as at rest, and how many impacts it allows.
template <RealScalar Scalar>
struct ImpactStepOptions {
  StepOptions<Scalar> step;
  /// Gaps up to this count as closed, so contacts that close together are resolved together
  /// [unit of the gaps], > 0. With less, rounding lets resting contacts go unnoticed.
  Scalar gap_tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon()) / 16;
  /// The search for the instant of impact stops at this share of the step [-], > 0.
  Scalar root_tolerance = 4096 * std::numeric_limits<Scalar>::epsilon();
  /// A contact whose next flight is shorter than this share of the step comes to rest [-], ≥ 0.
  Scalar rest_share = Scalar(1e-6);
  /// Overlap deeper than gap_tolerance at the start of a step is projected out first, by the
  /// shortest motion in the mass metric; the momentum stays. Otherwise it is only reported, and
  /// overlapping contacts are resolved as if they touched.
  bool project_out = false;
  int event_limit = 100'000;   ///< Most impacts in one step, ≥ 1.
  int recorded_events = 1024;  ///< How many events() can hold, ≥ 0.
};

/// An impact: when, and the contact whose gap closed.
template <RealScalar Scalar>
struct ImpactEvent {
  Scalar time = 0;  ///< [s]
  Index contact = 0;
};

/// How a step of ImpactStepper went.
template <RealScalar Scalar>
struct [[nodiscard]] ImpactStepReport {
  /// Anything but `converged` leaves the state as it was: no_progress when the equations of even
  /// the smallest part of the step were not solved, iteration_limit when event_limit was reached,
  /// not_finite when a state or a force was not.
  SolveStatus status = SolveStatus::not_finite;
  int iterations = 0;      ///< Newton iterations of all solves.
  int solves = 0;          ///< of the step's equations; one in a step without events.
  int substeps = 1;        ///< More than one where the step was halved.
  int impacts = 0;         ///< Instants of impact in the step.
  Index reflections = 0;   ///< As the impact law counts them.
  bool projected = false;  ///< Whether overlap at the start was projected out.
  bool plastic = false;    ///< Whether some impact was resolved plastically, because of chatter.
  Scalar penetration = 0;  ///< Deepest overlap at the start of the step [unit of the gaps].
  ImpactStatus impact_status = ImpactStatus::resolved;  ///< The last that was not `resolved`.

  [[nodiscard]] constexpr bool converged() const noexcept {
    return status == SolveStatus::converged;
  }
};

/// Why a step has no derivative, or how far to trust it.
enum class StepLinearizationStatus {
  linearized,         ///< The derivative is that of the step.
  step_failed,        ///< The step itself did not converge.
  incomplete,         ///< The step had more events than the record has room for.
  projected,          ///< Overlap was projected out at the start, which is not differentiated.
  rubbing,            ///< A contact with friction was held, which is not differentiated.
  time_dependent,     ///< Forces depend on time, and an impact's time moves.
  grazing,            ///< A gap closed at no rate: the time of its impact has no derivative.
  boundary,           ///< Under constraints a contact struck just where the step began or ended.
  singular,           ///< Matrices are singular or not finite, or impulses are not determined.
  not_quadratic,      ///< The Lagrangian is not quadratic in the velocity.
  unfinished_impact,  ///< An impact met the limit of its reflections, or has too many to repeat.
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

/// How the derivative of a step of ImpactStepper went.
template <RealScalar Scalar>
struct [[nodiscard]] StepLinearization {
  StepLinearizationStatus status = StepLinearizationStatus::step_failed;
  ImpactStepReport<Scalar> step;  ///< How the step itself went.
  int flights = 0;                ///< that were differentiated
  int impacts = 0;                ///< that were differentiated
  /// Coincidences, where the derivative holds on one side only: contacts strike together, they
  /// strike just where a step begins or ends, or they come to rest without an impulse.
  int one_sided = 0;

  [[nodiscard]] constexpr bool usable() const noexcept {
    return status == StepLinearizationStatus::linearized;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
