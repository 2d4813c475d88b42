// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include <Eigen/Core>

#include "carom/solvers/derivative/linearized_law.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// What CoulombDerivative counts as a boundary, and as an answer.
template <RealScalar Scalar>
struct CoulombDerivativeOptions {
  /// The law that the solution obeys. Compliant contact under the convex one has SapDerivative.
  FrictionLaw law = FrictionLaw::coulomb;
  /// A block is on a boundary when a change of its velocity by this part [-], ≥ 0, of the speeds
  /// and impulses that make it up, |J|(|v| + |v*|), v̂ and w γ, would carry it over. As accurate as
  /// solves are by default; less leaves blocks that rest on a boundary to rounding, more names
  /// blocks that are inside of their regions.
  Scalar boundary_tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Share of a product [-], > 0, that refinement may still change where it is to count as
  /// converged. More accepts answers of systems that are nearly singular.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
};

/// Derivatives of rigid and compliant contact under Coulomb's law, or under the convex law, by its
/// data: v(v*, A, J, μ, R, v̂, bounds), and γ of the same.
///
/// Every block is open, held, sliding or at a bound, as its impulse and velocity say; the law is
/// linearised there, together with A dv = Jᵀ dγ + …, and one sparse factor serves all products.
/// The answer of any solver will do, if it is accurate.
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
/// follow together opens one of them: push_forward() then says no_progress, and its velocities
/// follow all of them in the mean.
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
  void prepare(const ContactProblem<Scalar>& problem) {
    law_.take(problem);
    velocity_.grow(problem.velocity_count());
    response_.grow(problem.velocity_count());
    impulse_.grow(problem.impulse_count());
  }

  /// Linearises the problem at its solution and factors.
  /// @param velocity  v [m/s, rad/s], n_v, the solution as accurately as derivatives are wanted.
  /// @param impulse   γ [N·s, N·m·s], impulse_count(), that leads to it.
  template <typename Impulse>
  LinearizationReport<Scalar> linearize(const ContactProblem<Scalar>& problem,
                                        const VectorX<Scalar>& velocity,
                                        const Eigen::MatrixBase<Impulse>& impulse) noexcept {
    return linearize_at(problem, velocity, impulse, Scalar(0));
  }
  /// Linearises the central path at a point as of SmoothedContact: smooth, and biased.
  /// @param product  κ of the point [J], > 0; the path is that of Coulomb's law.
  template <typename Impulse>
  LinearizationReport<Scalar> linearize_smoothed(const ContactProblem<Scalar>& problem,
                                                 const VectorX<Scalar>& velocity,
                                                 const Eigen::MatrixBase<Impulse>& impulse,
                                                 const Scalar& product) noexcept {
    CAROM_EXPECTS(product > Scalar(0));
    return linearize_at(problem, velocity, impulse, product);
  }

  /// Where a block of the problem last linearised sits.
  [[nodiscard]] RegionBoundary boundary(Index block) const noexcept {
    return law_.slopes().boundary(block);
  }
  /// Numbers of the blocks on a boundary, in order; none where the derivative is the only one.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept {
    return law_.slopes().one_sided();
  }

  /// Jacobian times vector: the change dv of the solution that a change dθ of the data makes.
  /// @param change           dθ, of the problem's sizes; R of rigid blocks does not matter.
  /// @param velocity_change  dv, written, n_v.
  /// @return  residual: share of the answer that refinement is expected to have left [-];
  ///          iterations: right sides of the factor that the island took which took most.
  /// @pre  the last linearisation was usable.
  SolveReport<Scalar> push_forward(const ContactProblem<Scalar>& problem,
                                   const ProblemDifferential<Scalar>& change,
                                   VectorX<Scalar>& velocity_change) noexcept;
  /// The same, and dγ.
  /// @param impulse_change  dγ, written, impulse_count().
  SolveReport<Scalar> push_forward(const ContactProblem<Scalar>& problem,
                                   const ProblemDifferential<Scalar>& change,
                                   VectorX<Scalar>& velocity_change,
                                   VectorX<Scalar>& impulse_change) noexcept;

  /// Transposed Jacobian times vector: the gradient by all data of a scalar whose gradient by the
  /// solution is known.
  /// @param by_velocity  dc/dv, n_v.
  /// @param gradient     dc/dθ, written; of the problem's sizes, A and J only if it has them.
  /// @return  as push_forward().
  /// @pre  the last linearisation was usable.
  SolveReport<Scalar> pull_back(const ContactProblem<Scalar>& problem,
                                const VectorX<Scalar>& by_velocity,
                                ProblemDifferential<Scalar>& gradient) noexcept {
    law_.clear_right();
    return pull_back_right(problem, by_velocity, gradient);
  }
  /// The same for a scalar of the impulses, too.
  /// @param by_impulse  dc/dγ, impulse_count().
  SolveReport<Scalar> pull_back(const ContactProblem<Scalar>& problem,
                                const VectorX<Scalar>& by_velocity,
                                const VectorX<Scalar>& by_impulse,
                                ProblemDifferential<Scalar>& gradient) noexcept;

 private:
  template <typename Impulse>
  LinearizationReport<Scalar> linearize_at(const ContactProblem<Scalar>& problem,
                                           const VectorX<Scalar>& velocity,
                                           const Eigen::MatrixBase<Impulse>& impulse,
                                           const Scalar& product) noexcept;
  [[nodiscard]] SolveReport<Scalar> judge(
      const typename detail::LinearizedLaw<Scalar>::Solved& solved) const noexcept;
  SolveReport<Scalar> pull_back_right(const ContactProblem<Scalar>& problem,
                                      const VectorX<Scalar>& by_velocity,
                                      ProblemDifferential<Scalar>& gradient) noexcept;

  CoulombDerivativeOptions<Scalar> options_;
  detail::LinearizedLaw<Scalar> law_;
  Growing<VectorX<Scalar>> velocity_, impulse_, response_;
};

