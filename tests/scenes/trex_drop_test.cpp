// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/trex_drop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/impact/restitution.hpp"

#include "support/catch.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace trex_drop_test {

using carom::testing::by_conditioning, carom::testing::by_digits, carom::testing::by_settling,
    carom::testing::by_solver, carom::testing::by_step, carom::testing::rounding;

using namespace carom::examples;
using namespace carom::testing;
using carom::Index, carom::VectorX;

namespace {

const TrexStance& optimum() {
  static const TrexStance found = [] {
    TrexStance stance = trex_initial();
    REQUIRE(optimize_trex(stance).converged());
    return stance;
  }();
  return found;
}

/// ξ at the end of a step that ends just after the landing.
double landing_indeterminacy(const TrexStance& stance) {
  TrexDropOptions options;
  const double landing = std::sqrt(2 * options.drop / 9.81);
  options.time_step = landing / 20 * (1 + 1e-9);
  options.duration = 20 * options.time_step;
  const auto samples = compare_trex_orders(stance, options);
  REQUIRE(samples.size() == 20);
  CHECK(samples[18].impacts == 0);
  CHECK(samples[18].indeterminacy == 0);
  CHECK(samples.back().impacts == 2);
  return samples.back().indeterminacy;
}

}  // namespace

TEST_CASE("trex_drop: foot and tail land together after a free fall", "[scenes][oracle]") {
  for (const TrexStance& stance : {optimum(), trex_initial(), trex_straight()}) {
    TrexDropOptions options;
    TrexDrop robot(stance, TrexOrder::foot_first, options);
    const double landing = std::sqrt(2 * options.drop / 9.81);
    while (robot.state().time + options.time_step < landing) REQUIRE(robot.step().converged());
    CHECK(robot.events().empty());
    const auto report = robot.step();
    REQUIRE(report.converged());
    REQUIRE(robot.events().size() >= 2);
    CHECK(std::abs(robot.events()[0].time - landing) <= rounding(5000, 1.0));
    CHECK(robot.events()[0].time == robot.events()[1].time);
    CHECK(robot.events()[0].contact == trex_right_foot);
    CHECK(robot.events()[1].contact == trex_tail_tip);
  }
}

TEST_CASE("trex_drop: orders of the first impact differ by what the stance says",
          "[scenes][golden]") {
  // The stance's own ξ, found without a time step: trex_stance_test.
  const double straight = landing_indeterminacy(trex_straight());
  const double initial = landing_indeterminacy(trex_initial());
  const double optimized = landing_indeterminacy(optimum());
  CAPTURE(straight, initial, optimized);
  CHECK(straight == Approx(0.2857285168391316).epsilon(by_digits(1e-6)));
  CHECK(initial == Approx(0.00023305607910410387).epsilon(by_digits(1e-4)));
  CHECK(optimized <= by_conditioning(1e-5) * straight);
  CHECK(optimized <= rounding(500, 1.0));
}

TEST_CASE("trex_drop: elastic impacts and dampers never add energy", "[scenes][law]") {
  TrexDropOptions options;
  options.duration = 0.205;
  for (const TrexStance& stance : {optimum(), trex_straight()}) {
    const auto samples = compare_trex_orders(stance, options);
    REQUIRE(samples.size() == 205);
    double rise = 0;
    for (std::size_t k = 1; k < samples.size(); ++k) {
      rise = std::max({rise, samples[k].energy_a - samples[k - 1].energy_a,
                       samples[k].energy_b - samples[k - 1].energy_b});
    }
    CAPTURE(rise, samples.back().energy_a, samples.front().energy_a);
    CHECK(rise <= rounding(100, samples.front().energy_a));
    CHECK(samples.back().energy_a < 0.999 * samples.front().energy_a);
  }
}

