// SPDX-License-Identifier: BSD-3-Clause
// How far does a ball roll?
//
// A ball of radius R rolls over the ground at speed v. A contact that resists rolling bears a
// moment of up to mu_r times the normal force, mu_r in metres, and so the ball slows down at a =
// 5/7 mu_r g / R (inertia 2/5 m R^2) and stops after v^2 / 2a; without such a moment it rolls on.
// On a slope it stays where it is put while tan(slope) < mu_r / R.
#include <cmath>
#include <cstdio>
#include <exception>

#include "carom/carom.hpp"

namespace {

constexpr double mass = 0.2, radius = 0.03, gravity = 9.81, dt = 2e-3;
using Vector6 = Eigen::Matrix<double, 6, 1>;  // velocity of the centre, then rate of rotation

struct Ride {
  double distance = 0, speed = 0;  // [m], [m/s]
};

/// Rolls for so long on ground that falls along x; nothing if a step did not converge.
Ride roll(double rolling_friction, double speed, double slope, double duration) {
  Vector6 inertia;
  inertia << Eigen::Vector3d::Constant(mass),
      Eigen::Vector3d::Constant(0.4 * mass * radius * radius);
  const Eigen::Matrix<double, 6, 6> momentum_matrix = inertia.asDiagonal();
  // Rows (t1, t2, n) of the lowest point, then the rates of rotation about t1 and t2.
  Eigen::Matrix<double, 5, 6> jacobian = Eigen::Matrix<double, 5, 6>::Identity();
  jacobian(0, 4) = -radius;
  jacobian(1, 3) = radius;
  const carom::WrenchContact<double> ground{
      .contact = {.gap = 0, .stiffness = 1e6, .friction = 0.5},
      .shape = carom::ImpulseShape::spinless_rolling,
      .rolling_friction = rolling_friction};
  carom::ContactProblem<double> problem(dt);
  carom::ContactSolver<double> solver({.tolerance = 1e-12});
  Eigen::VectorXd velocity = Vector6::Zero();
  velocity(0) = speed;
  velocity(4) = speed / radius;  // it rolls without slip
  Ride ride;
  const auto steps = int(std::lround(duration / dt));
  for (int k = 0; k < steps; ++k) {
    problem.reset(dt);
    Vector6 free_velocity = velocity;
    free_velocity(0) += gravity * std::sin(slope) * dt;
    free_velocity(2) -= gravity * std::cos(slope) * dt;
    const auto ball = problem.add_body(momentum_matrix, free_velocity);
    problem.add_contact(ball, jacobian, ground);
    problem.make_rigid();
    if (!solver.solve(problem, velocity).converged()) return {NAN, NAN};
    ride.distance += dt * velocity(0);
  }
  ride.speed = velocity(0);
  return ride;
}

}  // namespace

int main() try {
  const double speed = 0.5, duration = 1.5;
  std::printf("mu_r [mm]  distance [m]  closed form\n");
  bool right = true;
  for (const double rolling_friction : {0.0, 2e-3, 4e-3}) {
    const Ride ride = roll(rolling_friction, speed, 0, duration);
    const double deceleration = 5 * rolling_friction * gravity / (7 * radius);
    const double expected =
        deceleration > 0 ? speed * speed / (2 * deceleration) : speed * duration;
    std::printf("%9.1f  %12.4f  %11.4f\n", 1000 * rolling_friction, ride.distance, expected);
    right = right && std::abs(ride.distance - expected) < 0.01 * expected;
  }
  const double limit = std::atan(2e-3 / radius);  // of the slope on which it stays
  const Ride stays = roll(2e-3, 0, 0.98 * limit, 0.2), leaves = roll(2e-3, 0, 1.02 * limit, 0.2);
  std::printf("slope 0.98 of the limit: %.1e m, 1.02: %.1e m\n", stays.distance, leaves.distance);
  return right && std::abs(stays.distance) < 1e-9 && leaves.distance > 1e-5 ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
