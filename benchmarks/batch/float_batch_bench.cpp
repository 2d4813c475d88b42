// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <ctime>
#include <string>

#include <benchmark/benchmark.h>

#include "carom/batch/batch_storage.hpp"
#include "carom/batch/solve_batch.hpp"

#include "batch/tumbling_boxes.hpp"
#include "batch/varied_batch.hpp"
#include "io/text_problem.hpp"
#include "solvers/brick.hpp"

namespace {

using carom::Index;

constexpr double tolerance = 1e-4;

/// A problem of friction contacts in other numbers.
template <typename Scalar>
carom::ContactProblem<Scalar> convert(const carom::ContactProblem<double>& problem) {
  carom::ContactProblem<Scalar> copy{Scalar(problem.time_step())};
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [first, size] = problem.body(b);
    const carom::VectorX<double> free =
        carom::VectorX<double>::Map(problem.free_velocity().data() + first, size);
    copy.add_body(carom::MatrixX<Scalar>(problem.momentum_matrix(b).template cast<Scalar>()),
                  free.cast<Scalar>().eval());
  }
  for (Index k = 0; k < problem.block_count(); ++k) {
    const auto& given = problem.friction_contact_law(k);
    const carom::WeightedContact<Scalar> law{
        Scalar(given.friction),
        {Scalar(given.regularization.tangent), Scalar(given.regularization.normal)},
        given.bias_velocity.template cast<Scalar>()};
    const auto side = [&](int s) { return problem.jacobian(k, s).template cast<Scalar>().eval(); };
    if (problem.side_count(k) == 1) {
      copy.add_contact(problem.side_body(k, 0), side(0), law);
    } else {
      copy.add_contact(problem.side_body(k, 0), side(0), problem.side_body(k, 1), side(1), law);
    }
  }
  return copy;
}

/// Seconds of the processor for a batch, and the problems that have converged.
template <typename Scalar>
double time_of(carom::BatchStorage<Scalar>& batch, carom::BatchWorkspace<Scalar>& workspace,
               const carom::SapOptions<Scalar>& options, Index& converged) {
  const auto view = batch.view();
  const auto answers = batch.answers();
  const std::clock_t begin = std::clock();
  converged = solve_batch(view, answers, options, workspace).converged;
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Solves the same problems in float and in double to the same tolerance. The time is that of
/// float; counters: microseconds per problem of each, their ratio, and the problems that float has
/// not solved to the tolerance.
void compare(benchmark::State& state, const carom::BatchStorage<float>& floats,
             const carom::BatchStorage<double>& doubles) {
  auto low = floats;
  auto high = doubles;
  carom::BatchWorkspace<float> workspace_of_low;
  carom::BatchWorkspace<double> workspace_of_high;
  workspace_of_low.prepare(low.view(), 1);
  workspace_of_high.prepare(high.view(), 1);
  double in_float = 1e9, in_double = 1e9;
  Index converged = 0, by_double = 0;
  for (auto _ : state) {
    const double time =
        time_of<float>(low, workspace_of_low, {.tolerance = float(tolerance)}, converged);
    state.SetIterationTime(time);
    in_float = std::min(in_float, time);
    in_double = std::min(
        in_double, time_of<double>(high, workspace_of_high, {.tolerance = tolerance}, by_double));
    if (by_double != high.count()) return state.SkipWithError("not converged");
  }
  const double count = double(low.count());
  state.counters["us_float"] = in_float / count * 1e6;
  state.counters["us_double"] = in_double / count * 1e6;
  state.counters["ratio"] = in_float / in_double;
  state.counters["missed"] = double(low.count() - converged);
}

void compare_copies(benchmark::State& state, const carom::ContactProblem<double>& problem,
                    const carom::VectorX<double>& guess) {
  constexpr Index count = 2048;
  carom::batch::VariedBatch copies(problem, guess, count, 0.01);
  carom::BatchStorage<float> floats;
  carom::BatchStorage<double> doubles;
  for (Index i = 0; i < count; ++i) {
    const auto& copy = copies.problem(i);
    floats.add(convert<float>(copy), guess.cast<float>());
    doubles.add(copy, guess);
  }
  compare(state, floats, doubles);
}

void compare_file(benchmark::State& state, const std::string& path) {
  const auto given = carom::files::read_text_problem(path);
  compare_copies(state, given.problem, given.guess);
}

void compare_brick(benchmark::State& state) {
  const auto brick = carom::benchmarks::make_brick(0.5);
  compare_copies(state, brick.problem, brick.velocity);
}

void compare_boxes(benchmark::State& state) {
  const auto boxes = carom::benchmarks::make_tumbling_boxes();
  carom::BatchStorage<float> floats;
  carom::BatchStorage<double> doubles;
  for (Index i = 0; i < boxes.count(); ++i) {
    floats.add(boxes.problem<float>(i), boxes.velocity(i).cast<float>());
    doubles.add(boxes.problem<double>(i), boxes.velocity(i));
  }
  compare(state, floats, doubles);
}

const bool registered = [] {
  const auto set_up = [](benchmark::internal::Benchmark* entry) {
    entry->UseManualTime()->Unit(benchmark::kMillisecond);
  };
  for (const std::string name : {"pile_n1_s30", "robot_30x16", "pile_n10_s60", "wall_n10"}) {
    set_up(benchmark::RegisterBenchmark(("batch/float/" + name).c_str(), compare_file,
                                        CAROM_DATA_DIR "/" + name + ".txt"));
  }
  set_up(benchmark::RegisterBenchmark("batch/float/brick_4_contacts", compare_brick));
  set_up(benchmark::RegisterBenchmark("batch/float/tumbling_boxes", compare_boxes));
  return true;
}();

}  // namespace
