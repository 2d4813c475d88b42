// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/block_lu.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <Eigen/LU>

#include "support/block_matrices.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace block_lu_test {

using carom::BlockLu, carom::FrontForest, carom::FrontRange, carom::Index;
using carom::MinimumDegree, carom::VectorX;
using carom::testing::BlockGraph, carom::testing::BlockMatrix, carom::testing::rounding;
using carom::testing::WorstCase;

namespace {

/// Orders, analyses, fills and factors; answers for one right-hand side.
template <typename Scalar>
struct Factored {
  MinimumDegree order;
  FrontForest forest;
  BlockLu<Scalar> lu;
  FrontRange range{};
  std::vector<int> slot_of;
  bool regular = false;

  explicit Factored(const BlockMatrix& matrix) {
    REQUIRE(order.compute(matrix.graph.view(), 1e300));
    slot_of.resize(matrix.graph.sizes.size());
    range = forest.append(matrix.graph.view(), order, slot_of.data());
    lu.reset(forest);
    fill(matrix);
  }
  [[nodiscard]] int slot(int node) const { return slot_of[std::size_t(node)]; }
  static void write(const Eigen::MatrixXd& block, typename BlockLu<Scalar>::Block target) {
    for (Index c = 0; c < block.cols(); ++c) {
      for (Index r = 0; r < block.rows(); ++r) {
        target.data[c * target.stride + r] = Scalar(block(r, c));
      }
    }
  }
  void fill(const BlockMatrix& matrix) {
    lu.clear(range);
    for (int i = 0; i < matrix.graph.count(); ++i) {
      const Index place = lu.place(slot(i), slot(i));
      write(matrix.block(i, i), lu.lower(place, slot(i)));
      write(matrix.block(i, i).transpose(), lu.upper(place, slot(i)));
    }
    for (const auto& [a, b] : matrix.graph.edges) {
      const int low = slot(a) < slot(b) ? a : b, high = a + b - low;
      const Index place = lu.place(slot(low), slot(high));
      write(matrix.block(high, low), lu.lower(place, slot(low)));
      write(matrix.block(low, high).transpose(), lu.upper(place, slot(low)));
    }
    regular = lu.factor(range);
  }
  [[nodiscard]] Eigen::VectorXd solve(const BlockMatrix& matrix, const Eigen::VectorXd& b,
                                      bool transposed = false) const {
    std::vector<Index> starts(matrix.graph.sizes.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts[std::size_t(slot_of[i])] = matrix.starts[i];
    }
    std::vector<Scalar> scratch(2 * std::size_t(forest.largest_front()));
    VectorX<Scalar> x = b.cast<Scalar>();
    if (transposed) {
      lu.solve_transposed(range, x.data(), starts.data(), scratch.data());
    } else {
      lu.solve(range, x.data(), starts.data(), scratch.data());
    }
    return x.template cast<double>();
  }
};

/// Matrices of a symmetric pattern whose values are not symmetric.
template <typename Visit>
void for_each_matrix(const Visit& visit) {
  std::uint32_t seed = 0;
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    BlockMatrix matrix(graph, ++seed);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> draw(-.5, .5);
    for (Index c = 0; c < matrix.dense.cols(); ++c) {
      for (Index r = 0; r < matrix.dense.rows(); ++r) {
        if (r != c && matrix.dense(r, c) != 0) matrix.dense(r, c) += draw(engine);
      }
    }
    visit(matrix);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("block_lu: it solves what a dense factorisation with row exchanges solves",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase near("solution"), regular("factored");
  int count = 0;
  for_each_matrix([&](const BlockMatrix& matrix) {
    const Factored<Scalar> factored(matrix);
    regular.see_holds(factored.regular);
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.dense.rows(), -1, 2);
    const Eigen::PartialPivLU<Eigen::MatrixXd> dense(matrix.dense);
    const Eigen::VectorXd expected = dense.solve(b);
    const Eigen::VectorXd x = factored.solve(matrix, b);
    const double condition = matrix.dense.norm() * dense.inverse().norm();
    near.see((x - expected).norm(), rounding(200, Scalar(1)) * condition * (1 + expected.norm()));
    ++count;
  });
  near.check(count);
  regular.check(count);
}

TEMPLATE_TEST_CASE("block_lu: it solves with the transposed matrix by the same factors",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase near("solution");
  int count = 0;
  for_each_matrix([&](const BlockMatrix& matrix) {
    const Factored<Scalar> factored(matrix);
    REQUIRE(factored.regular);
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.dense.rows(), -1, 2);
    const Eigen::PartialPivLU<Eigen::MatrixXd> dense(matrix.dense.transpose());
    const Eigen::VectorXd expected = dense.solve(b);
    const double condition = matrix.dense.norm() * dense.inverse().norm();
    near.see((factored.solve(matrix, b, true) - expected).norm(),
             rounding(200, Scalar(1)) * condition * (1 + expected.norm()));
    ++count;
  });
  near.check(count);
}

