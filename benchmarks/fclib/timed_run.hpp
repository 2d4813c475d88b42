// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "fclib/result_table.hpp"
#include "fclib/solver_run.hpp"

namespace carom::benchmarks {

/// What a run may take, and what it leaves.
struct RunOptions {
  double time_limit = 10;  ///< Processor time [s] of making ready and of the first solve, > 0.
  std::string answers;     ///< Folder for the answer, a CPF1 container; empty: it is not kept.
};

/// Runs a solver on a file in a process of its own, which ends with the time limit or with the
/// solver's fault: a row of status ok, timeout or crash.
///
/// The errors are those of certify() under Coulomb's law for the impulses returned; the time is
/// that of the first solve, or where more of them fit a quarter of a second, the middle of those
/// after it. Throws std::runtime_error if no process can be made.
[[nodiscard]] Row timed_run(const ContactFile& file, const Solver& solver, double tolerance,
                            const RunOptions& options);

}  // namespace carom::benchmarks
