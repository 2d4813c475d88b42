// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_hessian.hpp"
#include "carom/batch/detail/lane_jacobian.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Transposed derivatives of the solution by the data, in every lane: with s = J λ + ∂c/∂γ and
/// p = Gᵀ s, (A + Jᵀ G J)ᵀ λ = ∂c/∂v − Jᵀ Gᵀ ∂c/∂γ.
///
/// The answers take the cells of numbers that are no longer needed: λ those of `best`, A λ those of
/// `momentum`, p those of the trial impulses' steps, the gradient by μ that of the lift or of μ,
/// that by the bounds those of the velocity and of 1/R.
/// @cite  The implicit function theorem on A (v − v*) = Jᵀ γ(v̂ − J v).
template <typename Number, int Stride, FrictionLaw Law>
class LanePullBack {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LanePullBack(State& state) noexcept : state_(state) {}

  /// Differentiates at the velocities in the cells. ∂c/∂v is in `best`, ∂c/∂γ in the steps of the
  /// contacts' velocities.
  /// @return  where there is a derivative.
  [[nodiscard]] CAROM_DEVICE Mask run() noexcept;

 private:
  static constexpr bool is_coulomb = Law == FrictionLaw::coulomb;
  [[nodiscard]] CAROM_DEVICE static Number number(double x) noexcept { return Number(Scalar(x)); }

  /// The rows of a block, where it is, and its cells.
  struct Rows {
    LaneRowsTrial<Number> at;
    LaneSides sides;
    Cells impulse, slope, pressed;  ///< γ; s, of which ∂c/∂γ is a part; p
  };
  [[nodiscard]] CAROM_DEVICE Rows rows_of_contact(int k) const noexcept;
  [[nodiscard]] CAROM_DEVICE Rows rows_of_block(int b) const noexcept;
  template <typename Visit>
  CAROM_DEVICE void for_each_block(const Visit& visit) const noexcept {
    for (int k = 0; k < state_.layout().contacts; ++k) visit(rows_of_contact(k));
    for (int b = 0; b < state_.layout().block_count; ++b) visit(rows_of_block(b));
  }
  /// p = Gᵀ s.
  CAROM_DEVICE void write_pressed(const Rows& rows) const noexcept;
  /// λ ← λ − Jᵀ p.
  CAROM_DEVICE void take_away(const Rows& rows) const noexcept;
  /// s ← s + J λ.
  CAROM_DEVICE void add_motion(const Rows& rows) const noexcept;
  /// Solves for λ.
  [[nodiscard]] CAROM_DEVICE Mask solve() noexcept;
  CAROM_DEVICE void write_friction(const Rows& rows, Number (&by_friction)[3]) const noexcept;
  CAROM_DEVICE void write_bounds(int b, const Rows& rows) const noexcept;

  State& state_;
};

