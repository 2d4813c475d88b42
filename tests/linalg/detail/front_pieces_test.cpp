// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/front_pieces.hpp"

#include <algorithm>
#include <vector>

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/worst_case.hpp"

/// @file
/// The tests of block_cholesky.hpp and block_lu.hpp show that factors and solutions come out right;
/// these show which number goes where, and that no other is touched.
namespace front_pieces_test {

using carom::Front, carom::FrontForest, carom::FrontRange, carom::Index, carom::MinimumDegree;
using carom::testing::BlockGraph, carom::testing::WorstCase;

namespace {

/// A forest of a graph, and which unknown of all every unknown of a front is.
struct Forest {
  MinimumDegree order;
  FrontForest forest;
  FrontRange range{};
  std::vector<int> slot_of, starts;  ///< per slot, slots one after the other with gaps

  explicit Forest(const BlockGraph& graph) : slot_of(graph.sizes.size()) {
    REQUIRE(order.compute(graph.view(), 1e300));
    range = forest.append(graph.view(), order, slot_of.data());
    int next = 5;
    for (Index slot = range.first_slot; slot < range.slot_end; ++slot) {
      starts.push_back(next);
      next += forest.size(slot) + int(slot % 3);
    }
  }
  /// By offsets alone.
  [[nodiscard]] std::vector<int> unknowns(const Front& front) const {
    std::vector<int> result;
    const auto take = [&](int slot) {
      for (int k = 0; k < forest.size(slot); ++k) {
        result.push_back(starts[std::size_t(slot)] + k);
      }
    };
    for (int s = 0; s < front.slot_count; ++s) take(front.first_slot + s);
    for (int r = 0; r < front.row_count; ++r) take(forest.row_slots(front)[r]);
    return result;
  }
};

/// A number of its own for every pair of unknowns, exact in floating point.
[[nodiscard]] double number_of(int row, int column) {
  return double(row) * 4096 + double(column) + 0.5;
}

}  // namespace

TEST_CASE("front_pieces: pieces are the front's unknowns, in order", "[linalg][oracle]") {
  WorstCase same("unknowns");
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    const Forest given(graph);
    for (const Front& front : given.forest.fronts()) {
      std::vector<int> seen;
      bool in_order = true;
      carom::detail::for_each_piece(given.forest, front, given.starts,
                                    [&](Index here, Index there, Index count) {
                                      in_order = in_order && here == Index(seen.size());
                                      for (Index k = 0; k < count; ++k) {
                                        seen.push_back(int(there + k));
                                      }
                                    });
      same.see_holds(in_order && seen == given.unknowns(front));
      same.see_holds(Index(seen.size()) == Index(front.own_size) + front.row_size);
    }
  });
  same.check(200);
}

TEST_CASE("front_pieces: a parent takes every number of its child's lower triangle once",
          "[linalg][oracle]") {
  WorstCase right("number"), untouched("others");
  carom::testing::for_each_block_graph([&](const BlockGraph& graph) {
    const Forest given(graph);
    const FrontForest& forest = given.forest;
    for (const Front& child : forest.fronts()) {
      if (child.parent < 0) continue;
      const Front& parent = forest.fronts()[child.parent];
      const std::vector<int> below = given.unknowns(child), all = given.unknowns(parent);
      std::vector<double> values(std::size_t(forest.value_count()), 0);
      std::vector<double> updates(std::size_t(forest.update_count()), 0);
      const auto at = [&](int row, int column) -> double& {  // in the child's rest
        return updates[std::size_t(child.update + column * child.update_stride + row)];
      };
      double given_sum = 0;
      for (int c = 0; c < child.row_size; ++c) {
        for (int r = c; r < child.row_size; ++r) {
          at(r, c) = number_of(below[std::size_t(child.own_size + r)],
                               below[std::size_t(child.own_size + c)]);
          given_sum += at(r, c);
        }
      }
      const std::vector<double> before = updates;
      carom::detail::add_to_parent(forest, child, values.data(), updates.data());
      double taken_sum = 0;
      const int size = parent.own_size + parent.row_size;
      const auto in_child = [&](int unknown) {
        return std::count(below.begin() + child.own_size, below.end(), unknown) == 1;
      };
      for (int c = 0; c < size; ++c) {
        const int column = all[std::size_t(c)];
        for (int r = c; r < size; ++r) {
          const int row = all[std::size_t(r)];
          const bool own = c < parent.own_size;
          const Index place = own ? parent.columns + c * parent.stride + r
                                  : parent.update + (c - parent.own_size) * parent.update_stride +
                                        r - parent.own_size;
          const double found = own ? values[std::size_t(place)] : updates[std::size_t(place)];
          const bool wanted = in_child(row) && in_child(column);
          right.see_holds(found == (wanted ? number_of(row, column) : 0.0), row, column);
          taken_sum += found;
        }
      }
      // Nothing went anywhere else, so sums before and after agree.
      untouched.see_holds(taken_sum == given_sum);
      double total = 0;
      for (const double value : values) total += value;
      for (const double value : updates) total += value;
      for (const double value : before) total -= value;
      untouched.see_holds(total == given_sum);
    }
  });
  right.check(2000);
  untouched.check(200);
}

}  // namespace front_pieces_test
