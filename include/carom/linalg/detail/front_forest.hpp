// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/minimum_degree.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Nodes that are eliminated together because their columns of the factor have the same rows, or
/// nearly the same. The front is the dense matrix of these nodes and of the rows below them.
struct Front {
  int first_slot, slot_count;     ///< nodes eliminated here, consecutive in the order
  int first_row, row_count;       ///< remaining nodes, in FrontForest::row_slots()
  int own_size, row_size;         ///< unknowns of the eliminated and of the remaining nodes
  int parent;                     ///< front that adds the update matrix of this one; −1 at a root
  int first_run, run_count;       ///< where its rows are in the parent
  int first_child, next_sibling;  ///< fronts whose update matrices are added here; −1 ends the list
  Index columns, stride;          ///< place of the columns of the factor in its values
  Index update, update_stride;    ///< place of the update matrix in the updates
};

/// A range of a front's rows that are consecutive in its parent.
struct FrontRun {
  int from;    ///< first unknown in this front, counted among the rows
  int to;      ///< first unknown in the parent, counted in the whole front
  int length;  ///< count of unknowns
};

/// The part of a forest that belongs to one component of the graph.
struct FrontRange {
  int begin, end;            ///< fronts
  int first_slot, slot_end;  ///< nodes in the order of elimination
};

/// The structure of a sparse Cholesky factorisation, computed before the numbers are known: the
/// order of elimination, the dense fronts, and the place of each number in memory.
///
/// The problem: H is a symmetric positive definite block matrix with one block row per node of a
/// graph, and H = L Lᵀ after a permutation of the nodes. Elimination of a node j joins all its
/// later neighbours with each other, so L has more blocks than H (fill-in). The parent of j in the
/// elimination tree is the first row below the diagonal in column j of L. Column j changes only
/// columns of its ancestors.
///
/// The steps of append() for one component of the graph:
/// 1. SlotOrder arranges the minimum-degree order such that children come before parents (a
///    postorder). The position of a node in this order is its slot.
/// 2. append_fronts() merges a column with its parent where both have the same rows, or where few
///    zeros are added. A front has the unknowns of its own columns (own) and of the rows below
///    (rows):
///       F = [F₁₁  F₂₁ᵀ; F₂₁  F₂₂],   F₁₁ of size own × own, F₂₂ of size rows × rows.
/// 3. write_rows() lists the rows of each front. write_runs() finds, for each child, where its rows
///    are in the parent, as ranges of consecutive unknowns.
/// 4. place_values() assigns memory to [F₁₁; F₂₁] (which becomes columns of L) and to the update
///    matrix F₂₂ − L₂₁ L₂₁ᵀ (which the parent adds to itself).
///
/// Each component of a graph is appended on its own. Its nodes get the next slots.
/// @note  Allocates only for a problem larger than every problem before.
/// @cite  liu1992multifrontal.
class FrontForest {
 public:
  void clear() noexcept;
  /// Reserves memory for graphs with this total count of nodes and neighbours.
  void reserve(Index node_count, Index neighbour_count);

  /// Appends the fronts of one component.
  /// @param slot_of  written: the slot of every node.
  FrontRange append(const WeightedGraph& graph, const MinimumDegree& order, int* slot_of);

  /// Appends a component that is not factored. It gets no fronts. Its slots are in breadth-first
  /// order from an end of the graph, such that neighbours are near each other in memory.
  FrontRange append_breadth_first(const WeightedGraph& graph, int* slot_of);

  [[nodiscard]] const Sequence<Front>& fronts() const noexcept { return fronts_; }
  [[nodiscard]] const int* row_slots(const Front& front) const noexcept {
    return row_slots_.data() + front.first_row;
  }
  [[nodiscard]] const FrontRun* runs(const Front& front) const noexcept {
    return runs_.data() + front.first_run;
  }
  /// Unknowns of the node in a slot.
  [[nodiscard]] int size(Index slot) const noexcept { return size_[slot]; }
  /// The first unknown of a slot inside its front.
  [[nodiscard]] int offset(Index slot) const noexcept { return offset_[slot]; }
  [[nodiscard]] int front_of(Index slot) const noexcept { return front_of_[slot]; }
  /// Where the unknowns of the row slot start in the front of the column slot.
  /// @pre  the two are neighbours in the graph or by fill-in; row > column.
  [[nodiscard]] int row_offset(Index column_slot, int row_slot) const noexcept;

