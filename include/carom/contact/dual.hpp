// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/primal.hpp"

namespace carom::inline CAROM_ABI {

/// @file
/// The convex problem in impulses: min ½ γᵀ(W + R)γ + rᵀγ over γ ∈ ℱ, W = J A⁻¹ Jᵀ, r = J v* − v̂.
/// At the solution its cost is −ℓ. For any γ ∈ ℱ and any v, ℓ(v) + cost(γ) ≥ 0 is the duality gap.
/// @cite  castro2021unconstrained, dual problem.

/// The velocity impulses lead to, v = v* + A⁻¹ Jᵀ γ.
/// @param impulse   γ, 3 n_c [N·s].
/// @param velocity  written, n_v [m/s].
/// @note  Real-time safe when velocity has its size: no allocation, no exception.
template <RealScalar Scalar>
void write_velocity(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                    VectorX<Scalar>& velocity) noexcept {
  CAROM_EXPECTS(impulse.size() == 3 * problem.contact_count());
  velocity.setZero(problem.velocity_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    add_contact_momentum(problem, i, Vector3<Scalar>(impulse.template segment<3>(3 * i)), velocity);
  }
  problem.whiten_momentum(velocity.data());
  problem.unwhiten(velocity.data());
  velocity += problem.free_velocity();
}

/// Gradient of the dual cost, (W + R) γ + r = J v(γ) − v̂ + R γ [m/s].
/// @param velocity  workspace; holds v(γ) afterwards.
/// @param gradient  written, 3 n_c.
/// @note  Real-time safe when both have their sizes: no allocation, no exception.
template <RealScalar Scalar>
void write_dual_gradient(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                         VectorX<Scalar>& velocity, VectorX<Scalar>& gradient) noexcept {
  write_velocity(problem, impulse, velocity);
  gradient.resize(3 * problem.contact_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    gradient.template segment<3>(3 * i) =
        conic_velocity(problem, i, velocity, Vector3<Scalar>(impulse.template segment<3>(3 * i)));
  }
}

/// Cost of the dual, ½ γᵀ(W + R)γ + rᵀγ [J].
/// @param velocity  workspace, n_v; holds v(γ) afterwards.
/// @note  Real-time safe when velocity has its size: no allocation, no exception.
template <RealScalar Scalar>
[[nodiscard]] Scalar dual_cost(const ContactProblem<Scalar>& problem,
                               const VectorX<Scalar>& impulse, VectorX<Scalar>& velocity) noexcept {
  write_velocity(problem, impulse, velocity);
  Scalar cost = momentum_cost(problem, velocity) + regularization_cost(problem, impulse);
  for (Index i = 0; i < problem.contact_count(); ++i) {  // rᵀγ
    const Vector3<Scalar> free =
        contact_velocity(problem, i, problem.free_velocity()) - problem.bias_velocity(i);
    cost += free.dot(impulse.template segment<3>(3 * i));
  }
  return cost;
}

/// Dense Delassus matrix W = J A⁻¹ Jᵀ [1/kg], without R.
/// @param delassus  written, 3 n_c × 3 n_c, both triangles.
/// @note  Cold: for checking and for small problems; O(n_c²) memory.
template <RealScalar Scalar>
void write_delassus(const ContactProblem<Scalar>& problem, MatrixX<Scalar>& delassus) {
  const Index count = problem.contact_count();
  delassus.setZero(3 * count, 3 * count);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      for (int a = 0; a < problem.side_count(i); ++a) {
        for (int b = 0; b < problem.side_count(j); ++b) {
          if (problem.side_body(i, a) != problem.side_body(j, b)) continue;
          delassus.template block<3, 3>(3 * i, 3 * j) +=
              problem.whitened_jacobian(i, a).transpose().lazyProduct(
                  problem.whitened_jacobian(j, b));
        }
      }
    }
  }
}

}  // namespace carom::inline CAROM_ABI
