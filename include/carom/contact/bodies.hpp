// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include <Eigen/Core>

#include "carom/contact/detail/faults.hpp"
#include "carom/core/detail/rollback.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The generalized velocities of a body: their place in the stacked velocity, and their count.
struct BodyRange {
  Index start;
  Index size;
};

/// The bodies of a ContactProblem. A body is a block of generalized velocities with one momentum
/// matrix A: a free rigid body has 6, a robot any number.
///
/// All data are also stored in whitened velocities w = Lᵀ v, A = L Lᵀ, for which the momentum
/// matrix is the identity. Norms of w are kinetic-energy norms.
/// @note  Cold: add_body() may allocate and throws std::invalid_argument, naming the body; a
///        rejected body does not change the others.
template <RealScalar Scalar>
class Bodies {
 public:
  using MatrixMap = Eigen::Map<const MatrixX<Scalar>>;
  using VectorMap = Eigen::Map<const VectorX<Scalar>>;

  /// Adds a body.
  /// @param momentum_matrix  A [kg, kg·m²], n×n, symmetric positive definite.
  /// @param free_velocity    v* [m/s, rad/s], n: the velocity after a step without contact.
  /// @return  index of the body.
  template <typename MatrixType, typename VectorType>
  Index add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                 const Eigen::MatrixBase<VectorType>& free_velocity) {
    return add_body(momentum_matrix, free_velocity, free_velocity, false);
  }
  /// Adds a body with its velocity before the step. Restitution needs this velocity for the
  /// approach.
  /// @param velocity_now  [m/s, rad/s], n.
  template <typename MatrixType, typename VectorType, typename NowType>
  Index add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                 const Eigen::MatrixBase<VectorType>& free_velocity,
                 const Eigen::MatrixBase<NowType>& velocity_now) {
    return add_body(momentum_matrix, free_velocity, velocity_now, true);
  }

  /// The fault for which add_body() would throw; empty if there is none.
  template <typename MatrixType, typename VectorType>
  [[nodiscard]] Fault check_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                                 const Eigen::MatrixBase<VectorType>& free_velocity) const {
    Sequence<Scalar> matrix, velocity, factor;
    const Entries given = write(momentum_matrix, 0, matrix),
                  free = write(free_velocity, 0, velocity);
    const std::string item = body_item();
    Fault broken = detail::body_fault(item, given, free);
    return broken.empty() ? factor_body(item, given.rows, matrix.data(), 0, factor) : broken;
  }

  /// Sets a new free velocity of all bodies. Its entries are not checked. Real-time safe: no
  /// allocation, no exception.
  /// @param free_velocity  v* [m/s, rad/s], n_v, stacked over the bodies, finite.
  void set_free_velocity(std::span<const Scalar> free_velocity) noexcept {
    CAROM_EXPECTS(Index(free_velocity.size()) == velocity_count());
    std::copy_n(free_velocity.data(), velocity_count(), free_velocity_.data());
    clear_tiny(0);
    std::copy_n(free_velocity_.data(), velocity_count(), whitened_free_velocity_.data());
    whiten(as_span(whitened_free_velocity_));
  }

  [[nodiscard]] Index body_count() const noexcept { return bodies_.size(); }
  /// Length of the stacked velocity, n_v.
  [[nodiscard]] Index velocity_count() const noexcept { return free_velocity_.size(); }
  [[nodiscard]] BodyRange body(Index body) const noexcept { return at(body).range; }
  /// v*, stacked over the bodies.
  [[nodiscard]] VectorMap free_velocity() const noexcept {
    return {free_velocity_.data(), velocity_count()};
  }
  /// Whether the velocity of a body before the step is known.
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
  /// L of one body. Only its lower triangle is valid.
  [[nodiscard]] MatrixMap momentum_factor(Index body) const noexcept {
    return {factor_.data() + at(body).matrix, at(body).range.size, at(body).range.size};
  }

  /// L⁻¹ Jᵀ of one body in place, for rows of J one after the other.
  void whiten_rows(Index body, Scalar* rows, Index count) const noexcept {
    const auto& [range, matrix, moves, is_diagonal] = at(body);
    const Scalar* const factor = factor_.data() + matrix;
    if (!is_diagonal) return solve_lower(factor, range.size, range.size, rows, count);
    detail::with_count(range.size, [&](auto size) noexcept {
      for (Index c = 0; c < size; ++c) {
        const Scalar inverse = Scalar(1) / factor[c * size + c];
        for (Index r = 0; r < count; ++r) rows[r * size + c] *= inverse;
      }
    });
  }
  /// w = Lᵀ v for n_v numbers, in place.
  void whiten(std::span<Scalar> velocity) const noexcept {
    CAROM_EXPECTS(Index(velocity.size()) == velocity_count());
    for (const Body& b : bodies_) {
      multiply_lower_transposed(factor_.data() + b.matrix, b.range.size, b.range.size,
                                velocity.data() + b.range.start);
    }
  }
  /// v = L⁻ᵀ w for n_v numbers, in place.
  void unwhiten(std::span<Scalar> whitened) const noexcept {
    CAROM_EXPECTS(Index(whitened.size()) == velocity_count());
    for (const Body& b : bodies_) {
      solve_lower_transposed(factor_.data() + b.matrix, b.range.size, b.range.size,
                             whitened.data() + b.range.start);
    }
  }
  /// p ← L⁻¹ p for n_v numbers, in place. The norm of the result is ‖p‖_{A⁻¹} of the momentum p.
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
  using Entries = detail::MatrixEntries<Scalar>;
  struct Body {
    BodyRange range;
    Index matrix;      ///< start of its matrices
    bool moves;        ///< whether its velocity before the step is known
    bool is_diagonal;  ///< whether its momentum matrix is
  };
  template <typename MatrixType, typename VectorType, typename NowType>
  Index add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                 const Eigen::MatrixBase<VectorType>& free_velocity,
                 const Eigen::MatrixBase<NowType>& velocity_now, bool moves) {
    const Index matrix = factor_.size(), start = whitened_free_velocity_.size();
    detail::Rollback rollback([this, matrix, start] {
      for (auto* numbers : {&momentum_, &factor_}) numbers->resize(matrix);
      for (auto* numbers : {&free_velocity_, &velocity_now_, &whitened_free_velocity_}) {
        numbers->resize(start);
      }
    });
    const Entries given = write(momentum_matrix, matrix, momentum_);
    const Entries free = write(free_velocity, start, free_velocity_);
    const Index body = keep_body(given, free, write(velocity_now, start, velocity_now_), moves);
    rollback.keep();
    return body;
  }
  /// Appends the numbers of a matrix to a sequence and returns their place.
  template <typename MatrixType>
  static Entries write(const Eigen::MatrixBase<MatrixType>& matrix, Index start,
                       Sequence<Scalar>& numbers) {
    const Index rows = matrix.rows(), columns = matrix.cols();
    numbers.resize(start + rows * columns);
    detail::write_entries(matrix, 1, rows, numbers.data() + start);
    return {numbers.data() + start, rows, columns, 1, rows, MatrixType::ColsAtCompileTime == 1};
  }
  Index keep_body(const Entries& momentum_matrix, const Entries& free_velocity,
                  const Entries& velocity_now, bool moves);
  /// Sets free velocities from an index on to zero where their squares would vanish in rounding:
  /// relative errors would be 0/0.
  void clear_tiny(Index first) noexcept {
    if constexpr (std::is_floating_point_v<Scalar>) {
      const Scalar tiny = 8 * std::sqrt((std::numeric_limits<Scalar>::min)());  // [m/s, rad/s]
      for (Index i = first; i < free_velocity_.size(); ++i) {
        if (std::abs(free_velocity_[i]) < tiny) free_velocity_[i] = 0;
      }
    }
  }
  [[nodiscard]] static Fault factor_body(const std::string& item, Index size, Scalar* matrix,
                                         Index start, Sequence<Scalar>& factor);
  [[nodiscard]] std::string body_item() const { return "body " + std::to_string(body_count()); }
  [[nodiscard]] const Body& at(Index body) const noexcept { return bodies_[body]; }

  Sequence<Body> bodies_;
  Sequence<Scalar> free_velocity_, whitened_free_velocity_, velocity_now_;
  Sequence<Scalar> momentum_, factor_;
};

