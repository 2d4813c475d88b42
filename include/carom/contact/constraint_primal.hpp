// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_problem.hpp"

namespace carom::inline CAROM_ABI {

/// @file
/// One constraint's part in the convex problem: its velocity J v, its impulse γ = P(y),
/// y = R⁻¹(v̂ − J v), and its cost sup over the set of γᵀR y − ½‖γ‖²_R = γᵀR y − ½‖γ‖²_R at γ =
/// P(y). For cones that is ½‖γ‖²_R. Rows beyond the constraint's own are zero.
/// @note  Real-time safe: no allocation, no exception.

/// J v of one constraint [m/s, rad/s].
template <RealScalar Scalar, typename VectorType>
[[nodiscard]] RowNumbers<Scalar> constraint_velocity(
    const ContactProblem<Scalar>& problem, Index constraint,
    const Eigen::MatrixBase<VectorType>& velocity) noexcept {
  const ConstraintList<Scalar>& list = problem.constraints();
  RowNumbers<Scalar> result = RowNumbers<Scalar>::Zero();
  for (int side = 0; side < list.side_count(constraint); ++side) {
    const auto [start, size] = problem.body(list.side_body(constraint, side));
    for (int row = 0; row < list.rows(constraint); ++row) {
      result(row) +=
          list.jacobian(constraint, side, row / 3).col(row % 3).dot(velocity.segment(start, size));
    }
  }
  return result;
}

/// y = R⁻¹(v̂ − v_c) of one constraint [N·s], the impulse it would take without its set.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> constraint_trial(
    const ContactProblem<Scalar>& problem, Index constraint,
    const RowNumbers<Scalar>& constraint_velocity) noexcept {
  const WeightedConstraint<Scalar>& law = problem.constraints().law(constraint);
  RowNumbers<Scalar> trial = RowNumbers<Scalar>::Zero();
  for (int i = 0; i < law.set.rows; ++i) {
    trial(i) = (law.bias_velocity(i) - constraint_velocity(i)) / law.regularization(i);
  }
  return trial;
}

/// Inverse dynamics of one constraint: γ = P(y(v)) [N·s].
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> constraint_impulse(const ContactProblem<Scalar>& problem,
                                                    Index constraint,
                                                    const VectorX<Scalar>& velocity) noexcept {
  const WeightedConstraint<Scalar>& law = problem.constraints().law(constraint);
  return nearest_impulse(
      law.set, law.regularization,
      constraint_trial(problem, constraint, constraint_velocity(problem, constraint, velocity)));
}

/// Adds Jᵀ γ of one constraint to a momentum.
template <RealScalar Scalar, typename VectorType>
void add_constraint_momentum(const ContactProblem<Scalar>& problem, Index constraint,
                             const RowNumbers<Scalar>& impulse, VectorType& momentum) noexcept {
  const ConstraintList<Scalar>& list = problem.constraints();
  for (int side = 0; side < list.side_count(constraint); ++side) {
    const auto [start, size] = problem.body(list.side_body(constraint, side));
    for (int row = 0; row < list.rows(constraint); ++row) {
      momentum.segment(start, size) +=
          impulse(row) * list.jacobian(constraint, side, row / 3).col(row % 3);
    }
  }
}

/// Σ ‖Jₖ‖²_{A⁻¹} γₖ² over the rows of one constraint [J].
template <RealScalar Scalar>
[[nodiscard]] Scalar constraint_gross_squared(const ContactProblem<Scalar>& problem,
                                              Index constraint,
                                              const RowNumbers<Scalar>& impulse) noexcept {
  const ConstraintList<Scalar>& list = problem.constraints();
  Scalar sum = 0;
  for (int side = 0; side < list.side_count(constraint); ++side) {
    for (int row = 0; row < list.rows(constraint); ++row) {
      const auto block = list.whitened_jacobian(constraint, side, row / 3);
      sum += block.col(row % 3).squaredNorm() * impulse(row) * impulse(row);
    }
  }
  return sum;
}