// --- implementation ---

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::rows_of_contact(int k) const noexcept -> Rows {
  const Cells c = state_.contact(k);
  Rows rows;
  rows.at.rows = 3;
  rows.at.shape = LaneShape::of(ImpulseShape::friction);
  for (int r = 0; r < 3; ++r) {
    rows.at.weight[r] = c[r < 2 ? Names::tangent : Names::normal];
    rows.at.y[r] = c[Names::trial + r];
    rows.at.mu[r] = r == 0 ? c[Names::friction] : number(0);
  }
  rows.sides = state_.layout().sides[k];
  rows.impulse = c.from(Names::impulse);
  rows.slope = c.from(Names::velocity_step);
  rows.pressed = c.from(Names::trial_step);
  return rows;
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::rows_of_block(int b) const noexcept -> Rows {
  const auto blocks = state_.blocks();
  return {blocks.trial(b), blocks.block(b).sides, blocks.rows(b, LaneBlock::impulse),
          blocks.rows(b, LaneBlock::velocity_step), blocks.rows(b, LaneBlock::trial_step)};
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LanePullBack<Number, Stride, Law>::write_pressed(
    const Rows& rows) const noexcept {
  LaneBlockMatrix<Number> g;
  if constexpr (is_coulomb) {
    write_coulomb_slope(rows.at, g);
  } else {
    write_convex_curvature(rows.at, g);
  }
  for (int r = 0; r < rows.at.rows; ++r) {
    Number sum = number(0);
    for (int q = 0; q < rows.at.rows; ++q) sum += g.entry[q][r] * rows.slope[q];
    rows.pressed.set(r, sum);
  }
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LanePullBack<Number, Stride, Law>::take_away(const Rows& rows) const noexcept {
  const int m = rows.at.rows;
  const auto pull = [&](const LaneSide& side) {
    const Cells j = state_.jacobian(side), columns = state_.vector(Names::best).from(side.column);
    for (int c = 0; c < side.count; ++c) {
      Number sum = number(0);
      for (int r = 0; r < m; ++r) sum += j[m * c + r] * rows.pressed[r];
      columns.set(c, columns[c] - sum);
    }
  };
  pull(rows.sides.low);
  pull(rows.sides.high);
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LanePullBack<Number, Stride, Law>::add_motion(const Rows& rows) const noexcept {
  const int m = rows.at.rows;
  const auto push = [&](const LaneSide& side) {
    const Cells j = state_.jacobian(side), columns = state_.vector(Names::best).from(side.column);
    for (int c = 0; c < side.count; ++c) {
      const Number xc = columns[c];
      for (int r = 0; r < m; ++r) rows.slope.add(r, j[m * c + r] * xc);
    }
  };
  push(rows.sides.low);
  push(rows.sides.high);
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::solve() noexcept -> Mask {
  const LaneLayout& layout = state_.layout();
  const Cells lambda = state_.vector(Names::best);
  const Mask all = everywhere<Number>(true);
  if constexpr (is_coulomb) {
    const LaneJacobian<Number, Stride> jacobian(state_);
    jacobian.fill(all);
    const Mask regular = factor_halves(layout.matrix_rows, jacobian.halves());
    solve_halves_transposed(layout.matrix_rows, jacobian.halves(), lambda);
    return regular;
  } else {
    for (int k = 0; k < layout.contacts; ++k) {
      const Cells c = state_.contact(k);
      const auto z = direction_of_lanes(c[Names::trial], c[Names::trial + 1]);
      c.set(Names::predicted, z.x);
      c.set(Names::predicted + 1, z.y);
    }
    static_cast<void>(LaneHessian<Number, Stride>(state_).fill(number(0), all));
    const Cells matrix = state_.cells(layout.matrix_at);
    const Mask definite = factor_lanes(layout.matrix_rows, matrix);
    solve_lanes(layout.matrix_rows, matrix, lambda);
    solve_lanes_transposed(layout.matrix_rows, matrix, lambda);
    return definite;
  }
}

/// Gradients by the μ of a cone. In units of μ the set does not depend on μ, under both laws: with
/// γ_i = μ_i x_i, a change of μ_i is one of (v̂ − J v)_i and R_i.
template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LanePullBack<Number, Stride, Law>::write_friction(
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
      // Towards μ > 0, where nothing resists sliding.
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
CAROM_DEVICE void LanePullBack<Number, Stride, Law>::write_bounds(int b,
                                                                  const Rows& rows) const noexcept {
  const Cells by_lower = state_.blocks().rows(b, LaneBlock::contact_velocity);
  const Cells by_upper = state_.blocks().rows(b, LaneBlock::inverse);
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

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::run() noexcept -> Mask {
  const LaneLayout& layout = state_.layout();
  const Number largest((std::numeric_limits<Scalar>::max)());
  for (int k = 0; k < layout.contacts; ++k) state_.contact(k).set(Names::lift, number(0));
  if constexpr (is_coulomb) state_.set_law(everywhere<Number>(true));
  Mask usable = state_.begin();
  state_.evaluate();
  usable = usable & state_.is_finite();
  for_each_block([&](const Rows& rows) {
    write_pressed(rows);
    take_away(rows);
  });
  usable = usable & solve();
  for_each_block([&](const Rows& rows) {
    add_motion(rows);
    write_pressed(rows);
  });
  const Cells lambda = state_.vector(Names::best), by_free = state_.vector(Names::momentum);
  multiply_lanes(layout.mass_rows, state_.cells(layout.mass_at), lambda, by_free);
  Number total = number(0);
  for (int i = 0; i < layout.velocities; ++i) total += abs(lambda[i]) + abs(by_free[i]);
  Number by_friction[3];
  for (int k = 0; k < layout.contacts; ++k) {
    const Rows rows = rows_of_contact(k);
    write_friction(rows, by_friction);
    state_.contact(k).set(Names::lift, by_friction[0]);
    total += abs(by_friction[0]);
    for (int r = 0; r < 3; ++r) total += abs(rows.pressed[r]);
  }
  for (int b = 0; b < layout.block_count; ++b) {
    const Rows rows = rows_of_block(b);
    write_friction(rows, by_friction);
    write_bounds(b, rows);
    const Cells mu = state_.cells(layout.blocks_at + layout.blocks[b].friction_at());
    for (int i = 0; i < 3; ++i) {
      mu.set(i, by_friction[i]);
      total += abs(by_friction[i]);
    }
    for (int r = 0; r < rows.at.rows; ++r) total += abs(rows.pressed[r]) + abs(rows.slope[r]);
  }
  return usable & (total <= largest);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
