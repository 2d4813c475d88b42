// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/contact_step.hpp"

#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include "support/random.hpp"
#include "support/viscoelastic_cases.hpp"

namespace {

using carom::Index, carom::MatrixX, carom::VectorX;

/// Contacts around the foot of a sliding, turning rigid body, or of a mechanism with as many
/// velocities as contact rows and more.
struct Scene {
  MatrixX<double> whitened;
  VectorX<double> stiffness, damping, friction, y, rate, acceleration, average, average2;
  carom::AverageForces<double> forces;

  Scene(Index n, bool one_body)
      : whitened(one_body ? 6 : 3 * n + 6, 3 * n),
        stiffness(VectorX<double>::Constant(3 * n, 1e5)),
        damping(0.003 * stiffness),
        friction(VectorX<double>::Constant(n, 0.5)),
        y(3 * n),
        rate(3 * n),
        acceleration(3 * n),
        average(3 * n),
        average2(3 * n) {
    whitened.setZero();
    for (Index i = 0; i < n; ++i) {
      const double angle = 6.283185307179586 * double(i) / double(n);
      const carom::Vector3<double> arm(0.2 * std::cos(angle), 0.15 * std::sin(angle), -0.1);
      const carom::Vector3<double> twist(0.4, 0.45, 0.5);  // 1/√inertia
      for (Index k = 0; k < 3; ++k) {
        whitened(k, 3 * i + k) = 0.3;
        whitened(3 + (k + 1) % 3, 3 * i + k) = twist((k + 1) % 3) * arm((k + 2) % 3);
        whitened(3 + (k + 2) % 3, 3 * i + k) = -twist((k + 2) % 3) * arm((k + 1) % 3);
        if (!one_body) whitened(6 + 3 * i + k, 3 * i + k) = 0.5;  // each foot has its own mass
      }
      y.segment<3>(3 * i) << 2e-5, 1e-5, -98.1 / double(n) / 1e5;
      rate.segment<3>(3 * i) << 1 - 2 * arm(1), 0.3 + 2 * arm(0), 0;
      acceleration.segment<3>(3 * i) << 0, 0, -9.81;
    }
    forces.prepare(n, whitened.rows());
  }

  void average_forces() {
    bool done = forces.set(whitened, stiffness, damping, 0.005);
    done = done && forces.evaluate(y, rate, acceleration, average, average2);
    benchmark::DoNotOptimize(done);
  }
};

void average_forces(benchmark::State& state) {
  Scene scene(state.range(0), state.range(1) != 0);
  for (auto _ : state) scene.average_forces();
}

/// Forces, G and the coupled Coulomb problem; all contacts slide.
void forces_and_slip(benchmark::State& state) {
  const Index n = state.range(0);
  Scene scene(n, state.range(1) != 0);
  MatrixX<double> gain(3 * n, 3 * n);
  carom::CoulombSlip<double> slip;
  slip.prepare(n);
  carom::SolveReport<double> report;
  for (auto _ : state) {
    scene.average_forces();
    const bool done = scene.forces.write_gain(gain);
    benchmark::DoNotOptimize(done);
    report = slip.solve(gain, scene.average, scene.friction);
  }
  Index sliding = 0;
  for (Index i = 0; i < n; ++i) sliding += slip.region(i) == carom::ConeRegion::slide ? 1 : 0;
  state.counters["sliding"] = double(sliding);
  state.counters["sweeps"] = report.iterations;
  state.counters["converged"] = report.converged() ? 1 : 0;
}

/// Stiff cases of all kinds, each once a round; most end by sweeps and Newton's method.
void stiff_slip(benchmark::State& state) {
  carom::testing::VectorSource<double> source(77u);
  std::vector<carom::testing::SlipCase<double>> cases;
  for (Index k = 0; k < 200; ++k) cases.emplace_back(source, 1 + k % 10);
  carom::CoulombSlip<double> slip;
  int failed = 0, hard = 0;
  for (auto _ : state) {
    failed = hard = 0;
    for (const auto& c : cases) {
      slip.prepare(c.friction.size());
      const auto report = slip.solve(c.gain, c.average, c.friction);
      failed += report.converged() ? 0 : 1;
      hard += report.iterations > carom::CoulombSlip<double>::sweep_limit ? 1 : 0;
    }
  }
  state.SetItemsProcessed(state.iterations() * Index(cases.size()));
  state.counters["failed"] = failed;
  state.counters["fallback"] = hard;
}

void all_stick(benchmark::State& state) {
  const Index n = state.range(0);
  const VectorX<double> friction = VectorX<double>::Constant(n, 0.5);
  VectorX<double> force = VectorX<double>::Ones(3 * n);
  for (Index i = 0; i < n; ++i) force(3 * i + 2) = 10;
  for (auto _ : state) {
    bool inside = carom::all_stick(force, friction);
    benchmark::DoNotOptimize(inside);
  }
  state.SetItemsProcessed(state.iterations() * n);
}

}  // namespace

BENCHMARK(average_forces)
    ->ArgNames({"contacts", "one_body"})
    ->Args({1, 0})
    ->Args({4, 0})
    ->Args({4, 1})
    ->Args({32, 1});
BENCHMARK(forces_and_slip)
    ->ArgNames({"contacts", "one_body"})
    ->Args({4, 0})
    ->Args({4, 1})
    ->Args({32, 1});
BENCHMARK(stiff_slip);
BENCHMARK(all_stick)->ArgName("contacts")->Arg(4)->Arg(32);
