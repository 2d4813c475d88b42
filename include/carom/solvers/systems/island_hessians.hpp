// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/linalg/detail/block_incomplete_cholesky.hpp"
#include "carom/linalg/detail/conjugate_gradient.hpp"
#include "carom/solvers/rows/edge_kernels.hpp"
#include "carom/solvers/systems/clustered_hessian.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether there is an island to factor. Without one no memory is written for its factor.
template <RealScalar Scalar>
[[nodiscard]] bool any_direct(const PackedProblem<Scalar>& packed) noexcept {
  return std::any_of(packed.islands().begin(), packed.islands().end(),
                     [](const PackedIsland& island) { return island.direct; });
}

/// Computes, for each edge of the islands to factor, the place of its block below the diagonal.
template <RealScalar Scalar, typename Factor>
void find_cross_blocks(const ContactGraph& graph, const PackedProblem<Scalar>& packed,
                       const Factor& factor, Sequence<Index>& blocks) {
  blocks.reserve(graph.part_count());
  blocks.resize(any_direct(packed) ? packed.edge_count() : 0);
  for (const PackedIsland& island : packed.islands()) {
    for (Index e = island.first_edge; island.direct && e < island.edge_end; ++e) {
      const PackedEdge& edge = packed.edge(e);
      if (edge.high_slot >= 0) blocks[e] = factor.place(edge.low_slot, edge.high_slot);
    }
  }
}

/// H = I + Ĵᵀ G Ĵ of the islands that the graph marks as direct, and its factor. Islands are
/// independent: different threads may work on different ones.
///
/// The order of calls: clear() an island, or touch() the edges whose G changes and clear_touched();
/// then fill(), factor() and solve().
/// @note  lay_out() allocates only for a problem larger than every problem before; all else is
///        real-time safe.
template <RealScalar Scalar>
class DirectHessian {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Analyses a pattern.
  void lay_out(const ContactGraph& graph, const Packed& packed) {
    cholesky_.reset(graph.forest());
    scratch_.reserve(packed.vector_size());
    scratch_.resize(any_direct(packed) ? packed.vector_size() : 0);
    find_cross_blocks(graph, packed, cholesky_, cross_blocks_);
    branches_.clear(graph.forest());
    for (const PackedIsland& island : packed.islands()) {
      if (island.direct) branches_.append(graph.forest(), island.range);
    }
    room_.resize(branches_.room());
  }
  /// Updates the pointer to the graph after it has moved in memory. Its contents are unchanged.
  void follow(const ContactGraph& graph) noexcept { cholesky_.follow(graph.forest()); }
  /// Lets factorisations end as soon as limits are over; null for none.
  void watch(const SolveLimits* limits) noexcept { cholesky_.watch(limits); }

  /// Marks all of an island's matrix to be filled.
  void clear(const PackedIsland& island) noexcept { cholesky_.touch(island.range); }
  /// Marks an edge whose G changes.
  void touch(const PackedEdge& edge) noexcept {
    cholesky_.touch(edge.low_slot);
    if (edge.high_slot >= 0) cholesky_.touch(edge.high_slot);
  }
  /// Marks the columns that touched edges reach to be filled; the rest of the factor stays.
  void clear_touched(const PackedIsland& island) noexcept { cholesky_.spread_touch(island.range); }

  /// Fills the cleared columns with H + raise I.
  /// @param add  add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high. If the
  ///             first target has no data, low-low and high-low are omitted.
  /// @return  the largest filled diagonal entry of Ĵᵀ G Ĵ, or 1; infinite if one is NaN.
  template <typename Add>
  [[nodiscard]] Scalar fill(const Packed& packed, const PackedIsland& island, const Add& add,
                            const Scalar& raise = Scalar(0)) noexcept {
    return fill_piece(
        packed, island, [](const auto&) {}, add, raise);
  }
  /// The same for a piece of an island, in parallel with other pieces: columns of its bodies.
  /// @param for_each_crossing  calls visit(edge) for the edges from bodies of earlier pieces to
  ///                           those of this one.
  /// @param add  if the last target has no data, high-high is omitted too.
  template <typename ForEachCrossing, typename Add>
  [[nodiscard]] Scalar fill_piece(const Packed& packed, const PackedIsland& piece,
                                  const ForEachCrossing& for_each_crossing, const Add& add,
                                  const Scalar& raise) noexcept;

  /// Factors the filled matrix. Returns false if a pivot is not positive; then clear() the island.
  /// @param crew  shares the work on a large island; the bits are equal.
  [[nodiscard]] bool factor(const PackedIsland& island, Crew* crew = nullptr) noexcept {
    if (crew == nullptr || !branches_.suit(island.range)) return cholesky_.factor(island.range);
    return cholesky_.factor(island.range, branches_, *crew);
  }

