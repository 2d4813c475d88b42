// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "carom/contact/compliance.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A contact that does not give way: what its normal velocity must exceed after the step, v̂ₙ, and
/// nothing else. Solvers of rigid contact take R = 0 for it; SapSolver, which needs an R, has that
/// of `softness`.
///
/// A gap that is open may close but not become negative: uₙ ≥ −ϕ/δt. One that would close within
/// the step at its speed before the step bounces by Newton's law, uₙ ≥ e s. A penetration is taken
/// out at overlap_velocity(), whose speed is gone when the penetration is; position_projection.hpp
/// takes it out at once, by positions alone.
///
/// The approach s that restitution needs follows from the bodies' velocities before the step, where
/// add_body() was given them, or is given here.
template <RealScalar Scalar>
struct RigidContact {
  Scalar gap = 0;                          ///< ϕ [m]; negative in penetration.
  Scalar friction = 0;                     ///< μ [-], ≥ 0.
  std::optional<Scalar> restitution = {};  ///< e [-], in [0, 1], Newton's; none: 0.
  /// s = (−uₙ)₊ before the step [m/s], ≥ 0, 0 where the gap opens; with a restitution.
  std::optional<Scalar> approach = {};
  /// Most of a penetration taken out in one step [-], in [0, 1]; 0: it stays.
  Scalar correction = Scalar(usual_overlap_share);
  Scalar softness = Scalar(1e-6);  ///< R relative to the contact's inverse mass [-], > 0: for
                                   ///< solvers that need one.
  /// As in CompliantContact: velocity of the touched surface by itself [m/s].
  Vector3<Scalar> surface_velocity = Vector3<Scalar>::Zero();
  /// What presses the bodies together, by which a penetration is taken out. add_contact() finds it
  /// from the bodies.
  Pressing<Scalar> pressing = {};
};

/// v̂ₙ of a rigid contact that bounces less that of the surface [m/s]; 0 of one that does not. An
/// approach that is not given counts as none.
/// @param time_step  δt [s], > 0.
/// @note  Real-time safe: no allocation, no exception, constant work.
/// @cite  moreau1988unilateral, for restitution in velocities.
template <RealScalar Scalar>
[[nodiscard]] Scalar bounce_velocity(const RigidContact<Scalar>& contact,
                                     const Scalar& time_step) noexcept {
  if (!contact.restitution || !contact.approach) return Scalar(0);
  const Scalar& approach = *contact.approach;
  const bool closes = approach > Scalar(0) && contact.gap <= time_step * approach;
  return closes ? Scalar(*contact.restitution * approach) : Scalar(0);
}

/// v̂ₙ of a rigid contact less that of the surface [m/s]: that of its bounce, or else of its gap.
/// @param time_step  δt [s], > 0.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] Scalar rigid_bias(const RigidContact<Scalar>& contact,
                                const Scalar& time_step) noexcept {
  const Scalar bounce = bounce_velocity(contact, time_step);
  if (bounce > Scalar(0)) return bounce;
  if (contact.gap > Scalar(0)) return -contact.gap / time_step;
  return overlap_velocity(Scalar(-contact.gap), contact.correction, contact.pressing, time_step)
      .value;
}

/// As numbers of the convex problem: v̂ = surface velocity + (0, 0, v̂ₙ), R = softness · w, marked as
/// rigid.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> make_weighted(const RigidContact<Scalar>& contact,
                                                    const Scalar& time_step,
                                                    const Scalar& inverse_mass) noexcept {
  const Scalar weight = contact.softness * inverse_mass;
  WeightedContact<Scalar> numbers{
      contact.friction, {weight, weight}, contact.surface_velocity, true};
  const Scalar bounce = bounce_velocity(contact, time_step);
  if (!(bounce > Scalar(0))) return detail::with_gap(numbers, contact, time_step);
  numbers.overlap = (std::max)(Scalar(-contact.gap), Scalar(0));
  numbers.bias_velocity.z() += bounce;
  return numbers;
}

/// What is wrong with a rigid contact's data, or nothing.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const RigidContact<Scalar>& contact) {
  const Scalar restitution = contact.restitution.value_or(Scalar(0));
  const Scalar approach = contact.approach.value_or(Scalar(0));
  return detail::contact_checks(item, contact)
      .share(": restitution", restitution)
      .expect(detail::is_nonnegative(approach), ": approach",
              "a finite number >= 0, 0 where the gap opens", approach)
      .expect(contact.restitution || !contact.approach, ": approach", "none without a restitution",
              approach)
      .share(": correction", contact.correction)
      .positive(": softness", contact.softness)
      .fault();
}

}  // namespace CAROM_ABI
}  // namespace carom
