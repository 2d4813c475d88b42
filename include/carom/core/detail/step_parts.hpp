// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Adds the status of a part to that of the whole: the whole has converged if every part has;
/// otherwise its status is that of the last part that has not.
constexpr void add_status(SolveStatus& whole, SolveStatus part) noexcept {
  if (part != SolveStatus::converged) whole = part;
}

/// Takes a step as a whole and, while that fails, in 2, 4, … 2^halving_limit equal parts.
///
/// @param report        of the step; its field `substeps` is written: how many parts there are.
/// @param halving_limit most halvings, ≥ 0.
/// @param take_part     take_part(k, report) advances by the k-th of report.substeps parts and adds
///                      to the report; false when it could not.
/// @param start_again   start_again(report, may_halve) puts everything back to the start of the
///                      step. If smaller parts may help and may_halve is true, which it is not
///                      after the last halving, it makes the report that these start from and
///                      returns true; otherwise it leaves the report and returns false.
/// @return  the report of the first division of which all parts succeeded, or of the last one.
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
