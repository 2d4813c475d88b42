// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <numbers>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// R of a spring that is softened to a period of β steps: max(1/(δt c), (β/2π)² w).
template <RealScalar Scalar>
struct NearRigidWeight {
  Scalar value;
  Scalar by_inverse_mass;  ///< (β/2π)²: the least R per inverse mass
  bool clamped;            ///< whether value is that least R

  /// @param compliant     1/(δt c) for an impulse of −δt c per velocity.
  /// @param near_rigid    β.
  /// @param inverse_mass  w.
  NearRigidWeight(const Scalar& compliant, const Scalar& near_rigid,
                  const Scalar& inverse_mass) noexcept {
    const Scalar turn = near_rigid / Scalar(2 * std::numbers::pi_v<long double>);
    by_inverse_mass = turn * turn;
    const Scalar rigid = by_inverse_mass * inverse_mass;
    clamped = !(compliant > rigid);
    value = clamped ? rigid : compliant;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
