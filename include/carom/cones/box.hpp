// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/cones/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr bool is_between(const Scalar& lower, const Scalar& y,
                                                     const Scalar& upper) noexcept {
  return lower <= y && y <= upper;
}
/// y, or the bound that y exceeds.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE constexpr Scalar clamped(const Scalar& lower, const Scalar& y,
                                                    const Scalar& upper) noexcept {
  return y < lower ? lower : y > upper ? upper : y;
}

}  // namespace detail

/// The box { γ ∈ ℝⁿ : lower ≤ γ ≤ upper } with possibly infinite bounds: limits, motors with a
/// bounded effort, dry joint friction. It is a convex set, but in general not a cone.
///
/// One row with bounds 0 and ∞ is the half line of a contact without friction. One row with −∞ and
/// ∞ is the whole line of an equality. The intervals of ImpulseSet are boxes.
template <RealScalar Scalar, int Dimension>
struct Box {
  using scalar_type = Scalar;
  static constexpr int dimension = Dimension;

  Vector<Scalar, Dimension> lower;  ///< [unit of γ], ≤ upper; −∞ allowed.
  Vector<Scalar, Dimension> upper;  ///< [unit of γ], ≥ lower; +∞ allowed.
};

/// Whether lower ≤ γ ≤ upper in every entry, up to slack [unit of γ].
template <RealScalar Scalar, int Dimension>
[[nodiscard]] CAROM_DEVICE bool contains(const Box<Scalar, Dimension>& box,
                                         const Vector<Scalar, Dimension>& impulse,
                                         Scalar slack = 0) noexcept {
  for (Index i = 0; i < Dimension; ++i) {
    if (!(impulse(i) >= box.lower(i) - slack && impulse(i) <= box.upper(i) + slack)) return false;
  }
  return true;
}

/// P(y) = y clamped entry by entry, in every diagonal metric. Region: stick inside, else slide.
/// @pre   lower ≤ upper in every entry.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar, int Dimension>
[[nodiscard]] CAROM_DEVICE ConeProjection<Scalar, Dimension> project(
    const Box<Scalar, Dimension>& box, const Vector<Scalar, Dimension>&,
    const Vector<Scalar, Dimension>& y) noexcept {
  for (Index i = 0; i < Dimension; ++i) CAROM_EXPECTS(box.lower(i) <= box.upper(i));
  ConeProjection<Scalar, Dimension> result{y, ConeRegion::stick};
  if (contains(box, y)) return result;
  result.region = ConeRegion::slide;
  for (Index i = 0; i < Dimension; ++i) {
    result.point(i) = detail::clamped(box.lower(i), y(i), box.upper(i));
  }
  return result;
}

/// Diagonal of ones where y is inside its interval, zeros where it is clamped.
template <RealScalar Scalar, int Dimension>
[[nodiscard]] CAROM_DEVICE SquareMatrix<Scalar, Dimension> projection_derivative(
    const Box<Scalar, Dimension>& box, const Vector<Scalar, Dimension>&,
    const Vector<Scalar, Dimension>& y) noexcept {
  SquareMatrix<Scalar, Dimension> slope = SquareMatrix<Scalar, Dimension>::Zero();
  for (Index i = 0; i < Dimension; ++i) {
    if (detail::is_between(box.lower(i), y(i), box.upper(i))) slope(i, i) = Scalar(1);
  }
  return slope;
}

}  // namespace CAROM_ABI
}  // namespace carom
