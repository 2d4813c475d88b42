// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/front_forest.hpp"

#include <algorithm>
#include <vector>

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/worst_case.hpp"

namespace front_forest_test {

using carom::Front, carom::FrontForest, carom::FrontRange, carom::Index, carom::MinimumDegree;
using carom::testing::BlockGraph, carom::testing::WorstCase;

namespace {

struct Forest {
  MinimumDegree order;
  FrontForest forest;
  FrontRange range{};
  std::vector<int> slot_of;

  explicit Forest(const BlockGraph& graph) : slot_of(graph.sizes.size()) {
    REQUIRE(order.compute(graph.view(), 1e300));
    range = forest.append(graph.view(), order, slot_of.data());
  }
  [[nodiscard]] int slot(int node) const { return slot_of[std::size_t(node)]; }
};

/// Slots of a front's rows, its own first, each with its first unknown there.
std::vector<std::pair<int, int>> places(const FrontForest& forest, const Front& front) {
  std::vector<std::pair<int, int>> result;
  int next = 0;
  const auto add = [&](int slot) {
    result.emplace_back(slot, next);
    next += forest.size(slot);
  };
  for (int s = front.first_slot; s < front.first_slot + front.slot_count; ++s) add(s);
  for (int r = 0; r < front.row_count; ++r) add(forest.row_slots(front)[r]);
  return result;
}

}  // namespace

TEST_CASE("front_forest: every node has a slot, every neighbour a row", "[linalg][law]") {
  WorstCase permutation("slots are a permutation"), sizes("sizes"), rows("rows");
  int graphs = 0;
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    const Forest made(graph);
    std::vector<int> sorted = made.slot_of;
    std::sort(sorted.begin(), sorted.end());
    bool complete = true, sized = true, neighbours = true;
    for (int i = 0; i < graph.count(); ++i) {
      complete = complete && sorted[std::size_t(i)] == i;
      sized = sized && made.forest.size(made.slot(i)) == graph.sizes[std::size_t(i)];
    }
    for (const auto& [a, b] : graph.edges) {
      const int low = std::min(made.slot(a), made.slot(b)),
                high = std::max(made.slot(a), made.slot(b));
      const Front& front = made.forest.fronts()[made.forest.front_of(low)];
      bool found = false;
      for (const auto& [slot, offset] : places(made.forest, front)) {
        found = found || (slot == high && offset == made.forest.row_offset(low, high));
      }
      neighbours = neighbours && found;
    }
    permutation.see_holds(complete && made.range.slot_end == graph.count());
    sizes.see_holds(sized);
    rows.see_holds(neighbours);
    ++graphs;
  });
  for (const WorstCase* law : {&permutation, &sizes, &rows}) law->check(graphs);
}

TEST_CASE("front_forest: the parent has every row a front leaves, where the runs say",
          "[linalg][law]") {
  WorstCase runs("runs"), order("children before parents, rows above slots");
  int graphs = 0;
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    const Forest made(graph);
    bool placed = true, ordered = true;
    for (int f = made.range.begin; f < made.range.end; ++f) {
      const Front& front = made.forest.fronts()[f];
      ordered = ordered && (front.parent < 0) == (front.row_count == 0);
      if (front.parent < 0) continue;
      ordered = ordered && front.parent > f;
      const auto here = places(made.forest, front);
      const auto there = places(made.forest, made.forest.fronts()[front.parent]);
      int covered = 0;
      for (int r = 0; r < front.run_count; ++r) covered += made.forest.runs(front)[r].length;
      placed = placed && covered == front.row_size;
      for (std::size_t k = std::size_t(front.slot_count); k < here.size(); ++k) {
        const auto [slot, offset] = here[k];
        ordered = ordered && slot >= front.first_slot + front.slot_count;
        const int from = offset - front.own_size;
        bool found = false;
        for (int r = 0; r < front.run_count; ++r) {
          const carom::FrontRun& run = made.forest.runs(front)[r];
          if (from < run.from || from >= run.from + run.length) continue;
          found = std::find(there.begin(), there.end(),
                            std::pair<int, int>(slot, run.to + from - run.from)) != there.end();
        }
        placed = placed && found;
      }
    }
    runs.see_holds(placed);
    order.see_holds(ordered);
    ++graphs;
  });
  runs.check(graphs);
  order.check(graphs);
}

TEST_CASE("front_forest: squares that are needed together do not overlap", "[linalg][law]") {
  WorstCase apart("apart");
  int graphs = 0;
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    const Forest made(graph);
    const auto& fronts = made.forest.fronts();
    bool clear = true;
    // A square lives from its front to its parent.
    for (int a = made.range.begin; a < made.range.end; ++a) {
      const Index a_end = fronts[a].update + fronts[a].update_stride * fronts[a].row_size;
      clear = clear && a_end <= made.forest.update_count();
      for (int b = a + 1; b < made.range.end && b <= fronts[a].parent; ++b) {
        const Index b_end = fronts[b].update + fronts[b].update_stride * fronts[b].row_size;
        clear = clear && (a_end <= fronts[b].update || b_end <= fronts[a].update ||
                          fronts[a].row_size == 0 || fronts[b].row_size == 0);
      }
    }
    apart.see_holds(clear);
    ++graphs;
  });
  apart.check(graphs);
}

TEST_CASE("front_forest: columns and squares follow each other from the start of memory",
          "[linalg][law]") {
  WorstCase dense("no gap, no overlap");
  int graphs = 0;
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    const Forest made(graph);
    Index values = 0, updates = 0;
    bool follows = true;
    for (int f = made.range.begin; f < made.range.end; ++f) {
      const Front& front = made.forest.fronts()[f];
      follows = follows && front.columns == values && front.update == updates;
      follows = follows && front.stride >= Index(front.own_size) + front.row_size;
      values += front.stride * front.own_size;
      updates += front.update_stride * front.row_size;
    }
    dense.see_holds(follows && made.forest.value_count() == values &&
                    made.forest.update_count() == updates);
    ++graphs;
  });
  dense.check(graphs);
}

TEST_CASE("front_forest: components follow each other", "[linalg][example]") {
  const BlockGraph chain({6, 6, 6}, carom::testing::chain_edges(3));
  const BlockGraph pair({3, 7}, carom::testing::chain_edges(2));
  FrontForest forest;
  MinimumDegree order;
  std::vector<int> slots(3);
  for (int round = 0; round < 2; ++round) {
    forest.clear();
    REQUIRE(order.compute(chain.view(), 1e300));
    const FrontRange first = forest.append(chain.view(), order, slots.data());
    REQUIRE(order.compute(pair.view(), 1e300));
    const FrontRange second = forest.append(pair.view(), order, slots.data());
    CHECK((first.first_slot == 0 && first.slot_end == 3 && first.begin == 0));
    CHECK(first.end == 1);  // a chain of small blocks is one dense front
    CHECK((second.first_slot == 3 && second.slot_end == 5 && second.begin == first.end));
    CHECK(slots[0] + slots[1] == 7);
    const FrontRange third = forest.append_breadth_first(chain.view(), slots.data());
    CHECK((third.begin == third.end && third.first_slot == 5 && third.slot_end == 8));
    CHECK(slots[1] == 6);  // the chain from end to end
  }
}

}  // namespace front_forest_test
