// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/solve_batch.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/batch/batch_gradients.hpp"
#include "carom/solvers/sap.hpp"

#include "batch/varied_batch.hpp"
#include "io/text_problem.hpp"
#include "solvers/brick.hpp"

namespace {

using carom::Index;
using Clock = std::chrono::steady_clock;

constexpr Index count = 2048;
constexpr double spread = 0.01, tolerance = 1e-8;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Solves copies side by side, and one at a time by SapSolver in the same loop. The time is that of
/// the batch; counters: the ratio of the two, microseconds per problem, and the same on two
/// threads.
void solve(benchmark::State& state, const carom::ContactProblem<double>& problem,
           const Eigen::VectorXd& guess, carom::FrictionLaw law) {
  carom::batch::VariedBatch batch(problem, guess, count, spread);
  const auto view = batch.view();
  const auto answers = batch.answers();
  const carom::SapOptions<double> options{.law = law, .tolerance = tolerance};
  carom::BatchWorkspace<double> workspace, for_two;
  workspace.prepare(view, 1);
  for_two.prepare(view, 2);
  std::vector<carom::ContactProblem<double>> problems;
  for (Index i = 0; i < 256; ++i) problems.push_back(batch.problem(i));
  carom::SapSolver<double> solver(options);
  solver.prepare(problem);
  Eigen::VectorXd velocity;
  double together = 1e9, alone = 1e9, by_two = 1e9;
  for (auto _ : state) {
    auto begin = Clock::now();
    const auto report = solve_batch(view, answers, options, workspace);
    const double time = seconds_since(begin);
    state.SetIterationTime(time);
    if (report.converged != count) return state.SkipWithError("not converged");
    together = std::min(together, time / double(count));
    begin = Clock::now();
    for (const auto& one : problems) {
      velocity = guess;
      if (!solver.solve(one, velocity).converged()) return state.SkipWithError("not converged");
    }
    alone = std::min(alone, seconds_since(begin) / double(problems.size()));
    begin = Clock::now();
    benchmark::DoNotOptimize(
        solve_batch(view, answers, options, for_two, [](Index workers, const auto& task) {
          std::thread other([&] { task(workers - 1); });
          task(0);
          other.join();
        }));
    by_two = std::min(by_two, seconds_since(begin) / double(count));
  }
  state.counters["us"] = together * 1e6;
  state.counters["us_alone"] = alone * 1e6;
  state.counters["ratio"] = together / alone;
  state.counters["two_threads"] = together / by_two;
  state.counters["lanes"] = carom::batch_lane_count<double>;
}

/// Solves copies side by side with their gradients by all data; counters: the time of the gradients
/// relative to that of the solves alone, and microseconds per gradient.
void differentiate(benchmark::State& state, const std::string& path, carom::FrictionLaw law) {
  const auto given = carom::files::read_text_problem(path);
  carom::batch::VariedBatch batch(given.problem, given.guess, count, spread);
  const auto view = batch.view();
  const auto answers = batch.answers();
  const carom::SapOptions<double> options{.law = law, .tolerance = tolerance};
  carom::BatchWorkspace<double> workspace;
  workspace.prepare(view, 1);
  const carom::BatchPattern& pattern = view.pattern(0);
  const std::vector<double> slopes(std::size_t(pattern.velocity_count()), 1.0);
  std::vector<double> numbers[6];
  std::vector<carom::SolveStatus> statuses;
  const auto room = [&](std::vector<double>& list, Index size) {
    list.resize(std::size_t(size * count));
    return carom::BatchArray<double>{list.data(), size};
  };
  carom::BatchGradients<double> gradients;
  statuses.resize(std::size_t(count));
  gradients.by_velocity = {slopes.data()};
  gradients.mass = room(numbers[0], pattern.mass_count());
  gradients.free_velocity = room(numbers[1], pattern.velocity_count());
  gradients.jacobian = room(numbers[2], pattern.jacobian_count());
  gradients.friction = room(numbers[3], pattern.contact_count());
  gradients.regularization = room(numbers[4], 2 * pattern.contact_count());
  gradients.bias = room(numbers[5], pattern.row_count());
  gradients.statuses = statuses.data();
  double alone = 1e9, with_gradients = 1e9;
  for (auto _ : state) {
    auto begin = Clock::now();
    if (solve_batch(view, answers, options, workspace).converged != count) {
      return state.SkipWithError("not converged");
    }
    alone = std::min(alone, seconds_since(begin) / double(count));
    begin = Clock::now();
    benchmark::DoNotOptimize(solve_batch(view, answers, gradients, options, workspace));
    const double time = seconds_since(begin);
    state.SetIterationTime(time);
    with_gradients = std::min(with_gradients, time / double(count));
  }
  state.counters["us_gradient"] = (with_gradients - alone) * 1e6;
  state.counters["us_solve"] = alone * 1e6;
  state.counters["share"] = with_gradients / alone - 1;
}

void solve_file(benchmark::State& state, const std::string& path, carom::FrictionLaw law) {
  const auto given = carom::files::read_text_problem(path);
  solve(state, given.problem, given.guess, law);
}

void solve_brick(benchmark::State& state, carom::FrictionLaw law) {
  const auto brick = carom::benchmarks::make_brick(0.5);
  solve(state, brick.problem, brick.velocity, law);
}

const bool registered = [] {
  for (const carom::FrictionLaw law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
    const std::string word = to_string(law);
    for (const std::string name : {"pile_n1_s30", "robot_30x16", "pile_n10_s60", "wall_n10"}) {
      benchmark::RegisterBenchmark(("batch/" + name + "/" + word).c_str(), solve_file,
                                   CAROM_DATA_DIR "/" + name + ".txt", law)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("batch/gradient/" + name + "/" + word).c_str(), differentiate,
                                   CAROM_DATA_DIR "/" + name + ".txt", law)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
    benchmark::RegisterBenchmark(("batch/brick_4_contacts/" + word).c_str(), solve_brick, law)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
