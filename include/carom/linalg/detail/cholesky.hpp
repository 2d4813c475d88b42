// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <Eigen/Core>

#include "carom/core/detail/plain_loops.hpp"
#include "carom/core/detail/small_vector.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Columns that are factored together, such that one load of the columns to the left serves all
/// their updates.
inline constexpr Index cholesky_panel = 4;

/// Subtracts from `Width` columns of the panel at `first` the contribution of the columns to the
/// left, for the rows [row, row + lanes): C −= L[rows, :first] · L[first.., :first]ᵀ.
template <RealScalar Scalar, int Height, int Width>
void update_panel_rows(Scalar* a, Index stride, Index first, Index row) noexcept {
  using Rows = SmallVector<Scalar, Height>;
  Rows sum[std::size_t(Width)];
  for (int c = 0; c < Width; ++c) sum[c] = Rows::at(a + (first + c) * stride + row);
  for (Index k = 0; k < first; ++k) {
    const Scalar* const column = a + k * stride;
    const Rows left = Rows::at(column + row);
    CAROM_UNROLL
    for (int c = 0; c < Width; ++c) sum[c] -= column[first + c] * left;
  }
  for (int c = 0; c < Width; ++c) sum[c].write_to(a + (first + c) * stride + row);
}

/// The same for the panel's own diagonal block. Its upper triangle does not change.
template <RealScalar Scalar, int Width>
void update_panel_corner(Scalar* a, Index stride, Index first) noexcept {
  using Rows = SmallVector<Scalar, Width>;
  Rows sum[std::size_t(Width)];
  for (Index k = 0; k < first; ++k) {
    const Scalar* const column = a + k * stride + first;
    const Rows left = Rows::at(column);
    CAROM_UNROLL
    for (int c = 0; c < Width; ++c) sum[c] += column[c] * left;
  }
  for (int c = 0; c < Width; ++c) {
    for (int r = c; r < Width; ++r) a[(first + c) * stride + first + r] -= sum[c](r);
  }
}

template <RealScalar Scalar, int Width>
void update_panel(Scalar* a, Index size, Index stride, Index first) noexcept {
  constexpr int lanes = int(Eigen::internal::packet_traits<Scalar>::size) * 2;
  update_panel_corner<Scalar, Width>(a, stride, first);
  Index row = first + Width;
  for (; row + lanes <= size; row += lanes) {
    update_panel_rows<Scalar, lanes, Width>(a, stride, first, row);
  }
  for (; row + 4 <= size; row += 4) update_panel_rows<Scalar, 4, Width>(a, stride, first, row);
  for (; row < size; ++row) update_panel_rows<Scalar, 1, Width>(a, stride, first, row);
}

/// Factors the columns [first, first + width). The contribution of the columns to the left is
/// already subtracted.
template <RealScalar Scalar>
[[nodiscard]] bool factor_panel(Scalar* a, Index size, Index stride, Index first,
                                Index width) noexcept {
  using std::sqrt;
  for (Index c = first; c < first + width; ++c) {
    Scalar* const column = a + c * stride;
    const Scalar pivot = column[c];
    if (!(pivot > Scalar(0)) || !(pivot <= (std::numeric_limits<Scalar>::max)())) return false;
    const Scalar inverse = Scalar(1) / sqrt(column[c]);
    for (Index r = c; r < size; ++r) column[r] *= inverse;
    for (Index next = c + 1; next < first + width; ++next) {
      Scalar* const target = a + next * stride;
      const Scalar factor = column[next];
      for (Index r = next; r < size; ++r) target[r] -= factor * column[r];
    }
  }
  return true;
}

/// Subtracts from the rows [row, row + Height) of the right-hand sides the contribution of the
/// unknowns of the panel at `first`.
template <RealScalar Scalar, int Height, int Count>
void subtract_panel(const Scalar* lower, Index size, Index stride, Scalar* x, Index first,
                    Index row) noexcept {
  using Rows = SmallVector<Scalar, Height>;
  Rows left[std::size_t(cholesky_panel)];
  CAROM_UNROLL
  for (Index c = 0; c < cholesky_panel; ++c) left[c] = Rows::at(lower + (first + c) * stride + row);
  for (int k = 0; k < Count; ++k, x += size) {
    Rows sum = Rows::at(x + row);
    CAROM_UNROLL
    for (Index c = 0; c < cholesky_panel; ++c) sum -= x[first + c] * left[c];
    sum.write_to(x + row);
  }
}

