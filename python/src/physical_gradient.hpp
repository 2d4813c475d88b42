// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "constraint_gradient.hpp"
#include "problem_data.hpp"

namespace carom::python {

/// One number per number that a problem was made of: a change of them, or a gradient by them.
///
/// The library differentiates by R and v̂; gap, stiffness and dissipation lead to these, and so do
/// masses and Jacobians, through the inverse mass that R is scaled by, and restitution and
/// approach. Here the links are joined.
struct PhysicalNumbers {
  VectorX<double> free_velocity;                               ///< n_v
  VectorX<double> velocity;                                    ///< before the step, n_v
  VectorX<double> friction, gap, stiffness, dissipation_time;  ///< n_c
  VectorX<double> restitution, approach;                       ///< n_c
  /// 3 n_c. Of a contact whose R or v̂ follows from physical data they are those of a number added
  /// to it.
  VectorX<double> regularization, bias;
  std::vector<MatrixX<double>> mass;                      ///< per body
  std::vector<MatrixX<double>> jacobian, other_jacobian;  ///< per contact; no rows: no second body
  /// Per constraint; none: none of them changes.
  std::vector<ConstraintNumbers> constraints;

  /// Takes the sizes of a problem, every number zero, and no constraints.
  void set_zero(const ProblemData& data);
};

/// A gradient by physical numbers out of one by the numbers of the convex problem.
void write_physical(const ProblemData& data, const ProblemDifferential<double>& gradient,
                    PhysicalNumbers& out);
/// A change of the numbers of the convex problem out of one of physical numbers.
void write_differential(const ProblemData& data, const PhysicalNumbers& change,
                        ProblemDifferential<double>& out);

}  // namespace carom::python
