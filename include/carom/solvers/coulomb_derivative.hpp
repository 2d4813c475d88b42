// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include <Eigen/Core>

#include "carom/solvers/derivative/linearized_law.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Which law CoulombDerivative linearises, and its tolerances.
template <RealScalar Scalar>
struct CoulombDerivativeOptions {
  /// The law that the solution obeys. Compliant contact under the convex one has SapDerivative.
  FrictionLaw law = FrictionLaw::coulomb;
  /// A block is on a boundary when a change of its velocity by this part [-], ≥ 0, of the speeds
  /// and impulses that make it up, |J|(|v| + |v*|), v̂ and w γ, would carry it over. The default is
  /// the accuracy of solves; with less, rounding decides about blocks that rest on a boundary, with
  /// more, blocks inside of their regions are listed too.
  Scalar boundary_tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Share of a product [-], > 0, that refinement may still change for `converged`. A larger one
  /// accepts answers of systems that are nearly singular.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
};

/// Derivatives of rigid and compliant contact under Coulomb's law, or under the convex law, by its
/// data: v(v*, A, J, μ, R, v̂, bounds), and γ of the same.
///
/// The impulse and velocity of a block tell whether it is open, sticks, slides or is at a bound;
/// the law is linearised there, together with A dv = Jᵀ dγ + …, and one sparse factor serves all
/// products. The answer may come from any solver, if it is accurate.
/// ```
/// carom::CoulombDerivative<double> derivative;
/// derivative.prepare(problem);
/// if (derivative.linearize(problem, velocity, solver.impulse()).usable()) {
///   gradient.set_zero(problem);
///   const auto report = derivative.pull_back(problem, cost_by_velocity, gradient);
/// }
/// ```
/// A block on a boundary, such as one about to slip, has one derivative per side. one_sided() lists
/// those blocks; the derivative is then that of the side where the block is closed, stuck, or
/// between its bounds.
/// Where impulses are not unique, as of a box on four rigid feet, velocities and their derivatives
/// are; the changes of impulses are those of least norm. A change of data that such feet cannot
/// follow together opens one of them: push_forward() then returns no_progress, and its velocities
/// are those of all feet in the mean.
/// @note  Real-time safe once a problem of the size and pattern has been prepared. The problem
///        given to the products is the one linearised.
/// @cite  The implicit function theorem on the law as in alart1991mixed, region by region.
template <RealScalar Scalar>
class CoulombDerivative {
 public:
  using scalar_type = Scalar;

  explicit CoulombDerivative(const CoulombDerivativeOptions<Scalar>& options = {}) noexcept
      : options_(options) {
    CAROM_EXPECTS(options.boundary_tolerance >= Scalar(0) && options.tolerance > Scalar(0));
  }
  [[nodiscard]] const CoulombDerivativeOptions<Scalar>& options() const noexcept {
    return options_;
  }

  /// Grows memory to the problem's size and pattern, so that the rest need not.
  void prepare(const ContactProblem<Scalar>& problem) { answer_.prepare(problem); }

  /// Linearises the problem at its solution and factors.
  /// @param velocity  v [m/s, rad/s], n_v, the solution as accurately as derivatives are wanted.
  /// @param impulse   γ [N·s, N·m·s], impulse_count(), that leads to it.
  template <typename Impulse>
  LinearizationReport<Scalar> linearize(const ContactProblem<Scalar>& problem,
                                        const VectorX<Scalar>& velocity,
                                        const Eigen::MatrixBase<Impulse>& impulse) noexcept {
    return linearize_at(problem, velocity, impulse, Scalar(0));
  }
  /// Linearises the central path at a point of SmoothedContact: smooth, and biased.
  /// @param product  κ of the point [J], > 0; the path is that of Coulomb's law.
  template <typename Impulse>
  LinearizationReport<Scalar> linearize_smoothed(const ContactProblem<Scalar>& problem,
                                                 const VectorX<Scalar>& velocity,
                                                 const Eigen::MatrixBase<Impulse>& impulse,
                                                 const Scalar& product) noexcept {
    CAROM_EXPECTS(product > Scalar(0));
    return linearize_at(problem, velocity, impulse, product);
  }

  /// On which boundary of its regions a block of the problem last linearised is, if on any.
  [[nodiscard]] RegionBoundary boundary(Index block) const noexcept {
    return answer_.law().slopes().boundary(block);
  }
  /// Numbers of the blocks on a boundary, in order; none where the derivative is the only one.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept {
    return answer_.law().slopes().one_sided();
  }

  /// Jacobian times vector: the change dv of the solution that a change dθ of the data makes.
  /// @param change           dθ, of the problem's sizes; R of rigid blocks does not matter.
  /// @param velocity_change  dv, written, n_v.
  /// @return  residual: share of the answer that refinement is expected to have left [-];
  ///          iterations: right sides that the factors of all islands were applied to.
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

  /// Transposed Jacobian times vector: the gradient by all data of a scalar whose gradient by the
  /// solution is known.
  /// @param by_velocity  dc/dv, n_v.
  /// @param gradient     dc/dθ, written; of the problem's sizes, A and J only if it has them.
  /// @return  as push_forward().
  /// @pre  the last linearisation was usable.
  SolveReport<Scalar> pull_back(const ContactProblem<Scalar>& problem,
                                const VectorX<Scalar>& by_velocity,
                                ProblemDifferential<Scalar>& gradient) noexcept {
    return answer_.pull_back(problem, by_velocity, nullptr, gradient);
  }
  /// The same for a scalar of the impulses, too.
  /// @param by_impulse  dc/dγ, impulse_count().
  SolveReport<Scalar> pull_back(const ContactProblem<Scalar>& problem,
                                const VectorX<Scalar>& by_velocity,
                                const VectorX<Scalar>& by_impulse,
                                ProblemDifferential<Scalar>& gradient) noexcept {
    return answer_.pull_back(problem, by_velocity, &by_impulse, gradient);
  }

 private:
  template <typename Impulse>
  LinearizationReport<Scalar> linearize_at(const ContactProblem<Scalar>& problem,
                                           const VectorX<Scalar>& velocity,
                                           const Eigen::MatrixBase<Impulse>& impulse,
                                           const Scalar& product) noexcept {
    CAROM_EXPECTS(impulse.size() == problem.impulse_count());
    prepare(problem);
    return answer_.linearize(problem, velocity, options_, impulse, product);
  }

  CoulombDerivativeOptions<Scalar> options_;
  detail::LinearizedAnswer<detail::LinearizedLaw<Scalar>> answer_;
};

}  // namespace CAROM_ABI
}  // namespace carom
