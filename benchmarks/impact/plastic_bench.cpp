// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/plastic.hpp"

#include <vector>

#include <benchmark/benchmark.h>

#include "support/impact_scenes.hpp"

namespace {

using carom::PlasticLaw;

/// Nine equal balls in line, all eight contacts closing, resolved plastically: memory grown.
void plastic_line(benchmark::State& state, PlasticLaw law) {
  const auto scene = carom::testing::ball_line(std::vector<double>(9, 1.0));
  carom::PlasticImpact<double> plastic(law);
  plastic.prepare(scene.problem);
  const Eigen::VectorXd before = scene.momentum(Eigen::VectorXd::LinSpaced(9, 9, 1));
  Eigen::VectorXd momentum = before;
  for (auto _ : state) {
    momentum = before;
    benchmark::DoNotOptimize(plastic.resolve(scene.problem, momentum));
  }
  if (!((momentum.array() - 5).abs().maxCoeff() < 1e-12)) {
    return state.SkipWithError("the balls do not move together");
  }
}

}  // namespace

BENCHMARK_CAPTURE(plastic_line, moreau, PlasticLaw::moreau);
BENCHMARK_CAPTURE(plastic_line, bilateral, PlasticLaw::bilateral);
