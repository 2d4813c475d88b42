// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/front_branches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/linalg/detail/block_lu.hpp"

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/executors.hpp"

/// @file
/// Factors of large components, shared, beside those of one thread.
namespace front_branches_test {

using carom::BlockCholesky, carom::BlockLu, carom::Crew, carom::FrontForest, carom::FrontRange;
using carom::Index, carom::MinimumDegree, carom::VectorX;
using carom::detail::FrontBranches;
using carom::testing::BlockGraph, carom::testing::for_each_executor;

namespace {

/// Nodes of six unknowns in a brick, each joined to its next neighbours.
BlockGraph make_lattice(int x, int y, int z) {
  const auto number = [&](int i, int j, int k) { return (k * y + j) * x + i; };
  carom::testing::Edges edges;
  for (int k = 0; k < z; ++k) {
    for (int j = 0; j < y; ++j) {
      for (int i = 0; i < x; ++i) {
        if (i > 0) edges.insert({number(i - 1, j, k), number(i, j, k)});
        if (j > 0) edges.insert({number(i, j - 1, k), number(i, j, k)});
        if (k > 0) edges.insert({number(i, j, k - 1), number(i, j, k)});
      }
    }
  }
  return BlockGraph(std::vector<int>(std::size_t(x * y * z), 6), edges);
}

/// A matrix of a graph's pattern: off the diagonal about 0.1, with a large diagonal.
double entry(Index block, int row, int column) {
  return 0.1 * std::sin(double(7 * block + 3 * row + column));
}

struct Pattern {
  MinimumDegree order;
  FrontForest forest;
  FrontRange range{};
  FrontBranches branches;
  std::vector<int> slot_of;
  std::vector<Index> starts;

  explicit Pattern(const BlockGraph& graph) {
    REQUIRE(order.compute(graph.view(), 1e300));
    slot_of.resize(graph.sizes.size());
    range = forest.append(graph.view(), order, slot_of.data());
    branches.clear(forest);
    branches.append(forest, range);
    for (std::size_t slot = 0; slot < graph.sizes.size(); ++slot) {
      starts.push_back(Index(6 * slot));
    }
  }
};

template <typename Block>
void fill(const Block& block, Index number, double diagonal) {
  for (int c = 0; c < 6; ++c) {
    for (int r = 0; r < 6; ++r) {
      block.data[c * block.stride + r] = diagonal > 0 && r == c ? diagonal : entry(number, r, c);
    }
  }
}
/// @param bad  a node whose diagonal is this, in place of a large number.
void fill(const Pattern& pattern, const BlockGraph& graph, BlockCholesky<double>& cholesky,
          double bad) {
  cholesky.clear(pattern.range);
  for (int slot = 0; slot < graph.count(); ++slot) fill(cholesky.diagonal(slot), slot, 20);
  cholesky.diagonal(graph.count() / 3).data[0] = bad;
  Index number = graph.count();
  for (const auto& [a, b] : graph.edges) {
    const int low = std::min(pattern.slot_of[std::size_t(a)], pattern.slot_of[std::size_t(b)]);
    const int high = std::max(pattern.slot_of[std::size_t(a)], pattern.slot_of[std::size_t(b)]);
    fill(cholesky.block(cholesky.place_below(low, high), low), ++number, 0);
  }
}
void fill(const Pattern& pattern, const BlockGraph& graph, BlockLu<double>& lu, double bad) {
  lu.clear(pattern.range);
  const auto both = [&](int low, int high, Index number, double diagonal) {
    const Index place = lu.place(low, high);
    fill(lu.lower(place, low), number, diagonal);
    fill(lu.upper(place, low), diagonal > 0 ? number : 2 * number, diagonal);
  };
  for (int slot = 0; slot < graph.count(); ++slot) both(slot, slot, slot, 20);
  const int third = graph.count() / 3;
  lu.lower(lu.place(third, third), third).data[0] = bad;
  Index number = graph.count();
  for (const auto& [a, b] : graph.edges) {
    const int low = std::min(pattern.slot_of[std::size_t(a)], pattern.slot_of[std::size_t(b)]);
    const int high = std::max(pattern.slot_of[std::size_t(a)], pattern.slot_of[std::size_t(b)]);
    both(low, high, ++number, 0);
  }
}

/// Both factors solve, alone and shared.
template <typename Factor>
void check_bits(int x, int y, int z) {
  const BlockGraph graph = make_lattice(x, y, z);
  const Pattern pattern(graph);
  CAPTURE(x, y, z);
  REQUIRE(pattern.branches.suit(pattern.range));
  Factor alone;
  alone.reset(pattern.forest);
  fill(pattern, graph, alone, 30);
  REQUIRE(alone.factor(pattern.range));
  const VectorX<double> right = VectorX<double>::LinSpaced(6 * graph.count(), -1, 2);
  VectorX<double> expected = right;
  std::vector<double> scratch(std::size_t(pattern.forest.largest_front()));
  alone.solve(pattern.range, expected.data(), pattern.starts.data(), scratch.data());
  CHECK(expected.norm() > 0.01 * right.norm());
  std::vector<double> room(std::size_t(pattern.branches.room()));
  for_each_executor([&](const auto& executor) {
    Factor shared;
    shared.reset(pattern.forest);
    fill(pattern, graph, shared, 30);
    VectorX<double> found = right;
    bool regular = false;
    Crew crew;
    executor(4, [&](Index) {
      crew.join([&] {
        regular = shared.factor(pattern.range, pattern.branches, crew);
        shared.solve(pattern.range, found.data(), pattern.starts.data(), room.data(),
                     pattern.branches, crew);
      });
    });
    CHECK(regular);
    CHECK(found == expected);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("front_branches: a shared factor and its solves have the bits of one thread",
                   "[linalg][law]", BlockCholesky<double>, BlockLu<double>) {
  check_bits<TestType>(40, 24, 1);
  check_bits<TestType>(7, 7, 6);  // its last fronts are large enough to be shared
}

TEMPLATE_TEST_CASE("front_branches: a pivot that fails is noticed in any branch", "[linalg][law]",
                   BlockCholesky<double>, BlockLu<double>) {
  const BlockGraph graph = make_lattice(40, 24, 1);
  const Pattern pattern(graph);
  REQUIRE(pattern.branches.suit(pattern.range));
  TestType factor;
  factor.reset(pattern.forest);
  for_each_executor([&](const auto& executor) {
    fill(pattern, graph, factor, std::numeric_limits<double>::quiet_NaN());
    bool regular = true;
    Crew crew;
    executor(4, [&](Index) {
      crew.join([&] { regular = factor.factor(pattern.range, pattern.branches, crew); });
    });
    CHECK_FALSE(regular);
  });
}

TEST_CASE("front_branches: a small component is left to one thread", "[linalg][example]") {
  const Pattern pattern(make_lattice(5, 4, 1));
  CHECK_FALSE(pattern.branches.suit(pattern.range));
}

}  // namespace front_branches_test
