// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "problem_data.hpp"

namespace carom::python {

/// The gradient of a number by what one constraint was added with.
struct ConstraintGradient {
  /// By the numbers of its law, under the names that these have in Python; one entry each, but one
  /// per row for the errors of a Bilateral.
  std::vector<std::pair<const char*, VectorX<double>>> numbers;
  /// By its Jacobians, rows × size; no rows: no second body. The inverse masses of its rows, by
  /// which R is bounded, are counted in.
  MatrixX<double> jacobian, other_jacobian;
};

/// How an inverse mass follows from J and the diagonal of A on one side of a block.
struct SideSlope {
  MatrixX<double> jacobian;  ///< rows × size
  VectorX<double> mass;      ///< size
};

/// Of Σ by_row_i w_i, w_i = Σ J_ik²/A_kk, a constraint's.
[[nodiscard]] SideSlope row_inverse_masses(const ContactProblem<double>& problem, Index block,
                                           int side, const VectorX<double>& by_row);

/// dR_i/dw_j of a block that is no contact, w the inverse masses of its rows. R is linear in w but
/// for the bound of what is nearly rigid, so that the quotient of a difference is exact to
/// rounding.
[[nodiscard]] MatrixX<double> constraint_slopes(const ProblemData& data, Index block);

/// Gradients by the bounds of constraints under the convex law, which SapDerivative holds fixed.
///
/// Where an impulse sits at its bound b, γ = b, so that dv = H⁻¹ Jᵀ db: the gradient is J λ plus
/// that by γ itself, with λ = H⁻¹ of the gradient by v, which the gradient by v* gives as A λ.
/// Friction of cones that are no friction contacts gets NaN: its derivative is not known.
/// @param impulse     γ of the answer [N·s, N·m·s], stacked.
/// @param by_impulse  the gradient by γ, stacked.
/// @param gradient    in: of SapDerivative; out: with bounds.
void write_convex_bounds(const ContactProblem<double>& problem, const VectorX<double>& impulse,
                         const VectorX<double>& by_impulse, ProblemDifferential<double>& gradient);

/// The chain from R, v̂ and bounds of a constraint to the numbers of its law.
[[nodiscard]] ConstraintGradient make_constraint_gradient(
    const ProblemData& data, Index block, const ProblemDifferential<double>& gradient);

}  // namespace carom::python
