// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/contact/detail/block_error.hpp"
#include "carom/contact/detail/block_scales.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The error of an answer (v, γ) in a problem's laws, block by block and body by body.
///
/// The error of a block is the distance of γ and u = J v − v̂ + R γ from its law (R = 0 if it is
/// rigid), relative to the scales of its own bodies: a velocity is compared with the motion of
/// those bodies before contact acts, and friction with the normal impulse that permits it. The
/// error of a body is the distance of its momentum A (v − v*) from its impulses Jᵀγ, relative to
/// the sum of the impulses on it, or to a hundredth of its momentum without contact if that is
/// larger. A light body next to a heavy one, or a slow one next to a fast one, is therefore
/// measured independently.
template <RealScalar Scalar>
struct AnswerError {
  /// The largest error of a block or body [-], ResidualMeasure::block_error. It is 0 at an answer,
  /// and infinite if a number is not finite.
  Scalar residual = 0;
  Scalar block_error = 0;  ///< The largest error of a block [-].
  Scalar body_error = 0;   ///< The largest error of a body [-].
  Index block = -1;        ///< Block with the largest error; −1 if no block has an error.
  Index body = -1;         ///< Body with the largest error; −1 if no body has an error.

  [[nodiscard]] friend bool operator==(const AnswerError&, const AnswerError&) noexcept = default;
};

namespace detail {

/// The error of a friction contact with μ = 0.
template <RealScalar Scalar>
[[nodiscard]] ErrorSum<Scalar> frictionless_error(const Vector3<Scalar>& impulse,
                                                  const Vector3<Scalar>& velocity,
                                                  const RowScales<Scalar, 3>& scales) noexcept {
  RowScales<Scalar, 6> all{RowNumbers<Scalar>::Zero(), RowNumbers<Scalar>::Zero()};
  RowNumbers<Scalar> gamma = RowNumbers<Scalar>::Zero(), u = gamma;
  for (int r = 0; r < 3; ++r) {
    all.velocity(r) = scales.velocity(r);
    all.inverse_mass(r) = scales.inverse_mass(r);
    gamma(r) = impulse(r);
    u(r) = velocity(r);
  }
  return block_error(FrictionLaw::coulomb, friction_impulses(Scalar(0)), gamma, u, all);
}

/// Measures the errors of answers. The memory is reused.
template <RealScalar Scalar>
class AnswerJudge {
 public:
  /// @param law       of the blocks.
  /// @param softened  whether rigid blocks use the R that they have for solvers that need one.
  explicit AnswerJudge(FrictionLaw law, bool softened = false) noexcept
      : law_(law), softened_(softened) {}

  /// Allocates memory for the problem's size, so that judge() does not.
  void reserve(const ContactProblem<Scalar>& problem) {
    scales_.reserve(problem);
    reserve_sums(problem);
  }
  /// Measures the error of (v, γ) in the laws of a problem.
  /// @note  Allocates only for a problem larger than every problem before.
  template <typename Velocity, typename Impulse>
  [[nodiscard]] AnswerError<Scalar> judge(const ContactProblem<Scalar>& problem,
                                          const Velocity& velocity, const Impulse& impulse) {
    CAROM_EXPECTS(velocity.size() == problem.velocity_count());
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    AnswerError<Scalar> result;
    if (!all_finite(velocity.data(), velocity.size())) {
      result.residual = result.block_error = result.body_error = infinity;
      return result;
    }
    scales_.write(problem);
    reserve_sums(problem);
    std::fill(pushed_.begin(), pushed_.end(), Scalar(0));
    std::fill(gross_.begin(), gross_.end(), Scalar(0));
    problem.for_each_block_by_kind([&](const auto& block) {
      const auto gamma = block.read(impulse);
      const auto error = block_error_of(block, gamma, block.velocity(velocity));
      const Scalar found = all_finite(gamma.data(), gamma.size()) ? error.largest : infinity;
      if (found > result.block_error) {
        result.block_error = found;
        result.block = block.number();
      }
      for (int s = 0; s < block.side_count(); ++s) {
        add_impulse(block.side(s), block.rows(), gamma.data());
      }
    });
    for (Index b = 0; b < problem.body_count(); ++b) {
      judge_body(problem, b, velocity.data(), result);
    }
    result.residual = (std::max)(result.block_error, result.body_error);
    return result;
  }

 private:
  static constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();

