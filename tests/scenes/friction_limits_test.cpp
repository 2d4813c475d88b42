// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/friction_limits.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/reference_solver.hpp"
#include "support/tolerance.hpp"
#include "support/world_solver.hpp"

namespace friction_limits_test {

using carom::testing::by_solver, carom::testing::clearly, carom::testing::rounding;

using carom::ContactProblem, carom::VectorX;
using carom::examples::Capstan, carom::examples::capstan_ratio, carom::examples::make_capstan;
using carom::examples::make_cube_on_ground, carom::examples::make_gripper;
using carom::examples::make_overfull_slot, carom::examples::make_wedge_chain;
using carom::examples::RigidWorld;
using carom::testing::ReferenceSolver, carom::testing::WorldSolver;

namespace {

/// A solver that RigidWorld may call many times.
RigidWorld::Solve by(WorldSolver& solver) {
  return [&solver](const ContactProblem<double>& problem, VectorX<double>& velocity,
                   VectorX<double>& impulse) { solver(problem, velocity, impulse); };
}

double fastest(const RigidWorld& world) {
  double speed = 0;
  for (const auto& block : world.blocks) speed = std::max(speed, block.velocity.norm());
  return speed;
}

double tilt_of(const RigidWorld& world) {
  return world.blocks[0].orientation.angularDistance(Eigen::Quaterniond::Identity());
}

}  // namespace

TEST_CASE("friction limits: a launched cube stays on the ground under Coulomb's law",
          "[scenes][scene]") {
  const double speed = 6, mu = 0.5, gravity = 9.81, dt = 0.005;
  RigidWorld world = make_cube_on_ground({.friction = mu, .velocity = {speed, 0, 0}});
  WorldSolver solver(1e-12);
  double rise = 0, tilt = 0;
  for (int k = 1; k <= 260; ++k) {  // it stops in step 245
    world.step(by(solver));
    rise = std::max(rise, std::abs(world.blocks[0].position.z() - 0.1));
    tilt = std::max(tilt, tilt_of(world));
    const double expected = std::max(0.0, speed - mu * gravity * dt * k);
    CHECK(std::abs(world.blocks[0].velocity(3) - expected) <= by_solver(1e-9));
  }
  CAPTURE(rise, tilt);
  CHECK(solver.worst <= rounding(5000, 1.0));
  CHECK(rise <= by_solver(1e-9));
  CHECK(tilt <= by_solver(1e-6));
}

TEST_CASE(
    "friction limits: under the convex law a launched cube lifts off by millimetres, rigid or not",
    "[scenes][scene]") {
  for (const bool rigid : {true, false}) {
    RigidWorld world = make_cube_on_ground({.friction = 0.5, .velocity = {6, 0, 0}});
    world.rigid = rigid;
    world.softness = 1e-3;
    WorldSolver solver(1e-10, carom::FrictionLaw::convex);
    double rise = 0;
    for (int k = 0; k < 40; ++k) {
      world.step(by(solver));
      rise = std::max(rise, world.blocks[0].position.z() - 0.1);
    }
    CAPTURE(rigid, rise);
    CHECK(solver.worst <= by_solver(1e-10));
    CHECK(rise > 0.005);
  }
}

TEST_CASE("friction limits: on an incline a block rests below the friction angle and slides above",
          "[scenes][scene]") {
  const double mu = 0.5, dt = 0.005, limit = std::atan(mu);
  for (const double off : {-0.3, -1e-3, 1e-3, 0.3}) {
    const double angle = limit + off;
    RigidWorld world = make_cube_on_ground({.friction = mu, .angle = angle});
    RigidWorld swept = world;
    WorldSolver solver;
    ReferenceSolver reference;
    for (int k = 1; k <= 3; ++k) {
      world.step(by(solver));
      swept.step([&](const auto& p, auto& v, auto& i) { reference(p, v, i); });
      const double slide = 9.81 * (std::sin(angle) - mu * std::cos(angle)) * dt * k;
      const auto& v = world.blocks[0].velocity;
      CAPTURE(off, v.transpose(), solver.worst);
      if (off < 0) CHECK(v.norm() <= rounding(5000, 1.0));
      if (off > 0) CHECK(std::abs(v(3) - slide) <= by_solver(1e-10));
      CHECK((v - swept.blocks[0].velocity).norm() <= by_solver(1e-10));
    }
  }
}

TEST_CASE("friction limits: once it slides the kinetic coefficient holds, until it rests again",
          "[scenes][scene]") {
  const double at_rest = 0.6, sliding = 0.3, dt = 0.005, weight = 9.81;
  WorldSolver solver;
  const RigidWorld::Solve call = by(solver);
  RigidWorld world = make_cube_on_ground({});
  world.friction = carom::StaticKineticFriction<double>{at_rest, sliding, 1e-9};
  auto& cube = world.blocks[0];
  cube.force.x() = 0.5 * weight;  // between the two: stays, however long
  for (int k = 0; k < 5; ++k) world.step(call);
  CHECK(cube.velocity.norm() <= rounding(5000, 1.0));
  cube.force.x() = 0.61 * weight;
  world.step(call);
  CHECK(cube.velocity(3) ==
        Approx(0.01 * weight * dt).epsilon(by_solver(1e-6)));  // breaks loose at μ_s
  cube.force.x() = 0.5 * weight;
  const double before = cube.velocity(3);
  world.step(call);
  CHECK(cube.velocity(3) - before ==
        Approx(0.2 * weight * dt).epsilon(by_solver(1e-6)));  // slides on at μ_k
  cube.force.x() = 0;
  for (int k = 0; k < 10; ++k) world.step(call);
  CHECK(cube.velocity.norm() <= rounding(5000, 1.0));
  cube.force.x() = 0.5 * weight;
  world.step(call);
  CHECK(cube.velocity.norm() <= rounding(5000, 1.0));  // at rest again: μ_s
  CHECK(solver.worst <= rounding(500, 1.0));
}

TEST_CASE(
    "friction limits: a dropped cube rebounds with its restitution, and a gap closes and no more",
    "[scenes][scene]") {
  WorldSolver solver;
  const RigidWorld::Solve call = by(solver);
  RigidWorld bounce = make_cube_on_ground({.velocity = {0, 0, -2}});
  bounce.restitution = 0.5;
  bounce.step(call);
  CHECK(bounce.blocks[0].velocity(5) == Approx(1));
  RigidWorld land = make_cube_on_ground({.velocity = {0, 0, -2}});
  land.blocks[0].position.z() += 0.004;
  land.step(call);
  CHECK(std::abs(land.blocks[0].position.z() - 0.1) <= rounding(5000, 1.0));  // arrives at −0.8 m/s
  land.step(call);
  CHECK(land.blocks[0].velocity.norm() <= rounding(5000, 1.0));
  RigidWorld deep = make_cube_on_ground({});
  deep.blocks[0].position.z() -= 1e-3;
  deep.step(call);
  CHECK(deep.blocks[0].velocity.norm() <= rounding(5000, 1.0));  // stays deep, and slow
}

TEST_CASE("friction limits: a gripper holds without creep, or lets go", "[scenes][scene]") {
  WorldSolver solver;
  const RigidWorld::Solve call = by(solver);
  for (const double force : {9.82, 20.0, 200.0}) {  // m g = 9.81 = 2 μ F at F = 9.81
    for (const bool corners : {false, true}) {
      if (corners && force < 10) continue;
      RigidWorld world = make_gripper({.force = force, .corners = corners});
      for (int k = 0; k < 5; ++k) {
        world.step(call);
        CAPTURE(force, corners, solver.worst);
        CHECK(fastest(world) <= rounding(5000, 1.0));
      }
    }
  }
  RigidWorld world = make_gripper({.force = 9, .corners = false});
  for (int k = 1; k <= 3; ++k) {
    world.step(call);
    CHECK(world.blocks[0].velocity(5) ==
          Approx(-0.81 * world.time_step * k).epsilon(by_solver(1e-9)));
  }
}

TEST_CASE("friction limits: wedges lock up to the friction angle", "[scenes][scene]") {
  const double limit = std::atan(0.5);
  for (const int count : {3, 5}) {
    for (const double off : {-0.2, -0.02, 0.02, 0.2}) {
      WorldSolver solver(1e-12);
      RigidWorld world = make_wedge_chain({.count = count, .angle = limit + off});
      world.step(by(solver));
      const double speed = fastest(world);
      CAPTURE(count, off, speed);
      CHECK(solver.worst <= rounding(5000, 1.0));
      if (off < 0) CHECK(speed <= by_solver(1e-10));
      if (off > 0) CHECK(speed > clearly(1e-3));
    }
  }
}

TEST_CASE("friction limits: a capstan holds up to its ratio, exp(mu theta) in the limit",
          "[scenes][scene]") {
  carom::ContactSolver<double> solver({.tolerance = 1e-12});
  for (const int count : {8, 20}) {
    for (const double factor : {0.5, 0.999, 1.001, 2.0}) {
      Capstan capstan{.count = count};
      capstan.pull = capstan.hold * capstan_ratio(capstan) * factor;
      const auto problem = make_capstan(capstan);
      VectorX<double> velocity = problem.free_velocity();
      const auto report = solver.solve(problem, velocity);
      CAPTURE(count, factor, report.residual, report.iterations, velocity.norm());
      CHECK(report.converged());
      if (factor < 1) CHECK(velocity.norm() <= by_solver(1e-9));
      if (factor > 1) CHECK(velocity.norm() > clearly(1e-6));
    }
  }
  Capstan capstan;
  for (const int count : {10, 100, 1000}) {
    capstan.count = count;
    const double limit = std::exp(capstan.friction * capstan.angle);
    CHECK(std::abs(capstan_ratio(capstan) / limit - 1) <= 1.0 / (count * count));
  }
}

TEST_CASE("friction limits: without a solution none is claimed", "[scenes][scene]") {
  for (const double friction : {0.0, 0.5}) {
    const auto problem = make_overfull_slot(0.1, friction);
    for (const double tolerance : {1e-6, 1e-12}) {
      carom::ContactSolver<double> solver({.tolerance = tolerance});
      VectorX<double> velocity = problem.free_velocity();
      const auto report = solver.solve(problem, velocity);
      CAPTURE(friction, tolerance, report.residual, report.iterations, solver.impulse().norm());
      CHECK(!report.converged());
      CHECK(velocity.allFinite());
    }
  }
}

}  // namespace friction_limits_test
