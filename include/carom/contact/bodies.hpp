// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/detail/faults.hpp"
#include "carom/linalg/detail/cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A body's generalized velocities: their place in the stacked velocity, and their number.
struct BodyRange {
  Index start;
  Index size;
};

/// The bodies of a ContactProblem. A body is a block of generalized velocities with one momentum
/// matrix A: a free rigid body has 6, a robot any number.
///
/// All data are kept in whitened velocities w = Lᵀ v, A = L Lᵀ, too, where the momentum matrix is
/// the identity. Norms of w are kinetic-energy norms.
/// @note  Cold: add_body() may allocate and throws std::invalid_argument, naming the body; a
///        refused body leaves the others as they were.
template <RealScalar Scalar>
class Bodies {
 public:
  using MatrixMap = Eigen::Map<const MatrixX<Scalar>>;
  using VectorMap = Eigen::Map<const VectorX<Scalar>>;

  /// Adds a body.
  /// @param momentum_matrix  A [kg, kg·m²], n×n, symmetric positive definite.
  /// @param free_velocity    v* [m/s, rad/s], n: the step's outcome if nothing touched.
  /// @return  index of the body.
  template <typename MatrixType, typename VectorType>
  Index add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                 const Eigen::MatrixBase<VectorType>& free_velocity) {
    return add_body(momentum_matrix, free_velocity, free_velocity, false);
  }
  /// Adds a body and says how it moves before the step, from which restitution takes the approach.
  /// @param velocity_now  [m/s, rad/s], n.
  template <typename MatrixType, typename VectorType, typename NowType>
  Index add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                 const Eigen::MatrixBase<VectorType>& free_velocity,
                 const Eigen::MatrixBase<NowType>& velocity_now) {
    return add_body(momentum_matrix, free_velocity, velocity_now, true);
  }

  /// What add_body() would object to, or nothing.
  template <typename MatrixType, typename VectorType>
  [[nodiscard]] Fault check_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                                 const Eigen::MatrixBase<VectorType>& free_velocity) const {
    const std::string item = "body " + std::to_string(body_count());
    Fault entries = detail::body_fault(item, momentum_matrix, free_velocity);
    if (!entries.empty()) return entries;
    MatrixX<Scalar> lower = (momentum_matrix + momentum_matrix.transpose()) / Scalar(2);
    const bool definite = factor_cholesky(lower.data(), lower.rows(), lower.rows());
    return definite ? Fault{} : detail::indefinite_fault(item);
  }

  /// Gives all bodies another free velocity, of which no entry is checked. Real-time safe: no
  /// allocation, no exception.
  /// @param free_velocity  v* [m/s, rad/s], n_v, stacked over the bodies, finite.
  void set_free_velocity(std::span<const Scalar> free_velocity) noexcept {
    CAROM_EXPECTS(Index(free_velocity.size()) == velocity_count());
    std::copy(free_velocity.begin(), free_velocity.end(), free_velocity_.begin());
    std::copy(free_velocity.begin(), free_velocity.end(), whitened_free_velocity_.begin());
    whiten(whitened_free_velocity_);
  }

  [[nodiscard]] Index body_count() const noexcept { return Index(bodies_.size()); }
  /// Length of the stacked velocity, n_v.
  [[nodiscard]] Index velocity_count() const noexcept { return Index(free_velocity_.size()); }
  [[nodiscard]] BodyRange body(Index body) const noexcept { return at(body).range; }
  /// v*, stacked over the bodies.
  [[nodiscard]] VectorMap free_velocity() const noexcept {
    return {free_velocity_.data(), velocity_count()};
  }
  /// Whether a body was given its velocity before the step.
  [[nodiscard]] bool has_velocity_now(Index body) const noexcept { return at(body).moves; }
  /// The velocity of one body before the step.
  /// @pre  has_velocity_now(body).
  [[nodiscard]] VectorMap velocity_now(Index body) const noexcept {
    CAROM_EXPECTS(has_velocity_now(body));
    return {velocity_now_.data() + at(body).range.start, at(body).range.size};
  }
  /// w* = Lᵀ v*.
  [[nodiscard]] VectorMap whitened_free_velocity() const noexcept {
    return {whitened_free_velocity_.data(), velocity_count()};
  }
  /// A of one body.
  [[nodiscard]] MatrixMap momentum_matrix(Index body) const noexcept {
    return {momentum_.data() + at(body).matrix, at(body).range.size, at(body).range.size};
  }
  /// L of one body; only its lower triangle has meaning.
  [[nodiscard]] MatrixMap momentum_factor(Index body) const noexcept {
    return {factor_.data() + at(body).matrix, at(body).range.size, at(body).range.size};
  }

  /// w = Lᵀ v of n_v numbers, in place.
  void whiten(std::span<Scalar> velocity) const noexcept {
    CAROM_EXPECTS(Index(velocity.size()) == velocity_count());
    for (const Body& b : bodies_) {
      multiply_lower_transposed(factor_.data() + b.matrix, b.range.size, b.range.size,
                                velocity.data() + b.range.start);
    }
  }
  /// v = L⁻ᵀ w of n_v numbers, in place.
  void unwhiten(std::span<Scalar> whitened) const noexcept {
    CAROM_EXPECTS(Index(whitened.size()) == velocity_count());
    for (const Body& b : bodies_) {
      solve_lower_transposed(factor_.data() + b.matrix, b.range.size, b.range.size,
                             whitened.data() + b.range.start);
    }
  }
  /// p ← L⁻¹ p of n_v numbers, in place: ‖p‖_{A⁻¹} of a momentum is the norm of the result.
  void whiten_momentum(std::span<Scalar> momentum) const noexcept {
    CAROM_EXPECTS(Index(momentum.size()) == velocity_count());
    for (const Body& b : bodies_) {
      solve_lower(factor_.data() + b.matrix, b.range.size, b.range.size,
                  momentum.data() + b.range.start);
    }
  }

 protected:
  void clear_bodies() noexcept {
    bodies_.clear();
    for (auto* values :
         {&free_velocity_, &whitened_free_velocity_, &velocity_now_, &momentum_, &factor_}) {
      values->clear();
    }
  }

 private:
  struct Body {
    BodyRange range;
    Index matrix;  ///< where its matrices start
    bool moves;    ///< whether its velocity before the step is known
  };
  template <typename MatrixType, typename VectorType, typename NowType>
  Index add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                 const Eigen::MatrixBase<VectorType>& free_velocity,
                 const Eigen::MatrixBase<NowType>& velocity_now, bool moves);
  [[nodiscard]] const Body& at(Index body) const noexcept { return bodies_[std::size_t(body)]; }

  std::vector<Body> bodies_;
  std::vector<Scalar> free_velocity_, whitened_free_velocity_, velocity_now_;
  std::vector<Scalar> momentum_, factor_;
};

