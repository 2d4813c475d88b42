// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/block_cholesky.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

using carom::BlockCholesky, carom::FrontForest, carom::FrontRange, carom::Index;
using carom::MatrixX, carom::MinimumDegree, carom::VectorX, carom::WeightedGraph;
using carom::testing::rounding, carom::testing::WorstCase;

namespace {

using Edges = std::set<std::pair<int, int>>;

/// A connected graph with block sizes, and a random positive definite matrix of its pattern.
struct BlockMatrix {
  std::vector<int> sizes, starts, list_starts, lists;
  Edges edges;
  Eigen::MatrixXd dense;

  BlockMatrix(std::vector<int> block_sizes, Edges links, std::uint32_t seed)
      : sizes(std::move(block_sizes)), edges(std::move(links)) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> draw(-1, 1);
    int total = 0;
    list_starts.push_back(0);
    for (int i = 0; i < int(sizes.size()); ++i) {
      starts.push_back(total);
      total += sizes[std::size_t(i)];
      for (int j = 0; j < int(sizes.size()); ++j) {
        if (edges.count({std::min(i, j), std::max(i, j)}) != 0 && i != j) lists.push_back(j);
      }
      list_starts.push_back(int(lists.size()));
    }
    dense = Eigen::MatrixXd::Identity(total, total);
    const auto add = [&](int a, int b) {  // a square of rank 3 on two blocks
      Eigen::MatrixXd root = Eigen::MatrixXd::Zero(total, 3);
      for (const int block : {a, b}) {
        for (int r = 0; r < sizes[std::size_t(block)]; ++r) {
          for (int k = 0; k < 3; ++k) root(starts[std::size_t(block)] + r, k) = 3 * draw(engine);
        }
      }
      dense += root * root.transpose();
    };
    for (const auto& [a, b] : edges) add(a, b);
    for (int i = 0; i < int(sizes.size()); ++i) add(i, i);
  }
  [[nodiscard]] WeightedGraph graph() const {
    return {Index(sizes.size()), list_starts.data(), lists.data(), sizes.data()};
  }
};

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
    REQUIRE(order.compute(matrix.graph(), 1e300));
    slot_of.resize(matrix.sizes.size());
    range = forest.append(matrix.graph(), order, slot_of.data());
    cholesky.reset(forest);
    fill(matrix);
  }
  void fill(const BlockMatrix& matrix) {
    cholesky.clear(range);
    const auto add = [&](int row, int column, typename BlockCholesky<Scalar>::Block block) {
      for (int c = 0; c < matrix.sizes[std::size_t(column)]; ++c) {
        for (int r = 0; r < matrix.sizes[std::size_t(row)]; ++r) {
          block.data[c * block.stride + r] = Scalar(matrix.dense(
              matrix.starts[std::size_t(row)] + r, matrix.starts[std::size_t(column)] + c));
        }
      }
    };
    for (int i = 0; i < int(matrix.sizes.size()); ++i) {
      add(i, i, cholesky.diagonal(slot_of[std::size_t(i)]));
    }
    for (const auto& [a, b] : matrix.edges) {
      const bool swap = slot_of[std::size_t(a)] > slot_of[std::size_t(b)];
      const int low = swap ? b : a, high = swap ? a : b;
      const Index place =
          cholesky.place_below(slot_of[std::size_t(low)], slot_of[std::size_t(high)]);
      add(high, low, cholesky.block(place, slot_of[std::size_t(low)]));
    }
    positive = cholesky.factor(range);
  }
  [[nodiscard]] VectorX<Scalar> solve(const BlockMatrix& matrix, VectorX<Scalar> x) const {
    std::vector<Index> starts(matrix.sizes.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts[std::size_t(slot_of[i])] = matrix.starts[i];
    }
    std::vector<Scalar> scratch(2 * std::size_t(forest.largest_front()));
    cholesky.solve(range, x.data(), starts.data(), scratch.data());
    return x;
  }
};

Edges chain(int count) {
  Edges edges;
  for (int i = 0; i + 1 < count; ++i) edges.insert({i, i + 1});
  return edges;
}
Edges full(int count) {
  Edges edges;
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count; ++j) edges.insert({i, j});
  }
  return edges;
}
Edges star(int count) {
  Edges edges;
  for (int i = 1; i < count; ++i) edges.insert({0, i});
  return edges;
}
Edges grid(int rows, int columns) {
  Edges edges;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (c + 1 < columns) edges.insert({r * columns + c, r * columns + c + 1});
      if (r + 1 < rows) edges.insert({r * columns + c, (r + 1) * columns + c});
    }
  }
  return edges;
}
Edges random_edges(int count, int extra, std::mt19937& engine) {
  Edges edges;
  for (int i = 1; i < count; ++i) edges.insert({int(engine() % std::uint32_t(i)), i});
  for (int k = 0; k < extra; ++k) {
    const int a = int(engine() % std::uint32_t(count)), b = int(engine() % std::uint32_t(count));
    if (a != b) edges.insert({std::min(a, b), std::max(a, b)});
  }
  return edges;
}

/// Every matrix the tests look at.
template <typename Visit>
void for_each_matrix(const Visit& visit) {
  std::mt19937 engine(4711);
  const auto mixed = [&](int count) {
    const int choices[] = {6, 6, 6, 3, 1, 2, 7, 13, 30};
    std::vector<int> sizes;
    for (int i = 0; i < count; ++i) sizes.push_back(choices[engine() % 9]);
    return sizes;
  };
  const auto sixes = [](int count) { return std::vector<int>(std::size_t(count), 6); };
  for (int size : {1, 2, 3, 5, 6, 7, 8, 9, 16, 17, 30, 61}) visit(BlockMatrix({size}, {}, 1));
  for (int count : {2, 3, 9, 40}) {
    visit(BlockMatrix(sixes(count), chain(count), 2));
    visit(BlockMatrix(mixed(count), chain(count), 3));
    visit(BlockMatrix(sixes(count), star(count), 4));
    visit(BlockMatrix(mixed(count), star(count), 5));
  }
  for (int count : {3, 6, 13}) visit(BlockMatrix(mixed(count), full(count), 6));
  visit(BlockMatrix(sixes(42), grid(6, 7), 7));
  visit(BlockMatrix(mixed(42), grid(6, 7), 8));
  for (std::uint32_t sample = 0; sample < 25; ++sample) {
    const int count = 2 + int(engine() % 35);
    visit(BlockMatrix(sample % 2 == 0 ? sixes(count) : mixed(count),
                      random_edges(count, int(sample) * 2, engine), 9 + sample));
  }
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
