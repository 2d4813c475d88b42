// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>

#include "carom/linalg/detail/crew.hpp"
#include "carom/linalg/detail/front_forest.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Adds the update matrix of a front to its parent (lower triangles): one part to the columns that
/// the parent eliminates, the other part to the parent's own update matrix.
/// @param values, updates  of all fronts, at the places that the forest assigns.
template <typename Scalar>
void add_to_parent(const FrontForest& forest, const Front& child, Scalar* values,
                   Scalar* updates) noexcept {
  const Front& parent = forest.fronts()[child.parent];
  const FrontRun* const runs = forest.runs(child);
  const Columns<const Scalar> from{updates + child.update, child.update_stride};
  for (int c = 0; c < child.run_count; ++c) {
    for (int k = 0; k < runs[c].length; ++k) {
      const Index column = runs[c].to + k;
      const Scalar* const source = from.data + (runs[c].from + k) * from.stride;
      // Columns that the parent does not eliminate are counted from the end of its own columns.
      Scalar* const target = column < parent.own_size
                                 ? values + parent.columns + column * parent.stride
                                 : updates + parent.update +
                                       (column - parent.own_size) * parent.update_stride -
                                       parent.own_size;
      for (int r = c; r < child.run_count; ++r) {
        const int skip = r == c ? k : 0;
        add_numbers(target + runs[r].to + skip, source + runs[r].from + skip,
                    runs[r].length - skip);
      }
    }
  }
}

/// Adds the update matrices of all children of a front. The front's own update matrix counts as
/// zero before.
template <typename Scalar>
void gather_children(const FrontForest& forest, const Front& front, Scalar* values,
                     Scalar* updates) noexcept {
  Scalar* const rest = updates + front.update;
  std::fill(rest, rest + front.update_stride * front.row_size, Scalar(0));
  for (int c = front.first_child; c >= 0; c = forest.fronts()[c].next_sibling) {
    add_to_parent(forest, forest.fronts()[c], values, updates);
  }
}

/// Calls visit(unknown in the front, start in x, count) for the front's own slots, then for its
/// rows.
/// @param starts  per slot, where its unknowns start in x.
template <typename Starts, typename Visit>
void for_each_piece(const FrontForest& forest, const Front& front, const Starts& starts,
                    Visit&& visit) noexcept {
  Index next = 0;
  for (Index slot = front.first_slot; slot < front.first_slot + front.slot_count; ++slot) {
    visit(next, Index(starts[slot]), Index(forest.size(slot)));
    next += forest.size(slot);
  }
  const int* const rows = forest.row_slots(front);
  for (int r = 0; r < front.row_count; ++r) {
    visit(next, Index(starts[rows[r]]), Index(forest.size(rows[r])));
    next += forest.size(rows[r]);
  }
}

/// x ← U⁻¹ x for the leading rows of U, an upper triangular matrix with unit diagonal. U is stored
/// row by row in columns. The entries above the panel are zero. x has lanes_above(rows) numbers.
template <typename Scalar>
void solve_unit_rows(const Columns<const Scalar>& upper, Index count, Index rows,
                     Scalar* x) noexcept {
  const Index end = lanes_above(rows);
  // The panel has zeros above its own diagonal block, so the columns are processed one by one in
  // reverse.
  for (Index c = count - 1; c >= 0; --c) {
    RowPacket<Scalar> covered = RowPacket<Scalar>::Zero();
    for (Index row = lanes_below(c); row < end; row += row_lanes) {
      covered += packet_at(x + row) * packet_at(upper.data + c * upper.stride + row);
    }
    x[c] -= covered.sum();
  }
}
/// x ← U⁻ᵀ x for the same storage, including the rows below.
template <typename Scalar>
void solve_unit_rows_transposed(const Columns<const Scalar>& upper, Index count, Index rows,
                                Scalar* x) noexcept {
  const Index end = lanes_above(rows);
  for (Index c = 0; c < count; ++c) {
    const Scalar value = x[c];
    for (Index row = lanes_below(c); row < end; row += row_lanes) {
      packet_at(x + row) -= value * packet_at(upper.data + c * upper.stride + row);
    }
    x[c] = value;
  }
}

