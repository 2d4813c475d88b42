// SPDX-License-Identifier: BSD-3-Clause
#include "batch/tumbling_boxes.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/solvers/sap.hpp"

namespace {

using carom::Index;
using Vector = carom::VectorX<double>;

/// Of the processor, which other programs do not lengthen.
double seconds_since(std::clock_t begin) {
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Numbers that problems and answers of a pattern are made of.
Index data_count(const carom::BatchPattern& pattern) {
  const int velocities = pattern.velocity_count(), rows = pattern.row_count();
  return pattern.mass_count() + pattern.jacobian_count() + 3 * pattern.contact_count() +
         3 * velocities + 2 * rows;
}

/// Numbers that a solver of one problem keeps at the same time: A, its factor and the matrix of the
/// Newton step, each one half; J; of velocities v*, the iterate and the best one, the momentum, the
/// gradient, the direction; of each row v̂, velocity and impulse with their steps; μ, R, what
/// follows from them, ẑ; L⁻¹Jᵀ for the sweeps.
Index solver_count(const carom::BatchPattern& pattern) {
  const int n = pattern.velocity_count();
  return 3 * (n * (n + 1) / 2) + 2 * pattern.jacobian_count() + 6 * n + 5 * pattern.row_count() +
         9 * pattern.contact_count();
}

/// One step of all boxes side by side, and one at a time by SapSolver in the same loop, from the
/// velocities before the step or from rest. The time is that of the batch; counters: the ratio of
/// the two, contacts and iterations per box; bytes of a worker relative to those of the numbers
/// that the largest problem needs in every lane, and of the workspace to those of the batch.
void step_boxes(benchmark::State& state, carom::FrictionLaw law, bool warm) {
  const auto boxes = carom::benchmarks::make_tumbling_boxes();
  const auto guess = [&](Index i) {
    return warm ? boxes.velocity(i) : Eigen::Matrix<double, 6, 1>::Zero().eval();
  };
  const carom::SapOptions<double> options{.law = law, .tolerance = 1e-8};
  carom::BatchStorage<double> batch;
  std::vector<carom::ContactProblem<double>> problems;
  Index contacts = 0, largest = 0, data = 0, needed = 0;
  for (Index i = 0; i < boxes.count(); ++i) {
    problems.push_back(boxes.problem<double>(i));
    batch.add(problems.back(), guess(i));
    const Index count = problems.back().block_count();
    contacts += count;
    largest = count > problems[std::size_t(largest)].block_count() ? i : largest;
  }
  for (Index i = 0; i < boxes.count(); ++i) {
    data += data_count(batch.pattern(i));
    needed = std::max(needed, solver_count(batch.pattern(i)));
  }
  const auto view = batch.view();
  const auto answers = batch.answers();
  carom::BatchWorkspace<double> workspace;
  workspace.prepare(view, 1);
  carom::SapSolver<double> solver(options);
  solver.prepare(problems[std::size_t(largest)]);
  Vector velocity(6);
  double together = 1e9, alone = 1e9;
  for (auto _ : state) {
    auto begin = std::clock();
    const auto report = solve_batch(view, answers, options, workspace);
    const double time = seconds_since(begin);
    state.SetIterationTime(time);
    if (report.converged != boxes.count()) return state.SkipWithError("not converged");
    together = std::min(together, time);
    begin = std::clock();
    for (Index i = 0; i < boxes.count(); ++i) {
      velocity = guess(i);
      if (!solver.solve(problems[std::size_t(i)], velocity).converged()) {
        return state.SkipWithError("one alone has not converged");
      }
    }
    alone = std::min(alone, seconds_since(begin));
  }
  double iterations = 0;
  for (Index i = 0; i < boxes.count(); ++i) iterations += batch.report(i).iterations;
  const double count = double(boxes.count()), bytes = double(workspace.bytes(view, 1));
  const double worker = double(workspace.bytes(view, 2)) - bytes;
  state.counters["ms"] = together * 1e3;
  state.counters["ms_alone"] = alone * 1e3;
  state.counters["ratio"] = together / alone;
  state.counters["contacts"] = double(contacts) / count;
  state.counters["iterations"] = iterations / count;
  state.counters["workspace_kB"] = bytes / 1e3;
  state.counters["worker_kB"] = worker / 1e3;
  state.counters["of_needed"] =
      worker / (sizeof(double) * double(needed * carom::batch_lane_count<double>));
  state.counters["of_batch"] = bytes / (sizeof(double) * double(data));
}

const bool registered = [] {
  for (const carom::FrictionLaw law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
    for (const bool warm : {true, false}) {
      const std::string name =
          std::string("batch/tumbling_boxes/") + to_string(law) + "/" + (warm ? "warm" : "cold");
      benchmark::RegisterBenchmark(name.c_str(), step_boxes, law, warm)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
