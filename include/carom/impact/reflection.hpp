// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <type_traits>

#include "carom/impact/impact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Γ(u) = I − 2 M⁻¹uᵀu/⟨u, u⟩, acting on row momenta: p⁺ = p Γ(u). For checks; n×n.
///
/// Γ² = I, Γ(a u) = Γ(u), and Γ preserves ⟨·,·⟩.
/// @note  Cold: allocates.
/// @cite  seghete2014propagative, eq. (9)
template <InverseMassLike Mass>
[[nodiscard]] MatrixX<typename Mass::scalar_type> make_reflection(
    const Mass& mass, const VectorX<typename Mass::scalar_type>& normal) {
  using Scalar = typename Mass::scalar_type;
  VectorX<Scalar> response = normal;
  mass.apply_inverse(response);
  return MatrixX<Scalar>::Identity(normal.size(), normal.size()) -
         (Scalar(2) / normal.dot(response)) * response * normal.transpose();
}

/// p⁺ = p Γ(u_i) in place, O(nonzeros of u_i).
/// @return  the impulse λ = −2 ⟨p, u_i⟩ [√J]; positive when the contact was infeasible.
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
Scalar reflect(const ImpactProblem<Scalar>& problem, Index contact,
               VectorX<Scalar>& momentum) noexcept {
  const Scalar impulse = -2 * problem.rate(contact, momentum);
  problem.add_impulse(contact, impulse, momentum);
  return impulse;
}

/// The same in contact space: s ← s − 2 s_i G_{:,i}, O(neighbours of i). It does not need the
/// momentum.
/// @param rates  s [√J], one per contact.
/// @return  the impulse λ = −2 s_i [√J].
/// @note  Real-time safe: no allocation, no exception.
template <RealScalar Scalar>
Scalar reflect_rates(const ImpactProblem<Scalar>& problem, Index contact,
                     std::type_identity_t<std::span<Scalar>> rates) noexcept {
  CAROM_EXPECTS(Index(rates.size()) == problem.contact_count());
  Scalar* const s = rates.data();
  const Scalar impulse = -2 * s[contact];
  s[contact] = -s[contact];
  for (const auto& [other, product] : problem.neighbours(contact)) s[other] += impulse * product;
  return impulse;
}

}  // namespace CAROM_ABI
}  // namespace carom