/// The two steps of a solve with one front. y are the front's unknowns: its own, then those of its
/// rows. down(f, y) is called from the first front to the last. Before the call the rows of y are
/// zero; after it they hold the increments for these unknowns. up(f, y) is called from the last
/// front to the first; the rows of y then hold the solution.
template <typename Down, typename Up>
struct FrontPasses {
  Down down;
  Up up;
};
template <typename Down, typename Up>
FrontPasses(Down, Up) -> FrontPasses<Down, Up>;

/// The steps of one solve, front by front.
/// @tparam Starts  per slot, where its unknowns start in x.
template <typename Scalar, typename Starts, typename Down, typename Up>
struct FrontSolve {
  const FrontForest& forest;
  Scalar* x;
  const Starts& starts;
  const FrontPasses<Down, Up>& passes;

  /// @param scratch  memory for the front, rounded up to whole packets.
  /// @param add      add(slot, numbers, count) adds the increments to the unknowns of a row.
  template <typename Add>
  void down(int f, Scalar* scratch, const Add& add) const noexcept {
    const Front& front = forest.fronts()[f];
    std::fill(scratch, scratch + lanes_above(front.own_size + front.row_size), Scalar(0));
    for_each_piece(forest, front, starts, [&](Index here, Index there, Index count) {
      if (here < front.own_size) std::copy(x + there, x + there + count, scratch + here);
    });
    passes.down(f, scratch);
    Index next = 0;
    for (Index slot = front.first_slot; slot < front.first_slot + front.slot_count; ++slot) {
      const Index count = forest.size(slot);
      std::copy(scratch + next, scratch + next + count, x + Index(starts[slot]));
      next += count;
    }
    const int* const rows = forest.row_slots(front);
    for (int r = 0; r < front.row_count; ++r) {
      const Index count = forest.size(rows[r]);
      add(rows[r], static_cast<const Scalar*>(scratch + next), count);
      next += count;
    }
  }
  void add_to(int slot, const Scalar* numbers, Index count) const noexcept {
    Scalar* const target = x + Index(starts[slot]);
    for (Index k = 0; k < count; ++k) target[k] += numbers[k];
  }
  void up(int f, Scalar* scratch) const noexcept {
    const Front& front = forest.fronts()[f];
    const Index size = front.own_size + front.row_size;
    std::fill(scratch + size, scratch + lanes_above(size), Scalar(0));
    for_each_piece(forest, front, starts, [&](Index here, Index there, Index count) {
      std::copy(x + there, x + there + count, scratch + here);
    });
    passes.up(f, scratch);
    for_each_piece(forest, front, starts, [&](Index here, Index there, Index count) {
      if (here < front.own_size) std::copy(scratch + here, scratch + here + count, x + there);
    });
  }
};
template <typename Scalar, typename Starts, typename Down, typename Up>
FrontSolve(const FrontForest&, Scalar*, const Starts&, const FrontPasses<Down, Up>&)
    -> FrontSolve<Scalar, Starts, Down, Up>;

/// Solves with the factor of one component, front by front.
///
/// The problem: x ← (P₁ … P_n)⁻¹ x, where each front f contributes a forward step (down, for
/// example L⁻¹) and a backward step (up, for example L⁻ᵀ). The steps:
/// 1. For f from the first front to the last: copy the front's own part of x to y and set the rows
///    of y to zero; run down(f, y); write the own part back; add the rows of y to x.
/// 2. For f from the last front to the first: copy the own part and the rows of x to y; run up(f,
///    y); write the own part back.
/// Both loops have a fixed count of steps. There is no iteration.
/// @param starts   per slot, where its unknowns start in x.
/// @param scratch  y: memory for the largest front of the component, rounded up to whole packets.
template <typename Scalar, typename Starts, typename Down, typename Up>
void solve_fronts(const FrontForest& forest, const FrontRange& range, Scalar* x,
                  const Starts& starts, Scalar* scratch,
                  const FrontPasses<Down, Up>& passes) noexcept {
  const FrontSolve solve{forest, x, starts, passes};
  for (int f = range.begin; f < range.end; ++f) {
    solve.down(f, scratch, [&](int slot, const Scalar* numbers, Index count) {
      solve.add_to(slot, numbers, count);
    });
  }
  for (int f = range.end - 1; f >= range.begin; --f) solve.up(f, scratch);
}

