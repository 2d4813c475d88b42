// SPDX-License-Identifier: BSD-3-Clause
// How does a ball leave the ground?
//
// A ball of mass m and radius R falls from the height h and moves along the ground at speed u. With
// Newton's restitution e it comes back to e^2 h. Friction, with Coulomb's coefficient mu, takes
// speed along the ground and gives spin, until the point of contact stands still: u' = u - min(mu
// (1 + e) v, 2/7 u), v the speed of the fall (inertia 2/5 m R^2). A contact needs its approach, the
// speed at which it closed before the step, to know how to bounce.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include "carom/carom.hpp"

namespace {

constexpr double mass = 0.2, radius = 0.03, gravity = 9.81, height = 1, dt = 1e-3;
using Vector6 = Eigen::Matrix<double, 6, 1>;  // velocity of the centre, then rate of rotation

struct Bounce {
  double apex = 0, along = 0;  // height after the first impact [m], speed along the ground [m/s]
};

Bounce drop(double restitution, double friction, double speed) {
  Vector6 inertia;
  inertia << Eigen::Vector3d::Constant(mass),
      Eigen::Vector3d::Constant(0.4 * mass * radius * radius);
  const Eigen::Matrix<double, 6, 6> momentum_matrix = inertia.asDiagonal();
  Eigen::Matrix<double, 3, 6> jacobian = Eigen::Matrix<double, 3, 6>::Identity();
  jacobian(0, 4) = -radius;  // a ball that turns forwards moves its lowest point backwards
  jacobian(1, 3) = radius;
  carom::ContactProblem<double> problem(dt);
  carom::ContactSolver<double> solver({.tolerance = 1e-12});
  Eigen::VectorXd velocity = Vector6::Zero();
  velocity(0) = speed;
  Bounce bounce;
  bool has_hit = false;
  for (double gap = height; !has_hit || velocity(2) > 0; gap += dt * velocity(2)) {
    problem.reset(dt);
    Vector6 free_velocity = velocity;
    free_velocity(2) -= gravity * dt;
    const auto ball = problem.add_body(momentum_matrix, free_velocity, velocity);
    problem.add_contact(
        ball, jacobian,
        carom::RigidContact<double>{.gap = gap, .friction = friction, .restitution = restitution});
    if (!solver.solve(problem, velocity).converged()) return {};
    has_hit = has_hit || velocity(2) > 0;
    if (has_hit) bounce = {std::max(bounce.apex, gap), velocity(0)};
  }
  return bounce;
}

}  // namespace

int main() try {
  const double fall = std::sqrt(2 * gravity * height), speed = 3;
  std::printf("  e   mu   apex [m]     e^2 h   u' [m/s]  closed form\n");
  bool right = true;
  for (const double e : {0.3, 0.6, 0.9}) {
    for (const double mu : {0.0, 0.05, 0.5}) {
      const Bounce bounce = drop(e, mu, speed);
      const double along = speed - std::min(mu * (1 + e) * fall, 2 * speed / 7);
      std::printf("%.1f %4.2f  %9.4f %9.4f  %9.4f    %9.4f\n", e, mu, bounce.apex, e * e * height,
                  bounce.along, along);
      right = right && std::abs(bounce.apex - e * e * height) < 0.01 * height &&
              std::abs(bounce.along - along) < 0.01 * speed;
    }
  }
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
