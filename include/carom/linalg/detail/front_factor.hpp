// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>

#include "carom/linalg/detail/crew.hpp"
#include "carom/linalg/detail/front_forest.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Adds the square that a front leaves to its parent, lower triangles: to the columns that the
/// parent eliminates and to those that remain.
/// @param values, updates  of all fronts, placed as the forest says.
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
      // Rows of the columns that stay are counted from the end of the parent's own.
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

/// What the children of a front leave to it; the square that it leaves itself counts as zero
/// before.
template <typename Scalar>
void gather_children(const FrontForest& forest, const Front& front, Scalar* values,
                     Scalar* updates) noexcept {
  Scalar* const rest = updates + front.update;
  std::fill(rest, rest + front.update_stride * front.row_size, Scalar(0));
  for (int c = front.first_child; c >= 0; c = forest.fronts()[c].next_sibling) {
    add_to_parent(forest, forest.fronts()[c], values, updates);
  }
}

/// Calls visit(unknown in the front, start in x, count) for own slots, then for rows.
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

/// x ← U⁻¹ x for the leading rows of a U with a unit diagonal, kept row by row in columns with
/// zeros above what is beyond the panel: x has lanes_above(rows) numbers.
template <typename Scalar>
void solve_unit_rows(const Columns<const Scalar>& upper, Index count, Index rows,
                     Scalar* x) noexcept {
  const Index end = lanes_above(rows);
  // A panel's own zeros stand above it, so the columns go in reverse one by one.
  for (Index c = count - 1; c >= 0; --c) {
    RowPacket<Scalar> covered = RowPacket<Scalar>::Zero();
    for (Index row = lanes_below(c); row < end; row += row_lanes) {
      covered += packet_at(x + row) * packet_at(upper.data + c * upper.stride + row);
    }
    x[c] -= covered.sum();
  }
}
/// x ← U⁻ᵀ x by the same, the rows below taking part.
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

/// The two steps of a factor on a front's unknowns y, its own and then its rows'. down(f, y) is
/// called from the first front to the last; it finds zeros in the rows and leaves there what is to
/// be added to them. up(f, y) is called from the last to the first and finds the rows known.
template <typename Down, typename Up>
struct FrontPasses {
  Down down;
  Up up;
};
template <typename Down, typename Up>
FrontPasses(Down, Up) -> FrontPasses<Down, Up>;

/// The passes of one solve, front by front.
/// @tparam Starts  per slot, where its unknowns start in x.
template <typename Scalar, typename Starts, typename Down, typename Up>
struct FrontSolve {
  const FrontForest& forest;
  Scalar* x;
  const Starts& starts;
  const FrontPasses<Down, Up>& passes;

  /// @param scratch  room for the front, in whole lanes.
  /// @param add      add(slot, numbers, count) takes what a row's unknowns are to be increased by.
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

/// Solves with a factor of a component front by front.
/// @param starts   per slot, where its unknowns start in x.
/// @param scratch  y: room for the component's largest front, in whole lanes.
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
  /// Multiplications of a component's factor from which it is shared: some hundred microseconds.
  /// Less is not worth waking threads up for.
  static constexpr double least_work = 1e6;
  /// A branch does at most one in so many of them: more branches than threads even out the work.
  static constexpr double least_branches = 24;
  /// The same where no front has much work: what is left of these trees would wait for one thread.
  static constexpr double least_large_branches = 4;
  /// Multiplications of a front that a crew shares well.
  static constexpr double much_work = 2e6;
};

