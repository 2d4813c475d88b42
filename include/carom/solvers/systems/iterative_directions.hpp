// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/solvers/search/island_newton.hpp"
#include "carom/solvers/systems/clustered_hessian.hpp"
#include "carom/solvers/systems/iterative_hessian.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton directions by conjugate gradients, for islands whose factor would be too large. Large
/// ones have clusters of bodies, which a crew shares; the others have an incomplete factor.
/// @cite  dembo1982inexact for the accuracy asked of the directions.
template <RealScalar Scalar>
class IterativeDirections {
 public:
  using Newton = IslandNewton<Scalar>;
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;

  using Tuning = IterativeDirectionsTuning;

  /// Takes on the pattern of the islands that are not direct.
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

  /// d ≈ −H⁻¹∇ℓ on an island; false where H cannot be factored.
  [[nodiscard]] bool find_direction(const Newton& newton, State& state, Index island) noexcept {
    if (clustered_at_[island] >= 0) {
      return find_shared(newton, state, clustered_[clustered_at_[island]]);
    }
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
    // Where round-off spoils the direction, −∇ℓ takes its place, which also descends.
    if (!report.usable) state.negate(Memory::gradient, Memory::direction);
    return true;
  }

 private:
  [[nodiscard]] static Scalar share_left(const Newton& newton, const State& state) noexcept {
    return Tuning::share_left(Scalar(state.residual / state.scale()), newton.limits().tolerance);
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
  Crew& crew = state.crew() != nullptr ? *state.crew() : alone;
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
