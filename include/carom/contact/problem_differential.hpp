// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_problem.hpp"
#include "carom/linalg/growing.hpp"
#include "carom/linalg/sequence.hpp"

namespace carom::inline CAROM_ABI {

/// Which data of a problem a differential speaks of.
enum class DifferentialParts {
  vectors,  ///< v*, μ, R, v̂: numbers that change from step to step.
  all,      ///< A and J as well, J of the constraints too.
};

/// One number for each number of a contact problem's data: a small change of the data, or the
/// gradient of a scalar with respect to them. Their product is the scalar's change, see dot().
///
/// A gap enters through v̂ₙ, stiffness and dissipation through Rₙ, a mass through A:
/// compliance_derivative.hpp has the factors. Whether a contact is rigid is no number: the R spoken
/// of is regularization(), a rigid contact's stand-in too.
template <RealScalar Scalar>
struct ProblemDifferential {
  using MatrixMap = Eigen::Map<MatrixX<Scalar>>;
  using JacobianMap = Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, 3>>;
  using ConstMatrixMap = Eigen::Map<const MatrixX<Scalar>>;
  using ConstJacobianMap = Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, 3>>;

  Growing<VectorX<Scalar>> free_velocity;              ///< of v*, n_v
  Growing<VectorX<Scalar>> friction;                   ///< of μ, n_c
  Growing<VectorX<Scalar>> regularization;             ///< of (Rₜ, Rₙ), 2 n_c
  Growing<VectorX<Scalar>> bias_velocity;              ///< of v̂, 3 n_c, triples (t₁, t₂, n)
  Growing<VectorX<Scalar>> constraint_regularization;  ///< of R, rows of constraints stacked
  Growing<VectorX<Scalar>> constraint_bias_velocity;   ///< of v̂, rows of constraints stacked
  Growing<VectorX<Scalar>> matrices;  ///< of all A, then of all Jᵀ; empty if not spoken of

  /// Takes the problem's sizes, every number zero.
  /// @note  Allocates only beyond the largest sizes so far.
  void set_zero(const ContactProblem<Scalar>& problem,
                DifferentialParts parts = DifferentialParts::all) {
    const Index contacts = problem.contact_count();
    free_velocity.grow(problem.velocity_count());
    free_velocity.setZero();
    friction.grow(contacts);
    friction.setZero();
    regularization.grow(2 * contacts);
    regularization.setZero();
    bias_velocity.grow(3 * contacts);
    bias_velocity.setZero();
    const ConstraintList<Scalar>& list = problem.constraints();
    constraint_regularization.grow(list.row_count());
    constraint_regularization.setZero();
    constraint_bias_velocity.grow(list.row_count());
    constraint_bias_velocity.setZero();
    lay_out_matrices(problem, parts == DifferentialParts::all);
  }

