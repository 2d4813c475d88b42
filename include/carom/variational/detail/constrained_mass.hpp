// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/detail/lu.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Mass matrix of a system under constraints C v = 0: applies the inverse that turns an impulse
/// into a velocity, v = [M Cᵀ; C 0]⁻¹ (p, 0). An InverseMassLike of the impact room.
template <RealScalar Scalar>
class ConstrainedMass {
 public:
  using scalar_type = Scalar;

  /// Grows memory for n coordinates and up to `rows` constraints. Cold: allocates.
  void prepare(Index size, Index rows) {
    size_ = size;
    matrix_.setZero(size + rows, size + rows);
    work_.setZero(size + rows);
    lu_.prepare(size + rows);
  }

  /// @param mass       M, n×n.
  /// @param gradients  C, its first `rows` rows, independent.
  /// @return  false when the matrix is singular.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  [[nodiscard]] bool factor(const MatrixX<Scalar>& mass, const MatrixX<Scalar>& gradients,
                            Index rows) noexcept {
    CAROM_EXPECTS(mass.rows() == size_ && work_.size() >= size_ + rows);
    rows_ = rows;
    if (rows == 0) return lu_.factor(mass, size_);
    matrix_.topLeftCorner(size_ + rows, size_ + rows).setZero();
    for (Index j = 0; j < size_; ++j) {
      for (Index i = 0; i < size_; ++i) matrix_(i, j) = mass(i, j);
      for (Index k = 0; k < rows; ++k) {
        matrix_(j, size_ + k) = matrix_(size_ + k, j) = gradients(k, j);
      }
    }
    return lu_.factor(matrix_, size_ + rows);
  }

  [[nodiscard]] Index size() const noexcept { return size_; }
  /// How many constraints the last factor() was given.
  [[nodiscard]] Index rows() const noexcept { return rows_; }

  /// (v, κ) with M v + Cᵀκ = p, C v = b from (p, b), in place: the first size() + rows() numbers.
  /// @pre  the last factor() returned true.
  void solve(VectorX<Scalar>& x) const noexcept { lu_.solve(x); }

  /// Velocity from a momentum, in place.
  void apply_inverse(VectorX<Scalar>& momentum) const noexcept {
    CAROM_EXPECTS(momentum.size() == size_);
    for (Index i = 0; i < size_; ++i) work_(i) = momentum(i);
    for (Index k = 0; k < rows_; ++k) work_(size_ + k) = 0;
    solve(work_);
    for (Index i = 0; i < size_; ++i) momentum(i) = work_(i);
  }

  /// κ of the last apply_inverse: M v = p − Cᵀκ.
  [[nodiscard]] Scalar multiplier(Index row) const noexcept { return work_(size_ + row); }

 private:
  Index size_ = 0, rows_ = 0;
  MatrixX<Scalar> matrix_;
  mutable VectorX<Scalar> work_;
  LuFactor<Scalar> lu_;
};

}  // namespace CAROM_ABI
}  // namespace carom
