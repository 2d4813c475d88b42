// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/sap.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include <benchmark/benchmark.h>

#include "carom/solvers/certificate.hpp"

#include "io/text_problem.hpp"

namespace {

/// Solves one problem of examples/data from its own first guess, to a relative residual of 1e-8.
/// Counters: iterations, contacts, the residual recomputed from the answer, the worst of all runs.
void solve_file(benchmark::State& state, const char* name) {
  const auto given =
      carom::examples::read_text_problem(std::string(CAROM_DATA_DIR "/") + name + ".txt");
  carom::SapSolver<double> solver(carom::SapOptions<double>{.tolerance = 1e-8});
  solver.prepare(given.problem);
  Eigen::VectorXd velocity = given.guess;
  carom::SolveReport<double> report;
  double worst = 0;
  for (auto _ : state) {
    velocity = given.guess;
    const auto start = std::chrono::steady_clock::now();
    report = solver.solve(given.problem, velocity);
    const auto end = std::chrono::steady_clock::now();
    worst = std::max(worst, std::chrono::duration<double, std::micro>(end - start).count());
  }
  if (!report.converged()) return state.SkipWithError("not converged");
  const Eigen::VectorXd impulse = solver.impulse();
  state.counters["iterations"] = report.iterations;
  state.counters["contacts"] = double(given.problem.contact_count());
  state.counters["residual"] = certify(given.problem, velocity, impulse).residual;
  state.counters["worst_us"] = worst;
}

}  // namespace

BENCHMARK_CAPTURE(solve_file, pile_n1_s30, "pile_n1_s30");
BENCHMARK_CAPTURE(solve_file, robot_30x16, "robot_30x16");
BENCHMARK_CAPTURE(solve_file, pile_n10_s60, "pile_n10_s60");
BENCHMARK_CAPTURE(solve_file, wall_n10, "wall_n10");
BENCHMARK_CAPTURE(solve_file, mujoco_sphere_10, "mujoco_sphere_10");
BENCHMARK_CAPTURE(solve_file, mujoco_box_10, "mujoco_box_10");
