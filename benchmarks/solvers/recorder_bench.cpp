// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/recorder.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/solvers/contact_solver.hpp"

#include "scenes/pile.hpp"
#include "solvers/timing.hpp"

namespace {

using carom::Index;
using carom::benchmarks::middle;
using carom::benchmarks::seconds_of;

/// The smallest heap with at least so many contacts.
carom::examples::Pile heap_of(Index contacts) {
  Index bodies = 1;
  auto pile = carom::examples::make_pile({.body_count = bodies});
  while (pile.problem.block_count() < contacts) {
    bodies += 1 + (contacts - pile.problem.block_count()) / 8;
    pile = carom::examples::make_pile({.body_count = bodies});
  }
  return pile;
}

/// Builds the problem of a step anew, as a simulator does, with other free velocities.
/// @param stir  relative change of the free velocities.
void assemble(const carom::ContactProblem<double>& from, double stir,
              carom::ContactProblem<double>& problem) {
  problem.reset(from.time_step());
  for (Index b = 0; b < from.body_count(); ++b) {
    const auto [start, size] = from.body(b);
    problem.add_body(from.momentum_matrix(b),
                     from.free_velocity().segment(start, size) * (1 + stir * double(b % 7 - 3)));
  }
  for (Index i = 0; i < from.block_count(); ++i) {
    const auto& law = from.friction_contact_law(i);
    if (from.side_count(i) == 1) {
      problem.add_contact(from.side_body(i, 0), from.jacobian(i, 0), law);
    } else {
      problem.add_contact(from.side_body(i, 0), from.jacobian(i, 0), from.side_body(i, 1),
                          from.jacobian(i, 1), law);
    }
  }
}

/// Steps of a heap under Coulomb's law: the problem is built, solved and recorded. Counters: the
/// median time of recording relative to that of the rest, both medians, and the bytes of a step.
/// @param warm  whether a solve begins with the impulses of the step before.
void record_step(benchmark::State& state, bool rigid, bool warm) {
  auto pile = heap_of(state.range(0));
  if (rigid) pile.problem.make_rigid();
  const auto path = std::filesystem::temp_directory_path() / "carom_recorder_bench.carom-record";
  carom::Recorder recorder(path.string());
  carom::ContactSolver<double> solver;
  carom::ContactProblem<double> problem(pile.problem.time_step());
  Eigen::VectorXd velocity;
  std::vector<double> steps, recordings;
  for (auto _ : state) {
    velocity = pile.guess;
    const double stir = 1e-3 * double(steps.size() % 5);
    const bool known = warm && !steps.empty();
    carom::SolveReport<double> report;
    const double built = seconds_of([&] { assemble(pile.problem, stir, problem); });
    const double begun = seconds_of([&] {
      if (known) return recorder.begin_from(solver, problem, solver.impulse());
      recorder.begin(solver, problem, velocity);
    });
    const double solved = seconds_of([&] {
      report = known ? solver.solve_from(problem, solver.impulse(), velocity)
                     : solver.solve(problem, velocity);
    });
    const double ended = seconds_of([&] { recorder.end(report, velocity, solver.impulse()); });
    steps.push_back(built + solved);
    recordings.push_back(begun + ended);
  }
  const auto count = double(recorder.step_count());
  recorder.close();
  const auto bytes = double(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  const double step = middle(steps), recording = middle(recordings);
  state.counters["share"] = recording / step;
  state.counters["step_us"] = 1e6 * step;
  state.counters["recording_us"] = 1e6 * recording;
  state.counters["contacts"] = double(pile.problem.block_count());
  state.counters["file_bytes_per_step"] = bytes / count;  // while the file is not full
}

BENCHMARK_CAPTURE(record_step, compliant, false, false)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK_CAPTURE(record_step, compliant_warm, false, true)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK_CAPTURE(record_step, rigid, true, false)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK_CAPTURE(record_step, rigid_warm, true, true)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);

}  // namespace
