// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/squatting_quadruped.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <Eigen/Dense>

#include "carom/viscoelastic/stepper.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace squatting_quadruped_test {

using carom::testing::by_differences, carom::testing::by_settling, carom::testing::by_step;

using carom::ContactMaterial, carom::ContactStep, carom::ContactStepData, carom::Index;
using carom::MatrixX, carom::SlipLaw, carom::Vector3, carom::VectorX;
using carom::ViscoelasticStepper;
using carom::examples::SquattingQuadruped;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

constexpr Index size = SquattingQuadruped::size, feet = 4;

ContactMaterial<double> material(const SquattingQuadruped& robot, double stiffness, double ratio) {
  const double damping = 2 * ratio * std::sqrt(stiffness * robot.shape().mass() / feet);
  return {Vector3<double>::Constant(stiffness), Vector3<double>::Constant(damping), 0.8};
}

double foot_load(const SquattingQuadruped& robot) {
  return robot.shape().mass() * robot.shape().gravity / feet;
}

SquattingQuadruped::State state_of(VectorSource<double>& source) {
  SquattingQuadruped::State state;
  state.q = source.vector<int(size)>(1, 0);
  state.velocity = source.vector<int(size)>(1, 0);
  return state;
}

struct Written {
  MatrixX<double> mass = MatrixX<double>::Zero(size, size);
  MatrixX<double> jacobian = MatrixX<double>::Zero(3 * feet, size);
  VectorX<double> acceleration = VectorX<double>::Zero(size);
  VectorX<double> points = VectorX<double>::Zero(3 * feet), drift = points;

  Written(const SquattingQuadruped& robot, const SquattingQuadruped::State& state) {
    robot.write_dynamics(state, mass, acceleration);
    robot.write_contacts(state, points, jacobian, drift);
  }
};

/// What a squat of one second and a second of rest left behind.
struct Squat {
  double lowest = 1, highest = 0, pitch = 0, end = 0, drift = 0, crept = 0;
  int opened = 0;
  bool converged = true;

  Squat(double stiffness, double ratio, double dt, double duration = 2) {
    SquattingQuadruped robot;
    robot.servo_step = dt;
    auto state = robot.standing(foot_load(robot) / stiffness);
    ViscoelasticStepper<SquattingQuadruped> stepper(robot, {material(robot, stiffness, ratio)});
    const int steps = int(std::lround(duration / dt));
    for (int k = 0; k < steps; ++k) {
      const double swing = std::min(2 * k * dt / duration, 1.0);
      stepper.system().bend = 0.6 + 0.15 * (1 - std::cos(2 * std::numbers::pi * swing));
      const auto report = stepper.step(state, dt);
      converged = converged && report.converged();
      opened += report.opened;
      lowest = std::min(lowest, state.q(1));
      highest = std::max(highest, state.q(1));
      pitch = std::max(pitch, std::abs(state.q(2)));
    }
    end = state.q(1);
    const auto before = state.q;
    const VectorX<double> anchors = stepper.anchors();
    for (int k = 0; k < 50; ++k) {
      converged = converged && stepper.step(state, dt).converged();
    }
    drift = (state.q - before).norm();
    crept = (stepper.anchors() - anchors).norm();
  }
};

/// What is written a time h before a state, at it, and h after it, velocities unchanged.
std::array<Written, 3> written_around(const SquattingQuadruped& robot,
                                      const SquattingQuadruped::State& state, double h) {
  auto ahead = state, behind = state;
  ahead.q += h * state.velocity;
  behind.q -= h * state.velocity;
  return {Written(robot, behind), Written(robot, state), Written(robot, ahead)};
}

}  // namespace

TEST_CASE("squatting_quadruped: Jacobian and drift are derivatives of the feet",
          "[scenes][derivative]") {
  VectorSource<double> source(7);
  const SquattingQuadruped robot;
  const double h = 1e-6;
  for (int round = 0; round < 5; ++round) {
    const auto state = state_of(source);
    const auto [last, now, next] = written_around(robot, state, h);
    CHECK(((next.points - last.points) / (2 * h) - now.jacobian * state.velocity).norm() <=
          by_differences(1e-8));
    CHECK(((next.jacobian - last.jacobian) / (2 * h) * state.velocity - now.drift).norm() <=
          by_differences(1e-8));
  }
}

TEST_CASE("squatting_quadruped: in free flight energy and the centre of mass obey Newton",
          "[scenes][law]") {
  carom::examples::SquatShape shape;
  shape.stiffness = shape.damping = 0;
  SquattingQuadruped robot(shape);
  robot.bend = 0;  // no torque
  VectorSource<double> source(8);
  const double h = 1e-6;
  for (int round = 0; round < 5; ++round) {
    const auto state = state_of(source);
    const auto [last, now, next] = written_around(robot, state, h);
    // Momentum is M v along x and z: its rate is the weight.
    const VectorX<double> rate =
        (next.mass - last.mass) / (2 * h) * state.velocity + now.mass * now.acceleration;
    CHECK(std::abs(rate(0)) <= by_differences(1e-6));
    CHECK(std::abs(rate(1) + shape.mass() * shape.gravity) <= by_differences(1e-6));
    // Power: d/dt of v·M v/2 is that of gravity, −g times the momentum along z.
    const double power = state.velocity.dot(rate) -
                         state.velocity.dot((next.mass - last.mass) / (4 * h) * state.velocity);
    CHECK(std::abs(power + shape.gravity * now.mass.row(1).dot(state.velocity)) <=
          by_differences(1e-5));
  }
}

