// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/contact_newton.hpp"
#include "carom/solvers/detail/dual_iterate.hpp"
#include "carom/solvers/proximal_sap.hpp"

namespace carom::inline CAROM_ABI {

/// Which law CoulombSolver solves, and how accurately.
template <RealScalar Scalar>
struct CoulombSolverOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// Natural map error at which to stop [-], > 0: ContactCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Most iterations of all stages together, ≥ 0: Newton steps on bodies, convex problems in a row,
  /// linear systems in impulses. It is what ends a problem without an answer, which otherwise goes
  /// on for as long as 8000 systems take; a problem with one takes some tens.
  int iteration_limit = 1000;
};

/// Solves a ContactProblem under the exact law of Coulomb, or the convex one, each contact rigid or
/// compliant as it was added: what SapSolver, which needs R > 0 and the convex law, does not.
///
/// It picks and switches by itself. Where every contact gives way the problem is solved on bodies
/// (SapSolver), where a system has as many unknowns as the bodies. With a rigid contact among them,
/// and for what SapSolver leaves, it starts with a few convex problems in a row on bodies
/// (ProximalSap), whose steps are cheap and safe; once these are near, or gain no more, Newton's
/// method on impulses (ContactNewton) takes over the impulses and ends at machine accuracy. With a
/// first guess of the impulses, as the step before gives one, it begins at once; under the convex
/// law, whose problems in a row are few, only if that is near.
///
/// ```
/// carom::CoulombSolver<double> solver;
/// const auto report = solver.solve(problem, velocity);
/// const auto& impulse = solver.impulse();
/// ```
template <RealScalar Scalar>
class CoulombSolver {
 public:
  using scalar_type = Scalar;