// --- implementation ---

template <RealScalar Scalar>
template <typename MatrixType, typename VectorType, typename NowType>
Index Bodies<Scalar>::add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                               const Eigen::MatrixBase<VectorType>& free_velocity,
                               const Eigen::MatrixBase<NowType>& velocity_now, bool moves) {
  const std::string item = "body " + std::to_string(body_count());
  detail::reject_if(detail::body_fault(item, momentum_matrix, free_velocity));
  if (moves) detail::reject_if(detail::velocity_fault(item, free_velocity, velocity_now));
  const Index size = momentum_matrix.rows();
  const std::size_t matrix = momentum_.size();
  const std::size_t start = free_velocity_.size();
  momentum_.resize(matrix + std::size_t(size * size));
  factor_.resize(momentum_.size());
  Eigen::Map<MatrixX<Scalar>> kept(momentum_.data() + matrix, size, size);
  for (Index k = 0; k < size * size; ++k) {
    const Index r = k % size, c = k / size;
    kept(r, c) = (momentum_matrix(r, c) + momentum_matrix(c, r)) / 2;
  }
  Scalar* const lower = factor_.data() + matrix;
  Eigen::Map<MatrixX<Scalar>>(lower, size, size) = kept;
  if (!factor_cholesky(lower, size, size)) {
    momentum_.resize(matrix);
    factor_.resize(matrix);
    detail::reject_if(detail::indefinite_fault(item));
  }
  free_velocity_.resize(start + std::size_t(size));
  whitened_free_velocity_.resize(free_velocity_.size());
  velocity_now_.resize(free_velocity_.size());
  for (Index i = 0; i < size; ++i) {
    const std::size_t place = start + std::size_t(i);
    free_velocity_[place] = whitened_free_velocity_[place] = free_velocity(i);
    velocity_now_[place] = velocity_now(i);
  }
  multiply_lower_transposed(lower, size, size, whitened_free_velocity_.data() + start);
  bodies_.push_back({{Index(start), size}, Index(matrix), moves});
  return body_count() - 1;
}

}  // namespace CAROM_ABI
}  // namespace carom
