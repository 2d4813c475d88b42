// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/core/detail/rollback.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/contact_solver_options.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/proximal.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/search/judged_rounds.hpp"
#include "carom/solvers/search/timed_sweeps.hpp"
#include "carom/solvers/systems/executor_reference.hpp"

namespace carom {
inline namespace CAROM_ABI {

// NOLINTBEGIN(bugprone-exception-escape): W is written without checks; only memory may be missing

/// Solves a ContactProblem under Coulomb's exact law, or the convex law. Each contact is rigid or
/// compliant as it was added.
///
/// By default it chooses and changes the method automatically. If all contacts are compliant,
/// SapSolver is the first. If a contact is rigid, or SapSolver does not solve the problem,
/// InteriorPointSolver is used: Newton's method from a first guess of the impulses (for example
/// those of the step before), then the central path of the law, then proximal steps if the path
/// folds back. It factors whole islands. For thousands of bodies ProximalSolver, which has no
/// factor, takes its place for rigid contact under the convex law and compliant contact under
/// Coulomb's law. A solve with a deadline begins with sweeps, see set_limits().
/// Each method can also be selected alone, and returns velocity and impulses in the same way.
///
/// ```
/// carom::ContactSolver<double> solver;
/// const auto report = solver.solve(problem, velocity);
/// const auto& impulse = solver.impulse();
/// ```
/// If no impulses obey the law, the status is no_progress or iteration_limit. solve_or_prove()
/// searches a proof of this, soften() the least softness for which an answer exists.
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
  /// Sets the limits of all later solves; a default SolveLimits has no limit.
  ///
  /// With a deadline, `automatic` begins with sweeps over the contacts, which need no factor, and
  /// continues with them if the time does not suffice for the other methods; how long these take
  /// is learned from one solve to the next. At the deadline the answer is the better one of the
  /// sweeps' and the other methods', by `residual`. Sweeps exceed the deadline by at most one of
  /// them, or the least count in the limits, and the measure of the answer. The other methods
  /// exceed it by an iteration that takes longer than the longest one before. A method selected by
  /// name returns its best iterate by its own measure.
  void set_limits(const SolveLimits& limits) noexcept { rounds_.set_limits(limits); }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return rounds_.limits(); }

  /// Allocates memory for the problem's size and pattern, so that solve() does not.
  void prepare(const ContactProblem<Scalar>& problem);

  /// Solves for velocity and impulse.
  /// @param velocity  v, n_v: in: guess if it has this size, out: v of the impulses. If it is not
  ///                  finite, it does not change, and the impulses are zero.
  /// @param executor  for the islands, as in SapSolver::solve.
  /// @return  residual: the largest error of a block relative to the scales of its bodies [-], that
  ///          of judge_answer(), and worst_block: the block with this error. For ContactMethod::sap
  ///          the error is measured with the R that it uses for rigid contacts. If ProximalSolver
  ///          is chosen because of the problem's size, it is the natural map error of the whole
  ///          problem; report.measure states which. iterations: the count of the method; with
  ///          `automatic` the count of linear systems.
  /// @note  Real-time safe after prepare() for a problem of this size and pattern: no allocation,
  ///        no exception. Without it, memory is allocated at the first problem, and for a problem
  ///        larger than every problem before.
  template <typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            Executor&& executor = {}) noexcept {
    grow(problem);
    executor_ = detail::ExecutorReference(executor);
    return with_overlap(problem, has_deadline() ? solve_in_time(problem, velocity, false)
                                                : solve_without_impulse(problem, velocity));
  }

  /// Solves from a first guess of the impulses; ContactMethod::sap starts at their velocity.
  /// @param impulse   γ, impulse_count(); it may be impulse() of the last solve.
  /// @param velocity  v, n_v, written; it is not read.
  /// @param executor  as for solve().
  /// @return  as for solve().
  template <typename Impulse, typename Executor = detail::ExecutorReference>
  SolveReport<Scalar> solve_from(const ContactProblem<Scalar>& problem,
                                 const Eigen::MatrixBase<Impulse>& impulse,
                                 VectorX<Scalar>& velocity, Executor&& executor = {}) noexcept {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    grow(problem);
    impulse_ = impulse;
    executor_ = detail::ExecutorReference(executor);
    return with_overlap(problem, has_deadline() ? solve_in_time(problem, velocity, true)
                                                : solve_from_impulse(problem, velocity));
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
  /// Memory for the answer, and for sweeps before a deadline: it may come with any solve.
  void grow(const ContactProblem<Scalar>& problem) {
    impulse_.grow(problem.impulse_count());
    const bool large = problem.block_count() >= Tuning::proximal_blocks;
    if (options_.method != ContactMethod::automatic || (large && !has_deadline())) return;
    swept_.grow(problem.impulse_count());
    guess_.grow(problem.velocity_count());
    sweeps_.reserve(problem, options_.law);
    rounds_.reserve(problem);
  }
  [[nodiscard]] bool has_deadline() const noexcept {
    return options_.method == ContactMethod::automatic && rounds_.limits().has_deadline();
  }
  SolveReport<Scalar> solve_in_time(const ContactProblem<Scalar>& problem,
                                    VectorX<Scalar>& velocity, bool guessed) noexcept;
  SolveReport<Scalar> solve_by_sap(const ContactProblem<Scalar>& problem,
                                   VectorX<Scalar>& velocity) noexcept;
  SolveReport<Scalar> solve_proximal(const ContactProblem<Scalar>& problem,
                                     VectorX<Scalar>& velocity, int iterations = 0) noexcept;
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
  Growing<VectorX<Scalar>> swept_, guess_;  ///< impulses of the sweeps; given velocity
  detail::ExecutorReference executor_;      ///< of the active solve
  detail::JudgedRounds<Scalar> rounds_;     ///< limits, and rounds of a method selected by name
  detail::TimedSweeps<Scalar> sweeps_;
};
// NOLINTEND(bugprone-exception-escape)

