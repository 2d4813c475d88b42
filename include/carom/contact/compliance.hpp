// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <numbers>
#include <string>
#include <type_traits>

#include "carom/cones/friction_cone.hpp"
#include "carom/contact/overlap.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// R of a spring that is softened to a period of β steps: max(1/(δt c), (β/2π)² w).
template <RealScalar Scalar>
struct NearRigidWeight {
  Scalar value;
  Scalar by_inverse_mass;  ///< (β/2π)²: the least R divided by the inverse mass
  bool clamped;            ///< whether value is the least R

  /// @param compliant     1/(δt c) for an impulse of −δt c per unit of velocity.
  /// @param near_rigid    β.
  /// @param inverse_mass  w.
  NearRigidWeight(const Scalar& compliant, const Scalar& near_rigid,
                  const Scalar& inverse_mass) noexcept {
    const Scalar turn = near_rigid / Scalar(2 * std::numbers::pi_v<long double>);
    by_inverse_mass = turn * turn;
    const Scalar rigid = by_inverse_mass * inverse_mass;
    clamped = !(compliant > rigid);
    value = clamped ? rigid : compliant;
  }
};

/// Whether a law with a stiffness and a Compliance has the softness of the step.
template <typename Law>
[[nodiscard]] bool is_soft_by_step(const Law& law) noexcept {
  return law.compliance == std::remove_cvref_t<decltype(law.compliance)>::step;
}
/// Whether such a law is rigid.
template <typename Law>
[[nodiscard]] bool is_unyielding(const Law& law) noexcept {
  return !is_soft_by_step(law) && !is_finite(law.stiffness);
}

/// R of rigid rows, for solvers that need one. It corresponds to RigidContact::softness.
/// @param inverse_mass  w of the rows.
template <RealScalar Scalar>
[[nodiscard]] Scalar unyielding_weight(const Scalar& inverse_mass) noexcept {
  return Scalar(1e-6) * inverse_mass;
}

/// R of the rows of a rigid joint. It is small enough that joints with 10 t on cubes of 1 kg are
/// accurate to micrometres. It is large enough that contradicting joints have an answer whose
/// impulses the type can represent together with those of the load.
/// @param inverse_mass  w of the row.
template <RealScalar Scalar>
[[nodiscard]] Scalar joint_weight(const Scalar& inverse_mass) noexcept {
  const Scalar roundings = 64 * std::numeric_limits<Scalar>::epsilon();
  return (roundings > Scalar(1e-8) ? roundings : Scalar(1e-8)) * inverse_mass;
}

/// v̂ of a rigid row: an open gap may close within the step, and a share of a penetration is
/// removed.
/// @param gap    ϕ [m]; negative in penetration.
/// @param share  of a penetration [-], in [0, 1].
template <RealScalar Scalar>
[[nodiscard]] Scalar gap_velocity(const Scalar& gap, const Scalar& share,
                                  const Scalar& time_step) noexcept {
  return -(gap > Scalar(0) ? Scalar(1) : share) * gap / time_step;
}

/// The required value of an option that has no effect on rigid contacts.
inline constexpr const char* unyielding_default =
    "its default, as without a stiffness nothing gives way";

