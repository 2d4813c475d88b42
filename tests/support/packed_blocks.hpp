// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "carom/linalg/detail/block_incomplete_cholesky.hpp"

#include "support/block_matrices.hpp"

namespace carom::testing {

/// Calls visit with a positive definite matrix of every graph.
template <typename Visit>
void for_each_block_matrix(const Visit& visit) {
  std::uint32_t seed = 0;
  for_each_block_graph([&](const BlockGraph& graph) { visit(BlockMatrix(graph, ++seed)); });
}

/// The matrix in the library's form, columns in the order of the nodes.
template <typename Scalar>
[[nodiscard]] BlockSymmetric<Scalar> pack_blocks(const BlockMatrix& matrix) {
  BlockSymmetric<Scalar> result;
  for (int c = 0; c < matrix.graph.count(); ++c) {
    result.append_column(matrix.size(c), matrix.start(c));
    for (const auto& [a, b] : matrix.graph.edges) {
      if (a == c) result.append_row(b, matrix.size(b));
    }
  }
  result.allocate();
  const auto copy = [](const Eigen::MatrixXd& block, Scalar* to) {
    for (Index i = 0; i < block.size(); ++i) to[i] = Scalar(block(i));
  };
  for (int c = 0; c < matrix.graph.count(); ++c) {
    copy(matrix.block(c, c), result.diagonal(c));
    for (Index b = result.row_begin(c); b < result.row_end(c); ++b) {
      copy(matrix.block(result.row(b), c), result.below(b));
    }
  }
  return result;
}

}  // namespace carom::testing
