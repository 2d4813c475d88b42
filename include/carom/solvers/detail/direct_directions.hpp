// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/linalg/block_cholesky.hpp"
#include "carom/solvers/detail/island_newton.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// Newton directions by factorisation. Of a factor, what no changed contact leads to is kept from
/// one iterate to the next: where contacts stay open, or stay stuck, G is the same.
template <RealScalar Scalar>
class DirectDirections {
 public:
  using Newton = IslandNewton<Scalar>;
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;

  /// Takes on a pattern.
  void lay_out(const ContactGraph& graph, const PackedProblem<Scalar>& packed) {
    cholesky_.reset(graph.forest());
    scratch_.resize(packed.vector_size());
    cross_places_.reserve(graph.contact_count());
    cross_places_.resize(packed.edge_count());
    for (const PackedIsland& island : packed.islands()) {
      if (!island.direct) continue;
      for (Index e = island.first_edge; e < island.edge_end; ++e) {
        const PackedEdge& edge = packed.edge(e);
        if (edge.high_slot < 0) continue;
        cross_places_[e] = cholesky_.place_below(edge.low_slot, edge.high_slot);
      }
    }
  }
  /// The graph taken on has moved to another place, unchanged.
  void follow(const ContactGraph& graph) noexcept { cholesky_.follow(graph.forest()); }

  /// d = −H⁻¹∇ℓ on an island; false when it cannot be had. Should round-off leave H indefinite, its
  /// diagonal is raised: the direction descends for every positive definite matrix.
  [[nodiscard]] bool find_direction(const Newton& newton, const State& state) noexcept {
    const PackedIsland& island = state.island();
    Scalar raise = 0;
    clear_changed(newton, state);
    const bool factored = factor(newton, state, raise);
    if (!factored || raise > Scalar(0)) newton.forget_regions();  // no front of it can be kept
    if (!factored) return false;
    auto direction = state.vector(Memory::direction);
    direction = -state.vector(Memory::gradient);
    cholesky_.solve(island.range, direction.data() - island.vector_start, state.packed().starts(),
                    scratch_.data() + island.vector_start);
    return direction.abs().sum() <= std::numeric_limits<Scalar>::max();
  }

 private:
  /// Clears what the contacts that changed, and only they, make out of date.
  void clear_changed(const Newton& newton, const State& state) noexcept {
    const PackedIsland& island = state.island();
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const PackedEdge& edge = state.packed().edge(e);
      if (!newton.note_change(edge)) continue;
      cholesky_.touch(edge.low_slot);
      if (edge.high_slot >= 0) cholesky_.touch(edge.high_slot);
    }
    cholesky_.clear_touched(island.range);
  }

  /// Fills and factors what is cleared; raises the diagonal, and begins anew, where it must.
  [[nodiscard]] bool factor(const Newton& newton, const State& state, Scalar& raise) noexcept {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Scalar largest = assemble(newton, state, raise);
      if (!(largest <= std::numeric_limits<Scalar>::max())) return false;
      if (cholesky_.factor(state.island().range)) return true;
      raise = raise > 0 ? raise * 1000 : 16 * std::numeric_limits<Scalar>::epsilon() * largest;
      cholesky_.clear(state.island().range);
    }
    return false;
  }

  /// Fills what is cleared with H + raise I. Returns the largest entry on its diagonal, or 1.
  [[nodiscard]] Scalar assemble(const Newton& newton, const State& state,
                                const Scalar& raise) noexcept {
    const PackedIsland& island = state.island();
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const PackedEdge& edge = state.packed().edge(e);
      const bool low = cholesky_.touched(edge.low_slot), two_sided = edge.high_slot >= 0;
      if (!low && !(two_sided && cholesky_.touched(edge.high_slot))) continue;
      Columns<Scalar> targets[3] = {};
      if (low) targets[0] = cholesky_.diagonal(edge.low_slot);
      if (two_sided) {
        targets[1] = cholesky_.block(cross_places_[e], edge.low_slot);
        targets[2] = cholesky_.diagonal(edge.high_slot);
      }
      newton.add_curvature(edge, targets);
    }
    Scalar largest = 1;
    for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
      if (!cholesky_.touched(slot)) continue;
      const auto block = cholesky_.diagonal(slot);
      for (Index k = 0; k < state.packed().size(slot); ++k) {
        Scalar& entry = block.data[k * (block.stride + 1)];
        if (entry > largest || entry != entry) largest = entry;  // once NaN, it stays
        entry += 1 + raise;
      }
    }
    return largest;
  }

  BlockCholesky<Scalar> cholesky_;
  Sequence<Index> cross_places_;  ///< per edge, its place in the factor
  Sequence<Scalar> scratch_;      ///< as a vector: no front is larger than its island
};

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
