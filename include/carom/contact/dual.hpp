// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/primal.hpp"

namespace carom::inline CAROM_ABI {

/// @file
/// The convex problem in impulses: min ½ γᵀ(W + R)γ + rᵀγ over γ ∈ ℱ, W = J A⁻¹ Jᵀ, r = J v* − v̂.
/// At the solution its cost is −ℓ. For any γ ∈ ℱ and any v, ℓ(v) + cost(γ) ≥ 0 is the duality gap.
/// @cite  castro2021unconstrained, dual problem.

/// The velocity impulses lead to, v = v* + A⁻¹ Jᵀ γ.
/// @param impulse   γ, impulse_count() [N·s].
/// @param velocity  written, n_v [m/s]; a view of that size, or a vector.
/// @note  Real-time safe when velocity has its size: no allocation, no exception.
template <RealScalar Scalar, typename ImpulseType, typename VectorType>
void write_velocity(const ContactProblem<Scalar>& problem, const ImpulseType& impulse,
                    VectorType& velocity) noexcept {
  CAROM_EXPECTS(impulse.size() == problem.impulse_count());
  velocity.resize(problem.velocity_count());
  velocity.setZero();
  for (Index i = 0; i < problem.contact_count(); ++i) {
    add_contact_momentum(problem, i, Vector3<Scalar>(impulse.template segment<3>(3 * i)), velocity);
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    add_constraint_momentum(problem, c, constraint_rows(problem, c, impulse), velocity);
  }
  problem.whiten_momentum(velocity.data());
  problem.unwhiten(velocity.data());
  velocity += problem.free_velocity();
}

/// Gradient of the dual cost, (W + R) γ + r = J v(γ) − v̂ + R γ [m/s].
/// @param velocity  workspace; holds v(γ) afterwards.
/// @param gradient  written, impulse_count().
/// @note  Real-time safe when both have their sizes: no allocation, no exception.
template <RealScalar Scalar>
void write_dual_gradient(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                         VectorX<Scalar>& velocity, VectorX<Scalar>& gradient) noexcept {
  write_velocity(problem, impulse, velocity);
  gradient.resize(problem.impulse_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    gradient.template segment<3>(3 * i) =
        conic_velocity(problem, i, velocity, Vector3<Scalar>(impulse.template segment<3>(3 * i)));
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    write_constraint_rows(
        problem, c, constraint_slope(problem, c, velocity, constraint_rows(problem, c, impulse)),
        gradient);
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
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    const RowNumbers<Scalar> free = constraint_velocity(problem, c, problem.free_velocity()) -
                                    problem.constraints().law(c).bias_velocity;
    cost += free.dot(constraint_rows(problem, c, impulse));
  }
  return cost;
}

/// Dense Delassus matrix W = J A⁻¹ Jᵀ [1/kg], without R.
/// @param delassus  written, impulse_count() × impulse_count(), both triangles.
/// @note  Cold: for checking and for small problems; O(n_c (n_c + n_v)) memory.
template <RealScalar Scalar>
void write_delassus(const ContactProblem<Scalar>& problem, MatrixX<Scalar>& delassus) {
  const Index count = problem.impulse_count();
  MatrixX<Scalar> jacobian = MatrixX<Scalar>::Zero(count, problem.velocity_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    for (int side = 0; side < problem.side_count(i); ++side) {
      const auto [start, size] = problem.body(problem.side_body(i, side));
      jacobian.block(3 * i, start, 3, size) = problem.whitened_jacobian(i, side).transpose();
    }
  }
  const ConstraintList<Scalar>& list = problem.constraints();
  for (Index c = 0; c < list.count(); ++c) {
    for (int side = 0; side < list.side_count(c); ++side) {
      const auto [start, size] = problem.body(list.side_body(c, side));
      for (int row = 0; row < list.rows(c); ++row) {
        jacobian.row(3 * problem.contact_count() + list.first_row(c) + row).segment(start, size) =
            list.whitened_jacobian(c, side, row / 3).col(row % 3).transpose();
      }
    }
  }
  delassus = jacobian.lazyProduct(jacobian.transpose());
}

}  // namespace carom::inline CAROM_ABI
