// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/delassus_form.hpp"
#include "carom/contact/dual.hpp"
#include "carom/solvers/admm.hpp"
#include "carom/solvers/contact_solver_options.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/projected_gradient.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The methods of ContactSolver that work in impulses: it writes W, q and the sets of a problem of
/// bodies, and gives them to the method of the options, which is Gauss-Seidel unless they name
/// another.
template <RealScalar Scalar>
class ImpulseMethods {
 public:
  explicit ImpulseMethods(const ContactSolverOptions<Scalar>& options) noexcept
      : method_(options.method),
        gauss_seidel_(make<GaussSeidel<Scalar>>(options)),
        admm_(make<Admm<Scalar>>(options)),
        projected_gradient_(make<ProjectedGradient<Scalar>>(options)) {}

  void prepare(const ContactProblem<Scalar>& problem) {
    form_.write(problem, dual_);
    with_solver([this](auto& solver) { solver.prepare(dual_); });
  }
  void set_tolerance(const Scalar& tolerance) noexcept {
    with_solver([&](auto& solver) { solver.set_tolerance(tolerance); });
  }
  /// Solves for γ, which is a guess, and writes its velocity.
  template <typename Impulse>
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, const SolveLimits& limits,
                            Impulse& impulse, VectorX<Scalar>& velocity) noexcept {
    form_.write(problem, dual_);
    const SolveReport<Scalar> report = with_solver([&](auto& solver) {
      solver.set_limits(limits);
      return solver.solve(dual_, as_span(impulse));
    });
    write_velocity(problem, impulse, velocity);
    return report;
  }

 private:
  template <typename Solver>
  [[nodiscard]] static Solver make(const ContactSolverOptions<Scalar>& options) noexcept {
    return Solver({.law = options.law,
                   .tolerance = options.tolerance,
                   .iteration_limit = options.iteration_limit});
  }
  /// Calls visit(solver) with the method's solver.
  template <typename Visit>
  decltype(auto) with_solver(Visit&& visit) {
    if (method_ == ContactMethod::admm) return visit(admm_);
    if (method_ == ContactMethod::projected_gradient) return visit(projected_gradient_);
    return visit(gauss_seidel_);
  }

  ContactMethod method_;
  DelassusForm<Scalar> form_;
  DelassusProblem<Scalar> dual_;
  GaussSeidel<Scalar> gauss_seidel_;
  Admm<Scalar> admm_;
  ProjectedGradient<Scalar> projected_gradient_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
