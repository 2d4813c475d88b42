// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/outcomes.hpp"

#include <benchmark/benchmark.h>

#include "support/impact_scenes.hpp"

namespace {

/// All 72 outcomes of a line of balls with all contacts closing.
/// Counters: outcomes, momenta visited (`states`), ξ.
void enumerate_line(benchmark::State& state) {
  const auto scene = carom::testing::ball_line({1, 2, 1, 2, 1});
  const Eigen::VectorXd momentum = scene.momentum(carom::testing::vector_of({5, 4, 3, 2, 1}));
  carom::ImpactOutcomes<double> found;
  for (auto _ : state) found = enumerate_outcomes(scene.problem, scene.mass, momentum);
  if (!found.complete || found.outcomes.size() != 72) {
    return state.SkipWithError("not the expected outcomes");
  }
  state.counters["outcomes"] = double(found.outcomes.size());
  state.counters["states"] = double(found.states);
  state.counters["indeterminacy"] = found.indeterminacy;
}

}  // namespace

BENCHMARK(enumerate_line)->Unit(benchmark::kMicrosecond);
