// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/infeasibility_ray.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/sap.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Which law ContactSolver solves, and how accurately.
template <RealScalar Scalar>
struct ContactSolverOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// Natural map error at which to stop [-], > 0: ImpulseCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Most linear systems of all stages together, ≥ 0. It is what ends a problem without an answer;
  /// a problem with one takes some tens, a heap with self-stresses of 1000 times its load 750.
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
/// It picks and switches by itself. Where every contact gives way SapSolver begins. With a rigid
/// contact among them, and for what SapSolver leaves, InteriorPointSolver takes over: Newton's
/// method from a first guess of the impulses, as the step before gives one, the law's central path,
/// and proximal steps where that folds back.
///
/// ```
/// carom::ContactSolver<double> solver;
/// const auto report = solver.solve(problem, velocity);
/// const auto& impulse = solver.impulse();
/// ```
template <RealScalar Scalar>
class ContactSolver {
 public:
  using scalar_type = Scalar;

  explicit ContactSolver(const ContactSolverOptions<Scalar>& options = {})
      : options_(options),
        on_bodies_({.law = options.law,
                    .tolerance = options.tolerance / 3,
                    .iteration_limit = options.law == FrictionLaw::coulomb ? coulomb_steps : 100}),
        path_({.law = options.law, .tolerance = options.tolerance, .iteration_limit = unlimited}) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0);
  }
  [[nodiscard]] const ContactSolverOptions<Scalar>& options() const noexcept { return options_; }
  /// Bounds every solve from now on; a default SolveLimits bounds none. At a deadline the answer is
  /// the best by what the stage that it ends goes by, on bodies the balance of momentum, so that
  /// its natural map error may exceed that of an earlier deadline.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }

  /// Solves for velocity and impulse.
  /// @param velocity  v, n_v: guess in where it has that size, v of the impulses out; left as it
  ///        is where it is not finite, with impulses of zero.
  /// @return  residual: natural map error of impulse() [-], that of certify() on the dual form;
  ///          iterations: linear systems. Where no impulses obey the law they
  ///          grow until little is left of the residual, which is relative to them; a residual at
  ///          its target that is more than a tenth of ‖q‖ counts as no_progress.
  /// @note  Allocates nothing once a problem of the size and pattern has been solved.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity) {
    begin();
    if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
    resize(impulse_, problem.impulse_count());
    impulse_.setZero();
    if (!velocity.allFinite()) return refuse();
    return problem.rigid_count() == 0 ? solve_on_bodies(problem, velocity, 0)
                                      : settle(problem, false, velocity, 0);
  }

  /// Solves from a first guess of the impulses.
  /// @param impulse   γ, impulse_count(); impulse() of the last solve may be it.
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
    if (problem.rigid_count() > 0) return settle(problem, true, velocity, 0);
    SolveReport<Scalar> report = follow(problem, true, velocity, 0, 0);
    if (may_go_on(report) && report.residual < small_guess) {
      report = follow(problem, true, velocity, 0, guess_systems);
    }
    if (!may_go_on(report)) return report;
    velocity = problem.free_velocity();
    return solve_on_bodies(problem, velocity, report.iterations);
  }

  /// γ of the last solve, stacked block by block.
  [[nodiscard]] const VectorX<Scalar>& impulse() const noexcept { return impulse_; }
  /// Where the status is infeasible, the ray that proves it as certify_infeasible() judges; empty
  /// otherwise.
  [[nodiscard]] const VectorX<Scalar>& ray() const noexcept { return ray_; }
  /// R that rigid contacts were given to find an answer to a problem that has none [1/kg]; zero
  /// otherwise.
  [[nodiscard]] const Scalar& regularization() const noexcept { return regularization_; }

 private:
  static constexpr int unlimited = SolveLimits().iteration_limit;
  /// Most contacts of a problem that a proof is looked for: its work grows with their cube.
  static constexpr Index proof_contacts = 400;
  /// Systems after which it is looked for; a path that is blocked takes fewer.
  static constexpr int proof_systems = 150;
  /// Steps of SapSolver under Coulomb's law, after which the central path takes over: the bundled
  /// walls take 23, piles that are not solved by 25 take 40 to 70.
  static constexpr int coulomb_steps = 25;
  /// Systems that a guess of the impulses of compliant contact is given before SapSolver is asked.
  static constexpr int guess_systems = 12;
  /// Natural map error above which it is not worth them [-].
  static constexpr Scalar small_guess = Scalar(1e-2);

  void begin() noexcept {
    ray_.resize(0);
    regularization_ = 0;
  }
  /// SapSolver, which may not get there where a heap moves fast; InteriorPointSolver judges its
  /// impulses and goes on.
  SolveReport<Scalar> solve_on_bodies(const ContactProblem<Scalar>& problem,
                                      VectorX<Scalar>& velocity, int iterations) {
    on_bodies_.set_limits(limits_after(iterations));
    const SolveReport<Scalar> begun = on_bodies_.solve(problem, velocity);
    if (begun.status == SolveStatus::not_finite) return refuse();
    impulse_ = on_bodies_.impulse();
    if (begun.status != SolveStatus::deadline) {
      return settle(problem, true, velocity, iterations + begun.iterations);
    }
    SolveReport<Scalar> report = follow(problem, true, velocity, iterations + begun.iterations, 0);
    if (!report.converged()) report.status = SolveStatus::deadline;
    return report;
  }
  /// The whole law, from the impulses at hand if they are a guess; where it is long in coming, a
  /// proof that there is no answer, if one is wanted.
  SolveReport<Scalar> settle(const ContactProblem<Scalar>& problem, bool guessed,
                             VectorX<Scalar>& velocity, int iterations) {
    const bool wanted = options_.prove_infeasible && problem.block_count() <= proof_contacts;
    SolveReport<Scalar> report =
        follow(problem, guessed, velocity, iterations, wanted ? proof_systems : unlimited);
    if (!wanted || !may_go_on(report)) return report;
    if (!prove(problem)) return follow(problem, true, velocity, report.iterations, unlimited);
    report.status = SolveStatus::infeasible;
    if (options_.soften_infeasible) soften(problem, velocity, report);
    return report;
  }
  /// InteriorPointSolver, from the impulses at hand if they are a guess, within what is left of the
  /// limits and `most` systems.
  SolveReport<Scalar> follow(const ContactProblem<Scalar>& problem, bool guessed,
                             VectorX<Scalar>& velocity, int iterations, int most) {
    const SolveLimits left = limits_after(iterations);
    path_.set_limits(left.with_iterations((std::min)(left.iteration_limit, most)));
    SolveReport<Scalar> report =
        guessed ? path_.solve_from(problem, impulse_, velocity) : path_.solve(problem, velocity);
    report.iterations += iterations;
    impulse_ = path_.impulse();
    return report;
  }
  [[nodiscard]] bool may_go_on(const SolveReport<Scalar>& report) const noexcept {
    const bool stopped = report.converged() || report.status == SolveStatus::deadline ||
                         report.status == SolveStatus::not_finite;
    return !stopped && limits_after(report.iterations).iteration_limit > 0;
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
    constexpr auto least = Scalar(1e-10), factor = Scalar(10);  // relative to w
    constexpr int most = 15;
    ContactProblem<Scalar> soft = problem;
    DelassusForm<Scalar> form;
    DelassusProblem<Scalar> dual;
    form.write_matrix_free(problem, dual);
    const Scalar unit = dual.mean_diagonal();
    Scalar r = least * unit;
    for (int k = 0; k < most; ++k, r *= factor) {
      for (Index i = 0; i < problem.block_count(); ++i) {
        if (!problem.is_rigid(i)) continue;
        WeightedBlock<Scalar> law = problem.law(i);
        law.rigid = false;
        law.regularization.setConstant(r);
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
  static void resize(VectorX<Scalar>& numbers, Index size) {
    if (numbers.size() != size) numbers.resize(size);
  }
  /// What is left of the limits.
  [[nodiscard]] SolveLimits limits_after(int iterations) const noexcept {
    const int limit = (std::min)(options_.iteration_limit, limits_.iteration_limit);
    return limits_.with_iterations((std::max)(limit - iterations, 0));
  }
  /// A guess that is not finite: nothing is done.
  [[nodiscard]] SolveReport<Scalar> refuse() const noexcept {
    constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
    SolveReport<Scalar> report;
    report.residual_target = options_.tolerance;
    report.residual = report.error_bound = infinity;
    return report;
  }

  ContactSolverOptions<Scalar> options_;
  SolveLimits limits_;
  SapSolver<Scalar> on_bodies_;
  InteriorPointSolver<Scalar> path_;
  VectorX<Scalar> impulse_, ray_;
  Scalar regularization_ = 0;
};

}  // namespace CAROM_ABI
}  // namespace carom
