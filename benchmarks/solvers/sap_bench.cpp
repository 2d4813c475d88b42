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
  const auto given = carom::examples::read_text_problem(path);
  solve(state, given.problem, given.guess);
}

/// A brick of 2 kg, 0.2 × 0.1 × 0.06 m, on its four lower corners, pushed at so many cm/s: it rests
/// at 0, comes to rest at 3 and slides at 30.
void solve_brick(benchmark::State& state) {
  const double mass = 2, x = 0.1, y = 0.05, z = 0.03, push = double(state.range(0)) / 100;
  Eigen::VectorXd inertia(6), velocity(6);
  inertia << mass / 3 * Eigen::Vector3d(y * y + z * z, x * x + z * z, x * x + y * y),
      Eigen::Vector3d::Constant(mass);
  velocity << 0, 0, 0, push, 0.3 * push, 0;
  Eigen::VectorXd free_velocity = velocity;
  free_velocity(5) = -0.0981;
  carom::ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::MatrixXd(inertia.asDiagonal()), free_velocity);
  for (const double a : {-x, x}) {
    for (const double b : {-y, y}) {
      Eigen::Matrix<double, 3, 6> jacobian;  // of a point: ω × r + v
      jacobian << 0, -z, -b, 1, 0, 0, z, 0, a, 0, 1, 0, b, -a, 0, 0, 0, 1;
      problem.add_contact(
          0, jacobian,
          carom::CompliantContact<double>{
              .gap = -1e-4, .stiffness = 1e5, .dissipation_time = 0.02, .friction = 0.5});
    }
  }
  solve(state, problem, velocity);
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
