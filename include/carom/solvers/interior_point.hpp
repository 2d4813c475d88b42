// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "carom/contact/dual.hpp"
#include "carom/core/detail/rollback.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/rows/impulse_islands.hpp"
#include "carom/solvers/search/island_law.hpp"
#include "carom/solvers/systems/body_system.hpp"
#include "carom/solvers/systems/executor_reference.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Law and accuracy of InteriorPointSolver.
template <RealScalar Scalar>
struct InteriorPointOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// The solve ends at this largest error of a block [-], > 0: AnswerError::residual; for a problem
  /// in impulses ImpulseCertificate::natural_map_error. Half of the type's digits; Newton's method
  /// at the end doubles them with each system.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Largest count of factored systems for one island, ≥ 0. Piles and walls need 10 to 40, heaps
  /// with self-stresses of 1000 times their load 750, files of FCLIB up to 1900.
  int iteration_limit = 2000;
  /// Count of Gauss-Seidel sweeps before the first system of a problem in impulses, ≥ 0. Up to ten
  /// times as many are done as long as each ten gain half a digit.
  int sweeps = 30;
};

namespace detail {

/// The velocities that remove overlaps of the contacts of a BodySystem, island by island. The law
/// does not require them, and bodies between walls that overlap them from two sides have no answer
/// with them. An island is therefore first solved without them.
template <RealScalar Scalar>
class OverlapLoads {
 public:
  /// @param system  of the problem.
  /// @note  Allocates only for a problem larger than every problem before.
  void find(const ContactProblem<Scalar>& problem, const BodySystem<Scalar>& system) {
    loads_.clear();
    first_.assign(system.islands().size() + 1, 0);
    for (Index island = 0; island < system.islands().size(); ++island) {
      const BlockIsland& own = system.islands()[island];
      for (Index i = own.first_block; i < own.block_end; ++i) {
        const Index block = system.block_number(i);
        const Scalar velocity = problem.overlap_velocity(block);
        if (!(velocity > Scalar(0))) continue;
        loads_.push_back({3 * system.blocks().first_part(i) + 2, velocity});
      }
      first_[island + 1] = int(loads_.size());
    }
  }
  [[nodiscard]] bool any(Index island) const noexcept {
    return first_[island] < first_[island + 1];
  }
  /// Removes the velocities of an island from its load, or adds them again.
  void leave_out(BodySystem<Scalar>& system, Index island) const noexcept {
    add(system, island, Scalar(1));
  }
  void ask_again(BodySystem<Scalar>& system, Index island) const noexcept {
    add(system, island, Scalar(-1));
  }

 private:
  struct Load {
    Index place;
    Scalar velocity;
  };
  void add(BodySystem<Scalar>& system, Index island, const Scalar& sign) const noexcept {
    for (Index k = first_[island]; k < first_[island + 1]; ++k) {
      system.add_to_load(loads_[k].place, sign * loads_[k].velocity);
    }
  }

  Sequence<Load> loads_;
  Sequence<int> first_;  ///< per island: start of its own
};

}  // namespace detail

/// Primal-dual interior point for contact under the exact law of Coulomb, or the convex one: rigid
/// contacts, compliant ones and all other blocks, each as it was added, on bodies.
///
/// The unknowns are impulses γ and u = (W + R) γ + q such that each block obeys its law: under
/// Coulomb's law γ ∈ K ⟂ ũ ∈ K*, where ũ is u with De Saxcé's increment of the normal; under the
/// convex law the same with u. An island ends if the largest error of its blocks is at most the
/// tolerance, or if all methods of IslandLaw have failed.
///
/// It moves along the central path of the law, whose points are inside of all cones, by predictor
/// and corrector, and ends by Newton's method on the law. Each step solves one sparse system of the
/// bodies' unknowns, islands separately. This nearly always solves the convex law. If the path of
/// Coulomb's law folds back, proximal steps continue from its best point. For problems in impulses,
/// sweeps of Gauss-Seidel come first.
///
/// ```
/// carom::InteriorPointSolver<double> solver;
/// Eigen::VectorXd velocity;
/// const auto report = solver.solve(problem, velocity);  // rigid or not, Coulomb's law
/// ```
/// @cite  nesterov1997self, mehrotra1992implementation; rockafellar1976monotone for proximal steps;
///        docs/derivations/interior_point.md.
template <RealScalar Scalar>
class InteriorPointSolver {
 public:
  using scalar_type = Scalar;

