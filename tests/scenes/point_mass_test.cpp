// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/point_mass.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

#include "scenes/ground.hpp"

namespace point_mass_test {

using carom::testing::by_digits, carom::testing::by_settling, carom::testing::by_solver,
    carom::testing::rounding;

using carom::examples::Ground, carom::examples::make_incline, carom::examples::PointMass;

namespace {

constexpr double gravity = 9.81;

/// Steps until the velocity has settled.
void settle(PointMass& mass, int steps, const Eigen::Vector3d& force = Eigen::Vector3d::Zero()) {
  for (int i = 0; i < steps; ++i) mass.step(force);
}

}  // namespace

TEST_CASE("point_mass: at rest the spring carries the weight", "[scenes][scene]") {
  int settled = 0;
  for (const double stiffness : {1e3, 1e5}) {
    for (const double dissipation_time : {0.0, 0.02, 0.1}) {
      for (const double m : {0.1, 3.0}) {
        for (const double dt : {0.001, 0.01}) {
          Ground ground;
          ground.stiffness = stiffness;
          ground.dissipation_time = dissipation_time;
          PointMass mass(m, ground, dt);
          // The clamp must not soften this spring: R_n = 1/(dt k (dt + tau)) against w/(4 pi^2).
          const double relaxation = dt + dissipation_time;
          if (1 / (dt * stiffness * relaxation) < std::sqrt(3.0) / 3 / m / 39) continue;
          // A dashpot k (tau + dt) and what the implicit step adds set the slowest decay.
          const double decay = relaxation + 2 * m / (stiffness * relaxation);
          const int steps = int(30 * decay / dt);
          if (steps > carom::testing::sweep(1500, 5000)) continue;
          settle(mass, steps);
          ++settled;
          CAPTURE(stiffness, dissipation_time, m, dt, mass.position.transpose());
          CHECK(mass.velocity.norm() <= by_solver(1e-9));
          CHECK(mass.impulse().z() == Approx(m * gravity * dt).epsilon(by_solver(1e-9)));
          CHECK(mass.position.z() == Approx(-m * gravity / stiffness).epsilon(by_settling(1e-6)));
          CHECK(mass.impulse().head<2>().norm() <= rounding(5000, 1.0));
        }
      }
    }
  }
  CHECK(settled >= 12);
}

TEST_CASE("point_mass: below the friction angle it creeps, slowly and steadily",
          "[scenes][scene]") {
  const double m = 2, dt = 0.01;
  for (const double angle : {0.1, 0.3, 0.46}) {  // tan 0.46 = 0.495 < 0.5
    const Ground ground = make_incline(angle, gravity);
    PointMass mass(m, ground, dt);
    settle(mass, 600);
    const double tangent = mass.problem().friction_contact_law(0).regularization.tangent;
    CHECK(tangent == Approx(1e-3 * std::sqrt(3.0) / 3 / m).epsilon(rounding(5000, 1.0)));
    CAPTURE(angle, mass.velocity.transpose());
    CHECK(mass.velocity.x() ==
          Approx(tangent * m * gravity * std::sin(angle) * dt).epsilon(by_solver(1e-9)));
    CHECK(std::abs(mass.velocity.z()) <= by_solver(1e-9));
    CHECK(mass.impulse().x() ==
          Approx(-m * gravity * std::sin(angle) * dt).epsilon(by_solver(1e-9)));
    CHECK(mass.impulse().z() ==
          Approx(m * gravity * std::cos(angle) * dt).epsilon(by_solver(1e-9)));
  }
}

TEST_CASE("point_mass: above the friction angle it accelerates as Coulomb says",
          "[scenes][scene]") {
  const double m = 2, dt = 0.01;
  for (const double angle : {0.5, 0.8, 1.2}) {
    PointMass mass(m, make_incline(angle, gravity), dt);
    settle(mass, 300);
    const Eigen::Vector3d before = mass.velocity;
    settle(mass, 100);
    const Eigen::Vector3d gained = (mass.velocity - before) / (100 * dt);
    CAPTURE(angle, gained.transpose());
    CHECK(gained.x() ==
          Approx(gravity * (std::sin(angle) - 0.5 * std::cos(angle))).epsilon(by_solver(1e-8)));
    CHECK(std::abs(gained.z()) <= by_solver(1e-7));
    CHECK(mass.impulse().z() ==
          Approx(m * gravity * std::cos(angle) * dt).epsilon(by_solver(1e-8)));
    CHECK(-mass.impulse().x() == Approx(0.5 * mass.impulse().z()).epsilon(rounding(5000, 1.0)));
  }
}

TEST_CASE("point_mass: sliding at a steady pace it glides above the ground", "[scenes][scene]") {
  const double m = 1, dt = 0.01, tau = 0.02, mu = 0.5;
  for (const double speed : {0.1, 1.0, 3.0}) {
    Ground ground;
    ground.stiffness = 5000;
    PointMass mass(m, ground, dt);
    mass.velocity.x() = speed;
    settle(mass, 2000, {mu * m * gravity, 0, 0});
    const double v = mass.velocity.x();
    const auto [tangent, normal] = mass.problem().friction_contact_law(0).regularization;
    const double ratio = mu * mu * tangent / normal;
    const double expected = -(dt + tau) * (normal * (1 + ratio) * m * gravity * dt - mu * v);
    CAPTURE(speed, v, expected);
    CHECK(normal == Approx(1 / (dt * 5000 * (dt + tau))).epsilon(rounding(5000, 1.0)));
    CHECK(v > 0.5 * speed);
    CHECK(mass.position.z() == Approx(expected).epsilon(by_settling(1e-7)));
    CHECK(mass.impulse().z() == Approx(m * gravity * dt).epsilon(by_solver(1e-9)));
  }
}

TEST_CASE("point_mass: at one metre per second the glide is thirteen millimetres",
          "[scenes][scene]") {
  Ground ground;
  ground.stiffness = 5000;
  PointMass mass(1, ground, 0.01);
  mass.velocity.x() = 1;
  mass.position.z() = 0.013;
  for (int i = 0; i < 500; ++i) {
    mass.velocity.x() = 1;  // driven at constant speed
    mass.step({0.5 * gravity, 0, 0});
  }
  CHECK(mass.position.z() == Approx(0.013).margin(by_digits(1e-4)));
}

TEST_CASE("point_mass: under Coulomb's law it slides as deep as it rests", "[scenes][scene]") {
  const double m = 1, dt = 0.01, mu = 0.5;
  Ground ground;
  ground.stiffness = 5000;
  carom::SapSolver<double> solver({.law = carom::FrictionLaw::coulomb, .tolerance = 1e-14});
  carom::ContactProblem<double> problem(dt);
  carom::VectorX<double> velocity = Eigen::Vector3d(3, 0, 0);
  double height = 0;
  for (int i = 0; i < 2000; ++i) {  // pulled against friction at a steady pace
    problem.reset(dt);
    const Eigen::Vector3d free = velocity + dt * Eigen::Vector3d(mu * gravity, 0, -gravity);
    problem.add_body(m * Eigen::Matrix3d::Identity(), free);
    problem.add_contact(0, Eigen::Matrix3d::Identity(), ground.contact(height));
    REQUIRE(solver.solve(problem, velocity).converged());
    height += dt * velocity.z();
  }
  const double expected =
      -(dt + 0.02) * problem.friction_contact_law(0).regularization.normal * m * gravity * dt;
  CAPTURE(height, expected);
  CHECK(velocity.x() > 1);
  CHECK(expected == Approx(-m * gravity / 5000).epsilon(rounding(5000, 1.0)));
  CHECK(height == Approx(expected).epsilon(by_settling(1e-7)));
}

TEST_CASE("point_mass: the impulse obeys the spring-damper law in stick and without friction",
          "[scenes][law]") {
  const double m = 1, dt = 0.005, k = 2000, tau = 0.03;
  for (const double mu : {0.0, 1.0}) {
    Ground ground;
    ground.stiffness = k;
    ground.dissipation_time = tau;
    ground.friction = mu;
    PointMass mass(m, ground, dt);
    mass.position.z() = 0.05;
    mass.velocity.z() = -1;
    int touching = 0;
    for (int i = 0; i < 200; ++i) {
      const double gap = mass.position.z();
      mass.step();
      const double v = mass.velocity.z();
      const double expected = std::max(0.0, dt * k * (-(gap + dt * v) - tau * v));
      CAPTURE(mu, i, gap, v);
      CHECK(mass.impulse().z() == Approx(expected).margin(by_solver(1e-10)));
      touching += expected > 0;
    }
    CHECK(touching > 100);
  }
}

TEST_CASE("point_mass: the answer follows the units of length, mass and time", "[scenes][law]") {
  // lengths × 2, masses × 4, times × 8: every quantity scales by its dimension.
  const double length = 2, kilogram = 4, second = 8, speed = length / second;
  Ground ground = make_incline(0.3, gravity);
  Ground other = ground;
  other.gravity *= speed / second;
  other.stiffness *= kilogram / (second * second);
  other.dissipation_time *= second;
  PointMass here(1.5, ground, 0.01), there(1.5 * kilogram, other, 0.01 * second);
  here.position.z() = 0.02;
  there.position.z() = 0.02 * length;
  here.velocity = Eigen::Vector3d(0.5, -1, -2);
  there.velocity = here.velocity * speed;
  for (int i = 0; i < 150; ++i) {
    here.step();
    there.step();
    CAPTURE(i);
    CHECK((there.velocity - speed * here.velocity).norm() <= rounding(5000, 1.0));
    CHECK((there.position - length * here.position).norm() <= rounding(5000, 1.0));
    CHECK((there.impulse() - kilogram * speed * here.impulse()).norm() <= rounding(5000, 1.0));
  }
}

}  // namespace point_mass_test
