// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/joint_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "carom/solvers/solve_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace joint_constraints_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::Compliance, carom::ContactProblem, carom::DryFriction, carom::JointLimit, carom::Motor,
    carom::Tendon;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

using Row = Eigen::Matrix<double, 1, 1>;
const Row forwards = Row::Constant(1);

struct Stepped {
  double velocity, impulse;
};

/// One joint of inertia m, free velocity v*, one law along it.
template <typename Law>
Stepped step(double mass, double free_velocity, const Law& law, double time_step,
             const Row& row = forwards) {
  ContactProblem<double> problem(time_step);
  problem.add_body(Row::Constant(mass), Row::Constant(free_velocity));
  problem.add_constraint(0, row, law);
  const auto solution =
      carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-14});
  return {solution.velocity(0), solution.impulse(0)};
}

template <typename Law>
std::string refusal(const Law& law) {
  ContactProblem<double> problem(0.01);
  problem.add_body(forwards, forwards);
  return problem.check_constraint(0, forwards, law);
}

const double infinite = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("joint limit: a spring and damper that only push", "[contact][oracle]") {
  VectorSource<double> source(8u);
  WorstCase law("gamma = dt k (-(phi + dt v) - tau v)_+"), balance("m (v - v*) = gamma");
  int pushing = 0;
  for (int sample = 0; sample < 300; ++sample) {
    const double dt = source.positive(2) / 100, m = source.positive(2), v = source.entry(2);
    const JointLimit<double> limit{.gap = source.entry(2) / 100,
                                   .stiffness = 100 * source.positive(3),
                                   .dissipation_time = source.non_negative(2) / 100,
                                   .near_rigid = 0};
    const Stepped now = step(m, v, limit, dt);
    const double k = limit.stiffness, tau = limit.dissipation_time;
    const double expected =
        dt * k * std::max(0.0, -(limit.gap + dt * now.velocity) - tau * now.velocity);
    const double size = dt * k * (std::abs(limit.gap) + (dt + tau) * std::abs(v)) + m * std::abs(v);
    law.see(std::abs(now.impulse - expected), by_solver(1e-10) * size);
    balance.see(std::abs(m * (now.velocity - v) - now.impulse), by_solver(1e-12) * size);
    pushing += now.impulse > 0;
  }
  law.check(300);
  balance.check(300);
  CHECK(pushing > 60);
  CHECK(pushing < 240);
}

TEST_CASE("joint limit: by the step it is softened to the near-rigid clamp", "[contact][example]") {
  // Hits the limit at -2 m/s: with R = w/(4 pi^2), v = v* R/(R + w), 2.5 % of it.
  const double w = 1.0 / 3, r = w / (4 * std::numbers::pi * std::numbers::pi);
  const JointLimit<double> soft{.gap = 0, .compliance = Compliance::step};
  const Stepped hit = step(3, -2, soft, 0.01);
  CHECK(hit.velocity == Approx(-2 * r / (r + w)).epsilon(by_solver(1e-10)));
  // An upper limit is one of the negative velocity.
  const Stepped upper = step(3, 2, soft, 0.01, Row::Constant(-1));
  CHECK(upper.velocity == Approx(2 * r / (r + w)).epsilon(by_solver(1e-10)));
  CHECK(upper.impulse == Approx(hit.impulse).epsilon(rounding(5000, 1.0)));
  // Before it is reached it does nothing.
  const JointLimit<double> far{.gap = 0.021, .compliance = Compliance::step};
  CHECK(step(3, -2, far, 0.01).velocity == -2);
}

TEST_CASE("joints: without a stiffness they do not give way", "[contact][law]") {
  const double dt = 0.01;
  const auto rests = [&](double mass, double speed, const auto& law, double expected) {
    CAPTURE(mass, speed, expected);
    ContactProblem<double> problem(dt);
    problem.add_body(Row::Constant(mass), Row::Constant(speed));
    problem.add_constraint(0, forwards, law);
    CHECK(problem.is_rigid(0));
    const auto solution = carom::solve_contact(problem);
    CHECK(solution.report.converged());
    CHECK(solution.velocity(0) ==
          Approx(expected).epsilon(by_solver(1e-6)).margin(by_solver(1e-9)));
    CHECK(
        solution.impulse(0) ==
        Approx(mass * (expected - speed)).epsilon(by_solver(1e-6)).margin(by_solver(1e-9) * mass));
  };
  for (const double mass : {1e-6, 3.0, 1e6}) {
    rests(mass, -2, JointLimit<double>{.gap = 0}, 0);
    rests(mass, 2, JointLimit<double>{.gap = 0}, 2);
    rests(mass, -2, JointLimit<double>{.gap = 0.005}, -0.5);
    rests(mass, -2, JointLimit<double>{.gap = -0.1}, 0);
    rests(mass, -2, JointLimit<double>{.gap = -0.1, .correction = 0.5}, 5);
    rests(mass, 2, Tendon<double>{.stretch = 0}, 0);
    rests(mass, -2, Tendon<double>{.stretch = 0}, -2);
    rests(mass, 2, Tendon<double>{.stretch = -0.005}, 0.5);
    rests(mass, 2, Tendon<double>{.stretch = 0.1, .correction = 0.5}, -5);
    rests(mass, 2, Tendon<double>{.stretch = 0, .tension_limit = 50 * mass}, 1.5);
    rests(mass, 2, DryFriction<double>{.effort_limit = 300 * mass}, 0);
    rests(mass, 2, DryFriction<double>{.effort_limit = 50 * mass}, 1.5);
    rests(mass, -2, DryFriction<double>{.effort_limit = 50 * mass}, -1.5);
  }
}