  explicit InteriorPointSolver(const InteriorPointOptions<Scalar>& options = {}) noexcept
      : options_(options), impulse_islands_(options.law) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0 && options.sweeps >= 0);
  }
  [[nodiscard]] const InteriorPointOptions<Scalar>& options() const noexcept { return options_; }
  /// Sets the limits of all later solves, island by island; a default SolveLimits has no limit. For
  /// an island that is not solved at a limit, the answer is the iterate with the least natural map
  /// error, inside its cones. If this error is above 1e-3, impulses on bodies are scaled down until
  /// they add no energy, and sweeps of projected Gauss-Seidel come after it.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return limits_; }

  /// Allocates memory for the problem's size and pattern.
  void prepare(const ContactProblem<Scalar>& problem) {
    detail::prepare_or_renew(*this, limits_, [&] { take(problem); });
  }

  /// Solves without a guess.
  /// @param velocity  v, n_v [m/s, rad/s], written: v of the computed impulses.
  /// @param executor  for the islands, and the factor of a large one, as in SapSolver::solve.
  /// @return  residual: the largest error of a block relative to the scales of its bodies [-], that
  ///          of judge_answer(); worst_block: the block with this error; iterations: the largest
  ///          count of factored systems for one island; error_bound: infinite.
  /// @note  Real-time safe after prepare() for a problem of this size and pattern: no allocation,
  ///        no exception, at most iteration_limit systems on each island.
  template <typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            Executor&& executor = {}) noexcept {
    take(problem);
    return run(problem, velocity, false, detail::ExecutorReference(executor));
  }

  /// Solves from a first guess of the impulses, such as those of the last step. It costs one check
  /// if they already solve the problem, and two to four systems if they are near.
  /// @param impulse   γ, impulse_count(); finite.
  /// @param velocity  written; it is not read.
  template <typename Impulse, typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve_from(const ContactProblem<Scalar>& problem,
                                 const Eigen::MatrixBase<Impulse>& impulse,
                                 VectorX<Scalar>& velocity, Executor&& executor = {}) noexcept {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    take(problem);
    std::fill_n(law_.impulse(), 3 * system_.part_count(), Scalar(0));
    system_.rows().for_each_row([&](Index row, Index place) {
      const Scalar x = impulse(row);
      law_.impulse()[place] = detail::is_finite(x) ? x : Scalar(0);
    });
    return run(problem, velocity, true, detail::ExecutorReference(executor));
  }

  /// Allocates memory for problems in impulses of this size and pattern.
  void prepare(const DelassusProblem<Scalar>& problem) {
    detail::prepare_or_renew(*this, limits_, [&] { impulse_islands_.prepare(problem); });
  }
  /// Solves a problem in impulses, without bodies, island by island.
  /// @param impulse  γ in rows, row_count(): in: guess, if it is not zero; out: answer.
  /// @note  Real-time safe after prepare() for a problem of this size and pattern: no allocation,
  ///        no exception.
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            VectorX<Scalar>& impulse) noexcept {
    return solve(problem, as_span(impulse));
  }
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            std::span<Scalar> impulse) noexcept;

  /// γ of the last solve on bodies [N·s], stacked block by block.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {impulse_.data(), impulse_.size()};
  }

 private:
  using Sums = detail::MapSums<Scalar>;

  void take(const ContactProblem<Scalar>& problem) {
    system_.take(problem, options_.law == FrictionLaw::convex);
    law_.lay_out(system_, {options_.law, Scalar(0), Scalar(1)});  // each island has its own
    overlaps_.find(problem, system_);
    outcomes_.resize(system_.islands().size());
    saved_.resize(3 * system_.part_count());
    impulse_.grow(problem.impulse_count());
  }
  /// The tolerance of one island of a problem in impulses: if all islands satisfy it, they satisfy
  /// the tolerance together.
  [[nodiscard]] Scalar share_tolerance(Index islands) const noexcept {
    using std::sqrt;
    return options_.tolerance / sqrt(Scalar((std::max)(islands, Index(1))));
  }
  [[nodiscard]] SolveLimits island_limits() const noexcept {
    return limits_.with_iterations((std::min)(limits_.iteration_limit, options_.iteration_limit));
  }
  SolveReport<Scalar> run(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                          bool warm, const detail::ExecutorReference& executor) noexcept;
  template <typename IslandOutcome>
  static void add(const IslandOutcome& outcome, SolveReport<Scalar>& report) noexcept {
    report.iterations = (std::max)(report.iterations, outcome.systems);
    if (outcome.status != SolveStatus::converged) report.status = outcome.status;
  }

  using Outcome = typename detail::IslandLaw<detail::BodySystem<Scalar>>::Outcome;
  Outcome solve_island(Index island, bool warm, const SolveLimits& limits) noexcept;

  InteriorPointOptions<Scalar> options_;
  SolveLimits limits_;
  detail::BodySystem<Scalar> system_;
  detail::IslandLaw<detail::BodySystem<Scalar>> law_;
  detail::OverlapLoads<Scalar> overlaps_;
  Sequence<Outcome> outcomes_;
  Sequence<Scalar> saved_;  ///< impulses in parts
  Growing<VectorX<Scalar>> impulse_;
  detail::ImpulseIslands<Scalar> impulse_islands_;  ///< for problems in impulses
};

