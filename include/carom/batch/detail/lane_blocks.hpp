// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_block_law.hpp"
#include "carom/batch/detail/lane_matrices.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The blocks of an island that are no friction contacts, at the iterates of the lanes. A view of
/// the cells.
template <typename Number, int Stride>
class LaneBlocks {
 public:
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = LaneCells<Number, Stride>;

  CAROM_DEVICE LaneBlocks(const LaneLayout& layout, const Cells& cells) noexcept
      : layout_(layout), cells_(cells) {}

  [[nodiscard]] CAROM_DEVICE int count() const noexcept { return layout_.block_count; }
  [[nodiscard]] CAROM_DEVICE const LaneBlock& block(int b) const noexcept {
    return layout_.blocks[b];
  }
  [[nodiscard]] CAROM_DEVICE Cells rows(int b, int name) const noexcept {
    return cells_.from(layout_.blocks_at + block(b).row_at(name));
  }
  [[nodiscard]] CAROM_DEVICE Cells lift(int b) const noexcept {
    return cells_.from(layout_.blocks_at + block(b).lift_at());
  }
  [[nodiscard]] CAROM_DEVICE Cells jacobian(const LaneSide& side) const noexcept {
    return cells_.from(layout_.jacobian_at + side.jacobian);
  }

  /// What the data determine once and for all.
  CAROM_DEVICE void begin() const noexcept;
  /// J x of a block.
  CAROM_DEVICE void multiply(int b, const Cells& x, Number (&product)[6]) const noexcept;
  /// The set, weights and, moved by the set's shift, the trial impulse last written.
  [[nodiscard]] CAROM_DEVICE LaneRowsTrial<Number> trial(int b) const noexcept;
  /// Writes J v, the trial impulses and the impulses of all blocks, and adds Jᵀγ to `pushed`.
  /// @param coulomb  lanes under Coulomb's law; in the others v̂ₙ is lowered by the lift.
  CAROM_DEVICE_CALL void evaluate(const Cells& velocity, const Cells& pushed,
                                  const Mask& coulomb) const noexcept;
  /// Σ γ·R (2 y − γ), twice the blocks' share of the cost, under the convex law with the velocities
  /// given by velocity(b, u). Σ R γ² of a cone that is not shifted.
  template <typename Velocity>
  [[nodiscard]] CAROM_DEVICE Number stored(const Velocity& velocity) const noexcept;
  /// The same at the iterate last evaluated.
  [[nodiscard]] CAROM_DEVICE Number stored() const noexcept;
  /// Writes what a direction changes in velocities and trial impulses.
  CAROM_DEVICE void write_steps(const Cells& direction) const noexcept;
  /// Σ Δγ·J d of a step length, Δγ the change of the impulses since the step's start.
  [[nodiscard]] CAROM_DEVICE_CALL Number work_at(const Number& step) const noexcept;
  /// Lowers v̂ and J v by the velocity of a frame.
  CAROM_DEVICE void shift(const Cells& frame, const Mask& lanes) const noexcept;
  /// Moves lifts a share of the way to those of the iterate.
  CAROM_DEVICE_CALL void renew_lifts(const Mask& lanes, const Number& share) const noexcept;
  /// Calls visit(cells of a number of every row, rows) for what is kept of a block put aside.
  template <typename Visit>
  CAROM_DEVICE void for_each_kept(const Visit& visit) const noexcept {
    for (int b = 0; b < count(); ++b) {
      visit(lift(b), 1);
      if (layout_.rigid) visit(rows(b, LaneBlock::multiplier), block(b).rows);
    }
  }

 private:
  /// Takes the set's shift away again.
  CAROM_DEVICE void unshift(int b, Number (&impulse)[6]) const noexcept;

  const LaneLayout& layout_;
  Cells cells_;
};

