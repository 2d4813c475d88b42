// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/front_factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/linalg/detail/block_lu.hpp"

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/executors.hpp"
#include "support/worst_case.hpp"

/// @file
/// Factors of large components, shared, beside those of one thread.

/// @file
/// The tests of block_cholesky.hpp and block_lu.hpp show that factors and solutions come out right;
/// these show which number goes where, and that no other is touched.

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
    fill(cholesky.block(cholesky.place(low, high), low), ++number, 0);
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

TEMPLATE_TEST_CASE("front_factor: limits that are over end a factorisation, wherever it is",
                   "[linalg][law]", BlockCholesky<double>, BlockLu<double>) {
  const BlockGraph graph = make_lattice(7, 7, 6);
  const Pattern pattern(graph);
  // A clock that counts how often it is read; time is over at the reading `last`.
  struct Clock {
    long readings = 0, last = std::numeric_limits<long>::max();
    static double now(void* context) noexcept {
      Clock& clock = *static_cast<Clock*>(context);
      return ++clock.readings < clock.last ? 0 : 2;
    }
  };
  Clock clock;
  const carom::SolveLimits limits{.now = &Clock::now, .context = &clock, .deadline = 1};
  const auto solve = [&](const carom::SolveLimits* watched) {
    TestType factor;
    factor.reset(pattern.forest);
    fill(pattern, graph, factor, 30);
    factor.watch(watched);
    VectorX<double> x = VectorX<double>::LinSpaced(6 * graph.count(), -1, 2);
    std::vector<double> scratch(std::size_t(pattern.forest.largest_front()));
    if (!factor.factor(pattern.range)) return VectorX<double>();
    factor.solve(pattern.range, x.data(), pattern.starts.data(), scratch.data());
    return x;
  };
  const VectorX<double> expected = solve(nullptr);
  REQUIRE(expected.size() == 6 * graph.count());
  CHECK(solve(&limits) == expected);
  const long total = clock.readings;
  CHECK(total > 5);  // inside of the wide fronts as well as between fronts
  for (long last = 1; last <= total; ++last) {
    clock = {0, last};
    CAPTURE(last, total);
    CHECK(solve(&limits).size() == 0);
    CHECK(clock.readings <= last + 3);  // little is done after it
  }
}

TEST_CASE("front_branches: a small component is left to one thread", "[linalg][example]") {
  const Pattern pattern(make_lattice(5, 4, 1));
  CHECK_FALSE(pattern.branches.suit(pattern.range));
}

}  // namespace front_branches_test

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
