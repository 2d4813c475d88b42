// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/solvers/sap_options.hpp"
#include "carom/solvers/search/coulomb_newton.hpp"
#include "carom/solvers/search/paced_limits.hpp"
#include "carom/solvers/systems/executor_reference.hpp"
#include "carom/solvers/systems/newton_directions.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The result of the solve of one island.
template <RealScalar Scalar>
struct IslandOutcome {
  IslandMeasures<Scalar> measures;
  SolveStatus status = SolveStatus::not_finite;
  int iterations = 0;
  double pace = 0;     ///< longest time between two clock readings [s]
  bool moved = false;  ///< whether the iterate replaces the guess
};

/// Solves the islands of a packed problem separately: under the convex law by Newton's method with
/// directions from a factor or from conjugate gradients, under Coulomb's law by CoulombNewton.
/// @note  lay_out() allocates only for a problem larger than every problem before; all else is
///        real-time safe. Different threads may evaluate and solve different islands.
template <RealScalar Scalar>
class IslandSolver {
 public:
  using Memory = SolverMemory<Scalar>;
  using Outcome = IslandOutcome<Scalar>;

  /// How each island is solved.
  struct Rules {
    FrictionLaw law;
    NewtonLimits<Scalar> limits;
  };

  /// Updates the pointer to the graph after the graph has moved in memory. Its contents are
  /// unchanged.
  void follow(const ContactGraph& graph) noexcept {
    direct_.follow(graph);
    coulomb_.follow(graph);
  }
  /// Lets factorisations end as soon as limits are over; null for none.
  void watch(const SolveLimits* limits) noexcept {
    direct_.watch(limits);
    coulomb_.watch(limits);
  }
  /// Reserves memory for the islands of a graph.
  /// @param analysed  whether the pattern differs from that of the last call.
  void lay_out(const ContactGraph& graph, FrictionLaw law, bool analysed);
  /// Calls task(loop) with a loop over all bodies or blocks. If the problem is large, all tasks of
  /// one executor call share it.
  template <typename Task>
  void share(const ExecutorReference& executor, const Task& task) const noexcept {
    if (packed_.part_size() < least_shared_parts) return task(SharedLoop());
    lead_crew(executor, [&](Crew& crew) { task(SharedLoop(crew)); });
  }
  /// Copies the numbers of a problem with this layout.
  void pack(const ContactProblem<Scalar>& problem, const ContactGraph& graph,
            const SharedLoop& loop) noexcept {
    packed_.pack(problem, graph, loop);
    std::fill(outcomes_.begin(), outcomes_.end(), Outcome{});
  }

  /// Calls task(island, crew) for all islands, see for_each_island().
  template <typename Task>
  void for_each(const ExecutorReference& executor, const Task& task) const noexcept {
    for_each_island(
        executor, count(), [this](Index i) { return pieces_at_[i] >= 0; }, task);
  }

  [[nodiscard]] const PackedProblem<Scalar>& packed() const noexcept { return packed_; }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }
  [[nodiscard]] Index count() const noexcept { return outcomes_.size(); }
  [[nodiscard]] const Sequence<Outcome>& outcomes() const noexcept { return outcomes_; }

  /// Evaluates an island at its guess, which is in the memory's whitened velocities.
  void evaluate(Index island, FrictionLaw law, Crew* crew = nullptr) noexcept {
    State state(packed_, memory_, packed_.islands()[island], law);
    if (crew != nullptr) state.share(pieces_of(island), *crew);
    state.evaluate();
    outcomes_[island].measures = state;
  }
  /// Solves an island from the last evaluated guess.
  void solve(Index island, const Rules& rules, Crew* crew = nullptr) noexcept;
  /// Stores the duration of the iterations of this solve.
  void learn_pace() noexcept {
    double longest = 0;
    for (const Outcome& outcome : outcomes_) longest = (std::max)(longest, outcome.pace);
    pace_.learn(longest);
  }

 private:
  using State = IslandState<Scalar>;
  using Newton = IslandNewton<Scalar>;
  using Limits = NewtonLimits<Scalar>;

  /// Count of parts of a problem from which its exchange is shared. It then needs some two
  /// milliseconds, while an executor that starts threads needs at most some hundred microseconds.
  static constexpr Index least_shared_parts = 4096;

  [[nodiscard]] IslandPieces<Scalar>& pieces_of(Index island) noexcept {
    return pieces_[pieces_at_[island]];
  }
  [[nodiscard]] SolveStatus solve_convex(Index island, State& state, const Limits& limits,
                                         int& iterations) noexcept;
  [[nodiscard]] SolveStatus solve_coulomb(Index island, State& state, const Limits& limits,
                                          int& iterations) noexcept;

  Pace pace_;
  PackedProblem<Scalar> packed_;
  Memory memory_;
  DirectDirections<Scalar> direct_;
  IterativeDirections<Scalar> iterative_;
  CoulombNewton<Scalar> coulomb_;
  Sequence<Outcome> outcomes_;  ///< per island
  Sequence<IslandPieces<Scalar>> pieces_;
  Sequence<int> pieces_at_;  ///< per island, which of them; −1 for none
};

