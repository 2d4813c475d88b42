// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/contact/detail/block_error.hpp"
#include "carom/contact/detail/block_scales.hpp"
#include "carom/linalg/detail/cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Says how far an answer (v, γ) is from a problem's laws, block by block and body by body.
///
/// A block's error is how far γ and u = J v − v̂ + R γ are from its law, R = 0 where it is rigid,
/// relative to what its own bodies do: a velocity counts by the motion of those bodies before
/// contact acts, and friction by the normal impulse that allows it. A body's error is how far its
/// momentum A (v − v*) is from its impulses Jᵀγ, relative to all that acts on it, or a hundredth of
/// the momentum that it has without contact where that is more. So a light body
/// beside a heavy one, or a slow one beside a fast one, is judged as if it were alone.
template <RealScalar Scalar>
struct AnswerError {
  Scalar residual = 0;     ///< The largest error of a block or body [-]; 0 at an answer.
                           ///< ResidualMeasure::block_error. Infinite where a number is not finite.
  Scalar block_error = 0;  ///< The largest error of a block [-].
  Scalar body_error = 0;   ///< The largest error of a body [-].
  Index block = -1;        ///< Block with the largest error; −1 if none has any.
  Index body = -1;         ///< Body with the largest error; −1 if none has any.

  [[nodiscard]] friend bool operator==(const AnswerError&, const AnswerError&) noexcept = default;
};

namespace detail {

/// The error of a friction contact with μ = 0.
template <RealScalar Scalar>
[[nodiscard]] ErrorSum<Scalar> frictionless_error(const Vector3<Scalar>& impulse,
                                                  const Vector3<Scalar>& velocity,
                                                  const RowScales<Scalar, 3>& scales) noexcept {
  RowScales<Scalar, 6> all{RowNumbers<Scalar>::Zero(), RowNumbers<Scalar>::Zero()};
  all.velocity.template head<3>() = scales.velocity;
  all.inverse_mass.template head<3>() = scales.inverse_mass;
  RowNumbers<Scalar> gamma = RowNumbers<Scalar>::Zero(), u = gamma;
  gamma.template head<3>() = impulse;
  u.template head<3>() = velocity;
  return block_error(FrictionLaw::coulomb, friction_impulses(Scalar(0)), gamma, u, all);
}

/// The error of a block of an answer.
/// @param moved  J v of its rows.
template <RealScalar Scalar, typename Block>
[[nodiscard]] ErrorSum<Scalar> answer_block_error(FrictionLaw law, const Block& block,
                                                  const BlockScales<Scalar>& scales,
                                                  const typename Block::Rows& impulse,
                                                  const typename Block::Rows& moved) noexcept {
  constexpr int capacity = Block::is_friction_contact ? 3 : 6;
  using Rows = typename Block::Rows;
  RowScales<Scalar, capacity> own;
  own.velocity.setZero();
  own.inverse_mass.setZero();
  Rows velocity = moved - block.bias_velocity(), softness = Rows::Zero();
  if (!block.law().rigid) softness = block.regularization();
  velocity += softness.cwiseProduct(impulse);
  for (int r = 0; r < block.rows(); ++r) {
    own.velocity(r) = scales.velocity(block.first_row() + r);
    own.inverse_mass(r) = scales.inverse_mass(block.first_row() + r) + softness(r);
  }
  if constexpr (Block::is_friction_contact) {
    const auto judge = [&](const Rows& u) {
      return block.law().friction > Scalar(0)
                 ? block_error(law, block.law().friction, impulse, u, own)
                 : frictionless_error(impulse, u, own);
    };
    const ErrorSum<Scalar> asked = judge(velocity);
    if (!block.law().rigid || !(block.law().overlap_velocity > Scalar(0))) return asked;
    velocity(2) += block.law().overlap_velocity;  // an overlap need not be taken out
    const ErrorSum<Scalar> without = judge(velocity);
    return without.largest < asked.largest ? without : asked;
  } else {
    return block_error(law, block.set(), impulse, velocity, own);
  }
}

}  // namespace detail

/// Judges an answer (v, γ) from whatever solver, under either law.
/// @param velocity  v, n_v [m/s]. Entries may be anything.
/// @param impulse   γ, impulse_count() of them [N·s]. Entries may be anything.
/// @note  Cold: allocates; time and memory in proportion to bodies and blocks.
template <RealScalar Scalar>
[[nodiscard]] AnswerError<Scalar> judge_answer(
    const ContactProblem<Scalar>& problem, FrictionLaw law,
    const std::type_identity_t<VectorX<Scalar>>& velocity,
    const std::type_identity_t<VectorX<Scalar>>& impulse) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(impulse.size() == problem.impulse_count());
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  AnswerError<Scalar> result;
  if (!velocity.allFinite()) {
    result.residual = result.block_error = result.body_error = infinity;
    return result;
  }
  detail::BlockScales<Scalar> scales;
  scales.write(problem);
  VectorX<Scalar> pushed = VectorX<Scalar>::Zero(problem.velocity_count());
  VectorX<Scalar> gross = VectorX<Scalar>::Zero(problem.body_count());
  problem.for_each_block([&](const auto& block) {
    const auto gamma = block.read(impulse);
    const auto error =
        detail::answer_block_error(law, block, scales, gamma, block.velocity(velocity));
    const Scalar found = gamma.allFinite() ? error.largest : infinity;
    if (found > result.block_error) {
      result.block_error = found;
      result.block = block.number();
    }
    for (int s = 0; s < block.side_count(); ++s) {
      const auto columns = block.whitened_columns(s);
      VectorX<Scalar> own = VectorX<Scalar>::Zero(columns.rows());
      for (int row = 0; row < block.rows(); ++row) own += gamma(row) * columns.col(row);
      pushed.segment(block.side(s).range.start, block.side(s).range.size) += own;
      gross(block.side(s).body) += own.norm();
    }
  });
  VectorX<Scalar> whitened = velocity - problem.free_velocity();
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    multiply_lower_transposed(problem.momentum_factor(b).data(), size, size,
                              whitened.data() + start);
    const Scalar moved = whitened.segment(start, size).norm();
    const Scalar off = (whitened.segment(start, size) - pushed.segment(start, size)).norm();
    const Scalar free = problem.whitened_free_velocity().segment(start, size).norm();
    const Scalar scale = (std::max)(
        {moved, gross(b), Scalar(Scalar(detail::BlockScalesTuning::least_share) * free)});
    if (!(off > Scalar(0)) && off == off) continue;
    Scalar found = scale > Scalar(0) ? Scalar(off / scale) : infinity;
    if (!detail::is_finite(found)) found = infinity;
    if (!(found > result.body_error)) continue;
    result.body_error = found;
    result.body = b;
  }
  result.residual = (std::max)(result.block_error, result.body_error);
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
