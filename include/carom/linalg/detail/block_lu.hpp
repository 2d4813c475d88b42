// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "carom/linalg/detail/front_factor.hpp"
#include "carom/linalg/detail/front_forest.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Multiplies the rows of a panel of U by the inverse of its pivot block.
template <int Width, typename Scalar>
void divide_panel(const Columns<Scalar>& panel, const PivotBlock<Width, Scalar>& block, Index begin,
                  Index end) noexcept {
  for (Index row = begin; row < end; row += row_lanes) {
    RowPacket<Scalar> across[std::size_t(Width)];
    for (int c = 0; c < Width; ++c) across[c] = packet_at(panel.data + c * panel.stride + row);
    block.solve(across);
    for (int c = 0; c < Width; ++c) packet_at(panel.data + c * panel.stride + row) = across[c];
  }
}

/// The factored pivot blocks of all panels of all fronts.
template <RealScalar Scalar>
class PanelPivots {
 public:
  /// Count of unknowns in the widest panel.
  static constexpr Index panel_width = 6;

  /// @note  Allocates only for a forest larger than every forest before.
  void reset(const FrontForest& forest) {
    pivots_.resize(panel_width * forest.unknown_count());
    exchanges_.resize(forest.unknown_count());
    start_.resize(forest.fronts().size());
    Index next = 0;
    for (Index f = 0; f < forest.fronts().size(); ++f) {
      start_[f] = int(next);
      next += forest.fronts()[f].own_size;
    }
  }

  /// Stores the pivot block of the panel that begins at column `first` of a front.
  template <int Width>
  void keep(const PivotBlock<Width, Scalar>& pivot, int front, Index first) noexcept {
    const Index place = start_[front] + first;
    std::copy_n(&pivot.entries[0][0], Width * Width, pivots_.begin() + panel_width * place);
    std::copy_n(pivot.exchanges, Width, exchanges_.begin() + place);
  }
  template <int Width>
  [[nodiscard]] PivotBlock<Width, Scalar> at(int front, Index first) const noexcept {
    const Index place = start_[front] + first;
    PivotBlock<Width, Scalar> result;
    std::copy_n(pivots_.begin() + panel_width * place, Width * Width, &result.entries[0][0]);
    std::copy_n(exchanges_.begin() + place, Width, result.exchanges);
    return result;
  }
  /// The range of the pivots of a component.
  [[nodiscard]] PivotSpread<Scalar> spread(const FrontForest& forest,
                                           const FrontRange& range) const noexcept {
    PivotSpread<Scalar> spread;
    for (int f = range.begin; f < range.end; ++f) {
      const auto see = [&, place = start_[f]](Index first, auto width) {
        return spread.see(pivots_.data() + panel_width * (place + first), width.value), true;
      };
      static_cast<void>(for_each_panel(Index(forest.fronts()[f].own_size), see));
    }
    return spread;
  }
  /// The sign of the product of the pivots of a component, and of its row exchanges: +1 or −1.
  [[nodiscard]] int sign(const FrontForest& forest, const FrontRange& range) const noexcept {
    bool negative = false;
    for (int f = range.begin; f < range.end; ++f) {
      const auto see = [&](Index first, auto width) {
        const PivotBlock<width.value, Scalar> block = at<width.value>(f, first);
        for (int k = 0; k < width.value; ++k) {
          negative ^= block.entries[k][k] < Scalar(0);
          negative ^= block.exchanges[k] != k;
        }
        return true;
      };
      static_cast<void>(for_each_panel(Index(forest.fronts()[f].own_size), see));
    }
    return negative ? -1 : 1;
  }

 private:
  Sequence<Scalar> pivots_;  ///< column by column
  Sequence<int> exchanges_, start_;
};

}  // namespace detail

/// Sparse LU factorisation P H Pᵀ = L D U of a block matrix whose pattern is symmetric and whose
/// values are not, front by front in dense kernels.
///
/// Notation: L is lower triangular with unit block diagonal, U is upper triangular with unit block
/// diagonal, D is the block diagonal of the pivots. Two arrays of the same layout store the columns
/// of L D and the rows of U.
///
/// The steps for a front F = [F₁₁ F₁₂; F₂₁ F₂₂] (see FrontForest), children before parents:
/// 1. Add the update matrices of the children to F, both triangles.
/// 2. For each panel p of up to six unknowns of F₁₁, from left to right: subtract the products of
///    the columns and rows to the left; factor the pivot block D_p by LU with row exchanges;
///    compute the rows of U to the right, U_p = D_p⁻¹ F_p.
/// 3. The update matrix is F₂₂ − (L D)₂₁ U₁₂, where F₂₂ contains only the contributions of the
///    children.
/// The factorisation ends after the last front, or fails at the first singular pivot block.
///
/// Rows are exchanged only inside a panel. This is accurate for matrices whose diagonal blocks
/// dominate, or nearly dominate.
/// @note  reset() allocates only for a problem larger than every problem before; all else is
///        real-time safe.
/// @cite  liu1992multifrontal.
template <RealScalar Scalar>
class BlockLu : public detail::FrontFactor<BlockLu<Scalar>, Scalar> {
  using Base = detail::FrontFactor<BlockLu<Scalar>, Scalar>;
  friend Base;

