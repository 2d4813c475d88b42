// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/linalg/block_cholesky.hpp"
#include "carom/linalg/block_incomplete_cholesky.hpp"
#include "carom/linalg/conjugate_gradient.hpp"
#include "carom/solvers/detail/edge_kernels.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// How well an island's system was solved.
template <RealScalar Scalar>
struct LinearSolveReport {
  int products = 0;     ///< by conjugate gradients; 0 with a factor
  Scalar residual = 0;  ///< ‖b − H x‖/‖b‖ of conjugate gradients; 0 with a factor
  bool usable = true;
};

/// The systems H x = b, H = I + Ĵᵀ G Ĵ, of all islands at one G: factored where the graph says
/// direct, else kept as blocks with an incomplete factor for conjugate gradients.
template <RealScalar Scalar>
class LinearizedIslands {
 public:
  using Packed = PackedProblem<Scalar>;

  /// Takes on a pattern.
  void lay_out(const ContactGraph& graph, const Packed& packed) {
    cholesky_.reset(graph.forest());
    hessian_.clear_pattern();
    blocks_.assign(packed.edge_count(), -1);
    ranges_.reserve(packed.slot_count());
    ranges_.assign(packed.islands().size(), ColumnRange{0, 0});
    for (Index i = 0; i < packed.islands().size(); ++i) {
      if (packed.islands()[i].direct) {
        place_edges(packed, packed.islands()[i]);
      } else {
        append(packed, i);
      }
    }
    hessian_.allocate();
    incomplete_.reset(hessian_);
    vectors_.assign(vector_count * packed.vector_size(), Scalar(0));
  }
  /// The graph taken on has moved to another place, unchanged.
  void follow(const ContactGraph& graph) noexcept { cholesky_.follow(graph.forest()); }

  /// Assembles and factors an island's H.
  /// @param add  add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high.
  /// @return  false when round-off leaves H indefinite, or it is not finite.
  template <typename Add>
  [[nodiscard]] bool factor(const Packed& packed, Index i, const Add& add) noexcept {
    const PackedIsland& island = packed.islands()[i];
    return island.direct ? factor_direct(packed, island, add) : factor_incomplete(packed, i, add);
  }

  /// x ← H⁻¹ x on an island, in a packed vector; the rest of it is left alone.
  /// @param relative  accuracy asked of conjugate gradients, and the most products they may take.
  [[nodiscard]] LinearSolveReport<Scalar> solve(const Packed& packed, Index i, Scalar* x,
                                                const Scalar& relative, int limit) noexcept;

 private:
  /// Of those conjugate gradients work on; a factor's solve has the first for scratch.
  enum { residual, direction, product, vector_count };

  void place_edges(const Packed& packed, const PackedIsland& island) noexcept {
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const PackedEdge& edge = packed.edge(e);
      if (edge.high_slot >= 0) blocks_[e] = cholesky_.place_below(edge.low_slot, edge.high_slot);
    }
  }
  void append(const Packed& packed, Index i);
  template <typename Add>
  [[nodiscard]] bool factor_direct(const Packed& packed, const PackedIsland& island,
                                   const Add& add) noexcept;
  template <typename Add>
  [[nodiscard]] bool factor_incomplete(const Packed& packed, Index i, const Add& add) noexcept;

  BlockCholesky<Scalar> cholesky_;
  BlockSymmetric<Scalar> hessian_;
  BlockIncompleteCholesky<Scalar> incomplete_;
  Sequence<ColumnRange> ranges_;  ///< per island, its columns in hessian_
  Sequence<Index> blocks_;        ///< per edge, its block below the diagonal, in factor or hessian_
  Sequence<Scalar> vectors_;
};

// --- implementation ---

template <RealScalar Scalar>
void LinearizedIslands<Scalar>::append(const Packed& packed, Index i) {
  const PackedIsland& island = packed.islands()[i];
  const Index first = hessian_.column_count();
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
  ranges_[i] = {first, hessian_.column_count()};
}

template <RealScalar Scalar>
template <typename Add>
bool LinearizedIslands<Scalar>::factor_direct(const Packed& packed, const PackedIsland& island,
                                              const Add& add) noexcept {
  cholesky_.clear(island.range);
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    const PackedEdge& edge = packed.edge(e);
    Columns<Scalar> targets[3] = {cholesky_.diagonal(edge.low_slot), {}, {}};
    if (edge.high_slot >= 0) {
      targets[1] = cholesky_.block(blocks_[e], edge.low_slot);
      targets[2] = cholesky_.diagonal(edge.high_slot);
    }
    add(edge, targets);
  }
  Scalar sum = 0;  // of numbers ≥ 1: finite exactly if all are
  for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
    const auto block = cholesky_.diagonal(slot);
    for (Index k = 0; k < packed.size(slot); ++k) {
      sum += block.data[k * (block.stride + 1)] += Scalar(1);
    }
  }
  return sum <= std::numeric_limits<Scalar>::max() && cholesky_.factor(island.range);
}

template <RealScalar Scalar>
template <typename Add>
bool LinearizedIslands<Scalar>::factor_incomplete(const Packed& packed, Index i,
                                                  const Add& add) noexcept {
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

template <RealScalar Scalar>
LinearSolveReport<Scalar> LinearizedIslands<Scalar>::solve(const Packed& packed, Index i, Scalar* x,
                                                           const Scalar& relative,
                                                           int limit) noexcept {
  using std::sqrt;
  const PackedIsland& island = packed.islands()[i];
  const Index start = island.vector_start, size = island.vector_size;
  const auto part = [&](int which) {
    return vectors_.data() + which * packed.vector_size() + start;
  };
  if (island.direct) {
    cholesky_.solve(island.range, x, packed.starts(), part(residual));
    return {};
  }
  const ColumnRange range = ranges_[i];
  std::copy_n(x + start, size, part(residual));
  Scalar squared = 0;
  for (Index k = 0; k < size; ++k) squared += part(residual)[k] * part(residual)[k];
  const Scalar norm = sqrt(squared);
  if (!(norm > Scalar(0))) return {};
  const auto report = conjugate_gradient<Scalar>(
      {x + start, part(residual), part(direction), part(product), size}, relative * norm, limit,
      [&](const Scalar* p, Scalar* q) { hessian_.multiply(range, p - start, q - start); },
      [&](const Scalar* r, Scalar* z) {
        std::copy_n(r, size, z);
        incomplete_.solve(range, z - start);
      });
  return {report.iterations, report.residual / norm, report.usable};
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
