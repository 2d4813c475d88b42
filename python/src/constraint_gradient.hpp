// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "problem_data.hpp"

namespace carom::python {

/// One number per number that one constraint was added with: a change of them, or a gradient by
/// them.
struct ConstraintNumbers {
  /// Of its law, under the names that these have in Python; one entry each, but one per row for
  /// the errors of a Bilateral.
  std::vector<std::pair<const char*, VectorX<double>>> numbers;
  /// Of its Jacobians, rows × size; no rows: no second body. The inverse masses of its rows, by
  /// which R is bounded, are counted in.
  MatrixX<double> jacobian, other_jacobian;
};

/// How an inverse mass follows from J and A on one side of a block.
struct SideSlope {
  MatrixX<double> jacobian;  ///< rows × size
  MatrixX<double> mass;      ///< size × size
};

/// Of tr(B W) with W = Σ J A⁻¹ Jᵀ of a block and a symmetric B: 2 B J A⁻¹ and −A⁻¹ Jᵀ B J A⁻¹.
[[nodiscard]] SideSlope inverse_mass_slope(const ContactProblem<double>& problem, Index block,
                                           int side, const MatrixX<double>& by_inverse_mass);

/// Of Σ by_row_i w_i, w_i = W_ii, a constraint's.
[[nodiscard]] SideSlope row_inverse_masses(const ContactProblem<double>& problem, Index block,
                                           int side, const VectorX<double>& by_row);

/// dR_i/dw_j of a block that is no contact, w the inverse masses of its rows. R is linear in w but
/// for the bound of what is nearly rigid, so that the quotient of a difference is exact to
/// rounding.
[[nodiscard]] MatrixX<double> constraint_slopes(const ProblemData& data, Index block);

/// The numbers of a constraint, all zero: what a change starts from.
[[nodiscard]] ConstraintNumbers zero_constraint(const ProblemData& data, Index block);

/// The gradient by the numbers of a constraint out of one by R, v̂ and bounds.
[[nodiscard]] ConstraintNumbers pull_constraint(const ProblemData& data, Index block,
                                                const ProblemDifferential<double>& gradient);
/// Writes the change of R, v̂, bounds and J of a constraint out of one of its numbers, by the
/// transposed chain.
/// @param mass  the change of A, per body; the inverse masses of the rows follow it.
void push_constraint(const ProblemData& data, Index block, const ConstraintNumbers& change,
                     const std::vector<MatrixX<double>>& mass, ProblemDifferential<double>& out);

}  // namespace carom::python
