// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

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
    RowLanes<Scalar> covered = RowLanes<Scalar>::Zero();
    for (Index row = lanes_below(c); row < end; row += row_lanes) {
      covered += lanes_at(x + row) * lanes_at(upper.data + c * upper.stride + row);
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
      lanes_at(x + row) -= value * lanes_at(upper.data + c * upper.stride + row);
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

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
