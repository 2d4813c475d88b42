// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <benchmark/benchmark.h>

#include "carom/variational/impact_stepper.hpp"

#include "scenes/billiards.hpp"
#include "scenes/trex_drop.hpp"

namespace {

using namespace carom::examples;
using carom::ImpactStepper, carom::MechanicalState, carom::VectorX;

[[nodiscard]] TrexStance optimum() {
  TrexStance stance = trex_initial();
  static_cast<void>(optimize_trex(stance));
  return stance;
}

/// Steps of 1 ms from a start time after the drop; counter: impacts per step.
void trex_steps(benchmark::State& state, double begin, double end) {
  const TrexStance stance = optimum();
  TrexDrop start(stance, TrexOrder::foot_first);
  while (start.state().time < begin) static_cast<void>(start.step());
  TrexDrop robot = start;
  long steps = 0, impacts = 0;
  for (auto _ : state) {
    if (robot.state().time >= end) {
      state.PauseTiming();
      robot = start;
      state.ResumeTiming();
    }
    const auto report = robot.step();
    if (!report.converged()) return state.SkipWithError("a step did not converge");
    impacts += report.impacts;
    ++steps;
  }
  state.counters["impacts"] = double(impacts) / double(std::max(steps, 1L));
}

/// In the air.
void trex_flight(benchmark::State& state) {
  trex_steps(state, 0, 0.18);
}
BENCHMARK(trex_flight);

/// On the ground, with the bounces of the light foot.
void trex_stance(benchmark::State& state) {
  trex_steps(state, 0.19, 0.25);
}
BENCHMARK(trex_stance);

/// Sixteen balls until the last one is slower than 1 mm/s.
void break_shot(benchmark::State& state) {
  const BilliardsStart start = make_break_shot();
  long steps = 0, impacts = 0;
  for (auto _ : state) {
    ImpactStepper<Billiards> stepper(start.balls);
    MechanicalState<double> at{0, start.q, start.momentum()};
    steps = impacts = 0;
    while (at.momentum.cwiseAbs().maxCoeff() > 1e-3 * start.balls.masses[0]) {
      const auto report = stepper.step(at, 0.01);
      if (!report.converged() || ++steps > 100'000) return state.SkipWithError("no rest");
      impacts += report.impacts;
    }
  }
  state.counters["steps"] = double(steps);
  state.counters["impacts"] = double(impacts);
}
BENCHMARK(break_shot)->Unit(benchmark::kMillisecond);

}  // namespace
