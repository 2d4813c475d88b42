// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/solvers/detail/direct_hessian.hpp"
#include "carom/solvers/detail/island_newton.hpp"

namespace carom {
inline namespace CAROM_ABI {
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
    hessian_.lay_out(graph, packed);
  }
  /// The graph taken on has moved to another place, unchanged.
  void follow(const ContactGraph& graph) noexcept { hessian_.follow(graph); }

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
    hessian_.solve(state.packed(), island, direction.data() - island.vector_start);
    return direction.abs().sum() <= (std::numeric_limits<Scalar>::max)();
  }

 private:
  /// Clears what the contacts that changed, and only they, make out of date.
  void clear_changed(const Newton& newton, const State& state) noexcept {
    const PackedIsland& island = state.island();
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const PackedEdge& edge = state.packed().edge(e);
      if (newton.note_change(edge)) hessian_.touch(edge);
    }
    hessian_.clear_touched(island);
  }

  /// Fills and factors what is cleared; raises the diagonal, and begins anew, where it must.
  [[nodiscard]] bool factor(const Newton& newton, const State& state, Scalar& raise) noexcept {
    const PackedIsland& island = state.island();
    const auto add = [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
      newton.add_curvature(edge, targets);
    };
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Scalar largest = hessian_.fill(state.packed(), island, add, raise);
      if (!(largest <= (std::numeric_limits<Scalar>::max)())) return false;
      if (hessian_.factor(island)) return true;
      raise = raise > 0 ? raise * 1000 : 16 * std::numeric_limits<Scalar>::epsilon() * largest;
      hessian_.clear(island);
    }
    return false;
  }

  DirectHessian<Scalar> hessian_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