/// Solves L X = B for `Count` right-hand sides. One load of L serves all of them.
template <RealScalar Scalar, int Count>
void solve_lower_together(const Scalar* lower, Index size, Index stride, Scalar* x) noexcept {
  for (Index first = 0; first < size; first += cholesky_panel) {
    const Index end = (std::min)(first + cholesky_panel, size);
    for (Index c = first; c < end; ++c) {
      const Scalar* const column = lower + c * stride;
      const Scalar inverse = Scalar(1) / column[c];
      for (int k = 0; k < Count; ++k) {
        Scalar* const side = x + k * size;
        side[c] *= inverse;
        for (Index r = c + 1; r < end; ++r) side[r] -= side[c] * column[r];
      }
    }
    Index row = end;
    for (; row + 8 <= size; row += 8) {
      subtract_panel<Scalar, 8, Count>(lower, size, stride, x, first, row);
    }
    for (; row + 4 <= size; row += 4) {
      subtract_panel<Scalar, 4, Count>(lower, size, stride, x, first, row);
    }
    for (; row < size; ++row) {
      subtract_panel<Scalar, 1, Count>(lower, size, stride, x, first, row);
    }
  }
}

}  // namespace detail

/// Cholesky factorisation in place: A = L Lᵀ, L in the lower triangle.
///
/// @param a       column-major; the lower triangle is read and overwritten, the upper one is not
///                changed.
/// @param stride  distance between columns, ≥ size.
/// @return  false when a pivot is not positive or not finite (A is not positive definite, or
///          contains NaN or infinity); the lower triangle is then partly overwritten.
/// @note  Real-time safe: no allocation, no exception, size³/6 multiply-adds.
template <RealScalar Scalar>
[[nodiscard]] bool factor_cholesky(Scalar* a, Index size, Index stride) noexcept {
  CAROM_EXPECTS(size >= 0 && stride >= size);
  Index first = 0;
  for (; first + detail::cholesky_panel <= size; first += detail::cholesky_panel) {
    detail::update_panel<Scalar, detail::cholesky_panel>(a, size, stride, first);
    if (!detail::factor_panel(a, size, stride, first, detail::cholesky_panel)) return false;
  }
  for (; first < size; ++first) {
    detail::update_panel<Scalar, 1>(a, size, stride, first);
    if (!detail::factor_panel(a, size, stride, first, 1)) return false;
  }
  return true;
}

/// Solves L X = B in place, L the lower triangle of a column-major matrix.
///
/// @param x      `count` right-hand sides of `size` numbers, one after the other.
/// @note  Real-time safe: no allocation, no exception, size²/2 multiply-adds for each right-hand
///        side.
template <RealScalar Scalar>
void solve_lower(const Scalar* lower, Index size, Index stride, Scalar* x,
                 Index count = 1) noexcept {
  for (; count >= 3; count -= 3, x += 3 * size) {
    detail::solve_lower_together<Scalar, 3>(lower, size, stride, x);
  }
  for (; count >= 1; --count, x += size) {
    detail::solve_lower_together<Scalar, 1>(lower, size, stride, x);
  }
}

/// Solves Lᵀ x = b in place.
/// @note  Real-time safe: no allocation, no exception, size²/2 multiply-adds.
template <RealScalar Scalar>
void solve_lower_transposed(const Scalar* lower, Index size, Index stride, Scalar* x) noexcept {
  for (Index c = size - 1; c >= 0; --c) {
    const Scalar* const column = lower + c * stride;
    const Index rest = size - c - 1;
    x[c] = (x[c] - detail::long_dot(column + c + 1, x + c + 1, rest)) / column[c];
  }
}

/// Computes x ← Lᵀ x in place.
template <RealScalar Scalar>
void multiply_lower_transposed(const Scalar* lower, Index size, Index stride, Scalar* x) noexcept {
  for (Index c = 0; c < size; ++c) {
    x[c] = detail::long_dot(lower + c * stride + c, x + c, size - c);
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
