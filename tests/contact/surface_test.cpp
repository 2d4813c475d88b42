// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/surface.hpp"

#include <cmath>
#include <limits>

#include "carom/solvers/solve_contact.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace surface_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::ContactProblem, carom::friction_at, carom::on_moving_surface, carom::StribeckFriction;
using carom::WeightedContact;
using Eigen::Matrix3d, Eigen::Vector3d;

namespace {

const double dt = 0.01, mass = 2, gravity = 9.81;

/// A block on the ground for a step.
Vector3d step(const Vector3d& velocity, const WeightedContact<double>& contact) {
  ContactProblem<double> problem(dt);
  problem.add_body(mass * Matrix3d::Identity(),
                   Vector3d(velocity - dt * gravity * Vector3d::UnitZ()));
  problem.add_contact(0, Matrix3d::Identity(), contact);
  return carom::solve_contact(problem, carom::SapOptions<double>{.tolerance = 1e-13}).velocity;
}

}  // namespace

TEST_CASE("surface: a belt carries a block at its speed", "[contact][example]") {
  const double mu = 0.4, speed1 = 0.6, speed2 = -0.8;
  Vector3d velocity = Vector3d::Zero();
  double gap = 0;
  for (int k = 0; k < 300; ++k) {
    const auto contact = carom::make_weighted(
        carom::CompliantContact<double>{
            .gap = gap, .stiffness = 1e5, .dissipation_time = 0.01, .friction = mu},
        dt, 1 / mass);
    const Vector3d before = velocity;
    velocity = step(velocity, on_moving_surface(contact, speed1, speed2));
    gap += dt * velocity.z();
    if (k == 15) {  // slides: sped up by mu g towards the belt's velocity
      const Vector3d change = velocity - before;
      CHECK(change.head<2>().norm() / dt == Approx(mu * gravity).epsilon(by_solver(1e-2)));
      CHECK(change.x() * speed2 == Approx(change.y() * speed1).epsilon(by_solver(1e-9)));
    }
  }
  CHECK(velocity.x() == Approx(speed1).epsilon(by_solver(1e-8)));
  CHECK(velocity.y() == Approx(speed2).epsilon(by_solver(1e-8)));
  CHECK(std::abs(velocity.z()) < by_solver(1e-9));
}

TEST_CASE("surface: a belt at the body's own speed does nothing to it", "[contact][law]") {
  const WeightedContact<double> still{0.4, {1e-3, 1e-2}, {0, 0, 0}};
  const Vector3d belt(0.6, -0.8, 0), velocity(0.2, 0.5, 0);
  const Vector3d carried = step(velocity + belt, on_moving_surface(still, 0.6, -0.8));
  CHECK((carried - belt - step(velocity, still)).norm() < by_solver(1e-10));
}

TEST_CASE("surface: scaled tangents leave the normal and the caller's matrix alone",
          "[contact][law]") {
  Eigen::Matrix<double, 3, 5> rows = Eigen::Matrix<double, 3, 5>::Random();
  const auto given = rows;
  const auto scaled = carom::scaled_tangents(rows, 0.5, 2.0);
  CHECK(rows == given);
  CHECK(scaled.row(0) == 0.5 * given.row(0));
  CHECK(scaled.row(1) == 2.0 * given.row(1));
  CHECK(scaled.row(2) == given.row(2));
}

TEST_CASE("surface: friction falls from static to kinetic", "[contact][example]") {
  const StribeckFriction<double> friction{.at_rest = 0.6, .at_speed = 0.4, .slide_speed = 0.01};
  CHECK(friction_at(friction, 0.0) == 0.6);
  CHECK(friction_at(friction, 0.01) ==
        Approx(0.4 + 0.2 * std::exp(-1.0)).epsilon(rounding(50, 1.0)));
  CHECK(friction_at(friction, 1.0) == Approx(0.4).epsilon(rounding(50, 1.0)));
  // A block pushed by 0.5 m g holds from rest, and slides on at g (0.5 - 0.4) once it moves.
  const auto run = [&](double start) {
    Vector3d velocity(start, 0, 0);
    double gap = 0, change = 0;
    for (int k = 0; k < 200; ++k) {
      const auto contact = carom::make_weighted(
          carom::CompliantContact<double>{
              .gap = gap,
              .stiffness = 1e5,
              .dissipation_time = 0.01,
              .friction = friction_at(friction, std::hypot(velocity.x(), velocity.y()))},
          dt, 1 / mass);
      const Vector3d pushed = velocity + dt * 0.5 * gravity * Vector3d::UnitX();
      const double before = velocity.x();
      velocity = step(pushed, contact);
      change = velocity.x() - before;
      gap += dt * velocity.z();
    }
    return Eigen::Vector2d(velocity.x(), change / dt);
  };
  CHECK(run(0)(0) < by_solver(1e-3));
  CHECK(run(0.5)(1) == Approx(gravity * 0.1).epsilon(by_solver(1e-3)));
}

TEMPLATE_TEST_CASE("surface: the kinetic coefficient is for what slid, the static one for the rest",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  const carom::StaticKineticFriction<Scalar> friction{Scalar(0.6), Scalar(0.4), Scalar(1e-3)};
  for (const double speed : {0.0, 1e-9, 1e-4, 1e-3}) {
    CHECK(friction_at(friction, Scalar(speed)) == friction.at_rest);  // the bound included
  }
  for (const double speed : {1.001e-3, 1.0, 1e6}) {
    CHECK(friction_at(friction, Scalar(speed)) == friction.sliding);
  }
  const carom::StaticKineticFriction<Scalar> exact{Scalar(0.6), Scalar(0.4)};
  CHECK(friction_at(exact, Scalar(0)) == exact.at_rest);
  CHECK(friction_at(exact, std::numeric_limits<Scalar>::min()) == exact.sliding);
}

}  // namespace surface_test
