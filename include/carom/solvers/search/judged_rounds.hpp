// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/core/solve_limits.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/search/contact_solver_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

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
      const AnswerError<Scalar> error = judge_.judge(problem, velocity, impulse);
      report.measure = ResidualMeasure::block_error;
      report.residual_target = tolerance_;
      report.residual = error.residual;
      report.worst_block = error.block;
      if (report.status == SolveStatus::not_finite) return report;
      const bool ended = report.converged();
      if (error.residual <= tolerance_) {
        report.status = SolveStatus::converged;
        return report;
      }
      if (ended) report.status = SolveStatus::no_progress;
      if (!ended || round == Tuning::most_rounds || !(met > Scalar(0))) return report;
      if (limits_after(iterations).iteration_limit == 0) {
        report.status = SolveStatus::iteration_limit;
        return report;
      }
      const Scalar share = Scalar(Tuning::round_share) * tolerance_ / error.residual;
      own = met * (std::max)(share, Scalar(Tuning::least_round_share));
    }
  }

 private:
  Scalar tolerance_;
  int iteration_limit_;
  SolveLimits limits_;
  AnswerJudge<Scalar> judge_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
