// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "carom/contact/impulse_set.hpp"

#include "support/problem_change.hpp"

/// @file
/// Changes of all data under Coulomb's law, bounds and every coefficient of friction too, and
/// problems moved along them.
namespace carom::testing {

/// Three contacts and four blocks of every shape.
[[nodiscard]] inline ConstrainedProblem draw_all_kinds(VectorSource<double>& source,
                                                       const std::vector<int>& sizes) {
  ConstrainedProblem raw = draw_constrained(source, sizes, 4);
  for (auto& constraint : raw.constraints) {
    const auto old = constraint.law;
    constraint.law = draw_law(source, int(source.unit() * 12));
    const Index rows = constraint.law.set.rows;
    constraint.law.regularization *= old.regularization(0);
    const auto redraw = [&](Eigen::MatrixXd& jacobian) {
      if (jacobian.cols() > 0) {
        jacobian = draw_matrix(source, rows, jacobian.cols());
      }
    };
    redraw(constraint.first_jacobian);
    redraw(constraint.second_jacobian);
  }
  return raw;
}

/// Which coefficient of friction bounds a row of a cone; −1 for the normal.
[[nodiscard]] inline int coefficient_of(ImpulseShape shape, int row) {
  const int normal = detail::normal_row(shape);
  if (row == normal) return -1;
  if (row < 2) return shape == ImpulseShape::elliptic ? row : 0;
  return row == 5 ? 2 : 1;
}

/// Changes of bounds and of coefficients of friction, but of friction contacts.
template <typename Scalar>
void draw_limits(VectorSource<double>& source, const ContactProblem<Scalar>& problem,
                 ProblemDifferential<Scalar>& change) {
  for (Index i = 0; i < problem.block_count(); ++i) {
    if (problem.is_friction_contact(i)) continue;
    const auto law = problem.law(i);
    const auto draw = [&] { return Scalar(2 * source.unit() - 1); };
    const Vector3<Scalar> friction(draw(), draw(), draw());
    for (int r = 0; r < law.set.rows; ++r) {
      const Index row = problem.first_row(i) + r;
      if (law.set.shape == ImpulseShape::intervals) {
        change.lower(row) = draw();
        change.upper(row) = law.set.lower(r) == law.set.upper(r) ? change.lower(row) : draw();
      } else if (const int c = coefficient_of(law.set.shape, r); c >= 0) {
        change.upper(row) = law.set.friction(c) * friction(c);
      }
    }
  }
}

/// θ + h dθ, bounds and coefficients of friction too.
[[nodiscard]] inline ContactProblem<double> moved_problem(ConstrainedProblem raw,
                                                          const ProblemDifferential<double>& change,
                                                          double h, bool rigid) {
  raw = move(std::move(raw), change, h);
  Index row = 3 * Index(raw.contacts.contacts.size());
  for (auto& constraint : raw.constraints) {
    auto& set = constraint.law.set;
    Vector3<double> friction = set.friction;
    for (int r = 0; r < set.rows; ++r, ++row) {
      if (set.shape == ImpulseShape::intervals) {
        set.lower(r) += h * change.lower(row);
        set.upper(r) += h * change.upper(row);
      } else if (const int c = coefficient_of(set.shape, r); c >= 0 && change.upper(row) != 0) {
        friction(c) = set.friction(c) + h * change.upper(row);
      }
    }
    set.friction = friction;
  }
  auto problem = build(raw);
  if (rigid) problem.make_rigid();
  return problem;
}

}  // namespace carom::testing