 public:
  using Block = detail::Columns<Scalar>;

  /// Sets the pattern. The forest must outlive its use here and must not change.
  void reset(const FrontForest& forest) {
    forest_ = &forest;
    for (Half* half : {&lower_, &upper_}) {
      half->values.resize(forest.value_count());
      half->updates.resize(forest.update_count());
    }
    pivots_.reset(forest);
  }

  /// Sets the matrix of a component to zero.
  void clear(const FrontRange& range) noexcept {
    for (Half* half : {&lower_, &upper_}) this->clear_columns_of(range, half->values);
  }

  /// Block (row, column) of the matrix. It has the same place in both halves. Entries above the
  /// diagonal of the matrix are not used here.
  [[nodiscard]] Block lower(Index place, Index column) noexcept {
    return {lower_.values.data() + place, forest_->fronts()[forest_->front_of(column)].stride};
  }
  /// Block (column, row) of the matrix, transposed. Entries below the diagonal of the matrix are
  /// not used here.
  [[nodiscard]] Block upper(Index place, Index column) noexcept {
    return {upper_.values.data() + place, forest_->fronts()[forest_->front_of(column)].stride};
  }

  /// Factors a component in place. Returns false when a pivot block is singular; the factor must
  /// then not be used.
  [[nodiscard]] bool factor(const FrontRange& range) noexcept { return this->factor_fronts(range); }
  /// The same factorisation, shared by a crew; the bits are equal.
  /// @param branches  the component is appended to them.
  [[nodiscard]] bool factor(const FrontRange& range, const detail::FrontBranches& branches,
                            Crew& crew) noexcept {
    return this->factor_fronts(range, branches, crew);
  }
  /// The range of the pivots of a component's factor.
  [[nodiscard]] detail::PivotSpread<Scalar> pivot_spread(const FrontRange& range) const noexcept {
    return pivots_.spread(*forest_, range);
  }

  /// The sign of the determinant of a factored component: +1 or −1.
  [[nodiscard]] int determinant_sign(const FrontRange& range) const noexcept {
    return pivots_.sign(*forest_, range);
  }

  /// x ← H⁻ᵀ x; the arguments are those of solve().
  template <typename Starts>
  void solve_transposed(const FrontRange& range, Scalar* x, const Starts& starts,
                        Scalar* scratch) const noexcept;

 private:
  /// The columns of L D, or the rows of U.
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
  [[nodiscard]] bool factor_front(int f, const detail::RowShares& shares) noexcept;
  template <int Width>
  [[nodiscard]] bool factor_panel(int number, Index first,
                                  const detail::RowShares& shares) noexcept;
  bool subtract_updates(const Front& front, Half& mine, const Half& other,
                        const detail::RowShares& shares) noexcept;
  template <typename Run>
  void with_passes(const Run& run) const noexcept;
  void solve_front_lower(int number, Scalar* x) const noexcept;
  void solve_front_lower_transposed(int number, Scalar* x) const noexcept;

  using Base::forest_;
  Half lower_, upper_;
  detail::PanelPivots<Scalar> pivots_;
};

// --- implementation ---

/// Processes one panel of pivots: subtracts the contribution of the columns to the left from both
/// halves, factors the pivot block, and solves the rows of U with it. Where threads share the rows,
/// the rows with the pivots come first.
template <RealScalar Scalar>
template <int Width>
bool BlockLu<Scalar>::factor_panel(int number, Index first,
                                   const detail::RowShares& shares) noexcept {
  const Front& front = forest_->fronts()[number];
  const Block left = columns(lower_, front), right = columns(upper_, front);
  const Index begin = detail::lanes_below(first);
  const Index end = detail::lanes_above(Index(front.own_size) + front.row_size);
  const Index head_end = shares.head_end(begin, end, 2 * first * Width);
  const Block l{left.data + first * left.stride, left.stride};
  const Block u{right.data + first * right.stride, right.stride};
  const auto subtract = [&](Index from, Index to) {
    detail::subtract_product<Width, false, Scalar>(l, {left.data, left.stride}, right.data + first,
                                                   first, from, to);
    detail::subtract_product<Width, false, Scalar>(u, {right.data, right.stride}, left.data + first,
                                                   first, from, to);
  };
  subtract(begin, head_end);
  detail::PivotBlock<Width, Scalar> block;
  for (int c = 0; c < Width; ++c) {
    for (int r = 0; r < Width; ++r) {
      block.entries[c][r] =
          r >= c ? l.data[c * l.stride + first + r] : u.data[r * u.stride + first + c];
    }
  }
  if (!block.factor()) return false;
  pivots_.template keep<Width>(block, number, first);
  for (int c = 0; c < Width; ++c) {  // zeros let kernels run over whole packets
    std::fill(l.data + c * l.stride + begin, l.data + c * l.stride + first + Width, Scalar(0));
    std::fill(u.data + c * u.stride + begin, u.data + c * u.stride + first + Width, Scalar(0));
  }
  detail::divide_panel(u, block, detail::lanes_below(first + Width), head_end);
  shares(head_end, end, [&](Index from, Index to) {
    subtract(from, to);
    detail::divide_panel(u, block, from, to);
  });
  return true;
}

