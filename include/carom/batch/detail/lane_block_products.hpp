// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_lu.hpp"
#include "carom/batch/detail/lane_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Adds Jᵀ G J of blocks that are no friction contacts to matrices in the rows of an island.
template <typename Number, int Stride>
class LaneBlockProducts {
 public:
  using State = LaneState<Number, Stride>;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;

  CAROM_DEVICE explicit LaneBlockProducts(const State& state) noexcept : state_(state) {}

  /// Adds the curvatures of the convex law to the lower half of a matrix.
  /// @param lanes  wanted; the others get any numbers.
  CAROM_DEVICE_CALL void add_curvatures(const Mask& lanes, const Cells& lower) const noexcept {
    LaneBlockMatrix<Number> g;
    for (int b = 0; b < state_.layout().block_count; ++b) {
      write_convex_curvature(state_.blocks().trial(b), g);
      if (is_needed(b, g, lanes)) add(b, g, lower, nullptr);
    }
  }
  /// Adds the slopes of Coulomb's law to both halves.
  CAROM_DEVICE_CALL void add_slopes(const Mask& lanes,
                                    const LaneHalves<Cells>& halves) const noexcept {
    LaneBlockMatrix<Number> g;
    for (int b = 0; b < state_.layout().block_count; ++b) {
      write_coulomb_slope(state_.blocks().trial(b), g);
      if (is_needed(b, g, lanes)) add(b, g, halves.lower, &halves.upper);
    }
  }

 private:
  /// Whether the rows give way in one of the lanes: their diagonal is zero elsewhere.
  [[nodiscard]] CAROM_DEVICE bool is_needed(int b, const LaneBlockMatrix<Number>& g,
                                            const Mask& lanes) const noexcept {
    Mask yields = everywhere<Number>(false);
    for (int r = 0; r < state_.layout().blocks[b].rows; ++r) {
      yields = yields | (!(g.entry[r][r] <= Number(0)));
    }
    return any(lanes & yields);
  }
  CAROM_DEVICE void add(int b, const LaneBlockMatrix<Number>& g, const Cells& lower,
                        const Cells* upper) const noexcept {
    const auto& [low, high] = state_.layout().blocks[b].sides;
    const int rows = state_.layout().blocks[b].rows;
    add(rows, low, low, g, lower, upper);
    if (high.count == 0) return;
    add(rows, high, low, g, lower, upper);
    add(rows, high, high, g, lower, upper);
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

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
