// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// An undirected graph whose nodes have weights, as compressed neighbour lists: the neighbours of
/// node i are neighbours[starts[i]] to neighbours[starts[i + 1] − 1]. Each edge is listed once at
/// each of its two ends. No node is its own neighbour.
struct WeightedGraph {
  Index node_count;
  const int* starts;      ///< node_count + 1 numbers.
  const int* neighbours;  ///< nodes in [0, node_count).
  const int* weights;     ///< unknowns per node, > 0.
};

/// The count of blocks below the diagonal of a factor for which memory is reserved: the largest
/// possible count, or the usual count if that is less.
[[nodiscard]] constexpr Index usual_row_count(Index node_count, Index neighbour_count) noexcept {
  return (std::min)(node_count * (node_count - 1) / 2, node_count + 4 * neighbour_count);
}

/// Orders the nodes of a graph such that the Cholesky factor of a matrix with its pattern stays
/// sparse, and lists the blocks of the factor. The method is approximate minimum degree.
///
/// The problem: the elimination of a node p joins all remaining neighbours of p with each other.
/// The degree of a node is the total weight (count of unknowns) of its neighbours. A node of small
/// degree causes little fill-in. To store all new edges would need too much memory, so the
/// neighbours of an eliminated node are stored as one set, called an element; each remaining node
/// lists its elements and its remaining original neighbours.
///
/// The steps, until all nodes are eliminated or the work exceeds the limit:
/// 1. The pivot p is the remaining node of least degree; of equal degrees, the one that is first in
///    the list.
/// 2. make_element(): the element of p is the union of its neighbours and of its elements. The
///    elements of p are contained in the new one and are absorbed.
/// 3. measure_elements(): for each element e that shares nodes with the element of p, compute
///    |e \ p|, the weight of e outside the element of p.
/// 4. update_variable(): each node of the element of p replaces all that p covers by p. Its new
///    degree is bounded by |p| + Σ |e \ p| + the weights of its remaining neighbours. The bound is
///    exact for up to two elements per node.
///
/// Parts of the graph that are not connected do not influence each other.
/// @note  Allocates only for a problem larger than every problem before.
/// @cite  amestoy1996approximate, without its merging of indistinguishable nodes: a body is already
///        one node.
class MinimumDegree {
 public:
  /// @param work_limit  multiply-adds of the factorisation; above this count the search ends.
  /// @return  false when the limit was exceeded; order() and rows() are then incomplete.
  [[nodiscard]] bool compute(const WeightedGraph& graph, double work_limit);

  /// Reserves memory for graphs of this count of nodes, neighbours and unknowns, and a factor of
  /// usual size.
  void reserve(Index node_count, Index neighbour_count, Index unknown_count);

  /// Nodes in the order of their elimination.
  [[nodiscard]] const Sequence<int>& order() const noexcept { return order_; }
  /// The neighbours of a node at its elimination. They are the blocks below the diagonal in its
  /// column of the factor, in no particular order.
  [[nodiscard]] const int* rows(int node) const noexcept { return rows_.data() + row_start_[node]; }
  [[nodiscard]] int row_count(int node) const noexcept { return row_count_[node]; }
  /// Approximate count of multiply-adds of the factorisation.
  [[nodiscard]] double work() const noexcept { return work_; }

 private:
  enum class Role : unsigned char { variable, element, absorbed };

  void start(const WeightedGraph& graph);
  void link(int node) noexcept;
  void unlink(int node) noexcept;
  [[nodiscard]] int take_next() noexcept;
  void make_element(int pivot, const int* weights);
  void measure_elements(int pivot, const int* weights);
  void update_variable(int node, int pivot, const int* weights) noexcept;

  Sequence<int> order_, rows_, row_start_, row_count_;
  Sequence<int> links_, link_start_, element_count_,
      variable_count_;  ///< per node: elements, then nodes
  Sequence<int> degree_, first_of_degree_, next_, previous_;
  Sequence<int> element_weight_;  ///< unknowns in an element
  Sequence<int> mark_;            ///< of a node: the last pivot that is its neighbour
  Sequence<int> seen_by_;         ///< of an element: the last pivot that measured it
  Sequence<int> outside_;         ///< of an element: its unknowns outside the pivot's element
  Sequence<Role> role_;
  int least_ = 0;
  int remaining_ = 0;  ///< unknowns not yet eliminated
  double work_ = 0;
};

