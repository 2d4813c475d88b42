// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/billiards.hpp"

#include <algorithm>
#include <cmath>

#include "carom/variational/impact_stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace billiards_test {

using carom::testing::by_differences, carom::testing::by_settling, carom::testing::by_solver,
    carom::testing::rounding;

using namespace carom::examples;
using namespace carom::testing;
using carom::ImpactStepper, carom::Index, carom::MatrixX, carom::MechanicalState, carom::VectorX;

namespace {

/// Deepest overlap of balls with each other or with cushions [m].
double overlap(const Billiards& balls, const VectorX<double>& q) {
  VectorX<double> gaps(balls.gap_count());
  balls.write_gaps(q, gaps);
  return std::max(0.0, -gaps.minCoeff());
}

double fastest(const BilliardsStart& start, const MechanicalState<double>& state) {
  double speed = 0;
  for (Index k = 0; k < state.q.size(); k += 2) {
    const double mass = start.balls.masses[std::size_t(k / 2)];
    speed = std::max(speed, std::hypot(state.momentum(k), state.momentum(k + 1)) / mass);
  }
  return speed;
}

}  // namespace

TEST_CASE("billiards: gradients are those of the gaps", "[scenes][derivative]") {
  const BilliardsStart start = make_break_shot();
  const Billiards& balls = start.balls;
  MatrixX<double> gradients(balls.gap_count(), balls.size());
  balls.write_gap_gradients(start.q, gradients);
  VectorX<double> ahead(balls.gap_count()), behind = ahead, value(balls.size()),
                                            value_ahead = value;
  MatrixX<double> by_q(balls.size(), balls.size()), by_v = by_q, unused = by_q;
  const VectorX<double> speeds = 0.01 * start.q;
  balls.write_force(start.q, speeds, 0, value, by_q, by_v);
  const double step = 1e-6;
  double worst = 0, worst_force = 0;
  for (Index k = 0; k < balls.size(); ++k) {
    const VectorX<double> move = step * VectorX<double>::Unit(balls.size(), k);
    balls.write_gaps(start.q + move, ahead);
    balls.write_gaps(start.q - move, behind);
    worst =
        std::max(worst, ((ahead - behind) / (2 * step) - gradients.col(k)).cwiseAbs().maxCoeff());
    balls.write_force(start.q, speeds + move, 0, value_ahead, by_q, unused);
    balls.write_force(start.q, speeds - move, 0, value, by_q, unused);
    worst_force = std::max(
        worst_force, ((value_ahead - value) / (2 * step) - by_v.col(k)).cwiseAbs().maxCoeff());
  }
  CHECK(worst < by_differences(1e-7));
  CHECK(worst_force < by_differences(1e-6));
}

TEST_CASE("billiards: an oblique hit exchanges speeds along the centres", "[scenes][oracle]") {
  for (const double offset : {0.0, 0.01, 0.03, 0.05}) {
    const double r = 0.03, light = 0.1, heavy = 0.25;
    BilliardsStart start{{{light, heavy}, {r, r}},
                         numbers<double>({0, 0, 0.5, offset}),
                         numbers<double>({2, 0, 0, 0})};
    ImpactStepper<Billiards> stepper(start.balls);
    MechanicalState<double> state{0, start.q, start.momentum()};
    for (int k = 0; k < 10; ++k) REQUIRE(stepper.step(state, 0.05).converged());
    // Centres at distance 2r when the first is at x: direction (0.5 − x, offset)/2r.
    const double across = offset / (2 * r), along = std::sqrt(1 - across * across);
    const double impulse = 2 * 2 * along * light * heavy / (light + heavy);
    const VectorX<double> expected = numbers<double>(
        {2 * light - impulse * along, -impulse * across, impulse * along, impulse * across});
    CAPTURE(offset, state.momentum.transpose());
    CHECK((state.momentum - expected).norm() < rounding(5000, 1.0));
  }
}

TEST_CASE("billiards: a rolling ball stops after v²/2a", "[scenes][oracle]") {
  BilliardsStart start{{{0.17}, {0.03}}, numbers<double>({0, 0}), numbers<double>({0.6, 0.8})};
  start.balls.rolling = 0.1;
  ImpactStepper<Billiards> stepper(start.balls);
  MechanicalState<double> state{0, start.q, start.momentum()};
  while (state.time < 15) REQUIRE(stepper.step(state, 0.05).converged());
  CHECK(fastest(start, state) < by_settling(1e-9));
  // Softening below 1 cm/s lets the ball roll on by about s v/a in all.
  CHECK(state.q.norm() == Approx(5).epsilon(0.01));
  CHECK(state.q(0) / state.q(1) == Approx(0.75).epsilon(by_solver(1e-9)));
}

TEST_CASE("billiards: the break keeps momentum and energy", "[scenes][law]") {
  BreakShotOptions options;
  options.cushions = false;
  options.rolling = 0;
  const BilliardsStart start = make_break_shot(options);
  CHECK(overlap(start.balls, start.q) < rounding(5, 1.0));
  ImpactStepper<Billiards> stepper(start.balls);
  MechanicalState<double> state{0, start.q, start.momentum()};
  const double energy = stepper.energy(state);
  Index reflections = 0;
  for (int k = 0; k < 20; ++k) {
    const auto report = stepper.step(state, 0.02);
    REQUIRE(report.converged());
    CHECK(report.impact_status == carom::ImpactStatus::resolved);
    reflections += report.reflections;
  }
  double x = 0, y = 0;
  for (Index k = 0; k < state.q.size(); k += 2) x += state.momentum(k), y += state.momentum(k + 1);
  CAPTURE(reflections, x, y, stepper.energy(state) / energy - 1);
  CHECK(reflections >= 15);
  CHECK(std::abs(x - 0.17 * 8) < rounding(5000, 1.0));
  CHECK(std::abs(y) < rounding(5000, 1.0));
  CHECK(std::abs(stepper.energy(state) / energy - 1) < rounding(5000, 1.0));
  // The corners of the rack fly off, to both sides.
  CHECK(state.momentum(2 * 11 + 1) < -0.01);
  CHECK(state.momentum(2 * 15 + 1) > 0.01);
}

TEST_CASE("billiards: fifteen balls break and come to rest on the table", "[scenes][law]") {
  const BilliardsStart start = make_break_shot();
  ImpactStepper<Billiards> stepper(start.balls);
  MechanicalState<double> state{0, start.q, start.momentum()};
  Index solves = 0, impacts = 0;
  double deepest = 0, energy = stepper.energy(state), rise = 0;
  // Unoptimised builds leave the last balls rolling.
  while (fastest(start, state) > carom::testing::sweep(0.3, 1e-3)) {
    const auto report = stepper.step(state, 0.1);
    REQUIRE(report.converged());
    REQUIRE(state.time < 90);
    solves += report.solves;
    impacts += report.impacts;
    deepest = std::max(deepest, overlap(start.balls, state.q));
    const double now = stepper.energy(state);
    rise = std::max(rise, now - energy);
    energy = now;
  }
  CAPTURE(state.time, solves, impacts, deepest, rise);
  CHECK(impacts > 100);
  CHECK(solves < 5000);  // some 10 µs each: the budget of the break is 50 ms
  CHECK(deepest < by_solver(1e-8));
  CHECK(rise < rounding(5000, 1.0));
}

}  // namespace billiards_test
