// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "carom/linalg/detail/front_forest.hpp"
#include "carom/linalg/detail/lu.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Rows of a panel of U by its pivot block.
template <int Width, typename Scalar>
void divide_panel(const Columns<Scalar>& panel, const PivotBlock<Width, Scalar>& block, Index begin,
                  Index end) noexcept {
  for (Index row = begin; row < end; row += row_lanes) {
    RowLanes<Scalar> across[std::size_t(Width)];
    for (int c = 0; c < Width; ++c) across[c] = lanes_at(panel.data + c * panel.stride + row);
    block.solve(across);
    for (int c = 0; c < Width; ++c) lanes_at(panel.data + c * panel.stride + row) = across[c];
  }
}

/// The factored pivot blocks of all panels of a forest's fronts.
template <RealScalar Scalar>
class PanelPivots {
 public:
  /// Unknowns of the widest panel.
  static constexpr Index panel_width = 6;

  /// @note  Allocates beyond the largest forest so far.
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

  /// Keeps the pivot block of the panel that begins at a column of a front.
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
  /// The pivots of a component.
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

 private:
  Sequence<Scalar> pivots_;  ///< column by column
  Sequence<int> exchanges_, start_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
