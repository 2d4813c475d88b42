// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/lane_queue.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The report of a problem that has no pattern, of which nothing is read or written.
template <typename Scalar>
[[nodiscard]] CAROM_DEVICE BatchProblemReport<Scalar> report_without_pattern() noexcept {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  return {SolveStatus::not_finite, 0, infinity, infinity, BatchFault::pattern, -1};
}

/// Squares summed up over the islands of a problem, as in SapSolver's totals.
template <typename Scalar>
struct BatchTotals {
  Scalar residual = 0, free = 0, pushed = 0;

  /// Adds what an island came to, and takes it over into the report.
  /// @return  whether the island has bad numbers, of which the report says nothing yet.
  [[nodiscard]] CAROM_DEVICE bool take(const LaneOutcome<Scalar>& outcome,
                                       BatchProblemReport<Scalar>& report) noexcept {
    residual += rounded_product(outcome.residual, outcome.residual);
    residual += rounded_product(outcome.violation, outcome.violation);
    free += outcome.free_squared;
    pushed += outcome.pushed_squared;
    report.iterations = (std::max)(report.iterations, outcome.iterations);
    if (outcome.status == SolveStatus::converged || report.fault != BatchFault::none) return false;
    report.status = outcome.status;
    return outcome.status == SolveStatus::not_finite;
  }
  /// Writes what follows from all islands.
  /// @param bounded  whether the residual bounds the error.
  CAROM_DEVICE void finish(bool bounded, BatchProblemReport<Scalar>& report) const noexcept {
    const Scalar size = std::sqrt(residual), scale = std::sqrt((std::max)(free, pushed));
    report.error_bound = bounded ? size : std::numeric_limits<Scalar>::infinity();
    report.residual = scale > Scalar(0) ? size / scale : size;
    constexpr Scalar largest = (std::numeric_limits<Scalar>::max)();
    if (size <= largest && scale <= largest) return;
    report.status = SolveStatus::not_finite;
    report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
