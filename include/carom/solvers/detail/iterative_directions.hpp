// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/block_incomplete_cholesky.hpp"
#include "carom/linalg/conjugate_gradient.hpp"
#include "carom/solvers/detail/island_newton.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// Newton directions by conjugate gradients, for islands whose factor would be too large: nothing
/// but the Hessian's own blocks and an incomplete factor of the same pattern is kept.
/// @cite  dembo1982inexact for the accuracy asked of the directions.
template <RealScalar Scalar>
class IterativeDirections {
 public:
  using Newton = IslandNewton<Scalar>;
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;

  /// Most products per direction. A direction cut short descends all the same.
  static constexpr int product_limit = 500;

  /// Takes on the pattern of the islands that are not direct.
  void lay_out(const PackedProblem<Scalar>& packed) {
    hessian_.clear_pattern();
    ranges_.reserve(packed.slot_count());
    ranges_.resize(packed.islands().size());
    blocks_.reserve(packed.contact_size());
    blocks_.assign(packed.edge_count(), -1);
    for (Index i = 0; i < packed.islands().size(); ++i) append(packed, i);
    hessian_.allocate();
    incomplete_.reset(hessian_);
  }

  /// d ≈ −H⁻¹∇ℓ on an island; false when it cannot be had.
  [[nodiscard]] bool find_direction(const Newton& newton, const State& state,
                                    Index island) noexcept {
    using std::sqrt;
    const ColumnRange range = ranges_[island];
    assemble(newton, state, range);
    if (!incomplete_.factor(hessian_, range)) return false;
    state.vector(Memory::spare1) = -state.vector(Memory::gradient);
    // A small fraction of the gradient, smaller as the end is near, but not beyond it.
    const Scalar relative = state.residual / newton.scale();
    const Scalar wanted = std::min(Scalar(0.1), Scalar(sqrt(relative)));
    const Scalar enough = newton.tolerance() / (4 * relative);
    const Scalar target = std::max(wanted, std::min(enough, Scalar(0.1))) * state.residual;
    const auto report = conjugate_gradient<Scalar>(
        {state.vector(Memory::direction).data(), state.vector(Memory::spare1).data(),
         state.vector(Memory::spare2).data(), state.vector(Memory::spare3).data(),
         state.island().vector_size},
        target, product_limit,
        [&](const Scalar* p, Scalar* q) {
          hessian_.multiply(range, p - start(state), q - start(state));
        },
        [&](const Scalar* r, Scalar* z) {
          std::copy_n(r, state.island().vector_size, z);
          incomplete_.solve(range, z - start(state));
        });
    // Should round-off spoil the direction, the gradient's own is left: it descends, too.
    if (!report.usable) {
      state.vector(Memory::direction) = -state.vector(Memory::gradient);
    }
    return true;
  }

 private:
  /// Where the island's vectors start in those of all islands, which the blocks' places count from.
  [[nodiscard]] static Index start(const State& state) noexcept {
    return state.island().vector_start;
  }
  void append(const PackedProblem<Scalar>& packed, Index i);
  void assemble(const Newton& newton, const State& state, const ColumnRange& range) noexcept;

  BlockSymmetric<Scalar> hessian_;
  BlockIncompleteCholesky<Scalar> incomplete_;
  Sequence<ColumnRange> ranges_;  ///< per island
  Sequence<Index> blocks_;        ///< per edge, its block below the diagonal
};

template <RealScalar Scalar>
void IterativeDirections<Scalar>::append(const PackedProblem<Scalar>& packed, Index i) {
  const PackedIsland& island = packed.islands()[i];
  const Index first = hessian_.column_count();
  ranges_[i] = {first, first};
  if (island.direct) return;
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

/// H = I + Ĵᵀ G Ĵ on an island.
template <RealScalar Scalar>
void IterativeDirections<Scalar>::assemble(const Newton& newton, const State& state,
                                           const ColumnRange& range) noexcept {
  const PackedIsland& island = state.island();
  const Index shift = range.begin - island.range.first_slot;
  hessian_.clear(range);
  for (Index c = range.begin; c < range.end; ++c) {
    const Index size = hessian_.size(c);
    for (Index k = 0; k < size; ++k) hessian_.diagonal(c)[k * (size + 1)] = Scalar(1);
  }
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    const PackedEdge& edge = state.packed().edge(e);
    Columns<Scalar> targets[3] = {
        {hessian_.diagonal(edge.low_slot + shift), edge.low_size}, {}, {}};
    if (edge.high_slot >= 0) {
      targets[1] = {hessian_.below(blocks_[e]), edge.high_size};
      targets[2] = {hessian_.diagonal(edge.high_slot + shift), edge.high_size};
    }
    static_cast<void>(newton.note_change(edge));
    newton.add_curvature(edge, targets);
  }
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
