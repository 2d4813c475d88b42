// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/scalar.hpp"

/// @file
/// Arithmetic on consecutive numbers, as loops. An Eigen expression compiles some twenty functions
/// for each pair of operation and types. A loop compiles one function for all of them. If the count
/// is known at compile time, the machine code is the same.
namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// a·b.
template <typename Scalar>
[[nodiscard]] Scalar dot(const Scalar* a, const Scalar* b, Index count) noexcept {
  Scalar sum(0);
  for (Index i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}
/// ‖x‖.
template <typename Scalar>
[[nodiscard]] Scalar norm(const Scalar* x, Index count) noexcept {
  using std::sqrt;
  return sqrt(dot(x, x, count));
}
/// a·b of many numbers, in four independent sums.
template <typename Scalar>
[[nodiscard]] Scalar long_dot(const Scalar* a, const Scalar* b, Index count) noexcept {
  Scalar sums[4] = {};
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    CAROM_UNROLL
    for (Index k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
/// y += factor x.
template <typename Scalar>
void add_multiple(const Scalar& factor, const Scalar* x, Index count, Scalar* y) noexcept {
  for (Index i = 0; i < count; ++i) y[i] += factor * x[i];
}
/// y = factor x.
template <typename Scalar>
void write_multiple(const Scalar& factor, const Scalar* x, Index count, Scalar* y) noexcept {
  for (Index i = 0; i < count; ++i) y[i] = factor * x[i];
}
/// result = a − b.
template <typename Scalar>
void write_difference(const Scalar* a, const Scalar* b, Index count, Scalar* result) noexcept {
  for (Index i = 0; i < count; ++i) result[i] = a[i] - b[i];
}
/// Calls visit(count). Six, the count of velocities of a rigid body, is a constant of the
/// argument's type, so that loops over it are unrolled. The order of sums is the same.
template <typename Visit>
decltype(auto) with_count(Index count, Visit&& visit) noexcept {
  return count == 6 ? visit(std::integral_constant<Index, 6>{}) : visit(count);
}
/// Whether all numbers are finite. The sums are zero exactly if they are, and need no branches.
template <typename Scalar>
[[nodiscard]] bool all_finite(const Scalar* x, Index count) noexcept {
  Scalar sums[4] = {};
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    CAROM_UNROLL
    for (Index k = 0; k < 4; ++k) sums[k] += x[i + k] - x[i + k];
  }
  for (; i < count; ++i) sums[0] += x[i] - x[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]) == Scalar(0);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