// --- implementation ---

/// Makes a momentum matrix symmetric in place, and appends its factor to the factors.
/// @return  the fault of the matrix; empty if there is none.
template <RealScalar Scalar>
Fault Bodies<Scalar>::factor_body(const std::string& item, Index size, Scalar* matrix, Index start,
                                  Sequence<Scalar>& factor) {
  for (Index c = 0; c < size; ++c) {
    for (Index r = c + 1; r < size; ++r) {
      Scalar &lower = matrix[c * size + r], &upper = matrix[r * size + c];
      lower = upper = (lower + upper) / 2;
    }
  }
  factor.resize(start + size * size);
  std::copy(matrix, matrix + size * size, factor.data() + start);
  const bool definite = factor_cholesky(factor.data() + start, size, size);
  return definite ? Fault{} : detail::indefinite_fault(item);
}

/// Adds the body whose matrix and velocities are already appended, or rejects it.
template <RealScalar Scalar>
Index Bodies<Scalar>::keep_body(const Entries& momentum_matrix, const Entries& free_velocity,
                                const Entries& velocity_now, bool moves) {
  const Index matrix = factor_.size(), start = whitened_free_velocity_.size();
  const Index size = momentum_matrix.rows;
  const std::string item = body_item();
  Fault broken = detail::body_fault(item, momentum_matrix, free_velocity);
  if (broken.empty() && moves) broken = detail::velocity_fault(item, free_velocity, velocity_now);
  if (broken.empty()) broken = factor_body(item, size, momentum_.data() + matrix, matrix, factor_);
  detail::reject_if(broken);
  clear_tiny(start);
  whitened_free_velocity_.resize(start + size);
  Scalar* const whitened = whitened_free_velocity_.data() + start;
  std::copy_n(free_velocity_.data() + start, size, whitened);
  multiply_lower_transposed(factor_.data() + matrix, size, size, whitened);
  const Scalar* const factor = factor_.data() + matrix;
  bool is_diagonal = true;
  for (Index c = 0; c < size; ++c) {
    for (Index r = c + 1; r < size; ++r)
      is_diagonal = is_diagonal && factor[c * size + r] == Scalar(0);
  }
  bodies_.push_back({{start, size}, matrix, moves, is_diagonal});
  return body_count() - 1;
}

}  // namespace CAROM_ABI
}  // namespace carom
