// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_cells.hpp"
#include "carom/batch/detail/lane_layout.hpp"

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
    Number even = left[i], odd(0);
    int k = first;
    for (; k + 1 < i; k += 2) {
      even -= left[k] * up[k];
      odd -= left[k + 1] * up[k + 1];
    }
    if (k < i) even -= left[k] * up[k];
    const Number pivot = even + odd;
    regular = regular & (abs(pivot) > Number(0));
    up.set(i, Number(1) / pivot);
  }
  return regular;
}

/// x ← (L U)⁻¹ x.
template <typename Cells>
CAROM_DEVICE_CALL void solve_halves(const LaneRows& rows, const LaneHalves<Cells>& factor,
                                    const Cells& x) noexcept {
  using Number = decltype(x[0]);
  for (int i = 0; i < rows.count; ++i) {
    const Cells row = factor.lower.from(rows.place[i]);
    Number even = x[i], odd(0);
    int k = rows.first_column[i];
    for (; k + 1 < i; k += 2) {
      even -= row[k] * x[k];
      odd -= row[k + 1] * x[k + 1];
    }
    if (k < i) even -= row[k] * x[k];
    x.set(i, even + odd);
  }
  for (int i = rows.count - 1; i >= 0; --i) {
    const Cells column = factor.upper.from(rows.place[i]);
    const Number xi = x[i] * column[i];
    x.set(i, xi);
    for (int k = rows.first_column[i]; k < i; ++k) x.set(k, x[k] - column[k] * xi);
  }
}

/// x ← (L U)⁻ᵀ x.
template <typename Cells>
CAROM_DEVICE void solve_halves_transposed(const LaneRows& rows, const LaneHalves<Cells>& factor,
                                          const Cells& x) noexcept {
  using Number = decltype(x[0]);
  for (int i = 0; i < rows.count; ++i) {
    const Cells column = factor.upper.from(rows.place[i]);
    Number even = x[i], odd(0);
    int k = rows.first_column[i];
    for (; k + 1 < i; k += 2) {
      even -= column[k] * x[k];
      odd -= column[k + 1] * x[k + 1];
    }
    if (k < i) even -= column[k] * x[k];
    x.set(i, (even + odd) * column[i]);
  }
  for (int i = rows.count - 1; i >= 0; --i) {
    const Cells row = factor.lower.from(rows.place[i]);
    const Number xi = x[i];
    for (int k = rows.first_column[i]; k < i; ++k) x.set(k, x[k] - row[k] * xi);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
