// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_report.hpp"

#include "support/catch.hpp"

namespace carom::testing {

/// A report that has not been written to claims no solution, and neither does one with a status
/// other than converged.
template <typename Report>
void check_only_converged_counts(Report report) {
  CHECK(report.status == SolveStatus::not_finite);
  for (const auto status :
       {SolveStatus::not_finite, SolveStatus::iteration_limit, SolveStatus::no_progress,
        SolveStatus::deadline, SolveStatus::infeasible}) {
    report.status = status;
    CHECK_FALSE(report.converged());
  }
  report.status = SolveStatus::converged;
  CHECK(report.converged());
}

}  // namespace carom::testing
