// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "carom/linalg/detail/front_pieces.hpp"
#include "carom/linalg/detail/lu.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Sparse LU factorisation P H Pᵀ = L U of a matrix made of blocks whose pattern, not whose values,
/// is symmetric: front by front in dense kernels, as BlockCholesky.
///
/// It keeps two halves of the same layout: L by columns, and U by rows. Rows are exchanged inside
/// panels of up to six unknowns only, which serves matrices whose diagonal blocks dominate, or
/// nearly.
/// @note  reset() allocates beyond the largest problem so far; all else is real-time safe.
/// @cite  liu1992multifrontal.
template <RealScalar Scalar>
class BlockLu {
 public:
  using Block = detail::Columns<Scalar>;

  /// Takes a pattern. The forest must outlive its use here and stay unchanged.
  void reset(const FrontForest& forest) {
    forest_ = &forest;
    for (Half* half : {&lower_, &upper_}) {
      half->values.resize(forest.value_count());
      half->updates.resize(forest.update_count());
    }
    pivots_.resize(panel_width * forest.unknown_count());
    exchanges_.resize(forest.unknown_count());
    pivot_start_.resize(forest.fronts().size());
    Index next = 0;
    for (Index f = 0; f < forest.fronts().size(); ++f) {
      pivot_start_[f] = int(next);
      next += forest.fronts()[f].own_size;
    }
  }

  /// Tells where the forest is after it has moved, unchanged.
  void follow(const FrontForest& forest) noexcept { forest_ = &forest; }

  /// Sets a component's matrix to zero.
  void clear(const FrontRange& range) noexcept {
    if (range.begin == range.end) return;
    const Front& first = forest_->fronts()[range.begin];
    const Front& last = forest_->fronts()[range.end - 1];
    for (Half* half : {&lower_, &upper_}) {
      std::fill(half->values.begin() + first.columns,
                half->values.begin() + last.columns + last.stride * last.own_size, Scalar(0));
    }
  }

  /// Where the block of two slots begins in both halves, row ≥ column in the order of elimination,
  /// counted from the start of all values.
  [[nodiscard]] Index place(Index column, int row) const noexcept {
    const Front& front = forest_->fronts()[forest_->front_of(column)];
    return front.columns + Index(forest_->offset(column)) * front.stride +
           forest_->row_offset(column, row);
  }
  /// Block (row, column) of the matrix, at its place. Entries above the diagonal of the matrix do
  /// not matter.
  [[nodiscard]] Block lower(Index place, Index column) noexcept {
    return {lower_.values.data() + place, forest_->fronts()[forest_->front_of(column)].stride};
  }
  /// Block (column, row) of the matrix, transposed; as before.
  [[nodiscard]] Block upper(Index place, Index column) noexcept {
    return {upper_.values.data() + place, forest_->fronts()[forest_->front_of(column)].stride};
  }

  /// Factors a component in place. False when a pivot block is singular; the factor is then of no
  /// use.
  [[nodiscard]] bool factor(const FrontRange& range) noexcept;
  /// The pivots of a component's factor.
  [[nodiscard]] detail::PivotSpread<Scalar> pivot_spread(const FrontRange& range) const noexcept {
    detail::PivotSpread<Scalar> spread;
    for (int f = range.begin; f < range.end; ++f) {
      const auto see = [&, place = pivot_start_[f]](Index first, auto width) {
        return spread.see(pivots_.data() + panel_width * (place + first), width.value), true;
      };
      static_cast<void>(detail::for_each_panel(Index(forest_->fronts()[f].own_size), see));
    }
    return spread;
  }

  /// x ← H⁻¹ x on a component's unknowns.
  /// @param starts  per slot, where its unknowns start in x.
  /// @param scratch  room for the component's largest front, in whole lanes.
  template <typename Starts>
  void solve(const FrontRange& range, Scalar* x, const Starts& starts,
             Scalar* scratch) const noexcept;
  /// x ← H⁻ᵀ x, as solve().
  template <typename Starts>
  void solve_transposed(const FrontRange& range, Scalar* x, const Starts& starts,
                        Scalar* scratch) const noexcept;

 private:
  static constexpr Index panel_width = 6;

  /// L by columns, or U by rows.
  struct Half {
    Sequence<Scalar> values, updates;
  };