// --- implementation ---

template <RealScalar Scalar>
void ContactSolver<Scalar>::prepare(const ContactProblem<Scalar>& problem) {
  detail::prepare_or_renew(*this, limits(), [&] {
    grow(problem);
    impulse_.setZero();
    rounds_.reserve(problem);
    if (detail::is_proximal(options_, problem)) return proximal_.prepare(problem);
    if (detail::begins_on_bodies(options_, problem)) on_bodies_.prepare(problem);
    if (detail::avoids_factor(options_, problem)) return proximal_.prepare(problem);
    if (detail::follows_path(options_)) path_.prepare(problem);
  });
}

/// Sweeps first. The methods follow if the time that is left probably suffices for them. At the
/// deadline the answer is the better one of theirs and of the sweeps.
template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_in_time(const ContactProblem<Scalar>& problem,
                                                         VectorX<Scalar>& velocity,
                                                         bool guessed) noexcept {
  const auto run_methods = [&](bool warm) {
    return warm ? solve_from_impulse(problem, velocity) : solve_without_impulse(problem, velocity);
  };
  if (!guessed) impulse_.setZero();
  if (!impulse_.allFinite() || !problem.free_velocity().allFinite()) return run_methods(guessed);
  if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
  if (!velocity.allFinite() && !guessed) return rounds_.refuse();
  guess_ = velocity;
  SolveReport<Scalar> swept;
  const auto is_solved = [&] { return rounds_.judge(problem, velocity, impulse_, swept); };
  const auto next = sweeps_.run(problem, options_.law, options_.tolerance, rounds_.limits(),
                                {impulse_.data(), velocity.data()}, is_solved);
  swept.error_bound = std::numeric_limits<Scalar>::infinity();
  if (next == detail::AfterSweeps::solved || next == detail::AfterSweeps::late) {
    const bool solved = swept.residual <= options_.tolerance;
    swept.status = solved ? SolveStatus::converged : SolveStatus::deadline;
    return swept;
  }
  swept_ = impulse_;
  const bool warm = guessed || next == detail::AfterSweeps::go_on;
  if (!warm) velocity = guess_;
  SolveReport<Scalar> report = run_methods(warm);
  const bool improved = report.residual < swept.residual;
  sweeps_.learn(rounds_.limits(), improved, report.iterations);
  if (report.status == SolveStatus::deadline && !improved) {
    swept.iterations = report.iterations;
    swept.status = report.status;
    impulse_ = swept_;
    write_velocity(problem, impulse_, velocity);
    return swept;
  }
  return report;
}