/// Constants of FrontBranches.
struct FrontBranchesTuning {
  /// The factorisation of a component is shared between threads from this count of multiplications
  /// on: some hundred microseconds. Less work does not justify waking threads.
  static constexpr double least_work = 1e6;
  /// A branch has at most the total work divided by this number. More branches than threads balance
  /// the load.
  static constexpr double least_branches = 24;
  /// The same divisor for trees in which no front has much work: the remaining fronts of such trees
  /// would wait for one thread.
  static constexpr double least_large_branches = 4;
  /// The count of multiplications from which a crew shares the rows of one front well.
  static constexpr double much_work = 2e6;
};

/// Divides the fronts of a large component into branches, which can be factored in parallel, and
/// the top, which is factored after them.
///
/// The problem: w_f is the work of front f [multiplications], W = Σ w_f, and T_f is the work of the
/// subtree with root f (f and all its descendants). A branch is a range of consecutive fronts that
/// contains whole subtrees, so no branch needs the numbers of another branch. The steps of
/// append():
/// 1. Compute w_f, T_f and the largest w in each subtree, children before parents. If W is small,
///    there are no branches.
/// 2. A subtree is low if T_f ≤ W / least_branches, or if none of its fronts has much work and
///    T_f ≤ W / least_large_branches. A root of a low subtree whose parent is not low is the end of
///    a branch. Consecutive low subtrees form one branch while their total work is at most
///    W / least_branches.
/// 3. Sort the branches by decreasing work, such that the threads end at about the same time.
/// All fronts that belong to no branch are the top.
///
/// The branches depend on the pattern only, and the arithmetic of a front does not depend on the
/// thread. The results therefore have the same bits as on one thread.
/// @note  clear() and append() allocate only for a problem larger than every problem before.
class FrontBranches {
 public:
  /// Removes all branches and sets the forest.
  void clear(const FrontForest& forest) {
    // With few unknowns, memory is reserved for any pattern that these unknowns can have.
    const Index count = forest.fronts().size(), unknowns = forest.unknown_count();
    const Index most = unknowns <= 128 ? unknowns : count;
    branches_.clear();
    branches_.reserve(most);
    spill_start_.reserve(most);
    spill_start_.assign(count, 0);
    order_.clear();
    order_.reserve(most);
    work_.reserve(most);
    work_.resize(count);
    largest_work_.reserve(most);
    largest_work_.resize(count);
    room_ = 0;
    largest_ = forest.largest_front();
  }
  /// Appends a component. The components are appended in their order in the forest.
  void append(const FrontForest& forest, const FrontRange& range);

  /// The count of numbers in the scratch memory of solve().
  [[nodiscard]] Index room() const noexcept { return room_ == 0 ? 0 : room_ + largest_; }
  [[nodiscard]] bool suit(const FrontRange& range) const noexcept {
    const auto [first, last] = branches_of(range);
    return last - first > 1;
  }
  /// Calls low(front) for the fronts of all branches, which the crew shares, then top(front) for
  /// the other fronts from the first to the last. Returns false if one of the calls returns false.
  template <typename Low, typename Top>
  [[nodiscard]] bool factor(const FrontRange& range, Crew& crew, const Low& low,
                            const Top& top) const noexcept {
    const auto [first, last] = branches_of(range);
    std::atomic<bool> failed{false};
    const int* const order = order_of(first);
    crew.run(last - first, [&](Index k) {
      const Branch& branch = branches_[order[k]];
      for (int f = branch.begin; f < branch.end; ++f) {
        if (!low(f)) return failed.store(true, std::memory_order_relaxed);
      }
    });
    if (failed.load(std::memory_order_relaxed)) return false;
    int f = range.begin;
    for (const Branch* branch = first; branch != last; f = branch->end, ++branch) {
      for (; f < branch->begin; ++f) {
        if (!top(f)) return false;
      }
    }
    for (; f < range.end; ++f) {
      if (!top(f)) return false;
    }
    return true;
  }
  /// As solve_fronts(). The increments that a branch computes for unknowns outside the branch are
  /// stored in `room`. They are added in the order of the fronts when the top is solved.
  /// @param room  room() numbers.
  template <typename Solve, typename Scalar>
  void solve(const FrontRange& range, const Solve& solve, Scalar* room, Crew& crew) const noexcept;

