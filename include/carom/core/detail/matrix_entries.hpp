// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The numbers of a matrix in memory, such that one function serves all of Eigen's types.
template <typename Scalar>
struct MatrixEntries {
  const Scalar* data;
  Index rows, columns;
  Index row_step, column_step;  ///< distance to the next row and to the next column
  bool is_column;               ///< whether one index identifies an entry

  [[nodiscard]] const Scalar& operator()(Index r, Index c) const noexcept {
    return data[r * row_step + c * column_step];
  }
};

/// Whether a matrix of Eigen has its numbers in memory, that is, whether it is not an expression.
template <typename Derived>
inline constexpr bool is_in_memory = (Derived::Flags & Eigen::DirectAccessBit) != 0;

/// @pre  the matrix is in memory and must stay at its address.
template <typename Derived>
[[nodiscard]] MatrixEntries<typename Derived::Scalar> entries_of(
    const Eigen::MatrixBase<Derived>& matrix) noexcept {
  static_assert(is_in_memory<Derived>, "an expression has no memory of its own");
  const Derived& kept = matrix.derived();
  return {kept.data(),      kept.rows(),      kept.cols(),
          kept.rowStride(), kept.colStride(), Derived::ColsAtCompileTime == 1};
}

/// The matrix itself, or the value of an expression.
template <typename Derived>
[[nodiscard]] decltype(auto) in_memory(const Eigen::MatrixBase<Derived>& matrix) {
  if constexpr (is_in_memory<Derived>) {
    return (matrix.derived());
  } else {
    return typename Derived::PlainObject(matrix.derived());
  }
}

/// Copies the numbers of a matrix or an expression of Eigen, entry (r, c) to
/// to[r row_step + c column_step].
template <typename Derived, typename Scalar>
void write_entries(const Eigen::MatrixBase<Derived>& matrix, Index row_step, Index column_step,
                   Scalar* to) {
  const auto write = [&](const auto& from) {
    for (Index c = 0; c < matrix.cols(); ++c) {
      for (Index r = 0; r < matrix.rows(); ++r) {
        to[r * row_step + c * column_step] = static_cast<Scalar>(from(r, c));
      }
    }
  };
  if constexpr (is_in_memory<Derived>) {
    write(entries_of(matrix));
  } else {
    const Eigen::internal::evaluator<Derived> values(matrix.derived());
    write([&](Index r, Index c) { return values.coeff(r, c); });
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