// --- implementation ---

template <RealScalar Scalar>
SolveReport<Scalar> InteriorPointSolver<Scalar>::run(
    const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity, bool warm,
    const detail::ExecutorReference& executor) noexcept {
  const Index islands = system_.islands().size();
  const SolveLimits limits = island_limits();
  if (limits.now != nullptr) system_.watch(&limits);
  detail::for_each_island(
      executor, islands, [this](Index i) { return system_.is_large(i); },
      [&](Index i, Crew* crew) {
        if (crew != nullptr) system_.share(crew);
        outcomes_[i] = solve_island(i, warm, limits);
        if (crew != nullptr) system_.share(nullptr);
      });
  system_.watch(nullptr);
  SolveReport<Scalar> report;
  report.status = SolveStatus::converged;
  report.measure = ResidualMeasure::block_error;
  report.residual_target = options_.tolerance;
  report.error_bound = std::numeric_limits<Scalar>::infinity();
  double pace = 0;
  for (Index i = 0; i < islands; ++i) {
    const auto& outcome = outcomes_[i];
    add(outcome, report);
    pace = (std::max)(pace, outcome.pace);
    if (!(outcome.error.residual > report.residual)) continue;
    report.residual = outcome.error.residual;
    report.worst_block = system_.block_number(outcome.error.worst);
  }
  law_.learn_pace(pace);
  std::fill_n(impulse_.data(), impulse_.size(), Scalar(0));
  system_.rows().for_each_row(
      [&](Index row, Index place) { impulse_(row) = law_.impulse()[place]; });
  write_velocity(problem, impulse_, velocity);
  for (Index i = 0; i < islands; ++i) {
    if (outcomes_[i].paired) system_.pairs().write(problem, system_.rows(), i, velocity);
  }
  return report;
}

/// Solves an island without the velocities that remove overlaps, then with them from there. The
/// answer is the second one if it is found soon.
template <RealScalar Scalar>
auto InteriorPointSolver<Scalar>::solve_island(Index island, bool warm,
                                               const SolveLimits& limits) noexcept -> Outcome {
  if (!overlaps_.any(island)) {
    return law_.solve(system_, island, warm, options_.tolerance, limits);
  }
  const auto solve_without = [&](bool from_guess, const SolveLimits& given) {
    overlaps_.leave_out(system_, island);
    const Outcome outcome = law_.solve(system_, island, from_guess, options_.tolerance, given);
    overlaps_.ask_again(system_, island);
    return outcome;
  };
  Outcome outcome = solve_without(warm, limits);
  if (outcome.status != SolveStatus::converged) return outcome;
  const auto& own = system_.islands()[island];
  const Index begin = 3 * own.first_part, end = 3 * own.part_end;
  std::copy(law_.impulse() + begin, law_.impulse() + end, saved_.begin() + begin);
  const int left = limits.iteration_limit - outcome.systems;
  const auto few = [&](int most) { return limits.with_iterations((std::min)(left, most)); };
  Outcome asked = law_.solve(system_, island, true, options_.tolerance,
                             few(detail::InteriorPointTuning::overlap_systems));
  asked.systems += outcome.systems;
  if (asked.status == SolveStatus::converged) return asked;
  std::copy(saved_.begin() + begin, saved_.begin() + end, law_.impulse() + begin);
  outcome = solve_without(true, few(detail::InteriorPointTuning::overlap_systems));
  outcome.systems += asked.systems;
  return outcome;
}

template <RealScalar Scalar>
SolveReport<Scalar> InteriorPointSolver<Scalar>::solve(const DelassusProblem<Scalar>& problem,
                                                       std::span<Scalar> impulse) noexcept {
  CAROM_EXPECTS(!problem.matrix_free());
  CAROM_EXPECTS(Index(impulse.size()) == problem.row_count());
  SolveReport<Scalar> report;
  if (!std::all_of(impulse.begin(), impulse.end(),
                   [](const Scalar& x) { return detail::is_finite(x); })) {
    report.measure = ResidualMeasure::natural_map;
    report.residual_target = options_.tolerance;
    report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
    return report;
  }
  report.status = SolveStatus::converged;
  Sums sums;
  impulse_islands_.find(problem);
  const Scalar tolerance = share_tolerance(impulse_islands_.count());
  for (Index k = 0; k < impulse_islands_.count(); ++k) {
    const auto outcome = impulse_islands_.solve(
        problem, k, impulse, {tolerance, options_.sweeps, limits_}, island_limits());
    sums += outcome.sums;
    add(outcome, report);
  }
  detail::conclude(impulse_islands_.yardstick(), sums, options_.tolerance, report);
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
