// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Eigenvalues and eigenvectors of a symmetric matrix, S = V diag(s) Vᵀ. Householder reflections
/// reduce S to tridiagonal form, then implicit QL steps with Wilkinson's shift make it diagonal.
/// The memory stays allocated when the size decreases.
///
/// ```
/// carom::SymmetricEigen<double> eigen;
/// eigen.prepare(n);                                            // cold
/// eigen.matrix() = s; if (eigen.solve()) use(eigen.values(), eigen.vectors());  // hot
/// ```
/// @tparam Size  n if it is known at compile time; then prepare() is not needed and nothing
///               allocates.
/// @cite  golub2013matrix, sections 8.3.1 and 8.3.5
template <RealScalar Scalar, int Size = Eigen::Dynamic>
class SymmetricEigen {
 public:
  using Matrix = std::conditional_t<Size == Eigen::Dynamic, Growing<MatrixX<Scalar>>,
                                    Eigen::Matrix<Scalar, Size, Size>>;
  using Vector = std::conditional_t<Size == Eigen::Dynamic, Growing<VectorX<Scalar>>,
                                    Eigen::Matrix<Scalar, Size, 1>>;

  /// Sets the size n×n. Cold: allocates if n is larger than every size before.
  void prepare(Index size) requires(Size == Eigen::Dynamic) {
    matrix_.grow(size, size);
    vectors_.grow(size, size);
    for (auto* v : {&values_, &off_, &image_, &betas_}) v->grow(size);
  }

  /// The matrix to decompose, all n² entries. solve() overwrites it.
  [[nodiscard]] Matrix& matrix() noexcept { return matrix_; }

  /// @return  false when the matrix is not finite.
  /// @note  Real-time safe once prepared: no allocation, no exception, about 9 n³ multiply-adds.
  [[nodiscard]] bool solve() noexcept {
    using std::abs, std::ilogb, std::ldexp;
    if (!matrix_.allFinite()) return false;
    const Scalar largest = matrix_.size() > 0 ? matrix_.cwiseAbs().maxCoeff() : Scalar(0);
    // Scales by a power of two where squares would overflow or underflow.
    int power = largest > Scalar(0) ? ilogb(largest) : 0;
    if (abs(power) <= std::numeric_limits<Scalar>::max_exponent / 8) power = 0;
    scale(matrix_, -power);
    const Scalar negligible = rounding * rounding * ldexp(largest, -power);
    make_tridiagonal(negligible);
    diagonalise(negligible);
    scale(values_, power);
    return true;
  }

  /// Eigenvalues in no particular order [unit of S]. Their errors are of the order of the rounding
  /// of the largest one.
  [[nodiscard]] const Vector& values() const noexcept { return values_; }
  /// Columns v_i, orthonormal.
  [[nodiscard]] const Matrix& vectors() const noexcept { return vectors_; }

 private:
  static constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();

  template <typename Numbers>
  static void scale(Numbers& numbers, int power) noexcept {
    using std::ldexp;
    if (power == 0) return;
    for (Index i = 0; i < numbers.size(); ++i) {
      numbers.data()[i] = ldexp(numbers.data()[i], power);
    }
  }

