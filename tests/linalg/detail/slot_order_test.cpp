// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/slot_order.hpp"

#include <algorithm>
#include <vector>

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/worst_case.hpp"

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
