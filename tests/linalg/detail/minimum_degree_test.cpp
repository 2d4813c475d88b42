// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/minimum_degree.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace minimum_degree_test {

using carom::MinimumDegree;
using carom::testing::BlockGraph, carom::testing::Edges, carom::testing::WorstCase;
using carom::testing::rounding;

namespace {

/// What elimination in a given order fills, by the definition: neighbours become a clique.
std::vector<std::set<int>> eliminate(const BlockGraph& graph, const std::vector<int>& order) {
  std::vector<std::set<int>> adjacent(graph.sizes.size()), rows(graph.sizes.size());
  for (const auto& [a, b] : graph.edges) {
    adjacent[std::size_t(a)].insert(b);
    adjacent[std::size_t(b)].insert(a);
  }
  for (const int node : order) {
    rows[std::size_t(node)] = adjacent[std::size_t(node)];
    for (const int a : rows[std::size_t(node)]) {
      adjacent[std::size_t(a)].erase(node);
      for (const int b : rows[std::size_t(node)]) {
        if (a != b) adjacent[std::size_t(a)].insert(b);
      }
    }
  }
  return rows;
}

std::vector<int> order_of(const MinimumDegree& degree) {
  return {degree.order().begin(), degree.order().end()};
}

}  // namespace

TEST_CASE("minimum_degree: the order is complete and its rows are those of elimination",
          "[linalg][oracle]") {
  WorstCase complete("every node once"), exact("rows"), work("work");
  int graphs = 0;
  MinimumDegree degree;
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    REQUIRE(degree.compute(graph.view(), 1e300));
    std::vector<int> order = order_of(degree), sorted = order;
    std::sort(sorted.begin(), sorted.end());
    bool once = int(order.size()) == graph.count();
    for (int i = 0; once && i < graph.count(); ++i) once = sorted[std::size_t(i)] == i;
    complete.see_holds(once);
    const auto expected = eliminate(graph, order);
    double total = 0;
    bool same = true;
    for (int i = 0; i < graph.count(); ++i) {
      const std::set<int> rows(degree.rows(i), degree.rows(i) + degree.row_count(i));
      same = same && rows == expected[std::size_t(i)] && int(rows.size()) == degree.row_count(i);
      double below = 0;
      for (const int row : rows) below += graph.sizes[std::size_t(row)];
      const double own = graph.sizes[std::size_t(i)];
      total += own * (below * below / 2 + own * below + own * own / 6);
    }
    exact.see_holds(same);
    work.see(std::abs(degree.work() - total), rounding(5000, 1.0) * total);
    ++graphs;
  });
  for (const WorstCase* law : {&complete, &exact, &work}) law->check(graphs);
}

TEST_CASE("minimum_degree: trees do not fill, a star's centre goes last", "[linalg][example]") {
  MinimumDegree degree;
  std::mt19937 engine(3);
  for (const Edges& edges : {carom::testing::chain_edges(50), carom::testing::star_edges(50),
                             carom::testing::random_edges(50, 0, engine)}) {
    const BlockGraph graph(std::vector<int>(50, 6), edges);
    REQUIRE(degree.compute(graph.view(), 1e300));
    int rows = 0;
    for (int i = 0; i < 50; ++i) rows += degree.row_count(i);
    CHECK(rows == 49);
  }
  const BlockGraph star(std::vector<int>(20, 6), carom::testing::star_edges(20));
  REQUIRE(degree.compute(star.view(), 1e300));
  const std::vector<int> order = order_of(degree);
  CHECK(std::find(order.begin(), order.end(), 0) >= order.end() - 2);
}

TEST_CASE("minimum_degree: a grid fills as little as nested dissection would",
          "[linalg][example]") {
  // Dissection of an n × n grid leaves about (31/4) n² log₂ n entries; row by row n³.
  const int n = 32;
  const BlockGraph graph(std::vector<int>(std::size_t(n * n), 1), carom::testing::grid_edges(n, n));
  MinimumDegree degree;
  REQUIRE(degree.compute(graph.view(), 1e300));
  int rows = 0;
  for (int i = 0; i < n * n; ++i) rows += degree.row_count(i);
  CAPTURE(rows);
  CHECK(rows < 31.0 / 4 * n * n * 5);
  CHECK(rows < n * n * n / 2);
}

