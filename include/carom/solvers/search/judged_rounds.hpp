// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/contact/contact_problem.hpp"
#include "carom/core/scalar.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_solver_options.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of ContactSolver, which combines SapSolver and InteriorPointSolver, of
/// solve_or_prove() and of soften(). Each is a pure number [-] unless a unit is given.
///
/// They were measured on the files of examples/data under both laws, compliant and rigid, on bodies
/// that fall into a bin and on problems without an answer, by benchmarks/ablation, which changes
/// one constant at a time. docs/performance.md lists the cost of each change.
struct ContactSolverTuning {
  /// SapSolver solves to an error smaller than the tolerance by this factor, because its residual
  /// is that of the whole problem, while the answer is measured by the worst block.
  static constexpr double sap_accuracy = 3;
  /// Largest tolerance of SapSolver: a less accurate answer costs the later stages more than it
  /// saves.
  static constexpr double loosest_sap = 1e-4;
  /// A method selected by name stops by its own measure. If its answer does not satisfy the
  /// tolerance by the measure of all methods, it continues with a smaller tolerance: the missing
  /// factor times `round_share`, but at least `least_round_share`, in at most `most_rounds` rounds.
  static constexpr int most_rounds = 3;
  static constexpr double round_share = 0.5, least_round_share = 1e-3;
  /// Count of rounds of SapSolver, if the method was not selected by name.
  static constexpr int sap_rounds = 2;
  /// Largest count of SapSolver's steps under Coulomb's law; then InteriorPointSolver continues
  /// from its impulses with at most `stalled_systems` systems, and then from nothing. The bundled
  /// files need up to 14 steps. Of heaps of 60 to 300 bodies, four in five need 11 to 28, and the
  /// others would need some hundred; there 20 or 40 steps cost a tenth more time.
  static constexpr int coulomb_steps = 30, stalled_systems = 60;
  /// The same for problems of at least `heap_bodies` bodies, of which a factor for the central path
  /// costs as much as ten steps or more.
  static constexpr int heap_steps = 200;
  static constexpr Index heap_bodies = 400;
  /// Largest count of SapSolver's steps under the convex law, where it nearly always converges: it
  /// bounds the work otherwise. Half or twice this number changes no bit of the measured results.
  static constexpr int convex_steps = 100;
  /// Count of systems for a guess of the impulses of compliant contact before SapSolver starts, and
  /// the natural map error above which the guess is not tried: Newton's method corrects a good
  /// guess in a few systems, as many as IslandLawTuning::warm_steps; systems for a bad guess are
  /// lost. Half or twice either number changes no bit of the measured results.
  static constexpr int guess_systems = 12;
  static constexpr double small_guess = 1e-2;
  /// Count of blocks from which ProximalSolver takes the place of InteriorPointSolver: first for
  /// rigid contact under the convex law, after SapSolver for compliant contact under Coulomb's law.
  /// A heap of 10,000 bodies and 58,000 contacts then needs an eighth of the memory and less time;
  /// for small heaps the interior point has more digits in the same time.
  static constexpr Index proximal_blocks = 20000;
  /// Largest count of blocks of a problem for which a proof is searched: the work grows with the
  /// cube of the count of blocks with nonzero impulse.
  static constexpr Index proof_blocks = 400;
  /// Count of systems after which a proof is searched: a blocked path needs fewer, and a proof for
  /// a few hundred blocks costs as much as some tens of systems.
  static constexpr int proof_systems = 150;
  /// First R of soften(), relative to the mean diagonal of W, the factor by which it grows in each
  /// attempt, and the largest count of attempts.
  static constexpr double least_softening = 1e-10, softening_rise = 10;
  static constexpr int softenings = 15;
  /// Largest impulse of a softened problem, relative to the largest impulse that a body's own
  /// motion requires along a block: a wedge that nothing can hold has impulses of a thousand times
  /// the momentum of the wedged body, and a plate that weighs a million times as much as the grain
  /// under it is not a wedge.
  static constexpr double softened_impulse = 1e3;
};