  [[nodiscard]] static Block columns(Half& half, const Front& front) noexcept {
    return {half.values.data() + front.columns, front.stride};
  }
  [[nodiscard]] static detail::Columns<const Scalar> columns(const Half& half,
                                                             const Front& front) noexcept {
    return {half.values.data() + front.columns, front.stride};
  }
  /// The pivot block of the panel that begins at a column of a front.
  template <int Width>
  void keep(const detail::PivotBlock<Width, Scalar>& pivot, int front, Index first) noexcept {
    const Index place = pivot_start_[front] + first;
    std::copy_n(&pivot.entries[0][0], Width * Width, pivots_.begin() + panel_width * place);
    std::copy_n(pivot.exchanges, Width, exchanges_.begin() + place);
  }
  template <int Width>
  [[nodiscard]] detail::PivotBlock<Width, Scalar> pivot(int front, Index first) const noexcept {
    const Index place = pivot_start_[front] + first;
    detail::PivotBlock<Width, Scalar> result;
    std::copy_n(pivots_.begin() + panel_width * place, Width * Width, &result.entries[0][0]);
    std::copy_n(exchanges_.begin() + place, Width, result.exchanges);
    return result;
  }
  void gather_children(const Front& front, Half& half) noexcept;
  template <int Width>
  [[nodiscard]] bool factor_panel(int number, Index first) noexcept;
  void subtract_updates(const Front& front, Half& mine, const Half& other) noexcept;
  void solve_front_lower(int number, Scalar* x) const noexcept;
  void solve_front_lower_transposed(int number, Scalar* x) const noexcept;

  const FrontForest* forest_ = nullptr;
  Half lower_, upper_;
  Sequence<Scalar> pivots_;  ///< factors of the pivot blocks, column by column
  Sequence<int> exchanges_, pivot_start_;
};

// --- implementation ---

template <RealScalar Scalar>
void BlockLu<Scalar>::gather_children(const Front& front, Half& half) noexcept {
  Scalar* const rest = half.updates.data() + front.update;
  std::fill(rest, rest + front.update_stride * front.row_size, Scalar(0));
  for (int c = front.first_child; c >= 0; c = forest_->fronts()[c].next_sibling) {
    detail::add_to_parent(*forest_, forest_->fronts()[c], half.values.data(), half.updates.data());
  }
}

/// One panel of pivots: the contribution of the columns to the left is subtracted from both halves,
/// the pivot block is factored, and the rows of U are solved with it.
template <RealScalar Scalar>
template <int Width>
bool BlockLu<Scalar>::factor_panel(int number, Index first) noexcept {
  const Front& front = forest_->fronts()[number];
  const Block left = columns(lower_, front), right = columns(upper_, front);
  const Index begin = detail::lanes_below(first), size = front.own_size + front.row_size;
  const Index end = detail::lanes_above(size);
  const Block l{left.data + first * left.stride, left.stride};
  const Block u{right.data + first * right.stride, right.stride};
  const detail::Columns<const Scalar> known_left{left.data, left.stride};
  const detail::Columns<const Scalar> known_right{right.data, right.stride};
  detail::subtract_product<Width, false, Scalar>(l, known_left, right.data + first, first, begin,
                                                 end);
  detail::subtract_product<Width, false, Scalar>(u, known_right, left.data + first, first, begin,
                                                 end);
  detail::PivotBlock<Width, Scalar> block;
  for (int c = 0; c < Width; ++c) {
    for (int r = 0; r < Width; ++r) {
      block.entries[c][r] =
          r >= c ? l.data[c * l.stride + first + r] : u.data[r * u.stride + first + c];
    }
  }
  if (!block.factor()) return false;
  keep<Width>(block, number, first);
  for (int c = 0; c < Width; ++c) {  // zeros let kernels run over whole lanes
    std::fill(l.data + c * l.stride + begin, l.data + c * l.stride + first + Width, Scalar(0));
    std::fill(u.data + c * u.stride + begin, u.data + c * u.stride + first + Width, Scalar(0));
  }
  for (Index row = detail::lanes_below(first + Width); row < end; row += detail::row_lanes) {
    detail::RowLanes<Scalar> across[std::size_t(Width)];
    for (int c = 0; c < Width; ++c) across[c] = detail::lanes_at(u.data + c * u.stride + row);
    block.solve(across);
    for (int c = 0; c < Width; ++c) detail::lanes_at(u.data + c * u.stride + row) = across[c];
  }
  return true;
}

