// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "carom/cones/friction_cone.hpp"
#include "carom/contact/detail/near_rigid.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A contact by the physical data of its materials. A contact in stick, or without friction, obeys
/// γₙ = δt k (−(ϕ + δt vₙ) − τ_d vₙ)₊: a spring with linear dissipation, taken implicitly.
template <RealScalar Scalar>
struct CompliantContact {
  Scalar gap;                   ///< ϕ [m]; negative in penetration.
  Scalar stiffness;             ///< k [N/m], > 0; +∞ asks for the stiffest the step resolves.
  Scalar dissipation_time = 0;  ///< τ_d [s], ≥ 0.
  Scalar friction = 0;          ///< μ [-], ≥ 0.
  Scalar near_rigid = 1;        ///< β [-], ≥ 0: contacts stiffer than a period of β steps are
                                ///< softened to it, which keeps the problem well scaled and
                                ///< changes nothing that the step resolves. 0 switches this off.
  Scalar relative_slip = Scalar(1e-3);  ///< σ [-], > 0: tangential regularization relative to the
                                        ///< contact's inverse mass. Stick creeps at
                                        ///< vₜ = σ w γₜ; smaller creeps less and costs iterations.
};

/// A contact by the numbers of the convex problem themselves.
template <RealScalar Scalar>
struct WeightedContact {
  Scalar friction;                        ///< μ [-], ≥ 0.
  ContactWeights<Scalar> regularization;  ///< R [1/kg], both > 0.
  Vector3<Scalar> bias_velocity;          ///< v̂ [m/s], the velocity the contact relaxes to.
  bool rigid = false;  ///< Whether the contact does not give way: solvers of rigid contact then
                       ///< take R = 0, and solvers that need an R take the one above.
};

/// Turns physical data into R and v̂.
///
/// Rₙ = max(β²/(4π²) w, 1/(δt k (δt + τ_d))), Rₜ = σ w, v̂ = (0, 0, −ϕ/(δt + τ_d)).
/// @param time_step     δt [s], > 0.
/// @param inverse_mass  w [1/kg], > 0: an estimate of the contact's Delassus block, ‖W_ii‖_F/3.
/// @note  Real-time safe: no allocation, no exception, constant work.
/// @cite  castro2021unconstrained, sections on physical parameters and near-rigid contact.
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> make_weighted(const CompliantContact<Scalar>& contact,
                                                    const Scalar& time_step,
                                                    const Scalar& inverse_mass) noexcept {
  const Scalar relaxation = time_step + contact.dissipation_time;  // δt + τ_d
  const Scalar compliant = Scalar(1) / (time_step * contact.stiffness * relaxation);
  const detail::NearRigidWeight<Scalar> normal(compliant, contact.near_rigid, inverse_mass);
  return {contact.friction,
          {contact.relative_slip * inverse_mass, normal.value},
          {Scalar(0), Scalar(0), -contact.gap / relaxation}};
}

/// Returns the numbers unchanged.
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> make_weighted(const WeightedContact<Scalar>& contact,
                                                    const Scalar&, const Scalar&) noexcept {
  return contact;
}

/// What is wrong with a contact's physical data, or nothing.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const CompliantContact<Scalar>& contact) {
  constexpr const char* nonnegative = "a finite number >= 0";
  if (!detail::is_finite(contact.gap))
    return detail::fault(item + ": gap", "a finite number", contact.gap);
  if (!(contact.stiffness > Scalar(0))) {
    return detail::fault(item + ": stiffness", "a number > 0", contact.stiffness);
  }
  if (!detail::is_nonnegative(contact.dissipation_time)) {
    return detail::fault(item + ": dissipation time", nonnegative, contact.dissipation_time);
  }
  if (!detail::is_nonnegative(contact.friction)) {
    return detail::fault(item + ": friction", nonnegative, contact.friction);
  }
  if (!detail::is_nonnegative(contact.near_rigid)) {
    return detail::fault(item + ": near-rigid factor", nonnegative, contact.near_rigid);
  }
  if (!detail::is_finite(contact.stiffness) && contact.near_rigid == Scalar(0)) {
    return detail::fault(item + ": near-rigid factor",
                         "a number > 0 when the stiffness is infinite", contact.near_rigid);
  }
  if (!detail::is_positive(contact.relative_slip)) {
    return detail::fault(item + ": relative slip", "a finite number > 0", contact.relative_slip);
  }
  return {};
}

/// What is wrong with a contact's weights, or nothing.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const WeightedContact<Scalar>& contact) {
  if (!detail::is_nonnegative(contact.friction)) {
    return detail::fault(item + ": friction", "a finite number >= 0", contact.friction);
  }
  if (!detail::is_positive(contact.regularization.tangent)) {
    return detail::fault(item + ": tangential regularization", "a finite number > 0",
                         contact.regularization.tangent);
  }
  if (!detail::is_positive(contact.regularization.normal)) {
    return detail::fault(item + ": normal regularization", "a finite number > 0",
                         contact.regularization.normal);
  }
  if (contact.bias_velocity.allFinite()) return {};
  return detail::finite_fault(item + ": bias velocity", contact.bias_velocity);
}

}  // namespace CAROM_ABI
}  // namespace carom