// --- implementation ---

template <RealScalar Scalar>
template <typename Impulse>
LinearizationReport<Scalar> CoulombDerivative<Scalar>::linearize_at(
    const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
    const Eigen::MatrixBase<Impulse>& impulse, const Scalar& product) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(impulse.size() == problem.impulse_count());
  prepare(problem);
  velocity_ = velocity;
  impulse_ = impulse;
  LinearizationReport<Scalar> report;
  report.faulty_block = law_.linearize(
      problem, velocity_, impulse_,
      {.tolerance = options_.boundary_tolerance, .product = product, .law = options_.law});
  if (report.faulty_block >= 0 || !velocity_.allFinite()) return report;
  report.boundary_count = Index(one_sided().size());
  report.status =
      law_.factor(options_.tolerance) ? SolveStatus::converged : SolveStatus::no_progress;
  return report;
}

template <RealScalar Scalar>
SolveReport<Scalar> CoulombDerivative<Scalar>::judge(
    const typename detail::LinearizedLaw<Scalar>::Solved& solved) const noexcept {
  SolveReport<Scalar> report;
  report.iterations = solved.systems;
  report.residual = solved.left;
  report.residual_target = options_.tolerance;
  report.error_bound = std::numeric_limits<Scalar>::infinity();
  report.status =
      solved.left <= options_.tolerance ? SolveStatus::converged : SolveStatus::no_progress;
  if (!solved.finite) report.status = SolveStatus::not_finite;
  return report;
}

template <RealScalar Scalar>
SolveReport<Scalar> CoulombDerivative<Scalar>::push_forward(
    const ContactProblem<Scalar>& problem, const ProblemDifferential<Scalar>& change,
    VectorX<Scalar>& velocity_change) noexcept {
  CAROM_EXPECTS(change.fits(problem) && velocity_.size() == problem.velocity_count());
  velocity_change.resize(problem.velocity_count());
  detail::push_bodies(problem, change, velocity_, velocity_change);
  law_.clear_right();
  problem.for_each_block_by_kind([&](const auto& view) {
    using Rows = typename std::decay_t<decltype(view)>::Rows;
    const Rows impulse = view.read(impulse_);
    Rows excess = view.read(change.bias_velocity) -
                  detail::push_jacobian(view, change, velocity_, impulse, velocity_change);
    if (!view.law().rigid) excess -= impulse.cwiseProduct(view.read(change.regularization));
    law_.visit(view.number(), [&](const auto& block, const auto& slope) {
      using Numbers = std::decay_t<decltype(slope.by_lower)>;
      Numbers moved, lower, upper;
      for (int r = 0; r < view.rows(); ++r) {
        const int place = block.place(r);
        moved(place) = excess(r);
        if constexpr (std::decay_t<decltype(view)>::capacity == 3) {
          upper(place) = r < 2 ? change.friction(view.number()) : Scalar(0);
        } else {
          lower(place) = change.lower(view.first_row() + r);
          upper(place) = change.upper(view.first_row() + r);
        }
      }
      write_parts(
          block,
          slope.by_velocity * moved + slope.by_upper * upper + products(slope.by_lower, lower),
          law_.right());
    });
  });
  const auto numbers = as_span(velocity_change);
  problem.whiten_momentum(numbers);
  const auto solved = law_.template solve<false>(problem, velocity_change.data());
  problem.unwhiten(numbers);
  return judge(solved);
}

