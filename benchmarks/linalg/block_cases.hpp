// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <Eigen/SparseCore>

#include "carom/linalg/detail/front_forest.hpp"
#include "carom/linalg/detail/minimum_degree.hpp"

#include "support/block_matrices.hpp"

namespace carom::benchmarks {

/// Bodies of six unknowns each on a square grid, coupled with their neighbours, as a wall of bricks
/// couples them.
struct GridCase {
  testing::BlockMatrix matrix;
  MinimumDegree order;
  FrontForest forest;
  FrontRange range;
  std::vector<int> slot_of;
  std::vector<Index> starts;  ///< per slot, where its unknowns start
  Eigen::SparseMatrix<double> sparse;

  explicit GridCase(int side)
      : matrix(testing::BlockGraph(std::vector<int>(std::size_t(side * side), 6),
                                   testing::grid_edges(side, side)),
               1) {
    const int count = side * side;
    static_cast<void>(order.compute(matrix.graph.view(), 1e300));
    slot_of.resize(std::size_t(count));
    starts.resize(std::size_t(count));
    range = forest.append(matrix.graph.view(), order, slot_of.data());
    for (int i = 0; i < count; ++i) starts[std::size_t(slot(i))] = matrix.start(i);
    sparse = matrix.dense.sparseView();
    sparse.makeCompressed();
  }
  [[nodiscard]] int slot(int node) const { return slot_of[std::size_t(node)]; }
  [[nodiscard]] Index size() const { return matrix.dense.rows(); }

  /// Calls visit(row node, column node), the column first in the order of elimination.
  template <typename Visit>
  void for_each_pair(const Visit& visit) const {
    for (const auto& [a, b] : matrix.graph.edges) {
      const int low = slot(a) < slot(b) ? a : b;
      visit(a + b - low, low);
    }
  }
  /// Writes the block of two nodes to where columns stand `stride` apart.
  static void write(const Eigen::MatrixXd& block, double* to, Index stride) {
    for (Index c = 0; c < block.cols(); ++c) {
      for (Index r = 0; r < block.rows(); ++r) to[c * stride + r] = block(r, c);
    }
  }
};

/// The case of a size, made once: a dense matrix of it takes long to fill.
inline const GridCase& grid_case(int side) {
  static const GridCase small(4), large(12);
  return side == 4 ? small : large;
}

}  // namespace carom::benchmarks
