// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/solvers/detail/packed_problem.hpp"

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
        cross_blocks_[e] = cholesky_.place_below(edge.low_slot, edge.high_slot);
      }
    }
    room_.resize(branches_.room());
  }
  /// Says that the graph taken on has moved in memory, unchanged.
  void follow(const ContactGraph& graph) noexcept { cholesky_.follow(graph.forest()); }

  /// Says that all of an island's matrix is to be filled.
  void clear(const PackedIsland& island) noexcept { cholesky_.clear(island.range); }
  /// Says that an edge's G changes.
  void touch(const PackedEdge& edge) noexcept {
    cholesky_.touch(edge.low_slot);
    if (edge.high_slot >= 0) cholesky_.touch(edge.high_slot);
  }
  /// Says that the columns which touched edges reach are to be filled; the rest of the factor
  /// stays.
  void clear_touched(const PackedIsland& island) noexcept { cholesky_.clear_touched(island.range); }

  /// Fills what is cleared with H + raise I.
  /// @param add  add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high. Where
  ///             the first target has no data, low-low and high-low are left out.
  /// @return  the largest entry filled on the diagonal of Ĵᵀ G Ĵ, or 1; NaN if one is.
  template <typename Add>
  [[nodiscard]] Scalar fill(const Packed& packed, const PackedIsland& island, const Add& add,
                            const Scalar& raise = Scalar(0)) noexcept;

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
template <typename Add>
Scalar DirectHessian<Scalar>::fill(const Packed& packed, const PackedIsland& island, const Add& add,
                                   const Scalar& raise) noexcept {
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    const PackedEdge& edge = packed.edge(e);
    const bool low = cholesky_.touched(edge.low_slot), two_sided = edge.high_slot >= 0;
    if (!low && !(two_sided && cholesky_.touched(edge.high_slot))) continue;
    Columns<Scalar> targets[3] = {};
    if (low) targets[0] = cholesky_.diagonal(edge.low_slot);
    if (two_sided) {
      targets[1] = cholesky_.block(cross_blocks_[e], edge.low_slot);
      targets[2] = cholesky_.diagonal(edge.high_slot);
    }
    add(edge, targets);
  }
  Scalar largest = 1;
  for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
    if (!cholesky_.touched(slot)) continue;
    const auto block = cholesky_.diagonal(slot);
    for (Index k = 0; k < packed.size(slot); ++k) {
      Scalar& entry = block.data[k * (block.stride + 1)];
      if (entry > largest || entry != entry) largest = entry;  // once NaN, it stays
      entry += 1 + raise;
    }
  }
  return largest;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
