// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/block_cholesky.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>

#include "support/block_matrices.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace block_cholesky_test {

using carom::BlockCholesky, carom::FrontForest, carom::FrontRange, carom::Index;
using carom::MinimumDegree, carom::VectorX;
using carom::testing::BlockGraph, carom::testing::BlockMatrix, carom::testing::rounding;
using carom::testing::WorstCase;

namespace {

/// Orders, analyses, fills and factors; answers for one right-hand side.
template <typename Scalar>
struct Factored {
  MinimumDegree order;
  FrontForest forest;
  BlockCholesky<Scalar> cholesky;
  FrontRange range{};
  std::vector<int> slot_of;
  bool positive = false;

  explicit Factored(const BlockMatrix& matrix) {
    REQUIRE(order.compute(matrix.graph.view(), 1e300));
    slot_of.resize(matrix.graph.sizes.size());
    range = forest.append(matrix.graph.view(), order, slot_of.data());
    cholesky.reset(forest);
    fill(matrix);
  }
  [[nodiscard]] int slot(int node) const { return slot_of[std::size_t(node)]; }
  void fill(const BlockMatrix& matrix) {
    cholesky.clear(range);
    fill_cleared(matrix);
  }
  /// Fills what is cleared, and nothing else.
  void fill_cleared(const BlockMatrix& matrix) {
    const auto add = [&](int row, int column, typename BlockCholesky<Scalar>::Block target) {
      if (!cholesky.touched(slot(column))) return;
      const Eigen::MatrixXd block = matrix.block(row, column);
      for (Index c = 0; c < block.cols(); ++c) {
        for (Index r = 0; r < block.rows(); ++r) {
          target.data[c * target.stride + r] = Scalar(block(r, c));
        }
      }
    };
    for (int i = 0; i < matrix.graph.count(); ++i) add(i, i, cholesky.diagonal(slot(i)));
    for (const auto& [a, b] : matrix.graph.edges) {
      const int low = slot(a) < slot(b) ? a : b, high = a + b - low;
      const Index place = cholesky.place(slot(low), slot(high));
      add(high, low, cholesky.block(place, slot(low)));
    }
    positive = cholesky.factor(range);
  }
  [[nodiscard]] VectorX<Scalar> solve(const BlockMatrix& matrix, VectorX<Scalar> x) const {
    std::vector<Index> starts(matrix.graph.sizes.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts[std::size_t(slot_of[i])] = matrix.starts[i];
    }
    std::vector<Scalar> scratch(2 * std::size_t(forest.largest_front()));
    cholesky.solve(range, x.data(), starts.data(), scratch.data());
    return x;
  }
};

template <typename Visit>
void for_each_matrix(const Visit& visit) {
  std::uint32_t seed = 0;
  carom::testing::for_each_block_graph(
      [&](const BlockGraph& graph) { visit(BlockMatrix(graph, ++seed)); });
}

}  // namespace

TEMPLATE_TEST_CASE("block_cholesky: it solves what a dense factorisation solves",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase near("solution"), positive("factored");
  int count = 0;
  for_each_matrix([&](const BlockMatrix& matrix) {
    const Factored<Scalar> factored(matrix);
    positive.see_holds(factored.positive);
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.dense.rows(), -1, 2);
    const Eigen::LLT<Eigen::MatrixXd> dense(matrix.dense);
    const Eigen::VectorXd expected = dense.solve(b);
    const Eigen::VectorXd x = factored.solve(matrix, b.cast<Scalar>()).template cast<double>();
    // Backward stable: the residual is small beside the matrix and the solution.
    near.see((matrix.dense * x - b).norm(),
             rounding(40, Scalar(1)) * (matrix.dense.norm() * x.norm() + b.norm()),
             double(matrix.dense.rows()));
    near.see((x - expected).norm(),
             rounding(40, Scalar(1)) * matrix.dense.norm() * (1 + expected.norm()));
    ++count;
  });
  near.check(2 * count);
  positive.check(count);
}

TEST_CASE("block_cholesky: a factor refilled is a factor made anew", "[linalg][law]") {
  WorstCase same("bit by bit");
  int count = 0;
  for_each_matrix([&](const BlockMatrix& matrix) {
    Factored<double> factored(matrix);
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.dense.rows(), -1, 2);
    const Eigen::VectorXd before = factored.solve(matrix, b);
    BlockMatrix other = matrix;
    other.dense *= 3;
    factored.fill(other);
    factored.fill(matrix);
    same.see_holds(factored.solve(matrix, b) == before);
    ++count;
  });
  same.check(count);
}

TEST_CASE(
    "block_cholesky: after a change of some nodes, refilled where it must be, it is a factor "
    "made anew",
    "[linalg][law]") {
  WorstCase same("bit by bit");
  int count = 0, fresh = 0;
  for_each_matrix([&](const BlockMatrix& matrix) {
    for (const int node : {0, matrix.graph.count() / 2}) {
      Factored<double> factored(matrix);
      BlockMatrix other = matrix;
      other.dense.diagonal()
          .segment(matrix.starts[std::size_t(node)], matrix.graph.sizes[std::size_t(node)])
          .array() *= 1.5;
      factored.cholesky.touch(factored.slot(node));
      factored.cholesky.spread_touch(factored.range);
      for (int i = 0; i < matrix.graph.count(); ++i) {
        const bool touched = factored.cholesky.touched(factored.slot(i));
        if (touched) factored.cholesky.clear_columns(factored.slot(i));
        fresh += touched ? 0 : 1;
      }
      factored.fill_cleared(other);
      CHECK(factored.positive);
      const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.dense.rows(), -1, 2);
      same.see_holds(factored.solve(matrix, b) == Factored<double>(other).solve(matrix, b));
      ++count;
    }
  });
  same.check(count);
  CHECK(fresh > count);  // most nodes keep theirs
}

TEST_CASE("block_cholesky: a matrix that is not positive definite is refused",
          "[linalg][example]") {
  int refused = 0, count = 0;
  for_each_matrix([&](const BlockMatrix& matrix) {
    for (const double bad : {-1e6, std::numeric_limits<double>::quiet_NaN()}) {
      BlockMatrix broken = matrix;
      broken.dense(matrix.dense.rows() / 2, matrix.dense.rows() / 2) = bad;
      refused += Factored<double>(broken).positive ? 0 : 1;
      ++count;
    }
  });
  CHECK(refused == count);
}

}  // namespace block_cholesky_test