 private:
  struct Branch {
    int begin, end;  ///< fronts
    int slot_end;
    Index scratch;  ///< start of the memory for its largest front, in the room
    double work;    ///< multiplications
  };
  struct Branches {
    const Branch *first, *last;
  };
  [[nodiscard]] Branches branches_of(const FrontRange& range) const noexcept {
    const auto bound = [this](int front) {
      return std::partition_point(branches_.begin(), branches_.end(),
                                  [&](const Branch& branch) { return branch.begin < front; });
    };
    return {bound(range.begin), bound(range.end)};
  }
  /// The branches of a component in the order of decreasing work.
  [[nodiscard]] const int* order_of(const Branch* first) const noexcept {
    return order_.begin() + (first - branches_.begin());
  }
  void place(const FrontForest& forest, Branch& branch);
  /// Adds the stored increments of the fronts of a branch.
  template <typename Solve, typename Scalar>
  void add_kept(const Branch& branch, const Solve& solve, const Scalar* room) const noexcept;

  Sequence<Branch> branches_;
  /// per front of a branch: start of its increments outside the branch, in the room
  Sequence<Index> spill_start_;
  Sequence<int> order_;            ///< order of the branches of each component
  Sequence<double> work_;          ///< per front: work of its subtree
  Sequence<double> largest_work_;  ///< per front: largest work of one front in its subtree
  Index room_ = 0;                 ///< count of numbers of all branches
  Index largest_ = 0;              ///< size of the largest front
};

// --- implementation ---

inline void FrontBranches::append(const FrontForest& forest, const FrontRange& range) {
  using Tuning = FrontBranchesTuning;
  double total = 0;
  for (int f = range.begin; f < range.end; ++f) {
    const Front& front = forest.fronts()[f];
    const double own = front.own_size, rows = front.row_size;
    const double work = own * (own * own / 6 + own * rows / 2 + rows * rows / 2);
    double below = 0, largest = work;
    for (int c = front.first_child; c >= 0; c = forest.fronts()[c].next_sibling) {
      below += work_[c];
      largest = (std::max)(largest, largest_work_[c]);
    }
    work_[f] = below + work;
    largest_work_[f] = largest;
    total += work;
  }
  if (total < Tuning::least_work) return;
  const double limit = total / Tuning::least_branches;
  const auto low = [&](int f) {
    if (f < 0) return false;
    if (work_[f] <= limit) return true;
    return largest_work_[f] < Tuning::much_work && work_[f] <= total / Tuning::least_large_branches;
  };
  const Index first = branches_.size();
  double held = 0;
  // of the subtree that ends with the next front whose parent is in the top
  int begin = range.begin;
  for (int f = range.begin; f < range.end; ++f) {
    if (!low(f)) {
      begin = f + 1;
      continue;
    }
    if (low(forest.fronts()[f].parent)) continue;
    const bool joins =
        branches_.size() > first && branches_.back().end == begin && held + work_[f] <= limit;
    if (!joins) {
      branches_.push_back({begin, begin, 0, 0, 0});
      held = 0;
    }
    branches_.back().end = begin = f + 1;
    branches_.back().work = held += work_[f];
  }
  for (Index k = first; k < branches_.size(); ++k) {
    place(forest, branches_[k]);
    order_.push_back(int(k));
  }
  std::sort(order_.begin() + first, order_.end(), [this](int a, int b) {
    const double of_a = branches_[a].work, of_b = branches_[b].work;
    return of_a != of_b ? of_a > of_b : a < b;
  });
}

