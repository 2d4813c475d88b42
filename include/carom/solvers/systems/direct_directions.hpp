// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/solvers/search/island_newton.hpp"
#include "carom/solvers/systems/direct_hessian.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton directions by factorisation. Where contacts stay open, or stay stuck, G stays the same,
/// and those columns of the factor that no changed contact reaches are kept from one iterate to the
/// next.
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
  /// Says that the graph taken on has moved in memory, unchanged.
  void follow(const ContactGraph& graph) noexcept { hessian_.follow(graph); }

  /// d = −H⁻¹∇ℓ on an island; false where it is not finite or H stays indefinite. Where round-off
  /// leaves H indefinite its diagonal is raised: the direction descends for every positive definite
  /// matrix.
  [[nodiscard]] bool find_direction(const Newton& newton, const State& state) noexcept {
    const PackedIsland& island = state.island();
    Scalar raise = 0;
    clear_changed(newton, state);
    const bool factored = factor(newton, state, raise);
    if (!factored || raise > Scalar(0)) newton.forget_regions();  // no front of it can be kept
    if (!factored) return false;
    state.negate(Memory::gradient, Memory::direction);
    hessian_.solve(state.packed(), island, state.start_of(Memory::direction) - island.vector_start,
                   state.crew());
    return state.is_finite(Memory::direction);
  }

 private:
  /// Clears those columns of the factor that changed contacts reach, and no others.
  void clear_changed(const Newton& newton, const State& state) noexcept {
    const PackedIsland& island = state.island();
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const PackedEdge& edge = state.packed().edge(e);
      if (newton.note_change(edge)) hessian_.touch(edge);
    }
    hessian_.clear_touched(island);
  }

  /// Fills and factors what is cleared; where that fails, tries again with a raised diagonal.
  [[nodiscard]] bool factor(const Newton& newton, const State& state, Scalar& raise) noexcept {
    const PackedIsland& island = state.island();
    const auto add = [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
      newton.add_curvature(edge, targets);
    };
    for (int attempt = 0; attempt < DiagonalRaiseTuning::attempt_limit; ++attempt) {
      const Scalar largest = state.largest_of_pieces([&](const State& part, Scalar* own) {
        const auto for_each_crossing = [&](const auto& visit) {
          state.for_each_crossing(part.island(), visit);
        };
        *own = hessian_.fill_piece(state.packed(), part.island(), for_each_crossing, add, raise);
      });
      if (!(largest <= (std::numeric_limits<Scalar>::max)())) return false;
      if (hessian_.factor(island, state.crew())) return true;
      raise = DiagonalRaiseTuning::next(raise, largest);
      hessian_.clear(island);
    }
    return false;
  }

  DirectHessian<Scalar> hessian_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
