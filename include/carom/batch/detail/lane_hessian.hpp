// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_matrices.hpp"
#include "carom/batch/detail/lane_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Adds Jᵀ G J of blocks that are not friction contacts to matrices in the rows of an island.
template <typename Number, int Stride>
class LaneBlockProducts {
 public:
  using State = LaneState<Number, Stride>;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Block = typename State::Block;

  CAROM_DEVICE explicit LaneBlockProducts(const State& state) noexcept : state_(state) {}

  /// Adds the curvatures of the convex law to the lower half of a matrix.
  /// @param lanes  the selected lanes; the numbers of the others are arbitrary.
  CAROM_DEVICE_CALL void add_curvatures(const Mask& lanes, const Cells& lower) const noexcept {
    LaneBlockMatrix<Number> g;
    state_.blocks().for_each([&](const Block& block) {
      write_convex_curvature(trial_of(block), g);
      if (is_needed(block, g, lanes)) add(block, g, lower, nullptr);
    });
  }
  /// Adds the derivatives of Coulomb's law to both halves.
  CAROM_DEVICE_CALL void add_slopes(const Mask& lanes,
                                    const LaneHalves<Cells>& halves) const noexcept {
    LaneBlockMatrix<Number> g;
    state_.blocks().for_each([&](const Block& block) {
      write_coulomb_slope(trial_of(block), g);
      if (is_needed(block, g, lanes)) add(block, g, halves.lower, &halves.upper);
    });
  }

 private:
  /// Whether the block adds to the matrix in one of the lanes: in the others its diagonal is zero.
  [[nodiscard]] CAROM_DEVICE bool is_needed(const Block& block, const LaneBlockMatrix<Number>& g,
                                            const Mask& lanes) const noexcept {
    Mask yields = everywhere<Number>(false);
    for (int r = 0; r < block.rows; ++r) {
      yields = yields | (!(g.entry[r][r] <= Number(0)));
    }
    return any(lanes & yields);
  }
  CAROM_DEVICE void add(const Block& block, const LaneBlockMatrix<Number>& g, const Cells& lower,
                        const Cells* upper) const noexcept {
    const auto& [low, high] = block.sides;
    add(block.rows, low, low, g, lower, upper);
    if (high.count == 0) return;
    add(block.rows, high, low, g, lower, upper);
    add(block.rows, high, high, g, lower, upper);
  }
  CAROM_DEVICE void add(int m, const LaneSide& rows, const LaneSide& columns,
                        const LaneBlockMatrix<Number>& g, const Cells& lower,
                        const Cells* upper) const noexcept;

  const State& state_;
};

// --- implementation ---

/// Entry (i, j) of the columns of two sides, and entry (j, i) of the upper half.
template <typename Number, int Stride>
CAROM_DEVICE void LaneBlockProducts<Number, Stride>::add(int m, const LaneSide& rows,
                                                         const LaneSide& columns,
                                                         const LaneBlockMatrix<Number>& g,
                                                         const Cells& lower,
                                                         const Cells* upper) const noexcept {
  const Cells left = state_.jacobian(rows), right = state_.jacobian(columns);
  const bool square = rows.column == columns.column;
  for (int i = 0; i < rows.count; ++i) {
    Number row[6], column[6];  // of Jᵀ G, and of G J
    for (int r = 0; r < m; ++r) {
      row[r] = column[r] = Number(0);
      for (int c = 0; c < m; ++c) {
        row[r] += g.entry[c][r] * left[m * i + c];
        if (upper != nullptr) column[r] += g.entry[r][c] * left[m * i + c];
      }
    }
    const int place = state_.layout().matrix_rows.place[rows.column + i] + columns.column;
    const int end = square ? i + 1 : columns.count;
    for (int j = 0; j < end; ++j) {
      Number low(0), up(0);
      for (int r = 0; r < m; ++r) {
        low += row[r] * right[m * j + r];
        if (upper != nullptr) up += column[r] * right[m * j + r];
      }
      lower.add(place + j, low);
      if (upper != nullptr) upper->add(place + j, up);
    }
  }
}

/// Writes A to the cells of a matrix in the rows of an island: its lower half, or its upper half
/// transposed.
template <typename Number, int Stride>
CAROM_DEVICE void write_mass(const LaneState<Number, Stride>& state,
                             const LaneCells<Number, Stride>& matrix) noexcept {
  const LaneLayout& layout = state.layout();
  const auto mass = state.cells(layout.mass_at);
  for (int i = 0; i < layout.velocities; ++i) {
    const int own = layout.mass_rows.first_column[i];
    const auto row = matrix.from(layout.matrix_rows.place[i]);
    const auto from = mass.from(layout.mass_rows.place[i]);
    for (int j = layout.matrix_rows.first_column[i]; j < own; ++j) row.set(j, Number(0));
    for (int j = own; j <= i; ++j) row.set(j, from[j]);
  }
}

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

  /// Writes H + raise I to the cells of the matrix.
  /// @param lanes  the lanes for which H is needed.
  /// @return  the largest diagonal entry of H, or 1; NaN if an entry is NaN.
  CAROM_DEVICE_CALL Number fill(const Number& raise, const Mask& lanes) const noexcept;

 private:
  CAROM_DEVICE_CALL void add_curvature(int k, const LaneCurvature<Number>& g) const noexcept;
  CAROM_DEVICE void add_products(const LaneSide& rows, const LaneSide& columns,
                                 const Cells& products) const noexcept;

  const State& state_;
};

// --- implementation ---

/// Adds the products of columns of two sides.
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
  const Cells matrix = state_.cells(layout.matrix_at);
  write_mass(state_, matrix);
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
  /// @param lanes  the lanes for which the direction is needed.
  /// @return  the lanes in which it exists.
  [[nodiscard]] CAROM_DEVICE_CALL Mask find_direction(const Mask& lanes) const noexcept;
  /// The cells of the matrix, and the matrix or its factors in them.
  [[nodiscard]] CAROM_DEVICE LaneHalves<Cells> halves() const noexcept {
    return {state_.cells(state_.layout().matrix_at), state_.cells(state_.layout().upper_at)};
  }
  /// Writes the matrix to its cells, with the directions of friction in the contacts' cells.
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
    const Number row1 = g.xx * x + g.yx * y, row2 = g.xy * x + g.yy * y;
    const Number row3 = g.xz * x + g.yz * y + g.zz * z;
    const Number column1 = g.xx * x + g.xy * y + g.xz * z;
    const Number column2 = g.yx * x + g.yy * y + g.yz * z, column3 = g.zz * z;
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
  write_mass(state_, halves().lower);
  write_mass(state_, halves().upper);
  for (int k = 0; k < layout.contacts; ++k) {
    const Cells c = state_.contact(k);
    const LaneSlope<Number> g =
        coulomb_slope_of_lanes(state_.at_trial(k), c[Names::predicted], c[Names::predicted + 1]);
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
