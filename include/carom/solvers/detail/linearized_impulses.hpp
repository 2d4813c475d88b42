// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/constraint_derivative.hpp"
#include "carom/contact/constraint_primal.hpp"
#include "carom/contact/impulse_derivative.hpp"
#include "carom/contact/primal.hpp"
#include "carom/contact/problem_differential.hpp"
#include "carom/linalg/growing.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// The impulses of all contacts and constraints as functions of the data at one velocity, with
/// their derivatives: what they add to the momentum of a change, and its transpose.
template <RealScalar Scalar>
class LinearizedImpulses {
 public:
  void reserve(const ContactProblem<Scalar>& problem) {
    contacts_.resize(problem.contact_count());
    constraints_.resize(problem.constraints().count());
    velocity_.grow(problem.velocity_count());
  }

  /// Differentiates all impulses at a velocity.
  /// @param tolerance  of boundaries, as SapDerivativeOptions::boundary_tolerance.
  /// @return  false when a contact's or a constraint's numbers are not finite.
  [[nodiscard]] bool differentiate(const ContactProblem<Scalar>& problem,
                                   const VectorX<Scalar>& velocity,
                                   const Scalar& tolerance) noexcept;

  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const ImpulseDerivative<Scalar>& contact(Index i) const noexcept {
    return contacts_[i];
  }
  [[nodiscard]] const ConstraintDerivative<Scalar>& constraint(Index c) const noexcept {
    return constraints_[c];
  }
  /// Contacts and constraints on a boundary.
  [[nodiscard]] Index boundary_count() const noexcept { return boundary_count_; }

  /// momentum += d(Jᵀγ) of a change of the data at fixed velocity.
  void push(const ContactProblem<Scalar>& problem, const ProblemDifferential<Scalar>& change,
            VectorX<Scalar>& momentum) const noexcept;
  /// Its transpose: the gradient of λ·Jᵀγ by the data.
  void pull(const ContactProblem<Scalar>& problem, const Growing<VectorX<Scalar>>& lambda,
            ProblemDifferential<Scalar>& gradient) const noexcept;

 private:
  void push_contact(const ContactProblem<Scalar>& problem, Index i,
                    const ProblemDifferential<Scalar>& change,
                    VectorX<Scalar>& momentum) const noexcept;
  void push_constraint(const ContactProblem<Scalar>& problem, Index c,
                       const ProblemDifferential<Scalar>& change,
                       VectorX<Scalar>& momentum) const noexcept;
  void pull_contact(const ContactProblem<Scalar>& problem, Index i,
                    const Growing<VectorX<Scalar>>& lambda,
                    ProblemDifferential<Scalar>& gradient) const noexcept;
  void pull_constraint(const ContactProblem<Scalar>& problem, Index c,
                       const Growing<VectorX<Scalar>>& lambda,
                       ProblemDifferential<Scalar>& gradient) const noexcept;
  template <typename Block>
  [[nodiscard]] Scalar squared_speed(const Block& block, const BodyRange& body) const noexcept;
  [[nodiscard]] Scalar speed_of_contact(const ContactProblem<Scalar>& problem,
                                        Index i) const noexcept;
  [[nodiscard]] Scalar speed_of_constraint(const ContactProblem<Scalar>& problem,
                                           Index c) const noexcept;

  Sequence<ImpulseDerivative<Scalar>> contacts_;
  Sequence<ConstraintDerivative<Scalar>> constraints_;
  Growing<VectorX<Scalar>> velocity_;
  Index boundary_count_ = 0;
};

// --- implementation ---

/// ‖|J||v|‖² of the columns of Jᵀ.
template <RealScalar Scalar>
template <typename Block>
Scalar LinearizedImpulses<Scalar>::squared_speed(const Block& block,
                                                 const BodyRange& body) const noexcept {
  Scalar squared = 0;
  for (int row = 0; row < 3; ++row) {
    Scalar sum = 0;
    for (Index k = 0; k < body.size; ++k)
      sum += std::abs(block(k, row) * velocity_(body.start + k));
    squared += sum * sum;
  }
  return squared;
}

