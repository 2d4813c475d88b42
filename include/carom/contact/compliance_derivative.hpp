// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/compliance.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/contact/detail/block_reading.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivatives of R and v̂ₙ of make_weighted() with respect to the physical data of a contact.
/// Derivatives that are not listed are zero; friction does not change. For a rigid contact all
/// derivatives except that by the gap are zero: its R is only a substitute for solvers that need
/// one.
template <RealScalar Scalar>
struct ComplianceDerivative {
  Scalar bias_by_gap;              ///< dv̂ₙ/dϕ = −1/(δt + τ_d) [1/s]
  Scalar bias_by_dissipation;      ///< dv̂ₙ/dτ_d = ϕ/(δt + τ_d)² [m/s²]
  Scalar normal_by_stiffness;      ///< dRₙ/dk [m/(N·kg)]
  Scalar normal_by_dissipation;    ///< dRₙ/dτ_d [1/(kg·s)]
  Scalar normal_by_inverse_mass;   ///< dRₙ/dw [-]
  Scalar tangent_by_inverse_mass;  ///< dRₜ/dw = σ [-]
  Scalar tangent_by_slip;          ///< dRₜ/dσ = w [1/kg]
  bool near_rigid;  ///< The clamp is active: Rₙ depends on w and not on k and τ_d.
};

/// @param time_step     δt [s], > 0.
/// @param inverse_mass  w [1/kg], > 0; inverse_mass_of() of a contact in a problem.
/// @note  Real-time safe: no allocation, no exception, constant work. Where both branches of Rₙ
///        are equal, the derivative is that of the clamp.
template <RealScalar Scalar>
[[nodiscard]] ComplianceDerivative<Scalar> make_compliance_derivative(
    const CompliantContact<Scalar>& contact, const Scalar& time_step,
    const Scalar& inverse_mass) noexcept {
  ComplianceDerivative<Scalar> result{};
  if (detail::is_unyielding(contact)) {
    result.bias_by_gap = contact.gap > Scalar(0)
                             ? Scalar(-1 / time_step)
                             : Scalar(-overlap_velocity(Scalar(-contact.gap), contact.correction,
                                                        contact.pressing, time_step)
                                           .by_depth);
    return result;
  }
  const Scalar relaxation = time_step + contact.dissipation_time;
  const Scalar compliant = Scalar(1) / (time_step * contact.stiffness * relaxation);
  const detail::NearRigidWeight<Scalar> normal(compliant, contact.near_rigid, inverse_mass);
  result.bias_by_gap = Scalar(-1) / relaxation;
  result.bias_by_dissipation = contact.gap / (relaxation * relaxation);
  result.tangent_by_inverse_mass = contact.relative_slip;
  result.tangent_by_slip = inverse_mass;
  result.near_rigid = normal.clamped;
  if (result.near_rigid) {
    result.normal_by_inverse_mass = normal.by_inverse_mass;
  } else {
    result.normal_by_stiffness = -compliant / contact.stiffness;
    result.normal_by_dissipation = -compliant / relaxation;
  }
  return result;
}

/// A contact's inverse mass and its derivatives by the masses of its bodies.
template <RealScalar Scalar>
struct InverseMass {
  Scalar value;           ///< w = ‖W_ii‖_F/3 [1/kg]; 1 if no velocity moves the contact
  Scalar by_log_mass[2];  ///< dw/d ln m [1/kg] for A = m A₀ of the body of each side, ≤ 0
};

/// The w with which ContactProblem converts σ and β to R, and its derivatives.
/// @pre   the block is a friction contact.
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
[[nodiscard]] InverseMass<Scalar> inverse_mass_of(const ContactProblem<Scalar>& problem,
                                                  Index contact) noexcept {
  const auto sides = detail::sides_of(problem, contact);
  SquareMatrix<Scalar, 3> part[2], sum = SquareMatrix<Scalar, 3>::Zero();
  for (int side = 0; side < sides.count; ++side) {
    const BlockSide<Scalar>& own = sides.all[std::size_t(side)];
    sum += part[side] = detail::own_delassus(own.whitened, own.range.size);
  }
  const Scalar norm = sum.norm();
  InverseMass<Scalar> result{detail::contact_inverse_mass(sides), {Scalar(0), Scalar(0)}};
  for (int side = 0; side < sides.count && norm > Scalar(0); ++side) {
    result.by_log_mass[side] = -sum.cwiseProduct(part[side]).sum() / (Scalar(3) * norm);
  }
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
