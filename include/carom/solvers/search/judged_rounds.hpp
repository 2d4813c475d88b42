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

/// Constants of ContactSolver, which orders SapSolver and InteriorPointSolver, of solve_or_prove()
/// and of soften(). Each is a pure number [-] unless a unit is given.
///
/// They were measured on the files of examples/data under both laws, compliant and rigid, on bodies
/// that fall into a bin and on problems without an answer, by benchmarks/ablation, which changes
/// one constant at a time; docs/performance.md has what each change costs there.
struct ContactSolverTuning {
  /// SapSolver is asked for an error so many times smaller than the tolerance, because its residual
  /// is that of the whole problem and not that of the worst block, which the answer is judged by.
  static constexpr double sap_accuracy = 3;
  /// Largest error that SapSolver is asked for: a looser answer of it costs the stages that follow
  /// more than it saves.
  static constexpr double loosest_sap = 1e-4;
  /// A method that is asked for by name stops by a measure of its own. Where its answer is not good
  /// enough by the measure of all methods, it goes on with a tolerance smaller by the factor that
  /// it lacks, times `round_share`, and no smaller than `least_round_share`, in `most_rounds`
  /// rounds.
  static constexpr int most_rounds = 3;
  static constexpr double round_share = 0.5, least_round_share = 1e-3;
  /// Most steps of SapSolver under Coulomb's law, after which the central path takes over: the
  /// bundled walls take 23, piles that are not solved by 25 take 40 to 70.
  static constexpr int coulomb_steps = 25;
  /// Most steps of SapSolver under the convex law, where it nearly always converges: it bounds the
  /// work of the rest. Half of it or twice as much changes no bit of what was measured.
  static constexpr int convex_steps = 100;
  /// Systems that a guess of the impulses of compliant contact is given before SapSolver is asked,
  /// and the natural map error above which the guess is not tried: Newton's method mends a good
  /// guess in a few systems, as many as IslandLawTuning::warm_steps, and systems given to a bad one
  /// are lost. Half or twice of either changes no bit of what was measured.
  static constexpr int guess_systems = 12;
  static constexpr double small_guess = 1e-2;
  /// Blocks from which rigid contact under the convex law, and compliant contact under Coulomb's,
  /// is solved by ProximalSolver. A heap of
  /// 10,000 bodies and 58,000 contacts takes an eighth of the memory and less time so; the interior
  /// point has more digits for its time where a heap is small.
  static constexpr Index proximal_blocks = 20000;
  /// Most blocks of a problem for which a proof is looked for: its work grows with the cube of the
  /// number of blocks that press.
  static constexpr Index proof_blocks = 400;
  /// Systems after which a proof is looked for: a path that is blocked takes fewer, and a proof of
  /// a few hundred blocks costs as much as some tens of systems.
  static constexpr int proof_systems = 150;
  /// First R that soften() gives a problem, relative to the mean diagonal of W, by how many times
  /// it grows from try to try, and most tries.
  static constexpr double least_softening = 1e-10, softening_rise = 10;
  static constexpr int softenings = 15;
  /// Largest impulse of a softened problem, by the largest that a body's own motion asks for along
  /// a block: a wedge that nothing can hold grips with a thousand times the momentum of what it
  /// holds, and a plate that weighs a million times as much as the grain under it is no wedge.
  static constexpr double softened_impulse = 1e3;
};

/// Lets a method that stops by a measure of its own solve again, each time more accurately, until
/// the answer meets the tolerance by the measure of all methods. It keeps the limits of a face for
/// bodies, too.
template <RealScalar Scalar>
class JudgedRounds {
 public:
  /// @param softened  whether rigid blocks are judged with the R that they have for solvers that
  ///                  need one.
  JudgedRounds(FrictionLaw law, const Scalar& tolerance, int iteration_limit,
               bool softened = false) noexcept
      : tolerance_(tolerance), iteration_limit_(iteration_limit), judge_(law, softened) {
    CAROM_EXPECTS(tolerance > Scalar(0));
    CAROM_EXPECTS(iteration_limit >= 0);
  }
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return limits_; }
  /// What is left of the limits after so many iterations.
  [[nodiscard]] SolveLimits limits_after(int iterations) const noexcept {
    const int limit = (std::min)(iteration_limit_, limits_.iteration_limit);
    return limits_.with_iterations((std::max)(limit - iterations, 0));
  }
  /// The report where the guess is not finite and nothing is solved.
  [[nodiscard]] SolveReport<Scalar> refuse() const noexcept {
    SolveReport<Scalar> report;
    report.measure = ResidualMeasure::block_error;
    report.residual_target = tolerance_;
    report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
    return report;
  }

  /// Grows memory to the problem's size, so that solve() need not.
  void prepare(const ContactProblem<Scalar>& problem) { judge_.prepare(problem); }

  /// Writes the error of an answer, by the measure of all methods, into the report of the method
  /// that found it, and returns whether it meets the tolerance.
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

  /// @param velocity, impulse  what an attempt writes, and goes on from.
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
      const Scalar share = Scalar(Tuning::round_share) * tolerance_ / report.residual;
      own = met * (std::max)(share, Scalar(Tuning::least_round_share));
    }
  }

 private:
  Scalar tolerance_;
  int iteration_limit_;
  SolveLimits limits_;
  AnswerJudge<Scalar> judge_;
};

/// Whether SapSolver is the first to solve a problem.
template <RealScalar Scalar>
[[nodiscard]] bool begins_on_bodies(const ContactSolverOptions<Scalar>& options,
                                    const ContactProblem<Scalar>& problem) noexcept {
  return options.method == ContactMethod::sap ||
         (options.method == ContactMethod::automatic && problem.rigid_count() == 0);
}
/// Whether ProximalSolver is the one to solve a problem: large heaps of rigid contact under the
/// convex law, and of compliant contact under Coulomb's.
template <RealScalar Scalar>
[[nodiscard]] bool is_proximal(const ContactSolverOptions<Scalar>& options,
                               const ContactProblem<Scalar>& problem) noexcept {
  if (options.method == ContactMethod::proximal) return true;
  const bool rigid = problem.rigid_count() > 0, convex = options.law == FrictionLaw::convex;
  return options.method == ContactMethod::automatic && rigid == convex &&
         problem.block_count() >= ContactSolverTuning::proximal_blocks;
}
/// Whether InteriorPointSolver is one of those that solve.
template <RealScalar Scalar>
[[nodiscard]] bool follows_path(const ContactSolverOptions<Scalar>& options) noexcept {
  return options.method == ContactMethod::automatic ||
         options.method == ContactMethod::interior_point;
}

/// What SapSolver is asked for: all of the answer where its method was named, else a start for what
/// follows.
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
  result.iteration_limit =
      options.law == FrictionLaw::coulomb ? Tuning::coulomb_steps : Tuning::convex_steps;
  return result;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
