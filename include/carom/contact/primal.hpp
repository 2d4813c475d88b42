// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/contact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// @file
/// The convex problem in velocities: ℓ(v) = ½‖v − v*‖²_A + ½‖P(y(v))‖²_R, y(v) = −R⁻¹(J v − v̂),
/// with derivatives, inverse dynamics, and the equivalent conic form. If a set is not a cone, the
/// part of a block is sup γᵀR y − ½‖γ‖²_R over the set. Impulses are stacked block by block.
/// @cite  castro2021unconstrained, conic primal and unconstrained problem.

/// J v of one block [m/s, rad/s]; zero beyond its rows.
template <RealScalar Scalar, typename VectorType>
[[nodiscard]] RowNumbers<Scalar> block_velocity(
    const ContactProblem<Scalar>& problem, Index block,
    const Eigen::MatrixBase<VectorType>& velocity) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  RowNumbers<Scalar> result = RowNumbers<Scalar>::Zero();
  problem.visit(block, [&](const auto& view) { result = view.velocity(velocity); });
  return result;
}

/// Inverse dynamics of one block: γ = P(y(v)) [N·s]; zero beyond its rows.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> block_impulse(const ContactProblem<Scalar>& problem, Index block,
                                               const VectorX<Scalar>& velocity) noexcept {
  RowNumbers<Scalar> result = RowNumbers<Scalar>::Zero();
  problem.visit(block, [&](const auto& view) { result = view.impulse(velocity); });
  return result;
}

/// The reference scale of a momentum imbalance [√J]: the larger of ‖v*‖_A and ‖Jᵀγ‖_{A⁻¹}. If
/// impulses cancel each other, it is at least the rounding of their sum.
/// @param gross_squared  Σ ‖Jₖ‖²_{A⁻¹} γₖ² over all rows k.
template <RealScalar Scalar>
[[nodiscard]] Scalar momentum_scale(const Scalar& free_squared, const Scalar& pushed_squared,
                                    const Scalar& gross_squared) noexcept {
  using std::sqrt;
  return sqrt((free_squared > pushed_squared ? free_squared : pushed_squared) +
              std::numeric_limits<Scalar>::epsilon() * gross_squared);
}

/// Inverse dynamics: γ = P(y(v)) of all blocks.
/// @param impulse  written, impulse_count() [N·s].
/// @note  Real-time safe when impulse has its size: no allocation, no exception.
template <RealScalar Scalar>
void write_impulse(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                   VectorX<Scalar>& impulse) noexcept {
  impulse.resize(problem.impulse_count());
  problem.for_each_block([&](const auto& block) { block.write(block.impulse(velocity), impulse); });
}

/// ½‖γ‖²_R [J].
template <RealScalar Scalar>
[[nodiscard]] Scalar regularization_cost(const ContactProblem<Scalar>& problem,
                                         const VectorX<Scalar>& impulse) noexcept {
  Scalar cost = 0;
  problem.for_each_block(
      [&](const auto& block) { cost += block.regularization_cost(block.read(impulse)); });
  return cost;
}

/// ½‖v − v*‖²_A [J].
template <RealScalar Scalar>
[[nodiscard]] Scalar momentum_cost(const ContactProblem<Scalar>& problem,
                                   const VectorX<Scalar>& velocity) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  Scalar twice = 0;
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const Scalar* const momentum = problem.momentum_matrix(b).data();
    const Scalar *const v = velocity.data() + start, *const free =
                                                         problem.free_velocity().data() + start;
    for (Index c = 0; c < size; ++c) {
      Scalar moved(0);
      for (Index r = 0; r < size; ++r) moved += momentum[r + c * size] * (v[r] - free[r]);
      twice += moved * (v[c] - free[c]);
    }
  }
  return twice / 2;
}

/// Cost of the unconstrained form, ℓ(v) [J].
/// @note  Real-time safe: no allocation, no exception, O(bodies + blocks).
template <RealScalar Scalar>
[[nodiscard]] Scalar primal_cost(const ContactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& velocity) noexcept {
  Scalar cost = momentum_cost(problem, velocity);
  problem.for_each_block([&](const auto& block) {
    const auto trial = block.trial(block.velocity(velocity));
    cost += block.cost(trial, block.nearest(trial));
  });
  return cost;
}

/// Gradient ∇ℓ = A (v − v*) − Jᵀ P(y(v)) [N·s].
/// @param gradient  written, n_v.
/// @note  Real-time safe when gradient has its size: no allocation, no exception.
template <RealScalar Scalar>
void write_gradient(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                    VectorX<Scalar>& gradient) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  gradient.setZero(problem.velocity_count());
  problem.for_each_block([&](const auto& block) {
    block.add_momentum(typename BlockView<Scalar>::Rows(-block.impulse(velocity)), gradient);
  });
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const Scalar* const momentum = problem.momentum_matrix(b).data();
    const Scalar* const free = problem.free_velocity().data() + start;
    for (Index c = 0; c < size; ++c) {
      detail::add_multiple(Scalar(velocity(start + c) - free[c]), momentum + c * size, size,
                           gradient.data() + start);
    }
  }
}

/// Hessian A + Jᵀ G J, dense [kg, kg·m²]; on a region boundary one generalised Hessian.
/// @param hessian  written, n_v × n_v, both triangles.
/// @note  Cold: for checks and for small problems; O(n_v²) memory.
template <RealScalar Scalar>
void write_hessian(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                   MatrixX<Scalar>& hessian) {
  hessian.setZero(problem.velocity_count(), problem.velocity_count());
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    hessian.block(start, start, size, size) = problem.momentum_matrix(b);
  }
  problem.for_each_block([&](const auto& block) {
    const auto all = block.curvature(block.trial(block.velocity(velocity)));
    const auto g = all.topLeftCorner(block.rows(), block.rows());
    for (int a = 0; a < block.side_count(); ++a) {
      for (int b = 0; b < block.side_count(); ++b) {
        const auto [r, row_size] = block.side(a).range;
        const auto [c, column_size] = block.side(b).range;
        hessian.block(r, c, row_size, column_size) +=
            (block.columns(a) * g).lazyProduct(block.columns(b).transpose());
      }
    }
  });
}

/// Cost of the conic form, ½‖v − v*‖²_A + ½‖σ‖²_R [J], for a velocity and a slack σ [N·s].
template <RealScalar Scalar>
[[nodiscard]] Scalar conic_cost(const ContactProblem<Scalar>& problem,
                                const VectorX<Scalar>& velocity,
                                const VectorX<Scalar>& slack) noexcept {
  return momentum_cost(problem, velocity) + regularization_cost(problem, slack);
}

}  // namespace CAROM_ABI
}  // namespace carom
