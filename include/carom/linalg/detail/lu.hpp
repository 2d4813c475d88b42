// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The diagonal of the factors contains the pivots. Solves divide, such that x ← A⁻¹ A x is exact
/// where the numbers allow it.
struct DivideByPivots {
  template <typename Scalar>
  [[nodiscard]] static const Scalar& kept(const Scalar& pivot, const Scalar&) noexcept {
    return pivot;
  }
  template <typename Number, typename Scalar>
  static void apply(Number& x, const Scalar& kept) noexcept {
    x /= kept;
  }
};

/// The diagonal of the factors contains the reciprocals of the pivots. Solves multiply, which is
/// faster if one factor serves many right-hand sides.
struct MultiplyByReciprocals {
  template <typename Scalar>
  [[nodiscard]] static const Scalar& kept(const Scalar&, const Scalar& reciprocal) noexcept {
    return reciprocal;
  }
  template <typename Number, typename Scalar>
  static void apply(Number& x, const Scalar& kept) noexcept {
    x *= kept;
  }
};

/// P A = L U with row exchanges, in place, column by column. L is below the diagonal without its
/// unit diagonal, U is above, and the diagonal is what Diagonal stores of the pivots.
/// @tparam Diagonal  DivideByPivots or MultiplyByReciprocals.
/// @param a  size×size, stored by columns.
/// @param size  Index, or std::integral_constant if it is known at compile time.
/// @param exchanges  out: for each row, the row that it was exchanged with; size numbers.
/// @return  false when a pivot is zero or not finite, or so small that its reciprocal is not
///          finite.
template <typename Diagonal, typename Size, typename Scalar, typename Place>
[[nodiscard]] bool factor_lu(Scalar* a, Size size, Place* exchanges) noexcept {
  using std::abs;
  const auto n = Index(size);
  for (Index k = 0; k < size; ++k) {
    Scalar* const column = a + k * n;
    Index best = k;
    for (Index r = k + 1; r < size; ++r) {
      if (abs(column[r]) > abs(column[best])) best = r;
    }
    exchanges[k] = Place(best);
    if (best != k) {
      for (Index c = 0; c < size; ++c) std::swap(a[c * n + k], a[c * n + best]);
    }
    const Scalar inverse = Scalar(1) / column[k];
    if (!(inverse - inverse == Scalar(0)) || inverse == Scalar(0)) return false;
    column[k] = Diagonal::kept(Scalar(column[k]), inverse);
    for (Index r = k + 1; r < size; ++r) column[r] *= inverse;
    for (Index c = k + 1; c < size; ++c) {
      Scalar* const target = a + c * n;
      const Scalar share = target[k];
      for (Index r = k + 1; r < size; ++r) target[r] -= share * column[r];
    }
  }
  return true;
}

/// x ← A⁻¹ x with the factors of factor_lu() for the same Diagonal. x contains numbers, or rows of
/// equal length.
template <typename Diagonal, typename Size, typename Scalar, typename Place, typename Number>
void solve_lu(const Scalar* a, Size size, const Place* exchanges, Number* x) noexcept {
  const auto n = Index(size);
  for (Index k = 0; k < size; ++k) {
    if (Index(exchanges[k]) != k) std::swap(x[k], x[exchanges[k]]);
  }
  for (Index k = 0; k < size; ++k) {
    for (Index r = k + 1; r < size; ++r) x[r] -= a[k * n + r] * x[k];
  }
  for (Index k = size - 1; k >= 0; --k) {
    Diagonal::apply(x[k], a[k * n + k]);
    for (Index r = 0; r < k; ++r) x[r] -= a[k * n + r] * x[k];
  }
}

/// x ← A⁻ᵀ x with the same factors.
template <typename Diagonal, typename Size, typename Scalar, typename Place>
void solve_lu_transposed(const Scalar* a, Size size, const Place* exchanges, Scalar* x) noexcept {
  const auto n = Index(size);
  for (Index k = 0; k < size; ++k) {
    for (Index r = 0; r < k; ++r) x[k] -= a[k * n + r] * x[r];
    Diagonal::apply(x[k], a[k * n + k]);
  }
  for (Index k = size - 1; k >= 0; --k) {
    for (Index r = k + 1; r < size; ++r) x[k] -= a[k * n + r] * x[r];
  }
  for (Index k = size - 1; k >= 0; --k) {
    if (Index(exchanges[k]) != k) std::swap(x[k], x[exchanges[k]]);
  }
}

