// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/block_incomplete_cholesky.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "support/catch.hpp"
#include "support/packed_blocks.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace block_incomplete_cholesky_test {

using carom::BlockIncompleteCholesky, carom::Index, carom::VectorX;
using carom::testing::BlockGraph, carom::testing::BlockMatrix, carom::testing::pack_blocks;
using carom::testing::rounding, carom::testing::WorstCase;

namespace {

/// (L Lᵀ)⁻¹ written out, column by column.
Eigen::MatrixXd inverse_of(const BlockIncompleteCholesky<double>& factor, Index columns,
                           Index size) {
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(size, size);
  for (Index c = 0; c < size; ++c) factor.solve({0, columns}, inverse.col(c).data());
  return inverse;
}

}  // namespace

TEMPLATE_TEST_CASE("block_incomplete_cholesky: nothing is left out where nothing fills",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase near("exact on chains, cliques and single blocks");
  int count = 0;
  carom::testing::for_each_block_matrix([&](const BlockMatrix& matrix) {
    const int nodes = matrix.graph.count();
    const bool fills = matrix.graph.edges != carom::testing::chain_edges(nodes) &&
                       matrix.graph.edges != carom::testing::full_edges(nodes);
    if (fills) return;
    const auto blocks = pack_blocks<Scalar>(matrix);
    BlockIncompleteCholesky<Scalar> factor;
    factor.reset(blocks);
    REQUIRE(factor.factor(blocks, {0, nodes}));
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.dense.rows(), -1, 2);
    VectorX<Scalar> x = b.cast<Scalar>();
    factor.solve({0, nodes}, x.data());
    const Eigen::VectorXd solved = x.template cast<double>();
    near.see((matrix.dense * solved - b).norm(),
             rounding(100, Scalar(1)) * (matrix.dense.norm() * solved.norm() + b.norm()));
    ++count;
  });
  near.check(count);
  CHECK(count > 15);
}

TEST_CASE("block_incomplete_cholesky: it is a symmetric positive definite preconditioner",
          "[linalg][law]") {
  WorstCase symmetric("symmetric"), better("better conditioned than with diagonal blocks alone");
  int count = 0, closer = 0;
  carom::testing::for_each_block_matrix([&](const BlockMatrix& matrix) {
    const auto blocks = pack_blocks<double>(matrix);
    BlockIncompleteCholesky<double> factor;
    factor.reset(blocks);
    REQUIRE(factor.factor(blocks, {0, blocks.column_count()}));
    const Eigen::MatrixXd inverse = inverse_of(factor, blocks.column_count(), matrix.dense.rows());
    symmetric.see((inverse - inverse.transpose()).norm(), rounding(1000, inverse.norm()));
    symmetric.see_holds(Eigen::LLT<Eigen::MatrixXd>(inverse).info() == Eigen::Success);
    // ‖I − M⁻¹H‖ against the same with the diagonal blocks as M.
    const Index size = matrix.dense.rows();
    Eigen::MatrixXd diagonal = Eigen::MatrixXd::Zero(size, size);
    for (int i = 0; i < matrix.graph.count(); ++i) {
      diagonal.block(matrix.start(i), matrix.start(i), matrix.size(i), matrix.size(i)) =
          matrix.block(i, i);
    }
    const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(size, size);
    const double with = (unit - inverse * matrix.dense).norm();
    const double without = (unit - Eigen::MatrixXd(diagonal.llt().solve(matrix.dense))).norm();
    closer += with <= without * (1 + 1e-12) + rounding(1000, double(size)) ? 1 : 0;
    ++count;
  });
  symmetric.check(2 * count);
  CAPTURE(closer, count);
  CHECK(closer > count * 9 / 10);
}