// --- implementation ---

inline void MinimumDegree::reserve(Index node_count, Index neighbour_count, Index unknown_count) {
  first_of_degree_.reserve(unknown_count + 1);
  for (Sequence<int>* numbers :
       {&order_, &row_start_, &row_count_, &link_start_, &element_count_, &variable_count_,
        &degree_, &next_, &previous_, &element_weight_, &mark_, &seen_by_, &outside_}) {
    numbers->reserve(node_count);
  }
  role_.reserve(node_count);
  links_.reserve(neighbour_count);
  rows_.reserve(usual_row_count(node_count, neighbour_count));
}

inline void MinimumDegree::start(const WeightedGraph& graph) {
  const Index count = graph.node_count;
  order_.clear();
  rows_.clear();
  order_.reserve(count);
  const Index link_count = graph.starts[count];
  links_.resize(link_count);
  std::copy(graph.neighbours, graph.neighbours + link_count, links_.begin());
  for (Sequence<int>* numbers : {&row_start_, &row_count_, &link_start_, &element_count_,
                                 &variable_count_, &degree_, &element_weight_, &outside_}) {
    numbers->assign(count, 0);
  }
  for (Sequence<int>* nodes : {&next_, &previous_, &mark_, &seen_by_}) nodes->assign(count, -1);
  role_.assign(count, Role::variable);
  remaining_ = 0;
  for (Index i = 0; i < count; ++i) remaining_ += graph.weights[i];
  first_of_degree_.assign(remaining_ + 1, -1);
  least_ = 0;
  work_ = 0;
  // of equal degrees, the lowest node is first in the list
  for (int i = int(count) - 1; i >= 0; --i) {
    link_start_[i] = graph.starts[i];
    variable_count_[i] = graph.starts[i + 1] - graph.starts[i];
    for (int k = 0; k < variable_count_[i]; ++k) {
      degree_[i] += graph.weights[links_[link_start_[i] + k]];
    }
    link(i);
  }
}

inline void MinimumDegree::link(int node) noexcept {
  int& first = first_of_degree_[degree_[node]];
  next_[node] = first;
  previous_[node] = -1;
  if (first >= 0) previous_[first] = node;
  first = node;
  least_ = (std::min)(least_, degree_[node]);
}

inline void MinimumDegree::unlink(int node) noexcept {
  if (next_[node] >= 0) previous_[next_[node]] = previous_[node];
  if (previous_[node] >= 0) {
    next_[previous_[node]] = next_[node];
  } else {
    first_of_degree_[degree_[node]] = next_[node];
  }
}

inline int MinimumDegree::take_next() noexcept {
  while (first_of_degree_[least_] < 0) ++least_;
  const int node = first_of_degree_[least_];
  unlink(node);
  return node;
}

/// Makes the pivot the element of all its neighbours. The elements of the pivot are absorbed.
inline void MinimumDegree::make_element(int pivot, const int* weights) {
  const int begin = link_start_[pivot];
  const int end = begin + element_count_[pivot];
  row_start_[pivot] = int(rows_.size());
  mark_[pivot] = pivot;
  const auto take = [&](int node) {
    if (mark_[node] == pivot) return;
    mark_[node] = pivot;
    element_weight_[pivot] += weights[node];
    rows_.push_back(node);
  };
  for (int k = end; k < end + variable_count_[pivot]; ++k) take(links_[k]);
  for (int k = begin; k < end; ++k) {
    const int element = links_[k];
    if (role_[element] != Role::element) continue;
    role_[element] = Role::absorbed;
    for (int r = 0; r < row_count_[element]; ++r) take(rows_[row_start_[element] + r]);
  }
  row_count_[pivot] = int(rows_.size()) - row_start_[pivot];
  role_[pivot] = Role::element;
  order_.push_back(pivot);
  const double below = element_weight_[pivot], own = weights[pivot];
  work_ += own * (below * below / 2 + own * below + own * own / 6);
}