/// |J||v| + ‖v̂‖ of a contact [m/s]: what round-off of its velocity is relative to.
template <RealScalar Scalar>
Scalar LinearizedImpulses<Scalar>::speed_of_contact(const ContactProblem<Scalar>& problem,
                                                    Index i) const noexcept {
  Scalar speed = problem.bias_velocity(i).norm();
  for (int side = 0; side < problem.side_count(i); ++side) {
    speed += std::sqrt(
        squared_speed(problem.jacobian(i, side), problem.body(problem.side_body(i, side))));
  }
  return speed;
}

/// The same of a constraint.
template <RealScalar Scalar>
Scalar LinearizedImpulses<Scalar>::speed_of_constraint(const ContactProblem<Scalar>& problem,
                                                       Index c) const noexcept {
  const ConstraintList<Scalar>& list = problem.constraints();
  Scalar speed = list.law(c).bias_velocity.norm();
  for (int side = 0; side < list.side_count(c); ++side) {
    for (int part = 0; part < list.parts(c); ++part) {
      speed += std::sqrt(
          squared_speed(list.jacobian(c, side, part), problem.body(list.side_body(c, side))));
    }
  }
  return speed;
}

template <RealScalar Scalar>
bool LinearizedImpulses<Scalar>::differentiate(const ContactProblem<Scalar>& problem,
                                               const VectorX<Scalar>& velocity,
                                               const Scalar& tolerance) noexcept {
  velocity_ = velocity;
  boundary_count_ = 0;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> of_contact = contact_velocity(problem, i, velocity_);
    if (!trial_impulse(problem, i, of_contact).allFinite()) return false;
    contacts_[i] = make_impulse_derivative(problem.cone(i), problem.regularization(i),
                                           Vector3<Scalar>(problem.bias_velocity(i) - of_contact));
    if (contacts_[i].margin > tolerance * speed_of_contact(problem, i)) {
      contacts_[i].nearest = RegionBoundary::none;
    }
    if (contacts_[i].nearest != RegionBoundary::none) ++boundary_count_;
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    const RowNumbers<Scalar> of_constraint = constraint_velocity(problem, c, velocity_);
    if (!constraint_trial(problem, c, of_constraint).allFinite()) return false;
    const WeightedConstraint<Scalar>& law = problem.constraints().law(c);
    constraints_[c] =
        make_constraint_derivative(law, RowNumbers<Scalar>(law.bias_velocity - of_constraint));
    if (!(constraints_[c].margin > tolerance * speed_of_constraint(problem, c))) ++boundary_count_;
  }
  return true;
}

template <RealScalar Scalar>
void LinearizedImpulses<Scalar>::push_contact(const ContactProblem<Scalar>& problem, Index i,
                                              const ProblemDifferential<Scalar>& change,
                                              VectorX<Scalar>& momentum) const noexcept {
  const ImpulseDerivative<Scalar>& derivative = contacts_[i];
  const bool matrices = change.has_matrices();
  Vector3<Scalar> excess = change.bias_velocity.template segment<3>(3 * i);
  for (int side = 0; matrices && side < problem.side_count(i); ++side) {
    const auto [start, size] = problem.body(problem.side_body(i, side));
    const auto block = change.jacobian(i, side);
    for (int row = 0; row < 3; ++row) {
      excess(row) -= block.col(row).dot(velocity_.segment(start, size));
    }
    momentum.segment(start, size) += block.lazyProduct(derivative.impulse);
  }
  const Vector3<Scalar> impulse = derivative.by_excess * excess +
                                  derivative.by_friction * change.friction(i) +
                                  derivative.by_tangent * change.regularization(2 * i) +
                                  derivative.by_normal * change.regularization(2 * i + 1);
  add_contact_momentum(problem, i, impulse, momentum);
}

