// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/contact_problem.hpp"

#include <Eigen/Core>
#include <benchmark/benchmark.h>

namespace {

using Jacobian = Eigen::Matrix<double, 3, 6>;
using Momentum = Eigen::Matrix<double, 6, 6>;

/// Rebuilds a chain of free bodies, each touching the next and the ground: what a simulator does
/// once per step.
void build_problem(benchmark::State& state) {
  const auto bodies = static_cast<carom::Index>(state.range(0));
  const Momentum momentum = Momentum::Identity() * 2;
  const Eigen::Matrix<double, 6, 1> free_velocity = Eigen::Matrix<double, 6, 1>::Constant(-0.1);
  Jacobian jacobian = Jacobian::Random();
  const carom::CompliantContact<double> law{.gap = -1e-4, .stiffness = 1e5, .friction = 0.5};
  carom::ContactProblem<double> problem(0.01);
  for (auto _ : state) {
    problem.reset(0.01);
    for (carom::Index b = 0; b < bodies; ++b) problem.add_body(momentum, free_velocity);
    for (carom::Index b = 0; b < bodies; ++b) problem.add_contact(b, jacobian, law);
    for (carom::Index b = 1; b < bodies; ++b) {
      problem.add_contact(b - 1, jacobian, b, jacobian, law);
    }
    benchmark::DoNotOptimize(problem.block_count());
  }
  state.SetItemsProcessed(state.iterations() * problem.block_count());
}

}  // namespace

BENCHMARK(build_problem)->ArgName("bodies")->Arg(1)->Arg(10)->Arg(100)->Arg(1000);
