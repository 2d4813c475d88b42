// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <optional>

#include "carom/contact/compliance.hpp"
#include "carom/contact/detail/faults.hpp"
#include "carom/contact/detail/inverse_mass.hpp"
#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A contact that resists more than sliding, or adheres: a constraint with rows (t₁, t₂, n) and,
/// depending on its shape, the angular velocity about n, about (t₁, t₂), or about (t₁, t₂, n).
/// Without a stiffness all its rows are rigid.
template <RealScalar Scalar>
struct WrenchContact {
  CompliantContact<Scalar> contact;  ///< Gap, stiffness, friction along t₁ and t₂.
  /// Rows: friction (3), elliptic (3), torsional (4), spinless rolling (5) or rolling (6). Moments
  /// have separate bounds, or are on one ellipsoid with the force.
  ImpulseShape shape = ImpulseShape::rolling;
  Scalar rolling_friction = 0;    ///< μᵣ [m], ≥ 0; of a rolling shape.
  Scalar torsional_friction = 0;  ///< μₛ [m], ≥ 0; of a torsional or rolling shape.
  /// μ₂ [-], ≥ 0: friction along t₂, for an elliptic shape; no value: the same as along t₁.
  std::optional<Scalar> second_friction = {};
  /// F [N], ≥ 0: adhesion. The apex of the cone is at −F n: the contact pulls with at most F, and
  /// friction is bounded by μ (fₙ + F).
  Scalar bond = 0;
};

/// Converts physical data to R and v̂: those of the contact, and Rₘ = σ wₘ for the moments. A rigid
/// contact has the same share of w in all rows.
///
/// The w of the contact is ‖(W₁₁, W₂₂, W₃₃)‖/3. It does not contain the coupling of rows, which a
/// CompliantContact has in ‖W_ii‖_F/3. The two are equal without coupling, as on a ball. If the
/// normal misses the centre of mass, w is smaller here, and also Rₜ and an Rₙ at the clamp.
/// @param time_step     δt [s], > 0.
/// @param inverse_mass  of the rows, the diagonal of the Delassus block.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> make_weighted(const WrenchContact<Scalar>& law,
                                                  const Scalar& time_step,
                                                  const RowNumbers<Scalar>& inverse_mass) noexcept {
  const auto contact =
      make_weighted(law.contact, time_step, detail::contact_inverse_mass(inverse_mass));
  const Scalar& mu = law.contact.friction;
  Vector3<Scalar> friction(mu, Scalar(0), Scalar(0));
  if (law.shape == ImpulseShape::elliptic) friction.y() = law.second_friction.value_or(mu);
  const bool torsional =
      law.shape == ImpulseShape::torsional || law.shape == ImpulseShape::ellipsoidal_torsional;
  const bool rolling =
      law.shape == ImpulseShape::rolling || law.shape == ImpulseShape::ellipsoidal_rolling;
  const bool spinless = law.shape == ImpulseShape::spinless_rolling;
  if (torsional) friction.y() = law.torsional_friction;
  if (spinless) friction.y() = law.rolling_friction;
  if (rolling) {
    friction << mu, law.rolling_friction, law.torsional_friction;
  }
  WeightedBlock<Scalar> rows = as_block(contact);
  rows.set = cone_impulses(law.shape, friction);
  rows.set.shift(2) = time_step * law.bond;
  const Scalar slip =
      contact.rigid ? detail::unyielding_weight(Scalar(1)) : law.contact.relative_slip;
  if (torsional) rows.regularization(3) = slip * inverse_mass(3);
  if (rolling || spinless) {
    const Scalar roll = slip * (inverse_mass(3) + inverse_mass(4)) / 2;
    rows.regularization.template segment<2>(3) << roll, roll;
  }
  if (rolling) rows.regularization(5) = slip * inverse_mass(5);
  return rows;
}

namespace detail {

/// The fault of a friction that the shape of the contact does not have; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault unused_friction_fault(const std::string& item,
                                          const WrenchContact<Scalar>& law) {
  using Shape = ImpulseShape;
  const bool full = law.shape == Shape::rolling || law.shape == Shape::ellipsoidal_rolling;
  const bool rolls = full || law.shape == Shape::spinless_rolling;
  const bool spins =
      full || law.shape == Shape::torsional || law.shape == Shape::ellipsoidal_torsional;
  return Checks(item)
      .expect(rolls || law.rolling_friction == Scalar(0), ": rolling friction",
              "0 of a shape without rolling", law.rolling_friction)
      .expect(spins || law.torsional_friction == Scalar(0), ": torsional friction",
              "0 of a shape without torsion", law.torsional_friction)
      .expect(law.shape == Shape::elliptic || !law.second_friction, ": second friction",
              "none but of the elliptic shape", law.second_friction.value_or(Scalar(0)))
      .fault();
}

}  // namespace detail

/// The fault of such a contact; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const WrenchContact<Scalar>& law) {
  if (Fault contact = law_fault(item, law.contact); !contact.empty()) return contact;
  if (law.shape == ImpulseShape::intervals) return item + ": shape: expected a cone, got intervals";
  if (law.shape == ImpulseShape::planar) return item + ": shape: expected one in space, got planar";
  Fault own = detail::Checks(item)
                  .nonnegative(": rolling friction", law.rolling_friction)
                  .nonnegative(": torsional friction", law.torsional_friction)
                  .nonnegative(": second friction", law.second_friction.value_or(Scalar(0)))
                  .nonnegative(": bond", law.bond)
                  .fault();
  if (!own.empty()) return own;
  return detail::unused_friction_fault(item, law);
}

}  // namespace CAROM_ABI
}  // namespace carom
