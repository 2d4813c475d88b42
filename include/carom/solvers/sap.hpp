// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/contact/primal.hpp"
#include "carom/core/detail/rollback.hpp"
#include "carom/solvers/rows/packed_exchange.hpp"
#include "carom/solvers/sap_options.hpp"
#include "carom/solvers/search/island_solver.hpp"
#include "carom/solvers/search/small_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// SAP: Newton's method with an exact line search on the unconstrained form of compliant contact.
///
/// It uses whitened velocities w = Lᵀv, in which ℓ(w) = ½‖w − w*‖² + ½‖P(y)‖²_R, the Hessian is
/// I + Ĵᵀ G Ĵ, and the norm of the gradient bounds the distance to the solution in kinetic energy.
/// The step length is the root of the derivative of ℓ along the step, an increasing function, so
/// that no difference of costs is computed. An island ends if ‖∇ℓ‖ ≤ T s, see
/// SapOptions::tolerance, or if full steps do not reduce it further (walk_to_target()). Islands,
/// bodies connected by contacts, are solved separately. The Hessian of each is sparse, and factored
/// in an order that is computed once per pattern.
///
/// ```
/// carom::SapSolver<double> solver;
/// Eigen::VectorXd velocity = problem.free_velocity();  // or the last step's, as a warm start
/// const auto report = solver.solve(problem, velocity);
/// ```
/// @cite castro2021unconstrained; globally convergent because ℓ is strongly convex and each step is
///       a descent direction with an exact line search. With the direction of friction in G as a
///       separate unknown (chan1999nonlinear) it needs half the iterations.
template <RealScalar Scalar>
class SapSolver {
 public:
  using scalar_type = Scalar;

  explicit SapSolver(const SapOptions<Scalar>& options = {}) noexcept : options_(options) {
    CAROM_EXPECTS(options.is_valid());
  }

  /// Movable, not copyable: results are read from the solver's own memory.
  SapSolver(SapSolver&&) noexcept = default;
  SapSolver& operator=(SapSolver&&) noexcept = default;

  [[nodiscard]] const SapOptions<Scalar>& options() const noexcept { return options_; }
  /// Sets the relative residual for all later solves [-], > 0.
  void set_tolerance(Scalar tolerance) noexcept {
    CAROM_EXPECTS(tolerance > Scalar(0));
    options_.tolerance = tolerance;
  }
  /// Sets the limits of all later solves, island by island; a default SolveLimits has no limit. The
  /// best iterate is that with the least ‖∇ℓ‖_{A⁻¹}, under Coulomb's law among those at the end of
  /// a stage.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return limits_; }

  /// Allocates memory for the problem's size, so that solve() does not.
  void prepare(const ContactProblem<Scalar>& problem);

