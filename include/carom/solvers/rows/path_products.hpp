// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "carom/solvers/systems/system_totals.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What a step along the central path aims at.
template <RealScalar Scalar>
struct PathTarget {
  Scalar product;  ///< σκ, which every product of impulse and velocity should reach [J]
  bool corrected;  ///< whether the products of the step that take_step() kept are counted in
};

/// The sum of products of impulses and velocities after a share α of a step: a + b α + c α² [J].
template <RealScalar Scalar>
struct ProductSum {
  Scalar now = 0, slope = 0, curvature = 0;

  void add(const Scalar& x, const Scalar& y, const Scalar& dx, const Scalar& dy) noexcept {
    now += x * y;
    slope += x * dy + dx * y;
    curvature += dx * dy;
  }
  /// The sum over all machines of a system.
  template <typename System>
  [[nodiscard]] ProductSum total(System& system) const noexcept {
    const auto sums = detail::total_of(system, std::array<Scalar, 3>{now, slope, curvature});
    return {sums[0], sums[1], sums[2]};
  }
  [[nodiscard]] Scalar at(const Scalar& share) const noexcept {
    return now + share * (slope + share * curvature);
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