/// Computes the update matrix of a front, lower triangle of one half: H₂₂ − L₂₁ U₁₂, or its
/// transpose. Returns false if the limits ended the work.
template <RealScalar Scalar>
bool BlockLu<Scalar>::subtract_updates(const Front& front, Half& mine, const Half& other,
                                       const detail::RowShares& shares) noexcept {
  const Block rest{mine.updates.data() + front.update, front.update_stride};
  const Index depth = front.own_size, rows = front.row_size, end = detail::lanes_above(rows);
  const detail::Columns<const Scalar> below{columns(mine, front).data + depth, front.stride};
  const Scalar* const across = columns(other, front).data + depth;
  return detail::share_panels(rows, rows * rows * depth / 2, shares, [&](Index first, auto width) {
    const Block panel{rest.data + first * rest.stride, rest.stride};
    const Index begin = detail::lanes_below(first);
    if (front.first_child >= 0) {
      detail::subtract_product<width.value, false, Scalar>(panel, below, across + first, depth,
                                                           begin, end);
    } else {
      detail::subtract_product<width.value, true, Scalar>(panel, below, across + first, depth,
                                                          begin, end);
    }
  });
}

template <RealScalar Scalar>
bool BlockLu<Scalar>::factor_front(int f, const detail::RowShares& shares) noexcept {
  const Front& front = forest_->fronts()[f];
  if (front.first_child >= 0) {
    shares.both([&](bool upper) {
      Half& half = upper ? upper_ : lower_;
      detail::gather_children(*forest_, front, half.values.data(), half.updates.data());
    });
  }
  const bool regular = detail::for_each_panel(Index(front.own_size), [&](Index first, auto width) {
    if (first > 0 && shares.is_over(first)) return false;
    return factor_panel<width.value>(f, first, shares);
  });
  if (!regular) return false;
  return subtract_updates(front, lower_, upper_, shares) &&
         subtract_updates(front, upper_, lower_, shares);
}

template <RealScalar Scalar>
void BlockLu<Scalar>::solve_front_lower(int number, Scalar* x) const noexcept {
  const Front& front = forest_->fronts()[number];
  const detail::Columns<const Scalar> l = columns(lower_, front);
  const Index end = detail::lanes_above(front.own_size + front.row_size);
  static_cast<void>(detail::for_each_panel(Index(front.own_size), [&](Index first, auto width) {
    Scalar value[std::size_t(width.value)];
    std::copy_n(x + first, width.value, value);
    pivots_.template at<width.value>(number, first).solve(value);
    for (int c = 0; c < width.value; ++c) {
      const Scalar* const column = l.data + (first + c) * l.stride;
      for (Index row = detail::lanes_below(first); row < end; row += detail::row_lanes) {
        detail::packet_at(x + row) -= value[c] * detail::packet_at(column + row);
      }
    }
    for (int c = 0; c < width.value; ++c) x[first + c] = value[c];
    return true;
  }));
}

template <RealScalar Scalar>
template <typename Run>
void BlockLu<Scalar>::with_passes(const Run& run) const noexcept {
  const auto down = [&](int f, Scalar* y) { solve_front_lower(f, y); };
  const auto up = [&](int f, Scalar* y) {
    const Front& front = forest_->fronts()[f];
    detail::solve_unit_rows(columns(upper_, front), front.own_size,
                            Index(front.own_size) + front.row_size, y);
  };
  run(detail::FrontPasses{down, up});
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
          detail::RowPacket<Scalar> covered = detail::RowPacket<Scalar>::Zero();
          for (Index row = detail::lanes_below(first); row < end; row += detail::row_lanes) {
            covered += detail::packet_at(x + row) * detail::packet_at(column + row);
          }
          value[c] = x[first + c] - covered.sum();
        }
        pivots_.template at<width.value>(number, first).solve_transposed(value);
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
