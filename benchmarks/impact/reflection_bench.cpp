// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/reflection.hpp"

#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include "support/impact_scenes.hpp"

namespace {

using carom::Index;

constexpr Index ball_count = 1000;

/// Equal balls in line: each contact has two neighbours.
carom::testing::ImpactScene chain() {
  return carom::testing::ball_line(std::vector<double>(ball_count, 1.0));
}

/// One reflection in contact space after another, from end to end of the line; each needs the rates
/// that the one before left. Items are reflections.
void reflect_in_contact_space(benchmark::State& state) {
  const auto scene = chain();
  Eigen::VectorXd rates = Eigen::VectorXd::LinSpaced(scene.problem.contact_count(), -1, 0.5);
  const std::span<double> all(rates.data(), std::size_t(rates.size()));
  for (auto _ : state) {
    for (Index i = 0; i < rates.size(); ++i) {
      benchmark::DoNotOptimize(reflect_rates(scene.problem, i, all));
    }
  }
  if (!rates.allFinite()) return state.SkipWithError("rates ran away");
  state.SetItemsProcessed(state.iterations() * rates.size());
}

/// The same on the momentum, without Gram matrix.
void reflect_momentum(benchmark::State& state) {
  const auto scene = chain();
  Eigen::VectorXd momentum = Eigen::VectorXd::LinSpaced(ball_count, -1, 0.5);
  for (auto _ : state) {
    for (Index i = 0; i < scene.problem.contact_count(); ++i) {
      benchmark::DoNotOptimize(reflect(scene.problem, i, momentum));
    }
  }
  if (!momentum.allFinite()) return state.SkipWithError("momentum ran away");
  state.SetItemsProcessed(state.iterations() * scene.problem.contact_count());
}

}  // namespace

BENCHMARK(reflect_in_contact_space);
BENCHMARK(reflect_momentum);
