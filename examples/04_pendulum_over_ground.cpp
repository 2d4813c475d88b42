// SPDX-License-Identifier: BSD-3-Clause
// How does a simulator of my own get contact?
//
// Two light rods of 1 m hang from a hinge 1.6 m above the ground, at angles q to the vertical, with
// masses m1, m2 at their ends. The simulator knows its mass matrix M(q), its forces, the height of
// the lower bob and the bob's Jacobian; one call per step gives it contact. The example checks that
// gravity and contact account for the kinetic energy, and that in the end the ground bears the
// force that statics says, inside the friction cone, at a depth of force over stiffness.
#include <cmath>
#include <cstdio>
#include <exception>

#include <Eigen/LU>

#include "carom/carom.hpp"

int main() try {
  constexpr double m1 = 1, m2 = 2, gravity = 9.81, hinge = 1.6, dt = 5e-4;
  carom::CompliantContact<double> ground{
      .gap = 0, .stiffness = 1e5, .dissipation_time = 1e-3, .friction = 0.3};
  carom::ContactProblem<double> problem(dt);
  carom::SapSolver<double> solver({.law = carom::FrictionLaw::coulomb});
  Eigen::Vector2d q(1.2, 1.5), weight, force;
  Eigen::VectorXd v = Eigen::Vector2d::Zero();
  Eigen::Matrix2d mass, lever;
  double work = 0, lost = 0;  // of gravity and contact, of contact alone [J]
  for (int step = 0; step < 24'000; ++step) {
    const double c = m2 * std::cos(q(0) - q(1)), s = m2 * std::sin(q(0) - q(1));
    mass << m1 + m2, c, c, m2;
    weight << -gravity * (m1 + m2) * std::sin(q(0)), -gravity * m2 * std::sin(q(1));
    const Eigen::Vector2d spin(-s * v(1) * v(1), s * v(0) * v(0));  // minus Coriolis' terms
    lever << std::cos(q(0)), std::cos(q(1)), std::sin(q(0)), std::sin(q(1));  // bob's x, height
    Eigen::Matrix<double, 3, 2> jacobian = Eigen::Matrix<double, 3, 2>::Zero();
    jacobian.row(0) = lever.row(0);  // a tangent; the other one is across the plane
    jacobian.row(2) = lever.row(1);  // the normal, up
    ground.gap = hinge - std::cos(q(0)) - std::cos(q(1));

    problem.reset(dt);
    const Eigen::Vector2d before = v, free = v + mass.inverse() * (weight + spin) * dt;
    problem.add_contact(problem.add_body(mass, free), jacobian, ground);
    if (!solver.solve(problem, v).converged()) return 1;

    force << solver.impulse()(0) / dt, solver.impulse()(2) / dt;
    lost -= force.dot(lever * (before + v)) / 2 * dt;
    work += (weight + lever.transpose() * force).dot(before + v) / 2 * dt;
    q += dt * v;
  }
  const double missing = std::abs(work - v.dot(mass * v) / 2), depth = -ground.gap;
  const Eigen::Vector2d statics = -lever.transpose().inverse() * weight;
  std::printf("the contact took %.2f J; energy not accounted for: %.3f J\n", lost, missing);
  std::printf("at rest it holds (%.4f, %.4f) N; by statics (%.4f, %.4f) N, at most %.4f along it\n",
              force(0), force(1), statics(0), statics(1), ground.friction * force(1));
  std::printf("depth %.6f mm; force over stiffness %.6f mm\n", 1e3 * depth, 1e-2 * force(1));
  const bool right = lost > 5 && missing < 0.02 && (force - statics).norm() < 1e-4 &&
                     std::abs(force(0)) <= ground.friction * force(1) &&
                     std::abs(depth - force(1) / ground.stiffness) < 1e-8;
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