/// Assigns to a branch its places in the room.
inline void FrontBranches::place(const FrontForest& forest, Branch& branch) {
  const Front& last = forest.fronts()[branch.end - 1];
  branch.slot_end = last.first_slot + last.slot_count;
  branch.scratch = room_;
  Index largest = 0;
  for (int f = branch.begin; f < branch.end; ++f) {
    const Front& front = forest.fronts()[f];
    largest = (std::max)(largest, lanes_above(front.own_size + front.row_size));
  }
  room_ += largest;
  for (int f = branch.begin; f < branch.end; ++f) {
    const Front& front = forest.fronts()[f];
    spill_start_[f] = room_;
    for (int r = 0; r < front.row_count; ++r) {
      const int slot = forest.row_slots(front)[r];
      if (slot >= branch.slot_end) room_ += forest.size(slot);
    }
  }
  room_ = lanes_above(room_);
}

template <typename Solve, typename Scalar>
void FrontBranches::add_kept(const Branch& branch, const Solve& solve,
                             const Scalar* room) const noexcept {
  for (int f = branch.begin; f < branch.end; ++f) {
    const Front& front = solve.forest.fronts()[f];
    const Scalar* kept = room + spill_start_[f];
    const int* const end = solve.forest.row_slots(front) + front.row_count;
    const int* row = std::lower_bound(solve.forest.row_slots(front), end, branch.slot_end);
    for (; row != end; ++row) {
      const Index count = solve.forest.size(*row);
      solve.add_to(*row, kept, count);
      kept += count;
    }
  }
}

template <typename Solve, typename Scalar>
void FrontBranches::solve(const FrontRange& range, const Solve& solve, Scalar* room,
                          Crew& crew) const noexcept {
  // Storing the increments of the branches costs a third more time, so this is done only if there
  // are helpers.
  if (crew.alone()) {
    return solve_fronts(solve.forest, range, solve.x, solve.starts, room, solve.passes);
  }
  const Branches branches = branches_of(range);
  const Index count = branches.last - branches.first;
  const int* const order = order_of(branches.first);
  crew.run(count, [&](Index k) {
    const Branch& branch = branches_[order[k]];
    for (int f = branch.begin; f < branch.end; ++f) {
      Scalar* kept = room + spill_start_[f];
      solve.down(f, room + branch.scratch, [&](int slot, const Scalar* numbers, Index size) {
        if (slot < branch.slot_end) return solve.add_to(slot, numbers, size);
        kept = std::copy_n(numbers, size, kept);
      });
    }
  });
  Scalar* const scratch = room + room_;
  const auto add = [&](int slot, const Scalar* numbers, Index size) {
    solve.add_to(slot, numbers, size);
  };
  int f = range.begin;
  for (const Branch* branch = branches.first; branch != branches.last; f = branch->end, ++branch) {
    for (; f < branch->begin; ++f) solve.down(f, scratch, add);
    add_kept(*branch, solve, room);
  }
  for (; f < range.end; ++f) solve.down(f, scratch, add);
  f = range.end;
  for (const Branch* branch = branches.last; branch != branches.first; f = branch->begin) {
    --branch;
    while (f > branch->end) solve.up(--f, scratch);
  }
  while (f > range.begin) solve.up(--f, scratch);
  crew.run(count, [&](Index k) {
    const Branch& branch = branches_[order[k]];
    for (int g = branch.end; g > branch.begin;) solve.up(--g, room + branch.scratch);
  });
}