// --- implementation ---

template <RealScalar Scalar>
void IslandSolver<Scalar>::lay_out(const ContactGraph& graph, FrictionLaw law, bool analysed) {
  packed_.lay_out(graph);
  memory_.lay_out(packed_, IterativeHessian<Scalar>::takes_any(packed_) ? Memory::vector_count
                                                                        : Memory::common_count);
  outcomes_.reserve(graph.body_count());
  outcomes_.resize(graph.islands().size());
  pieces_at_.reserve(graph.body_count());
  pieces_at_.assign(packed_.islands().size(), -1);
  int large_count = 0;
  for (Index i = 0; i < count(); ++i) {
    if (IslandPieces<Scalar>::suit(packed_.islands()[i])) pieces_at_[i] = large_count++;
  }
  if (pieces_.size() < large_count) pieces_.resize(large_count);
  for (Index i = 0; i < count(); ++i) {
    if (pieces_at_[i] >= 0) pieces_of(i).lay_out(packed_, packed_.islands()[i]);
  }
  if (law == FrictionLaw::coulomb) {
    if (analysed) coulomb_.lay_out(graph, packed_);
    coulomb_.lay_out_contacts(packed_);
  }
  if (!analysed) return;
  direct_.lay_out(graph, packed_);
  iterative_.lay_out(packed_);
}

template <RealScalar Scalar>
void IslandSolver<Scalar>::solve(Index island, const Rules& rules, Crew* crew) noexcept {
  State state(packed_, memory_, packed_.islands()[island], rules.law);
  if (crew != nullptr) state.share(pieces_of(island), *crew);
  Outcome& outcome = outcomes_[island];
  static_cast<IslandMeasures<Scalar>&>(state) = outcome.measures;
  if (Newton(state, memory_, rules.limits).meets_target()) {
    outcome.status = SolveStatus::converged;
    return;
  }
  PacedLimits pace(rules.limits.caller, pace_.expected);
  Limits limits = rules.limits;
  limits.caller = pace.limits();
  outcome.status = rules.law == FrictionLaw::coulomb
                       ? solve_coulomb(island, state, limits, outcome.iterations)
                       : solve_convex(island, state, limits, outcome.iterations);
  outcome.pace = pace.longest();
  // A guess from which numbers leave the range of the type is returned unchanged.
  outcome.moved = state.are_finite();
  outcome.measures = state;
}

/// Solves an island under the convex law from the last evaluated iterate.
template <RealScalar Scalar>
SolveStatus IslandSolver<Scalar>::solve_convex(Index island, State& state, const Limits& limits,
                                               int& iterations) noexcept {
  Newton newton(state, memory_, limits);
  start_from_best(state);
  if (newton.meets_target()) return SolveStatus::converged;
  if (!state.are_finite()) return SolveStatus::not_finite;
  newton.forget_regions();
  return newton.iterate(iterations, [&](const Newton& now) {
    return state.island().direct ? direct_.find_direction(now, state)
                                 : iterative_.find_direction(now, state, island);
  });
}

/// Solves an island under Coulomb's law from the last evaluated iterate.
template <RealScalar Scalar>
SolveStatus IslandSolver<Scalar>::solve_coulomb(Index island, State& state, const Limits& limits,
                                                int& iterations) noexcept {
  const Newton judge(state, memory_, limits);
  State convex(packed_, memory_, state.island());
  convex.share_as(state);
  if (state.residual > Scalar(CoulombNewtonTuning::good_guess) * state.scale()) {
    convex.evaluate();
    start_from_best(convex);
    state.evaluate();
  }
  return coulomb_.solve(packed_, state, memory_, judge, island, iterative_, iterations,
                        [&](const Scalar& tolerance) {
                          convex.evaluate();
                          Limits loose = limits;
                          loose.tolerance = tolerance;
                          return solve_convex(island, convex, loose, iterations);
                        });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
