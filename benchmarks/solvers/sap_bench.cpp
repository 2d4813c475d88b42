// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/sap.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/solvers/contact_certificate.hpp"

#include "io/text_problem.hpp"
#include "scenes/pile.hpp"
#include "solvers/brick.hpp"

namespace {

/// Solves a problem from a first guess, to a relative residual of 1e-8. Counters: iterations,
/// contacts, the residual recomputed from the answer, the worst of all runs.
void solve(benchmark::State& state, const carom::ContactProblem<double>& problem,
           const Eigen::VectorXd& guess) {
  carom::SapSolver<double> solver(carom::SapOptions<double>{.tolerance = 1e-8});
  solver.prepare(problem);
  Eigen::VectorXd velocity = guess;
  carom::SolveReport<double> report;
  double worst = 0;
  for (auto _ : state) {
    velocity = guess;
    const auto start = std::chrono::steady_clock::now();
    report = solver.solve(problem, velocity);
    const auto end = std::chrono::steady_clock::now();
    worst = std::max(worst, std::chrono::duration<double, std::micro>(end - start).count());
  }
  if (!report.converged()) return state.SkipWithError("not converged");
  const Eigen::VectorXd impulse = solver.impulse();
  state.counters["iterations"] = report.iterations;
  state.counters["contacts"] = double(problem.block_count());
  state.counters["residual"] = certify(problem, velocity, impulse).residual;
  state.counters["worst_us"] = worst;
}

/// A file in the form of examples/data, from its own guess.
void solve_file(benchmark::State& state, const std::string& path) {
  const auto given = carom::files::read_text_problem(path);
  solve(state, given.problem, given.guess);
}

/// A brick that is pushed at so many cm/s.
void solve_brick(benchmark::State& state) {
  const auto brick = carom::benchmarks::make_brick(double(state.range(0)) / 100);
  solve(state, brick.problem, brick.velocity);
}

/// A heap of `bodies` spheres and boxes.
void solve_pile(benchmark::State& state) {
  const auto pile = carom::examples::make_pile({.body_count = state.range(0)});
  solve(state, pile.problem, pile.guess);
}

/// Registers every problem of a folder.
void register_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    benchmark::RegisterBenchmark(("solve_file/" + file.stem().string()).c_str(), solve_file,
                                 file.string());
  }
}

/// The problems of examples/data, and those of the folder that CAROM_PROBLEMS names, if it is set.
const bool registered = [] {
  register_folder(CAROM_DATA_DIR);
  if (const char* const folder = std::getenv("CAROM_PROBLEMS")) register_folder(folder);
  return true;
}();

}  // namespace

BENCHMARK(solve_brick)->Arg(0)->Arg(3)->Arg(30)->Unit(benchmark::kMicrosecond);
BENCHMARK(solve_pile)->Arg(100)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);
