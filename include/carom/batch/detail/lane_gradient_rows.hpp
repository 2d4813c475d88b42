// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The rows of each block in the transposed derivative, in each lane: gradients by impulses, and
/// the gradients by the data of a block's law. A view of the cells.
template <typename Number, int Stride, FrictionLaw Law>
class LaneGradientRows {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LaneGradientRows(const State& state) noexcept : state_(state) {}

  /// A block, and its law at the trial impulse.
  struct Rows {
    LaneBlockCells<Cells> block;
    LaneRowsTrial<Number> at;
    Cells given, slope, pressed;  ///< ∂c/∂γ; s, which contains it; p

    CAROM_DEVICE explicit Rows(const LaneBlockCells<Cells>& of) noexcept
        : block(of),
          at(trial_of(of)),
          given(of.contact_velocity),
          slope(of.velocity_step),
          pressed(of.trial_step) {}
  };
  /// Calls visit(rows) for each block.
  template <typename Visit>
  CAROM_DEVICE void for_each(const Visit& visit) const noexcept {
    state_.for_each_block([&](const LaneBlockCells<Cells>& block) { visit(Rows(block)); });
  }
  /// The same for the rigid ones.
  template <typename Visit>
  CAROM_DEVICE void for_each_rigid(const Visit& visit) const noexcept {
    state_.for_each_rigid_block([&](const LaneBlockCells<Cells>& block) { visit(Rows(block)); });
  }
  /// p = Gᵀ s.
  CAROM_DEVICE_CALL void find_pressed(const Rows& rows, Number (&pressed)[6]) const noexcept;
  CAROM_DEVICE void write_pressed(const Rows& rows) const noexcept {
    Number pressed[6];
    find_pressed(rows, pressed);
    for (int r = 0; r < rows.at.rows; ++r) rows.pressed.set(r, pressed[r]);
  }
  /// λ ← λ − Jᵀ p.
  CAROM_DEVICE void take_push(const Rows& rows) const noexcept {
    Number pressed[6];
    find_pressed(rows, pressed);
    for (int r = 0; r < rows.at.rows; ++r) pressed[r] = -pressed[r];
    rows.block.add_transposed(pressed, state_.vector(Names::best));
  }
  /// s ← s + J λ.
  CAROM_DEVICE void add_motion(const Rows& rows) const noexcept {
    Number slope[6];
    for (int r = 0; r < rows.at.rows; ++r) slope[r] = rows.slope[r];
    rows.block.add_product(state_.vector(Names::best), slope);
    for (int r = 0; r < rows.at.rows; ++r) rows.slope.set(r, slope[r]);
  }
  CAROM_DEVICE_CALL void write_friction(const Rows& rows, Number (&by_friction)[3]) const noexcept;
  CAROM_DEVICE void write_bounds(const Rows& rows) const noexcept;

 private:
  static constexpr bool is_coulomb = Law == FrictionLaw::coulomb;
  [[nodiscard]] CAROM_DEVICE static Number number(double x) noexcept { return Number(Scalar(x)); }

  const State& state_;
};

// --- implementation ---

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE_CALL void LaneGradientRows<Number, Stride, Law>::find_pressed(
    const Rows& rows, Number (&pressed)[6]) const noexcept {
  LaneBlockMatrix<Number> g;
  if constexpr (is_coulomb) {
    write_coulomb_slope(rows.at, g);
  } else {
    write_convex_curvature(rows.at, g);
  }
  for (int r = 0; r < rows.at.rows; ++r) {
    pressed[r] = number(0);
    for (int q = 0; q < rows.at.rows; ++q) pressed[r] += g.entry[q][r] * rows.slope[q];
  }
}

/// Gradients by the μ of a cone. In units of μ the set does not depend on μ, under both laws: with
/// γ_i = μ_i x_i, a change of μ_i acts as a change of (v̂ − J v)_i and R_i.
template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE_CALL void LaneGradientRows<Number, Stride, Law>::write_friction(
    const Rows& rows, Number (&by_friction)[3]) const noexcept {
  const LaneShape& shape = rows.at.shape;
  const auto& weight = rows.at.weight;
  const int count = rows.at.rows;
  for (Number& gradient : by_friction) gradient = number(0);
  if (shape.normal < 0) return;
  Number impulse[6], slip[6];  // moved by the shift; R (y − γ)
  if constexpr (is_coulomb) {
    write_coulomb_impulse(rows.at, impulse);
  } else {
    write_convex_impulse(rows.at, impulse);
  }
  for (int r = 0; r < count; ++r) slip[r] = weight[r] * (rows.at.y[r] - impulse[r]);
  const auto take = [&](int first, int end) {
    Number squared = number(0), largest = number(0);
    for (int r = first; r < end; ++r) {
      if (r == shape.normal) continue;
      squared += slip[r] * slip[r];
      largest = larger(largest, rows.at.mu_of(r));
    }
    const Number speed = sqrt(squared);
    const Number inverse = select(speed > number(0), number(1) / speed, number(0));
    for (int r = first; r < end; ++r) {
      if (r == shape.normal) continue;
      const Number own = rows.at.mu_of(r), t = slip[r] * inverse;
      const Number s = rows.slope[r], p = rows.pressed[r];
      const Number scaled = (s * impulse[r] + p * (slip[r] - weight[r] * impulse[r])) / own;
      // In the direction μ > 0, where no friction opposes sliding.
      Number begins = s * (impulse[shape.normal] * t);
      if (!is_coulomb) begins += rows.pressed[shape.normal] * (slip[r] * t);
      begins = select(largest > number(0), number(0), begins);
      const Number slides = select(own > number(0), scaled, begins);
      by_friction[shape.friction_of_row[r]] += select(speed > number(0), slides, number(0));
    }
  };
  if (shape.ellipsoidal) return take(0, count);
  for (int b = 0; b < shape.group_count; ++b) {
    take(shape.groups[b].first, shape.groups[b].first + shape.groups[b].size);
  }
}

