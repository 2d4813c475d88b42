// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_problem.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The data of a problem that a differential contains.
enum class DifferentialParts {
  vectors,  ///< v*, μ, R, v̂: numbers that change from step to step.
  all,      ///< also A and J.
};

/// The result of a linearisation.
template <RealScalar Scalar>
struct [[nodiscard]] LinearizationReport {
  /// converged: products are available. no_progress: the linear system has no factor. not_finite:
  /// the solution is not finite, or leads to numbers that are not finite.
  SolveStatus status = SolveStatus::not_finite;
  /// Count of blocks on a boundary; boundary() of the derivative returns which boundary. If there
  /// are any, the derivative is one-sided.
  Index boundary_count = 0;
  /// CoulombDerivative only: the first block whose velocity or impulse is not finite; −1 if none.
  Index faulty_block = -1;

  [[nodiscard]] constexpr bool usable() const noexcept { return status == SolveStatus::converged; }
};

/// One number for each number of a contact problem's data: a small change of the data, or the
/// gradient of a scalar with respect to the data. The product of the two is the change of the
/// scalar, see dot().
///
/// A gap acts through v̂ₙ, stiffness and dissipation through Rₙ, a mass through A:
/// compliance_derivative.hpp has the factors. The Rₜ of a friction contact appears in two rows: a
/// change has the same number in both rows, and the gradient by Rₜ is their sum. Whether a block is
/// rigid is not a number: R is that of law(), also for a rigid block. The μ of a cone that is not a
/// friction contact appears in each row that it bounds, as Rₜ does.
template <RealScalar Scalar>
struct ProblemDifferential {
  using MatrixMap = Eigen::Map<MatrixX<Scalar>>;
  using ConstMatrixMap = Eigen::Map<const MatrixX<Scalar>>;

  Growing<VectorX<Scalar>> free_velocity;   ///< of v*, n_v
  Growing<VectorX<Scalar>> friction;        ///< of μ, one per block; of friction contacts only
  Growing<VectorX<Scalar>> regularization;  ///< of R, stacked as impulses
  Growing<VectorX<Scalar>> bias_velocity;   ///< of v̂, stacked as impulses
  /// Bounds of a row of a block that is not a friction contact, stacked as impulses: the bounds of
  /// intervals; for cones `upper` is the μ of the row.
  Growing<VectorX<Scalar>> lower, upper;
  Growing<VectorX<Scalar>> matrices;  ///< of all A, then of all Jᵀ; empty if not contained

  /// Sets the sizes of the problem, and all numbers to zero.
  /// @note  Allocates only for sizes larger than all sizes before.
  void set_zero(const ContactProblem<Scalar>& problem,
                DifferentialParts parts = DifferentialParts::all) {
    free_velocity.grow(problem.velocity_count());
    friction.grow(problem.block_count());
    regularization.grow(problem.impulse_count());
    bias_velocity.grow(problem.impulse_count());
    lower.grow(problem.impulse_count());
    upper.grow(problem.impulse_count());
    for (auto* numbers :
         {&free_velocity, &friction, &regularization, &bias_velocity, &lower, &upper}) {
      numbers->setZero();
    }
    lay_out_matrices(problem, parts == DifferentialParts::all);
  }

  /// Whether A and J are contained.
  [[nodiscard]] bool has_matrices() const noexcept { return matrices.size() > 0; }
  /// Whether all sizes are the problem's.
  [[nodiscard]] bool fits(const ContactProblem<Scalar>& problem) const noexcept {
    bool same = free_velocity.size() == problem.velocity_count() &&
                friction.size() == problem.block_count() &&
                regularization.size() == problem.impulse_count() &&
                bias_velocity.size() == problem.impulse_count() &&
                lower.size() == problem.impulse_count() &&
                upper.size() == problem.impulse_count() && bodies_ == problem.body_count() &&
                sizes_.size() == place(friction.size(), 0);
    if (!same || !has_matrices()) return same;
    Index used = 0;
    for_each_matrix(problem, [&](Index at, Index size, Index columns) {
      same = same && sizes_[at] == size && columns_[at] == columns;
      used += size * columns;
    });
    return same && used == matrices.size();
  }
  /// Of A of one body, n×n. Only the symmetric part of a change counts; a gradient is symmetric.
  [[nodiscard]] MatrixMap momentum(Index body) noexcept { return at<MatrixMap>(*this, body); }
  [[nodiscard]] ConstMatrixMap momentum(Index body) const noexcept {
    return at<ConstMatrixMap>(*this, body);
  }
  /// Of J of one side of a block, rows × size as ContactProblem::jacobian().
  [[nodiscard]] auto jacobian(Index block, int side) noexcept {
    return at<MatrixMap>(*this, place(block, side)).transpose();
  }
  [[nodiscard]] auto jacobian(Index block, int side) const noexcept {
    return at<ConstMatrixMap>(*this, place(block, side)).transpose();
  }

  /// Σ of all products, number by number, over the data that both contain.
  [[nodiscard]] Scalar dot(const ProblemDifferential& other) const noexcept {
    Scalar sum = free_velocity.dot(other.free_velocity) + friction.dot(other.friction) +
                 regularization.dot(other.regularization) + bias_velocity.dot(other.bias_velocity) +
                 lower.dot(other.lower) + upper.dot(other.upper);
    if (has_matrices() && other.has_matrices()) sum += matrices.dot(other.matrices);
    return sum;
  }

 private:
  [[nodiscard]] Index place(Index block, int side) const noexcept {
    return bodies_ + 2 * block + side;
  }
  template <typename Map, typename Self>
  [[nodiscard]] static Map at(Self& self, Index place) noexcept {
    return {self.matrices.data() + self.starts_[place], self.sizes_[place], self.columns_[place]};
  }
  /// Calls visit(place, rows, columns) for each A and each Jᵀ of the problem.
  template <typename Visit>
  void for_each_matrix(const ContactProblem<Scalar>& problem, Visit&& visit) const noexcept {
    const auto size_of = [&](Index body) { return problem.body(body).size; };
    for (Index b = 0; b < problem.body_count(); ++b) visit(b, size_of(b), size_of(b));
    for (Index i = 0; i < problem.block_count(); ++i) {
      for (int side = 0; side < problem.side_count(i); ++side) {
        visit(place(i, side), size_of(problem.side_body(i, side)), Index(problem.rows(i)));
      }
    }
  }
  void lay_out_matrices(const ContactProblem<Scalar>& problem, bool wanted) {
    bodies_ = problem.body_count();
    for (auto* numbers : {&starts_, &sizes_, &columns_}) {
      numbers->assign(place(problem.block_count(), 0), 0);
    }
    Index next = 0;
    if (wanted) {
      for_each_matrix(problem, [&](Index at, Index size, Index columns) {
        starts_[at] = next;
        sizes_[at] = size;
        columns_[at] = columns;
        next += size * columns;
      });
    }
    matrices.grow(next);
    matrices.setZero();
  }

  Index bodies_ = 0;
  Sequence<Index> starts_, sizes_, columns_;  ///< per body, then per side of each block
};

}  // namespace CAROM_ABI
}  // namespace carom