  /// Solves the problem from a first guess. If there is an executor, it runs the islands, and the
  /// contacts of a large island.
  ///
  /// @param velocity  v [m/s, rad/s], n_v: in: first guess, out: best iterate. If the guess
  ///                  satisfies the tolerance, it is returned unchanged, in zero iterations.
  ///                  Otherwise the iteration of each island starts from the best of guess, rest
  ///                  and free velocity.
  /// @param executor  executor(count, task) calls task(i) for each i in [0, count), in any order,
  ///                  on any threads, and returns when all calls are done; it must not throw. The
  ///                  bits of the result do not depend on it. A task is an island. In a call for
  ///                  one large island, or for the exchange of a large problem's numbers, a task is
  ///                  a share of the work, and there are 32: tasks that run at the same time share
  ///                  the work, later ones return at once.
  /// @return  residual: ‖∇ℓ‖_{A⁻¹} of all islands together relative to the momentum_scale() [-];
  ///          `converged` means that each island satisfies the tolerance with its own scale;
  ///          error_bound: ‖∇ℓ‖_{A⁻¹} [√J], an upper bound of ‖v − v_opt‖_A without rounding
  ///          (certify() computes the bound with rounding); the duality gap is error_bound²/2 [J];
  ///          infinite under Coulomb's law; iterations: those of the island with the most
  ///          iterations.
  /// @note  Real-time safe after prepare() for a problem of this size: no allocation, no exception,
  ///        at most iteration_limit iterations on each island, each with one factorisation, or up
  ///        to four if round-off requires it. Another pattern of contacts of the same size may need
  ///        more memory, which is then allocated.
  template <typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            Executor&& executor = {}) noexcept {
    return run(problem, velocity, detail::ExecutorReference(executor));
  }

  /// γ of the last solve [N·s], stacked block by block, see ContactProblem::first_row(). Zero if
  /// the guess was rejected as not finite.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {impulses_.data(), impulses_.size()};
  }
  /// J v of the last solve [m/s, rad/s], stacked in the same way.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> contact_velocity() const noexcept {
    return {row_velocities_.data(), row_velocities_.size()};
  }
  /// The contact graph of the last problem: its islands, and which of them are factored. For a
  /// small problem, part_at() has the order of an earlier one of the same size.
  [[nodiscard]] const ContactGraph& graph() const noexcept { return graph_; }

 private:
  using Islands = detail::IslandSolver<Scalar>;
  using Outcome = typename Islands::Outcome;

  /// Sums over all islands, and whether each satisfies the tolerance with its own scale.
  struct Totals {
    Scalar residual, scale;
    bool met;
  };

  SolveReport<Scalar> run(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                          const detail::ExecutorReference& executor) noexcept;
  void lay_out(const ContactProblem<Scalar>& problem);
  [[nodiscard]] bool is_small(const ContactProblem<Scalar>& problem) const noexcept;
  SolveReport<Scalar> solve_small(const ContactProblem<Scalar>& problem,
                                  VectorX<Scalar>& velocity) noexcept;
  [[nodiscard]] Totals total() const noexcept;
  SolveReport<Scalar> refuse_guess() noexcept;

  [[nodiscard]] detail::NewtonLimits<Scalar> newton_limits() const noexcept {
    return {options_.tolerance, (std::min)(options_.iteration_limit, limits_.iteration_limit),
            options_.line_search_tolerance, limits_};
  }

  SapOptions<Scalar> options_;
  SolveLimits limits_;
  ContactGraph graph_;
  Islands islands_;
  detail::IdleMeasures<Scalar> idle_;
  Sequence<Scalar> impulses_, row_velocities_;
  detail::SmallSolver<Scalar> small_;
  bool small_seen_ = false;  ///< whether the last problem was small
};

// --- implementation ---

// These function bodies are outside of the class, so that carom::compiled saves their compile time.
template <RealScalar Scalar>
void SapSolver<Scalar>::prepare(const ContactProblem<Scalar>& problem) {
  detail::prepare_or_renew(*this, limits_, [&] { lay_out(problem); });
}

template <RealScalar Scalar>
void SapSolver<Scalar>::lay_out(const ContactProblem<Scalar>& problem) {
  const int analysed = graph_.analysis_count(), laid_out = graph_.layout_count();
  graph_.analyse(problem, options_.factor_work_limit);
  small_seen_ = false;
  impulses_.resize(problem.impulse_count());
  row_velocities_.resize(problem.impulse_count());
  islands_.follow(graph_);  // the solver may have been moved
  if (laid_out == graph_.layout_count()) return;
  small_.reserve(problem.velocity_count(), problem.block_count());
  islands_.lay_out(graph_, options_.law, analysed != graph_.analysis_count());
}

template <RealScalar Scalar>
bool SapSolver<Scalar>::is_small(const ContactProblem<Scalar>& problem) const noexcept {
  return options_.law == FrictionLaw::convex && options_.factor_work_limit > 0 &&
         problem.block_count() <= options_.small_contact_limit && detail::is_small(problem);
}