/// The fault of the compliance numbers of a law; empty if there is none. Numbers out of range and
/// numbers without effect are faults.
/// @param usual_correction  the default of the law's `correction`.
template <typename Law>
[[nodiscard]] Fault yielding_fault(
    const std::string& item, const Law& law,
    const std::remove_cvref_t<decltype(Law::stiffness)>& usual_correction = 0) {
  using Scalar = std::remove_cvref_t<decltype(law.stiffness)>;
  const bool rigid = is_unyielding(law), by_step = is_soft_by_step(law);
  return Checks(item)
      .expect(law.stiffness > Scalar(0), ": stiffness", "a number > 0", law.stiffness)
      .expect(!by_step || !is_finite(law.stiffness), ": stiffness",
              "none, as its compliance is that of the step", law.stiffness)
      .nonnegative(": dissipation time", law.dissipation_time)
      .nonnegative(": near-rigid factor", law.near_rigid)
      .share(": correction", law.correction)
      .expect(!rigid || law.dissipation_time == Scalar(0), ": dissipation time", unyielding_default,
              law.dissipation_time)
      .expect(!rigid || law.near_rigid == Scalar(1), ": near-rigid factor", unyielding_default,
              law.near_rigid)
      .expect(!by_step || law.near_rigid > Scalar(0), ": near-rigid factor",
              "a number > 0 where the compliance is the step's", law.near_rigid)
      .expect(rigid || law.correction == usual_correction, ": correction",
              "its default, as it is of what does not give way", law.correction)
      .fault();
}

}  // namespace detail

/// How a contact or a joint yields.
enum class Compliance {
  stiffness,  ///< By its stiffness. An infinite stiffness is rigid.
  step,  ///< As a spring with a period of β steps: the stiffest spring that the step resolves.
};

/// A contact by the physical data of its materials. In stick or without friction it obeys γₙ = δt k
/// (−(ϕ + δt vₙ) − τ_d vₙ)₊: a spring with linear dissipation, evaluated at the end of the step.
///
/// Without a stiffness it is rigid, equal to a RigidContact with the same gap and friction. An
/// option without effect, such as the dissipation of a rigid contact, is rejected.
template <RealScalar Scalar>
struct CompliantContact {
  Scalar gap = 0;  ///< ϕ [m]; negative in penetration.
  /// k [N/m], > 0; +∞: rigid, unless `compliance` changes this.
  Scalar stiffness = std::numeric_limits<Scalar>::infinity();
  Scalar dissipation_time = 0;  ///< τ_d [s], ≥ 0; of a compliant contact.
  Scalar friction = 0;          ///< μ [-], ≥ 0.
  /// β [-], ≥ 0: a contact stiffer than a spring with a period of β steps is softened to this
  /// period. The problem is then well scaled, and nothing that the step resolves changes. 0
  /// disables this. Of a compliant contact.
  Scalar near_rigid = 1;
  /// σ [-], > 0: tangential regularization relative to the contact's inverse mass. A sticking
  /// contact creeps at vₜ = σ w γₜ. A smaller σ reduces the creep and costs iterations. Of a
  /// compliant contact.
  Scalar relative_slip = Scalar(1e-3);
  /// Compliance::step: as stiff as the step resolves; only without a stiffness.
  Compliance compliance = Compliance::stiffness;
  /// Velocity of the touched surface along (t₁, t₂, n) [m/s] that is not in J v: of a belt, or of a
  /// body with a given motion. The contact acts on J v minus this velocity.
  Vector3<Scalar> surface_velocity = Vector3<Scalar>::Zero();
  /// Largest share of a penetration that is removed in one step [-], in [0, 1], as in RigidContact;
  /// of a rigid contact.
  Scalar correction = Scalar(usual_overlap_share);
  Pressing<Scalar> pressing = {};  ///< As in RigidContact; add_contact() computes it.
};

/// A contact by the numbers of the convex problem.
template <RealScalar Scalar>
struct WeightedContact {
  Scalar friction;                        ///< μ [-], ≥ 0.
  ContactWeights<Scalar> regularization;  ///< R [1/kg], both > 0.
  Vector3<Scalar> bias_velocity;          ///< v̂ [m/s], the velocity to which the contact relaxes.
  /// Whether the contact is rigid: then solvers of rigid contact use R = 0, and solvers that need
  /// an R use the one above.
  bool rigid = false;
  Scalar overlap = 0;  ///< Overlap of the bodies [m], ≥ 0; for reports.
  /// The part of v̂ₙ that removes the overlap [m/s], ≥ 0. Solvers of rigid contact omit it where it
  /// has no answer.
  Scalar overlap_velocity = 0;
};

