// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/cones/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The half line { γ ∈ ℝ : γ ≥ 0 }: a contact without friction, or a one-sided limit.
template <RealScalar Scalar>
struct HalfLine {
  using scalar_type = Scalar;
  static constexpr int dimension = 1;
};

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE bool contains(const HalfLine<Scalar>&, const Vector<Scalar, 1>& impulse,
                                         Scalar slack = 0) noexcept {
  return impulse(0) >= -slack;
}

/// The half line is its own dual.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE bool in_dual(const HalfLine<Scalar>& cone, const Vector<Scalar, 1>& u,
                                        Scalar slack = 0) noexcept {
  return contains(cone, u, slack);
}

/// P(y) = max(y, 0), in every metric.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE ConeProjection<Scalar, 1> project(const HalfLine<Scalar>&,
                                                             const Vector<Scalar, 1>&,
                                                             const Vector<Scalar, 1>& y) noexcept {
  if (y(0) < Scalar(0)) return {Vector<Scalar, 1>::Zero(), ConeRegion::separate};
  return {y, ConeRegion::stick};
}

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE SquareMatrix<Scalar, 1> projection_derivative(
    const HalfLine<Scalar>&, const Vector<Scalar, 1>&, const Vector<Scalar, 1>& y) noexcept {
  if (y(0) < Scalar(0)) return SquareMatrix<Scalar, 1>::Zero();
  return SquareMatrix<Scalar, 1>::Identity();
}

}  // namespace CAROM_ABI
}  // namespace carom
