// SPDX-License-Identifier: BSD-3-Clause
// When does a block on a slope slip, and how fast?
//
// A block of mass m = 2 kg lies on a slope of angle a, friction μ = 0.5, gravity g = 9.81 m/s². In
// the frame of the slope, x downhill and z out of the surface, its velocity without contact after a
// step δt is v + δt g (sin a, 0, −cos a). By Coulomb's law it sticks while tan a ≤ μ, that is up to
// 26.57 degrees; on steeper slopes it accelerates by g (sin a − μ cos a). Compliant contact sticks
// too, but for a creep of Rₜ m g sin a δt, some micrometres per second.
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>

#include "carom/carom.hpp"

namespace {

constexpr double mass = 2, friction = 0.5, gravity = 9.81, time_step = 0.01;

struct Motion {
  double speed;         // downhill, after two seconds [m/s]
  double acceleration;  // over the last step [m/s²]
  double creep;         // Rₜ m g sin a δt [m/s]
};

Motion slide(double angle) {
  const Eigen::Vector3d pull(gravity * std::sin(angle), 0, -gravity * std::cos(angle));
  const Eigen::Matrix3d identity = Eigen::Matrix3d::Identity();
  carom::ContactProblem<double> problem(time_step);
  carom::SapSolver<double> solver;
  Eigen::VectorXd velocity = Eigen::VectorXd::Zero(3);
  double height = 0, speed_before = 0;
  for (int step = 0; step < 200; ++step) {
    speed_before = velocity.x();
    const Eigen::VectorXd free_velocity = velocity + time_step * pull;
    problem.reset(time_step);
    const auto block = problem.add_body(mass * identity, free_velocity);
    problem.add_contact(
        block, identity,
        carom::CompliantContact<double>{
            .gap = height, .stiffness = 1e6, .dissipation_time = 0.02, .friction = friction});
    if (!solver.solve(problem, velocity).converged()) return {NAN, NAN, NAN};
    height += time_step * velocity.z();
  }
  return {velocity.x(), (velocity.x() - speed_before) / time_step,
          problem.friction_contact_law(0).regularization.tangent * mass * pull.x() * time_step};
}

}  // namespace

int main() try {
  std::printf("angle [deg]   speed [m/s]  acceleration [m/s^2]  expected [m/s^2]  mode\n");
  bool right = true;
  for (int degrees = 0; degrees <= 60; degrees += 5) {
    const double angle = degrees * std::numbers::pi / 180;
    const Motion motion = slide(angle);
    const bool slips = std::tan(angle) > friction;
    const double expected = slips ? gravity * (std::sin(angle) - friction * std::cos(angle)) : 0.0;
    const double shown = std::round(motion.acceleration * 1e6) / 1e6 + 0.0;  // never "-0"
    std::printf("%11d  %12.4g  %20.6f  %16.6f  %s\n", degrees, motion.speed, shown, expected,
                slips ? "slides" : "sticks");
    right = right && std::abs(motion.acceleration - expected) < 1e-6;
    if (!slips) right = right && std::abs(motion.speed - motion.creep) < 1e-9;
  }
  std::printf("%s\n", right ? "as Coulomb's law says" : "WRONG: not what Coulomb's law says");
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  std::fprintf(stderr, "%s\n", fault.what());
  return 1;
}