template <RealScalar Scalar>
SolveReport<Scalar> CoulombDerivative<Scalar>::push_forward(
    const ContactProblem<Scalar>& problem, const ProblemDifferential<Scalar>& change,
    VectorX<Scalar>& velocity_change, VectorX<Scalar>& impulse_change) noexcept {
  const SolveReport<Scalar> report = push_forward(problem, change, velocity_change);
  impulse_change.resize(problem.impulse_count());
  law_.for_each_row([&](Index row, Index place) { impulse_change(row) = law_.answer()[place]; });
  return report;
}

template <RealScalar Scalar>
SolveReport<Scalar> CoulombDerivative<Scalar>::pull_back(
    const ContactProblem<Scalar>& problem, const VectorX<Scalar>& by_velocity,
    const VectorX<Scalar>& by_impulse, ProblemDifferential<Scalar>& gradient) noexcept {
  CAROM_EXPECTS(by_impulse.size() == problem.impulse_count());
  law_.clear_right();
  law_.for_each_row([&](Index row, Index place) { law_.right()[place] = by_impulse(row); });
  return pull_back_right(problem, by_velocity, gradient);
}

template <RealScalar Scalar>
SolveReport<Scalar> CoulombDerivative<Scalar>::pull_back_right(
    const ContactProblem<Scalar>& problem, const VectorX<Scalar>& by_velocity,
    ProblemDifferential<Scalar>& gradient) noexcept {
  CAROM_EXPECTS(gradient.fits(problem) && by_velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(velocity_.size() == problem.velocity_count());
  auto& lambda = response_;
  lambda = by_velocity;
  problem.whiten_momentum(as_span(lambda));
  const auto solved = law_.template solve<true>(problem, lambda.data());
  problem.unwhiten(as_span(lambda));
  detail::pull_bodies(problem, velocity_, lambda, gradient);
  problem.for_each_block_by_kind([&](const auto& view) {
    using Rows = typename std::decay_t<decltype(view)>::Rows;
    const Rows impulse = view.read(impulse_);
    Rows pressed = Rows::Zero(), lower = pressed, upper = pressed;
    law_.visit(view.number(), [&](const auto& block, const auto& slope) {
      using Numbers = std::decay_t<decltype(slope.by_lower)>;
      const Numbers z = read_parts(block, law_.answer());
      const Numbers s = transposed_times(slope.by_velocity, z),
                    by_upper = transposed_times(slope.by_upper, z);
      for (int r = 0; r < view.rows(); ++r) {
        const int place = block.place(r);
        pressed(r) = s(place);
        lower(r) = slope.by_lower(place) * z(place);
        upper(r) = by_upper(place);
      }
    });
    view.write(pressed, gradient.bias_velocity);
    Rows weighed = -impulse.cwiseProduct(pressed);
    if (view.law().rigid) weighed.setZero();
    view.write(weighed, gradient.regularization);
    if constexpr (std::decay_t<decltype(view)>::capacity == 3) {
      gradient.friction(view.number()) = upper(0) + upper(1);
      lower.setZero(), upper.setZero();
    } else {
      gradient.friction(view.number()) = Scalar(0);
    }
    view.write(lower, gradient.lower);
    view.write(upper, gradient.upper);
    detail::pull_jacobian(view, velocity_, lambda, impulse, pressed, gradient);
  });
  return judge(solved);
}

}  // namespace CAROM_ABI
}  // namespace carom