/// The common part of the sparse factors of a forest's fronts, for any kind of numbers: the places
/// of blocks, and the order in which fronts are factored and solved, on one thread or shared.
/// @tparam Factor  has factor_front(front, shares), which factors a front after its children, and
///                 with_passes(run), which calls run(FrontPasses) with the steps of a solve.
template <typename Factor, RealScalar Scalar>
class FrontFactor {
 public:
  /// Updates the pointer to the forest after the forest has moved in memory. Its contents are
  /// unchanged.
  void follow(const FrontForest& forest) noexcept { forest_ = &forest; }
  /// Lets a factorisation end as soon as limits are over; then there is no factor.
  /// @param limits  they outlive their use here; null: none.
  void watch(const SolveLimits* limits) noexcept { limits_ = limits; }

  /// Where the block of two slots begins, counted from the start of all values. row ≥ column in the
  /// order of elimination.
  [[nodiscard]] Index place(Index column, int row) const noexcept {
    const Front& front = forest_->fronts()[forest_->front_of(column)];
    return front.columns + Index(forest_->offset(column)) * front.stride +
           forest_->row_offset(column, row);
  }

  /// x ← H⁻¹ x for the unknowns of a component.
  /// @param starts  per slot, where its unknowns start in x.
  /// @param scratch  memory for the largest front of the component, rounded up to whole packets.
  template <typename Starts>
  void solve(const FrontRange& range, Scalar* x, const Starts& starts,
             Scalar* scratch) const noexcept {
    factor().with_passes(
        [&](const auto& passes) { solve_fronts(*forest_, range, x, starts, scratch, passes); });
  }
  /// The same solve, shared by a crew; the bits are equal.
  /// @param room  branches.room() numbers.
  template <typename Starts>
  void solve(const FrontRange& range, Scalar* x, const Starts& starts, Scalar* room,
             const FrontBranches& branches, Crew& crew) const noexcept {
    factor().with_passes([&](const auto& passes) {
      branches.solve(range, FrontSolve{*forest_, x, starts, passes}, room, crew);
    });
  }

 protected:
  ~FrontFactor() = default;

  /// Factors the fronts of a component. Returns false at the first front that has no factor, and
  /// if the limits are over.
  [[nodiscard]] bool factor_fronts(const FrontRange& range) noexcept {
    for (int f = range.begin; f < range.end; ++f) {
      if (!factor_one(f, nullptr)) return false;
    }
    return !is_stopped(range);
  }
  [[nodiscard]] bool factor_fronts(const FrontRange& range, const FrontBranches& branches,
                                   Crew& crew) noexcept {
    return branches.factor(
               range, crew, [this](int f) { return factor_one(f, nullptr); },
               [&](int f) { return factor_one(f, &crew); }) &&
           !is_stopped(range);
  }
  /// Sets the columns of a component to zero in the values of all fronts.
  void clear_columns_of(const FrontRange& range, Sequence<Scalar>& values) const noexcept {
    if (range.begin == range.end) return;
    const Front& last = forest_->fronts()[range.end - 1];
    std::fill(values.begin() + forest_->fronts()[range.begin].columns,
              values.begin() + last.columns + last.stride * last.own_size, Scalar(0));
  }

  const FrontForest* forest_ = nullptr;
  const SolveLimits* limits_ = nullptr;

 private:
  /// Whether work on the range may have ended unfinished. Fronts of few rows are always finished.
  [[nodiscard]] bool is_stopped(const FrontRange& range) const noexcept {
    if (limits_ == nullptr) return false;
    const auto is_wide = [](const Front& front) {
      return front.own_size + front.row_size > RowShares::asked;
    };
    const auto first = forest_->fronts().begin() + range.begin;
    return std::any_of(first, first + (range.end - range.begin), is_wide) && limits_->is_over();
  }
  [[nodiscard]] bool factor_one(int front, Crew* crew) noexcept {
    const RowShares shares{crew, limits_};
    return !shares.is_over(front + 1) && factor().factor_front(front, shares);
  }
  [[nodiscard]] Factor& factor() noexcept { return static_cast<Factor&>(*this); }
  [[nodiscard]] const Factor& factor() const noexcept { return static_cast<const Factor&>(*this); }
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