TEST_CASE("squatting_quadruped: it squats, stays up and level on four feet", "[scenes][scene]") {
  const double straight = 0.4;
  for (const double stiffness : {1e4, 1e7}) {
    const double dt = 0.01, sag = foot_load(SquattingQuadruped()) / stiffness;
    const Squat squat(stiffness, 0.5, dt);
    CAPTURE(stiffness, squat.lowest, squat.highest, squat.pitch);
    CHECK(squat.converged);
    CHECK(std::abs(squat.lowest - straight * std::cos(0.9)) <= 0.004 + 2 * sag);
    CHECK(std::abs(squat.highest - straight * std::cos(0.6)) <= 0.001 + 2 * sag);
    CHECK(std::abs(squat.end - (straight * std::cos(0.6) - sag)) <= by_settling(1e-6));
    CHECK(squat.pitch <= rounding(5000, 1.0));
    CHECK(squat.opened == 0);
    CHECK(squat.drift <= by_step(1e-9));
    CHECK(squat.crept == 0);
  }
}

TEST_CASE("squatting_quadruped: rest without drift at any step, stiffness and damping",
          "[scenes][law]") {
  for (const double stiffness : {1e3, 1e6, 1e10}) {
    for (const double ratio : {0.05, 2.0}) {
      for (const double dt : {2.5e-4, 1e-2, 0.1}) {
        SquattingQuadruped robot;
        robot.servo_step = dt;
        const auto start = robot.standing(foot_load(robot) / stiffness);
        auto state = start;
        ViscoelasticStepper<SquattingQuadruped> stepper(robot, {material(robot, stiffness, ratio)});
        for (int k = 0; k < 20; ++k) REQUIRE(stepper.step(state, dt).converged());
        CAPTURE(stiffness, ratio, dt, std::log10((state.q - start.q).norm()));
        // Average forces are differences of terms up to K t² g.
        CHECK((state.q - start.q).norm() <=
              rounding(100, 1.0) + rounding(100, stiffness * dt * dt) * dt * dt);
        for (Index i = 0; i < feet; ++i) CHECK(stepper.active(i));
      }
    }
  }
}

TEST_CASE("squatting_quadruped: a frozen mechanism gains no energy in stick", "[scenes][law]") {
  SquattingQuadruped robot;
  for (const double stiffness : {1e3, 1e6, 1e10}) {
    for (const double ratio : {0.05, 2.0}) {
      for (const double dt : {2.5e-4, 1e-3, 1e-2}) {
        auto state = robot.standing(foot_load(robot) / stiffness);
        state.velocity.setConstant(0.01);
        const Written written(robot, state);
        const auto ground = material(robot, stiffness, ratio);
        ContactStepData<double> data;
        data.time_step = dt;
        data.mass_matrix = written.mass;
        data.jacobian = written.jacobian;
        data.velocity = state.velocity;
        data.free_acceleration = written.acceleration;
        data.drift = VectorX<double>::Zero(3 * feet);
        data.stiffness = ground.stiffness.replicate(feet, 1);
        data.damping = ground.damping.replicate(feet, 1);
        data.friction = VectorX<double>::Constant(feet, ground.friction);
        data.points = written.points;
        data.anchors = written.points;
        for (Index i = 0; i < feet; ++i) data.anchors(3 * i + 2) = 0;
        ContactStep<double> step;
        step.prepare(feet, size);
        VectorX<double> moved = VectorX<double>::Zero(size);
        const VectorX<double> load = written.mass * written.acceleration;
        const auto energy = [&] {
          const VectorX<double> stretch = data.points - data.anchors;
          return data.velocity.dot(written.mass * data.velocity) / 2 - load.dot(moved) +
                 stretch.dot(data.stiffness.cwiseProduct(stretch)) / 2;
        };
        const double start = energy();
        double before = start;
        for (int k = 0; k < 30; ++k) {
          REQUIRE(step.solve(data, SlipLaw::stick).converged());
          moved += step.displacement();
          data.points += written.jacobian * step.displacement();
          data.velocity = step.velocity();
          const double now = energy();
          CAPTURE(stiffness, ratio, dt, k, std::log10(std::abs(now - before)));
          CHECK(now <= before + rounding(4000, std::abs(start) + std::abs(load.dot(moved)) + 1));
          before = now;
        }
      }
    }
  }
}

TEST_CASE("squatting_quadruped: all stiffnesses, damping ratios and steps",
          "[.][slow][scenes][scene]") {
  for (int decade = 3; decade <= 10; ++decade) {
    const double stiffness = std::pow(10.0, decade),
                 sag = foot_load(SquattingQuadruped()) / stiffness;
    for (const double ratio : {0.05, 0.2, 0.7, 1.0, 2.0}) {
      for (const double dt : {2.5e-4, 1e-3, 5e-3, 1e-2}) {
        const Squat squat(stiffness, ratio, dt);
        CAPTURE(stiffness, ratio, dt, squat.lowest, squat.highest, squat.pitch, squat.drift);
        CHECK(squat.converged);
        CHECK(std::abs(squat.lowest - 0.4 * std::cos(0.9)) <= 0.004 + 2 * sag);
        CHECK(std::abs(squat.highest - 0.4 * std::cos(0.6)) <= 0.001 + 2 * sag);
        CHECK(squat.pitch <= by_step(1e-5));
        CHECK(squat.crept <= rounding(5000, 1.0));
        if (stiffness >= 1e5) CHECK(squat.drift <= by_step(1e-6));
      }
    }
  }
}

}  // namespace squatting_quadruped_test
