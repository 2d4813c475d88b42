// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/lanes.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An array whose entries are a number for each lane, consecutive in memory.
/// @tparam Number  Lanes<Scalar, Count>.
/// @tparam Stride  distance from one entry to the next, at least the count of lanes: several groups
///                 of lanes may share the entries, as the threads of a graphics processor do.
template <typename Number, int Stride>
class LaneCells {
 public:
  using Scalar = typename Number::scalar_type;
  static_assert(Stride >= Number::count);

  LaneCells() = default;
  CAROM_DEVICE explicit LaneCells(Scalar* first) noexcept : first_(first) {}

  CAROM_DEVICE Number operator[](int i) const noexcept { return Number::load(first_ + i * Stride); }
  CAROM_DEVICE void set(int i, const Number& number) const noexcept {
    number.store(first_ + i * Stride);
  }
  CAROM_DEVICE void add(int i, const Number& number) const noexcept { set(i, (*this)[i] + number); }
  /// The entries from i on.
  CAROM_DEVICE LaneCells from(int i) const noexcept { return LaneCells(first_ + i * Stride); }
  /// The number of one lane.
  CAROM_DEVICE Scalar& of_lane(int i, int lane) const noexcept { return first_[i * Stride + lane]; }

 private:
  Scalar* first_ = nullptr;
};

/// The rows of a symmetric matrix, each from a first column to the diagonal. A Cholesky factor has
/// its numbers in the same places.
struct LaneRows {
  const int* first_column;
  const int* place;  ///< of the entry (row, 0), also if it is not stored
  int count;
};

/// The rows of the lower half of a matrix without zeros, one after the other: as LaneRows, but
/// computed.
struct LaneTriangle {
  struct Zeros {
    [[nodiscard]] CAROM_DEVICE int operator[](int) const noexcept { return 0; }
  };
  struct Places {
    [[nodiscard]] CAROM_DEVICE int operator[](int row) const noexcept {
      return row * (row + 1) / 2;
    }
  };
  Zeros first_column;
  Places place;
  int count;

  CAROM_DEVICE explicit LaneTriangle(int rows) noexcept : count(rows) {}
};

/// b − Σ row[k] x[k] over `first` ≤ k < `end`, in two independent sums.
template <typename Number, typename Cells>
[[nodiscard]] CAROM_DEVICE Number rest_of_row(const Number& b, const Cells& row, const Cells& x,
                                              int first, int end) noexcept {
  Number even = b, odd(0);
  int k = first;
  for (; k + 1 < end; k += 2) {
    even -= row[k] * x[k];
    odd -= row[k + 1] * x[k + 1];
  }
  if (k < end) even -= row[k] * x[k];
  return even + odd;
}

/// x[k] ← x[k] − column[k] x[end] over `first` ≤ k < `end`.
template <typename Cells>
CAROM_DEVICE void take_column(const Cells& column, int first, int end, const Cells& x) noexcept {
  const auto last = x[end];
  for (int k = first; k < end; ++k) x.set(k, x[k] - column[k] * last);
}

/// Two rows of a factor, and four finished rows above them.
template <typename Cells>
struct LaneTile {
  Cells upper, lower;
  Cells above[4];

  using Number = decltype(Cells()[0]);

  /// Computes four entries of both rows, from column j on. The numbers of columns before `first`
  /// are zero.
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

/// Cholesky factors of matrices in all lanes, in place: the lower half row by row, with the inverse
/// diagonal.
/// @return  the lanes in which all pivots were positive. In the others the factor is not valid.
template <typename Rows, typename Cells>
[[nodiscard]] CAROM_DEVICE_CALL auto factor_lanes(const Rows& rows, const Cells& matrix) noexcept {
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
    const auto& begins = rows.first_column;
    const int first = begins[i];
    int j = first;
    // Tiles, as long as all their rows start at or before this row's first column.
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
template <typename Rows, typename Cells>
CAROM_DEVICE_CALL void solve_lanes(const Rows& rows, const Cells& factor, const Cells& x) noexcept {
  for (int i = 0; i < rows.count; ++i) {
    const Cells row = factor.from(rows.place[i]);
    x.set(i, rest_of_row(x[i], row, x, rows.first_column[i], i) * row[i]);
  }
}

/// x ← L⁻ᵀ x.
template <typename Rows, typename Cells>
CAROM_DEVICE_CALL void solve_lanes_transposed(const Rows& rows, const Cells& factor,
                                              const Cells& x) noexcept {
  for (int i = rows.count - 1; i >= 0; --i) {
    const Cells row = factor.from(rows.place[i]);
    x.set(i, x[i] * row[i]);
    take_column(row, rows.first_column[i], i, x);
  }
}

/// y ← Lᵀ x.
template <typename Rows, typename Cells>
CAROM_DEVICE_CALL void multiply_lanes_transposed(const Rows& rows, const Cells& factor,
                                                 const Cells& x, const Cells& y) noexcept {
  for (int i = 0; i < rows.count; ++i) {
    const Cells row = factor.from(rows.place[i]);
    const auto xi = x[i];
    for (int k = rows.first_column[i]; k < i; ++k) y.add(k, row[k] * xi);
    y.set(i, xi / row[i]);
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

/// Nonsymmetric square matrices in all lanes, with the same zeros in both halves: rows of the lower
/// half, and columns of the upper half in the places of rows.
template <typename Cells>
struct LaneHalves {
  Cells lower, upper;
};

/// Factors L U in place, without pivoting. L has a unit diagonal; the diagonal of U is stored
/// inverted, in `upper`.
/// @pre   the diagonal is in `lower`.
/// @return  the lanes in which no pivot was zero.
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
