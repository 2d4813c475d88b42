// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <utility>

#include "carom/contact/delassus_form.hpp"
#include "carom/contact/dual.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/search/judged_rounds.hpp"

namespace carom {
inline namespace CAROM_ABI {

// NOLINTBEGIN(bugprone-exception-escape): W is written without checks; only memory may be missing

/// Solves a ContactProblem by a solver in impulses, such as GaussSeidel: it writes W, q and the
/// sets of the problem, solves, and measures the error of the answer relative to the scales of its
/// bodies, as ContactSolver does.
///
/// ```
/// carom::SolverOnBodies<carom::GaussSeidel<double>> solver({.tolerance = 1e-4});
/// const auto report = solver.solve(problem, velocity);
/// ```
/// @tparam Solver  in impulses, with options of law, tolerance and iteration limit.
template <typename Solver>
class SolverOnBodies {
 public:
  using scalar_type = typename Solver::scalar_type;
  using Scalar = scalar_type;
  using Options = std::remove_cvref_t<decltype(std::declval<Solver>().options())>;

  explicit SolverOnBodies(const Options& options = {}) noexcept
      : options_(options),
        solver_(options),
        rounds_(options.law, options.tolerance, options.iteration_limit) {}
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  /// Sets the limits of all later solves; a default SolveLimits has no limit.
  void set_limits(const SolveLimits& limits) noexcept { rounds_.set_limits(limits); }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return rounds_.limits(); }

  /// Allocates memory for the problem's size and pattern, so that solve() does not.
  void prepare(const ContactProblem<Scalar>& problem) {
    impulse_.grow(problem.impulse_count());
    impulse_.setZero();
    rounds_.reserve(problem);
    form_.write(problem, dual_);
    solver_.prepare(dual_);
  }

  /// Solves for velocity and impulse, from impulses of zero. If W or q is beyond the range of the
  /// type, the status is not_finite, the velocity v* and the impulse the first guess.
  /// @param velocity  v, n_v: written: v of the impulses; it is not read.
  /// @return  residual: the largest error of a block relative to the scales of its bodies [-], that
  ///          of judge_answer(), and worst_block: the block with this error.
  /// @note  Real-time safe after prepare() for a problem of this size and pattern.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem,
                            VectorX<Scalar>& velocity) noexcept {
    impulse_.grow(problem.impulse_count());
    impulse_.setZero();
    return run(problem, velocity);
  }
  /// Solves from a first guess of the impulses.
  /// @param impulse   γ, impulse_count(); it may be impulse() of the last solve.
  /// @param velocity  v, n_v, written; it is not read.
  /// @return  as for solve().
  template <typename Impulse>
  SolveReport<Scalar> solve_from(const ContactProblem<Scalar>& problem,
                                 const Eigen::MatrixBase<Impulse>& impulse,
                                 VectorX<Scalar>& velocity) noexcept {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    impulse_.grow(problem.impulse_count());
    impulse_ = impulse;
    return run(problem, velocity);
  }
  /// γ of the last solve, stacked block by block.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {impulse_.data(), impulse_.size()};
  }

 private:
  SolveReport<Scalar> run(const ContactProblem<Scalar>& problem,
                          VectorX<Scalar>& velocity) noexcept {
    if (velocity.size() != problem.velocity_count()) velocity = problem.free_velocity();
    if (!impulse_.allFinite()) {
      impulse_.setZero();
      return rounds_.refuse();
    }
    form_.write(problem, dual_);
    if (!dual_.is_finite()) {
      velocity = problem.free_velocity();
      return rounds_.refuse();
    }
    const auto attempt = [&](const Scalar& tolerance, const SolveLimits& limits) {
      solver_.set_tolerance(tolerance);
      solver_.set_limits(limits);
      const SolveReport<Scalar> report = solver_.solve(dual_, as_span(impulse_));
      write_velocity(problem, impulse_, velocity);
      return report;
    };
    SolveReport<Scalar> report = rounds_.solve(problem, velocity, impulse_, attempt);
    report.deepest_overlap = problem.deepest_overlap();
    return report;
  }

  Options options_;
  DelassusForm<Scalar> form_;
  DelassusProblem<Scalar> dual_;
  Solver solver_;
  detail::JudgedRounds<Scalar> rounds_;
  Growing<VectorX<Scalar>> impulse_;
};
// NOLINTEND(bugprone-exception-escape)

}  // namespace CAROM_ABI
}  // namespace carom
