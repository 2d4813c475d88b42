// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/QR>

#include "carom/contact/contact_problem.hpp"
#include "carom/solvers/answer/infeasibility_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A direction of a contact's impulse, and how much of it is in a ray.
template <RealScalar Scalar>
struct RayTerm {
  Index contact;
  RowNumbers<Scalar> direction;
  Scalar amount;
};

/// Changes the amounts of the terms of a ray until Jᵀr is zero to rounding, body by body. The
/// change is the least one relative to the amounts, by steps of Newton whose residual is summed
/// anew, so that the ray gets the digits that a Gram matrix does not have.
/// @note  Cold: allocates; work grows with the cube of the terms.
template <RealScalar Scalar>
class RayPolish {
 public:
  explicit RayPolish(const ContactProblem<Scalar>& problem) : problem_(problem) {}

  void improve(std::vector<RayTerm<Scalar>>& terms) {
    for (int step = 0; step < InfeasibilityTuning::polish_steps; ++step) {
      measure(terms);
      if (!correct(terms)) return;
    }
    measure(terms);
  }
  /// Σ |r_k| ‖J_k‖_{A⁻¹} of each body, of the terms of the last call.
  [[nodiscard]] const VectorX<Scalar>& gross() const noexcept { return gross_; }

  [[nodiscard]] VectorX<Scalar> ray_of(const std::vector<RayTerm<Scalar>>& terms) const {
    VectorX<Scalar> ray = VectorX<Scalar>::Zero(problem_.impulse_count());
    for (const RayTerm<Scalar>& t : terms) {
      problem_.visit(t.contact, [&](const auto& block) {
        ray.segment(block.first_row(), block.rows()) += t.amount * t.direction.head(block.rows());
      });
    }
    return ray;
  }

 private:
  /// L⁻¹Jᵀr and the gross momenta of the bodies.
  void measure(const std::vector<RayTerm<Scalar>>& terms) {
    const VectorX<Scalar> ray = ray_of(terms);
    momentum_.setZero(problem_.velocity_count());
    gross_.setZero(problem_.body_count());
    for (const RayTerm<Scalar>& t : terms) touched_.push_back(t.contact);
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const Index contact : touched_) {
      problem_.visit(contact, [&](const auto& block) {
        block.add_momentum(block.read(ray), momentum_);
        for (int s = 0; s < block.side_count(); ++s) {
          const auto columns = block.whitened_columns(s);
          for (int r = 0; r < block.rows(); ++r) {
            gross_(block.side(s).body) +=
                std::abs(ray(block.first_row() + r)) * columns.col(r).norm();
          }
        }
      });
    }
    touched_.clear();
    problem_.whiten_momentum(as_span(momentum_));
  }
  /// One step. @return false where nothing is left to do, or cannot be done.
  bool correct(std::vector<RayTerm<Scalar>>& terms) {
    using std::sqrt;
    std::vector<Index> place(std::size_t(problem_.body_count()), -1);
    Index rows = 0;
    Scalar worst(0);
    for (Index b = 0; b < problem_.body_count(); ++b) {
      const auto [start, size] = problem_.body(b);
      if (!(gross_(b) > Scalar(0))) continue;
      worst = (std::max)(worst, Scalar(momentum_.segment(start, size).norm() / gross_(b)));
      place[std::size_t(b)] = rows;
      rows += size;
    }
    if (!(worst > std::numeric_limits<Scalar>::epsilon()) || !is_finite(worst)) return false;
    MatrixX<Scalar> slopes = MatrixX<Scalar>::Zero(rows, Index(terms.size()));
    VectorX<Scalar> left(rows);
    for (Index b = 0; b < problem_.body_count(); ++b) {
      const auto [start, size] = problem_.body(b);
      if (place[std::size_t(b)] < 0) continue;
      left.segment(place[std::size_t(b)], size) = -momentum_.segment(start, size) / gross_(b);
    }
    for (std::size_t k = 0; k < terms.size(); ++k) {
      problem_.visit(terms[k].contact, [&](const auto& block) {
        for (int s = 0; s < block.side_count(); ++s) {
          const Index body = block.side(s).body, at = place[std::size_t(body)];
          if (at < 0) continue;
          slopes.col(Index(k)).segment(at, block.side(s).range.size) +=
              block.whitened_columns(s).lazyProduct(terms[k].direction.head(block.rows())) *
              (terms[k].amount / gross_(body));
        }
      });
    }
    const VectorX<Scalar> change = slopes.completeOrthogonalDecomposition().solve(left);
    if (!change.allFinite()) return false;
    // What a step leaves next to nothing of has no partner to cancel with.
    const Scalar least = sqrt(std::numeric_limits<Scalar>::epsilon());
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const Scalar left_over = Scalar(1) + change(Index(k));
      terms[k].amount *= left_over > least ? left_over : Scalar(0);
    }
    return true;
  }

  const ContactProblem<Scalar>& problem_;
  VectorX<Scalar> momentum_, gross_;
  std::vector<Index> touched_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