  /// Reduces S = Q T Qᵀ. T is written to values_ and off_, Q to vectors_.
  /// @param negligible  columns shorter than this count as zero, because their squares may
  ///                    underflow.
  void make_tridiagonal(const Scalar& negligible) noexcept {
    using std::sqrt;
    const Index n = matrix_.rows();
    for (Index k = 0; k + 2 < n; ++k) {
      const Index rest = n - k - 1;
      Scalar* const v = matrix_.data() + k * n + k + 1;  // the column below the diagonal
      const Scalar tail = Eigen::Map<VectorX<Scalar>>(v + 1, rest - 1).squaredNorm();
      const Scalar head = v[0];
      values_(k) = matrix_(k, k);
      betas_(k) = Scalar(0);
      off_(k) = head;
      if (!(tail > negligible * negligible)) continue;
      const Scalar length = sqrt(head * head + tail);
      off_(k) = head > Scalar(0) ? -length : length;
      v[0] = head - off_(k);
      const Scalar beta = betas_(k) = Scalar(2) / (v[0] * v[0] + tail);
      // A ← H A H with H = 1 − β v vᵀ: A − v wᵀ − w vᵀ, w = p − ½β (pᵀv) v, p = β A v.
      Scalar* const w = image_.data();
      std::fill(w, w + rest, Scalar(0));
      for (Index c = 0; c < rest; ++c) {
        const Scalar* const column = matrix_.data() + (k + 1 + c) * n + k + 1;
        const Scalar weight = beta * v[c];
        for (Index r = 0; r < rest; ++r) w[r] += weight * column[r];
      }
      Scalar along(0);
      for (Index r = 0; r < rest; ++r) along += w[r] * v[r];
      along *= beta / 2;
      for (Index r = 0; r < rest; ++r) w[r] -= along * v[r];
      for (Index c = 0; c < rest; ++c) {
        Scalar* const column = matrix_.data() + (k + 1 + c) * n + k + 1;
        const Scalar left = w[c], right = v[c];
        for (Index r = 0; r < rest; ++r) column[r] -= v[r] * left + w[r] * right;
      }
    }
    if (n >= 2) {
      values_(n - 2) = matrix_(n - 2, n - 2);
      off_(n - 2) = matrix_(n - 1, n - 2);
    }
    if (n >= 1) values_(n - 1) = matrix_(n - 1, n - 1);
    accumulate();
  }

  void accumulate() noexcept {
    const Index n = matrix_.rows();
    vectors_.setIdentity();
    for (Index k = n - 3; k >= 0; --k) {
      const Scalar beta = betas_(k);
      if (beta == Scalar(0)) continue;
      const Index rest = n - k - 1;
      const Scalar* const v = matrix_.data() + k * n + k + 1;
      for (Index c = k + 1; c < n; ++c) {
        Scalar* const column = vectors_.data() + c * n + k + 1;
        Scalar sum(0);
        for (Index r = 0; r < rest; ++r) sum += v[r] * column[r];
        sum *= beta;
        for (Index r = 0; r < rest; ++r) column[r] -= sum * v[r];
      }
    }
  }

  void diagonalise(const Scalar& negligible) noexcept {
    using std::abs;
    const Index n = matrix_.rows();
    const auto is_linked = [&](Index i) {
      return abs(off_(i)) > negligible + rounding * (abs(values_(i)) + abs(values_(i + 1)));
    };
    for (Index low = 0; low < n; ++low) {
      for (int sweep = 0; sweep < 60; ++sweep) {
        Index high = low;
        while (high + 1 < n && is_linked(high)) ++high;
        if (high == low) break;
        step(low, high);
      }
    }
  }

  /// One implicit QL step on the rows low to high.
  void step(Index low, Index high) noexcept {
    using std::sqrt;
    const Index n = matrix_.rows();
    const Scalar half = (values_(low + 1) - values_(low)) / (2 * off_(low));
    const Scalar root = sqrt(half * half + Scalar(1));
    Scalar g =
        values_(high) - values_(low) + off_(low) / (half + (half < Scalar(0) ? -root : root));
    Scalar sine(1), cosine(1), shift(0);
    for (Index i = high - 1; i >= low; --i) {
      const Scalar f = sine * off_(i), b = cosine * off_(i);
      const Scalar length = sqrt(f * f + g * g);
      off_(i + 1) = length;
      if (!(length > Scalar(0))) {  // underflow: the matrix splits here
        values_(i + 1) -= shift;
        off_(high) = Scalar(0);
        return;
      }
      const Scalar inverse = Scalar(1) / length;
      sine = f * inverse;
      cosine = g * inverse;
      g = values_(i + 1) - shift;
      const Scalar r = (values_(i) - g) * sine + 2 * cosine * b;
      shift = sine * r;
      values_(i + 1) = g + shift;
      g = cosine * r - b;
      Scalar* const left = vectors_.data() + i * n;
      Scalar* const right = left + n;
      for (Index k = 0; k < n; ++k) {
        const Scalar x = left[k], y = right[k];
        right[k] = sine * x + cosine * y;
        left[k] = cosine * x - sine * y;
      }
    }
    values_(low) -= shift;
    off_(low) = g;
    off_(high) = Scalar(0);
  }

  Matrix matrix_, vectors_;
  Vector values_, off_, image_, betas_;
};

}  // namespace CAROM_ABI
}  // namespace carom