/// Repeats a method that stops by its own measure, each time more accurately, until the answer
/// satisfies the tolerance by the measure of all methods. It also stores the limits of a solver on
/// bodies.
template <RealScalar Scalar>
class JudgedRounds {
 public:
  /// @param softened  whether rigid blocks are measured with the R that they have for solvers that
  ///                  need one.
  JudgedRounds(FrictionLaw law, const Scalar& tolerance, int iteration_limit,
               bool softened = false) noexcept
      : tolerance_(tolerance), iteration_limit_(iteration_limit), judge_(law, softened) {
    CAROM_EXPECTS(tolerance > Scalar(0));
    CAROM_EXPECTS(iteration_limit >= 0);
  }
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return limits_; }
  /// The remaining limits after this count of iterations.
  [[nodiscard]] SolveLimits limits_after(int iterations) const noexcept {
    const int limit = (std::min)(iteration_limit_, limits_.iteration_limit);
    return limits_.with_iterations((std::max)(limit - iterations, 0));
  }
  /// The report if the guess is not finite and nothing is solved.
  [[nodiscard]] SolveReport<Scalar> refuse() const noexcept {
    SolveReport<Scalar> report;
    report.measure = ResidualMeasure::block_error;
    report.residual_target = tolerance_;
    report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
    return report;
  }

  /// Allocates memory for the problem's size, so that solve() does not.
  void reserve(const ContactProblem<Scalar>& problem) { judge_.reserve(problem); }

  /// Writes the error of an answer, by the measure of all methods, to the report of the method that
  /// found it. Returns whether it satisfies the tolerance.
  template <typename Impulse>
  bool judge(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
             const Impulse& impulse, SolveReport<Scalar>& report) noexcept {
    const AnswerError<Scalar> error = judge_.judge(problem, velocity, impulse);
    report.measure = ResidualMeasure::block_error;
    report.residual_target = tolerance_;
    report.residual = error.residual;
    report.worst_block = error.block;
    return error.residual <= tolerance_;
  }

  /// The tolerance of a method, by its own measure, for an answer within the tolerance.
  /// @param met       the tolerance or the residual of its last answer, by its own measure, > 0.
  /// @param residual  of the last answer by the measure of all methods, more than the tolerance.
  [[nodiscard]] Scalar next_tolerance(const Scalar& met, const Scalar& residual) const noexcept {
    using Tuning = ContactSolverTuning;
    const Scalar share = Scalar(Tuning::round_share) * tolerance_ / residual;
    return met * (std::max)(share, Scalar(Tuning::least_round_share));
  }

  /// @param velocity, impulse  written by an attempt, and the start of the next one.
  /// @param attempt            attempt(tolerance, limits) solves, and returns its own report.
  template <typename Impulse, typename Attempt>
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                            const Impulse& impulse, const Attempt& attempt) noexcept {
    using Tuning = ContactSolverTuning;
    Scalar own = tolerance_;
    for (int iterations = 0, round = 0;; ++round) {
      SolveReport<Scalar> report = attempt(own, limits_after(iterations));
      iterations += report.iterations;
      report.iterations = iterations;
      const Scalar met = (std::min)(own, report.residual);
      const bool met_tolerance = judge(problem, velocity, impulse, report);
      if (report.status == SolveStatus::not_finite) return report;
      const bool ended = report.converged();
      if (met_tolerance) {
        report.status = SolveStatus::converged;
        return report;
      }
      if (ended) report.status = SolveStatus::no_progress;
      if (!ended || round == Tuning::most_rounds || !(met > Scalar(0))) return report;
      if (limits_after(iterations).iteration_limit == 0) {
        report.status = SolveStatus::iteration_limit;
        return report;
      }
      own = next_tolerance(met, report.residual);
    }
  }

 private:
  Scalar tolerance_;
  int iteration_limit_;
  SolveLimits limits_;
  AnswerJudge<Scalar> judge_;
};

/// Whether SapSolver is the first solver of a problem.
template <RealScalar Scalar>
[[nodiscard]] bool begins_on_bodies(const ContactSolverOptions<Scalar>& options,
                                    const ContactProblem<Scalar>& problem) noexcept {
  return options.method == ContactMethod::sap ||
         (options.method == ContactMethod::automatic && problem.rigid_count() == 0);
}
/// Whether a factor of all bodies is avoided: large heaps of rigid contact under the convex law,
/// and of compliant contact under Coulomb's law.
template <RealScalar Scalar>
[[nodiscard]] bool avoids_factor(const ContactSolverOptions<Scalar>& options,
                                 const ContactProblem<Scalar>& problem) noexcept {
  const bool rigid = problem.rigid_count() > 0, convex = options.law == FrictionLaw::convex;
  return options.method == ContactMethod::automatic && rigid == convex &&
         problem.block_count() >= ContactSolverTuning::proximal_blocks;
}
/// Whether ProximalSolver is the first solver of a problem.
template <RealScalar Scalar>
[[nodiscard]] bool is_proximal(const ContactSolverOptions<Scalar>& options,
                               const ContactProblem<Scalar>& problem) noexcept {
  return options.method == ContactMethod::proximal ||
         (avoids_factor(options, problem) && options.law == FrictionLaw::convex);
}
/// Whether InteriorPointSolver is one of the solvers.
template <RealScalar Scalar>
[[nodiscard]] bool follows_path(const ContactSolverOptions<Scalar>& options) noexcept {
  return options.method == ContactMethod::automatic ||
         options.method == ContactMethod::interior_point;
}

/// Largest count of SapSolver's steps before the later stages.
template <RealScalar Scalar>
[[nodiscard]] int first_steps(FrictionLaw law, const ContactProblem<Scalar>& problem) noexcept {
  using Tuning = ContactSolverTuning;
  if (law == FrictionLaw::convex) return Tuning::convex_steps;
  return problem.body_count() < Tuning::heap_bodies ? Tuning::coulomb_steps : Tuning::heap_steps;
}

/// The options of SapSolver: for the whole answer if its method was selected, otherwise for a start
/// of the later stages.
template <RealScalar Scalar>
[[nodiscard]] SapOptions<Scalar> sap_options(const ContactSolverOptions<Scalar>& options) noexcept {
  using Tuning = ContactSolverTuning;
  SapOptions<Scalar> result;
  result.law = options.law;
  result.tolerance = options.tolerance;
  result.iteration_limit = options.iteration_limit;
  if (options.method == ContactMethod::sap) return result;
  result.tolerance = (std::min)(Scalar(options.tolerance / Scalar(Tuning::sap_accuracy)),
                                Scalar(Tuning::loosest_sap));
  result.iteration_limit = SolveLimits().iteration_limit;  // that of first_steps()
  return result;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
