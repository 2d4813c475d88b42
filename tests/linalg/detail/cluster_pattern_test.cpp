// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/cluster_pattern.hpp"

#include <set>
#include <vector>

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/worst_case.hpp"

namespace cluster_pattern_test {

using carom::ClusterEdge, carom::ClusterPattern, carom::Index, carom::Sequence;
using carom::detail::lanes_above, carom::testing::WorstCase;

namespace {

int size_of(int node) {
  return 1 + node % 9;
}

}  // namespace

TEST_CASE("cluster_pattern: every edge is once before and once behind the diagonal",
          "[linalg][law]") {
  constexpr int count = 40;
  Sequence<ClusterEdge> edges;
  for (const auto& [low, high] : carom::testing::scattered_edges(count, 11, 2)) {
    edges.push_back({low, high, 1000 + int(edges.size())});
  }
  REQUIRE(edges.size() > 40);
  ClusterPattern pattern;
  WorstCase mirrored("the two blocks of an edge name each other"), sorted("columns ascend"),
      apart("no number belongs to two blocks"), counted("sizes");
  for (const Index nearby : {1, 5, 100}) {
    pattern.lay_out(count, size_of, edges, nearby);
    std::vector<int> before(std::size_t(edges.size()), 0), behind = before;
    std::set<Index> taken_before, taken_behind;
    const auto take = [&](std::set<Index>& taken, Index begin, Index size) {
      for (Index k = begin; k < begin + size; ++k) apart.see_holds(taken.insert(k).second);
    };
    for (Index p = 0; p < pattern.row_count(); ++p) {
      const auto& row = pattern.row(p);
      counted.see_holds(row.size == size_of(pattern.clusters().node_at(p)));
      Index values = row.before_values;
      for (int k = row.before_begin; k < row.before_end; ++k) {
        const auto& entry = pattern.before(k);
        const auto& column = pattern.row(entry.column);
        ++before[std::size_t(entry.number - 1000)];
        sorted.see_holds(entry.column < int(p) &&
                         (k == row.before_begin || pattern.before(k - 1).column < entry.column));
        take(taken_before, values, lanes_above(row.size) * column.size);
        bool found = false;  // the mirror stands in the column's row, and points back
        Index place = column.behind_values;
        for (int m = column.behind_begin; m < column.behind_end; ++m) {
          const auto& other = pattern.behind(m);
          found = found || (place == entry.other && other.column == int(p) &&
                            other.number == entry.number && other.other == values);
          place += lanes_above(column.size) * pattern.row(other.column).size;
        }
        mirrored.see_holds(found, p, nearby);
        values += lanes_above(row.size) * column.size;
      }
      values = row.behind_values;
      for (int k = row.behind_begin; k < row.behind_end; ++k) {
        ++behind[std::size_t(pattern.behind(k).number - 1000)];
        const Index size = lanes_above(row.size) * pattern.row(pattern.behind(k).column).size;
        take(taken_behind, values, size);
        values += size;
      }
    }
    CHECK(before == std::vector<int>(before.size(), 1));
    CHECK(behind == before);
    CHECK(Index(taken_before.size()) == pattern.side_size());
    CHECK(Index(taken_behind.size()) == pattern.behind_size());
    CHECK(pattern.vector_begin(pattern.clusters().cluster_count()) == pattern.vector_size());
  }
  mirrored.check(100);
  sorted.check(100);
  apart.check(100);
  counted.check(100);
}

}  // namespace cluster_pattern_test
