// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <dart/constraint/BoxedLcpSolver.hpp>
#include <limits>
#include <span>
#include <string>

#include <Eigen/Core>

#include "carom/adapters/detail/dart_blocks.hpp"
#include "carom/solvers/interior_point.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// What a DartLcpSolver solves, and how closely.
struct DartLcpSolverOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// Whether one or two rows of friction of a normal that pushes make a cone: a planar one, the
  /// circular one, an elliptic one where their coefficients differ. Without it each row keeps its
  /// own interval, as DART's solvers have it.
  bool cones = true;
  /// Natural map error at which to stop [-], > 0: ImpulseCertificate::natural_map_error.
  double tolerance = 1e-10;
  /// Natural map error that still counts as solved where rounding leaves no more [-], ≥ tolerance:
  /// beyond it DART asks its secondary solver.
  double accepted = 1e-6;
  int iteration_limit = 1000;  ///< Most linear systems for the cones, ≥ 0.
  int interval_limit = 200;    ///< Most rounds for intervals that follow a normal, ≥ 1.
};

/// Solves the boxed problems of DART, A x = b + w, by the exact law of Coulomb: contacts, joint
/// limits, servo motors, joint friction and closed loops of a group of skeletons in one solve.
///
/// A row whose findex names a normal, 0 ≤ xₙ, is a row of friction of it with the coefficient in
/// its upper bound, at most 1000; see DartLcpSolverOptions::cones. Three or more such rows of one
/// normal, and rows that follow a row that is no such normal, keep their intervals ±μ |x_findex|,
/// which are found in rounds. All other rows lie between their bounds. x is an impulse [N·s,
/// N·m·s], w the velocity after it [m/s, rad/s]; A may be singular, and what DART adds to its
/// diagonal (constraint force mixing, slip compliance) is a compliance here too.
///
/// ```
/// const auto solver = std::make_shared<carom::DartLcpSolver>();
/// world->setConstraintSolver(
///     std::make_unique<dart::constraint::BoxedLcpConstraintSolver>(solver));
/// ```
/// Where it returns false, BoxedLcpConstraintSolver takes its secondary solver, if it has one.
/// @note  Keeps its memory: no allocation once a problem of the size and pattern has been solved.
///        Tested with DART 6.12. Compile units with or without NDEBUG as DART itself was compiled;
///        that of Debian was without.
class DartLcpSolver : public dart::constraint::BoxedLcpSolver {
 public:
  explicit DartLcpSolver(const DartLcpSolverOptions& options = {})
      : options_(options),
        newton_({.law = options.law,
                 .tolerance = options.tolerance,
                 .iteration_limit = options.iteration_limit}) {
    CAROM_EXPECTS(options.accepted >= options.tolerance && options.interval_limit >= 1);
  }
  [[nodiscard]] const DartLcpSolverOptions& options() const noexcept { return options_; }

  // NOLINTNEXTLINE(readability-identifier-naming): the name is DART's
  [[nodiscard]] static const std::string& getStaticType() {
    static const std::string name = "caromBoxedLcpSolver";
    return name;
  }
  [[nodiscard]] const std::string& getType() const override { return getStaticType(); }

  /// @param matrix   A, symmetric; rows row_stride(n) numbers apart.
  /// @param x        out, never read. Zero where the problem is not one of finite
  ///        numbers, lower bounds ≤ upper ones and findex < n.
  /// @param b        the negative of the velocity without impulses.
  /// @param unbounded  how many of the first rows have no bounds: theirs are not read.
  /// @param early_termination  not used: x is always the best answer met.
  /// @return  whether x solves the problem: report() says how well.
  bool solve(int n, double* matrix, double* x, double* b, int unbounded, double* lower,
             double* upper, int* findex, bool early_termination = false) override;

// DART declares this function only without NDEBUG, as the last of its virtual ones. Directly after
// solve() it has the same place in their table in units with NDEBUG.
#ifdef NDEBUG
  virtual bool canSolve(int n, const double* matrix) {
    return detail::is_finite_dart_matrix(n, matrix);
  }
#else
  bool canSolve(int n, const double* matrix) override {
    return detail::is_finite_dart_matrix(n, matrix);
  }
#endif

