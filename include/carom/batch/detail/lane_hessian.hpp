// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_block_products.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The Hessian H = A + Jᵀ G J of the cost at the iterates of the lanes.
template <typename Number, int Stride>
class LaneHessian {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LaneHessian(const State& state) noexcept : state_(state) {}

  /// Writes H + raise I into the cells of the matrix.
  /// @param lanes  whose H is wanted.
  /// @return  the largest entry on the diagonal of H, or 1; NaN where one is.
  CAROM_DEVICE_CALL Number fill(const Number& raise, const Mask& lanes) const noexcept;

 private:
  CAROM_DEVICE_CALL void add_curvature(int k, const LaneCurvature<Number>& g) const noexcept;
  CAROM_DEVICE void add_products(const LaneSide& rows, const LaneSide& columns,
                                 const Cells& products) const noexcept;

  const State& state_;
};

// --- implementation ---

/// Adds the products of columns of two sides, those of the rows on the left.
template <typename Number, int Stride>
CAROM_DEVICE void LaneHessian<Number, Stride>::add_products(const LaneSide& rows,
                                                            const LaneSide& columns,
                                                            const Cells& products) const noexcept {
  const Cells matrix = state_.cells(state_.layout().matrix_at), left = state_.jacobian(rows);
  const int* const place = state_.layout().matrix_rows.place;
  const bool square = rows.column == columns.column;
  const auto entry = [&](const Number& a, const Number& b, const Number& c, int j) {
    return a * products[3 * j] + b * products[3 * j + 1] + c * products[3 * j + 2];
  };
  int i = 0;
  for (; i + 1 < rows.count; i += 2) {
    const Cells upper = matrix.from(place[rows.column + i] + columns.column);
    const Cells lower = matrix.from(place[rows.column + i + 1] + columns.column);
    const Number a0 = left[3 * i], b0 = left[3 * i + 1], c0 = left[3 * i + 2];
    const Number a1 = left[3 * i + 3], b1 = left[3 * i + 4], c1 = left[3 * i + 5];
    const int end = square ? i + 1 : columns.count;
    for (int j = 0; j < end; ++j) {
      const Number p0 = products[3 * j], p1 = products[3 * j + 1], p2 = products[3 * j + 2];
      upper.add(j, a0 * p0 + b0 * p1 + c0 * p2);
      lower.add(j, a1 * p0 + b1 * p1 + c1 * p2);
    }
    if (square) lower.add(i + 1, entry(a1, b1, c1, i + 1));
  }
  if (i == rows.count) return;
  const Cells last = matrix.from(place[rows.column + i] + columns.column);
  const int end = square ? i + 1 : columns.count;
  for (int j = 0; j < end; ++j) {
    last.add(j, entry(left[3 * i], left[3 * i + 1], left[3 * i + 2], j));
  }
}

/// Adds Jᵀ G J of a contact.
template <typename Number, int Stride>
CAROM_DEVICE void LaneHessian<Number, Stride>::add_curvature(
    int k, const LaneCurvature<Number>& g) const noexcept {
  const auto& [low, high] = state_.layout().sides[k];
  const Cells products = state_.cells(state_.layout().product_at);
  const auto multiply = [&](const LaneSide& side, const Cells& out) {
    const Cells j = state_.jacobian(side);
    for (int c = 0; c < side.count; ++c) {
      const Number x = j[3 * c], y = j[3 * c + 1], z = j[3 * c + 2];
      out.set(3 * c, g.xx * x + g.xy * y + g.xz * z);
      out.set(3 * c + 1, g.xy * x + g.yy * y + g.yz * z);
      out.set(3 * c + 2, g.xz * x + g.yz * y + g.zz * z);
    }
  };
  multiply(low, products);
  add_products(low, low, products);
  if (high.count == 0) return;
  add_products(high, low, products);
  multiply(high, products);
  add_products(high, high, products);
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneHessian<Number, Stride>::fill(const Number& raise,
                                                      const Mask& lanes) const noexcept {
  const LaneLayout& layout = state_.layout();
  const Number zero(Scalar(0));
  const Cells mass = state_.cells(layout.mass_at), matrix = state_.cells(layout.matrix_at);
  for (int i = 0; i < layout.velocities; ++i) {
    const int own = layout.mass_rows.first_column[i];
    const Cells row = matrix.from(layout.matrix_rows.place[i]);
    const Cells from = mass.from(layout.mass_rows.place[i]);
    for (int j = layout.matrix_rows.first_column[i]; j < own; ++j) row.set(j, zero);
    for (int j = own; j <= i; ++j) row.set(j, from[j]);
  }
  for (int k = 0; k < layout.contacts; ++k) {
    const Cells c = state_.contact(k);
    const auto g =
        curvature_of_lanes(state_.at_trial(k), c[Names::predicted], c[Names::predicted + 1]);
    if (any(lanes & (g.zz > zero))) add_curvature(k, g);
  }
  LaneBlockProducts<Number, Stride>(state_).add_curvatures(lanes, matrix);
  Number largest(Scalar(1));
  for (int i = 0; i < layout.velocities; ++i) {
    const int at = layout.matrix_rows.place[i] + i;
    const Number entry = matrix[at];
    largest = select(entry <= largest, largest, entry);
    matrix.set(at, entry + raise);
  }
  return largest;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