TEST_CASE("block_lu: rows are exchanged inside a panel", "[linalg][oracle]") {
  WorstCase near("solution");
  int count = 0;
  for (const int size : {3, 6}) {  // one panel each
    const BlockGraph graph{{size}, {}};
    BlockMatrix matrix(graph, std::uint32_t(size));
    matrix.dense.row(0).swap(matrix.dense.row(size - 1));
    matrix.dense(0, 0) = 0;
    const Factored<double> factored(matrix);
    REQUIRE(factored.regular);
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(size, -1, 2);
    near.see((factored.solve(matrix, b) - matrix.dense.partialPivLu().solve(b)).norm(),
             rounding(5000, 1.0));
    const Eigen::MatrixXd transposed = matrix.dense.transpose();
    near.see((factored.solve(matrix, b, true) - transposed.partialPivLu().solve(b)).norm(),
             rounding(5000, 1.0));
    ++count;
  }
  near.check(count);
}

TEST_CASE("block_lu: stiff directions of a pivot block stay accurate", "[linalg][oracle]") {
  // Contacts that hold make I + Jᵀ N J with N of 1e10 and not symmetric. Of x the solution for
  // b = Jᵀ N g, J x = g is to be right to all digits: forces are N times what is missing. A pivot
  // block multiplied by its inverse gives rounding of the size of N.
  WorstCase held("J x"), all("x");
  int count = 0;
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> draw(-1, 1);
  using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const std::vector<BlockGraph> graphs = {
      {{6}, {}}, {{6, 6}, {{0, 1}}}, {{6, 3}, {{0, 1}}}, {{6, 6, 6}, {{0, 1}, {1, 2}, {0, 2}}}};
  for (const BlockGraph& graph : graphs) {
    for (int round = 0; round < 8; ++round) {
      BlockMatrix matrix(graph, 1);
      const Index size = matrix.dense.rows();
      const auto draw_matrix = [&](Index rows, Index columns) {
        Eigen::MatrixXd result(rows, columns);
        for (double& entry : result.reshaped()) entry = draw(engine);
        return result;
      };
      const Eigen::MatrixXd jacobian = draw_matrix(3, size), spread = draw_matrix(3, 3);
      const Eigen::MatrixXd turn = draw_matrix(3, 3);
      Eigen::MatrixXd gain = spread * spread.transpose() + turn - turn.transpose();
      gain.diagonal().array() += 0.5;
      gain *= 1e10;
      matrix.dense = Eigen::MatrixXd::Identity(size, size) + jacobian.transpose() * gain * jacobian;
      const Eigen::VectorXd b = jacobian.transpose() * (gain * draw_matrix(3, 1));
      const Factored<double> factored(matrix);
      REQUIRE(factored.regular);
      const LongMatrix exact = matrix.dense.cast<long double>(),
                       wide = jacobian.cast<long double>();
      const LongMatrix expected = exact.fullPivLu().solve(LongMatrix(b.cast<long double>()));
      const LongMatrix x = factored.solve(matrix, b).cast<long double>();
      const auto allowed = static_cast<long double>(rounding<double>(1000, 1)) * expected.norm();
      held.see((wide * (x - expected)).norm(), allowed, round);
      // What nothing holds is as accurate as entries of 1e10 leave the matrix itself.
      all.see((x - expected).norm(), allowed * 1e10L, round);
      ++count;
    }
  }
  held.check(count);
  all.check(count);
}

TEST_CASE("block_lu: a factor refilled is a factor made anew", "[linalg][law]") {
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

TEST_CASE("block_lu: a singular pivot block and NaN are reported", "[linalg][law]") {
  WorstCase told("told");
  int count = 0;
  for_each_matrix([&](const BlockMatrix& matrix) {
    for (const double value : {0., std::numeric_limits<double>::quiet_NaN()}) {
      BlockMatrix other = matrix;
      const Index last = other.dense.rows() - 1;
      other.dense.row(last) *= value;
      other.dense.col(last) *= value;
      told.see_holds(!Factored<double>(other).regular);
      ++count;
    }
  });
  told.check(count);
}

}  // namespace block_lu_test

namespace panel_pivots_test {

using carom::Index;
using carom::detail::Columns, carom::detail::divide_panel, carom::detail::PivotBlock;
using carom::detail::row_lanes;

TEST_CASE("panel_pivots: rows of a panel are divided by its pivot block", "[linalg][example]") {
  // With a diagonal pivot block every column is divided by its own pivot.
  PivotBlock<3, double> pivot;
  for (int c = 0; c < 3; ++c) {
    for (int r = 0; r < 3; ++r) pivot.entries[c][r] = r == c ? double(2 << c) : 0;
  }
  REQUIRE(pivot.factor());
  alignas(64) std::array<double, std::size_t(6 * row_lanes)> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = double(i + 1);
  const auto before = numbers;
  divide_panel(Columns<double>{numbers.data(), 2 * row_lanes}, pivot, row_lanes, 2 * row_lanes);
  for (Index c = 0; c < 3; ++c) {
    for (Index row = 0; row < 2 * row_lanes; ++row) {
      const std::size_t at = std::size_t(c * 2 * row_lanes + row);
      const double divisor = row < row_lanes ? 1 : double(2 << c);
      CAPTURE(c, row);
      CHECK(numbers[at] == before[at] / divisor);
    }
  }
}

}  // namespace panel_pivots_test
