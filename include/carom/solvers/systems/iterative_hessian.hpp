// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/block_incomplete_cholesky.hpp"
#include "carom/linalg/detail/conjugate_gradient.hpp"
#include "carom/solvers/rows/packed_problem.hpp"
#include "carom/solvers/systems/clustered_hessian.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// H = I + Ĵᵀ G Ĵ of the islands whose factor would be too large: nothing but its own blocks and
/// an incomplete factor of the same pattern is kept, for conjugate gradients. Islands are
/// independent: different threads may work on different ones.
/// @note  lay_out() allocates beyond the largest problem so far; all else is real-time safe.
template <RealScalar Scalar>
class IterativeHessian {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Whether an island is neither factored nor left to ClusteredHessian.
  [[nodiscard]] static bool takes(const PackedIsland& island) noexcept {
    return !island.direct && !ClusteredHessian<Scalar>::suits(island);
  }
  [[nodiscard]] static bool takes_any(const Packed& packed) noexcept {
    return std::any_of(packed.islands().begin(), packed.islands().end(), takes);
  }

  /// Takes on the pattern of the islands that it takes.
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
  /// @return  false when round-off leaves H indefinite, or it holds NaN.
  template <typename Add>
  [[nodiscard]] bool factor(const Packed& packed, Index i, const Add& add) noexcept;

  /// Solves H x = b on island i.
  /// @param vectors  x, b and scratch: what packed vectors hold of the island.
  /// @param target   ‖b − H x‖ asked for.  @param limit  most products.
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
    Columns<Scalar> targets[3] = {
        {hessian_.diagonal(edge.low_slot + shift), edge.low_size}, {}, {}};
    if (edge.high_slot >= 0) {
      targets[1] = {hessian_.below(blocks_[e]), edge.high_size};
      targets[2] = {hessian_.diagonal(edge.high_slot + shift), edge.high_size};
    }
    add(edge, targets);
  }
  return incomplete_.factor(hessian_, range);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
