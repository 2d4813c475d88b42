// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/stepper.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/variational/impact_stepper.hpp"
#include "carom/variational/planar_tree.hpp"
#include "carom/variational/spatial_tree.hpp"

#include "scenes/quadruped.hpp"

namespace {

using carom::ImpactStepper, carom::Index, carom::MechanicalState, carom::VectorX;
using carom::VariationalStepper;
using Tree = carom::PlanarTree<double>;

/// Links of 1 m and 1 kg in a chain, each a rod about its end.
[[nodiscard]] Tree chain(Index count) {
  std::vector<carom::PlanarBody<double>> bodies(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    auto& body = bodies[std::size_t(i)];
    body.parent = i - 1;
    body.centre << 0.5, 0;
    if (i > 0) body.hinge << 1, 0;
    body.inertia = 1.0 / 12;
  }
  return Tree(bodies);
}

/// The chain with a wall: its end must stay on one side of x = place.
struct ChainAtWall : Tree {
  double place;
  ChainAtWall(Index count, double at) : Tree(chain(count)), place(at) {
    x_.setZero(count);
    y_.setZero(count);
  }
  [[nodiscard]] Index gap_count() const { return 1; }
  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const noexcept {
    out(0) = place - point(q, body_count() - 1, Point(1, 0))(0);
  }
  void write_gap_gradients(const VectorX<double>& q, carom::MatrixX<double>& out) const noexcept {
    write_point(q, body_count() - 1, Point(1, 0), x_, y_);
    for (Index j = 0; j < q.size(); ++j) out(0, j) = -x_(j);
  }

