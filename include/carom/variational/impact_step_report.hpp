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

}  // namespace CAROM_ABI
}  // namespace carom
