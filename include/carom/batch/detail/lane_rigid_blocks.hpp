// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The rows of a rigid block, and its cells.
template <typename Cells>
struct LaneRigidBlock {
  int rows;
  const LaneSides& sides;
  Cells impulse, multiplier, inverse_mass, weight, inverse;
  bool paired;  ///< a friction contact, which has one R for two rows

  /// Numbers R of the block, and a row that has one of them.
  [[nodiscard]] CAROM_DEVICE int weights() const noexcept { return paired ? 2 : rows; }
  [[nodiscard]] CAROM_DEVICE int row_of(int i) const noexcept { return paired ? 2 * i : i; }
};

/// The rigid blocks of an island in every lane. Their R is a share of their inverse mass. A view of
/// the cells.
template <typename Number, int Stride>
class LaneRigidBlocks {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Cells = typename State::Cells;
  using Names = LaneLayout;
  using Block = LaneRigidBlock<Cells>;

  CAROM_DEVICE explicit LaneRigidBlocks(const State& state) noexcept : state_(state) {}

  /// Calls visit(block) for every one.
  template <typename Visit>
  CAROM_DEVICE void for_each(const Visit& visit) const noexcept;
  /// w, the mean of J A⁻¹ Jᵀ over a block's rows, as rows that a cone bounds together have the same
  /// R.
  /// @pre  the factor of A is in the cells; the scratch vector is free.
  CAROM_DEVICE void write_inverse_masses() const noexcept;
  /// R = softness · w.
  CAROM_DEVICE void write_weights(const Number& softness) const noexcept;

 private:
  const State& state_;
};

// --- implementation ---

template <typename Number, int Stride>
template <typename Visit>
CAROM_DEVICE void LaneRigidBlocks<Number, Stride>::for_each(const Visit& visit) const noexcept {
  const LaneLayout& layout = state_.layout();
  for (int k = 0; k < layout.contacts; ++k) {
    if (layout.rigid_contacts[k] == 0) continue;
    const Cells c = state_.contact(k);
    visit(Block{3, layout.sides[k], c.from(Names::impulse), c.from(Names::multiplier),
                c.from(Names::inverse_mass), c.from(Names::tangent), c.from(Names::inverse_tangent),
                true});
  }
  const auto blocks = state_.blocks();
  for (int b = 0; b < layout.block_count; ++b) {
    if (!layout.blocks[b].rigid) continue;
    const auto rows = [&](int name) { return blocks.rows(b, name); };
    visit(Block{layout.blocks[b].rows, layout.blocks[b].sides, rows(LaneBlock::impulse),
                rows(LaneBlock::multiplier), rows(LaneBlock::inverse_mass),
                rows(LaneBlock::regularization), rows(LaneBlock::inverse), false});
  }
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneRigidBlocks<Number, Stride>::write_inverse_masses() const noexcept {
  const LaneLayout& layout = state_.layout();
  const Number zero(Scalar(0));
  const Cells x = state_.vector(Names::scratch);
  for_each([&](const Block& block) {
    Number sum = zero;
    for (int r = 0; r < block.rows; ++r) {
      for (int i = 0; i < layout.velocities; ++i) x.set(i, zero);
      const auto add = [&](const LaneSide& side) {
        const Cells j = state_.jacobian(side);
        for (int c = 0; c < side.count; ++c) x.set(side.column + c, j[block.rows * c + r]);
      };
      add(block.sides.low);
      add(block.sides.high);
      solve_lanes(layout.mass_rows, state_.cells(layout.mass_factor_at), x);
      for (int i = 0; i < layout.velocities; ++i) sum += x[i] * x[i];
    }
    // A block that moves nothing has any R.
    const Number mean = select(sum > zero, sum / Number(Scalar(block.rows)), Number(Scalar(1)));
    for (int r = 0; r < block.rows; ++r) block.inverse_mass.set(r, mean);
  });
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneRigidBlocks<Number, Stride>::write_weights(
    const Number& softness) const noexcept {
  for_each([&](const Block& block) {
    for (int i = 0; i < block.weights(); ++i) {
      const Number weight = softness * block.inverse_mass[block.row_of(i)];
      block.weight.set(i, weight);
      block.inverse.set(i, Number(Scalar(1)) / weight);
    }
  });
  const LaneLayout& layout = state_.layout();
  for (int k = 0; k < layout.contacts; ++k) {
    if (layout.rigid_contacts[k] != 0) state_.take_weights(k);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
