// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <Eigen/Core>

#include "carom/core/expects.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Opt-in switch for scalar types beyond the built-in ones (e.g. an autodiff number).
template <typename T>
inline constexpr bool enable_real_scalar = false;

/// A number the library can compute with: float, double, long double, or an opted-in type.
template <typename T>
concept RealScalar = std::floating_point<T> || enable_real_scalar<T>;

/// Position of a vector or an entry, signed as in Eigen.
using Index = Eigen::Index;

template <RealScalar Scalar, int Size>
using Vector = Eigen::Matrix<Scalar, Size, 1>;

template <RealScalar Scalar>
using Vector3 = Vector<Scalar, 3>;

template <RealScalar Scalar>
using VectorX = Vector<Scalar, Eigen::Dynamic>;

template <RealScalar Scalar, int Size>
using SquareMatrix = Eigen::Matrix<Scalar, Size, Size>;

template <RealScalar Scalar>
using MatrixX = SquareMatrix<Scalar, Eigen::Dynamic>;

/// The numbers of a vector, or of another container of consecutive numbers, as a span. Functions
/// with a span argument can check the count of numbers.
template <typename Numbers>
[[nodiscard]] constexpr auto as_span(Numbers&& numbers) noexcept {
  return std::span(numbers.data(), std::size_t(numbers.size()));
}

}  // namespace CAROM_ABI
}  // namespace carom