/// For each element that shares nodes with the pivot's element: computes its unknowns outside of
/// it.
inline void MinimumDegree::measure_elements(int pivot, const int* weights) {
  for (int r = 0; r < row_count_[pivot]; ++r) {
    const int node = rows_[row_start_[pivot] + r];
    for (int k = 0; k < element_count_[node]; ++k) {
      const int element = links_[link_start_[node] + k];
      if (role_[element] != Role::element) continue;
      if (seen_by_[element] != pivot) {
        seen_by_[element] = pivot;
        outside_[element] = element_weight_[element];
      }
      outside_[element] -= weights[node];
    }
  }
}

/// Updates the links of a node in the pivot's element: the pivot replaces all that it covers.
inline void MinimumDegree::update_variable(int node, int pivot, const int* weights) noexcept {
  unlink(node);
  int* const links = links_.data() + link_start_[node];
  const int elements = element_count_[node], variables = variable_count_[node];
  int degree = element_weight_[pivot] - weights[node];
  int kept = 0;
  for (int k = 0; k < elements; ++k) {
    const int element = links[k];
    if (role_[element] != Role::element) continue;
    if (outside_[element] == 0) {  // contained in the pivot's element
      role_[element] = Role::absorbed;
      continue;
    }
    degree += outside_[element];
    links[kept++] = element;
  }
  const int kept_elements = kept;
  int last = kept;  // at least one link is removed, and the pivot replaces it
  for (int k = elements; k < elements + variables; ++k) {
    const int variable = links[k];
    if (mark_[variable] == pivot) continue;
    degree += weights[variable];
    links[last++] = variable;
  }
  links[last] = kept_elements < last ? links[kept_elements] : pivot;
  links[kept_elements] = pivot;
  element_count_[node] = kept_elements + 1;
  variable_count_[node] = last - kept_elements;
  // Elements may overlap outside the pivot's element. The degree is at most the count of remaining
  // unknowns.
  degree_[node] = (std::min)(degree, remaining_ - weights[node]);
  link(node);
}

inline bool MinimumDegree::compute(const WeightedGraph& graph, double work_limit) {
  start(graph);
  while (order_.size() < graph.node_count) {
    const int pivot = take_next();
    make_element(pivot, graph.weights);
    if (work_ > work_limit) return false;
    remaining_ -= graph.weights[pivot];
    measure_elements(pivot, graph.weights);
    for (int r = 0; r < row_count_[pivot]; ++r) {
      update_variable(rows_[row_start_[pivot] + r], pivot, graph.weights);
    }
  }
  return true;
}

/// The order in which the nodes of a component get their slots. For a factorisation it is the
/// elimination order, arranged such that a node comes after all its descendants. Otherwise it is
/// breadth-first order.
///
/// Positions count from 0 in each component.
/// @note  Allocates only for a component larger than every component before.
class SlotOrder {
 public:
  /// Reserves memory for components of this count of nodes.
  void reserve(Index node_count) {
    for (Sequence<int>* numbers : {&nodes_, &positions_, &parents_, &below_, &step_, &heavy_child_,
                                   &first_child_, &next_child_, &pending_}) {
      numbers->reserve(node_count);
    }
  }

  /// Places each node after all its descendants in the elimination tree. The child with the most
  /// rows is directly before its parent, because these two may share a front.
  void compute_postorder(const WeightedGraph& graph, const MinimumDegree& order);

  /// Breadth-first order from an end of the graph, such that neighbours are near each other in
  /// memory.
  void compute_breadth_first(const WeightedGraph& graph) {
    visit_breadth_first(graph, 0);
    visit_breadth_first(graph, nodes_.back());
  }

  [[nodiscard]] int node(Index position) const noexcept { return nodes_[position]; }
  /// For a postorder: the position of the node's parent in the elimination tree; −1 at a root.
  [[nodiscard]] int parent(Index position) const noexcept {
    const int parent = parents_[node(position)];
    return parent < 0 ? -1 : positions_[parent];
  }
  /// For a postorder: count of unknowns in the node's rows below the diagonal.
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

/// Fills nodes_ in breadth-first order from a node.
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