  /// Whether A and J are spoken of.
  [[nodiscard]] bool has_matrices() const noexcept { return matrices.size() > 0; }
  /// Whether all sizes are the problem's.
  [[nodiscard]] bool fits(const ContactProblem<Scalar>& problem) const noexcept {
    const Index contacts = problem.contact_count(), rows = problem.constraints().row_count();
    bool same = free_velocity.size() == problem.velocity_count() && friction.size() == contacts &&
                regularization.size() == 2 * contacts && bias_velocity.size() == 3 * contacts &&
                constraint_bias_velocity.size() == rows &&
                constraint_regularization.size() == rows && bodies_ == problem.body_count() &&
                sizes_.size() == place(contacts + problem.constraints().count(), 0);
    if (!same || !has_matrices()) return same;
    for_each_matrix(problem,
                    [&](Index at, Index size, Index) { same = same && sizes_[at] == size; });
    Index used = 0;
    for_each_matrix(problem, [&](Index, Index size, Index columns) { used += size * columns; });
    return same && used == matrices.size();
  }
  /// Of A of one body, n×n. A change counts by its symmetric part; a gradient is symmetric.
  [[nodiscard]] MatrixMap momentum(Index body) noexcept {
    return {matrices.data() + starts_[body], sizes_[body], sizes_[body]};
  }
  [[nodiscard]] ConstMatrixMap momentum(Index body) const noexcept {
    return {matrices.data() + starts_[body], sizes_[body], sizes_[body]};
  }
  /// Of Jᵀ of one side of a contact, size × 3 as ContactProblem::jacobian().
  [[nodiscard]] JacobianMap jacobian(Index contact, int side) noexcept {
    return {matrices.data() + starts_[place(contact, side)], sizes_[place(contact, side)], 3};
  }
  [[nodiscard]] ConstJacobianMap jacobian(Index contact, int side) const noexcept {
    return {matrices.data() + starts_[place(contact, side)], sizes_[place(contact, side)], 3};
  }
  /// Of Jᵀ of one side of a constraint, size × 3, as ConstraintList::jacobian(); columns beyond the
  /// rows are zero.
  [[nodiscard]] JacobianMap constraint_jacobian(Index constraint, int side, int part) noexcept {
    const Index at = constraint_place(constraint, side);
    return {matrices.data() + starts_[at] + sizes_[at] * Index(3 * part), sizes_[at], 3};
  }
  [[nodiscard]] ConstJacobianMap constraint_jacobian(Index constraint, int side,
                                                     int part) const noexcept {
    const Index at = constraint_place(constraint, side);
    return {matrices.data() + starts_[at] + sizes_[at] * Index(3 * part), sizes_[at], 3};
  }

  /// Σ of all products, number by number, over what both speak of.
  [[nodiscard]] Scalar dot(const ProblemDifferential& other) const noexcept {
    Scalar sum = free_velocity.dot(other.free_velocity) + friction.dot(other.friction) +
                 regularization.dot(other.regularization) + bias_velocity.dot(other.bias_velocity) +
                 constraint_regularization.dot(other.constraint_regularization) +
                 constraint_bias_velocity.dot(other.constraint_bias_velocity);
    if (has_matrices() && other.has_matrices()) sum += matrices.dot(other.matrices);
    return sum;
  }

 private:
  [[nodiscard]] Index place(Index contact, int side) const noexcept {
    return bodies_ + 2 * contact + side;
  }
  [[nodiscard]] Index constraint_place(Index constraint, int side) const noexcept {
    return place(friction.size() + constraint, side);
  }
  /// Calls visit(place, rows, columns) for every A and every Jᵀ of the problem.
  template <typename Visit>
  void for_each_matrix(const ContactProblem<Scalar>& problem, Visit&& visit) const noexcept {
    const ConstraintList<Scalar>& list = problem.constraints();
    const auto size_of = [&](Index body) { return problem.body(body).size; };
    for (Index b = 0; b < problem.body_count(); ++b) visit(b, size_of(b), size_of(b));
    for (Index i = 0; i < problem.contact_count(); ++i) {
      for (int side = 0; side < problem.side_count(i); ++side) {
        visit(place(i, side), size_of(problem.side_body(i, side)), Index(3));
      }
    }
    for (Index c = 0; c < list.count(); ++c) {
      for (int side = 0; side < list.side_count(c); ++side) {
        visit(constraint_place(c, side), size_of(list.side_body(c, side)),
              3 * Index(list.parts(c)));
      }
    }
  }
  void lay_out_matrices(const ContactProblem<Scalar>& problem, bool wanted) {
    bodies_ = problem.body_count();
    starts_.assign(place(problem.contact_count() + problem.constraints().count(), 0), 0);
    sizes_.assign(starts_.size(), 0);
    Index next = 0;
    if (wanted) {
      for_each_matrix(problem, [&](Index at, Index size, Index columns) {
        starts_[at] = next;
        sizes_[at] = size;
        next += size * columns;
      });
    }
    matrices.grow(next);
    matrices.setZero();
  }

  Index bodies_ = 0;
  Sequence<Index> starts_, sizes_;  ///< per body, then per side of every contact and constraint
};

}  // namespace carom::inline CAROM_ABI
