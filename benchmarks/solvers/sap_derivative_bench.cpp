// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/sap_derivative.hpp"

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "io/text_problem.hpp"
#include "solvers/timing.hpp"

namespace {

using carom::benchmarks::middle;
using carom::benchmarks::seconds_of;

/// The gradient of ½‖v‖² by the data at the solution, factorisation counted. Counters: the time of
/// a solve from the file's guess to 1e-8, measured in turn, and the gradient's part of it, both in
/// the middle of all runs; the part of one more product once factored.
void gradient(benchmark::State& state, const std::string& name, carom::DifferentialParts parts) {
  const auto given = carom::files::read_text_problem(CAROM_DATA_DIR "/" + name + ".txt");
  carom::SapSolver<double> solver(carom::SapOptions<double>{.tolerance = 1e-8});
  solver.prepare(given.problem);
  carom::SapDerivative<double> derivative;
  derivative.prepare(solver);
  carom::ProblemDifferential<double> result;
  result.set_zero(given.problem, parts);
  Eigen::VectorXd velocity = given.guess;
  bool good = true;
  std::vector<double> solves, gradients, products;
  for (auto _ : state) {
    velocity = given.guess;
    solves.push_back(
        seconds_of([&] { good &= solver.solve(given.problem, velocity).converged(); }));
    gradients.push_back(seconds_of([&] {
      good &= derivative.linearize(given.problem, velocity).usable();
      good &= derivative.pull_back(given.problem, velocity, result).converged();
    }));
    products.push_back(seconds_of(
        [&] { good &= derivative.pull_back(given.problem, velocity, result).converged(); }));
    state.SetIterationTime(gradients.back());
  }
  if (!good) return state.SkipWithError("not converged");
  const double solve = middle(solves);
  state.counters["solve_us"] = 1e6 * solve;
  state.counters["ratio"] = middle(gradients) / solve;
  state.counters["product_ratio"] = middle(products) / solve;
  state.counters["contacts"] = double(given.problem.block_count());
}

const bool registered = [] {
  for (const std::string name :
       {"pile_n10_s60", "pile_n100_s60", "rigid_n100_s60", "robot_30x16"}) {
    for (const auto parts : {carom::DifferentialParts::vectors, carom::DifferentialParts::all}) {
      const bool all = parts == carom::DifferentialParts::all;
      const std::string title = "gradient/" + name + (all ? "/all" : "/vectors");
      benchmark::RegisterBenchmark(title.c_str(), gradient, name, parts)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}();

}  // namespace