TEST_CASE("trex_drop: without dampers the energy stays, with the square of the step",
          "[scenes][law]") {
  const auto error = [](double h) {
    TrexDropOptions options;
    options.time_step = h;
    options.joints.hip_damping = options.joints.knee_damping = options.joints.body_damping = 0;
    TrexDrop robot(optimum(), TrexOrder::foot_first, options);
    const double start = robot.energy();
    double worst = 0;
    Index impacts = 0;
    while (robot.state().time < 0.195) {
      const auto report = robot.step();
      REQUIRE(report.converged());
      impacts += report.impacts;
      worst = std::max(worst, std::abs(robot.energy() - start));
    }
    CHECK(impacts > 2);
    return worst / start;
  };
  const double coarse = error(1e-3), fine = error(2.5e-4);
  CAPTURE(coarse, fine);
  CHECK(coarse < by_step(1e-3));
  CHECK(fine < coarse / 8);
}

TEST_CASE("trex_drop: nothing sinks into the ground", "[scenes][law]") {
  TrexDrop robot(optimum(), TrexOrder::tail_first);
  VectorX<double> gaps(Index{trex_contacts});
  double lowest = 0;
  while (robot.state().time < 0.2) {
    REQUIRE(robot.step().converged());
    robot.trex().write_gaps(robot.state().q, gaps);
    lowest = std::min(lowest, gaps.minCoeff());
  }
  CAPTURE(lowest);
  CHECK(lowest > -by_solver(1e-8));
}

TEST_CASE("trex_drop: after a plastic landing foot and tail rub, then stand", "[scenes][law]") {
  const double time_step = sweep(8e-3, 1e-3);
  const TrexStance& stance = optimum();
  double spread_before = 1;
  for (const double friction : {0.0, 0.1, 0.5, 1.0}) {
    if (friction > sweep(0.5, 1.0)) continue;
    carom::ImpactStepper<Trex, carom::RestitutionImpact<double>> stepper(
        Trex(stance.shape, stance.q, {}, friction), carom::RestitutionImpact<double>(0.0));
    const Trex& trex = stepper.system();
    carom::MechanicalState<double> state{0, stance.q, VectorX<double>::Zero(Index{trex_size})};
    state.q(trex_y) += 0.01;
    double energy = stepper.energy(state), rise = 0;
    const double start = energy;
    const auto run_to = [&](double time) {
      while (state.time < time) {
        REQUIRE(stepper.step(state, time_step).converged());
        const double now = stepper.energy(state);
        rise = std::max(rise, now - energy);
        energy = now;
      }
    };
    run_to(1);
    const double foot = trex.tip(state.q, trex_right_foot)(0);
    const double tail = trex.tip(state.q, trex_tail_tip)(0);
    run_to(1.2);
    CAPTURE(friction, rise);
    CHECK(rise <= rounding(100, start));
    REQUIRE(stepper.held().size() == 2);
    // The robot's weight stands on both, but for what still swings.
    double mass = 0;
    for (const auto& body : trex.bodies()) mass += body.mass;
    const double carried = stepper.held_impulses().sum() / time_step;
    CHECK(carried == Approx(9.81 * mass).epsilon(by_settling(2e-2)));
    if (friction > 0.3) {
      CHECK(std::abs(trex.tip(state.q, trex_right_foot)(0) - foot) <= rounding(5000, 1.0));
      CHECK(std::abs(trex.tip(state.q, trex_tail_tip)(0) - tail) <= rounding(5000, 1.0));
      CHECK(carried == Approx(9.81 * mass).epsilon(by_settling(1e-4)));
    }
    // The more friction, the less the legs spread.
    CHECK(tail - foot < spread_before);
    spread_before = tail - foot;
  }
}

TEST_CASE("trex_drop: actuators in kg, cm and s hold the stance for half a second",
          "[scenes][slow][.]") {
  TrexDropOptions options;
  const TrexStance& stance = optimum();
  TrexDrop robot(stance, TrexOrder::foot_first, options);
  double hip = 0, lowest = 1;
  while (robot.state().time < options.duration - options.time_step / 2) {
    REQUIRE(robot.step().converged());
    hip = std::max(hip, std::abs(robot.state().q(trex_right_hip) - stance.q(trex_right_hip)));
    lowest = std::min(lowest, robot.state().q(trex_y));
  }
  CAPTURE(hip, lowest);
  CHECK(hip < 0.5);
  CHECK(lowest > 0.03);
}

}  // namespace trex_drop_test
