// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/increasing_root.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of walk_to_target, measured on the compliant files of examples/data under both laws by
/// benchmarks/ablation; docs/performance.md has the table. Each is a pure number [-].
struct NewtonWalkTuning {
  /// A step counts as full if its length is between one divided by this number and this number. A
  /// short step gives no information about the level of rounding.
  static constexpr double full_step = 2;
  /// A full step stalls if it leaves more than this share of the least residual so far.
  static constexpr double gain = 0.5;
  /// Stalls count below this residual, relative to its scale. Above it a step may increase the
  /// residual temporarily.
  static constexpr double small_residual = 1e-3;
  /// Count of consecutive stalls that end the iteration, near the level of rounding, √ε_m, and
  /// above it. With fewer, problems that are solved later are given up; with more, as many steps
  /// are wasted if nothing can be gained.
  static constexpr int floor_stalls = 3, stalls = 12;
};

/// Target and limits of the iteration.
template <RealScalar Scalar>
struct NewtonLimits {
  Scalar tolerance;
  int iteration_limit;
  Scalar line_search_tolerance;
  SolveLimits caller = {};  ///< only its deadline is used
};

/// The reference of a residual. Islands that all satisfy it satisfy momentum_scale() of the whole
/// together: the mean of two squares is at most their maximum, and sums over the islands.
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

/// The distance of an iterate from the least cost ℓ, and its reference.
template <RealScalar Scalar>
struct IslandMeasures {
  Scalar residual = 0;        ///< ‖∇ℓ‖
  Scalar free_squared = 0;    ///< ‖w*‖²
  Scalar pushed_squared = 0;  ///< ‖Ĵᵀγ‖²
  Scalar gross_squared = 0;  ///< Σ ‖Ĵₖ‖² γₖ² over the rows: Ĵᵀγ without cancellation

  /// Stores ‖∇ℓ‖² and the others, in their order.
  void take(const std::array<Scalar, 4>& sums) noexcept {
    using std::sqrt;
    residual = sqrt(sums[0]);
    free_squared = sums[1];
    pushed_squared = sums[2];
    gross_squared = sums[3];
  }
  /// The reference of the residual of an island.
  [[nodiscard]] Scalar scale() const noexcept {
    return island_scale(free_squared, pushed_squared, gross_squared);
  }
  [[nodiscard]] bool meet(const Scalar& tolerance) const noexcept {
    return meets_tolerance(residual, scale(), tolerance);
  }
  [[nodiscard]] bool are_finite() const noexcept {
    return residual <= (std::numeric_limits<Scalar>::max)();
  }
};

/// Writes a momentum balance and the error that it bounds. If numbers left the range of the type,
/// both are infinite and the status is not_finite.
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

/// Moves an iterate to rest or to the free velocity if the cost there is lower than at the guess.
/// @param iterate  cost(), cost_at_rest() and cost_when_free(), which do not move it, and
///                 start_at_rest() and start_free(), which move and evaluate it.
template <typename Iterate>
void start_from_best(Iterate& iterate) {
  const auto here = iterate.cost(), at_rest = iterate.cost_at_rest(),
             when_free = iterate.cost_when_free();
  if (when_free < here && when_free < at_rest) return iterate.start_free();
  if (at_rest < here) iterate.start_at_rest();
}

/// The terms of the derivative of the cost along a direction d except the impulses: ∇ℓ·d at the
/// iterate, d·(w − w*) and ‖d‖².
template <RealScalar Scalar>
struct DirectionSlope {
  Scalar at_zero = 0, momentum = 0, curvature = 0;
};

/// The step length α where the slope d·(w − w*) + α ‖d‖² − γ(α)·Ĵd along a direction vanishes.
/// @param share  permitted share of the derivative at zero [-].
/// @param push   push(α) is −γ(α)·Ĵd.
template <RealScalar Scalar, typename Push>
[[nodiscard]] Scalar find_step(const DirectionSlope<Scalar>& slope, const Scalar& share,
                               const Push& push) noexcept {
  if (!(slope.at_zero < Scalar(0))) return Scalar(1);  // only round-off is left
  const auto value = [&](const Scalar& step) {
    return slope.momentum + step * slope.curvature + push(step);
  };
  return find_increasing_root<Scalar>(value, slope.at_zero,
                                      {.tolerance = -share * slope.at_zero,
                                       .evaluation_limit = LineSearchTuning::evaluation_limit})
      .argument;
}

/// Factors H, or H + raise I where round-off leaves H indefinite: a direction descends for every
/// positive definite matrix.
/// @param fill    fill(raise) writes H + raise I and returns the largest entry on the diagonal of
///                Ĵᵀ G Ĵ, at least 1; infinite or NaN where an entry is not finite.
/// @param factor  factor() returns whether what was filled is positive definite.
/// @param raise   written: the raise of the matrix that was factored. If each attempt failed, it is
///                the raise that would come next, which no matrix has.
/// @return        false when H is not finite or stays indefinite.
template <RealScalar Scalar, typename Fill, typename Factor>
[[nodiscard]] bool factor_raised(const Fill& fill, const Factor& factor, Scalar& raise) noexcept {
  raise = Scalar(0);
  for (int attempt = 0; attempt < DiagonalRaiseTuning::attempt_limit; ++attempt) {
    const Scalar largest = fill(raise);
    if (!(largest <= (std::numeric_limits<Scalar>::max)())) return false;
    if (factor()) return true;
    raise = DiagonalRaiseTuning::next(raise, largest);
  }
  return false;
}

/// Newton's method with a line search, from the last evaluated iterate to the target.
/// @param iterate  measures(); advance(), which moves along the direction, evaluates and returns
///                 the step length; keep_iterate() and return_to_kept(), which evaluates.
/// @param find_direction  find_direction() writes the direction; returns false if there is none.
/// @param iterations      counted up.
template <RealScalar Scalar, typename Iterate, typename FindDirection>
[[nodiscard]] SolveStatus walk_to_target(Iterate& iterate, const FindDirection& find_direction,
                                         const NewtonLimits<Scalar>& limits,
                                         int& iterations) noexcept {
  using Tuning = NewtonWalkTuning;
  const Scalar longest = Scalar(Tuning::full_step), shortest = 1 / longest;
  Scalar best_residual = iterate.measures().residual;
  iterate.keep_iterate();
  const auto give_best = [&](SolveStatus status) {
    iterate.return_to_kept();
    return status;
  };
  int stalls = 0;
  while (iterations < limits.iteration_limit) {
    if (limits.caller.is_over()) return give_best(SolveStatus::deadline);
    if (!find_direction()) {
      return give_best(limits.caller.is_over() ? SolveStatus::deadline : SolveStatus::not_finite);
    }
    const Scalar step = iterate.advance();
    ++iterations;
    const IslandMeasures<Scalar>& now = iterate.measures();
    const Scalar residual = now.residual, scale = now.scale();
    if (!now.are_finite()) return give_best(SolveStatus::not_finite);
    // Steps that do not reduce a small residual have reached the level of rounding. Near this level
    // the line search is dominated by noise, so any length counts as full. Far above it full steps
    // may also increase the residual temporarily, because the residual of a damped iterate need not
    // decrease.
    const bool near_floor = residual <= std::sqrt(std::numeric_limits<Scalar>::epsilon()) * scale;
    const bool full = near_floor || (step > shortest && step < longest);
    stalls = full && residual > Scalar(Tuning::gain) * best_residual &&
                     residual < Scalar(Tuning::small_residual) * scale
                 ? stalls + 1
                 : 0;
    if (residual < best_residual) {
      best_residual = residual;
      iterate.keep_iterate();
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
