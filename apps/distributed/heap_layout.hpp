// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "scenes/pile.hpp"

namespace carom::distributed {

/// The assignment of the parts of a heap to ranks: strips in x, each divided into pieces along y,
/// with about the same work in each piece. Each rank computes the same layout from the shape only,
/// in memory proportional to the bodies along an edge.
class HeapLayout {
 public:
  /// Divides by the count of bodies.
  HeapLayout(const examples::PileShape& shape, int rank_count)
      : HeapLayout(shape, rank_count, [](Index, Index) { return 1.0; }) {}
  /// Divides again after the work of the bodies of each rank is known.
  /// @param before     the layout of the current assignment.
  /// @param densities  per rank: work per body, > 0.
  HeapLayout(const examples::PileShape& shape, const HeapLayout& before,
             const std::vector<double>& densities)
      : HeapLayout(shape, int(densities.size()), [&](Index x, Index y) {
          return densities[std::size_t(before.owner_of_cell({x, y}))];
        }) {}

  /// The rank of the body at a position [m].
  [[nodiscard]] int owner(const Vector3<double>& place) const {
    return owner_of_cell(cell_of(place));
  }
  /// Whether a body at a position belongs to a rank or may touch one of its bodies.
  [[nodiscard]] bool is_near(const Vector3<double>& place, int rank) const {
    const auto [x, y] = cell_of(place);
    constexpr Index reach = 2;  // bodies in contact are at most this many cells apart
    const std::size_t s =
        std::size_t(std::upper_bound(first_ranks_.begin(), first_ranks_.end(), Index(rank)) -
                    first_ranks_.begin()) -
        1;
    const auto piece = std::size_t(Index(rank) - first_ranks_[s]);
    const auto within = [&](const std::vector<Index>& ends, std::size_t k, Index at) {
      const bool above = k == 0 || at >= ends[k - 1] - reach;
      return above && (k + 1 == ends.size() || at < ends[k] + reach);
    };
    return within(x_ends_, s, x) && within(y_ends_[s], piece, y);
  }

 private:
  struct Cell {
    Index x, y;
  };
  /// @param weight  weight(x, y) is the work of a body in a cell.
  template <typename Weight>
  HeapLayout(const examples::PileShape& shape, int rank_count, const Weight& weight)
      : cell_(examples::detail::pile_radius) {
    const int strips = std::max(1, int(std::sqrt(double(rank_count))));
    const Index side = shape.side();
    const auto cells = std::size_t(2 * side + shape.layers);
    std::vector<double> across(cells, 0);
    for_each(shape, [&](Index x, Index y) { across[std::size_t(x)] += weight(x, y); });
    std::vector<Index> ranks{0};  // per strip: its first rank
    for (int s = 1; s <= strips; ++s) ranks.push_back(Index(rank_count) * s / strips);
    x_ends_ = cut(across, ranks);
    first_ranks_.assign(ranks.begin(), ranks.end());
    std::vector<std::vector<double>> along(std::size_t(strips), std::vector<double>(cells, 0));
    for_each(shape, [&](Index x, Index y) { along[strip_of(x)][std::size_t(y)] += weight(x, y); });
    for (std::size_t s = 0; s < along.size(); ++s) {
      std::vector<Index> pieces;
      for (Index r = ranks[s]; r <= ranks[s + 1]; ++r) pieces.push_back(r - ranks[s]);
      y_ends_.push_back(cut(along[s], pieces));
    }
  }

  [[nodiscard]] int owner_of_cell(const Cell& cell) const {
    const std::size_t s = strip_of(cell.x);
    const auto& ends = y_ends_[s];
    const auto piece = std::upper_bound(ends.begin(), ends.end() - 1, cell.y) - ends.begin();
    return int(first_ranks_[s] + piece);
  }
  [[nodiscard]] Cell cell_of(const Vector3<double>& place) const {
    return {Index(std::lround(place.x() / cell_)), Index(std::lround(place.y() / cell_))};
  }
  [[nodiscard]] std::size_t strip_of(Index x) const {
    return std::size_t(std::upper_bound(x_ends_.begin(), x_ends_.end() - 1, x) - x_ends_.begin());
  }
  template <typename Visit>
  static void for_each(const examples::PileShape& shape, const Visit& visit) {
    Index left = shape.body_count, side = shape.side();
    for (Index layer = 0; left > 0; ++layer, --side) {
      for (Index i = 0; i < side * side && left > 0; ++i, --left) {
        visit(2 * (i % side) + layer, 2 * (i / side) + layer);
      }
    }
  }
  /// Divides cells into ranges whose counts are proportional to the differences of shares.
  /// @return  per range: the cell after its last one.
  static std::vector<Index> cut(const std::vector<double>& counts,
                                const std::vector<Index>& shares) {
    double total = 0, seen = 0;
    for (const double count : counts) total += count;
    std::vector<Index> ends;
    for (std::size_t c = 0; c < counts.size() && ends.size() + 2 < shares.size(); ++c) {
      seen += counts[c];
      while (ends.size() + 2 < shares.size() &&
             seen * double(shares.back()) >= total * double(shares[ends.size() + 1])) {
        ends.push_back(Index(c) + 1);
      }
    }
    ends.resize(shares.size() - 1, Index(counts.size()));
    return ends;
  }

  double cell_;                     ///< [m]
  std::vector<Index> first_ranks_;  ///< per strip; one additional number at the end
  std::vector<Index> x_ends_;       ///< per strip, in cells
  std::vector<std::vector<Index>> y_ends_;
};

}  // namespace carom::distributed
