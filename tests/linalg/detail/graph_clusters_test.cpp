// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/graph_clusters.hpp"

#include <random>
#include <vector>

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/worst_case.hpp"

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
