// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/footed_body.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

#include "scenes/ground.hpp"

namespace footed_body_test {

using carom::testing::by_settling, carom::testing::by_solver;

using carom::examples::BodyShape, carom::examples::FootedBody, carom::examples::Ground;
using carom::examples::make_disc;

namespace {

constexpr double gravity = 9.81, mass = 3, radius = 1.5, mu = 0.4, time_step = 0.01;

/// A disc on three points.
FootedBody make_pizza_saver() {
  Ground ground;
  ground.friction = mu;
  return FootedBody(make_disc(mass, radius), ground, time_step);
}
/// Twists it by a constant torque about its axis.
void twist(FootedBody& disc, double torque, int steps) {
  for (int i = 0; i < steps; ++i) disc.step({0, 0, torque});
}

}  // namespace

TEST_CASE("footed_body: below the transition the pizza saver holds, its feet share the torque",
          "[scenes][scene]") {
  const double transition = mu * mass * gravity * radius;
  for (const double part : {0.95, 0.5, 0.1}) {
    if (part < carom::testing::sweep(0.9, 0.0)) continue;
    const double torque = part * transition;
    FootedBody disc = make_pizza_saver();
    twist(disc, torque, 1500);
    CAPTURE(part, disc.velocity.transpose());
    const double tangent = disc.problem().friction_contact_law(0).regularization.tangent;
    for (int foot = 0; foot < 3; ++foot) {
      const Eigen::Vector3d impulse = disc.impulse(foot);
      CHECK(impulse.z() == Approx(time_step * mass * gravity / 3).epsilon(by_settling(1e-6)));
      CHECK(impulse.head<2>().norm() ==
            Approx(time_step * torque / (3 * radius)).epsilon(by_settling(1e-6)));
    }
    // What turns is the creep of three sticking feet, v_t = R_t g_t.
    CHECK(disc.velocity(2) * radius ==
          Approx(tangent * time_step * torque / (3 * radius)).epsilon(by_settling(1e-6)));
    CHECK(disc.velocity.tail<3>().norm() <= by_settling(1e-8));
  }
}

TEST_CASE("footed_body: above the transition the pizza saver turns, friction at its limit",
          "[scenes][scene]") {
  const double transition = mu * mass * gravity * radius, inertia = mass * radius * radius / 2;
  for (const double part : {1.05, 1.5, 3.0}) {
    const double torque = part * transition;
    FootedBody disc = make_pizza_saver();
    twist(disc, torque, 400);
    const double before = disc.velocity(2);
    twist(disc, torque, 100);
    const double rate = (disc.velocity(2) - before) / (100 * time_step);
    CAPTURE(part, disc.velocity.transpose());
    CHECK(rate == Approx((torque - transition) / inertia).epsilon(by_settling(1e-6)));
    for (int foot = 0; foot < 3; ++foot) {
      CHECK(disc.impulse(foot).z() ==
            Approx(time_step * mass * gravity / 3).epsilon(by_settling(1e-6)));
      CHECK(disc.impulse(foot).head<2>().norm() ==
            Approx(mu * time_step * mass * gravity / 3).epsilon(by_settling(1e-6)));
    }
  }
}

TEST_CASE("footed_body: feet that stand twice share what one would carry", "[scenes][scene]") {
  Ground ground;
  BodyShape doubled = make_disc(mass, radius);
  for (int foot = 0; foot < 3; ++foot) doubled.feet.push_back(doubled.feet[std::size_t(foot)]);
  Ground half = ground;
  half.stiffness /= 2;
  half.relative_slip *= 2;
  FootedBody single(make_disc(mass, radius), ground, time_step), twice(doubled, half, time_step);
  for (int i = 0; i < 300; ++i) {
    single.step({0, 0, 5});
    twice.step({0, 0, 5});
    CAPTURE(i);
    CHECK((single.velocity - twice.velocity).norm() <= by_solver(1e-9));
    for (int foot = 0; foot < 3; ++foot) {
      CHECK((twice.impulse(foot) - twice.impulse(foot + 3)).norm() <= by_solver(1e-9));
      CHECK((twice.impulse(foot) - single.impulse(foot) / 2).norm() <= by_solver(1e-9));
    }
  }
}

TEST_CASE("footed_body: a table on four legs stands level, every leg carrying a quarter",
          "[scenes][scene]") {
  Ground ground;
  FootedBody table(carom::examples::make_box(10, {0.6, 0.4, 0.35}), ground, time_step);
  for (int i = 0; i < 800; ++i) table.step();
  CHECK(table.velocity.norm() <= by_settling(1e-8));
  for (int foot = 0; foot < 4; ++foot) {
    CAPTURE(foot, table.impulse(foot).transpose());
    CHECK(table.impulse(foot).z() ==
          Approx(time_step * 10 * gravity / 4).epsilon(by_settling(1e-6)));
    CHECK(table.impulse(foot).head<2>().norm() <= by_settling(1e-7));
  }
}

}  // namespace footed_body_test