TEST_CASE("minimum_degree: a limit on the work is kept", "[linalg][example]") {
  const BlockGraph graph(std::vector<int>(30, 6), carom::testing::full_edges(30));
  MinimumDegree degree;
  REQUIRE(degree.compute(graph.view(), 1e300));
  const double work = degree.work();
  CHECK(degree.compute(graph.view(), work));
  CHECK_FALSE(degree.compute(graph.view(), work * 0.999));
  CHECK_FALSE(degree.compute(graph.view(), 0));
  CHECK(degree.compute(graph.view(), 1e300));
}

TEST_CASE("minimum_degree: parts that are not connected do not influence each other",
          "[linalg][law]") {
  std::mt19937 engine(8);
  const Edges first = carom::testing::random_edges(20, 30, engine);
  Edges both = first;
  for (const auto& [a, b] : carom::testing::random_edges(15, 20, engine)) {
    both.insert({a + 20, b + 20});
  }
  MinimumDegree alone, together;
  REQUIRE(alone.compute(BlockGraph(std::vector<int>(20, 6), first).view(), 1e300));
  REQUIRE(together.compute(BlockGraph(std::vector<int>(35, 6), both).view(), 1e300));
  std::vector<int> part;
  for (const int node : together.order()) {
    if (node < 20) part.push_back(node);
  }
  CHECK(part == order_of(alone));
}

}  // namespace minimum_degree_test

namespace slot_order_test {

using carom::MinimumDegree, carom::SlotOrder;
using carom::testing::BlockGraph, carom::testing::WorstCase;

namespace {

/// The nodes in their order; complete when sorted they are 0, 1, ...
bool is_permutation(const SlotOrder& slots, int count) {
  std::vector<int> nodes;
  for (int k = 0; k < count; ++k) nodes.push_back(slots.node(k));
  std::sort(nodes.begin(), nodes.end());
  for (int k = 0; k < count; ++k) {
    if (nodes[std::size_t(k)] != k) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("slot_order: a parent is the first of a node's rows and comes after it",
          "[linalg][oracle]") {
  WorstCase complete("every node once"), first("parent"), below("rows below"), heavy("heavy child");
  int graphs = 0;
  MinimumDegree order;
  SlotOrder slots;
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    REQUIRE(order.compute(graph.view(), 1e300));
    slots.compute_postorder(graph.view(), order);
    const int count = graph.count();
    complete.see_holds(is_permutation(slots, count));
    std::vector<int> position(graph.sizes.size());
    for (int k = 0; k < count; ++k) position[std::size_t(slots.node(k))] = k;
    std::vector<int> most(graph.sizes.size(), -1);  // rows of a position's children
    for (int k = 0; k < count; ++k) {
      const int node = slots.node(k);
      int nearest = -1, rows = 0;
      for (int r = 0; r < order.row_count(node); ++r) {
        const int row = order.rows(node)[r], at = position[std::size_t(row)];
        rows += graph.sizes[std::size_t(row)];
        nearest = nearest < 0 ? at : std::min(nearest, at);
      }
      first.see_holds(slots.parent(k) == nearest && (nearest < 0 || nearest > k));
      below.see_holds(slots.below(k) == rows);
      if (nearest >= 0) most[std::size_t(nearest)] = std::max(most[std::size_t(nearest)], rows);
    }
    for (int k = 1; k < count; ++k) {
      if (most[std::size_t(k)] < 0) continue;  // a leaf
      heavy.see_holds(slots.parent(k - 1) == k && slots.below(k - 1) == most[std::size_t(k)]);
    }
    ++graphs;
  });
  for (WorstCase* seen : {&complete, &first, &below, &heavy}) seen->check(graphs);
}

TEST_CASE("slot_order: breadth first from an end of a chain goes along it", "[linalg][example]") {
  SlotOrder slots;
  const BlockGraph chain({6, 6, 6, 6, 6}, {{0, 2}, {2, 4}, {1, 3}, {0, 3}});  // 4 2 0 3 1
  slots.compute_breadth_first(chain.view());
  CHECK(is_permutation(slots, 5));
  const int expected[] = {1, 3, 0, 2, 4};
  const bool forwards = slots.node(0) == 1;
  for (int k = 0; k < 5; ++k) CHECK(slots.node(forwards ? k : 4 - k) == expected[k]);
}

}  // namespace slot_order_test