/// The range of the pivots of factors with MultiplyByReciprocals.
template <typename Scalar>
struct PivotSpread {
  Scalar least = std::numeric_limits<Scalar>::infinity(), most = Scalar(0);  ///< of the reciprocals

  void see(const Scalar* factors, Index size) noexcept {
    using std::abs;
    for (Index k = 0; k < size; ++k) {
      const Scalar reciprocal = abs(factors[k * (size + 1)]);
      least = (std::min)(least, reciprocal);
      most = (std::max)(most, reciprocal);
    }
  }
  /// The largest pivot divided by the least, ≥ 1. A solve may lose this multiple of ε. It is 1 if
  /// there are no pivots.
  [[nodiscard]] Scalar ratio() const noexcept {
    return most > Scalar(0) ? most / least : Scalar(1);
  }
};

/// Factors of a Width × Width matrix. A solve with them is accurate in the stiff directions of the
/// matrix. Multiplication by the inverse matrix is not.
template <int Width, typename Scalar>
struct PivotBlock {
  static constexpr std::integral_constant<Index, Width> size{};
  Scalar entries[std::size_t(Width)][std::size_t(Width)];  ///< [column][row]
  int exchanges[std::size_t(Width)];

  /// Factors in place. Returns false when a pivot is zero or not a number.
  [[nodiscard]] bool factor() noexcept {
    return factor_lu<MultiplyByReciprocals>(&entries[0][0], size, exchanges);
  }
  /// x ← D⁻¹ x, for numbers or for packets of numbers.
  template <typename Number>
  void solve(Number (&x)[std::size_t(Width)]) const noexcept {
    solve_lu<MultiplyByReciprocals>(&entries[0][0], size, exchanges, x);
  }
  /// x ← D⁻ᵀ x.
  void solve_transposed(Scalar (&x)[std::size_t(Width)]) const noexcept {
    solve_lu_transposed<MultiplyByReciprocals>(&entries[0][0], size, exchanges, x);
  }
};

/// Inverse of a Width × Width matrix in place.
/// @return  false when a pivot is zero or not a number.
template <int Width, typename Scalar>
[[nodiscard]] bool invert_corner(
    Scalar (&corner)[std::size_t(Width)][std::size_t(Width)]) noexcept {
  PivotBlock<Width, Scalar> block;
  std::copy_n(&corner[0][0], Width * Width, &block.entries[0][0]);
  if (!block.factor()) return false;
  // Rows of the identity, all columns at once, in whole registers.
  using Row = Eigen::Array<Scalar, (Width + 3) / 4 * 4, 1>;
  Row rows[std::size_t(Width)];
  for (int r = 0; r < Width; ++r) {
    rows[r] = Row::Zero();
    rows[r](r) = Scalar(1);
  }
  block.solve(rows);
  for (int c = 0; c < Width; ++c) {
    for (int r = 0; r < Width; ++r) corner[c][r] = rows[r](c);
  }
  return true;
}

}  // namespace detail

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

  /// Factors the leading size×size block of a matrix, which does not change.
  /// @return  false when a pivot is zero or not a number; solve() is then not allowed.
  /// @note  Real-time safe once prepared: no allocation, no exception, size³/3 multiply-adds.
  [[nodiscard]] bool factor(const MatrixX<Scalar>& matrix, Index size) noexcept {
    CAROM_EXPECTS(matrix.rows() >= size && matrix.cols() >= size);
    CAROM_EXPECTS(exchanges_.size() >= size);
    size_ = size;
    const Index n = size;
    for (Index c = 0; c < n; ++c) {
      std::copy_n(matrix.data() + c * matrix.rows(), n, factor_.data() + c * n);
    }
    return detail::factor_lu<detail::DivideByPivots>(factor_.data(), n, exchanges_.data());
  }

  [[nodiscard]] bool factor(const MatrixX<Scalar>& matrix) noexcept {
    return factor(matrix, matrix.rows());
  }

  /// x ← A⁻¹ x for the first size() numbers of x.
  /// @pre   the last factor() returned true.
  /// @note  Real-time safe: no allocation, no exception, size² multiply-adds.
  void solve(Scalar* x) const noexcept {
    detail::solve_lu<detail::DivideByPivots>(factor_.data(), size_, exchanges_.data(), x);
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
