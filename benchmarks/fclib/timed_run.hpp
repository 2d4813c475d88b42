// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "fclib/result_table.hpp"
#include "fclib/solver_run.hpp"

namespace carom::benchmarks {

/// The limit of a run, and where its answer goes.
struct RunOptions {
  double time_limit = 10;  ///< Processor time [s] of making ready and of the first solve, > 0.
  std::string answers;     ///< Folder for the answer, a CPF1 container; empty: it is not kept.
};

/// Runs a solver on a file in a process of its own, which the time limit or a fault of the solver
/// may end: a row of status ok, timeout or crash.
///
/// The errors are those of certify() under Coulomb's law for the impulses returned. The time is
/// that of the first solve, or where more solves fit into a quarter of a second, the median of the
/// later ones. Throws std::runtime_error if no process can be made.
[[nodiscard]] Row timed_run(const ContactFile& file, const Solver& solver, double tolerance,
                            const RunOptions& options);

}  // namespace carom::benchmarks
