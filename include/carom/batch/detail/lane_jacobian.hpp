// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_block_products.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The matrix A + Jᵀ G J of Newton's method on Coulomb's law at the iterates of the lanes. It is
/// not symmetric where a contact slides.
template <typename Number, int Stride>
class LaneJacobian {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LaneJacobian(const State& state) noexcept : state_(state) {}

  /// Writes the direction −(A + Jᵀ G J)⁻¹ F of Newton's method, law_direction.
  /// @param lanes  whose direction is wanted.
  /// @return  where there is one.
  [[nodiscard]] CAROM_DEVICE_CALL Mask find_direction(const Mask& lanes) const noexcept;
  /// The cells of the matrix, and the matrix or its factors in them.
  [[nodiscard]] CAROM_DEVICE LaneHalves<Cells> halves() const noexcept {
    return {state_.cells(state_.layout().matrix_at), state_.cells(state_.layout().upper_at)};
  }
  /// Writes the matrix into its cells.
  CAROM_DEVICE_CALL void fill(const Mask& lanes) const noexcept;

 private:
  CAROM_DEVICE_CALL void add(int k, const LaneSlope<Number>& g) const noexcept;
  CAROM_DEVICE void add_products(const LaneSide& rows, const LaneSide& columns,
                                 const LaneSlope<Number>& g) const noexcept;

  const State& state_;
};

// --- implementation ---

/// Adds (Jᵀ G J) of the columns of two sides: entry (i, j), and entry (j, i) of the upper half.
template <typename Number, int Stride>
CAROM_DEVICE void LaneJacobian<Number, Stride>::add_products(
    const LaneSide& rows, const LaneSide& columns, const LaneSlope<Number>& g) const noexcept {
  const auto [lower, upper] = halves();
  const Cells left = state_.jacobian(rows), right = state_.jacobian(columns);
  const bool square = rows.column == columns.column;
  for (int i = 0; i < rows.count; ++i) {
    const Number x = left[3 * i], y = left[3 * i + 1], z = left[3 * i + 2];
    // Column i of Gᵀ J and of G J.
    const Number row1 = g.xx * x + g.xy * y, row2 = g.xy * x + g.yy * y;
    const Number row3 = g.xz * x + g.yz * y + g.zz * z;
    const Number column1 = row1 + g.xz * z, column2 = row2 + g.yz * z, column3 = g.zz * z;
    const int place = state_.layout().matrix_rows.place[rows.column + i] + columns.column;
    const Cells low = lower.from(place), up = upper.from(place);
    const int end = square ? i + 1 : columns.count;
    for (int j = 0; j < end; ++j) {
      const Number a = right[3 * j], b = right[3 * j + 1], c = right[3 * j + 2];
      low.add(j, row1 * a + row2 * b + row3 * c);
      up.add(j, column1 * a + column2 * b + column3 * c);
    }
  }
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneJacobian<Number, Stride>::add(int k,
                                                    const LaneSlope<Number>& g) const noexcept {
  const auto& [low, high] = state_.layout().sides[k];
  add_products(low, low, g);
  if (high.count == 0) return;
  add_products(high, low, g);
  add_products(high, high, g);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneJacobian<Number, Stride>::fill(const Mask& lanes) const noexcept {
  const LaneLayout& layout = state_.layout();
  const Number zero(Scalar(0));
  const Cells mass = state_.cells(layout.mass_at);
  const auto [lower, upper] = halves();
  for (int i = 0; i < layout.velocities; ++i) {
    const int own = layout.mass_rows.first_column[i];
    const Cells low = lower.from(layout.matrix_rows.place[i]);
    const Cells up = upper.from(layout.matrix_rows.place[i]);
    const Cells from = mass.from(layout.mass_rows.place[i]);
    for (int j = layout.matrix_rows.first_column[i]; j < own; ++j) {
      low.set(j, zero);
      up.set(j, zero);
    }
    for (int j = own; j <= i; ++j) {
      low.set(j, from[j]);
      up.set(j, from[j]);
    }
  }
  for (int k = 0; k < layout.contacts; ++k) {
    const LaneSlope<Number> g = coulomb_slope_of_lanes(state_.at_trial(k));
    if (any(lanes & (g.zz > zero))) add(k, g);
  }
  LaneBlockProducts<Number, Stride>(state_).add_slopes(lanes, halves());
}

template <typename Number, int Stride>
CAROM_DEVICE typename Number::Mask LaneJacobian<Number, Stride>::find_direction(
    const Mask& lanes) const noexcept {
  const LaneLayout& layout = state_.layout();
  fill(lanes);
  const Mask regular = factor_halves(layout.matrix_rows, halves());
  const Cells d = state_.vector(Names::law_direction), gradient = state_.vector(Names::gradient);
  for (int i = 0; i < layout.velocities; ++i) d.set(i, -gradient[i]);
  solve_halves(layout.matrix_rows, halves(), d);
  Number total(Scalar(0));
  for (int i = 0; i < layout.velocities; ++i) total += abs(d[i]);
  return regular & (total <= Number((std::numeric_limits<Scalar>::max)()));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
