// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/core/elementary.hpp"
#include "carom/solvers/derivative/linearized_hessian.hpp"
#include "carom/solvers/sap.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Options of SapDerivative.
template <RealScalar Scalar>
struct SapDerivativeOptions {
  /// A contact is on a boundary if a change of its velocity by this share [-], ≥ 0, of the speeds
  /// in its terms, |J||v| and v̂, would cross the boundary. The default is that of SapOptions.
  Scalar boundary_tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// As SapOptions::factor_work_limit. Islands beyond it are solved by conjugate gradients.
  double factor_work_limit = SapOptions<Scalar>{}.factor_work_limit;
  /// Conjugate gradients stop at this residual, relative to the right-hand side [-], > 0. The two
  /// products of such an island are transposes of each other up to the same relative error.
  Scalar tolerance = elementary::pow(std::numeric_limits<Scalar>::epsilon(), Scalar(0.75));
  /// Largest count of products of conjugate gradients per island, ≥ 0.
  int product_limit = 2000;
};

/// Derivatives of the solution of compliant contact by its data: v(v*, A, J, μ, R, v̂, bounds), and
/// γ of the same.
///
/// The solution satisfies ∇ℓ(v, θ) = 0, so H dv = −(∂∇ℓ/∂θ) dθ with H = A + Jᵀ G J and the true
/// curvature G. linearize() factors H once; each product then needs one pair of triangular solves
/// and a loop over the blocks. On a region boundary the derivative is that of the region that
/// project() returns.
///
/// ```
/// carom::SapDerivative<double> derivative;
/// derivative.prepare(solver);                      // shares the solver's analysis
/// if (derivative.linearize(problem, velocity).usable()) {
///   gradient.set_zero(problem);
///   const auto report = derivative.pull_back(problem, cost_by_velocity, gradient);
/// }
/// ```
/// @note  Real-time safe after prepare() for a problem of this size. The problem in the products
///        must be the linearised one.
/// @cite  The implicit function theorem; H as in castro2021unconstrained.
template <RealScalar Scalar>
class SapDerivative {
 public:
  using scalar_type = Scalar;

  explicit SapDerivative(const SapDerivativeOptions<Scalar>& options = {}) noexcept
      : options_(options) {
    CAROM_EXPECTS(options.boundary_tolerance >= Scalar(0));
    CAROM_EXPECTS(options.factor_work_limit >= 0);
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.product_limit >= 0);
  }
  /// Movable, not copyable, as the solver.
  SapDerivative(SapDerivative&&) noexcept = default;
  SapDerivative& operator=(SapDerivative&&) noexcept = default;

  [[nodiscard]] const SapDerivativeOptions<Scalar>& options() const noexcept { return options_; }

  /// Allocates memory for the problem's size, so that the other functions do not.
  void prepare(const ContactProblem<Scalar>& problem) {
    answer_.prepare(problem, options_.factor_work_limit);
  }
  /// The same for the last problem that a solver solved: copies its analysis and its
  /// factor_work_limit, so that no order is computed twice.
  void prepare(const SapSolver<Scalar>& solver) {
    answer_.law().take_graph(solver.graph());
    options_.factor_work_limit = solver.options().factor_work_limit;
  }

  /// Linearises the problem at its solution and factors H.
  /// @param velocity  v [m/s, rad/s], n_v, the solution with the accuracy that the derivatives
  ///                  require.
  LinearizationReport<Scalar> linearize(const ContactProblem<Scalar>& problem,
                                        const VectorX<Scalar>& velocity) noexcept {
    prepare(problem);
    return answer_.linearize(problem, velocity, options_);
  }

  /// The boundary on which a block of the last linearised problem is, if there is one.
  [[nodiscard]] RegionBoundary boundary(Index block) const noexcept {
    return answer_.law().boundary(block);
  }
  /// γ of a friction contact with its derivatives at fixed velocity.
  [[nodiscard]] const ImpulseDerivative<Scalar, 3>& friction_contact(Index block) const noexcept {
    return answer_.law().friction_contact(block);
  }
  /// γ of any other block with its derivatives at fixed velocity.
  [[nodiscard]] const BlockImpulseDerivative<Scalar>& other_block(Index block) const noexcept {
    return answer_.law().other_block(block);
  }

  /// Jacobian times vector: the change dv of the solution for a change dθ of the data.
  /// @param change           dθ, of the problem's sizes.
  /// @param velocity_change  dv, written, n_v.
  /// @return  residual: the worst of the linear systems solved by conjugate gradients [-]; zero if
  ///          all are factored; iterations: the largest count of products for one of them.
  /// @pre  the last linearisation was usable.
  SolveReport<Scalar> push_forward(const ContactProblem<Scalar>& problem,
                                   const ProblemDifferential<Scalar>& change,
                                   VectorX<Scalar>& velocity_change) noexcept {
    return answer_.push_forward(problem, change, velocity_change, nullptr);
  }
  /// The same, and dγ.
  /// @param impulse_change  dγ, written, impulse_count().
  SolveReport<Scalar> push_forward(const ContactProblem<Scalar>& problem,
                                   const ProblemDifferential<Scalar>& change,
                                   VectorX<Scalar>& velocity_change,
                                   VectorX<Scalar>& impulse_change) noexcept {
    return answer_.push_forward(problem, change, velocity_change, &impulse_change);
  }

  /// Transposed Jacobian times vector: the gradient by all data of a scalar from its gradient by
  /// the solution.
  /// @param by_velocity  dc/dv, n_v.
  /// @param gradient     dc/dθ, written; with the problem's sizes, A and J only if it contains
  ///                     them.
  /// @return  as push_forward().
  /// @pre  the last linearisation was usable.
  SolveReport<Scalar> pull_back(const ContactProblem<Scalar>& problem,
                                const VectorX<Scalar>& by_velocity,
                                ProblemDifferential<Scalar>& gradient) noexcept {
    return answer_.pull_back(problem, by_velocity, nullptr, gradient);
  }
  /// The same for a scalar that also depends on the impulses.
  /// @param by_impulse  dc/dγ, impulse_count().
  SolveReport<Scalar> pull_back(const ContactProblem<Scalar>& problem,
                                const VectorX<Scalar>& by_velocity,
                                const VectorX<Scalar>& by_impulse,
                                ProblemDifferential<Scalar>& gradient) noexcept {
    return answer_.pull_back(problem, by_velocity, &by_impulse, gradient);
  }

 private:
  SapDerivativeOptions<Scalar> options_;
  detail::LinearizedAnswer<detail::LinearizedHessian<Scalar>> answer_;
};

}  // namespace CAROM_ABI
}  // namespace carom
