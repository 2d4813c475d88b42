// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/resolve.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <vector>

#include <benchmark/benchmark.h>

#include "support/impact_scenes.hpp"

namespace {

using carom::Index;
using carom::testing::ball_line, carom::testing::ImpactScene;

using MostInfeasible = carom::MostInfeasibleFirst<double>;
using Sweep = carom::SweepOrder<double>;

/// Resolves one impact over and over, memory grown; refuses a run with another number of
/// reflections than expected. Items are reflections.
/// Counters: reflections; energy_error, |p⁺|²/|p⁻|² − 1 recomputed from the answer; the worst of
/// all runs.
template <typename Order>
void time_resolve(benchmark::State& state, const ImpactScene& scene,
                  const Eigen::VectorXd& velocity, Index expected) {
  carom::ImpactResolver<double, Order> resolver;
  resolver.prepare(scene.problem);
  const Eigen::VectorXd before = scene.momentum(velocity);
  Eigen::VectorXd momentum = before;
  carom::ImpactReport<double> report;
  double worst = 0;
  for (auto _ : state) {
    momentum = before;
    const auto start = std::chrono::steady_clock::now();
    report = resolver.resolve(scene.problem, momentum);
    const auto end = std::chrono::steady_clock::now();
    worst = std::max(worst, std::chrono::duration<double, std::micro>(end - start).count());
  }
  if (report.status != carom::ImpactStatus::resolved || report.reflections != expected) {
    return state.SkipWithError("not the expected number of reflections");
  }
  state.SetItemsProcessed(state.iterations() * report.reflections);
  state.counters["reflections"] = double(report.reflections);
  state.counters["energy_error"] =
      std::abs(scene.inner(momentum, momentum) / scene.inner(before, before) - 1);
  state.counters["worst_us"] = worst;
}

/// Equal balls in line, velocities reversed: every pair of balls collides once.
template <typename Order>
void reversed_balls(benchmark::State& state) {
  const auto count = static_cast<Index>(state.range(0));
  const auto scene = ball_line(std::vector<double>(std::size_t(count), 1.0));
  time_resolve<Order>(state, scene, Eigen::VectorXd::LinSpaced(count, double(count), 1),
                      count * (count - 1) / 2);
}

/// Galperin's billiard: a ball of mass 1 between a wall and a ball of mass 100^k that comes in.
/// Reflections spell π.
void galperin(benchmark::State& state) {
  const auto digits = static_cast<int>(state.range(0));
  const auto expected = static_cast<Index>(std::numbers::pi * std::pow(10.0, digits));
  const auto scene = ball_line({1, std::pow(100.0, digits)}, true);
  time_resolve<MostInfeasible>(state, scene, carom::testing::vector_of({0, -1}), expected);
}

/// The smallest case worth a resolver: the cradle of three equal balls, both contacts closing.
void two_contacts(benchmark::State& state) {
  const auto scene = ball_line({1, 1, 1});
  carom::ImpactResolver<double> resolver;
  resolver.prepare(scene.problem);
  const Eigen::VectorXd before = scene.momentum(carom::testing::vector_of({3, 2, 1}));
  Eigen::VectorXd momentum = before;
  Index reflections = 0;
  for (auto _ : state) {
    momentum = before;
    reflections = resolver.resolve(scene.problem, momentum).reflections;
    benchmark::DoNotOptimize(momentum.data());
    benchmark::ClobberMemory();
  }
  if (reflections != 3) return state.SkipWithError("not the expected number of reflections");
}

}  // namespace

BENCHMARK_TEMPLATE(reversed_balls, Sweep)
    ->ArgName("balls")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(reversed_balls, MostInfeasible)
    ->ArgName("balls")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(galperin)->ArgName("k")->DenseRange(1, 5, 2)->Unit(benchmark::kMicrosecond);
BENCHMARK(two_contacts);
