// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/solvers/rows/packed_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// H = I + Ĵᵀ G Ĵ of the islands that the graph says are direct, and its factor. Islands are
/// independent: different threads may work on different ones.
///
/// clear() an island, or touch() the edges whose G changes and clear_touched(); fill(), factor(),
/// then solve().
/// @note  lay_out() allocates beyond the largest problem so far; all else is real-time safe.
template <RealScalar Scalar>
class DirectHessian {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Takes on a pattern.
  void lay_out(const ContactGraph& graph, const Packed& packed) {
    cholesky_.reset(graph.forest());
    scratch_.reserve(packed.vector_size());
    cross_blocks_.reserve(graph.part_count());
    // Without an island to factor the room stays untouched, and takes no memory.
    const bool any = std::any_of(packed.islands().begin(), packed.islands().end(),
                                 [](const PackedIsland& island) { return island.direct; });
    scratch_.resize(any ? packed.vector_size() : 0);
    cross_blocks_.resize(any ? packed.edge_count() : 0);
    branches_.clear(graph.forest());
    for (const PackedIsland& island : packed.islands()) {
      if (!island.direct) continue;
      branches_.append(graph.forest(), island.range);
      for (Index e = island.first_edge; e < island.edge_end; ++e) {
        const PackedEdge& edge = packed.edge(e);
        if (edge.high_slot < 0) continue;
        cross_blocks_[e] = cholesky_.place(edge.low_slot, edge.high_slot);
      }
    }
    room_.resize(branches_.room());
  }
  /// Says that the graph taken on has moved in memory, unchanged.
  void follow(const ContactGraph& graph) noexcept { cholesky_.follow(graph.forest()); }

  /// Says that all of an island's matrix is to be filled.
  void clear(const PackedIsland& island) noexcept { cholesky_.touch(island.range); }
  /// Says that an edge's G changes.
  void touch(const PackedEdge& edge) noexcept {
    cholesky_.touch(edge.low_slot);
    if (edge.high_slot >= 0) cholesky_.touch(edge.high_slot);
  }
  /// Says that the columns which touched edges reach are to be filled; the rest of the factor
  /// stays.
  void clear_touched(const PackedIsland& island) noexcept { cholesky_.spread_touch(island.range); }

  /// Fills what is cleared with H + raise I.
  /// @param add  add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high. Where
  ///             the first target has no data, low-low and high-low are left out.
  /// @return  the largest entry filled on the diagonal of Ĵᵀ G Ĵ, or 1; infinite if one is NaN.
  template <typename Add>
  [[nodiscard]] Scalar fill(const Packed& packed, const PackedIsland& island, const Add& add,
                            const Scalar& raise = Scalar(0)) noexcept {
    return fill_piece(
        packed, island, [](const auto&) {}, add, raise);
  }
  /// The same for a piece of an island, side by side with others: columns of its bodies.
  /// @param for_each_crossing  calls visit(edge) for the edges from bodies of earlier pieces to
  ///                           those of this one.
  /// @param add  where the last target has no data, high-high is left out too.
  template <typename ForEachCrossing, typename Add>
  [[nodiscard]] Scalar fill_piece(const Packed& packed, const PackedIsland& piece,
                                  const ForEachCrossing& for_each_crossing, const Add& add,
                                  const Scalar& raise) noexcept;

  /// Factors what was filled; false when a pivot is not positive: clear() the island then.
  /// @param crew  shares the work on a large island, to the same bits.
  [[nodiscard]] bool factor(const PackedIsland& island, Crew* crew = nullptr) noexcept {
    if (crew == nullptr || !branches_.suit(island.range)) return cholesky_.factor(island.range);
    return cholesky_.factor(island.range, branches_, *crew);
  }

  /// x ← H⁻¹ x on an island, in a packed vector; its other numbers stay.
  void solve(const Packed& packed, const PackedIsland& island, Scalar* x,
             Crew* crew = nullptr) noexcept {
    if (crew != nullptr && branches_.suit(island.range)) {
      return cholesky_.solve(island.range, x, packed.starts(), room_.data(), branches_, *crew);
    }
    cholesky_.solve(island.range, x, packed.starts(), scratch_.data() + island.vector_start);
  }

 private:
  BlockCholesky<Scalar> cholesky_;
  Sequence<Index> cross_blocks_;  ///< per edge, its block in the factor
  FrontBranches branches_;
  Sequence<Scalar> room_;     ///< of the branches; only one island at a time has a crew
  Sequence<Scalar> scratch_;  ///< as a vector: no front is larger than its island
};

// --- implementation ---

template <RealScalar Scalar>
template <typename ForEachCrossing, typename Add>
Scalar DirectHessian<Scalar>::fill_piece(const Packed& packed, const PackedIsland& piece,
                                         const ForEachCrossing& for_each_crossing, const Add& add,
                                         const Scalar& raise) noexcept {
  for (int slot = piece.range.first_slot; slot < piece.range.slot_end; ++slot) {
    if (cholesky_.touched(slot)) cholesky_.clear_columns(slot);
  }
  // To a diagonal block edges add in the order of their low bodies: those before the piece first.
  for_each_crossing([&](const PackedEdge& edge) {
    if (!cholesky_.touched(edge.high_slot)) return;
    const Columns<Scalar> none{}, targets[3] = {none, none, cholesky_.diagonal(edge.high_slot)};
    add(edge, targets);
  });
  for (Index e = piece.first_edge; e < piece.edge_end; ++e) {
    const PackedEdge& edge = packed.edge(e);
    const bool low = cholesky_.touched(edge.low_slot);
    const bool high = edge.high_slot >= 0 && edge.high_slot < piece.range.slot_end &&
                      cholesky_.touched(edge.high_slot);
    if (!low && !high) continue;
    Columns<Scalar> targets[3] = {};
    if (low) targets[0] = cholesky_.diagonal(edge.low_slot);
    if (low && edge.high_slot >= 0) targets[1] = cholesky_.block(cross_blocks_[e], edge.low_slot);
    if (high) targets[2] = cholesky_.diagonal(edge.high_slot);
    add(edge, targets);
  }
  Scalar largest = 1;
  for (int slot = piece.range.first_slot; slot < piece.range.slot_end; ++slot) {
    if (!cholesky_.touched(slot)) continue;
    const auto block = cholesky_.diagonal(slot);
    for (Index k = 0; k < packed.size(slot); ++k) {
      Scalar& entry = block.data[k * (block.stride + 1)];
      if (!(entry <= largest)) {
        largest = entry > largest ? entry : std::numeric_limits<Scalar>::infinity();
      }
      entry += 1 + raise;
    }
  }
  return largest;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
