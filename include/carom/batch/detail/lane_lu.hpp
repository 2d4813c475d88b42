// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_cells.hpp"
#include "carom/batch/detail/lane_layout.hpp"
#include "carom/batch/detail/lane_substitution.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Square matrices side by side, not symmetric, with the same zeros in both halves: rows of the
/// lower half, and columns of the upper one in the places of rows.
template <typename Cells>
struct LaneHalves {
  Cells lower, upper;
};

/// Factors L U in place, without pivoting. L has ones on its diagonal; the diagonal of U has the
/// inverses of its own, in `upper`.
/// @pre   the diagonal is in `lower`.
/// @return  where no pivot was zero.
template <typename Cells>
[[nodiscard]] CAROM_DEVICE_CALL auto factor_halves(const LaneRows& rows,
                                                   const LaneHalves<Cells>& matrix) noexcept {
  using Number = decltype(matrix.lower[0]);
  auto regular = everywhere<Number>(true);
  for (int i = 0; i < rows.count; ++i) {
    const int first = rows.first_column[i];
    const Cells left = matrix.lower.from(rows.place[i]), up = matrix.upper.from(rows.place[i]);
    for (int j = first; j < i; ++j) {
      const int begin = rows.first_column[j];
      const Cells above = matrix.upper.from(rows.place[j]),
                  before = matrix.lower.from(rows.place[j]);
      Number row = left[j], column = up[j];
      for (int k = first > begin ? first : begin; k < j; ++k) {
        row -= left[k] * above[k];
        column -= before[k] * up[k];
      }
      left.set(j, row * above[j]);
      up.set(j, column);
    }
    const Number pivot = rest_of_row(left[i], left, up, first, i);
    regular = regular & (abs(pivot) > Number(0));
    up.set(i, Number(1) / pivot);
  }
  return regular;
}

/// x ← (L U)⁻¹ x.
template <typename Cells>
CAROM_DEVICE_CALL void solve_halves(const LaneRows& rows, const LaneHalves<Cells>& factor,
                                    const Cells& x) noexcept {
  for (int i = 0; i < rows.count; ++i) {
    const Cells row = factor.lower.from(rows.place[i]);
    x.set(i, rest_of_row(x[i], row, x, rows.first_column[i], i));
  }
  for (int i = rows.count - 1; i >= 0; --i) {
    const Cells column = factor.upper.from(rows.place[i]);
    x.set(i, x[i] * column[i]);
    take_column(column, rows.first_column[i], i, x);
  }
}

/// x ← (L U)⁻ᵀ x.
template <typename Cells>
CAROM_DEVICE void solve_halves_transposed(const LaneRows& rows, const LaneHalves<Cells>& factor,
                                          const Cells& x) noexcept {
  for (int i = 0; i < rows.count; ++i) {
    const Cells column = factor.upper.from(rows.place[i]);
    x.set(i, rest_of_row(x[i], column, x, rows.first_column[i], i) * column[i]);
  }
  for (int i = rows.count - 1; i >= 0; --i) {
    take_column(factor.lower.from(rows.place[i]), rows.first_column[i], i, x);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