  void reserve_sums(const ContactProblem<Scalar>& problem) {
    for (Sequence<Scalar>* numbers : {&pushed_, &whitened_}) {
      numbers->resize(problem.velocity_count());
    }
    gross_.resize(problem.body_count());
  }
  /// The error of a block.
  /// @param moved  J v of its rows.
  template <typename Block>
  [[nodiscard]] ErrorSum<Scalar> block_error_of(const Block& block,
                                                const typename Block::Rows& impulse,
                                                const typename Block::Rows& moved) const noexcept {
    constexpr int capacity = Block::capacity;
    using Rows = typename Block::Rows;
    RowScales<Scalar, capacity> own{Rows::Zero(), Rows::Zero()};
    Rows velocity = Rows::Zero(), without_overlap = Rows::Zero();
    const bool rigid = block.law().rigid && !softened_;
    const Rows softness = rigid ? Rows(Rows::Zero()) : block.regularization();
    const Rows& bias = block.bias_velocity();
    const Rows least_bias = block.least_bias_velocity();
    for (int r = 0; r < block.rows(); ++r) {
      const Scalar given = softness(r) * impulse(r);
      velocity(r) = moved(r) - bias(r) + given;
      without_overlap(r) = moved(r) - least_bias(r) + given;
      own.velocity(r) = scales_.velocity(block.first_row() + r);
      own.inverse_mass(r) = scales_.inverse_mass(block.first_row() + r) + softness(r);
    }
    const auto judge = [&](const Rows& u) {
      if constexpr (capacity != 3) {
        return block_error(law_, block.set(), impulse, u, own);
      } else if (block.law().friction > Scalar(0)) {
        return block_error(law_, block.law().friction, impulse, u, own);
      } else {
        return frictionless_error(impulse, u, own);
      }
    };
    const ErrorSum<Scalar> asked = judge(velocity);
    if (!rigid || !(block.law().overlap_velocity > Scalar(0))) return asked;
    // The law does not require the velocity that removes an overlap.
    const ErrorSum<Scalar> without = judge(without_overlap);
    return without.largest < asked.largest ? without : asked;
  }
  /// Adds Ĵᵀγ of one side of a block to the momentum of its body, and its size to the sum of the
  /// impulses on it.
  void add_impulse(const BlockSide<Scalar>& side, int rows, const Scalar* impulse) noexcept {
    using std::sqrt;
    const auto [start, size] = side.range;
    Scalar squared(0);
    for (Index i = 0; i < size; ++i) {
      Scalar own(0);
      for (int row = 0; row < rows; ++row) own += impulse[row] * side.whitened[row * size + i];
      pushed_[start + i] += own;
      squared += own * own;
    }
    gross_[side.body] += sqrt(squared);
  }
  void judge_body(const ContactProblem<Scalar>& problem, Index body, const Scalar* velocity,
                  AnswerError<Scalar>& result) noexcept {
    using std::sqrt;
    const auto [start, size] = problem.body(body);
    for (Index i = start; i < start + size; ++i) {
      whitened_[i] = velocity[i] - problem.free_velocity()(i);
    }
    multiply_lower_transposed(problem.momentum_factor(body).data(), size, size,
                              whitened_.data() + start);
    Scalar moved(0), off(0), free(0);
    for (Index i = start; i < start + size; ++i) {
      const Scalar lacks = whitened_[i] - pushed_[i];
      moved += whitened_[i] * whitened_[i];
      off += lacks * lacks;
      free += problem.whitened_free_velocity()(i) * problem.whitened_free_velocity()(i);
    }
    if (off == Scalar(0)) return;
    const Scalar scale = (std::max)({Scalar(sqrt(moved)), gross_[body],
                                     Scalar(Scalar(BlockScalesTuning::least_share) * sqrt(free))});
    Scalar found = scale > Scalar(0) ? Scalar(sqrt(off) / scale) : infinity;
    if (!is_finite(found)) found = infinity;
    if (!(found > result.body_error)) return;
    result.body_error = found;
    result.body = body;
  }

  FrictionLaw law_;
  bool softened_;
  BlockScales<Scalar> scales_;
  Sequence<Scalar> pushed_;    ///< Ĵᵀγ
  Sequence<Scalar> whitened_;  ///< Lᵀ(v − v*)
  Sequence<Scalar> gross_;     ///< Σ ‖Ĵᵀγ‖ of the blocks on a body
};

}  // namespace detail

/// Measures the error of an answer (v, γ) of any solver, under either law.
/// @param velocity  v, n_v [m/s]. Any entries are valid.
/// @param impulse   γ, impulse_count() numbers [N·s]. Any entries are valid.
/// @note  Cold: allocates; time and memory are proportional to bodies and blocks.
template <RealScalar Scalar>
[[nodiscard]] AnswerError<Scalar> judge_answer(
    const ContactProblem<Scalar>& problem, FrictionLaw law,
    const std::type_identity_t<VectorX<Scalar>>& velocity,
    const std::type_identity_t<VectorX<Scalar>>& impulse) {
  return detail::AnswerJudge<Scalar>(law).judge(problem, velocity, impulse);
}

}  // namespace CAROM_ABI
}  // namespace carom