  /// x ← H⁻¹ x on an island, in a packed vector; its other numbers do not change.
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
  // Edges are added to a diagonal block in the order of their low bodies: those before the piece
  // first.
  for_each_crossing([&](const PackedEdge& edge) {
    if (!cholesky_.touched(edge.high_slot)) return;
    const Columns<Scalar> none{}, targets[3] = {none, none, cholesky_.diagonal(edge.high_slot)};
    add(edge, targets);
  });
  for (Index e = piece.first_edge; e < piece.edge_end; ++e) {
    const PackedEdge& edge = packed.edge(e);
    const auto block = [&](int column, int row) -> Columns<Scalar> {
      if (column >= piece.range.slot_end || !cholesky_.touched(column)) return {};
      return column == row ? cholesky_.diagonal(column) : cholesky_.block(cross_blocks_[e], column);
    };
    add_to_blocks(edge, block, [&](const auto& targets) {
      if (targets[0].data != nullptr || targets[2].data != nullptr) add(edge, targets);
    });
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

/// H = I + Ĵᵀ G Ĵ of the islands whose factor would be too large: only its own blocks and an
/// incomplete factor of the same pattern are stored, for conjugate gradients. lay_out() for a
/// pattern; for each island factor(), then solve(). Islands are
/// independent: different threads may work on different ones.
/// @note  lay_out() allocates beyond the largest problem so far; all else is real-time safe.
template <RealScalar Scalar>
class IterativeHessian {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Whether an island is neither direct nor one of ClusteredHessian.
  [[nodiscard]] static bool takes(const PackedIsland& island) noexcept {
    return !island.direct && !ClusteredHessian<Scalar>::suits(island);
  }
  [[nodiscard]] static bool takes_any(const Packed& packed) noexcept {
    return std::any_of(packed.islands().begin(), packed.islands().end(), takes);
  }

  /// Analyses the pattern of its islands.
  void lay_out(const Packed& packed) {
    hessian_.clear_pattern();
    ranges_.reserve(packed.slot_count());
    ranges_.resize(packed.islands().size());
    blocks_.reserve(packed.part_size());
    blocks_.assign(takes_any(packed) ? packed.edge_count() : 0, -1);
    for (Index i = 0; i < packed.islands().size(); ++i) append(packed, i);
    hessian_.allocate();
    incomplete_.reset(hessian_);
  }

  /// Assembles an island's H and its incomplete factor.
  /// @param add  add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high.
  /// @return  false when round-off leaves H indefinite, or it is not finite.
  template <typename Add>
  [[nodiscard]] bool factor(const Packed& packed, Index i, const Add& add) noexcept;

  /// x ← M⁻¹ b on island i with the incomplete factor M, b and x packed vectors.
  void precondition(const Packed& packed, Index i, const Scalar* b, Scalar* x) const noexcept {
    const PackedIsland& island = packed.islands()[i];
    std::copy_n(b + island.vector_start, island.vector_size, x + island.vector_start);
    incomplete_.solve(ranges_[i], x);
  }

  /// Solves H x = b on island i.
  /// @param vectors  x, b and scratch: the island's numbers in packed vectors.
  /// @param target   largest ‖b − H x‖ at the end.  @param limit  most products.
  [[nodiscard]] ConjugateGradientReport<Scalar> solve(
      const Packed& packed, Index i, const ConjugateGradientVectors<Scalar>& vectors,
      const Scalar& target, int limit) const noexcept {
    // Blocks count their unknowns from the start of the vectors of all islands.
    const Index start = packed.islands()[i].vector_start;
    const ColumnRange range = ranges_[i];
    return conjugate_gradient<Scalar>(
        vectors, target, limit,
        [&](const Scalar* p, Scalar* q) { hessian_.multiply(range, p - start, q - start); },
        [&](const Scalar* r, Scalar* z) {
          std::copy_n(r, vectors.size, z);
          incomplete_.solve(range, z - start);
        });
  }

 private:
  void append(const Packed& packed, Index i);

  BlockSymmetric<Scalar> hessian_;
  BlockIncompleteCholesky<Scalar> incomplete_;
  Sequence<ColumnRange> ranges_;  ///< per island, its columns
  Sequence<Index> blocks_;        ///< per edge, its block below the diagonal
};

// --- implementation ---

template <RealScalar Scalar>
void IterativeHessian<Scalar>::append(const Packed& packed, Index i) {
  const PackedIsland& island = packed.islands()[i];
  const Index first = hessian_.column_count();
  ranges_[i] = {first, first};
  if (!takes(island)) return;
  Index e = island.first_edge;
  const Index shift = first - island.range.first_slot;
  for (Index slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
    hessian_.append_column(packed.size(slot), packed.starts()[slot]);
    for (; e < island.edge_end && packed.edge(e).low_slot == slot; ++e) {
      const PackedEdge& edge = packed.edge(e);
      if (edge.high_slot < 0) continue;
      blocks_[e] = hessian_.block_count();
      hessian_.append_row(int(edge.high_slot + shift), edge.high_size);
    }
  }
  ranges_[i].end = hessian_.column_count();
}

template <RealScalar Scalar>
template <typename Add>
bool IterativeHessian<Scalar>::factor(const Packed& packed, Index i, const Add& add) noexcept {
  const PackedIsland& island = packed.islands()[i];
  const ColumnRange range = ranges_[i];
  const Index shift = range.begin - island.range.first_slot;
  hessian_.clear(range);
  for (Index c = range.begin; c < range.end; ++c) {
    const Index size = hessian_.size(c);
    for (Index k = 0; k < size; ++k) hessian_.diagonal(c)[k * (size + 1)] = Scalar(1);
  }
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    const PackedEdge& edge = packed.edge(e);
    const auto block = [&](int column, int row) -> Columns<Scalar> {
      if (column != row) return {hessian_.below(blocks_[e]), edge.high_size};
      return {hessian_.diagonal(column + shift), hessian_.size(column + shift)};
    };
    add_to_blocks(edge, block, [&](const auto& targets) { add(edge, targets); });
  }
  return incomplete_.factor(hessian_, range);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
