// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "carom/contact/compliance.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A rigid contact. Its law is a lower bound of the normal velocity after the step, uₙ ≥ v̂ₙ.
/// Solvers of rigid contact use R = 0 for it. SapSolver, which needs an R, uses that of `softness`.
///
/// An open gap may close but not become negative: uₙ ≥ −ϕ/δt. If the gap would close within the
/// step at its velocity before the step, the contact bounces by Newton's law, uₙ ≥ e s. A
/// penetration is removed at overlap_velocity(), which is zero again when the penetration is zero;
/// position_projection.hpp removes it at once, by a correction of positions only.
///
/// Restitution needs the approach s. It is computed from the bodies' velocities before the step if
/// add_body() received them; otherwise it is given here.
template <RealScalar Scalar>
struct RigidContact {
  Scalar gap = 0;                          ///< ϕ [m]; negative in penetration.
  Scalar friction = 0;                     ///< μ [-], ≥ 0.
  std::optional<Scalar> restitution = {};  ///< e [-], in [0, 1], Newton's; no value: 0.
  /// s = (−uₙ)₊ before the step [m/s], ≥ 0, 0 where the gap opens; with a restitution.
  std::optional<Scalar> approach = {};
  /// Largest share of a penetration that is removed in one step [-], in [0, 1]; 0: the penetration
  /// remains.
  Scalar correction = Scalar(usual_overlap_share);
  /// R relative to the contact's inverse mass [-], > 0: for solvers that need one.
  Scalar softness = Scalar(1e-6);
  /// As in CompliantContact: velocity of the touched surface [m/s].
  Vector3<Scalar> surface_velocity = Vector3<Scalar>::Zero();
  /// The pressing velocity, which limits the velocity that removes a penetration. add_contact()
  /// computes it from the bodies.
  Pressing<Scalar> pressing = {};
};

/// v̂ₙ of a rigid contact that bounces, without that of the surface [m/s]; 0 for a contact that
/// does not bounce. A missing approach counts as zero.
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

/// v̂ₙ of a rigid contact without that of the surface [m/s]: from its bounce, otherwise from its
/// gap.
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

/// The numbers of the convex problem: v̂ = surface velocity + (0, 0, v̂ₙ), R = softness · w, marked
/// as rigid.
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

/// The fault of a rigid contact's data; empty if there is none.
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
