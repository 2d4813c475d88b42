// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/contact_solver_options.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/proximal.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/search/judged_rounds.hpp"
#include "carom/solvers/systems/executor_reference.hpp"

namespace carom {
inline namespace CAROM_ABI {

// NOLINTBEGIN(bugprone-exception-escape): W takes the numbers of a problem that was built

/// Solves a ContactProblem under the exact law of Coulomb, or the convex one, each contact rigid or
/// compliant as it was added.
///
/// By default it picks and switches by itself. Where every contact is compliant SapSolver begins.
/// With a rigid contact among them, and for what SapSolver leaves, InteriorPointSolver takes over:
/// Newton's method from a first guess of the impulses, as the step before gives one, the law's
/// central path, and proximal steps where that folds back. It factors whole islands; where there
/// are thousands of bodies ProximalSolver, which does not, solves rigid contact under the convex
/// law and compliant contact under Coulomb's. Every method may be asked for alone, and returns
/// velocity and impulses in the same way.
///
/// ```
/// carom::ContactSolver<double> solver;
/// const auto report = solver.solve(problem, velocity);
/// const auto& impulse = solver.impulse();
/// ```
/// Where no impulses obey the law it says no_progress or iteration_limit; solve_or_prove() looks
/// for a proof of that, soften() for the least softness that gives an answer.
template <RealScalar Scalar>
class ContactSolver {
 public:
  using scalar_type = Scalar;

  explicit ContactSolver(const ContactSolverOptions<Scalar>& options = {}) noexcept
      : options_(options),
        on_bodies_(detail::sap_options(options)),
        path_({.law = options.law, .tolerance = options.tolerance, .iteration_limit = unlimited}),
        proximal_(
            {.law = options.law, .tolerance = options.tolerance, .iteration_limit = unlimited}),
        rounds_(options.law, options.tolerance, options.iteration_limit,
                options.method == ContactMethod::sap) {}
  [[nodiscard]] const ContactSolverOptions<Scalar>& options() const noexcept { return options_; }
  /// Bounds every solve that follows; a default SolveLimits bounds none. At a deadline the answer
  /// is the best iterate by the measure of the stage that it ends, which is the balance of momentum
  /// for SapSolver. A later deadline may therefore leave a larger natural map error.
  void set_limits(const SolveLimits& limits) noexcept { rounds_.set_limits(limits); }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return rounds_.limits(); }

  /// Grows memory to the problem's size and pattern, so that solve() need not.
  void prepare(const ContactProblem<Scalar>& problem);

  /// Solves for velocity and impulse.
  /// @param velocity  v, n_v: guess in where it has that size, v of the impulses out; left as it
  ///        is where it is not finite, with impulses of zero.
  /// @param executor  takes the islands, as SapSolver::solve has it.
  /// @return  residual: the largest error of a block by what its own bodies do [-], that of
  ///          judge_answer(), and worst_block: where it is. ContactMethod::sap is judged with the
  ///          R that it gave to rigid contacts. Where ProximalSolver is chosen for its size, it is
  ///          the natural map error of the whole problem; report.measure says which.
  ///          iterations: as the method counts them, with `automatic` linear systems.
  /// @note  Real-time safe once prepare() has seen a problem of the size and pattern: no
  ///        allocation, no exception. Without it memory is made at the first problem, and again
  ///        where a problem is larger than any before.
  template <typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            Executor&& executor = {}) noexcept {
    executor_ = detail::ExecutorReference(executor);
    return with_overlap(problem, solve_without_impulse(problem, velocity));
  }

  /// Solves from a first guess of the impulses; ContactMethod::sap begins at their velocity.
  /// @param impulse   γ, impulse_count(); it may be impulse() of the last solve.
  /// @param velocity  v, n_v, out; nothing of it is read.
  /// @param executor  as of solve().
  /// @return  as of solve().
  template <typename Impulse, typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve_from(const ContactProblem<Scalar>& problem,
                                 const Eigen::MatrixBase<Impulse>& impulse,
                                 VectorX<Scalar>& velocity, Executor&& executor = {}) noexcept {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    impulse_.grow(problem.impulse_count());
    impulse_ = impulse;
    executor_ = detail::ExecutorReference(executor);
    return with_overlap(problem, solve_from_impulse(problem, velocity));
  }

