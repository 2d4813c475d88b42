// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/linalg/detail/biconjugate_gradient.hpp"
#include "carom/linalg/detail/block_lu.hpp"
#include "carom/solvers/systems/newton_directions.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// G = −∂γ/∂v_c of one contact under Coulomb's law, not symmetric in slide, where friction is
/// proportional to the normal: γₜ = μ γₙ t, t = yₜ/‖yₜ‖. As in write_dual_curvature() the direction
/// of friction is a separate unknown ẑ: the turn of t is (μ γₙ/(r Rₜ)) (I − ẑ tᵀ).
/// @return  false where G = 0.
template <typename Scalar>
[[nodiscard]] bool write_coulomb_curvature(const Scalar& mu, const Scalar& tangent,
                                           const Scalar& normal, const Scalar (&y)[3],
                                           const Tangent2<Scalar>& z,
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
  g.xx = across * (Scalar(1) - z.x * tx);
  g.yy = across * (Scalar(1) - z.y * ty);
  g.xy = -across * z.x * ty;
  g.yx = -across * z.y * tx;
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

  /// Analyses a pattern.
  void lay_out(const ContactGraph& graph, const Packed& packed) {
    lu_.reset(graph.forest());
    scratch_.resize(packed.vector_size() + row_lanes);
    find_cross_blocks(graph, packed, lu_, cross_blocks_);
  }
  /// Updates the pointer to the graph after it has moved in memory. Its contents are unchanged.
  void follow(const ContactGraph& graph) noexcept { lu_.follow(graph.forest()); }
  void watch(const SolveLimits* limits) noexcept { lu_.watch(limits); }

  /// d = −H⁻¹ F at the last evaluated iterate. Returns false if H is singular or d is not finite.
  /// @param newton  of the state; it stores the directions of friction.
  /// @pre  the island is direct.
  [[nodiscard]] bool find_direction(const IslandNewton<Scalar>& newton, const State& state,
                                    Memory& memory) noexcept {
    const PackedIsland& island = state.island();
    const Packed& packed = state.packed();
    lu_.clear(island.range);
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      for (const bool transposed : {false, true}) add_edge(newton, state, memory, e, transposed);
    }
    for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
      add_identity(lu_.lower(lu_.place(slot, slot), slot), packed.size(slot));
    }
    if (!lu_.factor(island.range)) return false;
    state.negate(Memory::gradient, Memory::direction);
    lu_.solve(island.range, state.start_of(Memory::direction) - island.vector_start,
              packed.starts(), scratch_.data() + island.vector_start);
    return state.is_finite(Memory::direction);
  }

 private:
  /// Adds Ĵᵀ G Ĵ of an edge to one half of the factor, or its transpose to the other.
  void add_edge(const IslandNewton<Scalar>& newton, const State& state, Memory& memory, Index e,
                bool transposed) noexcept {
    const Packed& packed = state.packed();
    const PackedEdge& edge = packed.edge(e);
    const auto target = [&](int column, int row) {
      const Index place = column == row ? lu_.place(row, row) : cross_blocks_[e];
      return transposed ? lu_.upper(place, column) : lu_.lower(place, column);
    };
    const PartArray<Scalar> trial = memory.parts(Memory::trial);
    const auto curvature = [&](Index k, General3<Scalar>& g) {
      const Scalar y[3] = {trial(0, k), trial(1, k), trial(2, k)};
      const bool any = write_coulomb_curvature(
          packed.parameter(Packed::friction)[k], packed.parameter(Packed::tangent)[k],
          packed.parameter(Packed::normal)[k], y, newton.predicted(k), g);
      if (any && transposed) g = g.transpose();
      return any;
    };
    const Scalar* const rows = packed.jacobians(edge.jacobians);
    add_to_blocks(edge, target, [&](const auto& targets) {
      add_edge_curvature(edge, rows, curvature, targets);
      for (Index c = edge.first_other; c < edge.other_end; ++c) {
        const PackedBlock<Scalar>& other = packed.other(c);
        auto g = other.curvature_of_coulomb(state.rows_of(other, Memory::trial));
        newton.turn_directions(other, g);
        add_other_curvature(edge, rows, other, g, targets, transposed);
      }
    });
  }

  BlockLu<Scalar> lu_;
  Sequence<Index> cross_blocks_;  ///< per edge, its block in both halves
  Sequence<Scalar> scratch_;      ///< as a vector: no front is larger than its island
};

