// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/contact/problem_differential.hpp"
#include "carom/solvers/sap.hpp"

#include "support/constrained_problem.hpp"

/// @file
/// Changes of a problem's data, and problems moved along them: for derivatives of the solution.
namespace carom::testing {

/// A change of R of one block; rows that share a weight go together.
template <typename Scalar, typename Draw>
[[nodiscard]] VectorX<Scalar> draw_weight_change(const WeightedBlock<Scalar>& law,
                                                 const Draw& draw) {
  VectorX<Scalar> weights(law.set.rows);
  for (int i = 0; i < law.set.rows; ++i) weights(i) = law.regularization(i) * draw();
  const ImpulseShape shape = law.set.shape;
  if (shape != ImpulseShape::intervals && shape != ImpulseShape::elliptic) weights(1) = weights(0);
  if (shape == ImpulseShape::rolling || shape == ImpulseShape::spinless_rolling) {
    weights(4) = weights(3);
  }
  return weights;
}

/// A change of all data, as large as the data are; friction stays where it is zero.
template <typename Scalar>
[[nodiscard]] ProblemDifferential<Scalar> draw_change(VectorSource<double>& source,
                                                      const ContactProblem<Scalar>& problem) {
  const auto draw = [&] { return Scalar(2 * source.unit() - 1); };
  ProblemDifferential<Scalar> change;
  change.set_zero(problem);
  for (Scalar& x : change.free_velocity) x = draw();
  for (Scalar& x : change.bias_velocity) x = draw();
  for (Index i = 0; i < problem.block_count(); ++i) {
    if (problem.is_friction_contact(i)) {
      change.friction(i) = problem.friction_contact_law(i).friction * draw();
    }
    change.regularization.segment(problem.first_row(i), problem.rows(i)) =
        draw_weight_change(problem.law(i), draw);
    for (int side = 0; side < problem.side_count(i); ++side) {
      auto block = change.jacobian(i, side);
      for (Index r = 0; r < block.rows(); ++r) {
        for (Index k = 0; k < block.cols(); ++k) block(r, k) = draw();
      }
    }
  }
  for (Index b = 0; b < problem.body_count(); ++b) {
    auto block = change.momentum(b);
    const Scalar size = problem.momentum_matrix(b).norm() / Scalar(4 * block.rows());
    for (Index k = 0; k < block.size(); ++k) block(k) = size * draw();
  }
  return change;
}

/// θ + h dθ.
[[nodiscard]] inline RawProblem move(RawProblem raw, const ProblemDifferential<double>& change,
                                     double h) {
  Index start = 0;
  for (std::size_t b = 0; b < raw.bodies.size(); ++b) {
    const MatrixX<double> block = change.momentum(Index(b));
    raw.bodies[b].momentum += (h / 2) * (block + block.transpose());
    raw.bodies[b].free_velocity += h * change.free_velocity.segment(start, block.rows());
    start += block.rows();
  }
  for (std::size_t k = 0; k < raw.contacts.size(); ++k) {
    const Index i = Index(k);
    RawContact& contact = raw.contacts[k];
    contact.first_jacobian += h * change.jacobian(i, 0);
    if (contact.second >= 0) contact.second_jacobian += h * change.jacobian(i, 1);
    contact.law.friction += h * change.friction(i);
    contact.law.regularization.tangent += h * change.regularization(3 * i);
    contact.law.regularization.normal += h * change.regularization(3 * i + 2);
    contact.law.bias_velocity += h * change.bias_velocity.segment<3>(3 * i);
  }
  return raw;
}

[[nodiscard]] inline ConstrainedProblem move(ConstrainedProblem raw,
                                             const ProblemDifferential<double>& change, double h) {
  raw.contacts = move(raw.contacts, change, h);
  const std::size_t contacts = raw.contacts.contacts.size();
  Index first_row = 3 * Index(contacts);
  for (std::size_t k = 0; k < raw.constraints.size(); ++k) {
    RawConstraint& constraint = raw.constraints[k];
    const Index rows = constraint.law.set.rows, block = Index(contacts + k);
    constraint.law.bias_velocity.head(rows) += h * change.bias_velocity.segment(first_row, rows);
    constraint.law.regularization.head(rows) += h * change.regularization.segment(first_row, rows);
    if (constraint.law.set.shape == ImpulseShape::friction) {
      constraint.law.set.friction(0) += h * change.friction(block);
    }
    constraint.first_jacobian += h * change.jacobian(block, 0);
    if (constraint.second >= 0) constraint.second_jacobian += h * change.jacobian(block, 1);
    first_row += rows;
  }
  return raw;
}

/// v from the free velocity, converged or not.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> solve(const ContactProblem<Scalar>& problem,
                                    const Scalar& tolerance) {
  SapSolver<Scalar> solver({.tolerance = tolerance});
  VectorX<Scalar> velocity = problem.free_velocity();
  static_cast<void>(solver.solve(problem, velocity));
  return velocity;
}

/// How many problems to draw, from which seed.
struct Samples {
  int count;
  std::uint32_t seed;
};

/// Calls visit(source, problem) with problems that draw(source, sizes) makes; in some of them no
/// two bodies are of one size, in others some are.
template <typename Draw, typename Visit>
void for_each_drawn(const Samples& samples, const Draw& draw, const Visit& visit) {
  const std::vector<std::vector<int>> sizes = {{6, 1, 3}, {7, 6, 6}, {12, 2}, {6, 1, 3}};
  VectorSource<double> source(samples.seed);
  for (int sample = 0; sample < samples.count; ++sample) {
    visit(source, draw(source, sizes[std::size_t(sample) % sizes.size()]));
  }
}

/// The kinds of data of a change, and the one of bounds, which friction contacts do not have.
inline constexpr int part_count = 7, bounds_part = 4;
/// One kind of data of a change.
[[nodiscard]] inline ProblemDifferential<double> take_part(const ContactProblem<double>& problem,
                                                           const ProblemDifferential<double>& all,
                                                           int part) {
  ProblemDifferential<double> change;
  change.set_zero(problem);
  if (part == 0) change.free_velocity = all.free_velocity;
  if (part == 1) change.friction = all.friction;
  if (part == 2) change.regularization = all.regularization;
  if (part == 3) change.bias_velocity = all.bias_velocity;
  if (part == bounds_part) {
    change.lower = all.lower;
    change.upper = all.upper;
  }
  const bool has_jacobians = problem.velocity_count() > 0 && problem.block_count() > 0;
  const Index split = has_jacobians ? all.jacobian(0, 0).data() - all.matrices.data() : 0;
  if (part == 5) change.matrices.head(split) = all.matrices.head(split);
  if (part == 6) {
    const Index rest = all.matrices.size() - split;
    change.matrices.tail(rest) = all.matrices.tail(rest);
  }
  return change;
}

}  // namespace carom::testing
