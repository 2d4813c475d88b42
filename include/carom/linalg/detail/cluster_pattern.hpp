// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/counting_sort.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Groups the nodes of a graph into clusters of neighbours, and colours the clusters such that no
/// edge joins two clusters of one colour. Threads can therefore work on the clusters of one colour
/// at the same time. The result depends on the graph only.
///
/// Each node gets a position. The positions are ordered by colour, then by cluster, then by node.
/// @note  find() allocates only for a graph larger than every graph before.
class GraphClusters {
 public:
  /// @param starts      node_count + 1 numbers: where the neighbours of each node begin.
  /// @param neighbours  nodes; each edge is listed by both of its ends.
  /// @param size        largest number of nodes in a cluster, > 0.
  void find(const int* starts, const int* neighbours, Index node_count, Index size);

  [[nodiscard]] Index cluster_count() const noexcept { return firsts_.size() - 1; }
  [[nodiscard]] Index colour_count() const noexcept { return colour_firsts_.size() - 1; }
  /// The first cluster of a colour. For colour_count() it is the number of clusters.
  [[nodiscard]] int colour_begin(Index colour) const noexcept { return colour_firsts_[colour]; }
  /// The first position of a cluster. For cluster_count() it is the number of nodes.
  [[nodiscard]] int cluster_begin(Index cluster) const noexcept { return firsts_[cluster]; }
  [[nodiscard]] int node_at(Index position) const noexcept { return nodes_[position]; }
  [[nodiscard]] int position_of(Index node) const noexcept { return positions_[node]; }

 private:
  void gather(const int* starts, const int* neighbours, Index node_count, Index size);
  void colour(const int* starts, const int* neighbours);

  Sequence<int> nodes_, positions_, firsts_, colour_firsts_;
  /// clusters in the order in which they were found
  Sequence<int> cluster_of_, gathered_, begins_;
  Sequence<int> colours_, order_, seen_, sorted_, scratch_;
};

// --- implementation ---

/// Builds the clusters one by one. Each cluster starts at the first free node and adds the nearest
/// free nodes by breadth-first search.
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

/// Assigns to each cluster the first colour that none of its neighbours has.
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

/// Two neighbours in a graph, and the number of this pair.
struct ClusterEdge {
  int low, high;  ///< nodes
  int number;
};

/// The pattern of a symmetric block matrix whose rows are in the order of GraphClusters. For each
/// row it stores the blocks before and behind the diagonal, and the places of their numbers. Block
/// rows are padded to whole registers.
/// @note  lay_out() allocates only for a pattern larger than every pattern before.
class ClusterPattern {
 public:
  /// A block row.
  struct Row {
    int size;                      ///< unknowns
    Index start;                   ///< the first of its unknowns in a vector
    int before_begin, before_end;  ///< its blocks before and behind the diagonal, by column
    int behind_begin, behind_end;
    Index before_values, behind_values, own_values;  ///< where the numbers of its blocks begin
  };
  /// An off-diagonal block.
  struct Entry {
    int column;   ///< position
    int number;   ///< number of its edge
    Index other;  ///< where the numbers of its transposed block begin
  };

  /// @param sizes   number of unknowns of each node.
  /// @param edges   each pair of neighbours once.
  /// @param nearby  largest number of nodes in a cluster.
  template <typename Sizes>
  void lay_out(Index node_count, const Sizes& sizes, const Sequence<ClusterEdge>& edges,
               Index nearby);

  [[nodiscard]] const GraphClusters& clusters() const noexcept { return clusters_; }
  [[nodiscard]] Index row_count() const noexcept { return rows_.size(); }
  [[nodiscard]] const Row& row(Index position) const noexcept { return rows_[position]; }
  [[nodiscard]] const Entry& before(Index k) const noexcept { return before_[k]; }
  [[nodiscard]] const Entry& behind(Index k) const noexcept { return behind_[k]; }
  /// The count of numbers in a vector. The next functions: in all blocks on one side of the
  /// diagonal, and in all diagonal blocks.
  [[nodiscard]] Index vector_size() const noexcept { return vector_size_; }
  [[nodiscard]] Index side_size() const noexcept { return side_size_; }
  [[nodiscard]] Index behind_size() const noexcept { return behind_size_; }
  [[nodiscard]] Index own_size() const noexcept { return own_size_; }
  /// The count of numbers in the largest diagonal block.
  [[nodiscard]] Index largest_block() const noexcept { return largest_block_; }
  /// The numbers of a vector that belong to a cluster.
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
  Sequence<Index> mirrors_;  ///< per edge: place of its block behind the diagonal
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

/// Writes the rows, their unknowns, and the count of blocks before and behind the diagonal of each
/// row.
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
  // The backward sweep, from the last row to the first, reads the blocks behind the diagonal. They
  // are stored in the order of this sweep, because memory is read fastest forwards.
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

/// A symmetric block matrix H = L + K + Lᵀ for conjugate gradients with the preconditioner
/// M = (I + L)(I + Lᵀ). The method is that of Eisenstat.
///
/// Notation: L is strictly lower triangular (in blocks), K is block diagonal, x is the unknown and
/// b the right-hand side. The caller scales H such that M is near H.
///
/// The preconditioned matrix needs no product with L, because
///   H = (I + L) + (K − 2I) + (I + Lᵀ).
/// With x̂ = (I + Lᵀ) x,
///   Ĥ x̂ = (I + L)⁻¹ H (I + Lᵀ)⁻¹ x̂ = t + (I + L)⁻¹ (x̂ + (K − 2I) t),   t = (I + Lᵀ)⁻¹ x̂.
/// One backward sweep (for t) and one forward sweep therefore do the work of the product and of the
/// preconditioner together.
///
/// The rows of a cluster are swept in their order. The clusters of one colour are independent, and
/// any order of them is correct.
/// @tparam Real  the type of the stored numbers. It may be shorter than the solver's type.
/// @note  reset() allocates only for a pattern larger than every pattern before.
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

  /// The blocks of L, of Lᵀ, and of K − 2I on the diagonal, each in columns of whole registers.
  [[nodiscard]] Real* before(Index values) noexcept { return before_.data() + values; }
  [[nodiscard]] Real* behind(Index values) noexcept { return behind_.data() + values; }
  [[nodiscard]] Real* own(Index values) noexcept { return own_.data() + values; }

  /// x_p ← x_p − (L x)_p for a row p. This is one step of the forward sweep x ← (I + L)⁻¹ x.
  void reduce_before(const ClusterPattern& pattern, Index p, Real* x) const noexcept {
    const auto& row = pattern.row(p);
    subtract(
        pattern, row, before_.data() + row.before_values, row.before_begin,
        row.before_end, [&](Index k) -> const auto& { return pattern.before(k); }, x);
  }
  /// x_p ← x_p − (Lᵀ x)_p for a row p. This is one step of the backward sweep x ← (I + Lᵀ)⁻¹ x.
  void reduce_behind(const ClusterPattern& pattern, Index p, Real* x) const noexcept {
    const auto& row = pattern.row(p);
    subtract(
        pattern, row, behind_.data() + row.behind_values, row.behind_begin,
        row.behind_end, [&](Index k) -> const auto& { return pattern.behind(k); }, x);
  }
  /// y_p ← y_p + ((K − 2I) x)_p for a row p.
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
        // two independent sums hide the latency of an addition
        for (; c + 2 <= column.size; c += 2, block += 2 * lanes) {
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