/// Newton directions of the same by stabilised biconjugate gradients, for islands whose factor
/// would be too large. The preconditioner is that of IterativeDirections for a symmetric H: without
/// the dependence of friction on the normal impulse, and with the symmetric part of the turn of
/// friction. lay_out() for a pattern, then find_direction() at every iterate.
/// @cite  dembo1982inexact for the accuracy of the directions.
template <RealScalar Scalar>
class IterativeCoulombDirections {
 public:
  using Newton = IslandNewton<Scalar>;
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;
  using Packed = PackedProblem<Scalar>;

  /// Reserves memory for the islands of a pattern that are not direct.
  void lay_out(const Packed& packed) {
    const bool any = std::any_of(packed.islands().begin(), packed.islands().end(),
                                 [](const PackedIsland& island) { return !island.direct; });
    size_ = any ? packed.vector_size() : 0;
    vectors_.assign(vector_count * size_, Scalar(0));
  }
  /// Reserves memory for the contacts of the pattern, whose count may have changed.
  void lay_out_contacts(const Packed& packed) {
    const bool any = size_ > 0;
    Index other_parts = 0;
    for (Index e = 0; any && e < packed.edge_count(); ++e) {
      other_parts += packed.edge(e).part_end - packed.edge(e).other_begin;
    }
    gains_.resize(any ? packed.part_size() : 0);
    other_gains_.resize(gain_size * other_parts);
  }

  /// d ≈ −H⁻¹ F at the last evaluated iterate. Returns false if the symmetric H cannot be factored,
  /// or if the iteration breaks down.
  /// @param newton     of the state; it stores the directions of friction.
  /// @param symmetric  of the same problem.
  [[nodiscard]] bool find_direction(const Newton& newton, const State& state, Memory& memory,
                                    IterativeDirections<Scalar>& symmetric, Index island) noexcept {
    write_gains(newton, state, memory);
    if (!symmetric.factor(state, island,
                          [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
                            add_symmetric(newton, state, edge, targets);
                          })) {
      return false;
    }
    const Index start = state.island().vector_start;
    const auto vector = [&](int number) { return vectors_.data() + number * size_ + start; };
    write_negative(state.start_of(Memory::gradient), state.island().vector_size, vector(0));
    const Scalar target = IterativeDirections<Scalar>::share_left(newton, state) * state.residual;
    const auto report = biconjugate_gradient<Scalar>(
        {state.start_of(Memory::direction), vector(0), vector(1), vector(2), vector(3), vector(4),
         vector(5), state.island().vector_size},
        target, Tuning::product_limit,
        [&](const Scalar* p, Scalar* q) { multiply(state, memory, p - start, q - start); },
        [&](const Scalar* r, Scalar* z) {
          symmetric.precondition(state, island, r - start, z - start);
        });
    return report.usable;
  }

 private:
  using Tuning = IterativeDirectionsTuning;
  static constexpr int vector_count = 6;
  static constexpr int gain_size = 36;  ///< numbers of a block of six rows

