// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_newton.hpp"

namespace carom::inline CAROM_ABI {

template <RealScalar Scalar>
struct DualSolverOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  Compliance compliance = Compliance::rigid;
  /// Natural map error at which to stop [-], > 0: ContactCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
};

/// Solves a ContactProblem in impulses: rigid or compliant contact, under the exact law of Coulomb
/// or the convex one. What SapSolver, which needs R > 0 and the convex law, does not.
///
/// Solver of solvers is any with solve(DelassusProblem, impulse); the default picks and switches
/// by itself: sweeps of Gauss-Seidel, then Newton's method.
///
/// ```
/// carom::DualSolver<double> solver;
/// const auto report = solver.solve(problem, velocity);
/// const auto& impulse = solver.impulse();
/// ```
template <RealScalar Scalar, typename ImpulseSolver = ContactNewton<Scalar>>
class DualSolver {
 public:
  using scalar_type = Scalar;

  explicit DualSolver(const DualSolverOptions<Scalar>& options = {})
      : DualSolver(options, ImpulseSolver({.law = options.law, .tolerance = options.tolerance})) {}
  /// @param solver  with the law and the tolerance of the options.
  DualSolver(const DualSolverOptions<Scalar>& options, const ImpulseSolver& solver)
      : options_(options), solver_(solver) {}
  [[nodiscard]] const DualSolverOptions<Scalar>& options() const noexcept { return options_; }

  /// Solves for velocity and impulse.
  /// @param velocity  v, written.
  /// @param impulse   first guess of γ, impulse_count(); none if it has another size.
  /// @note  Allocates nothing once a problem of the size and pattern has been solved.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            const VectorX<Scalar>& guess = {}) {
    form_.write(problem, options_.compliance, dual_);
    if (impulse_.size() != problem.impulse_count()) impulse_.resize(problem.impulse_count());
    if (guess.size() == problem.impulse_count()) {
      impulse_ = guess;
    } else {
      impulse_.setZero();
    }
    const SolveReport<Scalar> report = solver_.solve(dual_, impulse_);
    if (velocity.size() != problem.velocity_count()) velocity.resize(problem.velocity_count());
    write_velocity(problem, impulse_, velocity);
    return report;
  }

  /// γ of the last solve: contacts, then constraints.
  [[nodiscard]] const VectorX<Scalar>& impulse() const noexcept { return impulse_; }
  /// The problem in impulses that was solved.
  [[nodiscard]] const DelassusProblem<Scalar>& dual() const noexcept { return dual_; }

 private:
  DualSolverOptions<Scalar> options_;
  ImpulseSolver solver_;
  DelassusForm<Scalar> form_;
  DelassusProblem<Scalar> dual_;
  VectorX<Scalar> impulse_;
};

}  // namespace carom::inline CAROM_ABI