namespace detail {

/// The numbers of a rigid contact, including those for its gap: an open gap may close within the
/// step, and an overlap is removed.
template <RealScalar Scalar, typename Law>
[[nodiscard]] WeightedContact<Scalar> with_gap(WeightedContact<Scalar> numbers, const Law& law,
                                               const Scalar& time_step) noexcept {
  numbers.overlap = (std::max)(Scalar(-law.gap), Scalar(0));
  numbers.overlap_velocity =
      overlap_velocity(numbers.overlap, law.correction, law.pressing, time_step).value;
  numbers.bias_velocity.z() +=
      law.gap > Scalar(0) ? Scalar(-law.gap / time_step) : numbers.overlap_velocity;
  return numbers;
}

}  // namespace detail

/// Converts physical data to R and v̂.
///
/// Rₙ = max(β²/(4π²) w, 1/(δt k (δt + τ_d))), Rₜ = σ w, v̂ = s + (0, 0, −ϕ/(δt + τ_d)), where s is
/// the surface velocity. A rigid contact has the numbers of a RigidContact.
/// @param time_step     δt [s], > 0.
/// @param inverse_mass  w [1/kg], > 0: an estimate of the contact's Delassus block, ‖W_ii‖_F/3.
/// @note  Real-time safe: no allocation, no exception, constant work.
/// @cite  castro2021unconstrained, sections on physical parameters and near-rigid contact.
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> make_weighted(const CompliantContact<Scalar>& contact,
                                                    const Scalar& time_step,
                                                    const Scalar& inverse_mass) noexcept {
  Vector3<Scalar> bias = contact.surface_velocity;
  if (detail::is_unyielding(contact)) {
    const Scalar weight = detail::unyielding_weight(inverse_mass);
    return detail::with_gap<Scalar>({contact.friction, {weight, weight}, bias, true}, contact,
                                    time_step);
  }
  const Scalar relaxation = time_step + contact.dissipation_time;  // δt + τ_d
  const Scalar compliant = Scalar(1) / (time_step * contact.stiffness * relaxation);
  const detail::NearRigidWeight<Scalar> normal(compliant, contact.near_rigid, inverse_mass);
  bias.z() -= contact.gap / relaxation;
  const Scalar overlap = (std::max)(Scalar(-contact.gap), Scalar(0));
  return {
      contact.friction, {contact.relative_slip * inverse_mass, normal.value}, bias, false, overlap};
}

/// Returns the numbers unchanged.
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> make_weighted(const WeightedContact<Scalar>& contact,
                                                    const Scalar&, const Scalar&) noexcept {
  return contact;
}

namespace detail {

/// Checks of the gap, the friction and the surface velocity of a contact.
template <typename Law>
[[nodiscard]] Checks contact_checks(const std::string& item, const Law& contact) {
  return Checks(item)
      .finite(": gap", contact.gap)
      .nonnegative(": friction", contact.friction)
      .all_finite(": surface velocity", contact.surface_velocity);
}

}  // namespace detail

/// The fault of a contact's physical data; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const CompliantContact<Scalar>& contact) {
  const bool idle = detail::is_unyielding(contact) && contact.relative_slip != Scalar(1e-3);
  Fault own =
      detail::contact_checks(item, contact)
          .positive(": relative slip", contact.relative_slip)
          .expect(!idle, ": relative slip", detail::unyielding_default, contact.relative_slip)
          .fault();
  if (!own.empty()) return own;
  return detail::yielding_fault(item, contact, Scalar(usual_overlap_share));
}

/// The fault of a contact's weights; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const WeightedContact<Scalar>& contact) {
  return detail::Checks(item)
      .nonnegative(": friction", contact.friction)
      .positive(": tangential regularization", contact.regularization.tangent)
      .positive(": normal regularization", contact.regularization.normal)
      .all_finite(": bias velocity", contact.bias_velocity)
      .fault();
}

}  // namespace CAROM_ABI
}  // namespace carom