 private:
  mutable VectorX<double> x_, y_;
};

/// Hanging, tilted by 0.3 at the first hinge, moving at 0.2 rad/s.
template <typename Stepper>
[[nodiscard]] MechanicalState<double> tilted(Stepper& stepper) {
  const Index n = stepper.system().size();
  VectorX<double> q = VectorX<double>::Zero(n);
  q(0) = -1.57 + 0.3;
  return stepper.make_state(q, VectorX<double>::Constant(n, 0.2));
}

/// Steps of length h [s]; every 100, set_back(at) puts the state where it starts. Counters:
/// iterations and, where the report tells them, solves per step, worst_us of all steps.
template <typename Stepper, typename SetBack>
void time_steps(benchmark::State& state, Stepper& stepper, double h, const SetBack& set_back) {
  MechanicalState<double> at;
  constexpr bool tells_solves = requires {
    stepper.step(at, h).solves;
  };
  double worst = 0;
  long iterations = 0, solves = 0, steps = 0;
  for (auto _ : state) {
    if (steps % 100 == 0) set_back(at);
    const auto begin = std::chrono::steady_clock::now();
    const auto report = stepper.step(at, h);
    const auto end = std::chrono::steady_clock::now();
    worst = std::max(worst, std::chrono::duration<double, std::micro>(end - begin).count());
    if (!report.converged()) return state.SkipWithError("a step did not converge");
    iterations += report.iterations;
    if constexpr (tells_solves) solves += report.solves;
    ++steps;
  }
  const auto per_step = [&](long count) { return double(count) / double(std::max(steps, 1L)); };
  state.counters["iterations"] = per_step(iterations);
  if constexpr (tells_solves) state.counters["solves"] = per_step(solves);
  state.counters["worst_us"] = worst;
}

/// Steps of 10 ms, restarted every 100.
template <typename Stepper>
void time_steps(benchmark::State& state, Stepper& stepper, const MechanicalState<double>& start) {
  time_steps(state, stepper, 0.01, [&](MechanicalState<double>& at) { at = start; });
}

void chain_steps(benchmark::State& state) {
  VariationalStepper<Tree> stepper(chain(state.range(0)));
  time_steps(state, stepper, tilted(stepper));
}
BENCHMARK(chain_steps)->Arg(1)->Arg(5)->Arg(10)->Arg(20);

/// The wall is out of reach, so that the time is that of looking for impacts.
void free_steps(benchmark::State& state) {
  VariationalStepper<Tree> plain(chain(state.range(0)));
  ImpactStepper<ChainAtWall> stepper(ChainAtWall(state.range(0), 100));
  time_steps(state, stepper, tilted(plain));
}
BENCHMARK(free_steps)->Arg(1)->Arg(5)->Arg(8)->Arg(20);

/// The same step, from the same state, with one impact in it.
void impact_steps(benchmark::State& state) {
  VariationalStepper<Tree> plain(chain(state.range(0)));
  const MechanicalState<double> start = tilted(plain);
  const Index last = state.range(0) - 1;
  const double place = plain.system().point(start.q, last, Tree::Point(1, 0))(0) + 1e-3;
  ImpactStepper<ChainAtWall> stepper(ChainAtWall(state.range(0), place));
  MechanicalState<double> at = start;
  double worst = 0;
  for (auto _ : state) {
    at = start;
    stepper.restart();
    const auto begin = std::chrono::steady_clock::now();
    const auto report = stepper.step(at, 0.01);
    const auto end = std::chrono::steady_clock::now();
    worst = std::max(worst, std::chrono::duration<double, std::micro>(end - begin).count());
    if (!report.converged() || report.impacts != 1) return state.SkipWithError("no impact");
  }
  state.counters["worst_us"] = worst;
}
BENCHMARK(impact_steps)->Arg(1)->Arg(5)->Arg(8)->Arg(20);

using Spatial = carom::SpatialTree<double>;

/// Links of 1 m and 1 kg whose axes turn about z, y and x by turns.
[[nodiscard]] Spatial spatial_chain(Index count) {
  std::vector<carom::SpatialBody<double>> bodies(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    auto& body = bodies[std::size_t(i)];
    body.parent = i - 1;
    body.axis = carom::Vector3<double>::Unit(2 - i % 3);
    body.centre << 0.5, 0, 0;
    if (i > 0) body.place << 1, 0, 0;
    body.inertia.diagonal() << 0.01, 1.0 / 12, 1.0 / 12;
  }
  return Spatial(bodies, {carom::Vector3<double>(0, -9.81, 0)});
}

/// The Lagrangian at ever new places: value and slopes, or all second derivatives, too.
template <bool Curvature>
void spatial_evaluations(benchmark::State& state) {
  const Spatial tree = spatial_chain(state.range(0));
  VectorX<double> q = VectorX<double>::LinSpaced(tree.size(), -1, 1);
  const VectorX<double> v = VectorX<double>::Constant(tree.size(), 0.2);
  carom::LagrangianDerivatives<double> out;
  out.resize(tree.size());
  for (auto _ : state) {
    q(0) += 1e-6;
    if constexpr (Curvature) {
      tree.write_lagrangian_curvature(q, v, 0, out);
    } else {
      tree.write_lagrangian(q, v, 0, out);
    }
    benchmark::DoNotOptimize(out.value);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(spatial_evaluations<false>)->Name("spatial_slopes")->Arg(1)->Arg(5)->Arg(10)->Arg(20);
BENCHMARK(spatial_evaluations<true>)->Name("spatial_curvature")->Arg(1)->Arg(5)->Arg(10)->Arg(20);

void spatial_chain_steps(benchmark::State& state) {
  VariationalStepper<Spatial> stepper(spatial_chain(state.range(0)));
  time_steps(state, stepper, tilted(stepper));
}
BENCHMARK(spatial_chain_steps)->Arg(1)->Arg(5)->Arg(10)->Arg(20);

/// A quadruped of 18 coordinates: in the air, landing and settling, or standing. Steps of 5 ms,
/// restarted every 100.
void quadruped_steps(benchmark::State& state) {
  using namespace carom::examples;
  const QuadrupedStance stance;
  QuadrupedStepper stepper(make_quadruped(stance));
  MechanicalState<double> start{
      0, make_quadruped_posture(stepper.system(), stance, state.range(0) == 0 ? 10 : 0.03),
      VectorX<double>::Zero(quadruped_size)};
  if (state.range(0) == 2) {
    for (int k = 0; k < 400; ++k) static_cast<void>(stepper.step(start, 0.005));
  }
  time_steps(state, stepper, 0.005, [&](MechanicalState<double>& at) {
    at = start;
    if (state.range(0) != 2) stepper.restart();
  });
}
BENCHMARK(quadruped_steps)->Arg(0)->Arg(1)->Arg(2)->ArgName("phase");

}  // namespace
