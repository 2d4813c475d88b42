// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/graph_clusters.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Two neighbours in a graph, and a number for the pair.
struct ClusterEdge {
  int low, high;  ///< nodes
  int number;
};

/// The pattern of a symmetric matrix of blocks whose rows stand in the order of GraphClusters: per
/// row its blocks before and behind the diagonal, and where their numbers lie. Rows of blocks are
/// padded to whole registers.
/// @note  lay_out() allocates beyond the largest pattern so far.
class ClusterPattern {
 public:
  /// A row of blocks.
  struct Row {
    int size;                      ///< unknowns
    Index start;                   ///< of its unknowns in a vector
    int before_begin, before_end;  ///< its blocks before the diagonal, by column
    int behind_begin, behind_end;
    Index before_values, behind_values, own_values;  ///< where the numbers of its blocks begin
  };
  /// A block beside the diagonal.
  struct Entry {
    int column;   ///< position
    int number;   ///< of its edge
    Index other;  ///< where the numbers of its transpose, on the other side, begin
  };

  /// @param sizes   unknowns of every node.
  /// @param edges   each pair of neighbours once.
  /// @param nearby  most nodes of a cluster.
  template <typename Sizes>
  void lay_out(Index node_count, const Sizes& sizes, const Sequence<ClusterEdge>& edges,
               Index nearby);

  [[nodiscard]] const GraphClusters& clusters() const noexcept { return clusters_; }
  [[nodiscard]] Index row_count() const noexcept { return rows_.size(); }
  [[nodiscard]] const Row& row(Index position) const noexcept { return rows_[position]; }
  [[nodiscard]] const Entry& before(Index k) const noexcept { return before_[k]; }
  [[nodiscard]] const Entry& behind(Index k) const noexcept { return behind_[k]; }
  /// Numbers of a vector, of all blocks on one side of the diagonal, and of those on it.
  [[nodiscard]] Index vector_size() const noexcept { return vector_size_; }
  [[nodiscard]] Index side_size() const noexcept { return side_size_; }
  [[nodiscard]] Index behind_size() const noexcept { return behind_size_; }
  [[nodiscard]] Index own_size() const noexcept { return own_size_; }
  /// Numbers of the largest block on the diagonal.
  [[nodiscard]] Index largest_block() const noexcept { return largest_block_; }
  /// What a vector holds of a cluster.
  [[nodiscard]] Index vector_begin(Index cluster) const noexcept {
    const Index position = clusters_.cluster_begin(cluster);
    return position < rows_.size() ? rows_[position].start : vector_size_;
  }

 private:
  void find_neighbours(Index node_count, const Sequence<ClusterEdge>& edges);
  template <typename Sizes>
  void place(const Sizes& sizes);
  void fill(const Sequence<ClusterEdge>& edges);
  void place_blocks();

  GraphClusters clusters_;
  Sequence<Row> rows_;
  Sequence<Entry> before_, behind_;
  Sequence<int> starts_, neighbours_, ends_;
  Sequence<Index> mirrors_;  ///< per edge: where its block behind the diagonal stands
  Index vector_size_ = 0, side_size_ = 0, behind_size_ = 0, own_size_ = 0, largest_block_ = 0;
};

// --- implementation ---

inline void ClusterPattern::find_neighbours(Index node_count, const Sequence<ClusterEdge>& edges) {
  starts_.assign(node_count + 1, 0);
  for (const ClusterEdge& edge : edges) {
    ++starts_[edge.low + 1];
    ++starts_[edge.high + 1];
  }
  for (Index k = 0; k < node_count; ++k) starts_[k + 1] += starts_[k];
  ends_ = starts_;
  neighbours_.resize(2 * edges.size());
  for (const ClusterEdge& edge : edges) {
    neighbours_[ends_[edge.low]++] = edge.high;
    neighbours_[ends_[edge.high]++] = edge.low;
  }
}

/// Rows and their unknowns; how many blocks each has before and behind the diagonal.
template <typename Sizes>
void ClusterPattern::place(const Sizes& sizes) {
  rows_.resize(starts_.size() - 1);
  vector_size_ = own_size_ = largest_block_ = 0;
  int before = 0, behind = 0;
  for (Index p = 0; p < rows_.size(); ++p) {
    const int node = clusters_.node_at(p);
    Row& row = rows_[p];
    row.size = sizes(node);
    row.start = vector_size_;
    row.own_values = own_size_;
    const Index lanes = detail::lanes_above(row.size);
    vector_size_ += lanes;
    own_size_ += lanes * row.size;
    largest_block_ = (std::max)(largest_block_, lanes * row.size);
    row.before_begin = row.before_end = before;
    row.behind_begin = row.behind_end = behind;
    for (int n = starts_[node]; n < starts_[node + 1]; ++n) {
      ++(clusters_.position_of(neighbours_[n]) < int(p) ? before : behind);
    }
  }
  before_.resize(before);
  behind_.resize(behind);
}

inline void ClusterPattern::fill(const Sequence<ClusterEdge>& edges) {
  for (Index e = 0; e < edges.size(); ++e) {
    const int a = clusters_.position_of(edges[e].low), b = clusters_.position_of(edges[e].high);
    const int first = (std::min)(a, b), second = (std::max)(a, b);
    before_[rows_[second].before_end++] = {first, int(e), 0};
    behind_[rows_[first].behind_end++] = {second, int(e), 0};
  }
  const auto by_column = [](const Entry& a, const Entry& b) { return a.column < b.column; };
  for (const Row& row : rows_) {
    std::sort(before_.begin() + row.before_begin, before_.begin() + row.before_end, by_column);
    std::sort(behind_.begin() + row.behind_begin, behind_.begin() + row.behind_end, by_column);
  }
}

inline void ClusterPattern::place_blocks() {
  side_size_ = behind_size_ = 0;
  mirrors_.resize(behind_.size());
  // A pass from the last row to the first reads what lies behind the diagonal, and memory is read
  // fastest forwards.
  for (Index p = rows_.size(); p-- > 0;) {
    Row& row = rows_[p];
    const Index lanes = detail::lanes_above(row.size);
    row.behind_values = behind_size_;
    for (int k = row.behind_begin; k < row.behind_end; ++k) {
      mirrors_[behind_[k].number] = behind_size_;
      behind_size_ += lanes * rows_[behind_[k].column].size;
    }
  }
  for (Row& row : rows_) {
    const Index lanes = detail::lanes_above(row.size);
    row.before_values = side_size_;
    for (int k = row.before_begin; k < row.before_end; ++k) {
      before_[k].other = mirrors_[before_[k].number];
      mirrors_[before_[k].number] = side_size_;
      side_size_ += lanes * rows_[before_[k].column].size;
    }
  }
  for (Entry& entry : behind_) entry.other = mirrors_[entry.number];
}

template <typename Sizes>
void ClusterPattern::lay_out(Index node_count, const Sizes& sizes,
                             const Sequence<ClusterEdge>& edges, Index nearby) {
  find_neighbours(node_count, edges);
  clusters_.find(starts_.data(), neighbours_.data(), node_count, nearby);
  place(sizes);
  fill(edges);
  place_blocks();
  for (Entry& entry : before_) entry.number = edges[entry.number].number;
  for (Entry& entry : behind_) entry.number = edges[entry.number].number;
}

}  // namespace CAROM_ABI
}  // namespace carom