  /// Of the last solve: natural map error [-] of x under the law, linear systems solved.
  [[nodiscard]] const SolveReport<double>& report() const noexcept {
    return report_;
  }
  /// How many problems solve() was given, and for how many it returned false.
  [[nodiscard]] Index solve_count() const noexcept {
    return solve_count_;
  }
  [[nodiscard]] Index failure_count() const noexcept {
    return failure_count_;
  }
  /// The problem solved last, for certify(), and its impulses.
  [[nodiscard]] const DelassusProblem<double>& problem() const noexcept {
    return problem_;
  }
  [[nodiscard]] Eigen::Map<const VectorX<double>> impulse() const noexcept {
    return {impulse_.data(), impulse_.size()};
  }

  /// Numbers from one row of A to the next: a multiple of four, or n of a single row.
  [[nodiscard]] static constexpr int row_stride(int n) noexcept {
    return detail::dart_row_stride(n);
  }

 private:
  /// Solves with the bounds as they are.
  [[nodiscard]] bool solve_once();

  DartLcpSolverOptions options_;
  InteriorPointSolver<double> newton_;
  DelassusProblem<double> problem_;
  detail::DartBlocks blocks_;
  Sequence<double> impulse_;
  SolveReport<double> report_;
  Index solve_count_ = 0, failure_count_ = 0;
};

// --- implementation ---

// NOLINTNEXTLINE(readability-function-size): the parameters are DART's
inline bool DartLcpSolver::solve(int n, double* matrix, double* x, double* b, int unbounded,
                                 double* lower, double* upper, int* findex,
                                 bool /*early_termination*/) {
  ++solve_count_;
  report_ = {};
  report_.residual_target = options_.tolerance;
  const detail::DartInput input{n, unbounded, matrix, b, lower, upper, findex};
  if (!detail::is_sound(input)) {
    std::fill(x, x + n, 0.0);
    report_.residual = report_.error_bound = std::numeric_limits<double>::infinity();
    ++failure_count_;
    return false;
  }
  blocks_.group(input, options_.cones);
  const bool follows = blocks_.follows();
  impulse_.assign(n, 0.0);
  bool solved = false, settled = !follows;
  int iterations = 0;
  for (int round = 0; round < (follows ? options_.interval_limit : 1); ++round) {
    const auto bounds = blocks_.follow(input, impulse_.data());
    settled = settled || (round > 0 && bounds.change <= options_.tolerance * bounds.largest);
    if (round > 0 && settled) break;
    blocks_.write(input, problem_);
    solved = solve_once();
    iterations += report_.iterations;
    if (!solved) break;
  }
  report_.iterations = iterations;
  if (!settled && report_.converged()) report_.status = SolveStatus::iteration_limit;
  for (int row = 0; row < n; ++row) x[row] = impulse_[blocks_.place(row)];
  if (solved && settled) return true;
  ++failure_count_;
  return false;
}

inline bool DartLcpSolver::solve_once() {
  const Eigen::Map<const VectorX<double>> impulse(impulse_.data(), impulse_.size());
  report_ = newton_.solve(problem_, std::span<double>(impulse_.begin(), impulse_.end()));
  // Where no impulses obey the law, they grow until the error relative to them is small.
  const double grown = problem_.mean_diagonal() * impulse.norm();
  if (report_.residual * grown > problem_.load_norm() / 2) {
    if (report_.converged()) report_.status = SolveStatus::no_progress;
    return false;
  }
  return report_.residual <= options_.accepted;
}

}  // namespace CAROM_ABI
}  // namespace carom
