// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The block columns of one component of the matrix.
struct ColumnRange {
  Index begin, end;
};

namespace detail {

/// Rows and columns of the usual block, that of two rigid bodies. Where the size is a compile-time
/// constant, a product stays in registers.
inline constexpr Index usual_size = 6;

[[nodiscard]] constexpr bool is_usual_block(Index rows, Index columns) noexcept {
  return rows == usual_size && columns == usual_size;
}

/// y += factor B x for a block B whose columns are consecutive in memory.
template <typename Scalar>
void add_product(Scalar factor, const Scalar* block, Index rows, Index columns, const Scalar* x,
                 Scalar* y) noexcept {
  if (!is_usual_block(rows, columns)) {
    for (Index c = 0; c < columns; ++c) add_multiple(factor * x[c], block + c * rows, rows, y);
    return;
  }
  Scalar product[usual_size] = {};
  CAROM_UNROLL
  for (Index c = 0; c < usual_size; ++c) {
    CAROM_UNROLL
    for (Index r = 0; r < usual_size; ++r) product[r] += x[c] * block[c * usual_size + r];
  }
  CAROM_UNROLL
  for (Index r = 0; r < usual_size; ++r) y[r] += factor * product[r];
}

/// y += factor Bᵀ x.
template <typename Scalar>
void add_transposed_product(Scalar factor, const Scalar* block, Index rows, Index columns,
                            const Scalar* x, Scalar* y) noexcept {
  if (!is_usual_block(rows, columns)) {
    for (Index c = 0; c < columns; ++c) y[c] += factor * dot(block + c * rows, x, rows);
    return;
  }
  CAROM_UNROLL
  for (Index c = 0; c < usual_size; ++c) {
    Scalar sum(0);
    CAROM_UNROLL
    for (Index r = 0; r < usual_size; ++r) sum += block[c * usual_size + r] * x[r];
    y[c] += factor * sum;
  }
}

}  // namespace detail

/// A sparse symmetric block matrix: all diagonal blocks, and the nonzero blocks below the diagonal.
/// Columns are appended one by one, each with its rows in increasing order.
template <RealScalar Scalar>
class BlockSymmetric {
 public:
  void clear_pattern() noexcept {
    columns_.clear();
    rows_.clear();
    value_count_ = 0;
  }
  /// Appends a column.
  /// @param size   unknowns of the block column, > 0.
  /// @param start  where its unknowns start in a vector.
  void append_column(int size, Index start) {
    columns_.push_back({size, start, rows_.size(), rows_.size(), value_count_});
    value_count_ += Index(size) * size;
  }
  /// Appends a block below the diagonal of the last column.
  /// @param size  count of unknowns of the row, which is appended as a column later.
  void append_row(int row, int size) {
    rows_.push_back({row, value_count_});
    columns_.back().row_end = rows_.size();
    value_count_ += Index(size) * columns_.back().size;
  }
  /// Allocates the numbers after the pattern is complete.
  void allocate() { values_.resize(value_count_); }

  [[nodiscard]] Index column_count() const noexcept { return columns_.size(); }
  /// Count of blocks below the diagonal.
  [[nodiscard]] Index block_count() const noexcept { return rows_.size(); }
  [[nodiscard]] int size(Index column) const noexcept { return columns_[column].size; }
  [[nodiscard]] Index row_begin(Index column) const noexcept { return columns_[column].row_begin; }
  [[nodiscard]] Index row_end(Index column) const noexcept { return columns_[column].row_end; }
  /// The block row of an off-diagonal block.
  [[nodiscard]] int row(Index block) const noexcept { return rows_[block].row; }
  [[nodiscard]] Index start(Index column) const noexcept { return columns_[column].start; }
  [[nodiscard]] Scalar* diagonal(Index column) noexcept {
    return values_.data() + columns_[column].values;
  }
  [[nodiscard]] const Scalar* diagonal(Index column) const noexcept {
    return values_.data() + columns_[column].values;
  }
  [[nodiscard]] Scalar* below(Index block) noexcept { return values_.data() + rows_[block].values; }
  [[nodiscard]] const Scalar* below(Index block) const noexcept {
    return values_.data() + rows_[block].values;
  }

  /// Sets the numbers of a component to zero.
  void clear(const ColumnRange& range) noexcept {
    std::fill(values_.begin() + first_value(range.begin), values_.begin() + first_value(range.end),
              Scalar(0));
  }
  /// Copies the numbers of a component from a matrix with the same pattern.
  void copy(const ColumnRange& range, const BlockSymmetric& from) noexcept {
    std::copy(from.values_.begin() + first_value(range.begin),
              from.values_.begin() + first_value(range.end),
              values_.begin() + first_value(range.begin));
  }
  void copy_pattern(const BlockSymmetric& from) {
    columns_ = from.columns_;
    rows_ = from.rows_;
    value_count_ = from.value_count_;
    allocate();
  }

  /// y ← H x for the unknowns of a component.
  void multiply(const ColumnRange& range, const Scalar* x, Scalar* y) const noexcept;

