// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/search/island_newton.hpp"
#include "carom/solvers/systems/clustered_hessian.hpp"
#include "carom/solvers/systems/island_hessians.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton directions by factorisation. Where contacts stay open, or stay stuck, G stays the same,
/// and those columns of the factor that no changed contact reaches stay from one iterate to the
/// next. lay_out() for a pattern, then find_direction() at every iterate.
template <RealScalar Scalar>
class DirectDirections {
 public:
  using Newton = IslandNewton<Scalar>;
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;

  /// Analyses a pattern.
  void lay_out(const ContactGraph& graph, const PackedProblem<Scalar>& packed) {
    hessian_.lay_out(graph, packed);
  }
  /// Updates the pointer to the graph after it has moved in memory. Its contents are unchanged.
  void follow(const ContactGraph& graph) noexcept { hessian_.follow(graph); }
  void watch(const SolveLimits* limits) noexcept { hessian_.watch(limits); }

  /// d = −H⁻¹∇ℓ on an island; false where it is not finite or H stays indefinite although its
  /// diagonal is raised.
  [[nodiscard]] bool find_direction(const Newton& newton, const State& state) noexcept {
    const PackedIsland& island = state.island();
    Scalar raise = 0;
    clear_changed(newton, state);
    const bool factored = factor(newton, state, raise);
    // A raised factor, and one that failed, has no front that can be used again.
    if (!factored || raise > Scalar(0)) newton.forget_regions();
    if (!factored) return false;
    state.negate(Memory::gradient, Memory::direction);
    hessian_.solve(state.packed(), island, state.start_of(Memory::direction) - island.vector_start,
                   state.crew());
    return state.is_finite(Memory::direction);
  }

 private:
  /// Clears exactly the columns of the factor that changed contacts reach.
  void clear_changed(const Newton& newton, const State& state) noexcept {
    const PackedIsland& island = state.island();
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const PackedEdge& edge = state.packed().edge(e);
      if (newton.note_change(edge)) hessian_.touch(edge);
    }
    hessian_.clear_touched(island);
  }

  /// Fills and factors the cleared columns. If that fails, tries again with a raised diagonal.
  [[nodiscard]] bool factor(const Newton& newton, const State& state, Scalar& raise) noexcept {
    const PackedIsland& island = state.island();
    const auto add = [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
      newton.add_curvature(edge, targets);
    };
    const auto fill = [&](const Scalar& by) {
      return state.largest_of_pieces([&](const State& part, Scalar* own) {
        const auto for_each_crossing = [&](const auto& visit) {
          state.for_each_crossing(part.island(), visit);
        };
        *own = hessian_.fill_piece(state.packed(), part.island(), for_each_crossing, add, by);
      });
    };
    const auto try_factor = [&] {
      const bool positive = hessian_.factor(island, state.crew());
      if (!positive) hessian_.clear(island);
      return positive;
    };
    return factor_raised(fill, try_factor, raise);
  }

  DirectHessian<Scalar> hessian_;
};

/// Newton directions by conjugate gradients, for islands whose factor would be too large. Large
/// islands have clusters of bodies, which a crew shares; the others have an incomplete factor.
/// @cite  dembo1982inexact for the accuracy of the directions.
template <RealScalar Scalar>
class IterativeDirections {
 public:
  using Newton = IslandNewton<Scalar>;
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;

  using Tuning = IterativeDirectionsTuning;

  /// Analyses the pattern of the islands that are not direct.
  void lay_out(const PackedProblem<Scalar>& packed) {
    hessian_.lay_out(packed);
    clustered_at_.reserve(packed.slot_count());
    clustered_at_.assign(packed.islands().size(), -1);
    int count = 0;
    for (Index i = 0; i < packed.islands().size(); ++i) {
      const PackedIsland& island = packed.islands()[i];
      if (!island.direct && ClusteredHessian<Scalar>::suits(island)) clustered_at_[i] = count++;
    }
    if (clustered_.size() < count) clustered_.resize(count);
    for (Index i = 0; i < packed.islands().size(); ++i) {
      if (clustered_at_[i] < 0) continue;
      clustered_[clustered_at_[i]].lay_out(packed, packed.islands()[i]);
    }
  }