  explicit CoulombSolver(const CoulombSolverOptions<Scalar>& options = {})
      : options_(options),
        on_bodies_(
            {.law = options.law, .tolerance = options.tolerance / 3, .iteration_limit = 100}),
        rigid_start_(start_options(options, Scalar(1e-6), 30)),
        compliant_start_(start_options(options, Scalar(1e-4), 15)),
        newton_({.law = options.law, .tolerance = options.tolerance}) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0);
  }
  [[nodiscard]] const CoulombSolverOptions<Scalar>& options() const noexcept { return options_; }
  /// Bounds every solve from now on; a default SolveLimits bounds none. At a deadline the answer is
  /// the best by what the stage that it ends goes by, on bodies the balance of momentum, so that
  /// its natural map error may exceed that of an earlier deadline.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }

  /// Solves for velocity and impulse.
  /// @param velocity  v, n_v: guess in where it has that size, v of the impulses out; left as it
  ///        is where it is not finite, with impulses of zero.
  /// @return  residual: natural map error of impulse() [-], that of certify() on the dual form;
  ///          iterations: convex problems and linear systems. Where no impulses obey the law they
  ///          grow until little is left of the residual, which is relative to them; a residual at
  ///          its target that is more than half of ‖q‖ counts as no_progress.
  /// @note  Allocates nothing once a problem of the size and pattern has been solved.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity) {
    if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
    resize(impulse_, problem.impulse_count());
    impulse_.setZero();
    if (!velocity.allFinite()) return refuse();
    if (problem.rigid_count() == 0) return solve_on_bodies(problem, velocity);
    form_.write(problem, dual_);
    return begin_on_bodies(problem, std::numeric_limits<Scalar>::infinity(), velocity, 0);
  }

  /// Solves from a first guess of the impulses.
  /// @param impulse   γ, impulse_count(): contacts, then constraints; impulse() of the last solve
  ///        may be it.
  /// @param velocity  v, n_v, out; nothing of it is read.
  /// @return  as of solve().
  SolveReport<Scalar> solve_from(const ContactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& impulse, VectorX<Scalar>& velocity) {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    form_.write(problem, dual_);
    if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
    impulse_ = impulse;
    if (!impulse_.allFinite()) {
      impulse_.setZero();
      return refuse();
    }
    if (options_.law == FrictionLaw::coulomb) return finish(problem, velocity, 0);
    const Scalar error = measure();
    if (error <= start_for(problem).options().tolerance) return finish(problem, velocity, 0);
    write_velocity(problem, impulse_, velocity);
    if (problem.rigid_count() == 0) return solve_on_bodies(problem, velocity);
    return begin_on_bodies(problem, error, velocity, 0);
  }

  /// γ of the last solve: contacts, then constraints.
  [[nodiscard]] const VectorX<Scalar>& impulse() const noexcept { return impulse_; }

 private:
  /// SapSolver, which does not know Coulomb's law of friction cones among the constraints and may
  /// not get there where a heap is in uproar; then what rigid contact is solved by.
  SolveReport<Scalar> solve_on_bodies(const ContactProblem<Scalar>& problem,
                                      VectorX<Scalar>& velocity) {
    guess_ = velocity;
    on_bodies_.set_limits(limits_after(0));
    const SolveReport<Scalar> begun = on_bodies_.solve(problem, velocity);
    if (begun.status == SolveStatus::not_finite) return refuse();
    impulse_ = on_bodies_.impulse();
    form_.write_matrix_free(problem, dual_);
    const Scalar error = measure();
    if (error <= options_.tolerance) {
      write_velocity(problem, impulse_, velocity);
      return measured_.finish(dual_, SolveStatus::converged, begun.iterations, options_.tolerance,
                              impulse_);
    }
    if (begun.status == SolveStatus::deadline) {
      return stop(problem, SolveStatus::deadline, begun.iterations, velocity);
    }
    form_.write(problem, dual_);
    constexpr auto close = Scalar(1e-4);
    if (error <= close) return finish(problem, velocity, begun.iterations);
    velocity = guess_;
    return begin_on_bodies(problem, error, velocity, begun.iterations);
  }
  /// The natural map error of the impulses at hand.
  [[nodiscard]] Scalar measure() {
    measured_.reserve(dual_);
    static_cast<void>(measured_.start(dual_, impulse_));
    return measured_.measure(dual_, options_.law);
  }
  /// ProximalSap, then Newton from its impulses if they are better than the error of those at hand.
  SolveReport<Scalar> begin_on_bodies(const ContactProblem<Scalar>& problem, const Scalar& error,
                                      VectorX<Scalar>& velocity, int iterations) {
    measured_.reserve(dual_);  // so that stopping allocates nothing
    ProximalSap<Scalar>& start = start_for(problem);
    start.prepare(problem);
    start.set_limits(limits_after(iterations));
    const SolveReport<Scalar> begun = start.solve(problem, velocity);
    if (begun.residual < error) impulse_ = start.impulse();
    if (begun.status == SolveStatus::deadline) {
      return stop(problem, begun.status, iterations + begun.iterations, velocity);
    }
    return finish(problem, velocity, iterations + begun.iterations);
  }
  /// Compliant contact needs a start that is less near.
  [[nodiscard]] ProximalSap<Scalar>& start_for(const ContactProblem<Scalar>& problem) noexcept {
    return problem.rigid_count() > 0 ? rigid_start_ : compliant_start_;
  }
  [[nodiscard]] static ProximalSapOptions<Scalar> start_options(
      const CoulombSolverOptions<Scalar>& options, const Scalar& tolerance,
      int iteration_limit) noexcept {
    return {.law = options.law,
            .tolerance = (std::max)(options.tolerance, tolerance),
            .iteration_limit = iteration_limit};
  }
  static void resize(VectorX<Scalar>& numbers, Index size) {
    if (numbers.size() != size) numbers.resize(size);
  }
  /// What is left of the limits.
  [[nodiscard]] SolveLimits limits_after(int iterations) const noexcept {
    const int limit = (std::min)(options_.iteration_limit, limits_.iteration_limit);
    return limits_.with_iterations((std::max)(limit - iterations, 0));
  }
  /// Ends with the impulses at hand, moved into their sets.
  SolveReport<Scalar> stop(const ContactProblem<Scalar>& problem, SolveStatus status,
                           int iterations, VectorX<Scalar>& velocity) {
    static_cast<void>(measure());
    measured_.confine_best(dual_, options_.law);
    const auto report = measured_.finish(dual_, status, iterations, options_.tolerance, impulse_);
    write_velocity(problem, impulse_, velocity);
    return report;
  }
  /// A guess that is not finite: nothing is done.
  [[nodiscard]] SolveReport<Scalar> refuse() const noexcept {
    constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
    SolveReport<Scalar> report;
    report.residual_target = options_.tolerance;
    report.residual = report.error_bound = infinity;
    return report;
  }
  SolveReport<Scalar> finish(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                             int begun) {
    const SolveLimits left = limits_after(begun);
    if (left.iteration_limit == 0) {
      return stop(problem, SolveStatus::iteration_limit, begun, velocity);
    }
    newton_.set_limits(left);
    SolveReport<Scalar> report = newton_.solve(dual_, impulse_);
    report.iterations += begun;
    const Scalar grown = dual_.mean_diagonal() * impulse_.norm();
    if (report.converged() && report.residual * grown > dual_.load_norm() / 2) {
      report.status = SolveStatus::no_progress;
    }
    write_velocity(problem, impulse_, velocity);
    return report;
  }

  CoulombSolverOptions<Scalar> options_;
  SolveLimits limits_;
  SapSolver<Scalar> on_bodies_;
  ProximalSap<Scalar> rigid_start_, compliant_start_;
  ContactNewton<Scalar> newton_;
  DelassusForm<Scalar> form_;
  DelassusProblem<Scalar> dual_;
  detail::DualIterate<Scalar> measured_;
  VectorX<Scalar> impulse_, guess_;
};

}  // namespace carom::inline CAROM_ABI
