// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/detail/checked_bodies.hpp"
#include "carom/contact/detail/gap_rounding.hpp"
#include "carom/solvers/detail/map_rounding.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Six rows of a block's numbers.
template <std::floating_point Scalar, typename Rows>
[[nodiscard]] RowNumbers<Scalar> all_rows(const Rows& rows) noexcept {
  RowNumbers<Scalar> all = RowNumbers<Scalar>::Zero();
  all.template head<Rows::RowsAtCompileTime>() = rows;
  return all;
}

/// Upper bounds of measures of an answer (v, γ) that hold with all rounding.
template <std::floating_point Scalar>
struct CheckedMeasures {
  Scalar velocity_error_bound, duality_gap;
};

/// γ(v) = P(y(v)) of a block with what is left open of it, and the block's part of the gap.
template <std::floating_point Scalar, typename Rows>
struct CheckedImpulse {
  Rows nearest;               ///< z, near P(y)
  RowNumbers<Scalar> doubt;   ///< ≥ |z − P(y)|, row by row
  RoundedNumber<Scalar> gap;  ///< at least ½‖γ − y‖²_R − ½‖P(y) − y‖²_R
};

/// @param gamma  γ of the block.
/// @param moved  J v of the block.
template <std::floating_point Scalar, typename Block>
[[nodiscard]] auto check_impulse(const Block& block, const typename Block::Rows& gamma,
                                 const RoundedRows<Scalar>& moved) noexcept {
  using Number = RoundedNumber<Scalar>;
  using Rows = typename Block::Rows;
  const RowNumbers<Scalar> weights = all_rows<Scalar>(block.regularization());
  RoundedRows<Scalar> trial{};
  for (int i = 0; i < block.rows(); ++i) {
    const Number push = Number(block.bias_velocity()(i)) - moved[std::size_t(i)];
    trial[std::size_t(i)] = push / weights(i);
  }
  CheckedImpulse<Scalar, Rows> result{};
  const Rows y = values_of<Rows>(trial);
  result.nearest = y.allFinite() ? block.nearest(y) : Rows(Rows::Zero());
  const RowNumbers<Scalar> nearest = all_rows<Scalar>(result.nearest);
  const ImpulseSet<Scalar> set = block.set();
  result.doubt = ProjectionRounding<Scalar>(set, weights, trial, nearest).rows();
  result.gap = GapRounding<Scalar>(set, weights, trial, nearest, all_rows<Scalar>(gamma)).part();
  return result;
}

/// Bounds ‖v − v_opt‖_A and the duality gap of (v, γ).
/// @note  Cold: allocates.
template <std::floating_point Scalar>
[[nodiscard]] CheckedMeasures<Scalar> check_answer(const ContactProblem<Scalar>& problem,
                                                   const CheckedBodies<Scalar>& bodies,
                                                   const VectorX<Scalar>& velocity,
                                                   const VectorX<Scalar>& impulse) {
  const VectorX<Scalar> exact = VectorX<Scalar>::Zero(problem.body_count());
  const RowNumbers<Scalar> known = RowNumbers<Scalar>::Zero();
  CheckedMomentum<Scalar> given = bodies.momentum_of(velocity), own = given;
  RoundedNumber<Scalar> gap;
  problem.for_each_block([&](const auto& block) {
    const auto gamma = block.read(impulse);
    const auto checked = check_impulse(block, gamma, bodies.velocity(block, velocity, exact));
    bodies.subtract(block, gamma, known, given);
    bodies.subtract(block, checked.nearest, checked.doubt, own);
    gap += checked.gap;
  });
  const RoundedNumber<Scalar> balance(norm_of_bounds(bodies.norms(given)));
  gap += balance * balance * Scalar(0.5);
  const Scalar slack = raised(std::abs(gap.value) * unit_rounding<Scalar> + gap.error, 4);
  return {norm_of_bounds(bodies.norms(own)),
          gap.error == Scalar(0) ? gap.value : Scalar(gap.value + slack)};
}

/// An upper bound of the natural map error of impulses.
/// @param close  a velocity near v* + A⁻¹Jᵀγ.
/// @note  Cold: allocates.
template <std::floating_point Scalar>
[[nodiscard]] Scalar check_natural_map(const ContactProblem<Scalar>& problem,
                                       const CheckedBodies<Scalar>& bodies,
                                       const VectorX<Scalar>& close,
                                       const VectorX<Scalar>& impulse) {
  using Number = RoundedNumber<Scalar>;
  const RowNumbers<Scalar> known = RowNumbers<Scalar>::Zero();
  CheckedMomentum<Scalar> balance = bodies.momentum_of(close);
  const VectorX<Scalar> free = problem.free_velocity();
  const VectorX<Scalar> exact = VectorX<Scalar>::Zero(problem.body_count());
  Number diagonal, load;
  problem.for_each_block([&](const auto& block) {
    bodies.subtract(block, block.read(impulse), known, balance);
    const RoundedRows<Scalar> moved = bodies.velocity(block, free, exact);
    for (int row = 0; row < block.rows(); ++row) {
      const Number q = moved[std::size_t(row)] - block.bias_velocity()(row);
      load += q * q;
      diagonal += block.regularization()(row);
      for (int s = 0; s < block.side_count(); ++s) diagonal += bodies.row_squared(block, s, row);
    }
  });
  const VectorX<Scalar> off = bodies.norms(balance);
  CheckedMap<Scalar> map(diagonal / Number(Scalar(problem.impulse_count())), square_root(load));
  problem.for_each_block([&](const auto& block) {
    RoundedRows<Scalar> u = bodies.velocity(block, close, off);
    const RowNumbers<Scalar> gamma = all_rows<Scalar>(block.read(impulse));
    for (int i = 0; i < block.rows(); ++i) {
      Number& row = u[std::size_t(i)];
      row = row - block.bias_velocity()(i) + Number(block.regularization()(i)) * gamma(i);
    }
    map.see(block.set(), gamma, u, u);
  });
  return map.relative();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
