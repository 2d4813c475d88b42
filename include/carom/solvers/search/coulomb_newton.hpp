// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "carom/solvers/search/island_newton.hpp"
#include "carom/solvers/systems/coulomb_directions.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Coulomb's law on the islands of a packed problem: F(w) = w − w* − Ĵᵀγ(Ĵ w) = 0.
///
/// The steps: (1) Newton steps on the law, with the directions of friction as separate unknowns, as
/// in write_dual_curvature(). F is not the gradient of a cost, so a step is halved until ‖F‖ is
/// less than the largest of the last few. (2) If ‖F‖ stalls, solve a sequence of convex problems,
/// each with v̂ₙ reduced by De Saxcé's term μ ‖uₜ‖ of the one before, and try step 1 from time to
/// time. The iteration ends if ‖F‖ ≤ T s, as in SapSolver, or after lift_limit problems.
/// @cite  desaxce1998bipotential for the lift; alart1991mixed for the law as a map.
template <RealScalar Scalar>
class CoulombNewton {
 public:
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;
  using Packed = PackedProblem<Scalar>;
  using Judge = IslandNewton<Scalar>;
  using Tuning = CoulombNewtonTuning;

  /// Reserves memory for a pattern.
  void lay_out(const ContactGraph& graph, const Packed& packed) {
    directions_.lay_out(graph, packed);
    iterative_.lay_out(packed);
  }
  /// Reserves memory for the contacts of a pattern, whose count may have changed.
  void lay_out_contacts(const Packed& packed) {
    iterative_.lay_out_contacts(packed);
    bias_.resize(packed.part_size());
    lift_.resize(packed.part_size());
    best_.resize(packed.vector_size());
  }
  /// Updates the pointer to the graph after the graph has moved in memory. Its contents are
  /// unchanged.
  void follow(const ContactGraph& graph) noexcept { directions_.follow(graph); }
  void watch(const SolveLimits* limits) noexcept { directions_.watch(limits); }

  /// Solves an island from the last evaluated iterate. Afterwards the iterate is the best one.
  /// @param packed  that of the state; its v̂ₙ are reduced during the solve, and restored.
  /// @param judge  of the same state.
  /// @param island, symmetric  the number of the island, and the directions of the convex law, if
  ///                           it has no factor.
  /// @param solve_convex  solve_convex(tolerance) solves the packed problem of the island under the
  ///                      convex law.
  template <typename SolveConvex>
  [[nodiscard]] SolveStatus solve(Packed& packed, State& state, Memory& memory, const Judge& judge,
                                  Index island, IterativeDirections<Scalar>& symmetric,
                                  int& iterations, const SolveConvex& solve_convex) noexcept;

 private:
  /// Newton's method until the target is reached or ‖F‖ stalls. Afterwards the iterate is the best
  /// one.
  /// @param find_direction  find_direction() writes the direction; false when it cannot.
  template <typename FindDirection>
  [[nodiscard]] bool iterate(State& state, const Judge& judge, int& iterations,
                             const FindDirection& find_direction) noexcept;
  void take_step(State& state, const Scalar& before) noexcept;
  void renew_lift(const State& state, Memory& memory, const Scalar& share) noexcept;
  [[nodiscard]] static Scalar lift_of(const Packed& packed, const State& state,
                                      const PackedBlock<Scalar>& other) noexcept;

  CoulombDirections<Scalar> directions_;
  IterativeCoulombDirections<Scalar> iterative_;
  Sequence<Scalar> bias_, lift_;  ///< per part: original v̂ₙ; its reduction
  Sequence<Scalar> best_;         ///< as a vector
};

// --- implementation ---

/// Accepts the first share of the direction for which ‖F‖ is sufficiently less than before, or, if
/// there is none, the share with the least ‖F‖.
/// @param before  the largest ‖F‖ of the last iterates.
template <RealScalar Scalar>
void CoulombNewton<Scalar>::take_step(State& state, const Scalar& before) noexcept {
  state.copy(Memory::whitened, Memory::spare1);
  const auto go = [&](const Scalar& step) {
    write_sum(state.start_of(Memory::spare1), step, state.start_of(Memory::direction),
              state.island().vector_size, state.start_of(Memory::whitened));
    state.evaluate();
  };
  Scalar step(1), best_step(1), least = std::numeric_limits<Scalar>::infinity();
  for (int k = 0; k <= Tuning::halvings; ++k, step /= 2) {
    go(step);
    if (state.residual < before * (Scalar(1) - step * Scalar(Tuning::descent))) return;
    if (!(state.residual < least)) continue;
    least = state.residual;
    best_step = step;
  }
  go(best_step);
}

template <RealScalar Scalar>
template <typename FindDirection>
bool CoulombNewton<Scalar>::iterate(State& state, const Judge& judge, int& iterations,
                                    const FindDirection& find_direction) noexcept {
  const int limit = judge.limits().iteration_limit;
  state.copy(Memory::whitened, Memory::best);
  judge.write_directions(false);
  Scalar least = state.residual;
  std::array<Scalar, Tuning::memory> past;
  past.fill(Scalar(0));
  int step = 0;
  for (int stalls = 0; stalls < Tuning::patience && iterations < limit && !judge.meets_target();) {
    if (judge.limits().caller.is_over()) break;
    if (!find_direction()) break;
    judge.write_steps();
    judge.write_directions(true);
    past[std::size_t(step++ % Tuning::memory)] = state.residual;
    take_step(state, *std::max_element(past.begin(), past.end()));
    ++iterations;
    stalls = state.residual < Scalar(Tuning::little) * least ? 0 : stalls + 1;
    if (!(state.residual < least)) continue;
    least = state.residual;
    state.copy(Memory::whitened, Memory::best);
  }
  if (judge.meets_target()) return true;
  state.copy(Memory::best, Memory::whitened);
  state.evaluate();
  return judge.meets_target();
}

