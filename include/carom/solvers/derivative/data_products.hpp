// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/contact/problem_differential.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// @file
/// What data that every law shares add to the balance of momentum A (v − v*) = Jᵀ γ at a solution,
/// and the transposed products. Derivatives of both laws are made of them.

/// Writes the momentum A dv* − dA (v − v*) of a change of the bodies.
template <RealScalar Scalar, typename Velocity, typename Momentum>
void push_bodies(const ContactProblem<Scalar>& problem, const ProblemDifferential<Scalar>& change,
                 const Velocity& velocity, Momentum& momentum) noexcept {
  momentum.setZero();
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    auto own = momentum.segment(start, size);
    const auto matrix = problem.momentum_matrix(b);
    for (Index c = 0; c < size; ++c) own += change.free_velocity(start + c) * matrix.col(c);
    if (!change.has_matrices()) continue;
    const auto slope = change.momentum(b);
    for (Index c = 0; c < size; ++c) {
      const Scalar speed = velocity(start + c) - problem.free_velocity()(start + c);
      own -= (speed / 2) * (slope.col(c) + slope.row(c).transpose());
    }
  }
}
/// Writes the gradient of λ · (A dv* − dA (v − v*)) by v* and A.
template <RealScalar Scalar, typename Velocity, typename Lambda>
void pull_bodies(const ContactProblem<Scalar>& problem, const Velocity& velocity,
                 const Lambda& lambda, ProblemDifferential<Scalar>& gradient) noexcept {
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const auto matrix = problem.momentum_matrix(b);
    gradient.free_velocity.segment(start, size).noalias() =
        matrix.lazyProduct(lambda.segment(start, size));
    if (!gradient.has_matrices()) continue;
    auto slope = gradient.momentum(b);
    for (Index c = 0; c < size; ++c) {
      const Scalar speed = velocity(start + c) - problem.free_velocity()(start + c);
      slope.col(c) = (speed * lambda.segment(start, size) +
                      lambda(start + c) * (velocity.segment(start, size) -
                                           problem.free_velocity().segment(start, size))) /
                     Scalar(-2);
    }
  }
}

/// dJ v of a block; adds dJᵀ γ to the momentum.
template <typename Block, RealScalar Scalar, typename Velocity, typename Momentum>
[[nodiscard]] typename Block::Rows push_jacobian(const Block& block,
                                                 const ProblemDifferential<Scalar>& change,
                                                 const Velocity& velocity,
                                                 const typename Block::Rows& impulse,
                                                 Momentum& momentum) noexcept {
  typename Block::Rows moved = Block::Rows::Zero();
  for (int s = 0; change.has_matrices() && s < block.side_count(); ++s) {
    const auto [start, size] = block.side(s).range;
    const auto slope = change.jacobian(block.number(), s);
    for (int row = 0; row < block.rows(); ++row) {
      const auto column = slope.row(row).transpose();
      moved(row) += column.dot(velocity.segment(start, size));
      momentum.segment(start, size) += impulse(row) * column;
    }
  }
  return moved;
}
/// Writes the gradient of λ · dJᵀ γ − s · dJ v by J of a block.
/// @param pressed  s [N·s], what the gradient by v̂ is.
template <typename Block, RealScalar Scalar, typename Velocity, typename Lambda>
void pull_jacobian(const Block& block, const Velocity& velocity, const Lambda& lambda,
                   const typename Block::Rows& impulse, const typename Block::Rows& pressed,
                   ProblemDifferential<Scalar>& gradient) noexcept {
  for (int s = 0; gradient.has_matrices() && s < block.side_count(); ++s) {
    const auto [start, size] = block.side(s).range;
    auto slope = gradient.jacobian(block.number(), s);
    for (int row = 0; row < block.rows(); ++row) {
      slope.row(row) = impulse(row) * lambda.segment(start, size).transpose() -
                       pressed(row) * velocity.segment(start, size).transpose();
    }
  }
}

/// ‖|J||v|‖ + ‖v̂‖ of a block [m/s, rad/s]: what round-off of its velocity is relative to.
template <typename Block, typename Velocity>
[[nodiscard]] auto speed_of(const Block& block, const Velocity& velocity) noexcept {
  using std::abs, std::sqrt;
  using Scalar = typename Block::Rows::Scalar;
  Scalar speed = block.bias_velocity().norm();
  for (int s = 0; s < block.side_count(); ++s) {
    const auto columns = block.columns(s);
    const auto [start, size] = block.side(s).range;
    Scalar squared = 0;
    for (int row = 0; row < block.rows(); ++row) {
      Scalar sum = 0;
      for (Index k = 0; k < size; ++k) sum += abs(columns(k, row) * velocity(start + k));
      squared += sum * sum;
    }
    speed += sqrt(squared);
  }
  return speed;
}

/// J v of a block, and what speed_of() is of other velocities r ≥ 0, in one pass.
template <typename Rows>
struct VelocityAndSpeed {
  Rows velocity;                ///< J v [m/s, rad/s]
  typename Rows::Scalar speed;  ///< ‖|J| r‖ + ‖v̂‖ [m/s, rad/s]
};
template <typename Block, typename Velocity>
[[nodiscard]] VelocityAndSpeed<typename Block::Rows> velocity_and_speed(
    const Block& block, const Velocity& velocity, const Velocity& reach) noexcept {
  using std::abs, std::sqrt;
  using Scalar = typename Block::Rows::Scalar;
  using Numbers = Eigen::Array<Scalar, 4, 1>;
  VelocityAndSpeed<typename Block::Rows> result{Block::Rows::Zero(), block.bias_velocity().norm()};
  for (int s = 0; s < block.side_count(); ++s) {
    const auto [start, size] = block.side(s).range;
    const Scalar* const v = velocity.data() + start;
    const Scalar* const r = reach.data() + start;
    const Scalar* j = block.side(s).jacobian;
    Scalar squared(0);
    for (int row = 0; row < block.rows(); ++row, j += size) {
      Numbers sums = Numbers::Zero(), sizes = Numbers::Zero();
      Index k = 0;
      for (; k + 4 <= size; k += 4) {
        const Eigen::Map<const Numbers> own(j + k);
        sums += own * Eigen::Map<const Numbers>(v + k);
        sizes += own.abs() * Eigen::Map<const Numbers>(r + k);
      }
      Scalar sum = sums.sum(), gross = sizes.sum();
      for (; k < size; ++k) {
        sum += j[k] * v[k];
        gross += abs(j[k]) * r[k];
      }
      result.velocity(row) += sum;
      squared += gross * gross;
    }
    result.speed += sqrt(squared);
  }
  return result;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
