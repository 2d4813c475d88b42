// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/detail/checked_bodies.hpp"
#include "carom/contact/detail/projection_rounding.hpp"
#include "carom/solvers/answer/certificate_parts.hpp"
#include "carom/solvers/answer/map_rounding.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Upper bounds of measures of an answer (v, γ) that hold with all rounding.
template <std::floating_point Scalar>
struct CheckedMeasures {
  Scalar velocity_error_bound, duality_gap;
  /// Of each body, how far a velocity is from v* + A⁻¹Jᵀγ in the norm of A.
  VectorX<Scalar> off;
};

/// γ(v) = P(y(v)) of a block with what is left open of it, and the block's part of the gap.
template <std::floating_point Scalar>
struct CheckedImpulse {
  RowNumbers<Scalar> nearest;  ///< z, near P(y)
  RowNumbers<Scalar> doubt;    ///< ≥ |z − P(y)|, row by row
  RoundedNumber<Scalar> gap;   ///< at least ½‖γ − y‖²_R − ½‖P(y) − y‖²_R
};

/// @param gamma  γ of the block.
/// @param moved  J v of the block.
template <std::floating_point Scalar>
[[nodiscard]] CheckedImpulse<Scalar> check_impulse(const BlockView<Scalar>& block,
                                                   const RowNumbers<Scalar>& gamma,
                                                   const RoundedRows<Scalar>& moved) noexcept {
  using Number = RoundedNumber<Scalar>;
  const RowNumbers<Scalar> weights = block.regularization();
  RoundedRows<Scalar> trial{};
  for (int i = 0; i < block.rows(); ++i) {
    const Number push = Number(block.bias_velocity()(i)) - moved[std::size_t(i)];
    trial[std::size_t(i)] = push / weights(i);
  }
  const RowNumbers<Scalar> nearest = nearest_value(block.set(), weights, trial);
  return {nearest, ProjectionRounding<Scalar>(block.set(), weights, trial, nearest).rows(),
          GapRounding<Scalar>(block.set(), weights, trial, nearest, gamma).part()};
}

/// Impulses of all blocks with what is left open of each row, and the gap's sum over the blocks.
template <std::floating_point Scalar>
struct CheckedImpulses {
  VectorX<Scalar> nearest, doubt;
  RoundedNumber<Scalar> gap;
};

template <std::floating_point Scalar>
[[nodiscard]] CheckedImpulses<Scalar> check_impulses(const JudgedAnswer<Scalar>& answer,
                                                     const CheckedBodies<Scalar>& bodies) {
  const Index rows = answer.impulse().size();
  CheckedImpulses<Scalar> all{VectorX<Scalar>(rows), VectorX<Scalar>(rows), {}};
  using Block = typename JudgedAnswer<Scalar>::Block;
  const auto check = [&](const Block& block, RoundedNumber<Scalar>& gap) {
    const RowNumbers<Scalar> gamma = block.read(answer.impulse());
    const CheckedImpulse<Scalar> checked =
        check_impulse(block, gamma, bodies.velocity(block, answer.velocity()));
    block.write(checked.nearest, all.nearest);
    block.write(checked.doubt, all.doubt);
    gap += checked.gap;
  };
  all.gap = answer.sum_over_blocks(RoundedNumber<Scalar>(), check);
  return all;
}

