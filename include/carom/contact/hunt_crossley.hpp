// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/compliance.hpp"
#include "carom/contact/detail/faults.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A contact whose dissipation grows with penetration, fₙ = k x (1 − d vₙ)₊, x = (−ϕ)₊ at the end
/// of the step. Its force is continuous and never attractive.
///
/// γₙ(vₙ) = δt k (−ϕ − δt vₙ)₊ (1 − d vₙ)₊ never increases with vₙ. Without friction it is
/// therefore the derivative of a convex cost. With friction it is not, because it ignores the
/// influence of friction on vₙ. Here the law is replaced by a spring with a linear damper that has
/// the same impulse and slope at a velocity known from the last step or from the last pass over the
/// same step. If the passes converge, the result satisfies the law exactly.
/// @cite  hunt1975coefficient
template <RealScalar Scalar>
struct HuntCrossleyContact {
  Scalar gap;                           ///< ϕ [m]; negative in penetration.
  Scalar stiffness;                     ///< k [N/m], > 0, finite.
  Scalar dissipation;                   ///< d [s/m], ≥ 0.
  Scalar normal_velocity = 0;           ///< vₙ [m/s] at which the law is linearised.
  Scalar friction = 0;                  ///< μ [-], ≥ 0.
  Scalar near_rigid = 1;                ///< β, as in CompliantContact.
  Scalar relative_slip = Scalar(1e-3);  ///< σ, as in CompliantContact.
};

/// γₙ(vₙ) of the law [N·s].
template <RealScalar Scalar>
[[nodiscard]] Scalar hunt_crossley_impulse(const HuntCrossleyContact<Scalar>& contact,
                                           const Scalar& time_step,
                                           const Scalar& normal_velocity) noexcept {
  const Scalar depth = -contact.gap - time_step * normal_velocity;
  const Scalar damping = Scalar(1) - contact.dissipation * normal_velocity;
  if (!(depth > Scalar(0)) || !(damping > Scalar(0))) return Scalar(0);
  return time_step * contact.stiffness * depth * damping;
}

/// Converts the law to R and v̂ of the line through (vₙ, γₙ) with the slope of the law at vₙ. If
/// the contact opens before, the line is that at the opening. A slope that is too flat or too steep
/// for a step is limited; the line still goes through the point.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> make_weighted(const HuntCrossleyContact<Scalar>& contact,
                                                    const Scalar& time_step,
                                                    const Scalar& inverse_mass) noexcept {
  const Scalar& d = contact.dissipation;
  const Scalar closes = -contact.gap / time_step;  // x = 0 for larger velocities
  Scalar velocity = (std::min)(contact.normal_velocity, closes);
  if (d * velocity > Scalar(1)) velocity = Scalar(1) / d;
  const Scalar depth = -contact.gap - time_step * velocity;
  const Scalar spring = time_step * time_step * contact.stiffness;
  const Scalar slope =
      spring * (Scalar(1) - d * velocity) + time_step * contact.stiffness * d * depth;
  // The flattest line has this part of the spring's slope. Where damping cancels the whole force,
  // the slope vanishes and R would be infinite. Other values were not measured.
  constexpr int flattest_parts = 100;
  const WeightedContact<Scalar> bounded = make_weighted(
      CompliantContact<Scalar>{
          .gap = contact.gap,
          .stiffness = (std::max)(slope, spring / flattest_parts) / (time_step * time_step),
          .friction = contact.friction,
          .near_rigid = contact.near_rigid,
          .relative_slip = contact.relative_slip},
      time_step, inverse_mass);
  const Scalar impulse = hunt_crossley_impulse(contact, time_step, velocity);
  WeightedContact<Scalar> line = bounded;
  line.bias_velocity.z() = velocity + bounded.regularization.normal * impulse;
  return line;
}

/// The fault of the contact's data; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const HuntCrossleyContact<Scalar>& contact) {
  Fault own = detail::Checks(item)
                  .positive(": stiffness", contact.stiffness)
                  .nonnegative(": dissipation", contact.dissipation)
                  .finite(": normal velocity", contact.normal_velocity)
                  .fault();
  if (!own.empty()) return own;
  return law_fault(item, CompliantContact<Scalar>{.gap = contact.gap,
                                                  .stiffness = contact.stiffness,
                                                  .friction = contact.friction,
                                                  .near_rigid = contact.near_rigid,
                                                  .relative_slip = contact.relative_slip});
}

}  // namespace CAROM_ABI
}  // namespace carom