template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_without_impulse(
    const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity) noexcept {
  if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
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
  if (detail::avoids_factor(options_, problem)) {
    write_velocity(problem, impulse_, velocity);
    SolveReport<Scalar> given;
    given.error_bound = std::numeric_limits<Scalar>::infinity();
    if (rounds_.judge(problem, velocity, impulse_, given)) {
      given.status = SolveStatus::converged;
      return given;
    }
    return solve_on_bodies(problem, velocity, 0);
  }
  // Of few blocks any guess is tried with one system: the sweeps before it mostly solve them.
  const int first = problem.block_count() <= detail::IslandLawTuning::few_blocks ? 1 : 0;
  SolveReport<Scalar> report = follow(problem, true, velocity, 0, first);
  if (may_go_on(report) && report.residual < Scalar(Tuning::small_guess)) {
    report = follow(problem, true, velocity, report.iterations, Tuning::guess_systems);
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

/// Solves by proximal steps, starting from impulse_ or, if it is zero, from the velocity.
template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_proximal(const ContactProblem<Scalar>& problem,
                                                          VectorX<Scalar>& velocity,
                                                          int iterations) noexcept {
  const auto attempt = [&](const Scalar& tolerance, const SolveLimits& limits) {
    proximal_.set_tolerance(tolerance);
    proximal_.set_limits(limits);
    const SolveReport<Scalar> report =
        impulse_.isZero(Scalar(0)) ? proximal_.solve(problem, velocity, executor_)
                                   : proximal_.solve_from(problem, impulse_, velocity, executor_);
    impulse_ = proximal_.impulse();
    return report;
  };
  if (options_.method == ContactMethod::proximal) {
    return rounds_.solve(problem, velocity, impulse_, attempt);
  }
  SolveReport<Scalar> report = attempt(options_.tolerance, rounds_.limits_after(iterations));
  report.iterations += iterations;
  return report;
}

/// Solves by SapSolver. If its answer does not satisfy the tolerance by the measure of all methods,
/// it is solved more accurately once, which costs one or two steps; then InteriorPointSolver
/// continues from its impulses, or ProximalSolver if the problem is large.
template <RealScalar Scalar>
SolveReport<Scalar> ContactSolver<Scalar>::solve_on_bodies(const ContactProblem<Scalar>& problem,
                                                           VectorX<Scalar>& velocity,
                                                           int iterations) noexcept {
  SolveReport<Scalar> begun;
  int done = iterations;
  Scalar tolerance = detail::sap_options(options_).tolerance;
  const int most = detail::first_steps(options_.law, problem);
  for (int round = 0; round < Tuning::sap_rounds; ++round) {
    on_bodies_.set_tolerance(tolerance);
    const SolveLimits left = rounds_.limits_after(done);
    on_bodies_.set_limits(left.with_iterations((std::min)(left.iteration_limit, most)));
    begun = on_bodies_.solve(problem, velocity, executor_);
    if (begun.status == SolveStatus::not_finite) return rounds_.refuse();
    impulse_ = on_bodies_.impulse();
    done += begun.iterations;
    if (!begun.converged()) break;
    write_velocity(problem, impulse_, velocity);
    begun.iterations = done;
    if (rounds_.judge(problem, velocity, impulse_, begun)) return begun;
    tolerance = rounds_.next_tolerance(tolerance, begun.residual);
  }
  if (detail::avoids_factor(options_, problem)) {
    if (begun.status == SolveStatus::deadline) {
      write_velocity(problem, impulse_, velocity);
      rounds_.judge(problem, velocity, impulse_, begun);
      return begun;
    }
    return solve_proximal(problem, velocity, done);
  }
  if (begun.converged()) return follow(problem, true, velocity, done);
  const bool late = begun.status == SolveStatus::deadline;
  SolveReport<Scalar> report =
      follow(problem, true, velocity, done, late ? 0 : Tuning::stalled_systems);
  if (late && !report.converged()) report.status = SolveStatus::deadline;
  return may_go_on(report) ? follow(problem, false, velocity, report.iterations) : report;
}

/// Solves by InteriorPointSolver, starting from impulse_ if it is a guess, within the remaining
/// limits and at most `most` systems.
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
