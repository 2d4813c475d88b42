// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <type_traits>

#include "carom/contact/detail/near_rigid.hpp"
#include "carom/contact/impulse_set.hpp"

namespace carom::inline CAROM_ABI {

/// A constraint by the numbers of the convex problem themselves: rows that obey
/// γ = P(R⁻¹ (v̂ − J v)) onto a set of impulses.
template <RealScalar Scalar>
struct WeightedConstraint {
  using Rows = RowNumbers<Scalar>;
  ImpulseSet<Scalar> set;
  /// R [1/kg, 1/(kg·m²)], > 0 in the set's rows; equal where a cone bounds rows together, except
  /// in the elliptic one.
  Rows regularization = Rows::Ones();
  Rows bias_velocity = Rows::Zero();  ///< v̂ [m/s, rad/s], the velocity the rows relax to.
};

/// The numbers as they are.
template <RealScalar Scalar>
[[nodiscard]] WeightedConstraint<Scalar> make_weighted(const WeightedConstraint<Scalar>& law,
                                                       const Scalar&,
                                                       const RowNumbers<Scalar>&) noexcept {
  return law;
}

/// What is wrong with a constraint's weights, or nothing.
template <RealScalar Scalar>
[[nodiscard]] Fault constraint_fault(const std::string& item,
                                     const WeightedConstraint<Scalar>& law) {
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

/// Rows of a spring with linear dissipation, γ = −δt k ((x + δt v) + τ_d v), as R and v̂: the
/// spring is softened to a period of β steps.
template <RealScalar Scalar>
struct SpringRow {
  Scalar regularization, bias_velocity;

  /// @param error  x [m, rad].
  /// @param inverse_mass  W_ii of the row.
  template <typename Law>
  SpringRow(const Law& law, const Scalar& error, const Scalar& time_step,
            const Scalar& inverse_mass) noexcept {
    const Scalar relaxation = time_step + law.dissipation_time;
    const Scalar compliant = Scalar(1) / (time_step * law.stiffness * relaxation);
    regularization = NearRigidWeight<Scalar>(compliant, law.near_rigid, inverse_mass).value;
    bias_velocity = -error / relaxation;
  }
};

/// What is wrong with the numbers a spring is made of, or nothing.
template <typename Law>
[[nodiscard]] Fault spring_fault(const std::string& item, const Law& law) {
  using Scalar = std::remove_cvref_t<decltype(law.stiffness)>;
  if (!(law.stiffness > Scalar(0))) {
    return fault(item + ": stiffness", "a number > 0", law.stiffness);
  }
  if (!is_nonnegative(law.dissipation_time)) {
    return fault(item + ": dissipation time", "a finite number >= 0", law.dissipation_time);
  }
  if (!is_nonnegative(law.near_rigid)) {
    return fault(item + ": near-rigid factor", "a finite number >= 0", law.near_rigid);
  }
  if (!is_finite(law.stiffness) && law.near_rigid == Scalar(0)) {
    return fault(item + ": near-rigid factor", "a number > 0 when the stiffness is infinite",
                 law.near_rigid);
  }
  return {};
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