/// Gradients by the bounds of intervals, or by the shift of a cone.
template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LaneGradientRows<Number, Stride, Law>::write_bounds(
    const Rows& rows) const noexcept {
  const Cells &by_lower = rows.block.contact_velocity, &by_upper = rows.block.inverse;
  for (int r = 0; r < rows.at.rows; ++r) {
    const Number s = rows.slope[r], y = rows.at.y[r];
    if (rows.at.shape.normal >= 0) {
      by_lower.set(r, rows.at.weight[r] * rows.pressed[r] - s);
      continue;
    }
    by_lower.set(r, select(y < rows.at.lower[r], s, number(0)));
    by_upper.set(r, select(y > rows.at.upper[r], s, number(0)));
  }
}

/// Counts the blocks on a boundary of two regions, in each lane, by the criterion of
/// CoulombDerivative and its default tolerance. A view of the cells.
///
/// Notation: u = J v − v̂ + R γ, R = 0 for rigid blocks; w is the mean of J A⁻¹ Jᵀ + R over the
/// rows; y = γ − u/w is the trial impulse. Its distance from the next region multiplied by w is
/// compared with a share of ‖|J| (|v| + |v*|)‖ + ‖v̂‖ + w ‖γ‖. Under the convex law uₙ is reduced
/// by De Saxcé's term.
/// @pre  the iterate is evaluated; the scratch vector is free.
template <typename Number, int Stride, FrictionLaw Law>
class LaneBoundaries {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LaneBoundaries(const State& state) noexcept : state_(state) {}

  /// The count of such blocks.
  [[nodiscard]] CAROM_DEVICE_CALL Number count() const noexcept {
    Number sum(0);
    LaneGradientRows<Number, Stride, Law>(state_).for_each(
        [&](const Rows& rows) { sum += as_numbers(is_on_boundary(rows)); });
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

  [[nodiscard]] CAROM_DEVICE Mask is_on_boundary(const Rows& rows) const noexcept;
  /// ‖L⁻¹ Jᵣᵀ‖² of a row and a side, L the factor of A: the row's part of J A⁻¹ Jᵀ.
  [[nodiscard]] CAROM_DEVICE Number mobility(const LaneSide& side, int rows,
                                             int row) const noexcept;
  /// ‖|J| (|v| + |v*|)‖ of a side.
  [[nodiscard]] CAROM_DEVICE Number speed(const LaneSide& side, int rows) const noexcept;
  [[nodiscard]] CAROM_DEVICE static Mask is_near_bound(const Block& block) noexcept;
  [[nodiscard]] CAROM_DEVICE static Mask is_near_cone(Block& block, bool is_contact) noexcept;
  /// Lanes in which the rows from `first` to before `end`, which have one bound, are about to slide
  /// or to stick.
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
  // Without friction the disc is a point, and a contact slips if its velocity is not zero.
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
    const Rows& rows) const noexcept -> Mask {
  using std::sqrt;
  const int m = rows.at.rows;
  const Number zero(0), one(1), tolerance(sqrt(std::numeric_limits<Scalar>::epsilon()));
  const bool rigid = rows.block.rigid;
  const Cells& impulse = rigid ? rows.block.multiplier : rows.block.impulse;
  Block block{rows.at, zero, zero, {}, {}};
  Number pressed = zero, biased = zero;
  for (int r = 0; r < m; ++r) {
    const Number gamma = impulse[r];
    const Number moved = rows.block.is_shifted() ? rows.block.lower[r] : zero;
    block.velocity[r] = rows.at.weight[r] * (gamma - (rows.at.y[r] - moved));
    block.impulse[r] = gamma + moved;
    pressed += gamma * gamma;
    biased += rows.block.bias[r] * rows.block.bias[r];
    block.w += mobility(rows.block.sides.low, m, r) + mobility(rows.block.sides.high, m, r);
    if (!rigid) block.w += rows.at.weight[r];
  }
  block.w = block.w / Number(Scalar(m));
  block.w = select(block.w > zero, block.w, one);
  block.slack = tolerance * (speed(rows.block.sides.low, m) + speed(rows.block.sides.high, m) +
                             sqrt(biased) + block.w * sqrt(pressed));
  return rows.block.is_cone() ? is_near_cone(block, rows.block.is_contact) : is_near_bound(block);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
