// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "carom/contact/compliance.hpp"
#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A block of rows by the numbers of the convex problem: its impulses are γ = P(R⁻¹ (v̂ − J v)),
/// where P is the projection onto its set.
template <RealScalar Scalar>
struct WeightedBlock {
  using Rows = RowNumbers<Scalar>;
  ImpulseSet<Scalar> set;
  /// R [1/kg, 1/(kg·m²)], > 0 in the set's rows. Rows that a cone bounds together have equal R,
  /// except in the elliptic cone.
  Rows regularization = Rows::Ones();
  Rows bias_velocity = Rows::Zero();  ///< v̂ [m/s, rad/s], the velocity to which the rows relax.
  /// Whether the block is rigid: then solvers of rigid contact use R = 0, and solvers that need an
  /// R use the one above.
  bool rigid = false;
  Scalar overlap = 0;           ///< As in WeightedContact, of a cone's normal row.
  Scalar overlap_velocity = 0;  ///< As in WeightedContact, of a cone's normal row.
};

/// Returns the numbers unchanged.
template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> make_weighted(const WeightedBlock<Scalar>& law, const Scalar&,
                                                  const RowNumbers<Scalar>&) noexcept {
  return law;
}

/// A friction contact as a block of three rows (t₁, t₂, n).
template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> as_block(const WeightedContact<Scalar>& contact) noexcept {
  WeightedBlock<Scalar> block;
  block.set = friction_impulses(contact.friction);
  const auto [tangent, normal] = contact.regularization;
  for (int i = 0; i < 3; ++i) {
    block.regularization(i) = i < 2 ? tangent : normal;
    block.bias_velocity(i) = contact.bias_velocity(i);
  }
  block.rigid = contact.rigid;
  block.overlap = contact.overlap;
  block.overlap_velocity = contact.overlap_velocity;
  return block;
}
/// Whether a block is a friction contact that a WeightedContact can represent: without adhesion.
template <RealScalar Scalar>
[[nodiscard]] bool is_friction_contact(const WeightedBlock<Scalar>& block) noexcept {
  return block.set.shape == ImpulseShape::friction && !detail::is_shifted(block.set) &&
         block.regularization(0) == block.regularization(1);
}
/// The block as a WeightedContact.
template <RealScalar Scalar>
[[nodiscard]] WeightedContact<Scalar> as_friction_contact(
    const WeightedBlock<Scalar>& block) noexcept {
  CAROM_EXPECTS(is_friction_contact(block));
  return {block.set.friction(0),
          {block.regularization(0), block.regularization(2)},
          {block.bias_velocity(0), block.bias_velocity(1), block.bias_velocity(2)},
          block.rigid,
          block.overlap,
          block.overlap_velocity};
}

/// The fault of a block's weights; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const WeightedBlock<Scalar>& law) {
  if (Fault set = set_fault(item, law.set); !set.empty()) return set;
  for (int i = 0; i < law.set.rows; ++i) {
    if (!detail::is_positive(law.regularization(i))) {
      return detail::fault(detail::entry(item + ": regularization", i), "a finite number > 0",
                           law.regularization(i));
    }
    if (!detail::is_finite(law.bias_velocity(i))) {
      return detail::fault(detail::entry(item + ": bias velocity", i), "a finite number",
                           law.bias_velocity(i));
    }
  }
  const auto unequal = [&](int first) {
    return law.regularization(first) != law.regularization(first + 1);
  };
  const bool rolls =
      law.set.shape == ImpulseShape::rolling || law.set.shape == ImpulseShape::spinless_rolling;
  const bool round =
      rolls || law.set.shape == ImpulseShape::friction || law.set.shape == ImpulseShape::torsional;
  for (const int first : {0, 3}) {
    if (!round || (first == 3 && !rolls)) continue;
    if (unequal(first)) {
      return detail::fault(detail::entry(item + ": regularization", first + 1),
                           "the same as the entry before", law.regularization(first + 1));
    }
  }
  return {};
}

namespace detail {

/// Sets numbers that have no meaning for a law to the same value in all laws of its kind.
template <RealScalar Scalar>
void clear_unused(WeightedBlock<Scalar>& law) noexcept {
  ImpulseSet<Scalar>& set = law.set;
  for (int i = set.rows; i < 6; ++i) {
    law.regularization(i) = Scalar(1);
    law.bias_velocity(i) = set.shift(i) = set.lower(i) = set.upper(i) = Scalar(0);
  }
  const bool bounded = set.shape == ImpulseShape::intervals;
  for (int i = 0; i < 6; ++i) {
    if (bounded) set.shift(i) = Scalar(0);
    if (!bounded) set.lower(i) = set.upper(i) = Scalar(0);
  }
  for (int i = friction_count(set.shape); i < 3; ++i) set.friction(i) = Scalar(0);
}

/// Rows of a spring with linear dissipation, γ = −δt k ((x + δt v) + τ_d v), as R and v̂. The
/// spring is softened to a period of β steps. Without a stiffness the row is rigid.
template <RealScalar Scalar>
struct SpringRow {
  Scalar regularization, bias_velocity;

  /// @param error  x [m, rad].
  /// @param unyielding_velocity  v̂ of a rigid row.
  /// @param inverse_mass  W_ii of the row.
  template <typename Law>
  SpringRow(const Law& law, const Scalar& error, const Scalar& unyielding_velocity,
            const Scalar& time_step, const Scalar& inverse_mass) noexcept {
    if (is_unyielding(law)) {
      regularization = unyielding_weight(inverse_mass);
      bias_velocity = unyielding_velocity;
      return;
    }
    const Scalar relaxation = time_step + law.dissipation_time;
    const Scalar compliant = Scalar(1) / (time_step * law.stiffness * relaxation);
    regularization = NearRigidWeight<Scalar>(compliant, law.near_rigid, inverse_mass).value;
    bias_velocity = -error / relaxation;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