/// What a front leaves, lower triangle of one half: H₂₂ − L₂₁ U₁₂, or its transpose.
template <RealScalar Scalar>
void BlockLu<Scalar>::subtract_updates(const Front& front, Half& mine, const Half& other) noexcept {
  const Block rest{mine.updates.data() + front.update, front.update_stride};
  const detail::Columns<const Scalar> below{columns(mine, front).data + front.own_size,
                                            front.stride};
  const Scalar* const across = columns(other, front).data + front.own_size;
  static_cast<void>(detail::for_each_panel(Index(front.row_size), [&](Index first, auto width) {
    const Block panel{rest.data + first * rest.stride, rest.stride};
    const Index begin = detail::lanes_below(first), end = detail::lanes_above(front.row_size);
    if (front.first_child >= 0) {
      detail::subtract_product<width.value, false, Scalar>(panel, below, across + first,
                                                           front.own_size, begin, end);
    } else {
      detail::subtract_product<width.value, true, Scalar>(panel, below, across + first,
                                                          front.own_size, begin, end);
    }
    return true;
  }));
}

template <RealScalar Scalar>
bool BlockLu<Scalar>::factor(const FrontRange& range) noexcept {
  for (int f = range.begin; f < range.end; ++f) {
    const Front& front = forest_->fronts()[f];
    if (front.first_child >= 0) {
      for (Half* half : {&lower_, &upper_}) gather_children(front, *half);
    }
    const bool regular = detail::for_each_panel(
        Index(front.own_size),
        [&](Index first, auto width) { return factor_panel<width.value>(f, first); });
    if (!regular) return false;
    subtract_updates(front, lower_, upper_);
    subtract_updates(front, upper_, lower_);
  }
  return true;
}

template <RealScalar Scalar>
void BlockLu<Scalar>::solve_front_lower(int number, Scalar* x) const noexcept {
  const Front& front = forest_->fronts()[number];
  const detail::Columns<const Scalar> l = columns(lower_, front);
  const Index end = detail::lanes_above(front.own_size + front.row_size);
  static_cast<void>(detail::for_each_panel(Index(front.own_size), [&](Index first, auto width) {
    Scalar value[std::size_t(width.value)];
    std::copy_n(x + first, width.value, value);
    pivot<width.value>(number, first).solve(value);
    for (int c = 0; c < width.value; ++c) {
      const Scalar* const column = l.data + (first + c) * l.stride;
      for (Index row = detail::lanes_below(first); row < end; row += detail::row_lanes) {
        detail::lanes_at(x + row) -= value[c] * detail::lanes_at(column + row);
      }
    }
    for (int c = 0; c < width.value; ++c) x[first + c] = value[c];
    return true;
  }));
}

template <RealScalar Scalar>
template <typename Starts>
void BlockLu<Scalar>::solve(const FrontRange& range, Scalar* x, const Starts& starts,
                            Scalar* scratch) const noexcept {
  const auto down = [&](int f, Scalar* y) { solve_front_lower(f, y); };
  const auto up = [&](int f, Scalar* y) {
    const Front& front = forest_->fronts()[f];
    detail::solve_unit_rows(columns(upper_, front), front.own_size,
                            Index(front.own_size) + front.row_size, y);
  };
  detail::solve_fronts(*forest_, range, x, starts, scratch, detail::FrontPasses{down, up});
}

template <RealScalar Scalar>
void BlockLu<Scalar>::solve_front_lower_transposed(int number, Scalar* x) const noexcept {
  const Front& front = forest_->fronts()[number];
  const detail::Columns<const Scalar> l = columns(lower_, front);
  const Index end = detail::lanes_above(front.own_size + front.row_size);
  static_cast<void>(
      detail::for_each_panel_in_reverse(Index(front.own_size), [&](Index first, auto width) {
        Scalar value[std::size_t(width.value)];
        for (int c = 0; c < width.value; ++c) {
          const Scalar* const column = l.data + (first + c) * l.stride;
          detail::RowLanes<Scalar> covered = detail::RowLanes<Scalar>::Zero();
          for (Index row = detail::lanes_below(first); row < end; row += detail::row_lanes) {
            covered += detail::lanes_at(x + row) * detail::lanes_at(column + row);
          }
          value[c] = x[first + c] - covered.sum();
        }
        pivot<width.value>(number, first).solve_transposed(value);
        std::copy_n(value, width.value, x + first);
        return true;
      }));
}

template <RealScalar Scalar>
template <typename Starts>
void BlockLu<Scalar>::solve_transposed(const FrontRange& range, Scalar* x, const Starts& starts,
                                       Scalar* scratch) const noexcept {
  const auto down = [&](int f, Scalar* y) {
    const Front& front = forest_->fronts()[f];
    detail::solve_unit_rows_transposed(columns(upper_, front), front.own_size,
                                       Index(front.own_size) + front.row_size, y);
  };
  const auto up = [&](int f, Scalar* y) { solve_front_lower_transposed(f, y); };
  detail::solve_fronts(*forest_, range, x, starts, scratch, detail::FrontPasses{down, up});
}

}  // namespace CAROM_ABI
}  // namespace carom
