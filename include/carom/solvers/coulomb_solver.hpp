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
  Compliance compliance = Compliance::rigid;
  /// Natural map error at which to stop [-], > 0: ContactCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
};

/// Solves a ContactProblem under the exact law of Coulomb, or the convex one, with rigid contact or
/// compliant: what SapSolver, which needs R > 0 and the convex law, does not.
///
/// It picks and switches by itself. Contacts that give way are solved on bodies (SapSolver), where
/// a system has as many unknowns as the bodies. Rigid ones, and what SapSolver leaves, start with a
/// few convex problems in a row on bodies (ProximalSap), whose steps are cheap and safe; once these
/// are near, or gain no more, Newton's method on impulses (ContactNewton) takes over the impulses
/// and ends at machine accuracy. With a first guess of the impulses, as the step before gives one,
/// it begins at once; under the convex law, whose problems in a row are few, only if that is near.
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
        start_(start_options(options)),
        newton_({.law = options.law, .tolerance = options.tolerance}) {}
  [[nodiscard]] const CoulombSolverOptions<Scalar>& options() const noexcept { return options_; }

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
    if (options_.compliance == Compliance::given) return solve_on_bodies(problem, velocity);
    form_.write(problem, options_.compliance, dual_);
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
    form_.write(problem, options_.compliance, dual_);
    if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
    impulse_ = impulse;
    if (!impulse_.allFinite()) {
      impulse_.setZero();
      return refuse();
    }
    if (options_.law == FrictionLaw::coulomb) return finish(problem, velocity, 0);
    const Scalar error = measure();
    if (error <= start_.options().tolerance) return finish(problem, velocity, 0);
    write_velocity(problem, impulse_, velocity);
    if (options_.compliance == Compliance::given) return solve_on_bodies(problem, velocity);
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
    const SolveReport<Scalar> begun = on_bodies_.solve(problem, velocity);
    if (begun.status == SolveStatus::not_finite) return refuse();
    impulse_ = on_bodies_.impulse();
    form_.write_matrix_free(problem, options_.compliance, dual_);
    const Scalar error = measure();
    if (error <= options_.tolerance) {
      write_velocity(problem, impulse_, velocity);
      return measured_.finish(dual_, SolveStatus::converged, begun.iterations, options_.tolerance,
                              impulse_);
    }
    form_.write(problem, options_.compliance, dual_);
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
    start_.prepare(problem);
    const SolveReport<Scalar> begun = start_.solve(problem, velocity);
    if (begun.residual < error) impulse_ = start_.impulse();
    return finish(problem, velocity, iterations + begun.iterations);
  }
  [[nodiscard]] static ProximalSapOptions<Scalar> start_options(
      const CoulombSolverOptions<Scalar>& options) noexcept {
    ProximalSapOptions<Scalar> start;
    start.law = options.law;
    start.compliance = options.compliance;
    const bool rigid = options.compliance == Compliance::rigid;
    start.tolerance = (std::max)(options.tolerance, Scalar(rigid ? 1e-6 : 1e-4));
    start.iteration_limit = rigid ? 30 : 15;
    return start;
  }
  static void resize(VectorX<Scalar>& numbers, Index size) {
    if (numbers.size() != size) numbers.resize(size);
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
  SapSolver<Scalar> on_bodies_;
  ProximalSap<Scalar> start_;
  ContactNewton<Scalar> newton_;
  DelassusForm<Scalar> form_;
  DelassusProblem<Scalar> dual_;
  detail::DualIterate<Scalar> measured_;
  VectorX<Scalar> impulse_, guess_;
};

}  // namespace carom::inline CAROM_ABI
