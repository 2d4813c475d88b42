// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// What presses the bodies of a contact together within a step.
template <RealScalar Scalar>
struct Pressing {
  Scalar speed = 0;    ///< p [m/s], ≥ 0: what the step adds to the speed of closing.
  bool known = false;  ///< Whether that is all of it: false where bodies were added without their
                       ///< velocity before the step, and p may be an approach.
};

/// Share of an overlap that a rigid contact takes out in one step where nothing else is said [-]: a
/// fifth is gentle where several contacts hold a body, and leaves a hundredth after 20 steps.
inline constexpr double usual_overlap_share = 0.2;

/// A velocity that takes out an overlap, and how it follows the depth.
template <RealScalar Scalar>
struct OverlapVelocity {
  Scalar value = 0;        ///< [m/s], ≥ 0.
  Scalar by_depth = 0;     ///< Its slope by the depth [1/s].
  Scalar by_pressing = 0;  ///< Its slope by p [-].
};

namespace detail {

/// The largest whole number that is not above x; 0 below 1.
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

/// The velocity at which a rigid contact takes out an overlap, such that the speed is gone when the
/// overlap is.
///
/// A velocity stays in the motion, and only what presses the bodies together takes it away, by p in
/// every step. A body that is given K p at the depth d rises by δt p K (K + 1)/2, in K steps, and
/// then has no speed left. So v is the largest K p that does not carry it beyond the surface, but
/// no more than the share asks for; where even p would, d/δt. Where nothing presses there is no
/// such velocity, and the overlap stays: positions alone can take it out (position_projection.hpp).
///
/// Where it is not known how the bodies moved before, an approach may be what closes. The part of
/// the overlap that it can have made in this step, δt p, is then taken out at p/100 at most.
/// @param depth      d [m], ≥ 0.
/// @param share      of the overlap, most per step [-], in [0, 1].
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
  risen.by_pressing -= time_step * risen.by_depth;  // the older part falls with p
  return risen.value > result.value ? risen : result;
}

}  // namespace CAROM_ABI
}  // namespace carom
