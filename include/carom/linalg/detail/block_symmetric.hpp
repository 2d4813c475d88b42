// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Columns of a block matrix that form a component of their own.
struct ColumnRange {
  Index begin, end;
};

namespace detail {

/// Calls run with maps of a block: of fixed size where it is 6 × 6.
template <typename Scalar, typename Run>
inline void with_block(Scalar* data, Index rows, Index columns, Run&& run) noexcept {
  if (rows == 6 && columns == 6) {
    run(Eigen::Map<SquareMatrix<std::remove_const_t<Scalar>, 6>>(
        const_cast<std::remove_const_t<Scalar>*>(data)));
  } else {
    run(Eigen::Map<MatrixX<std::remove_const_t<Scalar>>>(
        const_cast<std::remove_const_t<Scalar>*>(data), rows, columns));
  }
}

/// A piece of a vector with as many entries as a block has rows.
template <typename Block, typename Scalar>
[[nodiscard]] inline auto rows_of(Scalar* data, const Block& block) noexcept {
  using Numbers = Vector<std::remove_const_t<Scalar>, Block::RowsAtCompileTime>;
  return Eigen::Map<std::conditional_t<std::is_const_v<Scalar>, const Numbers, Numbers>>(
      data, block.rows());
}
template <typename Block, typename Scalar>
[[nodiscard]] inline auto columns_of(Scalar* data, const Block& block) noexcept {
  using Numbers = Vector<std::remove_const_t<Scalar>, Block::ColsAtCompileTime>;
  return Eigen::Map<std::conditional_t<std::is_const_v<Scalar>, const Numbers, Numbers>>(
      data, block.cols());
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
    detail::with_block(diagonal(c), size(c), size(c), [&](const auto& block) {
      detail::rows_of(y + start(c), block) +=
          block.lazyProduct(detail::columns_of(x + start(c), block));
    });
    for (Index b = row_begin(c); b < row_end(c); ++b) {
      const Index there = start(row(b));
      detail::with_block(below(b), size(row(b)), size(c), [&](const auto& block) {
        detail::rows_of(y + there, block) +=
            block.lazyProduct(detail::columns_of(x + start(c), block));
        detail::columns_of(y + start(c), block) +=
            block.transpose().lazyProduct(detail::rows_of(x + there, block));
      });
    }
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