  /// G of a block that is not a friction contact, by rows.
  [[nodiscard]] Scalar* gain_of(Index other) noexcept {
    return other_gains_.data() + gain_size * other;
  }
  /// Stores G of all blocks of an island.
  void write_gains(const Newton& newton, const State& state, Memory& memory) noexcept {
    const Packed& packed = state.packed();
    const PackedIsland& island = state.island();
    const PartArray<Scalar> trial = memory.parts(Memory::trial);
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const PackedEdge& edge = packed.edge(e);
      for (Index k = edge.first_part; k < edge.other_begin; ++k) {
        const Scalar y[3] = {trial(0, k), trial(1, k), trial(2, k)};
        if (!write_coulomb_curvature(
                packed.parameter(Packed::friction)[k], packed.parameter(Packed::tangent)[k],
                packed.parameter(Packed::normal)[k], y, newton.predicted(k), gains_[k])) {
          gains_[k] = {};
        }
      }
    }
    for (Index c = island.first_other; c < island.other_end; ++c) {
      const PackedBlock<Scalar>& other = packed.other(c);
      auto g = other.curvature_of_coulomb(state.rows_of(other, Memory::trial));
      newton.turn_directions(other, g);
      for (int r = 0; r < 6; ++r) {
        for (int k = 0; k < 6; ++k) gain_of(c)[6 * r + k] = g(r, k);
      }
    }
  }
  /// Adds Ĵᵀ G Ĵ of an edge with the symmetric G.
  void add_symmetric(const Newton& newton, const State& state, const PackedEdge& edge,
                     const Columns<Scalar> (&targets)[3]) const noexcept {
    const Packed& packed = state.packed();
    const Scalar* const rows = packed.jacobians(edge.jacobians);
    add_edge_curvature(
        edge, rows,
        [&](Index k, General3<Scalar>& g) {
          g = gains_[k];
          g.xz = g.yz = Scalar(0);
          g.xy = g.yx = (g.xy + g.yx) / 2;
          return g.zz > Scalar(0);
        },
        targets);
    for (Index c = edge.first_other; c < edge.other_end; ++c) {
      const PackedBlock<Scalar>& other = packed.other(c);
      auto g = other.curvature(state.rows_of(other, Memory::trial));
      newton.turn_directions(other, g);
      add_other_curvature(edge, rows, other, g, targets);
    }
  }
  /// q = p + Ĵᵀ G Ĵ p of an island, p and q vectors.
  void multiply(const State& state, Memory& memory, const Scalar* p, Scalar* q) noexcept {
    const Packed& packed = state.packed();
    const PackedIsland& island = state.island();
    const PartArray<Scalar> moved = memory.parts(Memory::trial_step),
                            pushed = memory.parts(Memory::impulse_ahead);
    std::copy_n(p + island.vector_start, island.vector_size, q + island.vector_start);
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const PackedEdge& edge = packed.edge(e);
      const Scalar* const rows = packed.jacobians(edge.jacobians);
      write_edge_velocities(edge, rows, p, moved);
      for (Index k = edge.first_part; k < edge.other_begin; ++k) {
        const General3<Scalar>& g = gains_[k];
        const Scalar x = moved(0, k), y = moved(1, k), z = moved(2, k);
        pushed(0, k) = g.xx * x + g.xy * y + g.xz * z;
        pushed(1, k) = g.yx * x + g.yy * y + g.yz * z;
        pushed(2, k) = g.zx * x + g.zy * y + g.zz * z;
      }
      for (Index c = edge.first_other; c < edge.other_end; ++c) {
        const PackedBlock<Scalar>& other = packed.other(c);
        for (int r = 0; r < 3 * other.part_count; ++r) {
          Scalar sum(0);
          for (int k = 0; k < 3 * other.part_count; ++k) {
            sum += gain_of(c)[6 * r + k] * moved(k % 3, other.first_part + k / 3);
          }
          pushed(r % 3, other.first_part + r / 3) = sum;
        }
      }
      add_edge_momentum(edge, rows, pushed, q);
    }
  }

  Sequence<Scalar> vectors_;          ///< the scratch of biconjugate_gradient()
  Sequence<General3<Scalar>> gains_;  ///< G of the friction contacts, by parts
  Sequence<Scalar> other_gains_;      ///< G of the other blocks, by rows
  Index size_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