TEST_CASE("dry friction: holds below its limit and slides above", "[contact][example]") {
  const double m = 2, dt = 0.01, w = 1 / m, sigma = 1e-3;
  const DryFriction<double> friction{.effort_limit = 5, .relative_slip = sigma};
  for (const double force : {-4.9, -1.0, 0.5, 4.9}) {  // v = R gamma: creep
    const Stepped held = step(m, dt * force / m, friction, dt);
    CHECK(held.velocity == Approx(-sigma * w * held.impulse).epsilon(by_solver(1e-10)));
    CHECK(held.impulse == Approx(-dt * force / (1 + sigma)).epsilon(by_solver(1e-10)));
  }
  for (const double force : {-12.0, 7.0}) {
    const Stepped slid = step(m, dt * force / m, friction, dt);
    const double left = force - std::copysign(5.0, force);
    CHECK(slid.velocity == Approx(dt * left / m).epsilon(rounding(5000, 1.0)));
    CHECK(slid.impulse == Approx(-dt * std::copysign(5.0, force)).epsilon(rounding(500, 1.0)));
  }
  CHECK(step(m, 1, DryFriction<double>{.effort_limit = 0}, dt).velocity == Approx(1));
}

TEST_CASE("motor: follows its gains until its effort limit, then gives exactly that",
          "[contact][oracle]") {
  VectorSource<double> source(9u);
  WorstCase law("clamped PD at the end of the step");
  int saturated = 0;
  for (int sample = 0; sample < 300; ++sample) {
    const double dt = source.positive(2) / 100, m = source.positive(2), v = source.entry(2);
    const double position_gain = source.non_negative(2) * 10, error = source.entry(2);
    const Motor<double> motor{.position_error = position_gain > 0 ? error : 0,
                              .wanted_velocity = source.entry(2),
                              .position_gain = position_gain,
                              .velocity_gain = source.positive(2),
                              .effort_limit = 10 * source.positive(2),
                              .near_rigid = 0};
    const Stepped now = step(m, v, motor, dt);
    const double pd = dt * (-motor.position_gain * (motor.position_error + dt * now.velocity) -
                            motor.velocity_gain * (now.velocity - motor.wanted_velocity));
    const double limit = dt * motor.effort_limit;
    const double size =
        m * std::abs(v) + dt * (motor.position_gain + motor.velocity_gain) * 100 + limit;
    law.see(std::abs(now.impulse - std::clamp(pd, -limit, limit)), by_solver(1e-10) * size);
    saturated += std::abs(now.impulse) >= limit * (1 - 1e-14);
  }
  law.check(300);
  CHECK(saturated > 30);
  CHECK(saturated < 270);
  // Saturated from rest it accelerates by F/m.
  const Motor<double> strong{.wanted_velocity = 1e3, .velocity_gain = 1e3, .effort_limit = 6};
  CHECK(step(2, 0, strong, 0.01).velocity == Approx(0.01 * 6 / 2).epsilon(rounding(5000, 1.0)));
  CHECK(step(2, 0, strong, 0.01).impulse == Approx(0.06).epsilon(rounding(5, 1.0)));
}

TEST_CASE("motor: gains beyond the step are lowered to the near-rigid clamp",
          "[contact][example]") {
  const double w = 0.5, r = w / (4 * std::numbers::pi * std::numbers::pi);
  const Motor<double> servo{.wanted_velocity = 3, .velocity_gain = 1e12};
  CHECK(step(2, 0, servo, 0.01).velocity == Approx(3 * w / (r + w)).epsilon(by_solver(1e-10)));
  const Motor<double> exact{.wanted_velocity = 3, .velocity_gain = 1e8, .near_rigid = 0};
  CHECK(step(2, 0, exact, 0.01).velocity == Approx(3).epsilon(by_solver(1e-5)));
}

TEST_CASE("tendon: pulls when taut, never pushes, slips at its limit", "[contact][example]") {
  const double m = 2, dt = 0.01;
  const Tendon<double> tendon{
      .stretch = 0.1, .stiffness = 50, .dissipation_time = 0.02, .tension_limit = 20};
  const Stepped taut = step(m, 0.3, tendon, dt);
  CHECK(taut.impulse ==
        Approx(-dt * 50 * (0.1 + (dt + 0.02) * taut.velocity)).epsilon(by_solver(1e-10)));
  CHECK(m * (taut.velocity - 0.3) == Approx(taut.impulse).epsilon(by_solver(1e-10)));
  CHECK(step(m, -5, tendon, dt).velocity == -5);  // slackens within the step
  const Tendon<double> slack{.stretch = -0.1, .stiffness = 50};
  CHECK(step(m, 0.3, slack, dt).impulse == 0);
  const Stepped slips = step(m, 100, tendon, dt);
  CHECK(slips.impulse == Approx(-dt * 20).epsilon(rounding(50, 1.0)));
}

