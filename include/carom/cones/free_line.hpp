// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/cones/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The whole line ℝ: the impulse of an equality constraint, pulling or pushing.
template <RealScalar Scalar>
struct FreeLine {
  using scalar_type = Scalar;
  static constexpr int dimension = 1;
};

/// Every finite impulse is in the line.
template <RealScalar Scalar>
[[nodiscard]] bool contains(const FreeLine<Scalar>&, const Vector<Scalar, 1>& impulse,
                            Scalar = 0) noexcept {
  return impulse.allFinite();
}

/// The dual is the origin alone: an equality leaves no velocity over.
template <RealScalar Scalar>
[[nodiscard]] bool in_dual(const FreeLine<Scalar>&, const Vector<Scalar, 1>& u,
                           Scalar slack = 0) noexcept {
  return u(0) <= slack && u(0) >= -slack;
}

/// P(y) = y.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE ConeProjection<Scalar, 1> project(const FreeLine<Scalar>&,
                                                             const Vector<Scalar, 1>&,
                                                             const Vector<Scalar, 1>& y) noexcept {
  return {y, ConeRegion::stick};
}

template <RealScalar Scalar>
[[nodiscard]] CAROM_DEVICE SquareMatrix<Scalar, 1> projection_derivative(
    const FreeLine<Scalar>&, const Vector<Scalar, 1>&, const Vector<Scalar, 1>&) noexcept {
  return SquareMatrix<Scalar, 1>::Identity();
}

}  // namespace CAROM_ABI
}  // namespace carom