// --- implementation ---

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::begin() const noexcept {
  for (int b = 0; b < count(); ++b) {
    const Cells weight = rows(b, LaneBlock::regularization), inverse = rows(b, LaneBlock::inverse);
    for (int r = 0; r < block(b).rows; ++r) inverse.set(r, Number(Scalar(1)) / weight[r]);
  }
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::multiply(int b, const Cells& x,
                                                       Number (&product)[6]) const noexcept {
  const int rows = block(b).rows;
  for (int r = 0; r < rows; ++r) product[r] = Number(Scalar(0));
  const auto add = [&](const LaneSide& side) {
    const Cells j = jacobian(side), columns = x.from(side.column);
    for (int c = 0; c < side.count; ++c) {
      const Number xc = columns[c];
      for (int r = 0; r < rows; ++r) product[r] += j[rows * c + r] * xc;
    }
  };
  add(block(b).sides.low);
  add(block(b).sides.high);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::shift(const Cells& frame,
                                                    const Mask& lanes) const noexcept {
  for (int b = 0; b < count(); ++b) {
    const Cells bias = rows(b, LaneBlock::bias), at = rows(b, LaneBlock::contact_velocity);
    Number u[6];
    multiply(b, frame, u);
    for (int r = 0; r < block(b).rows; ++r) {
      bias.set(r, select(lanes, bias[r] - u[r], bias[r]));
      at.set(r, select(lanes, at[r] - u[r], at[r]));
    }
  }
}

template <typename Number, int Stride>
CAROM_DEVICE LaneRowsTrial<Number> LaneBlocks<Number, Stride>::trial(int b) const noexcept {
  LaneRowsTrial<Number> at;
  at.rows = block(b).rows;
  at.shape = block(b).shape;
  const Cells weight = rows(b, LaneBlock::regularization), y = rows(b, LaneBlock::trial);
  const Cells lower = rows(b, LaneBlock::lower), upper = rows(b, LaneBlock::upper);
  const bool cone = at.shape.normal >= 0;
  for (int r = 0; r < at.rows; ++r) {
    at.weight[r] = weight[r];
    at.y[r] = cone ? y[r] + lower[r] : y[r];
    if (cone) continue;
    at.lower[r] = lower[r];
    at.upper[r] = upper[r];
  }
  const Cells friction = cells_.from(layout_.blocks_at + block(b).friction_at());
  for (int i = 0; cone && i < 3; ++i) at.mu[i] = friction[i];
  return at;
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::unshift(int b, Number (&impulse)[6]) const noexcept {
  if (block(b).shape.normal < 0) return;
  const Cells shift = rows(b, LaneBlock::lower);
  for (int r = 0; r < block(b).rows; ++r) impulse[r] -= shift[r];
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::evaluate(const Cells& velocity, const Cells& pushed,
                                                       const Mask& coulomb) const noexcept {
  const Number zero(Scalar(0));
  for (int b = 0; b < count(); ++b) {
    const int m = block(b).rows, normal = block(b).shape.normal;
    Number u[6];
    multiply(b, velocity, u);
    const Cells at_velocity = rows(b, LaneBlock::contact_velocity), y = rows(b, LaneBlock::trial);
    const Cells bias = rows(b, LaneBlock::bias), inverse = rows(b, LaneBlock::inverse);
    for (int r = 0; r < m; ++r) {
      at_velocity.set(r, u[r]);
      Number wanted = bias[r];
      if (r == normal) wanted -= select(coulomb, zero, lift(b)[0]);
      Number trial_impulse = (wanted - u[r]) * inverse[r];
      if (layout_.rigid) trial_impulse += rows(b, LaneBlock::multiplier)[r];
      y.set(r, trial_impulse);
    }
    const LaneRowsTrial<Number> at = trial(b);
    Number impulse[6], by_law[6];
    write_convex_impulse(at, impulse);
    if (normal >= 0 && any(coulomb)) {
      write_coulomb_impulse(at, by_law);
      for (int r = 0; r < m; ++r) impulse[r] = select(coulomb, by_law[r], impulse[r]);
    }
    unshift(b, impulse);
    const Cells kept = rows(b, LaneBlock::impulse);
    for (int r = 0; r < m; ++r) kept.set(r, impulse[r]);
    const auto push = [&](const LaneSide& side) {
      const Cells j = jacobian(side), columns = pushed.from(side.column);
      for (int c = 0; c < side.count; ++c) {
        Number sum = zero;
        for (int r = 0; r < m; ++r) sum += j[m * c + r] * impulse[r];
        columns.add(c, sum);
      }
    };
    push(block(b).sides.low);
    push(block(b).sides.high);
  }
}

template <typename Number, int Stride>
template <typename Velocity>
CAROM_DEVICE Number LaneBlocks<Number, Stride>::stored(const Velocity& velocity) const noexcept {
  Number sum(Scalar(0));
  for (int b = 0; b < count(); ++b) {
    Number u[6], impulse[6];
    velocity(b, u);
    LaneRowsTrial<Number> at = trial(b);
    const Cells bias = rows(b, LaneBlock::bias), inverse = rows(b, LaneBlock::inverse);
    const bool cone = at.shape.normal >= 0;
    for (int r = 0; r < at.rows; ++r) {
      at.y[r] = (bias[r] - u[r]) * inverse[r];
      if (layout_.rigid) at.y[r] += rows(b, LaneBlock::multiplier)[r];
      if (cone) at.y[r] += rows(b, LaneBlock::lower)[r];
    }
    write_convex_impulse(at, impulse);
    unshift(b, impulse);
    unshift(b, at.y);
    for (int r = 0; r < at.rows; ++r) {
      sum += at.weight[r] * (impulse[r] * (at.y[r] + at.y[r] - impulse[r]));
    }
  }
  return sum;
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneBlocks<Number, Stride>::stored() const noexcept {
  Number sum(Scalar(0));
  for (int b = 0; b < count(); ++b) {
    const Cells weight = rows(b, LaneBlock::regularization), impulse = rows(b, LaneBlock::impulse);
    const Cells y = rows(b, LaneBlock::trial);
    for (int r = 0; r < block(b).rows; ++r) {
      sum += weight[r] * (impulse[r] * (y[r] + y[r] - impulse[r]));
    }
  }
  return sum;
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::write_steps(const Cells& direction) const noexcept {
  for (int b = 0; b < count(); ++b) {
    Number u[6];
    multiply(b, direction, u);
    const Cells inverse = rows(b, LaneBlock::inverse);
    const Cells velocity = rows(b, LaneBlock::velocity_step), y = rows(b, LaneBlock::trial_step);
    for (int r = 0; r < block(b).rows; ++r) {
      velocity.set(r, u[r]);
      y.set(r, -u[r] * inverse[r]);
    }
  }
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneBlocks<Number, Stride>::work_at(const Number& step) const noexcept {
  Number work(Scalar(0));
  for (int b = 0; b < count(); ++b) {
    LaneRowsTrial<Number> at = trial(b);
    const Cells velocity = rows(b, LaneBlock::velocity_step), y = rows(b, LaneBlock::trial_step);
    const Cells before = rows(b, LaneBlock::impulse);
    for (int r = 0; r < at.rows; ++r) at.y[r] += step * y[r];
    Number impulse[6];
    write_convex_impulse(at, impulse);
    unshift(b, impulse);
    for (int r = 0; r < at.rows; ++r) work += (impulse[r] - before[r]) * velocity[r];
  }
  return work;
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneBlocks<Number, Stride>::renew_lifts(const Mask& lanes,
                                                          const Number& share) const noexcept {
  for (int b = 0; b < count(); ++b) {
    if (block(b).shape.normal < 0) continue;
    const Cells u = rows(b, LaneBlock::contact_velocity), bias = rows(b, LaneBlock::bias);
    const Cells weight = rows(b, LaneBlock::regularization), impulse = rows(b, LaneBlock::impulse);
    Number slip[6];
    for (int r = 0; r < block(b).rows; ++r) {
      Number pressed = impulse[r];
      if (layout_.rigid) pressed -= rows(b, LaneBlock::multiplier)[r];
      slip[r] = u[r] - bias[r] + weight[r] * pressed;
    }
    const Number wanted = lift_of_lanes(trial(b), slip), kept = lift(b)[0];
    lift(b).set(0, select(lanes, kept + share * (wanted - kept), kept));
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