template <RealScalar Scalar>
SolveReport<Scalar> SapSolver<Scalar>::solve_small(const ContactProblem<Scalar>& problem,
                                                   VectorX<Scalar>& velocity) noexcept {
  // graph() must have the pattern, which the sizes of a small problem determine.
  if (!small_seen_ || !small_.fits(problem)) lay_out(problem);
  small_seen_ = true;
  small_.lay_out(problem);
  impulses_.resize(problem.impulse_count());
  row_velocities_.resize(problem.impulse_count());
  if (!detail::all_finite(velocity.data(), velocity.size())) return refuse_guess();
  return small_.solve(problem, velocity, newton_limits(), impulses_.data(), row_velocities_.data());
}

template <RealScalar Scalar>
typename SapSolver<Scalar>::Totals SapSolver<Scalar>::total() const noexcept {
  using std::sqrt;
  Scalar residual = idle_.residual_squared, free = idle_.free_squared, pushed = 0, gross = 0;
  bool met = detail::IslandMeasures<Scalar>{Scalar(sqrt(residual)), free}.meet(options_.tolerance);
  for (const Outcome& outcome : islands_.outcomes()) {
    const auto& own = outcome.measures;
    met = own.meet(options_.tolerance) && met;
    residual += own.residual * own.residual;
    free += own.free_squared;
    pushed += own.pushed_squared;
    gross += own.gross_squared;
  }
  return {sqrt(residual), momentum_scale(free, pushed, gross), met};
}

template <RealScalar Scalar>
SolveReport<Scalar> SapSolver<Scalar>::refuse_guess() noexcept {
  SolveReport<Scalar> report;
  report.residual_target = options_.tolerance;
  report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
  report.measure = ResidualMeasure::momentum_balance;
  for (Sequence<Scalar>* rows : {&impulses_, &row_velocities_}) {
    std::fill(rows->begin(), rows->end(), Scalar(0));
  }
  return report;
}

template <RealScalar Scalar>
SolveReport<Scalar> SapSolver<Scalar>::run(const ContactProblem<Scalar>& problem,
                                           VectorX<Scalar>& velocity,
                                           const detail::ExecutorReference& executor) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  if (is_small(problem)) return solve_small(problem, velocity);
  lay_out(problem);
  if (!detail::all_finite(velocity.data(), velocity.size())) return refuse_guess();
  const detail::PackedExchange<Scalar> exchange(problem, graph_, islands_.packed(),
                                                islands_.memory());
  islands_.share(executor, [&](const detail::SharedLoop& loop) {
    islands_.pack(problem, graph_, loop);
    idle_ = exchange.take_guess(velocity, loop);
  });
  islands_.for_each(executor,
                    [this](Index i, Crew* crew) { islands_.evaluate(i, options_.law, crew); });
  SolveReport<Scalar> report;
  report.residual_target = options_.tolerance;
  Totals totals = total();
  report.status = SolveStatus::converged;
  const bool iterates = !totals.met;  // otherwise the guess is the answer
  if (iterates) {
    if (limits_.now != nullptr) islands_.watch(&limits_);
    islands_.for_each(executor, [this](Index i, Crew* crew) {
      islands_.solve(i, {options_.law, newton_limits()}, crew);
    });
    islands_.watch(nullptr);
    islands_.learn_pace();
    idle_.residual_squared = 0;
    for (const Outcome& outcome : islands_.outcomes()) {
      report.iterations = (std::max)(report.iterations, outcome.iterations);
      if (outcome.status != SolveStatus::converged) report.status = outcome.status;
    }
    totals = total();
    if (totals.met) report.status = SolveStatus::converged;
  }
  islands_.share(executor, [&](const detail::SharedLoop& loop) {
    if (iterates) {
      exchange.give_velocities([this](Index i) { return islands_.outcomes()[i].moved; }, velocity,
                               loop);
    }
    exchange.give_impulses(impulses_.data(), row_velocities_.data(), loop);
  });
  detail::finish_report(totals.residual, totals.scale, report);
  if (options_.law == FrictionLaw::coulomb) {
    report.error_bound = std::numeric_limits<Scalar>::infinity();
  }
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