/// γᵀR y − ½‖γ‖²_R of one constraint [J], for γ = P(y).
template <RealScalar Scalar>
[[nodiscard]] Scalar constraint_cost(const ContactProblem<Scalar>& problem, Index constraint,
                                     const RowNumbers<Scalar>& trial,
                                     const RowNumbers<Scalar>& impulse) noexcept {
  const WeightedConstraint<Scalar>& law = problem.constraints().law(constraint);
  Scalar cost = 0;
  for (int i = 0; i < law.set.rows; ++i) {
    cost += law.regularization(i) * impulse(i) * (trial(i) - impulse(i) / 2);
  }
  return cost;
}

/// The rows of one constraint out of stacked impulses.
template <RealScalar Scalar, typename VectorType>
[[nodiscard]] RowNumbers<Scalar> constraint_rows(const ContactProblem<Scalar>& problem,
                                                 Index constraint,
                                                 const VectorType& stacked) noexcept {
  const ConstraintList<Scalar>& list = problem.constraints();
  const Index first = 3 * problem.contact_count() + list.first_row(constraint);
  RowNumbers<Scalar> result = RowNumbers<Scalar>::Zero();
  for (int i = 0; i < list.rows(constraint); ++i) result(i) = stacked(first + i);
  return result;
}

/// Writes the rows of one constraint into stacked impulses.
template <RealScalar Scalar, typename VectorType>
void write_constraint_rows(const ContactProblem<Scalar>& problem, Index constraint,
                           const RowNumbers<Scalar>& rows, VectorType& stacked) noexcept {
  const ConstraintList<Scalar>& list = problem.constraints();
  const Index first = 3 * problem.contact_count() + list.first_row(constraint);
  for (int i = 0; i < list.rows(constraint); ++i) stacked(first + i) = rows(i);
}

/// u = J v − v̂ + R γ of one constraint [m/s].
template <RealScalar Scalar, typename VectorType>
[[nodiscard]] RowNumbers<Scalar> constraint_slope(const ContactProblem<Scalar>& problem,
                                                  Index constraint, const VectorType& velocity,
                                                  const RowNumbers<Scalar>& impulse) noexcept {
  const WeightedConstraint<Scalar>& law = problem.constraints().law(constraint);
  RowNumbers<Scalar> slope = constraint_velocity(problem, constraint, velocity);
  for (int i = 0; i < law.set.rows; ++i) {
    slope(i) += law.regularization(i) * impulse(i) - law.bias_velocity(i);
  }
  return slope;
}

/// Adds Jᵀ G J of one constraint to a dense matrix. Cold: for checking.
template <RealScalar Scalar>
void add_constraint_hessian(const ContactProblem<Scalar>& problem, Index constraint,
                            const RowNumbers<Scalar>& trial, MatrixX<Scalar>& hessian) {
  const ConstraintList<Scalar>& list = problem.constraints();
  const WeightedConstraint<Scalar>& law = list.law(constraint);
  const SquareMatrix<Scalar, 6> g = impulse_curvature(law.set, law.regularization, trial);
  const auto row_of = [&](int side, int row) {
    return list.jacobian(constraint, side, row / 3).col(row % 3);
  };
  for (int a = 0; a < list.side_count(constraint); ++a) {
    for (int b = 0; b < list.side_count(constraint); ++b) {
      const auto [r, row_size] = problem.body(list.side_body(constraint, a));
      const auto [c, column_size] = problem.body(list.side_body(constraint, b));
      for (int i = 0; i < law.set.rows; ++i) {
        for (int j = 0; j < law.set.rows; ++j) {
          hessian.block(r, c, row_size, column_size) +=
              g(i, j) * row_of(a, i).lazyProduct(row_of(b, j).transpose());
        }
      }
    }
  }
}

}  // namespace carom::inline CAROM_ABI
