// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <Eigen/Core>

#include "support/block_graphs.hpp"

namespace carom::testing {

/// A random positive definite matrix with the pattern of a graph: the identity and a square of rank
/// three for every node and every edge, as contacts make them.
struct BlockMatrix {
  BlockGraph graph;
  std::vector<int> starts;
  Eigen::MatrixXd dense;

  BlockMatrix(BlockGraph pattern, std::uint32_t seed, double stiffness = 9)
      : graph(std::move(pattern)) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> draw(-1, 1);
    int total = 0;
    for (const int size : graph.sizes) {
      starts.push_back(total);
      total += size;
    }
    dense = Eigen::MatrixXd::Identity(total, total);
    const auto add = [&](int a, int b) {
      Eigen::MatrixXd root = Eigen::MatrixXd::Zero(total, 3);
      for (const int block : {a, b}) {
        for (int r = 0; r < size(block); ++r) {
          for (int k = 0; k < 3; ++k) root(start(block) + r, k) = draw(engine);
        }
      }
      for (int c = 0; c < total; ++c) {
        for (int k = 0; k < 3; ++k) {
          if (root(c, k) != 0) dense.col(c) += stiffness * root(c, k) * root.col(k);
        }
      }
    };
    for (const auto& [a, b] : graph.edges) add(a, b);
    for (int i = 0; i < graph.count(); ++i) add(i, i);
  }
  [[nodiscard]] int size(int node) const { return graph.sizes[std::size_t(node)]; }
  [[nodiscard]] int start(int node) const { return starts[std::size_t(node)]; }

  /// Calls add(row node, column node, block) for the diagonal and for every edge, both ways.
  [[nodiscard]] Eigen::MatrixXd block(int row, int column) const {
    return dense.block(start(row), start(column), size(row), size(column));
  }
};

}  // namespace carom::testing
