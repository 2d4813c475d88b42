// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/cluster_pattern.hpp"

#include <random>
#include <set>
#include <vector>

#include <Eigen/Dense>

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
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

namespace graph_clusters_test {

using carom::GraphClusters, carom::Index;
using carom::testing::Edges, carom::testing::WorstCase;

namespace {

struct Lists {
  std::vector<int> starts, neighbours;
};

Lists lists_of(int count, const Edges& edges) {
  Lists lists;
  for (int node = 0; node < count; ++node) {
    lists.starts.push_back(int(lists.neighbours.size()));
    for (const auto& [low, high] : edges) {
      if (low == node) lists.neighbours.push_back(high);
      if (high == node) lists.neighbours.push_back(low);
    }
  }
  lists.starts.push_back(int(lists.neighbours.size()));
  return lists;
}

template <typename Visit>
void for_each_graph(const Visit& visit) {
  std::mt19937 engine(9100u);
  visit(1, Edges{});
  visit(5, Edges{});  // nothing touches
  visit(40, carom::testing::chain_edges(40));
  visit(12, carom::testing::full_edges(12));
  visit(30, carom::testing::star_edges(30));
  visit(64, carom::testing::grid_edges(8, 8));
  visit(60, carom::testing::scattered_edges(60, 11, 2));
  visit(50, carom::testing::random_edges(50, 40, engine));
}

/// Per node its cluster.
std::vector<Index> clusters_of(const GraphClusters& clusters, int count) {
  std::vector<Index> found(std::size_t(count), -1);
  for (Index c = 0; c < clusters.cluster_count(); ++c) {
    for (int p = clusters.cluster_begin(c); p < clusters.cluster_begin(c + 1); ++p) {
      found[std::size_t(clusters.node_at(p))] = c;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("graph_clusters: every node has one place, and no cluster is too large",
          "[linalg][law]") {
  WorstCase placed("position and node invert each other"), sized("size of a cluster");
  GraphClusters clusters;
  for_each_graph([&](int count, const Edges& edges) {
    const Lists lists = lists_of(count, edges);
    for (const int size : {1, 2, 7, 100}) {
      clusters.find(lists.starts.data(), lists.neighbours.data(), count, size);
      REQUIRE(clusters.cluster_begin(clusters.cluster_count()) == count);
      REQUIRE(clusters.colour_begin(clusters.colour_count()) == clusters.cluster_count());
      for (int node = 0; node < count; ++node) {
        placed.see_holds(clusters.node_at(clusters.position_of(node)) == node, count, size);
      }
      for (Index c = 0; c < clusters.cluster_count(); ++c) {
        const int own = clusters.cluster_begin(c + 1) - clusters.cluster_begin(c);
        sized.see_holds(own >= 1 && own <= size, count, size);
      }
    }
  });
  placed.check(200);
  sized.check(200);
}

TEST_CASE("graph_clusters: no edge joins two clusters of one colour", "[linalg][law]") {
  WorstCase apart("clusters of one colour");
  GraphClusters clusters;
  for_each_graph([&](int count, const Edges& edges) {
    const Lists lists = lists_of(count, edges);
    for (const int size : {1, 2, 7, 100}) {
      clusters.find(lists.starts.data(), lists.neighbours.data(), count, size);
      const std::vector<Index> found = clusters_of(clusters, count);
      std::vector<Index> colours(std::size_t(clusters.cluster_count()), -1);
      for (Index k = 0; k < clusters.colour_count(); ++k) {
        for (int c = clusters.colour_begin(k); c < clusters.colour_begin(k + 1); ++c) {
          colours[std::size_t(c)] = k;
        }
      }
      for (const auto& [low, high] : edges) {
        const Index a = found[std::size_t(low)], b = found[std::size_t(high)];
        apart.see_holds(a == b || colours[std::size_t(a)] != colours[std::size_t(b)], count, size);
      }
    }
  });
  apart.check(500);
}

TEST_CASE("graph_clusters: neighbours are gathered", "[linalg][example]") {
  const Lists lists = lists_of(12, carom::testing::chain_edges(12));
  GraphClusters clusters;
  clusters.find(lists.starts.data(), lists.neighbours.data(), 12, 4);
  CHECK(clusters.cluster_count() == 3);
  CHECK(clusters.colour_count() == 2);
  for (int node = 1; node < 12; ++node) {  // neighbours stand together unless a cluster ends there
    const int apart = clusters.position_of(node) - clusters.position_of(node - 1);
    CHECK((apart == 1 || node % 4 == 0));
  }
}

}  // namespace graph_clusters_test

namespace scaled_blocks_test {

using carom::ClusterEdge, carom::ClusterPattern, carom::Index, carom::ScaledBlocks;
using carom::Sequence, carom::VectorX;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr int node_count = 30;

int size_of(int node) {
  constexpr int sizes[] = {6, 3, 1, 9, 6, 7};
  return sizes[node % 6];
}

ClusterPattern make_pattern() {
  Sequence<ClusterEdge> edges;
  for (const auto& [low, high] : carom::testing::scattered_edges(node_count, 11, 2)) {
    edges.push_back({low, high, int(edges.size())});
  }
  ClusterPattern pattern;
  pattern.lay_out(node_count, size_of, edges, 4);
  return pattern;
}

/// Draws the blocks; the dense L and K − 2I over vectors with their padding.
template <typename Real>
void draw(VectorSource<double>& source, const ClusterPattern& pattern, ScaledBlocks<Real>& blocks,
          Eigen::MatrixXd& below, Eigen::MatrixXd& own) {
  blocks.reset(pattern);
  below.setZero(pattern.vector_size(), pattern.vector_size());
  own = below;
  for (Index p = 0; p < pattern.row_count(); ++p) {
    const auto& row = pattern.row(p);
    const Index lanes = carom::detail::lanes_above(row.size);
    Real* values = blocks.before(row.before_values);
    for (int k = row.before_begin; k < row.before_end; ++k) {
      const auto& column = pattern.row(pattern.before(k).column);
      const Index other = carom::detail::lanes_above(column.size);
      for (Index c = 0; c < column.size; ++c, values += lanes) {
        for (Index r = 0; r < row.size; ++r) {
          values[r] = Real(0.2 * (2 * source.unit() - 1));
          blocks.behind(pattern.before(k).other)[r * other + c] = values[r];
          below(row.start + r, column.start + c) = double(values[r]);
        }
      }
    }
    for (Index c = 0; c < row.size; ++c) {
      for (Index r = 0; r < row.size; ++r) {
        Real& entry = blocks.own(row.own_values)[c * lanes + r];
        entry = Real(2 * source.unit() - 1);
        own(row.start + r, row.start + c) = double(entry);
      }
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("scaled_blocks: its passes solve with the triangles of the dense matrix",
                   "[linalg][law]", float, double) {
  using Real = TestType;
  VectorSource<double> source(9200u);
  WorstCase before("(I + L) x = b"), behind("(I + Lᵀ) x = b"), product("y + (K − 2I) x");
  const ClusterPattern pattern = make_pattern();
  REQUIRE(pattern.row_count() == node_count);
  for (int sample = 0; sample < 20; ++sample) {
    ScaledBlocks<Real> blocks;
    Eigen::MatrixXd below, own;
    draw(source, pattern, blocks, below, own);
    VectorX<Real> b = VectorX<Real>::Zero(pattern.vector_size());
    for (Index p = 0; p < pattern.row_count(); ++p) {
      for (Index k = 0; k < pattern.row(p).size; ++k) {
        b(pattern.row(p).start + k) = Real(2 * source.unit() - 1);
      }
    }
    const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(below.rows(), below.cols());
    VectorX<Real> x = b, y = b, z = b;
    for (Index p = 0; p < pattern.row_count(); ++p) blocks.reduce_before(pattern, p, x.data());
    for (Index p = pattern.row_count(); p-- > 0;) blocks.reduce_behind(pattern, p, y.data());
    for (Index p = 0; p < pattern.row_count(); ++p) {
      blocks.add_own(pattern, p, b.data(), z.data());
    }
    const Eigen::VectorXd given = b.template cast<double>();
    const auto residual = [&](const Eigen::MatrixXd& matrix, const VectorX<Real>& found) {
      return (matrix.lazyProduct(found.template cast<double>()) - given).norm() /
             (1 + found.template cast<double>().norm());
    };
    before.see(residual(unit + below, x), rounding(300, Real(1)));
    behind.see(residual(unit + below.transpose(), y), rounding(300, Real(1)));
    const Eigen::VectorXd expected = given + own.lazyProduct(given);
    product.see((z.template cast<double>() - expected).norm(),
                rounding(300, Real(1)) * expected.norm());
  }
  before.check(20);
  behind.check(20);
  product.check(20);
}

}  // namespace scaled_blocks_test