 private:
  struct Column {
    int size;
    Index start, row_begin, row_end, values;
  };
  struct Row {
    int row;
    Index values;
  };
  [[nodiscard]] Index first_value(Index column) const noexcept {
    return column < columns_.size() ? columns_[column].values : value_count_;
  }

  Sequence<Column> columns_;
  Sequence<Row> rows_;
  Sequence<Scalar> values_;
  Index value_count_ = 0;
};

template <RealScalar Scalar>
void BlockSymmetric<Scalar>::multiply(const ColumnRange& range, const Scalar* x,
                                      Scalar* y) const noexcept {
  for (Index c = range.begin; c < range.end; ++c) {
    std::fill_n(y + start(c), size(c), Scalar(0));
  }
  for (Index c = range.begin; c < range.end; ++c) {
    const Scalar* const here = x + start(c);
    detail::add_product(Scalar(1), diagonal(c), size(c), size(c), here, y + start(c));
    for (Index b = row_begin(c); b < row_end(c); ++b) {
      const Index there = start(row(b)), rows = size(row(b));
      detail::add_product(Scalar(1), below(b), rows, size(c), here, y + there);
      detail::add_transposed_product(Scalar(1), below(b), rows, size(c), x + there, y + start(c));
    }
  }
}

/// Incomplete Cholesky factorisation H ≈ L Lᵀ of a sparse block matrix: a preconditioner that
/// couples neighbours and needs as much memory as H.
///
/// L has the pattern of H. For each block column k in order: (1) factor the diagonal block,
/// H_kk = L_kk L_kkᵀ; (2) L_ik = H_ik L_kk⁻ᵀ for each row i > k of the pattern; (3)
/// H_ij ← H_ij − L_ik L_jkᵀ for rows i ≥ j > k, but only where the pattern has the block (i, j).
/// The neglected blocks can make a pivot not positive. Then the diagonal of H is multiplied by
/// 1 + σ with a larger σ, and the factorisation starts again. It ends with success, or with failure
/// after σ = 1.
/// @note  reset() allocates only for a problem larger than every problem before; all else is
///        real-time safe.
/// @cite  meijerink1977iterative, by blocks; shifted as in manteuffel1980incomplete.
template <RealScalar Scalar>
class BlockIncompleteCholesky {
 public:
  /// Copies the pattern of a matrix.
  void reset(const BlockSymmetric<Scalar>& matrix) { factor_.copy_pattern(matrix); }

  /// Factors a component. If a pivot is not positive, the factorisation starts again with a larger
  /// diagonal.
  /// @return  false when even a doubled diagonal does not help: H is not positive definite, or
  ///          contains NaN.
  [[nodiscard]] bool factor(const BlockSymmetric<Scalar>& matrix,
                            const ColumnRange& range) noexcept {
    for (const double raise : {0.0, 1e-3, 1e-2, 1e-1, 1.0}) {
      if (try_factor(matrix, range, Scalar(raise))) return true;
    }
    return false;
  }

  /// x ← (L Lᵀ)⁻¹ x for the unknowns of a component.
  void solve(const ColumnRange& range, Scalar* x) const noexcept;

 private:
  [[nodiscard]] bool try_factor(const BlockSymmetric<Scalar>& matrix, const ColumnRange& range,
                                const Scalar& raise) noexcept;
  void eliminate(Index column) noexcept;

  /// L below the diagonal. On the diagonal: the inverse of the diagonal block of L in full, zeros
  /// above.
  BlockSymmetric<Scalar> factor_;
};

// --- implementation ---

