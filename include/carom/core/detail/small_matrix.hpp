// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/detail/small_vector.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A square matrix of a few numbers inside a formula, column by column, as SmallVector is a vector.
template <typename Scalar, int Size>
struct SmallMatrix {
  using Column = SmallVector<Scalar, Size>;
  Column columns[Size];

  [[nodiscard]] Scalar& operator()(int row, int column) noexcept { return columns[column](row); }
  [[nodiscard]] const Scalar& operator()(int row, int column) const noexcept {
    return columns[column](row);
  }
  [[nodiscard]] static SmallMatrix identity() noexcept {
    SmallMatrix result;
    for (int i = 0; i < Size; ++i) result(i, i) = Scalar(1);
    return result;
  }
  [[nodiscard]] bool is_zero() const noexcept {
    for (const Column& column : columns) {
      if (!column.is_zero()) return false;
    }
    return true;
  }

  [[nodiscard]] friend Column operator*(const SmallMatrix& a, const Column& x) noexcept {
    Column result;
    for (int c = 0; c < Size; ++c) result += x(c) * a.columns[c];
    return result;
  }
  /// aᵀ x.
  [[nodiscard]] friend Column transposed_times(const SmallMatrix& a, const Column& x) noexcept {
    Column result;
    for (int c = 0; c < Size; ++c) result(c) = a.columns[c].dot(x);
    return result;
  }
  [[nodiscard]] friend SmallMatrix operator*(const SmallMatrix& a, const SmallMatrix& b) noexcept {
    SmallMatrix result;
    for (int c = 0; c < Size; ++c) result.columns[c] = a * b.columns[c];
    return result;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
