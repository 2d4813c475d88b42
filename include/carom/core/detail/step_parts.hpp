// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Combines the status of a part with that of the whole. The whole is converged if every part is.
/// Otherwise its status is that of the last part that is not converged.
constexpr void add_status(SolveStatus& whole, SolveStatus part) noexcept {
  if (part != SolveStatus::converged) whole = part;
}

/// Computes a step as a whole. If this fails, it computes the step in 2, 4, … 2^halving_limit equal
/// parts.
///
/// @param report        of the step; its field `substeps` is written: the count of parts.
/// @param halving_limit largest count of halvings, ≥ 0.
/// @param take_part     take_part(k, report) advances by the k-th of report.substeps parts and adds
///                      to the report. It returns false on failure.
/// @param start_again   start_again(report, may_halve) restores the state at the start of the step.
///                      may_halve is false after the last halving. If may_halve is true and smaller
///                      parts may help, it writes a new report for the next division and returns
///                      true. Otherwise the report does not change and it returns false.
/// @return  the report of the first division whose parts all succeeded, or of the last division.
/// @note  Real-time safe if the two functions are: at most 2^(halving_limit + 1) parts.
// NOLINTBEGIN(bugprone-exception-escape): the two functions throw nothing
template <typename Report, typename TakePart, typename StartAgain>
Report take_step_in_halves(Report report, int halving_limit, const TakePart& take_part,
                           const StartAgain& start_again) noexcept {
  for (int halvings = 0;; ++halvings) {
    report.substeps = 1 << halvings;
    bool done = true;
    for (int k = 0; done && k < report.substeps; ++k) done = take_part(k, report);
    if (done || !start_again(report, halvings < halving_limit)) return report;
  }
}
// NOLINTEND(bugprone-exception-escape)

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
