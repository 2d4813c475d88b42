// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/coulomb_derivative.hpp"

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "io/text_problem.hpp"
#include "solvers/timing.hpp"

namespace {

using carom::benchmarks::middle;
using carom::benchmarks::seconds_of;

/// The gradient of ½‖v‖² by the data at the solution, factorisation counted. Counters: the time of
/// a solve from nothing to 1e-8, measured in turn, and the gradient's part of it, both in the
/// middle of all runs; the time of one more product each way once factored.
void gradient(benchmark::State& state, const carom::ContactProblem<double>& problem,
              carom::DifferentialParts parts) {
  carom::ContactSolver<double> solver({.tolerance = 1e-8});
  solver.prepare(problem);
  carom::CoulombDerivative<double> derivative;
  derivative.prepare(problem);
  carom::ProblemDifferential<double> result;
  result.set_zero(problem, parts);
  Eigen::VectorXd velocity = problem.free_velocity(), moved = velocity;
  bool good = true;
  std::vector<double> solves, linearizations, gradients, products, pushes;
  for (auto _ : state) {
    velocity = problem.free_velocity();
    solves.push_back(seconds_of([&] { good &= solver.solve(problem, velocity).converged(); }));
    const auto impulse = solver.impulse();
    linearizations.push_back(
        seconds_of([&] { good &= derivative.linearize(problem, velocity, impulse).usable(); }));
    gradients.push_back(linearizations.back() + seconds_of([&] {
                          good &= derivative.pull_back(problem, velocity, result).converged();
                        }));
    products.push_back(
        seconds_of([&] { good &= derivative.pull_back(problem, velocity, result).converged(); }));
    pushes.push_back(seconds_of(
        [&] { benchmark::DoNotOptimize(derivative.push_forward(problem, result, moved)); }));
    state.SetIterationTime(gradients.back());
  }
  if (!good) return state.SkipWithError("not converged");
  const double solve = middle(solves);
  state.counters["solve_us"] = 1e6 * solve;
  state.counters["linearize_us"] = 1e6 * middle(linearizations);
  state.counters["pull_us"] = 1e6 * middle(products);
  state.counters["push_us"] = 1e6 * middle(pushes);
  state.counters["ratio"] = middle(gradients) / solve;
  state.counters["contacts"] = double(problem.block_count());
}

/// A body of 36 velocities, as a humanoid has, that stands on points of rigid feet.
/// @param slip  speed with which it moves along the floor [m/s].
carom::ContactProblem<double> make_humanoid(int points, double slip) {
  constexpr int size = 36;
  unsigned state = 7;
  const auto draw = [&state] {
    state = state * 1664525u + 1013904223u;
    return double(state >> 8) / double(1u << 23) - 1;
  };
  Eigen::MatrixXd spread(size, size), mass(size, size);
  for (double& x : spread.reshaped()) x = draw();
  mass = 0.1 * spread.lazyProduct(spread.transpose());
  mass.diagonal().array() += 1;
  mass.diagonal().head<3>().array() += 60;
  Eigen::VectorXd free = Eigen::VectorXd::Zero(size);
  free.head<3>() << slip, 0, -0.0981;
  for (int k = 6; k < size; ++k) free(k) = 0.02 * draw();
  carom::ContactProblem<double> problem(0.01);
  problem.add_body(mass, free);
  for (int i = 0; i < points; ++i) {
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(3, size);
    jacobian.leftCols<3>().setIdentity();
    for (int r = 0; r < 3; ++r) {
      for (int k = 3; k < size; ++k) jacobian(r, k) = 0.4 * draw();
    }
    problem.add_contact(0, jacobian, carom::RigidContact<double>{.gap = 0, .friction = 0.8});
  }
  return problem;
}

const bool registered = [] {
  const auto add = [](const std::string& name, const carom::ContactProblem<double>& problem) {
    for (const auto parts : {carom::DifferentialParts::vectors, carom::DifferentialParts::all}) {
      const bool all = parts == carom::DifferentialParts::all;
      const std::string title = "coulomb_gradient/" + name + (all ? "/all" : "/vectors");
      benchmark::RegisterBenchmark(title.c_str(), gradient, problem, parts)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  };
  for (const std::string name : {"robot_30x16", "pile_n10_s60", "pile_n100_s60"}) {
    auto given = carom::files::read_text_problem(CAROM_DATA_DIR "/" + name + ".txt");
    add(name, given.problem);
    given.problem.make_rigid();
    add(name + "/rigid", given.problem);
  }
  for (const int points : {4, 16}) {
    const std::string name = "humanoid_36x" + std::to_string(points);
    add(name + "/stands", make_humanoid(points, 0));
    add(name + "/slides", make_humanoid(points, 1));
  }
  return true;
}();

}  // namespace
