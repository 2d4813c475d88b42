// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/contact_newton.hpp"
#include "carom/solvers/detail/dual_iterate.hpp"
#include "carom/solvers/infeasibility_ray.hpp"
#include "carom/solvers/interior_point.hpp"
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
  /// Whether a problem whose path is blocked is looked at for a ray that proves that no impulses
  /// obey the law: status infeasible, ray(). It allocates, in work that grows with the cube of the
  /// contacts that press, of which there may be 400; what is not proven goes on as without it.
  bool prove_infeasible = false;
  /// Whether a problem that is proven to have no answer is given the least R with which it has one,
  /// to a factor of ten: the impulses are those of the softened problem, regularization() says its
  /// R, and the status is still infeasible. Needs prove_infeasible; it allocates.
  bool soften_infeasible = false;
};

/// Solves a ContactProblem under the exact law of Coulomb, or the convex one, each contact rigid or
/// compliant as it was added: what SapSolver, which needs R > 0 and the convex law, does not.
///
/// It picks and switches by itself. Where every contact gives way SapSolver begins, on bodies. With
/// a rigid contact among them, and for what SapSolver leaves, InteriorPointSolver follows the law's
/// central path, and from a first guess of the impulses, as the step before gives one, Newton's
/// method comes before it. Where the path folds back, a few convex problems in a row (ProximalSap)
/// and Newton's method on impulses (ContactNewton) go on from the best of all.
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
        newton_({.law = options.law, .tolerance = options.tolerance}),
        path_({.law = options.law, .tolerance = options.tolerance}) {
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
  ///          its target that is more than a tenth of ‖q‖ counts as no_progress.
  /// @note  Allocates nothing once a problem of the size and pattern has been solved.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity) {
    begin();
    if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
    resize(impulse_, problem.impulse_count());
    impulse_.setZero();
    if (!velocity.allFinite()) return refuse();
    if (problem.rigid_count() == 0) return solve_on_bodies(problem, velocity);
    return follow_path(problem, false, velocity, 0);
  }

  /// Solves from a first guess of the impulses.
  /// @param impulse   γ, impulse_count(): contacts, then constraints; impulse() of the last solve
  ///        may be it.
  /// @param velocity  v, n_v, out; nothing of it is read.
  /// @return  as of solve().
  SolveReport<Scalar> solve_from(const ContactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& impulse, VectorX<Scalar>& velocity) {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    begin();
    if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
    impulse_ = impulse;
    if (!impulse_.allFinite()) {
      impulse_.setZero();
      return refuse();
    }
    return follow_path(problem, true, velocity, 0);
  }

  /// γ of the last solve: contacts, then constraints.
  [[nodiscard]] const VectorX<Scalar>& impulse() const noexcept { return impulse_; }
  /// Where the status is infeasible, the ray that proves it as certify_infeasible() judges; empty
  /// otherwise.
  [[nodiscard]] const VectorX<Scalar>& ray() const noexcept { return ray_; }
  /// R that rigid contacts were given to find an answer to a problem that has none [1/kg]; zero
  /// otherwise.
  [[nodiscard]] const Scalar& regularization() const noexcept { return regularization_; }

 private:
  /// Most contacts of a problem that a proof is looked for: its work grows with their cube.
  static constexpr Index proof_contacts = 400;

  void begin() noexcept {
    ray_.resize(0);
    regularization_ = 0;
  }
  /// SapSolver, which does not know Coulomb's law of friction cones among the constraints and may
  /// not get there where a heap is in uproar; then what rigid contact is solved by.
  SolveReport<Scalar> solve_on_bodies(const ContactProblem<Scalar>& problem,
                                      VectorX<Scalar>& velocity) {
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
    return follow_path(problem, true, velocity, begun.iterations);
  }
  /// InteriorPointSolver, from the impulses at hand if they are a guess; then what goes on where
  /// its path folds.
  SolveReport<Scalar> follow_path(const ContactProblem<Scalar>& problem, bool warm,
                                  VectorX<Scalar>& velocity, int iterations) {
    path_.set_limits(limits_after(iterations));
    SolveReport<Scalar> report =
        warm ? path_.solve_from(problem, impulse_, velocity) : path_.solve(problem, velocity);
    iterations += report.iterations;
    impulse_ = path_.impulse();
    report.iterations = iterations;
    const bool over =
        report.status == SolveStatus::deadline || limits_after(iterations).iteration_limit == 0;
    if (report.converged() || over) return report;
    if (options_.prove_infeasible && problem.contact_count() <= proof_contacts && prove(problem)) {
      report.status = SolveStatus::infeasible;
      if (options_.soften_infeasible) soften(problem, velocity, report);
      return report;
    }
    form_.write(problem, dual_);
    velocity = problem.free_velocity();
    return begin_on_bodies(problem, report.residual, velocity, iterations);
  }
  /// Whether a ray proves that there is no answer; the impulses, which grow along it, are its
  /// guess.
  [[nodiscard]] bool prove(const ContactProblem<Scalar>& problem) {
    ray_ = refine_ray(problem, options_.law, impulse_);
    if (certify_infeasible(problem, options_.law, ray_).infeasible) return true;
    ray_.resize(0);
    return false;
  }
  /// Gives rigid contacts R, more and more of it, until there is an answer.
  void soften(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
              SolveReport<Scalar>& report) {
    constexpr auto least = Scalar(1e-10), most = Scalar(1e4), factor = Scalar(10);  // relative to w
    ContactProblem<Scalar> soft = problem;
    form_.write_matrix_free(problem, dual_);
    const Scalar unit = dual_.mean_diagonal();
    for (Scalar share = least; share <= most; share *= factor) {
      const Scalar r = share * unit;
      for (Index i = 0; i < problem.contact_count(); ++i) {
        if (!problem.is_rigid(i)) continue;
        WeightedContact<Scalar> law = problem.law(i);
        law.rigid = false;
        law.regularization = {r, r};
        soft.set_law(i, law);
      }
      const SolveReport<Scalar> found = path_.solve(soft, velocity);
      report.iterations += found.iterations;
      if (!found.converged()) continue;
      impulse_ = path_.impulse();
      report.residual = found.residual;
      regularization_ = r;
      return;
    }
    write_velocity(problem, impulse_, velocity);
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
    if (report.converged() && report.residual * grown > dual_.load_norm() / 10) {
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
  InteriorPointSolver<Scalar> path_;
  DelassusForm<Scalar> form_;
  DelassusProblem<Scalar> dual_;
  detail::DualIterate<Scalar> measured_;
  VectorX<Scalar> impulse_, ray_;
  Scalar regularization_ = 0;
};

}  // namespace carom::inline CAROM_ABI
