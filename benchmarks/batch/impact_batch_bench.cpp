// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/impact_batch.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/impact/resolve.hpp"

#include "batch/impact_lines.hpp"

namespace {

using carom::Index;
using carom::benchmarks::make_cradles, carom::benchmarks::make_galperin;
using Clock = std::chrono::steady_clock;

constexpr Index count = carom::benchmarks::impact_line_count;
constexpr Index count_alone = 50'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

using Lines = carom::benchmarks::ImpactLines<double>;

/// One at a time, each with a problem of its own, in memory that is kept.
/// @return  seconds per impact.
double resolve_alone(const Lines& lines, double& prepared) {
  const Index n = lines.pattern.coordinate_count(), m = lines.pattern.contact_count();
  carom::ImpactResolver<double> resolver;
  carom::ImpactProblem<double> problem(n);
  Eigen::VectorXd normal(n), momentum(n);
  double resolving = 0;
  const auto begin = Clock::now();
  for (Index i = 0; i < count_alone; ++i) {
    const auto mass = carom::MassMatrix<double>::make_diagonal(
        Eigen::Map<const Eigen::VectorXd>(lines.mass.data() + i * n, n));
    problem.reset(n);
    for (Index k = 0; k < m; ++k) {
      normal = Eigen::Map<const Eigen::VectorXd>(lines.normals.data() + k * n, n);
      problem.add_contact(mass, normal);
    }
    problem.prepare();
    resolver.prepare(problem);
    for (Index k = 0; k < n; ++k) {
      momentum(k) = lines.mass[std::size_t(i * n + k)] * lines.velocity[std::size_t(i * n + k)];
    }
    const auto ready = Clock::now();
    benchmark::DoNotOptimize(resolver.resolve(problem, momentum).reflections);
    resolving += seconds_since(ready);
    mass.apply_inverse(momentum);
    benchmark::DoNotOptimize(momentum.data());
  }
  prepared = resolving / double(count_alone);
  return seconds_since(begin) / double(count_alone);
}

/// A million impacts side by side, and some one at a time in the same loop. Counters: nanoseconds
/// per impact, reflections of all, the ratio to ImpactResolver with its preparation and to its
/// resolve() alone, and the same on two threads.
void resolve(benchmark::State& state, Lines lines) {
  const auto view = lines.view();
  carom::ImpactBatchAnswers<double> answers;
  answers.velocity = {lines.answers.data(), lines.pattern.coordinate_count()};
  answers.reports = lines.reports.data();
  carom::ImpactBatchWorkspace<double> workspace, for_two;
  workspace.prepare(view, 1);
  for_two.prepare(view, 2);
  double together = 1e9, alone = 1e9, prepared = 1e9, by_two = 1e9;
  Index reflections = 0;
  for (auto _ : state) {
    auto begin = Clock::now();
    const auto report =
        resolve_batch(view, answers, carom::ImpactBatchOptions<double>{}, workspace);
    const double time = seconds_since(begin);
    state.SetIterationTime(time);
    if (report.resolved != count) return state.SkipWithError("not resolved");
    reflections = report.reflections;
    together = std::min(together, time / double(count));
    double resolving = 0;
    alone = std::min(alone, resolve_alone(lines, resolving));
    prepared = std::min(prepared, resolving);
    begin = Clock::now();
    resolve_batch(view, answers, carom::ImpactBatchOptions<double>{}, for_two,
                  [](Index workers, const auto& task) {
                    std::thread other([&] { task(workers - 1); });
                    task(0);
                    other.join();
                  });
    by_two = std::min(by_two, seconds_since(begin) / double(count));
  }
  state.counters["ns"] = together * 1e9;
  state.counters["ns_alone"] = alone * 1e9;
  state.counters["ratio"] = together / alone;
  state.counters["ratio_prepared"] = together / prepared;
  state.counters["reflections"] = double(reflections) / double(count);
  state.counters["two_threads"] = together / by_two;
  state.counters["lanes"] = carom::impact_lane_count<double>;
}

void galperin_100(benchmark::State& state) {
  resolve(state, make_galperin<double>(0));
}
void galperin_to_million(benchmark::State& state) {
  resolve(state, make_galperin<double>(1e6));
}
void cradle(benchmark::State& state) {
  resolve(state, make_cradles<double>(int(state.range(0))));
}

BENCHMARK(galperin_100)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Name("impacts/galperin_100");
BENCHMARK(galperin_to_million)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Name("impacts/galperin_1_to_1e6");
BENCHMARK(cradle)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Name("impacts/cradle")
    ->Arg(3)
    ->Arg(5);

}  // namespace
