// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/curvature.hpp"
#include "carom/solvers/detail/contact_arrays.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// A dense symmetric matrix of which the lower triangle is kept, column-major.
template <RealScalar Scalar>
struct LowerMatrix {
  Scalar* data;
  Index size;
  Index stride;

  /// Adds left · rightᵀ to the block at (row, column), row ≥ column. On the diagonal this writes
  /// above it too: whole columns, always at the same alignment, are faster than half as many
  /// numbers.
  template <typename Left, typename Right>
  void add_outer(Index row, Index column, const Left& left, const Right& right) const noexcept {
    for (Index c = 0; c < right.rows(); ++c) {
      Eigen::Map<Vector<Scalar, Left::RowsAtCompileTime>>(data + (column + c) * stride + row,
                                                          left.rows()) +=
          left.col(0) * right(c, 0) + left.col(1) * right(c, 1) + left.col(2) * right(c, 2);
    }
  }
};

/// I + Ĵᵀ G Ĵ at the given trial impulses, lower triangle.
/// @param scratch  room for two sides of one contact: 6 n_v numbers.
template <RealScalar Scalar>
void write_dense_hessian(const ContactProblem<Scalar>& problem, const ContactArrays<Scalar>& trial,
                         const LowerMatrix<Scalar>& hessian, Scalar* scratch) noexcept {
  using AnySide = Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, 3>>;
  for (Index c = 0; c < hessian.size; ++c) {
    Scalar* const column = hessian.data + c * hessian.stride;
    std::fill(column + c, column + hessian.size, Scalar(0));
    column[c] = Scalar(1);
  }
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const ContactCurvature<Scalar> curvature =
        make_curvature(problem.cone(i), problem.regularization(i), trial.at(i));
    if (curvature.rank == 0) continue;
    AnySide first(scratch, 0, 3);
    Index first_start = -1;
    for_each_side(problem, i, [&](Index start, const auto& block) {
      using Block = std::remove_cvref_t<decltype(block)>;
      Scalar* const room = first_start < 0 ? scratch : scratch + 3 * hessian.size;
      Eigen::Map<Eigen::Matrix<Scalar, Block::RowsAtCompileTime, 3>> rooted(room, block.rows(), 3);
      rooted.noalias() = block.lazyProduct(curvature.root);
      hessian.add_outer(start, start, rooted, rooted);
      if (first_start < 0) {
        new (&first) AnySide(room, block.rows(), 3);
        first_start = start;
      } else if (start > first_start) {
        hessian.add_outer(start, first_start, rooted, first);
      } else {
        hessian.add_outer(first_start, start, first, rooted);
      }
    });
  }
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