/// De Saxcé's term of a block at the last evaluated iterate.
template <RealScalar Scalar>
Scalar CoulombNewton<Scalar>::lift_of(const Packed& packed, const State& state,
                                      const PackedBlock<Scalar>& other) noexcept {
  const RowNumbers<Scalar> bias = other.read(
      PartArray<const Scalar>{{packed.parameter(Packed::bias1), packed.parameter(Packed::bias2),
                               packed.parameter(Packed::bias3)}});
  RowNumbers<Scalar> u = state.rows_of(other, Memory::velocity);
  const RowNumbers<Scalar> impulse = state.rows_of(other, Memory::impulse);
  for (int i = 0; i < other.set.rows; ++i) {
    u(i) = (u(i) - bias(i) + impulse(i)) / other.scale(i);
  }
  return de_saxce_lift(other.set, u);
}

/// Moves De Saxcé's terms a share of the way to those of the last evaluated iterate.
template <RealScalar Scalar>
void CoulombNewton<Scalar>::renew_lift(const State& state, Memory& memory,
                                       const Scalar& share) noexcept {
  const Packed& packed = state.packed();
  const auto slip = [&](Index k, int axis) {  // u of a tangent
    const Scalar& bias = packed.parameter(axis == 0 ? Packed::bias1 : Packed::bias2)[k];
    return memory.contact(Memory::velocity, axis)[k] - bias +
           packed.parameter(Packed::tangent)[k] * memory.contact(Memory::impulse, axis)[k];
  };
  for (Index e = state.island().first_edge; e < state.island().edge_end; ++e) {
    for (Index k = packed.edge(e).first_part; k < packed.edge(e).other_begin; ++k) {
      const Vector3<Scalar> u(slip(k, 0), slip(k, 1), Scalar(0));
      const FrictionCone<Scalar> cone{packed.parameter(Packed::friction)[k]};
      const Scalar wanted = de_saxce_lift(cone, u);
      lift_[k] += share * (wanted - lift_[k]);
    }
  }
  for (Index c = state.island().first_other; c < state.island().other_end; ++c) {
    const PackedBlock<Scalar>& other = packed.other(c);
    const int normal = normal_row(other.set.shape);
    if (normal < 0) continue;
    const Scalar wanted = other.scale(normal) * lift_of(packed, state, other);
    Scalar& lift = lift_[other.first_part];
    lift += share * (wanted - lift);
  }
}

template <RealScalar Scalar>
template <typename SolveConvex>
SolveStatus CoulombNewton<Scalar>::solve(Packed& packed, State& state, Memory& memory,
                                         const Judge& judge, Index island,
                                         IterativeDirections<Scalar>& symmetric, int& iterations,
                                         const SolveConvex& solve_convex) noexcept {
  const int limit = judge.limits().iteration_limit;
  const PackedIsland& own = state.island();
  const Index first = own.first_part, count = own.part_count;
  const auto find_direction = [&] {
    return own.direct ? directions_.find_direction(judge, state, memory)
                      : iterative_.find_direction(judge, state, memory, symmetric, island);
  };
  Scalar* const bias = packed.normal_bias() + first;
  Scalar* const best = best_.data() + own.vector_start;
  Scalar* const whitened = state.start_of(Memory::whitened);
  std::copy_n(bias, count, bias_.data() + first);
  std::fill_n(lift_.data() + first, count, Scalar(0));
  std::copy_n(whitened, own.vector_size, best);
  Scalar least = state.residual, last = std::numeric_limits<Scalar>::infinity();
  Scalar reach = std::numeric_limits<Scalar>::infinity();
  auto tolerance = Scalar(Tuning::first_tolerance), share = Scalar(Tuning::first_share);
  const auto keep_best = [&] {
    if (!(state.residual < least)) return;
    least = state.residual;
    std::copy_n(whitened, own.vector_size, best);
  };
  bool late = false;
  for (int k = 0; k < Tuning::lift_limit && iterations < limit; ++k) {
    if ((late = judge.limits().caller.is_over())) break;
    const bool close = state.residual <= reach * state.scale();
    if (close || k % Tuning::trial_period == Tuning::trial_period - 1) {
      if (iterate(state, judge, iterations, find_direction)) return SolveStatus::converged;
      reach = Scalar(Tuning::reach_share) * state.residual / state.scale();
      keep_best();
    }
    tolerance = (std::min)(tolerance, state.residual / state.scale() / Tuning::tolerance_divisor);
    for (Index c = 0; c < count; ++c) bias[c] = bias_[first + c] - lift_[first + c];
    const SolveStatus status =
        solve_convex((std::max)(tolerance, judge.limits().tolerance / Tuning::tolerance_divisor));
    renew_lift(state, memory, share);
    std::copy_n(bias_.data() + first, count, bias);
    state.evaluate();
    if (status == SolveStatus::not_finite) break;
    keep_best();
    if (judge.meets_target()) return SolveStatus::converged;
    if (state.residual > last) {
      share = (std::max)(share * Scalar(Tuning::share_decay), Scalar(Tuning::least_share));
    }
    last = state.residual;
  }
  std::copy_n(best, own.vector_size, whitened);
  state.evaluate();
  if (!state.are_finite()) return SolveStatus::not_finite;
  if (late) return SolveStatus::deadline;
  return iterations < limit ? SolveStatus::no_progress : SolveStatus::iteration_limit;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
