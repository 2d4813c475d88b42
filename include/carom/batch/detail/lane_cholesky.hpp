// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_cells.hpp"
#include "carom/batch/detail/lane_layout.hpp"
#include "carom/batch/detail/lane_substitution.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Two rows of a factor in the making, and four rows above them that are done.
template <typename Cells>
struct LaneTile {
  Cells upper, lower;
  Cells above[4];

  using Number = decltype(Cells()[0]);

  /// Finishes four entries of both rows, the columns from j on, in which the numbers of a column
  /// before `first` are zero.
  CAROM_DEVICE void eliminate(int first, int j) const noexcept {
    Number s[4], t[4];
    for (int c = 0; c < 4; ++c) {
      s[c] = upper[j + c];
      t[c] = lower[j + c];
    }
    for (int k = first; k < j; ++k) {
      const Number x = upper[k], y = lower[k];
      for (int c = 0; c < 4; ++c) {
        const Number z = above[c][k];
        s[c] -= x * z;
        t[c] -= y * z;
      }
    }
    for (int c = 0; c < 4; ++c) {
      for (int d = 0; d < c; ++d) {
        const Number z = above[c][j + d];
        s[c] -= s[d] * z;
        t[c] -= t[d] * z;
      }
      const Number inverse = above[c][j + c];
      s[c] *= inverse;
      t[c] *= inverse;
      upper.set(j + c, s[c]);
      lower.set(j + c, t[c]);
    }
  }
};

/// Cholesky factors of matrices side by side, in place: the lower half row by row, on the diagonal
/// the inverses of the factor's own.
/// @return  where all pivots were positive; elsewhere the numbers have no meaning, but harm no
/// other
///          lane.
template <typename Cells>
[[nodiscard]] CAROM_DEVICE_CALL auto factor_lanes(const LaneRows& rows,
                                                  const Cells& matrix) noexcept {
  using Number = decltype(matrix[0]);
  auto definite = everywhere<Number>(true);
  const auto row_at = [&](int i) { return matrix.from(rows.place[i]); };
  const auto finish_from = [&](int i, int j) {
    const int first = rows.first_column[i];
    const Cells row = row_at(i);
    for (; j < i; ++j) {
      const Cells other = row_at(j);
      const int begin = rows.first_column[j];
      Number sum = row[j];
      for (int k = first > begin ? first : begin; k < j; ++k) sum -= row[k] * other[k];
      row.set(j, sum * other[j]);
    }
    Number even = row[i], odd(0);
    int k = first;
    for (; k + 1 < i; k += 2) {
      const Number x = row[k], y = row[k + 1];
      even -= x * x;
      odd -= y * y;
    }
    if (k < i) even -= row[k] * row[k];
    const Number pivot = even + odd;
    definite = definite & (pivot > Number(0));
    row.set(i, Number(1) / sqrt(pivot));
  };
  int i = 0;
  for (; i + 1 < rows.count; i += 2) {
    const int* const begins = rows.first_column;
    const int first = begins[i];
    int j = first;
    // Tiles as long as all their rows begin no later than this one.
    for (; first == begins[i + 1] && j + 4 <= i; j += 4) {
      if (begins[j] > first || begins[j + 1] > first) break;
      if (begins[j + 2] > first || begins[j + 3] > first) break;
      LaneTile<Cells>{
          row_at(i), row_at(i + 1), {row_at(j), row_at(j + 1), row_at(j + 2), row_at(j + 3)}}
          .eliminate(first, j);
    }
    finish_from(i, j);
    finish_from(i + 1, first == begins[i + 1] ? j : begins[i + 1]);
  }
  if (i < rows.count) finish_from(i, rows.first_column[i]);
  return definite;
}

/// x ← L⁻¹ x.
template <typename Cells>
CAROM_DEVICE_CALL void solve_lanes(const LaneRows& rows, const Cells& factor,
                                   const Cells& x) noexcept {
  for (int i = 0; i < rows.count; ++i) {
    const Cells row = factor.from(rows.place[i]);
    x.set(i, rest_of_row(x[i], row, x, rows.first_column[i], i) * row[i]);
  }
}

/// x ← L⁻ᵀ x.
template <typename Cells>
CAROM_DEVICE_CALL void solve_lanes_transposed(const LaneRows& rows, const Cells& factor,
                                              const Cells& x) noexcept {
  for (int i = rows.count - 1; i >= 0; --i) {
    const Cells row = factor.from(rows.place[i]);
    x.set(i, x[i] * row[i]);
    take_column(row, rows.first_column[i], i, x);
  }
}

/// y ← A x, where `matrix` has the lower half of A.
template <typename Cells>
CAROM_DEVICE_CALL void multiply_lanes(const LaneRows& rows, const Cells& matrix, const Cells& x,
                                      const Cells& y) noexcept {
  using Number = decltype(x[0]);
  int i = 0;
  for (; i + 1 < rows.count; i += 2) {
    const int first = rows.first_column[i], second = rows.first_column[i + 1];
    const Cells upper = matrix.from(rows.place[i]), lower = matrix.from(rows.place[i + 1]);
    const Number xi = x[i], xj = x[i + 1];
    Number sum = upper[i] * xi, other = lower[i + 1] * xj;
    if (first == second) {
      for (int k = first; k < i; ++k) {
        const Number a = upper[k], b = lower[k], xk = x[k];
        sum += a * xk;
        other += b * xk;
        y.set(k, y[k] + (a * xi + b * xj));
      }
      const Number b = lower[i];
      sum += b * xj;
      other += b * xi;
    } else {  // another body
      for (int k = first; k < i; ++k) {
        sum += upper[k] * x[k];
        y.set(k, y[k] + upper[k] * xi);
      }
    }
    y.set(i, sum);
    y.set(i + 1, other);
  }
  if (i == rows.count) return;
  const Cells row = matrix.from(rows.place[i]);
  const Number xi = x[i];
  Number sum = row[i] * xi;
  for (int k = rows.first_column[i]; k < i; ++k) {
    sum += row[k] * x[k];
    y.set(k, y[k] + row[k] * xi);
  }
  y.set(i, sum);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