namespace detail {

/// Replaces a symmetric matrix by the inverse of its Cholesky factor with zeros above the diagonal.
/// Returns false if the factor does not exist.
template <typename Scalar>
[[nodiscard]] bool invert_factor(Scalar* block, Index size) noexcept {
  if (!factor_cholesky(block, size, size)) return false;
  for (Index c = 0; c < size; ++c) std::fill_n(block + c * size, c, Scalar(0));
  // The columns are processed from the last one: L⁻¹ overwrites entries of L after their last use.
  for (Index c = size - 1; c >= 0; --c) {
    Scalar* const column = block + c * size;
    const Scalar pivot = Scalar(1) / column[c];
    for (Index r = size - 1; r > c; --r) {
      Scalar sum(0);
      for (Index k = c + 1; k <= r; ++k) sum += block[k * size + r] * column[k];
      column[r] = -sum * pivot;
    }
    column[c] = pivot;
  }
  return true;
}

/// y += factor Σₖ wₖ aₖ for columns aₖ that are consecutive in memory.
/// @param stride  distance between two weights wₖ.
template <typename Scalar>
void add_columns(Scalar factor, const Scalar* columns, Index rows, const Scalar* weights,
                 Index stride, Index count, Scalar* y) noexcept {
  if (rows != usual_size) {
    for (Index k = 0; k < count; ++k) {
      add_multiple(factor * weights[k * stride], columns + k * rows, rows, y);
    }
    return;
  }
  Scalar sum[usual_size] = {};
  for (Index k = 0; k < count; ++k) {
    CAROM_UNROLL
    for (Index r = 0; r < usual_size; ++r) sum[r] += weights[k * stride] * columns[k * rows + r];
  }
  CAROM_UNROLL
  for (Index r = 0; r < usual_size; ++r) y[r] += factor * sum[r];
}

/// B ← B L⁻ᵀ from the last column on: column k needs the columns up to k only.
template <typename Scalar>
void divide_block(const Scalar* inverse, Index rows, Index columns, Scalar* block) noexcept {
  for (Index k = columns - 1; k >= 0; --k) {
    Scalar* const column = block + k * rows;
    write_multiple(inverse[k * columns + k], column, rows, column);
    add_columns(Scalar(1), block, rows, inverse + k, columns, k, column);
  }
}

/// C −= A Bᵀ, A and B of `depth` columns.
template <typename Scalar>
void subtract_product_of_blocks(const Scalar* a, Index rows, const Scalar* b, Index columns,
                                Index depth, Scalar* c) noexcept {
  for (Index j = 0; j < columns; ++j) {
    add_columns(Scalar(-1), a, rows, b + j, columns, depth, c + j * rows);
  }
}

/// x ← L⁻¹ x.
template <typename Scalar>
void divide_lower(const Scalar* inverse, Index size, Scalar* x) noexcept {
  if (size == usual_size) {
    Scalar product[usual_size] = {};
    add_product(Scalar(1), inverse, usual_size, usual_size, x, product);
    return static_cast<void>(std::copy_n(product, usual_size, x));
  }
  for (Index c = size - 1; c >= 0; --c) {  // the entries that it writes are no longer needed
    const Scalar* const column = inverse + c * size;
    add_multiple(x[c], column + c + 1, size - c - 1, x + c + 1);
    x[c] *= column[c];
  }
}

/// x ← L⁻ᵀ x.
template <typename Scalar>
void divide_lower_transposed(const Scalar* inverse, Index size, Scalar* x) noexcept {
  if (size == usual_size) {
    Scalar product[usual_size] = {};
    add_transposed_product(Scalar(1), inverse, usual_size, usual_size, x, product);
    return static_cast<void>(std::copy_n(product, usual_size, x));
  }
  for (Index c = 0; c < size; ++c) x[c] = dot(inverse + c * size + c, x + c, size - c);
}

}  // namespace detail

/// Subtracts the contribution of a finished column from the blocks of the pattern.
template <RealScalar Scalar>
void BlockIncompleteCholesky<Scalar>::eliminate(Index column) noexcept {
  const int width = factor_.size(column);
  const Index end = factor_.row_end(column);
  for (Index b = factor_.row_begin(column); b < end; ++b) {
    const int first = factor_.row(b), size = factor_.size(first);
    const Scalar* const left = factor_.below(b);
    detail::subtract_product_of_blocks(left, size, left, size, width, factor_.diagonal(first));
    Index place = factor_.row_begin(first);
    for (Index other = b + 1; other < end; ++other) {
      const int row = factor_.row(other);
      while (place < factor_.row_end(first) && factor_.row(place) < row) ++place;
      if (place == factor_.row_end(first)) break;
      if (factor_.row(place) != row) continue;
      detail::subtract_product_of_blocks(factor_.below(other), factor_.size(row), left, size, width,
                                         factor_.below(place));
    }
  }
}

template <RealScalar Scalar>
bool BlockIncompleteCholesky<Scalar>::try_factor(const BlockSymmetric<Scalar>& matrix,
                                                 const ColumnRange& range,
                                                 const Scalar& raise) noexcept {
  factor_.copy(range, matrix);
  for (Index c = range.begin; c < range.end; ++c) {
    const Index size = factor_.size(c);
    Scalar* const own = factor_.diagonal(c);
    for (Index k = 0; k < size; ++k) {
      own[k * (size + 1)] += raise * matrix.diagonal(c)[k * (size + 1)];
    }
    if (!detail::invert_factor(own, size)) return false;
    for (Index b = factor_.row_begin(c); b < factor_.row_end(c); ++b) {
      detail::divide_block(own, factor_.size(factor_.row(b)), size, factor_.below(b));
    }
    eliminate(c);
  }
  return true;
}

template <RealScalar Scalar>
void BlockIncompleteCholesky<Scalar>::solve(const ColumnRange& range, Scalar* x) const noexcept {
  for (Index c = range.begin; c < range.end; ++c) {
    Scalar* const here = x + factor_.start(c);
    detail::divide_lower(factor_.diagonal(c), factor_.size(c), here);
    for (Index b = factor_.row_begin(c); b < factor_.row_end(c); ++b) {
      const Index row = factor_.row(b);
      detail::add_product(Scalar(-1), factor_.below(b), factor_.size(row), factor_.size(c), here,
                          x + factor_.start(row));
    }
  }
  for (Index c = range.end - 1; c >= range.begin; --c) {
    Scalar* const here = x + factor_.start(c);
    for (Index b = factor_.row_begin(c); b < factor_.row_end(c); ++b) {
      const Index row = factor_.row(b);
      detail::add_transposed_product(Scalar(-1), factor_.below(b), factor_.size(row),
                                     factor_.size(c), x + factor_.start(row), here);
    }
    detail::divide_lower_transposed(factor_.diagonal(c), factor_.size(c), here);
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