TEST_CASE("joint constraints: data are refused by name", "[contact][input]") {
  CHECK(refusal<JointLimit<double>>({.gap = not_a_number}) ==
        "constraint 0: gap: expected a finite number, got nan");
  CHECK(refusal<JointLimit<double>>({.gap = 0, .stiffness = 0}) ==
        "constraint 0: stiffness: expected a number > 0, got 0");
  CHECK(refusal<JointLimit<double>>({.gap = 0, .dissipation_time = -1}) ==
        "constraint 0: dissipation time: expected a finite number >= 0, got -1");
  const std::string idle = "expected its default, as without a stiffness nothing gives way, got ";
  CHECK(refusal<JointLimit<double>>({.gap = 0, .near_rigid = 0}) ==
        "constraint 0: near-rigid factor: " + idle + "0");
  CHECK(refusal<JointLimit<double>>({.gap = 0, .dissipation_time = 2}) ==
        "constraint 0: dissipation time: " + idle + "2");
  CHECK(refusal<JointLimit<double>>({.gap = 0, .near_rigid = 0, .compliance = Compliance::step}) ==
        "constraint 0: near-rigid factor: expected a number > 0 where the compliance is the "
        "step's, got 0");
  CHECK(refusal<JointLimit<double>>({.gap = 0, .stiffness = 3, .compliance = Compliance::step}) ==
        "constraint 0: stiffness: expected none, as its compliance is that of the step, got 3");
  CHECK(refusal<JointLimit<double>>({.gap = 0, .stiffness = 3, .correction = 0.5}) ==
        "constraint 0: correction: expected its default, as it is of what does not give way, "
        "got 0.5");
  CHECK(refusal<Tendon<double>>({.stretch = 0, .dissipation_time = 2}) ==
        "constraint 0: dissipation time: " + idle + "2");
  CHECK(refusal<Tendon<double>>({.stretch = 0, .stiffness = 3, .correction = 0.5}) ==
        "constraint 0: correction: expected its default, as it is of what does not give way, "
        "got 0.5");
  CHECK(refusal<Motor<double>>({.position_error = 1, .velocity_gain = 2}) ==
        "constraint 0: position error: expected 0 without a position gain, got 1");
  CHECK(refusal<Motor<double>>({.wanted_velocity = 1, .position_gain = 2}) ==
        "constraint 0: wanted velocity: expected 0 without a velocity gain, got 1");
  CHECK(refusal<JointLimit<double>>({.gap = 0, .near_rigid = not_a_number}) ==
        "constraint 0: near-rigid factor: expected a finite number >= 0, got nan");
  CHECK(refusal<DryFriction<double>>({.effort_limit = -1}) ==
        "constraint 0: effort limit: expected a number >= 0, got -1");
  CHECK(refusal<DryFriction<double>>({.effort_limit = 1, .relative_slip = -1}) ==
        "constraint 0: relative slip: expected a finite number >= 0, got -1");
  CHECK(refusal<Motor<double>>({}) ==
        "constraint 0: velocity gain: expected a number > 0 when the position gain is 0, got 0");
  CHECK(refusal<Motor<double>>({.position_error = not_a_number, .velocity_gain = 1}) ==
        "constraint 0: position error: expected a finite number, got nan");
  CHECK(refusal<Motor<double>>({.wanted_velocity = infinite, .velocity_gain = 1}) ==
        "constraint 0: wanted velocity: expected a finite number, got inf");
  CHECK(refusal<Motor<double>>({.position_gain = -1}) ==
        "constraint 0: position gain: expected a finite number >= 0, got -1");
  CHECK(refusal<Motor<double>>({.velocity_gain = infinite}) ==
        "constraint 0: velocity gain: expected a finite number >= 0, got inf");
  CHECK(refusal<Motor<double>>({.velocity_gain = 1, .effort_limit = not_a_number}) ==
        "constraint 0: effort limit: expected a number >= 0, got nan");
  CHECK(refusal<Motor<double>>({.velocity_gain = 1, .near_rigid = -2}) ==
        "constraint 0: near-rigid factor: expected a finite number >= 0, got -2");
  CHECK(refusal<Tendon<double>>({.stretch = infinite}) ==
        "constraint 0: stretch: expected a finite number, got inf");
  CHECK(refusal<Tendon<double>>({.stretch = 0, .tension_limit = -1}) ==
        "constraint 0: tension limit: expected a number >= 0, got -1");
  CHECK(refusal<Tendon<double>>({.stretch = 0, .stiffness = -1}) ==
        "constraint 0: stiffness: expected a number > 0, got -1");
}

}  // namespace joint_constraints_test