/// Bounds ‖v − v_opt‖_A and the duality gap of (v, γ).
/// @param close  a velocity near v* + A⁻¹Jᵀγ, of which `off` of the result is an upper bound.
/// @note  Cold: allocates.
template <std::floating_point Scalar>
[[nodiscard]] CheckedMeasures<Scalar> check_answer(const JudgedAnswer<Scalar>& answer,
                                                   const CheckedBodies<Scalar>& bodies,
                                                   const VectorX<Scalar>& close) {
  const Index body_count = answer.problem().body_count();
  const CheckedImpulses<Scalar> own_impulses = check_impulses(answer, bodies);
  VectorX<Scalar> given(body_count), own(body_count), off(body_count);
  answer.ranges()(body_count, [&](Index begin, Index end) {
    CheckedMomentum<Scalar> of_pair, of_velocity, of_close;
    for (Index b = begin; b < end; ++b) {
      bodies.write_momentum(b, answer.velocity(), of_pair);
      of_velocity = of_pair;
      bodies.write_momentum(b, close, of_close);
      answer.for_each_touch(b, [&](const typename JudgedAnswer<Scalar>::Block& block, int s) {
        bodies.subtract(block, s, block.read(answer.impulse()), of_pair, of_close);
        bodies.subtract(block, s, block.read(own_impulses.nearest), of_velocity);
        bodies.add_doubt(block, s, block.read(own_impulses.doubt), of_velocity);
      });
      given(b) = bodies.norm(b, of_pair);
      own(b) = bodies.norm(b, of_velocity);
      off(b) = bodies.norm(b, of_close);
    }
  });
  const RoundedNumber<Scalar> balance(norm_of_bounds(given));
  const RoundedNumber<Scalar> gap = own_impulses.gap + balance * balance * Scalar(0.5);
  const Scalar slack = raised(std::abs(gap.value) * unit_rounding<Scalar> + gap.error, 4);
  return {norm_of_bounds(own), gap.error == Scalar(0) ? gap.value : Scalar(gap.value + slack), off};
}

/// ‖q‖² and the trace of W + R.
template <std::floating_point Scalar>
struct CheckedSize {
  RoundedNumber<Scalar> load_squared, diagonal;

  CheckedSize& operator+=(const CheckedSize& other) noexcept {
    load_squared += other.load_squared;
    diagonal += other.diagonal;
    return *this;
  }
};

/// @param off    of each body, how far a velocity may be from the exact one in the norm of A.
/// @param slack  written: of each row, how far J v may be from the exact one for that.
template <std::floating_point Scalar>
[[nodiscard]] CheckedSize<Scalar> check_size(const JudgedAnswer<Scalar>& answer,
                                             const CheckedBodies<Scalar>& bodies,
                                             const VectorX<Scalar>& off, VectorX<Scalar>& slack) {
  const VectorX<Scalar> free = answer.problem().free_velocity();
  slack.resize(answer.impulse().size());
  const auto see = [&](const typename JudgedAnswer<Scalar>::Block& block,
                       CheckedSize<Scalar>& size) {
    const RoundedRows<Scalar> moved = bodies.velocity(block, free);
    for (int row = 0; row < block.rows(); ++row) {
      const RoundedNumber<Scalar> q = moved[std::size_t(row)] - block.bias_velocity()(row);
      size.load_squared += q * q;
      size.diagonal += block.regularization()(row);
      Scalar& sum = slack(block.first_row() + row) = Scalar(0);
      for (int s = 0; s < block.side_count(); ++s) {
        const RoundedNumber<Scalar> squared = bodies.row_squared(block, s, row);
        size.diagonal += squared;
        sum = add_bounds(sum, square_root(squared).most(), off(block.side(s).body));
      }
    }
  };
  return answer.sum_over_blocks(CheckedSize<Scalar>(), see);
}

/// An upper bound of the natural map error of impulses.
/// @param close, off  a velocity near v* + A⁻¹Jᵀγ, and how far it may be from that, body by body.
/// @note  Cold: allocates.
template <std::floating_point Scalar>
[[nodiscard]] Scalar check_natural_map(const JudgedAnswer<Scalar>& answer,
                                       const CheckedBodies<Scalar>& bodies,
                                       const VectorX<Scalar>& close, const VectorX<Scalar>& off) {
  using Number = RoundedNumber<Scalar>;
  VectorX<Scalar> slack;
  const CheckedSize<Scalar> size = check_size(answer, bodies, off, slack);
  const CheckedMap<Scalar> empty(size.diagonal / Number(Scalar(answer.impulse().size())),
                                 square_root(size.load_squared));
  const auto see = [&](const typename JudgedAnswer<Scalar>::Block& block, CheckedMap<Scalar>& map) {
    RoundedRows<Scalar> u = bodies.velocity(block, close);
    const RowNumbers<Scalar> gamma = block.read(answer.impulse());
    for (int i = 0; i < block.rows(); ++i) {
      const Number moved = u[std::size_t(i)] + Number(Scalar(0), slack(block.first_row() + i));
      u[std::size_t(i)] =
          moved - block.bias_velocity()(i) + Number(block.regularization()(i)) * gamma(i);
    }
    map.see(block.set(), gamma, u, u);
  };
  return answer.sum_over_blocks(empty, see).relative();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
