// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The pressing velocity of a contact in one step.
template <RealScalar Scalar>
struct Pressing {
  Scalar speed = 0;  ///< p [m/s], ≥ 0: the increase of the closing velocity in this step.
  /// Whether p is exact. It is false if bodies were added without their velocity before the step;
  /// then p may contain an approach.
  bool known = false;
};

/// Default share of an overlap that a rigid contact removes in one step [-]. The value 0.2 is
/// gentle where several contacts support a body, and reduces the overlap to a hundredth after 20
/// steps.
inline constexpr double usual_overlap_share = 0.2;

/// A velocity that removes an overlap, and its derivatives.
template <RealScalar Scalar>
struct OverlapVelocity {
  Scalar value = 0;        ///< [m/s], ≥ 0.
  Scalar by_depth = 0;     ///< Derivative by the depth [1/s].
  Scalar by_pressing = 0;  ///< Derivative by p [-].
};

namespace detail {

/// The largest whole number ≤ x; 0 if x < 1.
/// @param x  finite.
template <RealScalar Scalar>
[[nodiscard]] Scalar whole_part(const Scalar& x) noexcept {
  Scalar power(1), whole(0);
  while (2 * power <= x) power *= 2;
  for (; power >= Scalar(1); power /= 2) {
    if (whole + power <= x) whole += power;
  }
  return whole;
}

}  // namespace detail

/// The velocity at which a rigid contact removes an overlap, such that the velocity is zero again
/// when the overlap is zero.
///
/// An added velocity remains in the motion. Only the forces that press the bodies together reduce
/// it, by p in each step. A body with velocity K p at the depth d rises by δt p K (K + 1)/2 in K
/// steps, and its velocity is then zero. The result is therefore the largest K p for which the body
/// does not rise above the surface, but at most the velocity from the share. If even p is too
/// large, the result is d/δt. If nothing presses the bodies together (p = 0), no such velocity
/// exists and the overlap remains; only a correction of positions can remove it
/// (position_projection.hpp).
///
/// If the earlier velocities of the bodies are not known, the closing velocity may be an approach.
/// The part of the overlap that an approach can cause in this step, δt p, is then removed at p/100
/// at most.
/// @param depth      d [m], ≥ 0.
/// @param share      largest share of the overlap per step [-], in [0, 1].
/// @param time_step  δt [s], > 0.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] OverlapVelocity<Scalar> overlap_velocity(const Scalar& depth, const Scalar& share,
                                                       const Pressing<Scalar>& pressing,
                                                       const Scalar& time_step) noexcept {
  using std::sqrt;
  const Scalar& p = pressing.speed;
  if (!(depth > Scalar(0)) || !(p > Scalar(0))) return {};
  const auto rise = [&](const Scalar& d) -> OverlapVelocity<Scalar> {
    const Scalar exact = (sqrt(1 + 8 * d / (p * time_step)) - 1) / 2;
    const Scalar shared = share * d / time_step;
    if (!(exact >= Scalar(1)) || !detail::is_finite(exact)) {
      return {shared, share / time_step, Scalar(0)};
    }
    const Scalar steps = detail::whole_part(exact);  // K
    if (shared <= steps * p) return {shared, share / time_step, Scalar(0)};
    return {steps * p, Scalar(0), steps};
  };
  if (pressing.known) return rise(depth);
  const Scalar shared = share * depth / time_step, least = p / 100;
  OverlapVelocity<Scalar> result{least, Scalar(0), Scalar(0.01)};
  if (shared < least) result = {shared, share / time_step, Scalar(0)};
  const Scalar older = depth - time_step * p;
  if (!(older > Scalar(0))) return result;
  OverlapVelocity<Scalar> risen = rise(older);
  // the older part of the overlap decreases with p
  risen.by_pressing -= time_step * risen.by_depth;
  return risen.value > result.value ? risen : result;
}

}  // namespace CAROM_ABI
}  // namespace carom
