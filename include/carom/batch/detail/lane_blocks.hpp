// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_block_law.hpp"
#include "carom/batch/detail/lane_matrices.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The set and weights of a block, and its last trial impulse, moved by the set's shift.
template <typename Cells>
[[nodiscard]] CAROM_DEVICE auto trial_of(const LaneBlockCells<Cells>& block) noexcept {
  using Number = typename LaneBlockCells<Cells>::Number;
  LaneRowsTrial<Number> at;
  at.rows = block.rows;
  at.shape = block.shape;
  for (int r = 0; r < at.rows; ++r) {
    at.weight[r] = block.weight[block.weight_of(r)];
    at.y[r] = block.trial[r];
    if (block.is_shifted()) at.y[r] += block.lower[r];
    if (block.is_cone()) continue;
    at.lower[r] = block.lower[r];
    at.upper[r] = block.upper[r];
  }
  for (int i = 0; block.is_cone() && i < 3; ++i) {
    at.mu[i] = i > 0 && block.is_contact ? Number(0) : block.friction[i];
  }
  return at;
}

/// The blocks of an island that are not friction contacts, at the iterates of the lanes. A view of
/// the cells.
template <typename Number, int Stride>
class LaneBlocks {
 public:
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = LaneCells<Number, Stride>;
  using Block = LaneBlockCells<Cells>;

  CAROM_DEVICE LaneBlocks(const LaneLayout& layout, const Cells& cells) noexcept
      : layout_(layout), cells_(cells) {}

  template <typename Visit>
  CAROM_DEVICE void for_each(const Visit& visit) const noexcept {
    for (int b = 0; b < layout_.block_count; ++b) visit(Block::of_block(layout_, cells_, b));
  }
  /// Writes the numbers that depend only on the data.
  CAROM_DEVICE void begin() const noexcept;
  /// Writes J v, the trial impulses and the impulses of all blocks, and adds Jᵀγ to `pushed`.
  /// @param coulomb  lanes under Coulomb's law; in the others v̂ₙ is reduced by De Saxcé's term.
  CAROM_DEVICE_CALL void evaluate(const Cells& velocity, const Cells& pushed,
                                  const Mask& coulomb) const noexcept;
  /// Σ γ·R (2 y − γ), twice the blocks' share of the cost, under the convex law with the velocities
  /// of velocity(block, u). For a cone without a shift it is Σ R γ².
  template <typename Velocity>
  [[nodiscard]] CAROM_DEVICE Number stored(const Velocity& velocity) const noexcept;
  /// The same at the last evaluated iterate.
  [[nodiscard]] CAROM_DEVICE Number stored() const noexcept;
  /// Writes the changes of velocities and trial impulses along a direction.
  CAROM_DEVICE void write_steps(const Cells& direction) const noexcept;
  /// Σ Δγ·J d for a step length, where Δγ is the change of the impulses since the start of the
  /// step.
  [[nodiscard]] CAROM_DEVICE_CALL Number work_at(const Number& step) const noexcept;

 private:
  CAROM_DEVICE static void take_shift(const Block& block, Number (&impulse)[6]) noexcept {
    if (!block.is_cone()) return;
    for (int r = 0; r < block.rows; ++r) impulse[r] -= block.lower[r];
  }

  const LaneLayout& layout_;
  Cells cells_;
};

// --- implementation ---

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::begin() const noexcept {
  for_each([](const Block& block) {
    for (int r = 0; r < block.rows; ++r) block.inverse.set(r, Number(1) / block.weight[r]);
  });
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::evaluate(const Cells& velocity, const Cells& pushed,
                                                       const Mask& coulomb) const noexcept {
  const Number zero(0);
  for_each([&](const Block& block) {
    const int m = block.rows, normal = block.shape.normal;
    Number u[6] = {zero, zero, zero, zero, zero, zero};
    block.add_product(velocity, u);
    for (int r = 0; r < m; ++r) {
      block.contact_velocity.set(r, u[r]);
      Number wanted = block.bias[r];
      if (r == normal) wanted -= select(coulomb, zero, block.lift[0]);
      Number trial = (wanted - u[r]) * block.inverse[r];
      if (layout_.rigid) trial += block.multiplier[r];
      block.trial.set(r, trial);
    }
    const LaneRowsTrial<Number> at = trial_of(block);
    Number impulse[6], by_law[6];
    write_convex_impulse(at, impulse);
    if (normal >= 0 && any(coulomb)) {
      write_coulomb_impulse(at, by_law);
      for (int r = 0; r < m; ++r) impulse[r] = select(coulomb, by_law[r], impulse[r]);
    }
    take_shift(block, impulse);
    for (int r = 0; r < m; ++r) block.impulse.set(r, impulse[r]);
    block.add_transposed(impulse, pushed);
  });
}

template <typename Number, int Stride>
template <typename Velocity>
CAROM_DEVICE Number LaneBlocks<Number, Stride>::stored(const Velocity& velocity) const noexcept {
  const Number zero(0);
  Number sum = zero;
  for_each([&](const Block& block) {
    Number u[6] = {zero, zero, zero, zero, zero, zero}, impulse[6];
    velocity(block, u);
    LaneRowsTrial<Number> at = trial_of(block);
    for (int r = 0; r < at.rows; ++r) {
      at.y[r] = (block.bias[r] - u[r]) * block.inverse[r];
      if (layout_.rigid) at.y[r] += block.multiplier[r];
      if (block.is_cone()) at.y[r] += block.lower[r];
    }
    write_convex_impulse(at, impulse);
    take_shift(block, impulse);
    take_shift(block, at.y);
    for (int r = 0; r < at.rows; ++r) {
      sum += at.weight[r] * (impulse[r] * (at.y[r] + at.y[r] - impulse[r]));
    }
  });
  return sum;
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneBlocks<Number, Stride>::stored() const noexcept {
  Number sum(0);
  for_each([&](const Block& block) {
    for (int r = 0; r < block.rows; ++r) {
      const Number y = block.trial[r], impulse = block.impulse[r];
      sum += block.weight[r] * (impulse * (y + y - impulse));
    }
  });
  return sum;
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::write_steps(const Cells& direction) const noexcept {
  const Number zero(0);
  for_each([&](const Block& block) {
    Number u[6] = {zero, zero, zero, zero, zero, zero};
    block.add_product(direction, u);
    for (int r = 0; r < block.rows; ++r) {
      block.velocity_step.set(r, u[r]);
      block.trial_step.set(r, -u[r] * block.inverse[r]);
    }
  });
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneBlocks<Number, Stride>::work_at(const Number& step) const noexcept {
  Number work(0);
  for_each([&](const Block& block) {
    LaneRowsTrial<Number> at = trial_of(block);
    for (int r = 0; r < at.rows; ++r) at.y[r] += step * block.trial_step[r];
    Number impulse[6];
    write_convex_impulse(at, impulse);
    take_shift(block, impulse);
    for (int r = 0; r < at.rows; ++r) {
      work += (impulse[r] - block.impulse[r]) * block.velocity_step[r];
    }
  });
  return work;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
