// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include <Eigen/Core>

#include "carom/solvers/derivative/linearized_law.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The law that CoulombDerivative linearises, and its tolerances.
template <RealScalar Scalar>
struct CoulombDerivativeOptions {
  /// The law of the solution. For compliant contact under the convex law there is also
  /// SapDerivative.
  FrictionLaw law = FrictionLaw::coulomb;
  /// A block is on a boundary if a change of its velocity by this share [-], ≥ 0, of the speeds and
  /// impulses in its terms, |J|(|v| + |v*|), v̂ and w γ, would cross the boundary. The default is
  /// the accuracy of solves. With less, rounding decides about blocks on a boundary; with more,
  /// blocks inside of their regions are also listed.
  Scalar boundary_tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Permitted remaining change of a product by refinement as a share [-], > 0, for `converged`. A
  /// larger one accepts answers of systems that are nearly singular.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
};

/// Derivatives of rigid and compliant contact under Coulomb's law, or under the convex law, by its
/// data: v(v*, A, J, μ, R, v̂, bounds), and γ of the same.
///
/// The impulse and velocity of a block determine whether it is open, sticks, slides or is at a
/// bound. The law is linearised in this region, together with A dv = Jᵀ dγ + …, and one sparse
/// factor serves all products. The answer may be from any solver, if it is accurate.
/// ```
/// carom::CoulombDerivative<double> derivative;
/// derivative.prepare(problem);
/// if (derivative.linearize(problem, velocity, solver.impulse()).usable()) {
///   gradient.set_zero(problem);
///   const auto report = derivative.pull_back(problem, cost_by_velocity, gradient);
/// }
/// ```
/// A block on a boundary, for example one about to slip, has one derivative per side. one_sided()
/// lists these blocks. The derivative is that of the side on which the block is closed, sticks, or
/// is between its bounds. If impulses are not unique, as for a box on four rigid feet, velocities
/// and their derivatives still are; the changes of impulses are those of least norm. A change of
/// data that is inconsistent for such feet opens one of them: push_forward() then returns
/// no_progress, and its velocities satisfy the feet in the least-squares sense.
/// @note  Real-time safe after prepare() for a problem of this size and pattern. The problem in the
///        products must be the linearised one.
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

  /// Allocates memory for the problem's size and pattern, so that the other functions do not.
  void prepare(const ContactProblem<Scalar>& problem) { answer_.prepare(problem); }

  /// Linearises the problem at its solution and factors.
  /// @param velocity  v [m/s, rad/s], n_v, the solution with the accuracy that the derivatives
  ///                  require.
  /// @param impulse   γ [N·s, N·m·s], impulse_count(), of this solution.
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

  /// The boundary on which a block of the last linearised problem is, if there is one.
  [[nodiscard]] RegionBoundary boundary(Index block) const noexcept {
    return answer_.law().slopes().boundary(block);
  }
  /// Indices of the blocks on a boundary, in ascending order; empty if the derivative is two-sided.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept {
    return answer_.law().slopes().one_sided();
  }

  /// The index of the last linearised answer [-]: the sign of the determinant of the linearised
  /// law. 0 if a block is on a boundary, where there is no such sign, or if the answer was not
  /// usable.
  ///
  /// If all answers of a problem under Coulomb's law are regular, their indices sum to +1. So an
  /// answer with index −1 is never alone: at least two others exist, with index +1. Rows that stick
  /// without R of their own count as slightly soft, as in the derivatives.
  /// @note  Costs one factor where linearize() did not need one; real-time safe.
  /// @cite  Degree theory; the sum is derived in docs/derivations/interior_point.md.
  [[nodiscard]] int index() noexcept { return answer_.law().index(); }

  /// Jacobian times vector: the change dv of the solution for a change dθ of the data.
  /// @param change           dθ, with the problem's sizes; R of rigid blocks has no influence.
  /// @param velocity_change  dv, written, n_v.
  /// @return  residual: expected remaining change of the answer by refinement as a share [-];
  ///          iterations: count of right-hand sides for the factors of all islands.
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
  /// @return  as for push_forward().
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
