// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/cones/friction_cone.hpp"

#include "scenes/ground.hpp"

namespace carom::examples {

/// @file
/// Steady states of bodies on compliant ground, in closed form.
/// Notation: m mass, g gravity, a slope, δt step; R, μ, k, τ_d of the contact.

/// Creep on a slope with tan a < μ: vₜ = Rₜ m g sin a δt [m/s]; `mass` is the part of the body's
/// mass that one contact carries.
[[nodiscard]] inline double creep_velocity(double tangent_regularization, double mass, double angle,
                                           double gravity, double time_step) {
  return tangent_regularization * mass * gravity * std::sin(angle) * time_step;
}

/// Sliding down a slope with tan a > μ: acceleration g (sin a − μ cos a) [m/s²].
[[nodiscard]] inline double slide_acceleration(double friction, double angle, double gravity) {
  return gravity * (std::sin(angle) - friction * std::cos(angle));
}

/// Rest on a spring: ϕ = −m g/k [m].
[[nodiscard]] inline double resting_gap(double mass, double gravity, double stiffness) {
  return -mass * gravity / stiffness;
}

/// Steady sliding at vₜ on the flat under the convex law:
/// ϕ = −(δt + τ_d)(Rₙ (1 + μ² Rₜ/Rₙ) m g δt − μ vₜ) [m]. The term in vₜ is the model's artefact:
/// Coulomb's law itself has ϕ = −(δt + τ_d) Rₙ m g δt.
[[nodiscard]] inline double gliding_gap(const Ground& ground, const ContactWeights<double>& weights,
                                        double mass, double speed, double time_step) {
  const double mu = ground.friction;
  const double weight = mass * -ground.gravity.z() * time_step;
  return -(time_step + ground.dissipation_time) *
         ((weights.normal + mu * mu * weights.tangent) * weight - mu * speed);
}

}  // namespace carom::examples
