// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Columns of a block matrix that form a component of their own.
struct ColumnRange {
  Index begin, end;
};

namespace detail {

/// Rows and columns of the usual block, that of two rigid bodies. Where the number is a constant, a
/// product stays in registers.
inline constexpr Index body_size = 6;

[[nodiscard]] constexpr bool is_usual_block(Index rows, Index columns) noexcept {
  return rows == body_size && columns == body_size;
}

/// y += factor B x for a block B of columns that lie side by side.
template <typename Scalar>
void add_product(Scalar factor, const Scalar* block, Index rows, Index columns, const Scalar* x,
                 Scalar* y) noexcept {
  if (!is_usual_block(rows, columns)) {
    for (Index c = 0; c < columns; ++c) add_multiple(factor * x[c], block + c * rows, rows, y);
    return;
  }
  Scalar product[body_size] = {};
  CAROM_UNROLL
  for (Index c = 0; c < body_size; ++c) {
    CAROM_UNROLL
    for (Index r = 0; r < body_size; ++r) product[r] += x[c] * block[c * body_size + r];
  }
  CAROM_UNROLL
  for (Index r = 0; r < body_size; ++r) y[r] += factor * product[r];
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
  for (Index c = 0; c < body_size; ++c) {
    Scalar sum(0);
    CAROM_UNROLL
    for (Index r = 0; r < body_size; ++r) sum += block[c * body_size + r] * x[r];
    y[c] += factor * sum;
  }
}

}  // namespace detail

/// A sparse symmetric matrix of blocks: all of those on the diagonal, and the others below it.
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
  /// @param start  where they start in a vector.
  void append_column(int size, Index start) {
    columns_.push_back({size, start, rows_.size(), rows_.size(), value_count_});
    value_count_ += Index(size) * size;
  }
  /// Appends a block below the diagonal of the last column.
  /// @param size  unknowns of the row, which is appended as a column later.
  void append_row(int row, int size) {
    rows_.push_back({row, value_count_});
    columns_.back().row_end = rows_.size();
    value_count_ += Index(size) * columns_.back().size;
  }
  /// Makes room for the numbers once the pattern is complete.
  void allocate() { values_.resize(value_count_); }

  [[nodiscard]] Index column_count() const noexcept { return columns_.size(); }
  /// Blocks below the diagonal.
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

  /// Sets a component's numbers to zero.
  void clear(const ColumnRange& range) noexcept {
    std::fill(values_.begin() + first_value(range.begin), values_.begin() + first_value(range.end),
              Scalar(0));
  }
  /// Takes a component's numbers from a matrix of the same pattern.
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

  /// y ← H x on a component's unknowns.
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

}  // namespace CAROM_ABI
}  // namespace carom
