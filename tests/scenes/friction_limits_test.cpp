// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/friction_limits.hpp"

#include <algorithm>
#include <cmath>

#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/reference_solver.hpp"

namespace friction_limits_test {

using carom::ContactProblem, carom::VectorX;
using carom::examples::Capstan, carom::examples::capstan_ratio, carom::examples::make_capstan;
using carom::examples::make_cube_on_ground, carom::examples::make_gripper;
using carom::examples::make_overfull_slot, carom::examples::make_wedge_chain;
using carom::examples::RigidWorld;
using carom::testing::ReferenceSolver;

namespace {

/// The convex law with little compliance.
void solve_convex(const ContactProblem<double>& problem, VectorX<double>& velocity,
                  VectorX<double>& impulse) {
  carom::SapSolver<double> solver({.tolerance = 1e-8});
  CHECK(solver.solve(problem, velocity).converged());
  impulse = solver.impulse();
}

double tilt_of(const RigidWorld& world) {
  return world.blocks[0].orientation.angularDistance(Eigen::Quaterniond::Identity());
}

}  // namespace

TEST_CASE(
    "friction limits: a launched cube stays on the ground under Coulomb's law, and lifts off under "
    "the convex one",
    "[scenes][scene]") {
  const double speed = 6, mu = 0.5, gravity = 9.81, dt = 0.005;
  RigidWorld exact = make_cube_on_ground({.friction = mu, .velocity = {speed, 0, 0}});
  RigidWorld convex = exact;
  convex.softness = 1e-3;
  ReferenceSolver solve;
  double rise = 0, tilt = 0, convex_rise = 0;
  for (int k = 1; k <= 300; ++k) {
    exact.step([&](const auto& p, auto& v, auto& i) { solve(p, v, i); });
    REQUIRE(solve.error <= 1e-13);
    rise = std::max(rise, std::abs(exact.blocks[0].position.z() - 0.1));
    tilt = std::max(tilt, tilt_of(exact));
    const double expected = std::max(0.0, speed - mu * gravity * dt * k);
    CHECK(std::abs(exact.blocks[0].velocity(3) - expected) <= 1e-9);
    if (k <= 40) convex.step(solve_convex);
    convex_rise = std::max(convex_rise, convex.blocks[0].position.z() - 0.1);
  }
  CAPTURE(rise, tilt, convex_rise);
  CHECK(rise <= 1e-9);
  CHECK(tilt <= 1e-6);
  CHECK(convex_rise > 0.01);
}

TEST_CASE("friction limits: on an incline a block rests below the friction angle and slides above",
          "[scenes][scene]") {
  const double mu = 0.5, dt = 0.005, limit = std::atan(mu);
  ReferenceSolver solve;
  for (const double off : {-0.3, -1e-3, 1e-3, 0.3}) {
    const double angle = limit + off;
    RigidWorld world = make_cube_on_ground({.friction = mu, .angle = angle});
    for (int k = 1; k <= 5; ++k) {
      world.step([&](const auto& p, auto& v, auto& i) { solve(p, v, i); });
      const double slide = 9.81 * (std::sin(angle) - mu * std::cos(angle)) * dt * k;
      const auto& v = world.blocks[0].velocity;
      CAPTURE(off, v.transpose(), solve.error, solve.sweeps);
      if (off < 0) CHECK(v.norm() <= 1e-12);
      if (off > 0) CHECK(std::abs(v(3) - slide) <= 1e-10);
    }
  }
}

TEST_CASE("friction limits: once it slides the kinetic coefficient holds, until it rests again",
          "[scenes][scene]") {
  const double at_rest = 0.6, sliding = 0.3, dt = 0.005, weight = 9.81;
  ReferenceSolver solve;
  const RigidWorld::Solve call = [&](const auto& p, auto& v, auto& i) { solve(p, v, i); };
  RigidWorld world = make_cube_on_ground({});
  world.friction = carom::StaticKineticFriction<double>{at_rest, sliding, 1e-9};
  auto& cube = world.blocks[0];
  cube.force.x() = 0.5 * weight;  // between the two: stays, however long
  for (int k = 0; k < 5; ++k) world.step(call);
  CHECK(cube.velocity.norm() <= 1e-12);
  cube.force.x() = 0.61 * weight;
  world.step(call);
  CHECK(cube.velocity(3) == Approx(0.01 * weight * dt).epsilon(1e-6));  // breaks loose at μ_s
  cube.force.x() = 0.5 * weight;
  const double before = cube.velocity(3);
  world.step(call);
  CHECK(cube.velocity(3) - before == Approx(0.2 * weight * dt).epsilon(1e-6));  // slides on at μ_k
  cube.force.x() = 0;
  for (int k = 0; k < 10; ++k) world.step(call);
  CHECK(cube.velocity.norm() <= 1e-12);
  cube.force.x() = 0.5 * weight;
  world.step(call);
  CHECK(cube.velocity.norm() <= 1e-12);  // at rest again: μ_s
}

TEST_CASE(
    "friction limits: a dropped cube rebounds with its restitution, and a gap closes and no more",
    "[scenes][scene]") {
  ReferenceSolver solve;
  const RigidWorld::Solve call = [&](const auto& p, auto& v, auto& i) { solve(p, v, i); };
  RigidWorld bounce = make_cube_on_ground({.velocity = {0, 0, -2}});
  bounce.restitution = 0.5;
  bounce.step(call);
  CHECK(bounce.blocks[0].velocity(5) == Approx(1));
  RigidWorld land = make_cube_on_ground({.velocity = {0, 0, -2}});
  land.blocks[0].position.z() += 0.004;
  land.step(call);
  CHECK(std::abs(land.blocks[0].position.z() - 0.1) <= 1e-12);  // arrives at −0.8 m/s
  land.step(call);
  CHECK(land.blocks[0].velocity.norm() <= 1e-12);
  RigidWorld deep = make_cube_on_ground({});
  deep.blocks[0].position.z() -= 1e-3;
  deep.step(call);
  CHECK(deep.blocks[0].velocity.norm() <= 1e-12);  // stays deep, and slow
}

TEST_CASE("friction limits: a gripper holds without creep, or lets go", "[scenes][scene]") {
  ReferenceSolver solve;
  const RigidWorld::Solve call = [&](const auto& p, auto& v, auto& i) { solve(p, v, i); };
  for (const double force : {9.82, 20.0, 200.0}) {  // m g = 9.81 = 2 μ F at F = 9.81
    for (const bool corners : {false, true}) {
      if (corners && force < 10) continue;
      RigidWorld world = make_gripper({.force = force, .corners = corners});
      for (int k = 0; k < 5; ++k) {
        world.step(call);
        CAPTURE(force, corners, solve.error, solve.sweeps);
        for (const auto& block : world.blocks) CHECK(block.velocity.norm() <= 1e-12);
      }
    }
  }
  RigidWorld world = make_gripper({.force = 9, .corners = false});
  for (int k = 1; k <= 3; ++k) {
    world.step(call);
    CHECK(world.blocks[0].velocity(5) == Approx(-0.81 * world.time_step * k).epsilon(1e-9));
  }
}

TEST_CASE("friction limits: wedges lock up to the friction angle", "[scenes][scene]") {
  ReferenceSolver solve{.tolerance = 1e-13};
  const double limit = std::atan(0.5);
  for (const double off : {-0.2, -0.02, 0.02, 0.2}) {
    RigidWorld world = make_wedge_chain({.count = 3, .angle = limit + off});
    world.step([&](const auto& p, auto& v, auto& i) { solve(p, v, i); });
    double speed = 0;
    for (const auto& block : world.blocks) speed = std::max(speed, block.velocity.norm());
    CAPTURE(off, speed, solve.error, solve.sweeps);
    if (off < 0) CHECK(speed <= 1e-9);
    if (off > 0) CHECK(speed > 1e-3);
  }
}

TEST_CASE("friction limits: a capstan holds up to its ratio, exp(mu theta) in the limit",
          "[scenes][scene]") {
  Capstan capstan;
  ReferenceSolver solve{.tolerance = 1e-13, .sweep_limit = 100000};
  for (const double factor : {0.5, 0.999, 1.001, 2.0}) {
    capstan.pull = capstan.hold * capstan_ratio(capstan) * factor;
    const auto problem = make_capstan(capstan);
    VectorX<double> velocity, impulse;
    solve(problem, velocity, impulse);
    CAPTURE(factor, solve.error, solve.sweeps, velocity.norm());
    if (factor < 1) CHECK(velocity.norm() <= 1e-9);
    if (factor > 1) CHECK(velocity.norm() > 1e-5);
  }
  for (const int count : {10, 100, 1000}) {
    capstan.count = count;
    const double limit = std::exp(capstan.friction * capstan.angle);
    CHECK(std::abs(capstan_ratio(capstan) / limit - 1) <= 1.0 / (count * count));
  }
}

TEST_CASE("friction limits: without a solution none is claimed", "[scenes][scene]") {
  ReferenceSolver solve{.sweep_limit = 1000};
  const auto problem = make_overfull_slot(0.1, 0.5);
  VectorX<double> velocity, impulse;
  solve(problem, velocity, impulse);
  CHECK(solve.error > 1e-6);
  CHECK(solve.sweeps == 1000);
}

}  // namespace friction_limits_test