template <RealScalar Scalar>
void LinearizedImpulses<Scalar>::push_constraint(const ContactProblem<Scalar>& problem, Index c,
                                                 const ProblemDifferential<Scalar>& change,
                                                 VectorX<Scalar>& momentum) const noexcept {
  const ConstraintList<Scalar>& list = problem.constraints();
  const Index first = list.first_row(c);
  const int rows = list.rows(c);
  RowNumbers<Scalar> excess = RowNumbers<Scalar>::Zero(), regularization = excess;
  for (int row = 0; row < rows; ++row) {
    excess(row) = change.constraint_bias_velocity(first + row);
    regularization(row) = change.constraint_regularization(first + row);
  }
  for (int side = 0; change.has_matrices() && side < list.side_count(c); ++side) {
    const auto [start, size] = problem.body(list.side_body(c, side));
    for (int row = 0; row < rows; ++row) {
      const auto column = change.constraint_jacobian(c, side, row / 3).col(row % 3);
      excess(row) -= column.dot(velocity_.segment(start, size));
      momentum.segment(start, size) += constraints_[c].impulse(row) * column;
    }
  }
  add_constraint_momentum(problem, c, constraints_[c].change(excess, regularization), momentum);
}

template <RealScalar Scalar>
void LinearizedImpulses<Scalar>::push(const ContactProblem<Scalar>& problem,
                                      const ProblemDifferential<Scalar>& change,
                                      VectorX<Scalar>& momentum) const noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) push_contact(problem, i, change, momentum);
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    push_constraint(problem, c, change, momentum);
  }
}

template <RealScalar Scalar>
void LinearizedImpulses<Scalar>::pull_contact(
    const ContactProblem<Scalar>& problem, Index i, const Growing<VectorX<Scalar>>& lambda,
    ProblemDifferential<Scalar>& gradient) const noexcept {
  const ImpulseDerivative<Scalar>& derivative = contacts_[i];
  const Vector3<Scalar> velocity = contact_velocity(problem, i, lambda);
  const Vector3<Scalar> pressed = derivative.by_excess * velocity;
  gradient.bias_velocity.template segment<3>(3 * i) = pressed;
  gradient.friction(i) = derivative.by_friction.dot(velocity);
  gradient.regularization(2 * i) = derivative.by_tangent.dot(velocity);
  gradient.regularization(2 * i + 1) = derivative.by_normal.dot(velocity);
  for (int side = 0; gradient.has_matrices() && side < problem.side_count(i); ++side) {
    const auto [start, size] = problem.body(problem.side_body(i, side));
    gradient.jacobian(i, side) =
        lambda.segment(start, size).lazyProduct(derivative.impulse.transpose()) -
        velocity_.segment(start, size).lazyProduct(pressed.transpose());
  }
}

template <RealScalar Scalar>
void LinearizedImpulses<Scalar>::pull_constraint(
    const ContactProblem<Scalar>& problem, Index c, const Growing<VectorX<Scalar>>& lambda,
    ProblemDifferential<Scalar>& gradient) const noexcept {
  const ConstraintList<Scalar>& list = problem.constraints();
  const RowNumbers<Scalar> pressed =
      constraints_[c].by_excess * constraint_velocity(problem, c, lambda);
  for (int row = 0; row < list.rows(c); ++row) {
    const Index k = list.first_row(c) + row;
    gradient.constraint_bias_velocity(k) = pressed(row);
    gradient.constraint_regularization(k) = -constraints_[c].impulse(row) * pressed(row);
    for (int side = 0; gradient.has_matrices() && side < list.side_count(c); ++side) {
      const auto [start, size] = problem.body(list.side_body(c, side));
      gradient.constraint_jacobian(c, side, row / 3).col(row % 3) =
          constraints_[c].impulse(row) * lambda.segment(start, size) -
          pressed(row) * velocity_.segment(start, size);
    }
  }
}

template <RealScalar Scalar>
void LinearizedImpulses<Scalar>::pull(const ContactProblem<Scalar>& problem,
                                      const Growing<VectorX<Scalar>>& lambda,
                                      ProblemDifferential<Scalar>& gradient) const noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) pull_contact(problem, i, lambda, gradient);
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    pull_constraint(problem, c, lambda, gradient);
  }
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
