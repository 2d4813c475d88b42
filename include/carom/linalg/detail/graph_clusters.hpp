// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/counting_sort.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Gathers the nodes of a graph in clusters of neighbours, and colours the clusters so that no edge
/// joins two of one colour. Work on the clusters of a colour can be shared out. All of it depends
/// on the graph alone.
///
/// Nodes get positions: clusters stand colour by colour, nodes cluster by cluster.
/// @note  find() allocates beyond the largest graph so far.
class GraphClusters {
 public:
  /// @param starts      node_count + 1 numbers: where the neighbours of each node begin.
  /// @param neighbours  nodes; an edge is listed by both of its ends.
  /// @param size        most nodes of a cluster, > 0.
  void find(const int* starts, const int* neighbours, Index node_count, Index size);

  [[nodiscard]] Index cluster_count() const noexcept { return firsts_.size() - 1; }
  [[nodiscard]] Index colour_count() const noexcept { return colour_firsts_.size() - 1; }
  /// The first cluster of a colour; of colour_count(), the number of clusters.
  [[nodiscard]] int colour_begin(Index colour) const noexcept { return colour_firsts_[colour]; }
  /// The first position of a cluster; of cluster_count(), the number of nodes.
  [[nodiscard]] int cluster_begin(Index cluster) const noexcept { return firsts_[cluster]; }
  [[nodiscard]] int node_at(Index position) const noexcept { return nodes_[position]; }
  [[nodiscard]] int position_of(Index node) const noexcept { return positions_[node]; }

 private:
  void gather(const int* starts, const int* neighbours, Index node_count, Index size);
  void colour(const int* starts, const int* neighbours);

  Sequence<int> nodes_, positions_, firsts_, colour_firsts_;
  Sequence<int> cluster_of_, gathered_, begins_;  ///< clusters as they are found
  Sequence<int> colours_, order_, seen_, sorted_, scratch_;
};

// --- implementation ---

/// Grows clusters one by one, each from the first free node, by nearness.
inline void GraphClusters::gather(const int* starts, const int* neighbours, Index node_count,
                                  Index size) {
  cluster_of_.assign(node_count, -1);
  gathered_.clear();
  gathered_.reserve(node_count);
  begins_.clear();
  int cluster = 0;
  for (Index first = 0; first < node_count; ++first) {
    if (cluster_of_[first] >= 0) continue;
    const Index begin = gathered_.size();
    begins_.push_back(int(begin));
    cluster_of_[first] = cluster;
    gathered_.push_back(int(first));
    for (Index k = begin; k < gathered_.size(); ++k) {
      const int node = gathered_[k];
      for (int n = starts[node]; n < starts[node + 1]; ++n) {
        if (gathered_.size() - begin >= size) break;
        const int other = neighbours[n];
        if (cluster_of_[other] >= 0) continue;
        cluster_of_[other] = cluster;
        gathered_.push_back(other);
      }
    }
    ++cluster;
  }
  begins_.push_back(int(gathered_.size()));
}

/// Gives every cluster the first colour that no neighbour has.
inline void GraphClusters::colour(const int* starts, const int* neighbours) {
  const Index count = begins_.size() - 1;
  colours_.assign(count, -1);
  seen_.clear();
  Index colours = 0;
  for (Index cluster = 0; cluster < count; ++cluster) {
    for (int k = begins_[cluster]; k < begins_[cluster + 1]; ++k) {
      const int node = gathered_[k];
      for (int n = starts[node]; n < starts[node + 1]; ++n) {
        const int other = colours_[cluster_of_[neighbours[n]]];
        if (other >= 0) seen_[other] = int(cluster);
      }
    }
    Index own = 0;
    while (own < colours && seen_[own] == int(cluster)) ++own;
    if (own == colours) {
      ++colours;
      seen_.push_back(-1);
    }
    colours_[cluster] = int(own);
  }
  order_.resize(count);
  for (int c = 0; c < int(count); ++c) order_[c] = c;
  detail::sort_by_key(
      order_, colours, [&](int c) { return colours_[c]; }, sorted_, scratch_);
  colour_firsts_.assign(colours + 1, 0);
  for (const int own : colours_) ++colour_firsts_[own + 1];
  for (Index c = 0; c < colours; ++c) colour_firsts_[c + 1] += colour_firsts_[c];
}

inline void GraphClusters::find(const int* starts, const int* neighbours, Index node_count,
                                Index size) {
  gather(starts, neighbours, node_count, size);
  colour(starts, neighbours);
  nodes_.clear();
  nodes_.reserve(node_count);
  firsts_.clear();
  positions_.resize(node_count);
  for (const int cluster : order_) {
    firsts_.push_back(int(nodes_.size()));
    for (int k = begins_[cluster]; k < begins_[cluster + 1]; ++k) {
      positions_[gathered_[k]] = int(nodes_.size());
      nodes_.push_back(gathered_[k]);
    }
  }
  firsts_.push_back(int(nodes_.size()));
}

}  // namespace CAROM_ABI
}  // namespace carom