/// Parts of the forests of large components that can be factored side by side, each a stretch of
/// neighbouring fronts with all that lead to them; what is left, the top, comes after them. They
/// follow from the pattern alone, and no front sees who works on another, so the numbers are those
/// of one thread.
/// @note  clear() and append() allocate beyond the largest problem so far.
class FrontBranches {
 public:
  /// Begins anew for a forest.
  void clear(const FrontForest& forest) {
    // With few unknowns there is room for any pattern that they may have next time.
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
  /// Takes on a component, after those before it in the forest.
  void append(const FrontForest& forest, const FrontRange& range);

  /// Numbers that solve() needs room for.
  [[nodiscard]] Index room() const noexcept { return room_ == 0 ? 0 : room_ + largest_; }
  [[nodiscard]] bool suit(const FrontRange& range) const noexcept {
    const auto [first, last] = branches_of(range);
    return last - first > 1;
  }
  /// Calls low(front) for the fronts of all branches, which the crew shares, then top(front) for
  /// the others from the first to the last. False where one of them returns false.
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
  /// As solve_fronts(): what a branch adds to unknowns beyond it is kept until the top is solved,
  /// and added in the order of the fronts.
  /// @param room  room() numbers.
  template <typename Solve, typename Scalar>
  void solve(const FrontRange& range, const Solve& solve, Scalar* room, Crew& crew) const noexcept;

 private:
  struct Branch {
    int begin, end;  ///< fronts
    int slot_end;
    Index scratch;  ///< of its largest front, in the room
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
  /// The branches of a component, that with most work first.
  [[nodiscard]] const int* order_of(const Branch* first) const noexcept {
    return order_.begin() + (first - branches_.begin());
  }
  void place(const FrontForest& forest, Branch& branch);
  /// Adds what the fronts of a branch have kept.
  template <typename Solve, typename Scalar>
  void add_kept(const Branch& branch, const Solve& solve, const Scalar* room) const noexcept;

  Sequence<Branch> branches_;
  Sequence<Index> spill_start_;    ///< per front of a branch, what it adds beyond, in the room
  Sequence<int> order_;            ///< of the branches of each component
  Sequence<double> work_;          ///< per front, with all that lead to it
  Sequence<double> largest_work_;  ///< per front, of one of these
  Index room_ = 0;                 ///< of all branches
  Index largest_ = 0;              ///< front
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
  int begin = range.begin;  // of the tree that ends with the next front whose parent is in the top
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

/// Gives a branch its places in the room.
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
  // To keep apart what branches add costs a third more, which helpers alone make worth it.
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

/// What sparse factors of a forest's fronts have in common, whatever their numbers: where blocks
/// lie, and the order in which fronts are factored and solved, on one thread or shared.
/// @tparam Factor  has factor_front(front, shares), which factors a front after its children, and
///                 with_passes(run), which calls run(FrontPasses) with the steps of a solve.
template <typename Factor, RealScalar Scalar>
class FrontFactor {
 public:
  /// Updates the pointer to the forest after it has moved in memory, unchanged.
  void follow(const FrontForest& forest) noexcept { forest_ = &forest; }

  /// Where the block of two slots begins, row ≥ column in the order of elimination, counted from
  /// the start of all values.
  [[nodiscard]] Index place(Index column, int row) const noexcept {
    const Front& front = forest_->fronts()[forest_->front_of(column)];
    return front.columns + Index(forest_->offset(column)) * front.stride +
           forest_->row_offset(column, row);
  }

  /// x ← H⁻¹ x on a component's unknowns.
  /// @param starts  per slot, where its unknowns start in x.
  /// @param scratch  room for the component's largest front, in whole lanes.
  template <typename Starts>
  void solve(const FrontRange& range, Scalar* x, const Starts& starts,
             Scalar* scratch) const noexcept {
    factor().with_passes(
        [&](const auto& passes) { solve_fronts(*forest_, range, x, starts, scratch, passes); });
  }
  /// The same with the work shared, to the same bits.
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

  /// Factors the fronts of a component; false at the first that has no factor.
  [[nodiscard]] bool factor_fronts(const FrontRange& range) noexcept {
    for (int f = range.begin; f < range.end; ++f) {
      if (!factor().factor_front(f, {})) return false;
    }
    return true;
  }
  [[nodiscard]] bool factor_fronts(const FrontRange& range, const FrontBranches& branches,
                                   Crew& crew) noexcept {
    return branches.factor(
        range, crew, [this](int f) { return factor().factor_front(f, {}); },
        [&](int f) { return factor().factor_front(f, RowShares{&crew}); });
  }
  /// Sets the columns of a component to zero in the values of all fronts.
  void clear_columns_of(const FrontRange& range, Sequence<Scalar>& values) const noexcept {
    if (range.begin == range.end) return;
    const Front& last = forest_->fronts()[range.end - 1];
    std::fill(values.begin() + forest_->fronts()[range.begin].columns,
              values.begin() + last.columns + last.stride * last.own_size, Scalar(0));
  }

  const FrontForest* forest_ = nullptr;

 private:
  [[nodiscard]] Factor& factor() noexcept { return static_cast<Factor&>(*this); }
  [[nodiscard]] const Factor& factor() const noexcept { return static_cast<const Factor&>(*this); }
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
