// SPDX-License-Identifier: BSD-3-Clause
// Does a gripper hold what it grips, or does it creep?
//
// Two fingers on rails, each pushed by a motor of at most F, hold a block of 1 kg between them.
// With mu = 0.5 friction carries 2 mu F, so F = m g = 9.81 N is needed; with less the block falls
// with g - 2 mu F/m. With more, Coulomb's law with rigid contact holds it still. The convex law
// with compliant contact lets it creep at sigma w gamma: 1e-3 times inverse mass times impulse.
#include <cmath>
#include <cstdio>
#include <exception>

#include "carom/carom.hpp"

namespace {

constexpr double mass = 1, finger_mass = 0.3, gravity = 9.81, friction = 0.5, time_step = 0.005;

/// The problem of one step. Velocities and positions: block x, y, z, then each finger along x.
template <typename Contact>
void grip(carom::ContactProblem<double>& problem, const Eigen::VectorXd& velocity,
          const Eigen::VectorXd& place, double force, Contact contact) {
  problem.reset(time_step);
  const Eigen::Vector3d fall(0, 0, -gravity * time_step), free = velocity.head<3>() + fall;
  const auto block = problem.add_body(mass * Eigen::Matrix3d::Identity(), free);
  const Eigen::Matrix<double, 1, 1> along(1);
  const carom::Motor<double> motor{// its target is out of reach: it pushes with its limit
                                   .position_error = -1,
                                   .position_gain = 1e6,
                                   .effort_limit = force};
  for (int i = 0; i < 2; ++i) {
    const double side = i == 0 ? 1 : -1;  // the normal along x, from the finger into the block
    const auto finger = problem.add_body(finger_mass * along, velocity.segment<1>(3 + i));
    problem.add_constraint(finger, side * along, motor);
    Eigen::Matrix3d of_block;
    of_block << 0, 0, 1, 0, 1, 0, side, 0, 0;
    contact.gap = side * (place(0) - place(3 + i));
    problem.add_contact(finger, Eigen::Vector3d(0, 0, -side), block, of_block, contact);
  }
}

/// Speed of the block after one second [m/s].
template <typename Solver, typename Contact>
double speed_after_a_second(Solver solver, double force, const Contact& contact) {
  carom::ContactProblem<double> problem(time_step);
  Eigen::VectorXd velocity = Eigen::VectorXd::Zero(5), place = velocity;
  for (int i = 0; i < 200; ++i) {
    grip(problem, velocity, place, force, contact);
    if (!solver.solve(problem, velocity).converged()) return NAN;
    place += time_step * velocity;
  }
  return -velocity(2) + 0.0;
}

}  // namespace

int main() try {
  const carom::RigidContact<double> rigid{.friction = friction};
  const carom::CompliantContact<double> soft{.gap = 0, .stiffness = 1e6, .friction = friction};
  const Eigen::Vector3d inverse(1 / mass, 1 / mass, 1 / mass + 1 / finger_mass);
  const double creep = 1e-3 * inverse.norm() / 3 * mass * gravity / 2 * time_step;
  std::printf("speed of the block after 1 s, and what is expected of it [m/s]\n");
  std::printf("  F [N]     convex   expected    Coulomb   expected\n");
  bool right = true;
  for (const double force : {6.0, 9.0, 11.0, 20.0}) {
    const double fall = std::fmax(gravity - 2 * friction * force / mass, 0);
    const double crept = fall > 0 ? fall : creep;
    const double convex = speed_after_a_second(carom::SapSolver<double>(), force, soft);
    const double coulomb = speed_after_a_second(carom::ContactSolver<double>(), force, rigid);
    std::printf("%7.1f  %9.3e  %9.3e  %9.3e  %9.3e\n", force, convex, crept, coulomb, fall);
    right = right && std::abs(coulomb - fall) < 1e-6 && std::abs(convex - crept) < 2e-3 * crept;
  }
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
