// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "carom/contact/delassus_problem.hpp"

#include "io/friction_problem.hpp"

namespace carom::benchmarks {

/// A frictional contact problem as its file has it, and as carom's solvers take it.
struct ContactFile {
  std::string name;  ///< of the file, without folder and ending
  files::FrictionProblem problem;
  DelassusProblem<double> dual;
};

/// Reads a CPF1 container or an FCLIB file. Throws BadInput, starting with the path.
[[nodiscard]] ContactFile read_contact_file(const std::string& path);

/// The result of a solver on a problem.
struct Answer {
  int info = -1;  ///< 0 where the solver itself says that it is done.
  long iterations = -1;
  double cpu_seconds = 0;   ///< of the solve alone
  double residual = 0;      ///< the solver's own measure
  VectorX<double> impulse;  ///< γ in the rows of the dual problem
};

/// Solves from rest, again with every call, in memory that is kept.
using Solve = std::function<Answer()>;

/// One solver of the comparison.
struct Solver {
  std::string name;
  /// Prepares for a file and a tolerance of the natural map error; empty where the solver does not
  /// take such files.
  std::function<Solve(const ContactFile&, double)> prepare;
};

/// carom's solvers: carom:newton and others.
[[nodiscard]] std::vector<Solver> carom_solvers();

/// Siconos': siconos:NSGS and others; none where the program was built without Siconos.
[[nodiscard]] std::vector<Solver> siconos_solvers();

/// Processor time of this thread so far [s]. That of the process is coarse while a timer ends it.
[[nodiscard]] double thread_seconds() noexcept;

}  // namespace carom::benchmarks