  [[nodiscard]] Index unknown_count() const noexcept {
    Index count = 0;
    for (const int size : size_) count += size;
    return count;
  }
  [[nodiscard]] Index value_count() const noexcept { return value_count_; }
  [[nodiscard]] Index update_count() const noexcept { return update_count_; }
  /// Rows of the largest front, rounded up to whole packets: the size of the scratch memory of a
  /// solve.
  [[nodiscard]] Index largest_front() const noexcept { return largest_front_; }

 private:
  FrontRange append_slots(const WeightedGraph& graph, int* slot_of);
  void append_fronts(const FrontRange& range);
  [[nodiscard]] static bool worth_merging(const Front& front, int size, int rows,
                                          Index& zeros) noexcept;
  void write_rows(const MinimumDegree& order, const int* slot_of, const FrontRange& range);
  void write_runs(const FrontRange& range);
  void place_values(const FrontRange& range);

  Sequence<Front> fronts_;
  Sequence<FrontRun> runs_;
  Sequence<int> row_slots_, size_, offset_, front_of_;
  /// per slot: its parent in the elimination tree; unknowns below
  Sequence<int> parent_slot_, column_size_;
  Sequence<int> place_;  ///< per slot, used while a component is appended
  SlotOrder slots_;      ///< of the component that is appended
  Index value_count_ = 0, update_count_ = 0, largest_front_ = 0;
};

// --- implementation ---

inline void FrontForest::clear() noexcept {
  fronts_.clear();
  runs_.clear();
  for (Sequence<int>* numbers :
       {&row_slots_, &size_, &offset_, &front_of_, &parent_slot_, &column_size_, &place_}) {
    numbers->clear();
  }
  value_count_ = update_count_ = largest_front_ = 0;
}

inline void FrontForest::reserve(Index node_count, Index neighbour_count) {
  fronts_.reserve(node_count);
  for (Sequence<int>* numbers :
       {&size_, &offset_, &front_of_, &parent_slot_, &column_size_, &place_}) {
    numbers->reserve(node_count);
  }
  slots_.reserve(node_count);
  const Index rows = usual_row_count(node_count, neighbour_count);
  row_slots_.reserve(rows);
  runs_.reserve(rows);
}

inline int FrontForest::row_offset(Index column_slot, int row_slot) const noexcept {
  const Front& front = fronts_[front_of_[column_slot]];
  if (front_of_[row_slot] == front_of_[column_slot]) return offset_[row_slot];
  const int* const rows = row_slots(front);
  int result = front.own_size;
  for (int r = 0; rows[r] != row_slot; ++r) result += size_[rows[r]];
  return result;
}

/// Appends the nodes of a component in the order of their slots.
inline FrontRange FrontForest::append_slots(const WeightedGraph& graph, int* slot_of) {
  FrontRange range{};
  range.begin = range.end = int(fronts_.size());
  range.first_slot = int(size_.size());
  range.slot_end = range.first_slot + int(graph.node_count);
  for (Sequence<int>* per_slot : {&size_, &offset_, &front_of_, &parent_slot_, &column_size_}) {
    per_slot->resize(range.slot_end);
  }
  for (int k = 0; k < int(graph.node_count); ++k) {
    const int node = slots_.node(k);
    slot_of[node] = range.first_slot + k;
    size_[range.first_slot + k] = graph.weights[node];
  }
  return range;
}

/// Returns whether it is cheaper to join a front and the next column, its parent, into one front.
/// It is cheaper if few numbers of the joined front are zero. `zeros` is the count of zeros in the
/// front; a merger updates it.
inline bool FrontForest::worth_merging(const Front& front, int size, int rows,
                                       Index& zeros) noexcept {
  const Index own = front.own_size + size;
  const Index all = own * (own + 1) / 2 + own * rows;
  const Index merged = zeros + Index(front.own_size) * (size + rows - front.row_size);
  if (merged * 6 > all && own + rows > 30) return false;
  zeros = merged;
  return true;
}

