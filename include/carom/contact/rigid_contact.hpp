// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
/// the step at its speed before the step bounces by Newton's law, uₙ ≥ e s. A penetration asks for
/// no velocity unless `correction` says so, because that velocity stays in the motion;
/// position_projection.hpp takes it out by positions alone.
template <RealScalar Scalar>
struct RigidContact {
  Scalar gap = 0;          ///< ϕ [m]; negative in penetration.
  Scalar friction = 0;     ///< μ [-], ≥ 0.
  Scalar restitution = 0;  ///< e [-], in [0, 1], Newton's.
  Scalar approach = 0;     ///< s = −uₙ before the step [m/s]; at most 0 where the gap opens.
  Scalar correction = 0;   ///< share of a penetration taken out in one step [-], in [0, 1].
  Scalar softness = Scalar(1e-6);  ///< R relative to the contact's inverse mass [-], > 0: for
                                   ///< solvers that need one.
};

/// v̂ₙ of a rigid contact [m/s].
/// @param time_step  δt [s], > 0.
/// @note  Real-time safe: no allocation, no exception, constant work.
/// @cite  moreau1988unilateral, for restitution in velocities.
template <RealScalar Scalar>
[[nodiscard]] Scalar rigid_bias(const RigidContact<Scalar>& contact,
                                const Scalar& time_step) noexcept {
  const bool closes = contact.approach > Scalar(0) && contact.gap <= time_step * contact.approach;
  const Scalar bounce = closes ? Scalar(contact.restitution * contact.approach) : Scalar(0);
  if (bounce > Scalar(0)) return bounce;
  const Scalar share = contact.gap > Scalar(0) ? Scalar(1) : contact.correction;
  return -share * contact.gap / time_step;
}

/// As numbers of the convex problem: v̂ = (0, 0, v̂ₙ), R = softness · w, marked as rigid.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> make_weighted(const RigidContact<Scalar>& contact,
                                                    const Scalar& time_step,
                                                    const Scalar& inverse_mass) noexcept {
  const Scalar weight = contact.softness * inverse_mass;
  return {contact.friction,
          {weight, weight},
          {Scalar(0), Scalar(0), rigid_bias(contact, time_step)},
          true};
}

/// What is wrong with a rigid contact's data, or nothing.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const RigidContact<Scalar>& contact) {
  const auto outside = [](const Scalar& x) { return !(x >= Scalar(0) && x <= Scalar(1)); };
  if (!detail::is_finite(contact.gap)) {
    return detail::fault(item + ": gap", "a finite number", contact.gap);
  }
  if (!detail::is_nonnegative(contact.friction)) {
    return detail::fault(item + ": friction", "a finite number >= 0", contact.friction);
  }
  if (outside(contact.restitution)) {
    return detail::fault(item + ": restitution", "a number in [0, 1]", contact.restitution);
  }
  if (!detail::is_finite(contact.approach)) {
    return detail::fault(item + ": approach", "a finite number", contact.approach);
  }
  if (outside(contact.correction)) {
    return detail::fault(item + ": correction", "a number in [0, 1]", contact.correction);
  }
  if (!detail::is_positive(contact.softness)) {
    return detail::fault(item + ": softness", "a finite number > 0", contact.softness);
  }
  return {};
}

}  // namespace CAROM_ABI
}  // namespace carom
