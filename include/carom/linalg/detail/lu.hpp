// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <utility>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// LU factorisation with row exchanges of a small square matrix: P A = L U, column by column.
///
/// ```
/// carom::LuFactor<double> lu;
/// lu.prepare(n);                    // cold
/// if (lu.factor(a)) lu.solve(x);    // hot: x = A⁻¹ b in place
/// ```
template <RealScalar Scalar>
class LuFactor {
 public:
  /// Grows memory for matrices up to n×n. Cold: allocates.
  void prepare(Index size) {
    if (factor_.size() < size * size) factor_.resize(size * size);
    if (exchanges_.size() < size) exchanges_.resize(size);
  }

  [[nodiscard]] Index size() const noexcept { return size_; }

  /// Factors the leading size×size block of a matrix, which stays as it is.
  /// @return  false when a pivot is zero or not a number; solve() is then not allowed.
  /// @note  Real-time safe once prepared: no allocation, no exception, size³/3 multiply-adds.
  [[nodiscard]] bool factor(const MatrixX<Scalar>& matrix, Index size) noexcept {
    using std::abs;
    CAROM_EXPECTS(matrix.rows() >= size && matrix.cols() >= size);
    CAROM_EXPECTS(exchanges_.size() >= size);
    size_ = size;
    const Index n = size;
    Scalar* const a = factor_.data();
    for (Index c = 0; c < n; ++c) {
      const Scalar* const from = matrix.data() + c * matrix.rows();
      for (Index r = 0; r < n; ++r) a[c * n + r] = from[r];
    }
    for (Index k = 0; k < n; ++k) {
      Scalar* const column = a + k * n;
      Index best = k;
      for (Index r = k + 1; r < n; ++r) {
        if (abs(column[r]) > abs(column[best])) best = r;
      }
      exchanges_(k) = best;
      const Scalar pivot = column[best];
      if (!(abs(pivot) > Scalar(0)) || !(pivot - pivot == Scalar(0))) return false;
      if (best != k) {
        for (Index c = 0; c < n; ++c) std::swap(a[c * n + k], a[c * n + best]);
      }
      const Scalar inverse = Scalar(1) / pivot;
      for (Index r = k + 1; r < n; ++r) column[r] *= inverse;
      for (Index c = k + 1; c < n; ++c) {
        Scalar* const target = a + c * n;
        const Scalar share = target[k];
        if (share == Scalar(0)) continue;
        for (Index r = k + 1; r < n; ++r) target[r] -= share * column[r];
      }
    }
    return true;
  }

  [[nodiscard]] bool factor(const MatrixX<Scalar>& matrix) noexcept {
    return factor(matrix, matrix.rows());
  }

  /// x ← A⁻¹ x for the first size() numbers of x.
  /// @pre   the last factor() returned true.
  /// @note  Real-time safe: no allocation, no exception, size² multiply-adds.
  void solve(Scalar* x) const noexcept {
    const Index n = size_;
    const Scalar* const a = factor_.data();
    for (Index k = 0; k < n; ++k) std::swap(x[k], x[exchanges_(k)]);
    for (Index k = 0; k < n; ++k) {
      const Scalar value = x[k];
      for (Index r = k + 1; r < n; ++r) x[r] -= value * a[k * n + r];
    }
    for (Index k = n - 1; k >= 0; --k) {
      const Scalar value = x[k] /= a[k * n + k];
      for (Index r = 0; r < k; ++r) x[r] -= value * a[k * n + r];
    }
  }

  /// x ← A⁻¹ x for a vector.
  void solve(VectorX<Scalar>& x) const noexcept {
    CAROM_EXPECTS(x.size() >= size_);
    solve(x.data());
  }

 private:
  Index size_ = 0;
  VectorX<Scalar> factor_;
  Eigen::Matrix<Index, Eigen::Dynamic, 1> exchanges_;
};

}  // namespace CAROM_ABI
}  // namespace carom
