// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/solvers/contact_solver.hpp"

#include "io/text_problem.hpp"

namespace {

/// Solves a file in the form of examples/data from its own guess to 1e-8: compliant contact under
/// the convex law by SapSolver, then under Coulomb's by ContactSolver.
void solve_law(benchmark::State& state, const std::string& path, carom::FrictionLaw law) {
  const auto given = carom::files::read_text_problem(path);
  carom::SapSolver<double> convex({.tolerance = 1e-8});
  carom::ContactSolver<double> exact({.tolerance = 1e-8});
  Eigen::VectorXd velocity;
  carom::SolveReport<double> report;
  for (auto _ : state) {
    velocity = given.guess;
    report = law == carom::FrictionLaw::convex ? convex.solve(given.problem, velocity)
                                               : exact.solve(given.problem, velocity);
  }
  if (!report.converged()) return state.SkipWithError("not converged");
  state.counters["iterations"] = report.iterations;
  state.counters["residual"] = report.residual;
}

const bool registered = [] {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(CAROM_DATA_DIR)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    for (const auto law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
      const std::string name = "solve_law/" + file.stem().string() + "/" + to_string(law);
      benchmark::RegisterBenchmark(name.c_str(), solve_law, file.string(), law);
    }
  }
  return true;
}();

}  // namespace
