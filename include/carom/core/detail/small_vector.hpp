// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A vector of a few numbers for use inside a formula. Its sums and products are vectors and not
/// expression templates, so a formula compiles as fast as the functions that it calls. Problems and
/// answers use Eigen's types.
template <typename Scalar, int Size>
struct SmallVector {
  Scalar numbers[Size] = {};

  [[nodiscard]] static constexpr int size() noexcept { return Size; }
  [[nodiscard]] Scalar* data() noexcept { return numbers; }
  [[nodiscard]] const Scalar* data() const noexcept { return numbers; }
  [[nodiscard]] Scalar& operator()(int i) noexcept { return numbers[i]; }
  [[nodiscard]] const Scalar& operator()(int i) const noexcept { return numbers[i]; }

  /// Reads the first Size numbers at an address.
  [[nodiscard]] static SmallVector at(const Scalar* from) noexcept {
    SmallVector result;
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) result.numbers[i] = from[i];
    return result;
  }
  /// The same number in every entry.
  [[nodiscard]] static SmallVector filled(const Scalar& number) noexcept {
    SmallVector result;
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) result.numbers[i] = number;
    return result;
  }
  void write_to(Scalar* to) const noexcept {
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) to[i] = numbers[i];
  }

  [[nodiscard]] bool is_zero() const noexcept {
    for (const Scalar& number : numbers) {
      if (!(number == Scalar(0))) return false;
    }
    return true;
  }
  [[nodiscard]] Scalar dot(const SmallVector& other) const noexcept {
    Scalar sum(0);
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) sum += numbers[i] * other.numbers[i];
    return sum;
  }
  [[nodiscard]] Scalar sum() const noexcept {
    Scalar result(0);
    for (const Scalar& number : numbers) result += number;
    return result;
  }
  [[nodiscard]] Scalar squared_norm() const noexcept { return dot(*this); }
  [[nodiscard]] Scalar norm() const noexcept {
    using std::sqrt;
    return sqrt(squared_norm());
  }

  SmallVector& operator+=(const SmallVector& other) noexcept {
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) numbers[i] += other.numbers[i];
    return *this;
  }
  SmallVector& operator-=(const SmallVector& other) noexcept {
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) numbers[i] -= other.numbers[i];
    return *this;
  }
  SmallVector& operator*=(const Scalar& factor) noexcept {
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) numbers[i] *= factor;
    return *this;
  }
  SmallVector& operator/=(const Scalar& divisor) noexcept {
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) numbers[i] /= divisor;
    return *this;
  }
  [[nodiscard]] friend SmallVector operator+(SmallVector a, const SmallVector& b) noexcept {
    return a += b;
  }
  [[nodiscard]] friend SmallVector operator-(SmallVector a, const SmallVector& b) noexcept {
    return a -= b;
  }
  [[nodiscard]] friend SmallVector operator-(SmallVector a) noexcept { return a *= Scalar(-1); }
  [[nodiscard]] friend SmallVector operator*(const Scalar& factor, SmallVector a) noexcept {
    return a *= factor;
  }
  [[nodiscard]] friend SmallVector operator/(SmallVector a, const Scalar& divisor) noexcept {
    return a /= divisor;
  }
  /// a ∘ b, entry by entry.
  [[nodiscard]] friend SmallVector products(SmallVector a, const SmallVector& b) noexcept {
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) a.numbers[i] *= b.numbers[i];
    return a;
  }
  /// a / b, entry by entry.
  [[nodiscard]] friend SmallVector quotients(SmallVector a, const SmallVector& b) noexcept {
    CAROM_UNROLL
    for (int i = 0; i < Size; ++i) a.numbers[i] /= b.numbers[i];
    return a;
  }
};

/// A square matrix of a few numbers for use inside a formula, stored by columns. It is the matrix
/// type to SmallVector.
template <typename Scalar, int Size>
struct SmallMatrix {
  using Column = SmallVector<Scalar, Size>;
  Column columns[Size];

  [[nodiscard]] Scalar& operator()(int row, int column) noexcept { return columns[column](row); }
  [[nodiscard]] const Scalar& operator()(int row, int column) const noexcept {
    return columns[column](row);
  }
  [[nodiscard]] static SmallMatrix identity() noexcept {
    SmallMatrix result;
    for (int i = 0; i < Size; ++i) result(i, i) = Scalar(1);
    return result;
  }
  [[nodiscard]] bool is_zero() const noexcept {
    for (const Column& column : columns) {
      if (!column.is_zero()) return false;
    }
    return true;
  }

  [[nodiscard]] friend Column operator*(const SmallMatrix& a, const Column& x) noexcept {
    Column result;
    for (int c = 0; c < Size; ++c) result += x(c) * a.columns[c];
    return result;
  }
  /// aᵀ x.
  [[nodiscard]] friend Column transposed_times(const SmallMatrix& a, const Column& x) noexcept {
    Column result;
    for (int c = 0; c < Size; ++c) result(c) = a.columns[c].dot(x);
    return result;
  }
  [[nodiscard]] friend SmallMatrix operator*(const SmallMatrix& a, const SmallMatrix& b) noexcept {
    SmallMatrix result;
    for (int c = 0; c < Size; ++c) result.columns[c] = a * b.columns[c];
    return result;
  }
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
