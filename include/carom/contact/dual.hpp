// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>

#include "carom/contact/primal.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// @file
/// The convex problem in impulses: min ½ γᵀ(W + R)γ + rᵀγ over γ ∈ ℱ, W = J A⁻¹ Jᵀ, r = J v* − v̂.
/// At the solution its cost is −ℓ. For any γ ∈ ℱ and any v, ℓ(v) + cost(γ) ≥ 0 is the duality gap.
/// @cite  castro2021unconstrained, dual problem.

namespace detail {

template <RealScalar Scalar>
void write_velocity(const ContactProblem<Scalar>& problem, const Scalar* impulse,
                    std::span<Scalar> velocity) noexcept {
  std::fill(velocity.begin(), velocity.end(), Scalar(0));
  for (Index i = 0; i < problem.block_count(); ++i) {
    const Scalar* const own = impulse + problem.first_row(i);
    for (int s = 0; s < problem.side_count(i); ++s) {
      const auto [body, range, jacobian, whitened] = problem.side(i, s);
      for (int r = 0; r < problem.rows(i); ++r) {
        add_multiple(own[r], jacobian + r * range.size, range.size, velocity.data() + range.start);
      }
    }
  }
  problem.whiten_momentum(velocity);
  problem.unwhiten(velocity);
  add_multiple(Scalar(1), problem.free_velocity().data(), Index(velocity.size()), velocity.data());
}

}  // namespace detail

/// The velocity that results from impulses, v = v* + A⁻¹ Jᵀ γ.
/// @param impulse   γ, impulse_count() [N·s].
/// @param velocity  written, n_v [m/s]; a view of that size, or a vector.
/// @note  Real-time safe when velocity has its size: no allocation, no exception.
template <RealScalar Scalar, typename ImpulseType, typename VectorType>
void write_velocity(const ContactProblem<Scalar>& problem, const ImpulseType& impulse,
                    VectorType& velocity) noexcept {
  CAROM_EXPECTS(impulse.size() == problem.impulse_count());
  velocity.resize(problem.velocity_count());
  detail::write_velocity(problem, impulse.data(), as_span(velocity));
}

/// Gradient of the dual cost, (W + R) γ + r = J v(γ) − v̂ + R γ [m/s].
/// @param velocity  workspace; it is v(γ) afterwards.
/// @param gradient  written, impulse_count().
/// @note  Real-time safe when both have their sizes: no allocation, no exception.
template <RealScalar Scalar>
void write_dual_gradient(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                         VectorX<Scalar>& velocity, VectorX<Scalar>& gradient) noexcept {
  write_velocity(problem, impulse, velocity);
  gradient.resize(problem.impulse_count());
  problem.for_each_block([&](const auto& block) {
    block.write(block.slope(block.velocity(velocity), block.read(impulse)), gradient);
  });
}

/// Cost of the dual, ½ γᵀ(W + R)γ + rᵀγ [J].
/// @param velocity  workspace, n_v; it is v(γ) afterwards.
/// @note  Real-time safe when velocity has its size: no allocation, no exception.
template <RealScalar Scalar>
[[nodiscard]] Scalar dual_cost(const ContactProblem<Scalar>& problem,
                               const VectorX<Scalar>& impulse, VectorX<Scalar>& velocity) noexcept {
  write_velocity(problem, impulse, velocity);
  Scalar cost = momentum_cost(problem, velocity) + regularization_cost(problem, impulse);
  problem.for_each_block([&](const auto& block) {  // rᵀγ
    cost +=
        block.read(impulse).dot(block.velocity(problem.free_velocity()) - block.bias_velocity());
  });
  return cost;
}

/// Dense Delassus matrix W = J A⁻¹ Jᵀ [1/kg], without R.
/// @param delassus  written, impulse_count() × impulse_count(), both triangles.
/// @note  Cold: for checks and for small problems; its memory grows with the square of the row
///        count.
template <RealScalar Scalar>
void write_delassus(const ContactProblem<Scalar>& problem, MatrixX<Scalar>& delassus) {
  const Index count = problem.impulse_count();
  MatrixX<Scalar> jacobian = MatrixX<Scalar>::Zero(count, problem.velocity_count());
  problem.for_each_block([&](const auto& block) {
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      jacobian.block(block.first_row(), start, block.rows(), size) =
          block.whitened_columns(s).transpose();
    }
  });
  delassus = jacobian.lazyProduct(jacobian.transpose());
}

}  // namespace CAROM_ABI
}  // namespace carom