inline void FrontForest::append_fronts(const FrontRange& range) {
  Index zeros = 0;
  for (int slot = range.first_slot; slot < range.slot_end; ++slot) {
    const bool follows = slot > range.first_slot && parent_slot_[slot - 1] == slot;
    if (follows && worth_merging(fronts_.back(), size_[slot], column_size_[slot], zeros)) {
      Front& front = fronts_.back();
      offset_[slot] = front.own_size;
      ++front.slot_count;
      front.own_size += size_[slot];
      front.row_size = column_size_[slot];
    } else {
      zeros = 0;
      Front front{};
      front.first_slot = slot;
      front.slot_count = 1;
      front.own_size = size_[slot];
      front.row_size = column_size_[slot];
      front.parent = front.first_child = front.next_sibling = -1;
      offset_[slot] = 0;
      fronts_.push_back(front);
    }
    front_of_[slot] = int(fronts_.size()) - 1;
  }
}

inline void FrontForest::write_rows(const MinimumDegree& order, const int* slot_of,
                                    const FrontRange& range) {
  for (int f = range.begin; f < range.end; ++f) {
    Front& front = fronts_[f];
    const int last = front.first_slot + front.slot_count - 1;
    const int node = slots_.node(last - range.first_slot);
    front.first_row = int(row_slots_.size());
    front.row_count = order.row_count(node);
    row_slots_.resize(row_slots_.size() + front.row_count);
    int* const rows = row_slots_.data() + front.first_row;
    for (int r = 0; r < front.row_count; ++r) rows[r] = slot_of[order.rows(node)[r]];
    std::sort(rows, rows + front.row_count);
    if (parent_slot_[last] >= 0) front.parent = front_of_[parent_slot_[last]];
  }
}

inline void FrontForest::write_runs(const FrontRange& range) {
  place_.resize(size_.size());
  for (int f = range.end - 1; f >= range.begin; --f) {
    if (fronts_[f].parent < 0) continue;
    Front& parent = fronts_[fronts_[f].parent];
    fronts_[f].next_sibling = parent.first_child;
    parent.first_child = f;
  }
  for (int f = range.begin; f < range.end; ++f) {
    const Front& front = fronts_[f];
    int next = 0;
    for (int slot = front.first_slot; slot < front.first_slot + front.slot_count; ++slot) {
      place_[slot] = next;
      next += size_[slot];
    }
    for (int r = 0; r < front.row_count; ++r) {
      place_[row_slots(front)[r]] = next;
      next += size_[row_slots(front)[r]];
    }
    for (int c = front.first_child; c >= 0; c = fronts_[c].next_sibling) {
      Front& child = fronts_[c];
      child.first_run = int(runs_.size());
      int from = 0;
      for (int r = 0; r < child.row_count; ++r) {
        const int slot = row_slots(child)[r];
        const bool first = int(runs_.size()) == child.first_run;
        if (!first && runs_.back().to + runs_.back().length == place_[slot]) {
          runs_.back().length += size_[slot];
        } else {
          runs_.push_back({from, place_[slot], size_[slot]});
        }
        from += size_[slot];
      }
      child.run_count = int(runs_.size()) - child.first_run;
    }
  }
}

/// Assigns memory to the columns one after the other, and to the update matrices. The update
/// matrices stay in memory, such that a parent can be factored again without its children.
inline void FrontForest::place_values(const FrontRange& range) {
  for (int f = range.begin; f < range.end; ++f) {
    Front& front = fronts_[f];
    const Index rows = detail::lanes_above(front.row_size);
    front.stride = detail::lanes_above(front.own_size + rows);
    front.columns = value_count_;
    value_count_ += front.stride * front.own_size;
    front.update_stride = rows;
    largest_front_ = (std::max)(largest_front_, front.stride);
    front.update = update_count_;
    update_count_ += front.update_stride * front.row_size;
  }
}

inline FrontRange FrontForest::append_breadth_first(const WeightedGraph& graph, int* slot_of) {
  slots_.compute_breadth_first(graph);
  return append_slots(graph, slot_of);
}

inline FrontRange FrontForest::append(const WeightedGraph& graph, const MinimumDegree& order,
                                      int* slot_of) {
  slots_.compute_postorder(graph, order);
  FrontRange range = append_slots(graph, slot_of);
  for (int k = 0; k < int(graph.node_count); ++k) {
    const int parent = slots_.parent(k);
    parent_slot_[range.first_slot + k] = parent < 0 ? -1 : range.first_slot + parent;
    column_size_[range.first_slot + k] = slots_.below(k);
  }
  append_fronts(range);
  range.end = int(fronts_.size());
  write_rows(order, slot_of, range);
  write_runs(range);
  place_values(range);
  return range;
}

}  // namespace CAROM_ABI
}  // namespace carom
