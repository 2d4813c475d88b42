// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/compliance.hpp"
#include "carom/core/elementary.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// @file
/// Effects of a surface on an ordinary contact triple: the surface moves, or its friction depends
/// on direction or speed.

/// A contact with a moving surface, such as a conveyor belt: friction acts against the velocity
/// relative to the surface. CompliantContact and RigidContact have it as `surface_velocity`. This
/// function is for numbers that are already computed.
/// @param speed1  surface velocity of body A minus that of body B along t₁ [m/s]; the velocities of
///                the bodies are already in J v.
/// @param speed2  the same along t₂ [m/s].
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> on_moving_surface(WeightedContact<Scalar> contact,
                                                        const Scalar& speed1,
                                                        const Scalar& speed2) noexcept {
  contact.bias_velocity.x() += speed1;
  contact.bias_velocity.y() += speed2;
  return contact;
}

/// Rows for friction that differs between the tangents, (γ₁/μ₁)² + (γ₂/μ₂)² ≤ γₙ². The tangents are
/// scaled such that the cone is the circular one with μ = 1, and the contact is an ordinary one.
/// Its tangential impulses are then γ_i/μ_i, and its sliding direction is that of largest
/// dissipation. Both μ > 0.
///
/// The inverse mass w that converts σ and β to R is that of the scaled rows and depends on μ. If it
/// must not depend on μ, use a WrenchContact of elliptic shape, or set R with a WeightedContact.
template <typename MatrixType, RealScalar Scalar>
[[nodiscard]] auto scaled_tangents(const Eigen::MatrixBase<MatrixType>& jacobian,
                                   const Scalar& friction1, const Scalar& friction2) {
  typename MatrixType::PlainObject scaled = jacobian;
  scaled.row(0) *= friction1;
  scaled.row(1) *= friction2;
  return scaled;
}

/// Friction that decreases with speed, from static to kinetic.
template <RealScalar Scalar>
struct StribeckFriction {
  Scalar at_rest;      ///< μ₀ [-], ≥ 0.
  Scalar at_speed;     ///< μ_k [-], ≥ 0.
  Scalar slide_speed;  ///< v_s [m/s], > 0: at this speed most of the difference has vanished.
};

/// μ = μ_k + (μ₀ − μ_k) exp(−(s/v_s)²). Decreasing friction is not convex: the slip speed s must be
/// known from the last step or from the last pass over the same step.
/// @cite  armstrong1994survey
template <RealScalar Scalar>
[[nodiscard]] Scalar friction_at(const StribeckFriction<Scalar>& friction,
                                 const Scalar& slip_speed) noexcept {
  using elementary::exp;
  const Scalar ratio = slip_speed / friction.slide_speed;
  return friction.at_speed + (friction.at_rest - friction.at_speed) * exp(-ratio * ratio);
}

/// Two coefficients: one for a contact at rest, one for a contact that slid in the step before.
template <RealScalar Scalar>
struct StaticKineticFriction {
  Scalar at_rest;  ///< μ₀ [-], ≥ 0.
  Scalar sliding;  ///< μ_k [-], ≥ 0.
  /// Largest slip of a contact at rest [m/s], ≥ 0. It must be larger than the slip that a solver
  /// returns for a sticking contact.
  Scalar rest_speed = 0;
};

/// μ_k if the slip speed of the step before is above rest_speed, otherwise μ₀.
template <RealScalar Scalar>
[[nodiscard]] Scalar friction_at(const StaticKineticFriction<Scalar>& friction,
                                 const Scalar& slip_speed) noexcept {
  return slip_speed > friction.rest_speed ? friction.sliding : friction.at_rest;
}

}  // namespace CAROM_ABI
}  // namespace carom
