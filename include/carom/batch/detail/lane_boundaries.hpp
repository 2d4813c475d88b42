// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_gradient_rows.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Finds the blocks that are on a boundary of two regions, in every lane, by the rule of
/// CoulombDerivative and its default tolerance. A view of the cells.
///
/// Notation: u = J v − v̂ + R γ, R = 0 for rigid blocks; w the mean of J A⁻¹ Jᵀ + R over the rows;
/// y = γ − u/w the trial impulse, whose distance from the next region times w is compared with a
/// share of ‖|J| (|v| + |v*|)‖ + ‖v̂‖ + w ‖γ‖. Under the convex law uₙ is lowered by De Saxcé's
/// lift.
/// @pre  the iterate has been evaluated; the scratch vector is free.
template <typename Number, int Stride, FrictionLaw Law>
class LaneBoundaries {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LaneBoundaries(const State& state) noexcept : state_(state) {}

  /// How many there are.
  [[nodiscard]] CAROM_DEVICE_CALL Number count() const noexcept {
    const LaneLayout& layout = state_.layout();
    const LaneGradientRows<Number, Stride, Law> blocks(state_);
    Number sum(0);
    for (int k = 0; k < layout.contacts; ++k) {
      const Cells c = state_.contact(k);
      const bool rigid = layout.rigid && layout.rigid_contacts[k] != 0;
      sum += as_numbers(is_on_boundary(blocks.of_contact(k),
                                       c.from(rigid ? Names::multiplier : Names::impulse),
                                       c.from(Names::bias), rigid, true));
    }
    for (int b = 0; b < layout.block_count; ++b) {
      const bool rigid = layout.blocks[b].rigid;
      const auto rows = [&](int name) { return state_.blocks().rows(b, name); };
      sum += as_numbers(is_on_boundary(blocks.of_block(b),
                                       rows(rigid ? LaneBlock::multiplier : LaneBlock::impulse),
                                       rows(LaneBlock::bias), rigid, false));
    }
    return sum;
  }

 private:
  using Rows = typename LaneGradientRows<Number, Stride, Law>::Rows;
  static constexpr bool is_coulomb = Law == FrictionLaw::coulomb;

  /// A block's numbers by rows.
  struct Block {
    const LaneRowsTrial<Number>& at;
    Number w, slack;
    Number impulse[6], velocity[6];  ///< γ, with the shift of a cone; u

    [[nodiscard]] CAROM_DEVICE Mask is_near(const Number& distance) const noexcept {
      return abs(distance) <= slack;
    }
  };

  [[nodiscard]] CAROM_DEVICE Mask is_on_boundary(const Rows& rows, const Cells& impulse,
                                                 const Cells& bias, bool rigid,
                                                 bool is_contact) const noexcept;
  /// ‖L⁻¹ Jᵣᵀ‖² of a row and a side, L the factor of A: the row's part of J A⁻¹ Jᵀ.
  [[nodiscard]] CAROM_DEVICE Number mobility(const LaneSide& side, int rows,
                                             int row) const noexcept;
  /// ‖|J| (|v| + |v*|)‖ of a side.
  [[nodiscard]] CAROM_DEVICE Number speed(const LaneSide& side, int rows) const noexcept;
  [[nodiscard]] CAROM_DEVICE static Mask is_near_bound(const Block& block) noexcept;
  [[nodiscard]] CAROM_DEVICE static Mask is_near_cone(Block& block, bool is_contact) noexcept;
  /// Where the rows from `first` to the one before `end` that one bound holds are about to slide or
  /// to stick.
  [[nodiscard]] CAROM_DEVICE static Mask is_near_disc(const Block& block, int first, int end,
                                                      const Number& normal,
                                                      bool is_contact) noexcept;

  const State& state_;
};

