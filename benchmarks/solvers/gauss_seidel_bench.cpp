// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/gauss_seidel.hpp"

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include "carom/contact/delassus_form.hpp"

#include "support/stacks.hpp"

namespace {

using Problem = carom::DelassusProblem<double>;

/// A stack of boxes, each on four corners, rigid.
Problem make_stack(int boxes) {
  auto bodies =
      carom::testing::build<double>(carom::testing::make_stack({.count = boxes, .push = 0.1}));
  bodies.make_rigid();
  Problem problem;
  carom::DelassusForm<double>().write(bodies, problem);
  return problem;
}

/// One sweep; items are the blocks of W.
void sweep(benchmark::State& state) {
  const Problem problem = make_stack(int(state.range(0)));
  carom::GaussSeidel<double> solver({.law = static_cast<carom::FrictionLaw>(state.range(1))});
  solver.prepare(problem);
  Eigen::VectorXd impulse = Eigen::VectorXd::Zero(3 * problem.part_count());
  solver.sweep(problem, carom::as_span(impulse), 10);
  for (auto _ : state) {
    const double change = solver.sweep(problem, carom::as_span(impulse), 1);
    benchmark::DoNotOptimize(change);
  }
  state.SetItemsProcessed(state.iterations() * problem.coupling_count());
}

/// Preparation, sweeps to 1e-4 and measurements.
void solve(benchmark::State& state) {
  const Problem problem = make_stack(int(state.range(0)));
  carom::GaussSeidel<double> solver({.law = carom::FrictionLaw::coulomb, .tolerance = 1e-4});
  int sweeps = 0;
  for (auto _ : state) {
    Eigen::VectorXd impulse = Eigen::VectorXd::Zero(problem.row_count());
    sweeps = solver.solve(problem, impulse).iterations;
    benchmark::DoNotOptimize(impulse.data());
  }
  state.counters["sweeps"] = sweeps;
}

}  // namespace

BENCHMARK(sweep)->ArgNames({"boxes", "law"})->ArgsProduct({{5, 50, 500}, {0, 1}});
BENCHMARK(solve)->ArgName("boxes")->Arg(1)->Arg(5)->Arg(50);
