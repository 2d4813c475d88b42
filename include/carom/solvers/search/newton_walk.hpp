// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of walk_to_target, measured on the compliant files of examples/data under both laws by
/// benchmarks/ablation; docs/performance.md has the table. Each is a pure number [-].
struct NewtonWalkTuning {
  /// A step counts as full where its length is less than this many times longer or shorter than
  /// one. A short step says nothing of the floor of rounding.
  static constexpr double full_step = 2;
  /// A full step stalls where it leaves more than this share of the least residual so far.
  static constexpr double gain = 0.5;
  /// Stalls count below this residual, relative to its scale. Above it a step may be on a detour.
  static constexpr double small_residual = 1e-3;
  /// Stalls in a row that end the walk, near the floor of rounding, √ε_m, and above it. Fewer give
  /// up on problems that are solved later, more waste as many steps where nothing can be gained.
  static constexpr int floor_stalls = 3, stalls = 12;
};

/// How far and how long to iterate.
template <RealScalar Scalar>
struct NewtonLimits {
  Scalar tolerance;
  int iteration_limit;
  Scalar line_search_tolerance;
  SolveLimits caller = {};  ///< only its deadline is used
};

/// What a residual is compared with. Islands that meet it together meet momentum_scale() of the
/// whole: the mean of two squares is no more than their maximum, and sums up over the islands.
template <RealScalar Scalar>
[[nodiscard]] Scalar island_scale(const Scalar& free_squared, const Scalar& pushed_squared,
                                  const Scalar& gross_squared) noexcept {
  using std::sqrt;
  return sqrt((free_squared + pushed_squared) / 2 +
              std::numeric_limits<Scalar>::epsilon() * gross_squared);
}

/// Whether a residual is small enough relative to its scale; an infinite one never is.
template <RealScalar Scalar>
[[nodiscard]] bool meets_tolerance(const Scalar& residual, const Scalar& scale,
                                   const Scalar& tolerance) noexcept {
  return residual <= (std::numeric_limits<Scalar>::max)() &&
         scale <= (std::numeric_limits<Scalar>::max)() && residual <= tolerance * scale;
}

/// Writes a balance of momentum and the error that it bounds. Where numbers left their range both
/// are infinite and the status says so.
template <RealScalar Scalar>
void finish_report(const Scalar& residual, const Scalar& scale,
                   SolveReport<Scalar>& report) noexcept {
  constexpr Scalar largest = (std::numeric_limits<Scalar>::max)();
  report.measure = ResidualMeasure::momentum_balance;
  report.error_bound = residual;
  report.residual = scale > Scalar(0) ? residual / scale : residual;
  if (residual <= largest && scale <= largest) return;
  report.status = SolveStatus::not_finite;
  report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
}

/// Newton's method with a line search, from the iterate last evaluated to the target.
/// @param newton  residual() and scale() of the iterate; find_direction(), false when there is
///                none; advance(), which goes along the direction, evaluates and returns the step
///                length; keep_iterate() and return_to_kept(), which evaluates.
/// @param iterations  counted up.
template <RealScalar Scalar, typename Newton>
[[nodiscard]] SolveStatus walk_to_target(Newton&& newton, const NewtonLimits<Scalar>& limits,
                                         int& iterations) noexcept {
  using Tuning = NewtonWalkTuning;
  const Scalar longest = Scalar(Tuning::full_step), shortest = 1 / longest;
  Scalar best_residual = newton.residual();
  newton.keep_iterate();
  const auto give_best = [&](SolveStatus status) {
    newton.return_to_kept();
    return status;
  };
  int stalls = 0;
  while (iterations < limits.iteration_limit) {
    if (limits.caller.is_over()) return give_best(SolveStatus::deadline);
    if (!newton.find_direction()) return give_best(SolveStatus::not_finite);
    const Scalar step = newton.advance();
    ++iterations;
    const Scalar residual = newton.residual(), scale = newton.scale();
    if (!(residual <= (std::numeric_limits<Scalar>::max)())) {
      return give_best(SolveStatus::not_finite);
    }
    // Steps that do not shrink a small residual have reached the floor of rounding. Near that floor
    // the line search sees noise, so any length counts as full. Far above it full steps may also
    // make a detour, because the residual of a damped iterate need not fall.
    const bool near_floor = residual <= std::sqrt(std::numeric_limits<Scalar>::epsilon()) * scale;
    const bool full = near_floor || (step > shortest && step < longest);
    stalls = full && residual > Scalar(Tuning::gain) * best_residual &&
                     residual < Scalar(Tuning::small_residual) * scale
                 ? stalls + 1
                 : 0;
    if (residual < best_residual) {
      best_residual = residual;
      newton.keep_iterate();
    }
    if (meets_tolerance(residual, scale, limits.tolerance)) return SolveStatus::converged;
    if (stalls >= (near_floor ? Tuning::floor_stalls : Tuning::stalls))
      return give_best(SolveStatus::no_progress);
  }
  return give_best(SolveStatus::iteration_limit);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
