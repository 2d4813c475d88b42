// SPDX-License-Identifier: BSD-3-Clause
// How stiff may a contact be before the step must shrink?
//
// A mass of 1 kg is released on the ground: it sinks and oscillates on the contact's spring K and
// damper B, z = -(m g/K) (1 - exp(-a t) (cos w t + (a/w) sin w t)) with a = B/2m and
// w = sqrt(K/m - a^2). The step stays 10 ms, while the period falls from 0.6 s to 6 microseconds.
// The usual step, which takes the velocity from the forces and then the position from the velocity,
// becomes unstable where a period is shorter than pi steps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>

#include "carom/carom.hpp"

namespace {

constexpr double mass = 1, gravity = 9.81, time_step = 0.01;
constexpr int steps = 100;

struct Errors {
  double exact = 0, usual = 0;  // largest errors, as shares of the deflection m g/K
};

Errors drop(double stiffness, double damping) {
  const double a = damping / (2 * mass), w = std::sqrt(stiffness / mass - a * a);
  const double deflection = mass * gravity / stiffness;
  const carom::ContactMaterial<double> ground{Eigen::Vector3d::Constant(stiffness),
                                              Eigen::Vector3d::Constant(damping), 0.5};
  const carom::FreeBody<double> ball(mass, Eigen::Matrix3d::Identity(), {Eigen::Vector3d::Zero()});
  carom::ViscoelasticStepper<carom::FreeBody<double>> stepper(ball, {ground});
  carom::FreeBodyState<double> state;
  double z = 0, v = 0;
  Errors errors;
  for (int i = 1; i <= steps; ++i) {
    if (!stepper.step(state, time_step).converged()) return {INFINITY, INFINITY};
    v += time_step * (-gravity - (stiffness * z + damping * v) / mass);
    z += time_step * v;
    const double t = i * time_step;
    const double right =
        -deflection * (1 - std::exp(-a * t) * (std::cos(w * t) + a / w * std::sin(w * t)));
    errors.exact = std::max(errors.exact, std::abs(state.position.z() - right) / deflection);
    errors.usual = std::max(errors.usual, std::abs(z - right) / deflection);
  }
  return errors;
}

}  // namespace

int main() try {
  std::printf("K [N/m]  steps per period  error of carom  error of the usual step [m g/K]\n");
  bool right = true;
  for (int power = 2; power <= 12; power += 2) {
    const double stiffness = std::pow(10, power), damping = 0.02 * std::sqrt(stiffness * mass);
    const double period = 2 * std::numbers::pi * std::sqrt(mass / stiffness) / time_step;
    const Errors errors = drop(stiffness, damping);
    std::printf("  1e%02d  %17.2g  %14.1e  %s%.1e\n", power, period, errors.exact,
                errors.usual > 1 ? "lost, " : "", errors.usual);
    right = right && errors.exact < 1e-7 && (errors.usual < 2) == (period > std::numbers::pi);
  }
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
