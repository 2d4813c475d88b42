// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/quadruped.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace quadruped_test {

using carom::testing::by_settling, carom::testing::by_solver, carom::testing::rounding;

using namespace carom::examples;
using namespace carom::testing;
using carom::Index, carom::MechanicalState, carom::VectorX;
using Point = carom::Vector3<double>;

namespace {

constexpr double time_step = 0.01;  // [s]

/// A quadruped dropped at rest, its feet `drop` above the ground.
struct Dropped {
  QuadrupedStepper stepper;
  MechanicalState<double> state;
  double deepest = 0;   ///< lowest gap so far [m]
  int most_solves = 0;  ///< in one step
  int most_impacts = 0;
  carom::ImpactStepReport<double> report;

  explicit Dropped(const QuadrupedStance& stance, double drop = 0.03,
                   const QuadrupedShape& shape = {})
      : stepper(make_quadruped(stance, shape)),
        state{0, make_quadruped_posture(body(), stance, drop),
              VectorX<double>::Zero(quadruped_size)} {}

  [[nodiscard]] const Quadruped& body() const { return stepper.system(); }
  void run(double until, double h = time_step) {
    VectorX<double> gaps(quadruped_leg_count);
    while (state.time < until - h / 2) {
      report = stepper.step(state, h);
      REQUIRE(report.converged());
      body().write_gaps(state.q, gaps);
      deepest = std::min(deepest, gaps.minCoeff());
      most_solves = std::max(most_solves, report.solves);
      most_impacts = std::max(most_impacts, report.impacts);
    }
  }
  [[nodiscard]] VectorX<double> velocity() {
    VectorX<double> out;
    REQUIRE(stepper.write_velocity(state, out));
    return out;
  }
  /// Mean force on a foot over the last step [N].
  [[nodiscard]] double load(Index leg, double h = time_step) const {
    return stepper.held_impulses()(leg) / h;
  }
  /// Energy with that of the servos' springs [J].
  [[nodiscard]] double energy() {
    double sum = stepper.energy(state);
    for (const auto& f : body().forces()) {
      sum += f.stiffness / 2 * std::pow(state.q(f.coordinate) - f.rest, 2);
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("quadruped: falls as one piece and lands on four feet at once", "[scenes][oracle]") {
  QuadrupedStance stance;
  Dropped robot(stance);
  const VectorX<double> start = robot.state.q;
  const double landing = std::sqrt(2 * 0.03 / 9.81),
               before = time_step * std::floor(landing / time_step);
  robot.run(before);
  CHECK(robot.stepper.held().empty());
  VectorX<double> expected = start;
  expected(quadruped_z) -= 9.81 / 2 * before * before;
  CHECK((robot.state.q - expected).norm() < rounding(500, 1.0));
  robot.run(before + time_step);
  const auto events = robot.stepper.events();
  REQUIRE(events.size() == 4);
  for (const auto& event : events) CHECK(std::abs(event.time - landing) < rounding(5000, 1.0));
  CHECK(robot.stepper.held().size() == 4);
}

TEST_CASE("quadruped: comes to rest standing on its feet", "[scenes][law]") {
  QuadrupedStance stance;
  stance.spread = 0.1;
  Dropped robot(stance);
  robot.run(1.3);
  const VectorX<double> settled = robot.state.q;
  robot.most_solves = 0;
  robot.run(1.5);
  CHECK(robot.most_solves <= 20);  // friction settles in few rounds
  const double weight = robot.body().mass() * 9.81, reach = 0.25;
  CHECK(robot.deepest > -by_solver(1e-9));
  CHECK(robot.velocity().norm() < by_settling(1e-9));
  REQUIRE(robot.stepper.held().size() == 4);
  double sum = 0;
  Point lever(0, 0, 0);
  for (Index leg = 0; leg < quadruped_leg_count; ++leg) {
    const double load = robot.load(leg);
    CAPTURE(leg, load);
    CHECK(load > 0.15 * weight);
    sum += load;
    lever += load * robot.body().foot(robot.state.q, leg);
    CHECK((robot.body().foot(robot.state.q, leg) - robot.body().foot(settled, leg)).norm() <
          rounding(50000, 1.0));
  }
  CHECK(std::abs(sum - weight) < by_settling(1e-9) * weight);
  // The feet's loads act below the centre of mass.
  const Point centre = robot.body().centre(robot.state.q);
  CHECK((lever / sum - centre).head(2).norm() < by_settling(1e-9) * reach);
  CHECK(centre(2) > 0.25);
}

TEST_CASE("quadruped: left and right stay mirror images", "[scenes][law]") {
  QuadrupedStance stance;
  stance.spread = 0.15;
  Dropped robot(stance, 0.05);
  robot.run(0.6);
  const auto& q = robot.state.q;
  for (const Index i : {quadruped_y, quadruped_yaw, quadruped_roll})
    CHECK(std::abs(q(i)) < rounding(50000, 1.0));
  for (const Index leg : {front_left, rear_left}) {
    const auto left = q.segment(quadruped_legs + 3 * leg, 3);
    const auto right = q.segment(quadruped_legs + 3 * leg + 3, 3);
    CHECK(std::abs(left(0) + right(0)) < rounding(50000, 1.0));
    CHECK((left - right).tail(2).norm() < rounding(50000, 1.0));
    CHECK(std::abs(robot.load(leg) - robot.load(leg + 1)) < by_solver(1e-7));
  }
}

TEST_CASE("quadruped: with mirrored legs each foot carries a quarter", "[scenes][oracle]") {
  QuadrupedStance stance;
  stance.mirrored = true;
  Dropped robot(stance);
  robot.run(1.3);
  const double quarter = robot.body().mass() * 9.81 / 4;
  for (Index leg = 0; leg < quadruped_leg_count; ++leg) {
    CHECK(std::abs(robot.load(leg) - quarter) < by_settling(1e-9) * quarter);
  }
  CHECK(std::abs(robot.state.q(quadruped_x)) < rounding(50000, 1.0));
  CHECK(std::abs(robot.state.q(quadruped_pitch)) < rounding(50000, 1.0));
}

TEST_CASE("quadruped: friction keeps spread feet in place", "[scenes][law]") {
  QuadrupedStance stance;
  stance.spread = 0.3;
  stance.stiffness = 60;
  stance.damping = 8;
  double moved[2];
  for (const double friction : {0.0, 0.7}) {
    QuadrupedShape shape;
    shape.friction = friction;
    Dropped robot(stance, 0, shape);
    const double start = robot.body().foot(robot.state.q, front_left)(1);
    robot.run(0.5);
    CHECK(robot.deepest > -by_solver(1e-9));
    moved[friction > 0] = robot.body().foot(robot.state.q, front_left)(1) - start;
  }
  CAPTURE(moved[0], moved[1]);
  CHECK(moved[0] > 0.01);
  CHECK(std::abs(moved[1]) < by_solver(1e-5));
}

TEST_CASE("quadruped: dropped askew it lands foot by foot and loses energy", "[scenes][law]") {
  QuadrupedStance stance;
  stance.spread = 0.1;
  Dropped robot(stance, 0.06);
  robot.state.q(quadruped_roll) = 0.1;
  robot.state.q(quadruped_pitch) = -0.08;
  double energy = robot.energy();
  for (int k = 1; k <= 60; ++k) {
    robot.run(time_step * k);
    const double now = robot.energy();
    CHECK(now < energy + by_solver(1e-6));
    energy = now;
  }
  CHECK(robot.deepest > -by_solver(1e-9));
  CHECK(robot.stepper.held().size() == 4);
}

TEST_CASE("quadruped: drops askew of firm and soft legs come to rest", "[.][scenes][law][slow]") {
  for (const double h : {2e-3, 5e-3}) {
    for (const double damping : {12.0, 16.0, 24.0}) {
      for (const double stiffness : {250.0, 400.0}) {
        QuadrupedStance stance;
        stance.spread = 0.1;
        stance.damping = damping;
        stance.stiffness = stiffness;
        Dropped robot(stance, 0.06);
        robot.state.q(quadruped_roll) = 0.1;
        robot.state.q(quadruped_pitch) = -0.08;
        CAPTURE(h, damping, stiffness);
        robot.run(2.5, h);
        CHECK(robot.deepest > -by_solver(1e-9));
        CHECK(robot.most_impacts <= 20);
        REQUIRE(robot.stepper.held().size() == 4);
        CHECK(robot.velocity().norm() < by_settling(1e-8));
        double sum = 0;
        for (Index leg = 0; leg < quadruped_leg_count; ++leg) sum += robot.load(leg, h);
        CHECK(std::abs(sum - robot.body().mass() * 9.81) < by_settling(1e-6));
      }
    }
  }
}

}  // namespace quadruped_test