  /// Assembles an island's symmetric H and its preconditioner M.
  /// @param add  add(edge, targets) adds an edge's Ĵᵀ G Ĵ: low-low, high-low and high-high.
  /// @return  false if H is not positive definite.
  template <typename Add>
  [[nodiscard]] bool factor(const State& state, Index island, const Add& add) noexcept {
    if (clustered_at_[island] < 0) return hessian_.factor(state.packed(), island, add);
    Crew alone;
    return clustered(island).factor(state.packed(), crew_of(state, alone), largest_curvature(state),
                                    add);
  }
  /// x ← M⁻¹ b of an island, b and x vectors.
  void precondition(const State& state, Index island, const Scalar* b, Scalar* x) noexcept {
    if (clustered_at_[island] < 0) return hessian_.precondition(state.packed(), island, b, x);
    Crew alone;
    clustered(island).precondition(state.packed(), crew_of(state, alone), b, x);
  }

  /// The share of the right-hand side that a direction may leave.
  [[nodiscard]] static Scalar share_left(const Newton& newton, const State& state) noexcept {
    return Tuning::share_left(Scalar(state.residual / state.scale()), newton.limits().tolerance);
  }

  /// d ≈ −H⁻¹∇ℓ on an island. Returns false if H cannot be factored.
  [[nodiscard]] bool find_direction(const Newton& newton, State& state, Index island) noexcept {
    if (clustered_at_[island] >= 0) return find_shared(newton, state, clustered(island));
    const auto add = [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
      static_cast<void>(newton.note_change(edge));
      newton.add_curvature(edge, targets);
    };
    if (!hessian_.factor(state.packed(), island, add)) return false;
    state.negate(Memory::gradient, Memory::spare1);
    const Scalar target = share_left(newton, state) * state.residual;
    const auto report =
        hessian_.solve(state.packed(), island,
                       {state.start_of(Memory::direction), state.start_of(Memory::spare1),
                        state.start_of(Memory::spare2), state.start_of(Memory::spare3),
                        state.island().vector_size},
                       target, Tuning::product_limit);
    // Where round-off spoils the direction, −∇ℓ replaces it, which also descends.
    if (!report.usable) state.negate(Memory::gradient, Memory::direction);
    return true;
  }

 private:
  [[nodiscard]] static Crew& crew_of(const State& state, Crew& alone) noexcept {
    return state.crew() != nullptr ? *state.crew() : alone;
  }
  [[nodiscard]] ClusteredHessian<Scalar>& clustered(Index island) noexcept {
    return clustered_[clustered_at_[island]];
  }
  /// The largest curvature of a part relative to the momentum [-].
  [[nodiscard]] static Scalar largest_curvature(const State& state) noexcept;
  [[nodiscard]] bool find_shared(const Newton& newton, State& state,
                                 ClusteredHessian<Scalar>& hessian) noexcept;

  IterativeHessian<Scalar> hessian_;
  Sequence<ClusteredHessian<Scalar>> clustered_;
  Sequence<int> clustered_at_;  ///< per island, which of them; −1 for none
};

// --- implementation ---

template <RealScalar Scalar>
Scalar IterativeDirections<Scalar>::largest_curvature(const State& state) noexcept {
  using Packed = PackedProblem<Scalar>;
  const auto at = [&](typename Packed::Parameter which, Index k) {
    return state.start_of(which)[k];
  };
  Scalar largest = 0;
  for (Index k = 0; k < state.island().part_count; ++k) {
    const Scalar across = at(Packed::row_square1, k) + at(Packed::row_square2, k);
    largest = (std::max)({largest, across / at(Packed::tangent, k),
                          at(Packed::row_square3, k) / at(Packed::normal, k)});
  }
  return largest;
}

template <RealScalar Scalar>
bool IterativeDirections<Scalar>::find_shared(const Newton& newton, State& state,
                                              ClusteredHessian<Scalar>& hessian) noexcept {
  Crew alone;
  Crew& crew = crew_of(state, alone);
  const Scalar curvature = state.largest_of_pieces([&](const State& part, Scalar* largest) {
    for (Index e = part.island().first_edge; e < part.island().edge_end; ++e) {
      static_cast<void>(newton.note_change(part.packed().edge(e)));
    }
    part.negate(Memory::gradient, Memory::spare1);
    *largest = largest_curvature(part);
  });
  const auto add = [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
    newton.add_curvature(edge, targets);
  };
  if (!hessian.factor(state.packed(), crew, curvature, add)) return false;
  // Vectors of the pieces count from the start of those of all islands.
  const Index start = state.island().vector_start;
  const auto report = hessian.solve(state.packed(), crew, state.start_of(Memory::spare1) - start,
                                    state.start_of(Memory::direction) - start,
                                    share_left(newton, state), Tuning::product_limit);
  if (!report.usable) state.negate(Memory::gradient, Memory::direction);
  return true;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