// --- implementation ---

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE Number LaneBoundaries<Number, Stride, Law>::mobility(const LaneSide& side, int rows,
                                                                  int row) const noexcept {
  const LaneRows& mass = state_.layout().mass_rows;
  const Cells factor = state_.cells(state_.layout().mass_factor_at);
  const Cells x = state_.vector(Names::scratch), j = state_.jacobian(side);
  Number sum(0);
  if (side.count == 0) return sum;
  // Rows of the body begin alike.
  const int begin = side.column, start = mass.first_column[begin];
  for (int i = begin; i < mass.count && mass.first_column[i] == start; ++i) {
    const Cells own = factor.from(mass.place[i]);
    Number rest = i < begin + side.count ? j[rows * (i - begin) + row] : Number(0);
    for (int k = begin; k < i; ++k) rest -= own[k] * x[k];
    rest *= own[i];
    x.set(i, rest);
    sum += rest * rest;
  }
  return sum;
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE Number LaneBoundaries<Number, Stride, Law>::speed(const LaneSide& side,
                                                               int rows) const noexcept {
  const Cells j = state_.jacobian(side), v = state_.vector(Names::velocity).from(side.column);
  const Cells free = state_.vector(Names::free).from(side.column);
  Number squared(0);
  for (int r = 0; r < rows; ++r) {
    Number sum(0);
    for (int c = 0; c < side.count; ++c) sum += abs(j[rows * c + r]) * (abs(v[c]) + abs(free[c]));
    squared += sum * sum;
  }
  return sqrt(squared);
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LaneBoundaries<Number, Stride, Law>::is_near_bound(const Block& block) noexcept
    -> Mask {
  Mask near_some = everywhere<Number>(false);
  for (int r = 0; r < block.at.rows; ++r) {
    const Number y = block.impulse[r] - block.velocity[r] / block.w;
    near_some = near_some | block.is_near((y - block.at.lower[r]) * block.w);
    near_some = near_some | block.is_near((block.at.upper[r] - y) * block.w);
  }
  return near_some;
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LaneBoundaries<Number, Stride, Law>::is_near_disc(const Block& block, int first,
                                                                    int end, const Number& normal,
                                                                    bool is_contact) noexcept
    -> Mask {
  const Number zero(0), one(1);
  Number largest = zero, squared = zero;
  for (int r = first; r < end; ++r) {
    if (r != block.at.shape.normal) largest = larger(block.at.mu_of(r), largest);
  }
  const Mask held = largest > zero;
  // A contact without friction slips where nothing but its speed says so.
  const Number size = select(held, largest, one);
  for (int r = first; r < end; ++r) {
    if (r == block.at.shape.normal) continue;
    const Number& mu = block.at.mu_of(r);
    const Number own = select(held, mu, one), y = block.impulse[r];
    const Number trial = y / own - own * block.velocity[r] / (size * size * block.w);
    squared += select(own > zero, trial * trial, zero);
  }
  const Number limit = select(held, normal, zero);
  const Mask close = block.is_near((sqrt(squared) - limit) * block.w * size);
  return is_contact ? close : close & held;
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LaneBoundaries<Number, Stride, Law>::is_near_cone(Block& block,
                                                                    bool is_contact) noexcept
    -> Mask {
  const LaneShape& shape = block.at.shape;
  const int n = shape.normal;
  if constexpr (!is_coulomb) block.velocity[n] -= lift_of_lanes(block.at, block.velocity);
  const Number reach = block.impulse[n] - block.velocity[n] / block.w;
  const Mask closes = block.is_near(reach * block.w), closed = reach > Number(0);
  const Number normal = larger(reach, Number(0));
  Mask slips = everywhere<Number>(false);
  if (shape.ellipsoidal) {
    slips = is_near_disc(block, 0, block.at.rows, normal, is_contact);
  } else {
    for (int b = 0; b < shape.group_count; ++b) {
      const auto& [first, size] = shape.groups[b];
      slips = slips | is_near_disc(block, first, first + size, normal, is_contact);
    }
  }
  return closes | (closed & slips);
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LaneBoundaries<Number, Stride, Law>::is_on_boundary(
    const Rows& rows, const Cells& impulse, const Cells& bias, bool rigid,
    bool is_contact) const noexcept -> Mask {
  using std::sqrt;
  const int m = rows.at.rows;
  const Number zero(0), one(1), tolerance(sqrt(std::numeric_limits<Scalar>::epsilon()));
  const bool cone = rows.at.shape.normal >= 0;
  Block block{rows.at, zero, zero, {}, {}};
  Number pressed = zero, biased = zero;
  for (int r = 0; r < m; ++r) {
    const Number gamma = impulse[r], moved = cone && !is_contact ? rows.at.lower[r] : zero;
    block.velocity[r] = rows.at.weight[r] * (gamma - (rows.at.y[r] - moved));
    block.impulse[r] = gamma + moved;
    pressed += gamma * gamma;
    biased += bias[r] * bias[r];
    block.w += mobility(rows.sides.low, m, r) + mobility(rows.sides.high, m, r);
    if (!rigid) block.w += rows.at.weight[r];
  }
  block.w = block.w / Number(Scalar(m));
  block.w = select(block.w > zero, block.w, one);
  block.slack = tolerance * (speed(rows.sides.low, m) + speed(rows.sides.high, m) + sqrt(biased) +
                             block.w * sqrt(pressed));
  return cone ? is_near_cone(block, is_contact) : is_near_bound(block);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
