// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/detail/minimum_degree.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The order in which a component's nodes get their slots: either that of the elimination, arranged
/// so that a node follows all nodes that lead to it, or by distance where nothing is eliminated.
///
/// Positions count from 0 in each component.
/// @note  Allocates only beyond the largest component so far.
class SlotOrder {
 public:
  /// Makes room for components of that many nodes.
  void reserve(Index node_count) {
    for (Sequence<int>* numbers : {&nodes_, &positions_, &parents_, &below_, &step_, &heavy_child_,
                                   &first_child_, &next_child_, &pending_}) {
      numbers->reserve(node_count);
    }
  }

  /// Puts every node after all nodes that lead to it in the elimination tree, and the child with
  /// most rows just before its parent, where the two may share a front.
  void compute_postorder(const WeightedGraph& graph, const MinimumDegree& order);

  /// By distance from an end of the graph, which keeps neighbours near each other in memory.
  void compute_breadth_first(const WeightedGraph& graph) {
    visit_breadth_first(graph, 0);
    visit_breadth_first(graph, nodes_.back());
  }

  [[nodiscard]] int node(Index position) const noexcept { return nodes_[position]; }
  /// Of a postorder: the position of the node's parent in the elimination tree; −1 at a root.
  [[nodiscard]] int parent(Index position) const noexcept {
    const int parent = parents_[node(position)];
    return parent < 0 ? -1 : positions_[parent];
  }
  /// Of a postorder: unknowns of the node's rows below the diagonal.
  [[nodiscard]] int below(Index position) const noexcept { return below_[node(position)]; }

 private:
  void write_tree(const WeightedGraph& graph, const MinimumDegree& order);
  void visit_breadth_first(const WeightedGraph& graph, int from);

  Sequence<int> nodes_;                                          ///< per position
  Sequence<int> positions_, parents_, below_;                    ///< per node
  Sequence<int> step_, heavy_child_, first_child_, next_child_;  ///< per node
  Sequence<int> pending_;
};

// --- implementation ---

/// The elimination tree: a node's parent is the first of its rows to be eliminated.
inline void SlotOrder::write_tree(const WeightedGraph& graph, const MinimumDegree& order) {
  const Index count = graph.node_count;
  step_.resize(count);
  for (Index k = 0; k < count; ++k) step_[order.order()[k]] = int(k);
  for (Sequence<int>* nodes : {&parents_, &heavy_child_, &first_child_, &next_child_}) {
    nodes->assign(count, -1);
  }
  below_.assign(count, 0);
  for (Index k = 0; k < count; ++k) {
    const int node = order.order()[k];
    const int* const rows = order.rows(node);
    for (int r = 0; r < order.row_count(node); ++r) {
      below_[node] += graph.weights[rows[r]];
      if (parents_[node] < 0 || step_[rows[r]] < step_[parents_[node]]) parents_[node] = rows[r];
    }
    if (const int parent = parents_[node]; parent >= 0) {
      next_child_[node] = first_child_[parent];
      first_child_[parent] = node;
      int& heavy = heavy_child_[parent];
      if (heavy < 0 || below_[node] >= below_[heavy]) heavy = node;
    }
  }
}

inline void SlotOrder::compute_postorder(const WeightedGraph& graph, const MinimumDegree& order) {
  write_tree(graph, order);
  const Index count = graph.node_count;
  nodes_.resize(count);
  positions_.resize(count);
  Index position = count;  // filled from the back: parents before children
  for (Index k = count - 1; k >= 0; --k) {
    if (parents_[order.order()[k]] >= 0) continue;
    pending_.clear();
    pending_.push_back(order.order()[k]);
    while (!pending_.empty()) {
      const int node = pending_.back();
      pending_.resize(pending_.size() - 1);
      nodes_[--position] = node;
      positions_[node] = int(position);
      for (int child = first_child_[node]; child >= 0; child = next_child_[child]) {
        if (child != heavy_child_[node]) pending_.push_back(child);
      }
      if (heavy_child_[node] >= 0) pending_.push_back(heavy_child_[node]);
    }
  }
}

/// Fills nodes_ by their distance from one of them.
inline void SlotOrder::visit_breadth_first(const WeightedGraph& graph, int from) {
  step_.assign(graph.node_count, 0);  // whether a node is in the list
  nodes_.clear();
  nodes_.push_back(from);
  step_[from] = 1;
  for (Index k = 0; k < nodes_.size(); ++k) {
    const int node = nodes_[k];
    for (int n = graph.starts[node]; n < graph.starts[node + 1]; ++n) {
      const int next = graph.neighbours[n];
      if (step_[next] != 0) continue;
      step_[next] = 1;
      nodes_.push_back(next);
    }
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