  /// γ of the last solve, stacked block by block.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {impulse_.data(), impulse_.size()};
  }

 private:
  using Tuning = detail::ContactSolverTuning;
  static constexpr int unlimited = SolveLimits().iteration_limit;

  [[nodiscard]] static SolveReport<Scalar> with_overlap(const ContactProblem<Scalar>& problem,
                                                        SolveReport<Scalar> report) noexcept {
    report.deepest_overlap = problem.deepest_overlap();
    return report;
  }
  SolveReport<Scalar> solve_without_impulse(const ContactProblem<Scalar>& problem,
                                            VectorX<Scalar>& velocity) noexcept;
  SolveReport<Scalar> solve_from_impulse(const ContactProblem<Scalar>& problem,
                                         VectorX<Scalar>& velocity) noexcept;
  SolveReport<Scalar> solve_by_sap(const ContactProblem<Scalar>& problem,
                                   VectorX<Scalar>& velocity) noexcept;
  SolveReport<Scalar> solve_proximal(const ContactProblem<Scalar>& problem,
                                     VectorX<Scalar>& velocity) noexcept;
  SolveReport<Scalar> solve_on_bodies(const ContactProblem<Scalar>& problem,
                                      VectorX<Scalar>& velocity, int iterations) noexcept;
  SolveReport<Scalar> follow(const ContactProblem<Scalar>& problem, bool guessed,
                             VectorX<Scalar>& velocity, int iterations,
                             int most = unlimited) noexcept;
  [[nodiscard]] bool may_go_on(const SolveReport<Scalar>& report) const noexcept {
    const bool stopped = report.converged() || report.status == SolveStatus::deadline ||
                         report.status == SolveStatus::not_finite;
    return !stopped && rounds_.limits_after(report.iterations).iteration_limit > 0;
  }

  ContactSolverOptions<Scalar> options_;
  SapSolver<Scalar> on_bodies_;
  InteriorPointSolver<Scalar> path_;
  ProximalSolver<Scalar> proximal_;
  Growing<VectorX<Scalar>> impulse_;
  detail::ExecutorReference executor_;   ///< of the solve that runs
  detail::JudgedRounds<Scalar> rounds_;  ///< limits, and methods that are asked for by name
};
// NOLINTEND(bugprone-exception-escape)

// --- implementation ---

template <RealScalar Scalar>
void ContactSolver<Scalar>::prepare(const ContactProblem<Scalar>& problem) {
  impulse_.grow(problem.impulse_count());
  impulse_.setZero();
  rounds_.prepare(problem);
  if (detail::is_proximal(options_, problem)) return proximal_.prepare(problem);
  if (detail::begins_on_bodies(options_, problem)) on_bodies_.prepare(problem);
  if (detail::follows_path(options_)) path_.prepare(problem);
}

template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_without_impulse(
    const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity) noexcept {
  if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
  impulse_.grow(problem.impulse_count());
  impulse_.setZero();
  if (options_.method == ContactMethod::sap) return solve_by_sap(problem, velocity);
  if (!velocity.allFinite()) return rounds_.refuse();
  if (detail::is_proximal(options_, problem)) return solve_proximal(problem, velocity);
  return detail::begins_on_bodies(options_, problem) ? solve_on_bodies(problem, velocity, 0)
                                                     : follow(problem, false, velocity, 0);
}

