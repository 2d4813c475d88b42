// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/linalg/detail/block_lu.hpp"
#include "carom/solvers/search/island_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// G = −∂γ/∂v_c of one contact under Coulomb's law, not symmetric in slide, where friction follows
/// the normal: γₜ = μ γₙ t, t = yₜ/‖yₜ‖.
/// @return  false where G = 0.
template <typename Scalar>
[[nodiscard]] bool write_coulomb_curvature(const Scalar& mu, const Scalar& tangent,
                                           const Scalar& normal, const Scalar (&y)[3],
                                           General3<Scalar>& g) noexcept {
  using std::sqrt;
  if (!(y[2] > Scalar(0))) return false;
  const Scalar r = sqrt(y[0] * y[0] + y[1] * y[1]), most = mu * y[2];
  g = {};
  g.zz = Scalar(1) / normal;
  if (r <= most && mu > Scalar(0)) {
    g.xx = g.yy = Scalar(1) / tangent;
    return true;
  }
  if (!(r > Scalar(0))) return true;
  const Scalar tx = y[0] / r, ty = y[1] / r, across = most / (r * tangent);
  g.xx = across * ty * ty;
  g.yy = across * tx * tx;
  g.xy = g.yx = -across * tx * ty;
  g.xz = mu * tx / normal;
  g.yz = mu * ty / normal;
  return true;
}

/// Newton directions of F(w) = w − w* − Ĵᵀγ(Ĵ w) = 0 under Coulomb's law, by a sparse LU of H = I +
/// Ĵᵀ G Ĵ over the bodies of an island.
template <RealScalar Scalar>
class CoulombDirections {
 public:
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;
  using Packed = PackedProblem<Scalar>;

  /// Takes on a pattern.
  void lay_out(const ContactGraph& graph, const Packed& packed) {
    lu_.reset(graph.forest());
    scratch_.resize(packed.vector_size() + row_lanes);
    cross_blocks_.resize(packed.edge_count());
    for (const PackedIsland& island : packed.islands()) {
      if (!island.direct) continue;
      for (Index e = island.first_edge; e < island.edge_end; ++e) {
        const PackedEdge& edge = packed.edge(e);
        if (edge.high_slot >= 0) cross_blocks_[e] = lu_.place(edge.low_slot, edge.high_slot);
      }
    }
  }
  /// Says that the graph taken on has moved in memory, unchanged.
  void follow(const ContactGraph& graph) noexcept { lu_.follow(graph.forest()); }

  /// d = −H⁻¹ F at the iterate last evaluated; false where H is singular or d is not finite.
  /// @pre  the island is direct.
  [[nodiscard]] bool find_direction(const State& state, Memory& memory) noexcept {
    const PackedIsland& island = state.island();
    const Packed& packed = state.packed();
    lu_.clear(island.range);
    for (Index e = island.first_edge; e < island.edge_end; ++e) add_edge(state, memory, e);
    for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
      const auto block = lu_.lower(lu_.place(slot, slot), slot);
      for (Index k = 0; k < packed.size(slot); ++k) block.data[k * (block.stride + 1)] += 1;
    }
    if (!lu_.factor(island.range)) return false;
    state.negate(Memory::gradient, Memory::direction);
    lu_.solve(island.range, state.start_of(Memory::direction) - island.vector_start,
              packed.starts(), scratch_.data() + island.vector_start);
    return state.is_finite(Memory::direction);
  }

 private:
  void add_edge(const State& state, Memory& memory, Index e) noexcept {
    const Packed& packed = state.packed();
    const PackedEdge& edge = packed.edge(e);
    Columns<Scalar> lower[3] = {}, upper[3] = {};
    const auto aim = [&](int target, int column, Index place) {
      lower[target] = lu_.lower(place, column);
      upper[target] = lu_.upper(place, column);
    };
    aim(0, edge.low_slot, lu_.place(edge.low_slot, edge.low_slot));
    if (edge.high_slot >= 0) {
      aim(1, edge.low_slot, cross_blocks_[e]);
      aim(2, edge.high_slot, lu_.place(edge.high_slot, edge.high_slot));
    }
    bool transposed = false;
    const auto curvature = [&](Index k, General3<Scalar>& g) {
      const Scalar y[3] = {memory.contact(Memory::trial, 0)[k], memory.contact(Memory::trial, 1)[k],
                           memory.contact(Memory::trial, 2)[k]};
      const bool any = write_coulomb_curvature(packed.parameter(Packed::friction)[k],
                                               packed.parameter(Packed::tangent)[k],
                                               packed.parameter(Packed::normal)[k], y, g);
      if (any && transposed) g = g.transpose();
      return any;
    };
    const Scalar* const block = packed.jacobians(edge.jacobians);
    add_edge_curvature(edge, block, curvature, lower);
    transposed = true;
    add_edge_curvature(edge, block, curvature, upper);
    for (Index c = edge.first_other; c < edge.other_end; ++c) {
      const PackedBlock<Scalar>& other = packed.other(c);
      const SquareMatrix<Scalar, 6> g =
          other.curvature_of_coulomb(state.rows_of(other, Memory::trial));
      add_other_curvature(edge, block, other, g, lower);
      add_other_curvature(edge, block, other, g, upper, true);
    }
  }

  BlockLu<Scalar> lu_;
  Sequence<Index> cross_blocks_;  ///< per edge, its block in both halves
  Sequence<Scalar> scratch_;      ///< as a vector: no front is larger than its island
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
