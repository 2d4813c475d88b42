// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <type_traits>

#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Whether a law with a stiffness and a Compliance has the softness of the step.
template <typename Law>
[[nodiscard]] bool is_soft_by_step(const Law& law) noexcept {
  return law.compliance == std::remove_cvref_t<decltype(law.compliance)>::step;
}
/// Whether such a law does not give way.
template <typename Law>
[[nodiscard]] bool is_unyielding(const Law& law) noexcept {
  return !is_soft_by_step(law) && !is_finite(law.stiffness);
}

/// R of rows that do not give way, for solvers that need one, as RigidContact::softness has it.
/// @param inverse_mass  w of the rows.
template <RealScalar Scalar>
[[nodiscard]] Scalar unyielding_weight(const Scalar& inverse_mass) noexcept {
  return Scalar(1e-6) * inverse_mass;
}

/// R of the rows of a rigid joint. It is so small that joints hold, 10 t on cubes of 1 kg to
/// micrometres, and so large that joints that contradict each other have an answer, whose impulses
/// the type can hold beside those of the load.
/// @param inverse_mass  w of the row.
template <RealScalar Scalar>
[[nodiscard]] Scalar joint_weight(const Scalar& inverse_mass) noexcept {
  const Scalar roundings = 64 * std::numeric_limits<Scalar>::epsilon();
  return (roundings > Scalar(1e-8) ? roundings : Scalar(1e-8)) * inverse_mass;
}

/// v̂ of a row that does not give way: an open gap may close within the step, and a share of a
/// penetration is taken out.
/// @param gap    ϕ [m]; negative in penetration.
/// @param share  of a penetration [-], in [0, 1].
template <RealScalar Scalar>
[[nodiscard]] Scalar gap_velocity(const Scalar& gap, const Scalar& share,
                                  const Scalar& time_step) noexcept {
  return -(gap > Scalar(0) ? Scalar(1) : share) * gap / time_step;
}

/// The fault of an option that cannot act on what does not give way.
template <typename Scalar>
[[nodiscard]] Fault unyielding_fault(const std::string& item, const Scalar& number) {
  return fault(item, "its default, as without a stiffness nothing gives way", number);
}

/// What is wrong with the numbers that say how a law gives way, or nothing: those that are out of
/// range, and those that cannot act.
/// @param usual_correction  the default of the law's `correction`.
template <typename Law>
[[nodiscard]] Fault yielding_fault(
    const std::string& item, const Law& law,
    const std::remove_cvref_t<decltype(Law::stiffness)>& usual_correction = 0) {
  using Scalar = std::remove_cvref_t<decltype(law.stiffness)>;
  constexpr const char* nonnegative = "a finite number >= 0";
  if (!(law.stiffness > Scalar(0))) {
    return fault(item + ": stiffness", "a number > 0", law.stiffness);
  }
  if (is_soft_by_step(law) && is_finite(law.stiffness)) {
    return fault(item + ": stiffness", "none, as its compliance is that of the step",
                 law.stiffness);
  }
  if (!is_nonnegative(law.dissipation_time)) {
    return fault(item + ": dissipation time", nonnegative, law.dissipation_time);
  }
  if (!is_nonnegative(law.near_rigid)) {
    return fault(item + ": near-rigid factor", nonnegative, law.near_rigid);
  }
  if (!(law.correction >= Scalar(0) && law.correction <= Scalar(1))) {
    return fault(item + ": correction", "a number in [0, 1]", law.correction);
  }
  if (is_unyielding(law)) {
    if (law.dissipation_time != Scalar(0)) {
      return unyielding_fault(item + ": dissipation time", law.dissipation_time);
    }
    if (law.near_rigid != Scalar(1)) {
      return unyielding_fault(item + ": near-rigid factor", law.near_rigid);
    }
    return {};
  }
  if (is_soft_by_step(law) && law.near_rigid == Scalar(0)) {
    return fault(item + ": near-rigid factor", "a number > 0 where the compliance is the step's",
                 law.near_rigid);
  }
  if (law.correction != usual_correction) {
    return fault(item + ": correction", "its default, as it is of what does not give way",
                 law.correction);
  }
  return {};
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