template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_from_impulse(const ContactProblem<Scalar>& problem,
                                                              VectorX<Scalar>& velocity) noexcept {
  if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
  if (!impulse_.allFinite()) {
    impulse_.setZero();
    return rounds_.refuse();
  }
  if (options_.method == ContactMethod::sap) {
    write_velocity(problem, impulse_, velocity);
    return solve_by_sap(problem, velocity);
  }
  if (detail::is_proximal(options_, problem)) return solve_proximal(problem, velocity);
  if (!detail::begins_on_bodies(options_, problem)) return follow(problem, true, velocity, 0);
  SolveReport<Scalar> report = follow(problem, true, velocity, 0, 0);
  if (may_go_on(report) && report.residual < Scalar(Tuning::small_guess)) {
    report = follow(problem, true, velocity, 0, Tuning::guess_systems);
  }
  if (!may_go_on(report)) return report;
  velocity = problem.free_velocity();
  return solve_on_bodies(problem, velocity, report.iterations);
}

template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_by_sap(const ContactProblem<Scalar>& problem,
                                                        VectorX<Scalar>& velocity) noexcept {
  const auto attempt = [&](const Scalar& tolerance, const SolveLimits& limits) {
    on_bodies_.set_tolerance(tolerance);
    on_bodies_.set_limits(limits);
    const SolveReport<Scalar> report = on_bodies_.solve(problem, velocity, executor_);
    impulse_ = on_bodies_.impulse();
    return report;
  };
  return rounds_.solve(problem, velocity, impulse_, attempt);
}

/// Solves by proximal steps, from impulse_ or, where those are zero, from the velocity.
template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_proximal(const ContactProblem<Scalar>& problem,
                                                          VectorX<Scalar>& velocity) noexcept {
  const auto attempt = [&](const Scalar& tolerance, const SolveLimits& limits) {
    proximal_.set_tolerance(tolerance);
    proximal_.set_limits(limits);
    const SolveReport<Scalar> report =
        impulse_.isZero(Scalar(0)) ? proximal_.solve(problem, velocity, executor_)
                                   : proximal_.solve_from(problem, impulse_, velocity, executor_);
    impulse_ = proximal_.impulse();
    return report;
  };
  return options_.method == ContactMethod::proximal
             ? rounds_.solve(problem, velocity, impulse_, attempt)
             : attempt(options_.tolerance, rounds_.limits_after(0));
}

/// Solves by SapSolver. Where its answer does not meet the tolerance by the measure of all methods,
/// InteriorPointSolver goes on from its impulses.
template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_on_bodies(const ContactProblem<Scalar>& problem,
                                                           VectorX<Scalar>& velocity,
                                                           int iterations) noexcept {
  on_bodies_.set_limits(rounds_.limits_after(iterations));
  SolveReport<Scalar> begun = on_bodies_.solve(problem, velocity, executor_);
  if (begun.status == SolveStatus::not_finite) return rounds_.refuse();
  impulse_ = on_bodies_.impulse();
  const int done = iterations + begun.iterations;
  if (begun.converged()) {
    begun.iterations = done;
    write_velocity(problem, impulse_, velocity);
    return rounds_.judge(problem, velocity, impulse_, begun)
               ? begun
               : follow(problem, true, velocity, done);
  }
  const bool late = begun.status == SolveStatus::deadline;
  SolveReport<Scalar> report =
      follow(problem, true, velocity, done, late ? 0 : Tuning::guess_systems);
  if (late && !report.converged()) report.status = SolveStatus::deadline;
  return may_go_on(report) ? follow(problem, false, velocity, report.iterations) : report;
}

/// Solves by InteriorPointSolver, from impulse_ if it is a guess, within what is left of the limits
/// and `most` systems.
template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::follow(const ContactProblem<Scalar>& problem,
                                                  bool guessed, VectorX<Scalar>& velocity,
                                                  int iterations, int most) noexcept {
  const SolveLimits left = rounds_.limits_after(iterations);
  path_.set_limits(left.with_iterations((std::min)(left.iteration_limit, most)));
  SolveReport<Scalar> report = guessed ? path_.solve_from(problem, impulse_, velocity, executor_)
                                       : path_.solve(problem, velocity, executor_);
  report.iterations += iterations;
  impulse_ = path_.impulse();
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
