// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/uniqueness.hpp"

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/impact/reflection_count.hpp"

#include "support/impact_scenes.hpp"

namespace {

using carom::testing::ImpactScene;

/// Classifies the contacts of a scene; refuses a run with another answer than expected.
void time_classify(benchmark::State& state, const ImpactScene& scene, const std::string& expected) {
  carom::Uniqueness uniqueness;
  for (auto _ : state) {
    uniqueness = classify(scene.problem);
    benchmark::DoNotOptimize(uniqueness);
  }
  if (to_string(uniqueness) != expected) return state.SkipWithError("another type than expected");
  state.counters["contacts"] = double(scene.problem.contact_count());
}

/// Nine equal balls in line: a path.
void classify_chain(benchmark::State& state) {
  time_classify(state, carom::testing::ball_line(std::vector<double>(9, 1.0)), "Coxeter A8");
}

/// Three equal balls three times over, far apart, and two contacts more on their own.
void classify_islands(benchmark::State& state) {
  const auto gram = carom::testing::coxeter_gram(8, {{0, 1}, {2, 3}, {4, 5}});
  time_classify(state, carom::testing::gram_scene(gram), "Coxeter A2 x A2 x A2 x A1 x A1");
}

/// E8: a tree with three arms.
void classify_tree(benchmark::State& state) {
  const auto gram =
      carom::testing::coxeter_gram(8, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {2, 7}});
  time_classify(state, carom::testing::gram_scene(gram), "Coxeter E8");
}

/// Counts the reflections of E8 when all contacts close: 120 positive roots are generated.
void predict_tree(benchmark::State& state) {
  const auto gram =
      carom::testing::coxeter_gram(8, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {2, 7}});
  const auto scene = carom::testing::gram_scene(gram);
  const Eigen::VectorXd momentum =
      carom::testing::momentum_with(scene, Eigen::VectorXd::Constant(8, -1));
  carom::Index count = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(count = predicted_reflections(scene.problem, momentum));
  if (count != 120) return state.SkipWithError("not the number of positive roots");
}

}  // namespace

BENCHMARK(classify_chain);
BENCHMARK(classify_islands);
BENCHMARK(classify_tree);
BENCHMARK(predict_tree);
