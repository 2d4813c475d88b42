// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/compliance.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// @file
/// What a surface does to an ordinary contact triple: it moves, or resists by direction or speed.

/// A contact with a surface that moves by itself, a conveyor belt: friction acts against the
/// velocity relative to it. CompliantContact and RigidContact have it as `surface_velocity`; this
/// is for numbers that are made already.
/// @param speed1  surface velocity of body A minus that of body B along t₁ [m/s]; the bodies' own
///                velocities are in J v already.
/// @param speed2  the same along t₂ [m/s].
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> on_moving_surface(WeightedContact<Scalar> contact,
                                                        const Scalar& speed1,
                                                        const Scalar& speed2) noexcept {
  contact.bias_velocity.x() += speed1;
  contact.bias_velocity.y() += speed2;
  return contact;
}

/// Rows for friction that differs between the tangents, (γ₁/μ₁)² + (γ₂/μ₂)² ≤ γₙ²: tangents scaled
/// so that the cone is the round one with μ = 1, and the contact an ordinary one. Its tangential
/// impulses are then γ_i/μ_i, its sliding the direction of most dissipation. Both μ > 0.
///
/// The inverse mass w that turns σ and β into R is that of the scaled rows, so it changes with μ.
/// Where it must not change, use a WrenchContact of elliptic shape, or give R as a WeightedContact.
template <typename MatrixType, RealScalar Scalar>
[[nodiscard]] auto scaled_tangents(const Eigen::MatrixBase<MatrixType>& jacobian,
                                   const Scalar& friction1, const Scalar& friction2) {
  typename MatrixType::PlainObject scaled = jacobian;
  scaled.row(0) *= friction1;
  scaled.row(1) *= friction2;
  return scaled;
}

/// Friction that falls with speed, from static to kinetic.
template <RealScalar Scalar>
struct StribeckFriction {
  Scalar at_rest;      ///< μ₀ [-], ≥ 0.
  Scalar at_speed;     ///< μ_k [-], ≥ 0.
  Scalar slide_speed;  ///< v_s [m/s], > 0: where most of the difference is gone.
};

/// μ = μ_k + (μ₀ − μ_k) exp(−(s/v_s)²). Friction that falls is not convex: the slip speed s must be
/// known already, from the last step or from the last pass over the same step.
/// @cite  armstrong1994survey
template <RealScalar Scalar>
[[nodiscard]] Scalar friction_at(const StribeckFriction<Scalar>& friction,
                                 const Scalar& slip_speed) noexcept {
  using std::exp;
  const Scalar ratio = slip_speed / friction.slide_speed;
  return friction.at_speed + (friction.at_rest - friction.at_speed) * exp(-ratio * ratio);
}

/// Two coefficients: one for a contact at rest, one for a contact that slid in the step before.
template <RealScalar Scalar>
struct StaticKineticFriction {
  Scalar at_rest;         ///< μ₀ [-], ≥ 0.
  Scalar sliding;         ///< μ_k [-], ≥ 0.
  Scalar rest_speed = 0;  ///< Slip up to which a contact counts as at rest [m/s], ≥ 0; more
                          ///< than the slip that a solver leaves of a contact in stick.
};

/// μ_k where the slip speed, that of the step before, is above rest_speed, μ₀ elsewhere.
template <RealScalar Scalar>
[[nodiscard]] Scalar friction_at(const StaticKineticFriction<Scalar>& friction,
                                 const Scalar& slip_speed) noexcept {
  return slip_speed > friction.rest_speed ? friction.sliding : friction.at_rest;
}

}  // namespace CAROM_ABI
}  // namespace carom
