// SPDX-License-Identifier: BSD-3-Clause
// Which friction made it slide that far?
//
// A block launched at 3 m/s came to rest after 1.3 m. The simulation is differentiated step by
// step: each step hands on the derivatives of velocity and height by mu, and its solve adds its
// own, dv = (dv/dv*) dv + (dv/dv^) dv^ + (dv/dmu) dmu. Newton's method on the distance then finds
// mu. The example checks the derivative by differences, and mu = v^2/(2 g (s + v dt/2)) by
// Coulomb's law.
#include <cmath>
#include <cstdio>
#include <exception>

#include "carom/carom.hpp"

namespace {

constexpr double mass = 2, gravity = 9.81, time_step = 0.005, speed = 3;

struct Slide {
  double distance = 0, by_friction = 0;  // [m], and its derivative
};

Slide slide(double friction) {
  carom::SapSolver<double> solver({.tolerance = 1e-14});
  carom::SapDerivative<double> derivative;
  carom::ProblemDifferential<double> change;
  carom::ContactProblem<double> problem(time_step);
  const Eigen::Matrix3d identity = Eigen::Matrix3d::Identity();
  Eigen::VectorXd velocity = Eigen::Vector3d(speed, 0, 0), slope = Eigen::Vector3d::Zero();
  Eigen::Vector3d place(0, 0, 0), place_slope(0, 0, 0);
  for (int i = 0; i < 800; ++i) {
    carom::CompliantContact<double> ground{
        .gap = place.z(), .stiffness = 1e5, .dissipation_time = 0.02, .friction = friction};
    problem.reset(time_step);
    const Eigen::Vector3d free = velocity - Eigen::Vector3d(0, 0, gravity * time_step);
    const auto block = problem.add_body(mass * identity, free);
    const auto contact = problem.add_contact(block, identity, ground);
    if (!solver.solve(problem, velocity).converged()) return {NAN, NAN};

    derivative.prepare(solver);
    if (!derivative.linearize(problem, velocity).usable()) return {NAN, NAN};
    change.set_zero(problem, carom::DifferentialParts::vectors);
    change.free_velocity = slope;
    change.friction(contact) = 1;
    const auto by_data = carom::make_compliance_derivative(ground, time_step, 1 / mass);
    change.bias_velocity(2) = by_data.bias_by_gap * place_slope.z();
    if (!derivative.push_forward(problem, change, slope).converged()) return {NAN, NAN};
    place += time_step * velocity;
    place_slope += time_step * slope;
  }
  return {place.x(), place_slope.x()};
}

}  // namespace

int main() try {
  const double wanted = 1.3, h = 1e-6;
  const double formula = speed * speed / (2 * gravity * (wanted + speed * time_step / 2));
  const double differences = (slide(0.3 + h).distance - slide(0.3 - h).distance) / (2 * h);
  const double slope_error = std::abs(slide(0.3).by_friction / differences - 1);
  double friction = 0.1, error = INFINITY;
  std::printf("     mu  distance [m]  its derivative [m]\n");
  for (int i = 0; i < 12 && error > 1e-9; ++i) {
    const Slide found = slide(friction);
    std::printf("%.5f  %12.6f  %18.6f\n", friction, found.distance, found.by_friction);
    friction -= (found.distance - wanted) / found.by_friction;
    error = std::abs(found.distance - wanted);
  }
  std::printf("mu = %.6f slides %.1e m off; by Coulomb's formula mu = %.6f\n", friction, error,
              formula);
  std::printf("derivative against differences: %.0e\n", slope_error);
  return error < 1e-9 && std::abs(friction - formula) < 1e-3 && slope_error < 1e-5 ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