TEST_CASE("block_incomplete_cholesky: where the pattern loses definiteness the diagonal is raised",
          "[linalg][example]") {
  // On a cycle of four, eliminating node 0 couples 1 and 2 by −c². With that coupling node 3 has
  // pivot 1.4 − 1 > 0, without it 1.4 − 1 − 0.81 < 0.
  const BlockGraph cycle({1, 1, 1, 1}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  BlockMatrix matrix(cycle, 1);
  const double c = std::sqrt(0.9);
  matrix.dense << 1, c, c, 0, c, 1.9, 0, 1, c, 0, 1.9, -0.9, 0, 1, -0.9, 1.4;
  REQUIRE(Eigen::LLT<Eigen::MatrixXd>(matrix.dense).info() == Eigen::Success);
  const auto blocks = pack_blocks<double>(matrix);
  BlockIncompleteCholesky<double> factor;
  factor.reset(blocks);
  REQUIRE(factor.factor(blocks, {0, 4}));
  const Eigen::MatrixXd inverse = inverse_of(factor, 4, 4);
  CHECK(Eigen::LLT<Eigen::MatrixXd>(inverse).info() == Eigen::Success);
}

TEST_CASE("block_incomplete_cholesky: what is not positive definite is refused",
          "[linalg][example]") {
  const BlockGraph graph({6, 3, 6}, carom::testing::chain_edges(3));
  for (const double bad : {-1e6, std::numeric_limits<double>::quiet_NaN()}) {
    BlockMatrix matrix(graph, 1);
    matrix.dense(7, 7) = bad;
    const auto blocks = pack_blocks<double>(matrix);
    BlockIncompleteCholesky<double> factor;
    factor.reset(blocks);
    CHECK_FALSE(factor.factor(blocks, {0, 3}));
  }
}

}  // namespace block_incomplete_cholesky_test

namespace block_symmetric_test {

using carom::BlockSymmetric, carom::VectorX;
using carom::testing::BlockMatrix, carom::testing::rounding, carom::testing::WorstCase;

TEMPLATE_TEST_CASE("block_symmetric: it multiplies as the dense matrix does", "[linalg][oracle]",
                   float, double) {
  using Scalar = TestType;
  WorstCase near("product"), untouched("nothing else is written");
  int count = 0;
  carom::testing::for_each_block_matrix([&](const BlockMatrix& matrix) {
    const auto blocks = carom::testing::pack_blocks<Scalar>(matrix);
    const carom::Index size = matrix.dense.rows();
    VectorX<Scalar> x = VectorX<Scalar>::LinSpaced(size, -1, 2), y(size + 1);
    y.setConstant(Scalar(77));
    blocks.multiply({0, blocks.column_count()}, x.data(), y.data());
    const Eigen::VectorXd expected = matrix.dense * x.template cast<double>();
    near.see((y.head(size).template cast<double>() - expected).norm(),
             rounding(10, Scalar(1)) * matrix.dense.norm() * double(x.norm()));
    untouched.see_holds(y(size) == Scalar(77));
    ++count;
  });
  near.check(count);
  untouched.check(count);
}

TEST_CASE("block_symmetric: a range is cleared, copied and multiplied alone", "[linalg][example]") {
  BlockSymmetric<double> a, b;
  for (int round = 0; round < 2; ++round) {
    a.clear_pattern();
    for (int column = 0; column < 2; ++column) {
      a.append_column(1, column);
      if (column == 0) a.append_row(1, 1);
    }
    a.append_column(2, 2);
    a.allocate();
  }
  CHECK((a.column_count() == 3 && a.block_count() == 1 && a.row(0) == 1 && a.size(2) == 2));
  a.clear({0, 3});
  a.diagonal(0)[0] = 2;
  a.diagonal(1)[0] = 3;
  a.below(0)[0] = 5;
  a.diagonal(2)[0] = a.diagonal(2)[3] = 7;
  b.copy_pattern(a);
  b.clear({0, 3});
  b.copy({0, 2}, a);
  Eigen::Vector4d x(1, 10, 100, 1000), y(0, 0, -1, -1);
  b.multiply({0, 2}, x.data(), y.data());
  CHECK(y == Eigen::Vector4d(52, 35, -1, -1));
  b.multiply({0, 3}, x.data(), y.data());
  CHECK(y == Eigen::Vector4d(52, 35, 0, 0));
  a.clear({0, 2});
  a.multiply({0, 3}, x.data(), y.data());
  CHECK(y == Eigen::Vector4d(0, 0, 700, 7000));
}

}  // namespace block_symmetric_test
