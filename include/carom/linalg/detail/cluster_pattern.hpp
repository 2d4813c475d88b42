// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/counting_sort.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"

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

/// A symmetric matrix of blocks L + K + Lᵀ, L strictly below the diagonal, that is scaled so that
/// (I + L)(I + Lᵀ) is near it: the system of conjugate gradients with that preconditioner. One pass
/// with I + Lᵀ and one with I + L serve the product and the preconditioner together.
///
/// Rows of a cluster are worked on one after the other, clusters of one colour in any order.
/// @tparam Real  the type of the numbers, which may be shorter than the solver's.
/// @note  reset() allocates beyond the largest pattern so far.
/// @cite  eisenstat1981efficient
template <RealScalar Real>
class ScaledBlocks {
 public:
  void reset(const ClusterPattern& pattern) {
    before_.assign(pattern.side_size(), Real(0));
    behind_.assign(pattern.behind_size(), Real(0));
    own_.assign(pattern.own_size(), Real(0));
  }
  [[nodiscard]] bool fits(const ClusterPattern& pattern) const noexcept {
    return before_.size() == pattern.side_size() && own_.size() == pattern.own_size();
  }

  /// Blocks of L, of Lᵀ, and of K − 2I on the diagonal: columns of whole registers.
  [[nodiscard]] Real* before(Index values) noexcept { return before_.data() + values; }
  [[nodiscard]] Real* behind(Index values) noexcept { return behind_.data() + values; }
  [[nodiscard]] Real* own(Index values) noexcept { return own_.data() + values; }

  /// x_p ← x_p − (L x)_p for a row p: a step of x ← (I + L)⁻¹ x.
  void reduce_before(const ClusterPattern& pattern, Index p, Real* x) const noexcept {
    const auto& row = pattern.row(p);
    subtract(
        pattern, row, before_.data() + row.before_values, row.before_begin,
        row.before_end, [&](Index k) -> const auto& { return pattern.before(k); }, x);
  }
  /// x_p ← x_p − (Lᵀ x)_p for a row p: a step of x ← (I + Lᵀ)⁻¹ x.
  void reduce_behind(const ClusterPattern& pattern, Index p, Real* x) const noexcept {
    const auto& row = pattern.row(p);
    subtract(
        pattern, row, behind_.data() + row.behind_values, row.behind_begin,
        row.behind_end, [&](Index k) -> const auto& { return pattern.behind(k); }, x);
  }
  /// y_p ← y_p + ((K − 2I) x)_p.
  void add_own(const ClusterPattern& pattern, Index p, const Real* x, Real* y) const noexcept {
    const auto& row = pattern.row(p);
    const Index lanes = detail::lanes_above(row.size);
    const Real* const block = own_.data() + row.own_values;
    for (Index i = 0; i < lanes; i += detail::row_lanes) {
      Numbers sum = detail::packet_at(y + row.start + i);
      for (Index c = 0; c < row.size; ++c) {
        sum += detail::packet_at(block + c * lanes + i) * x[row.start + c];
      }
      detail::packet_at(y + row.start + i) = sum;
    }
  }

 private:
  using Numbers = detail::RowPacket<Real>;

  template <typename At>
  static void subtract(const ClusterPattern& pattern, const ClusterPattern::Row& row,
                       const Real* values, int begin, int end, const At& at, Real* x) noexcept {
    const Index lanes = detail::lanes_above(row.size);
    for (Index i = 0; i < lanes; i += detail::row_lanes) {
      const Real* block = values + i;
      Numbers even = detail::packet_at(x + row.start + i), odd = Numbers::Zero();
      for (int k = begin; k < end; ++k) {
        const auto& column = pattern.row(at(k).column);
        const Real* const given = x + column.start;
        int c = 0;
        for (; c + 2 <= column.size; c += 2, block += 2 * lanes) {  // two chains of sums
          even -= detail::packet_at(block) * given[c];
          odd -= detail::packet_at(block + lanes) * given[c + 1];
        }
        if (c < column.size) {
          even -= detail::packet_at(block) * given[c];
          block += lanes;
        }
      }
      detail::packet_at(x + row.start + i) = even + odd;
    }
  }

  Sequence<Real> before_, behind_, own_;
};

}  // namespace CAROM_ABI
}  // namespace carom
