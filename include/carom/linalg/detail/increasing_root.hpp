// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The result of a search for a root of an increasing function.
template <RealScalar Scalar>
struct IncreasingRoot {
  Scalar argument;  ///< best argument found.
  Scalar value;     ///< value of the function there.
  int evaluations;  ///< calls of the function.
};

/// Stopping rule and start of the search for a root.
template <RealScalar Scalar>
struct IncreasingRootOptions {
  Scalar tolerance;   ///< stops when |f| ≤ tolerance [unit of f], ≥ 0.
  Scalar first = 1;   ///< first argument tried, > 0.
  Scalar growth = 2;  ///< factor by which the bracket grows while f < 0, > 1.
  /// most calls of f. In the worst case every second call is a bisection, and 40 calls shrink the
  /// bracket by a factor of a million.
  int evaluation_limit = 40;
};

/// Looks for the root of an increasing function on (0, ∞) that is negative at 0.
///
/// The problem: f increases on (0, ∞), f(0) < 0; find x with |f(x)| ≤ tolerance. The steps:
/// 1. Bracket the root: multiply the argument by `growth` until f ≥ 0. Then f(low) < 0 ≤ f(high).
/// 2. Reduce the bracket by false position with the Illinois rule. If a step does not halve the
///    bracket, the next step is a bisection.
/// The search ends when |f| ≤ tolerance, when the bracket is down to round-off, or after
/// evaluation_limit calls. Only signs and sizes of f are used, never differences of its integral.
/// Round-off in a cost can therefore not mislead the search.
/// @param at_zero  f(0), < 0.
/// @return  the argument with the smallest computed |f|; it is positive even when the limit is
///          reached.
/// @note  Real-time safe when f is: no allocation, at most evaluation_limit calls.
template <RealScalar Scalar, typename Function>
[[nodiscard]] IncreasingRoot<Scalar> find_increasing_root(
    Function&& f, Scalar at_zero, const IncreasingRootOptions<Scalar>& options) noexcept {
  using std::abs;
  Scalar low = 0, f_low = at_zero;
  Scalar high = options.first, f_high = f(high);
  IncreasingRoot<Scalar> best{high, f_high, 1};
  const auto try_at = [&](const Scalar& x) {
    const Scalar value = f(x);
    ++best.evaluations;
    if (abs(value) < abs(best.value)) {
      best.argument = x;
      best.value = value;
    }
    return value;
  };
  while (f_high < -options.tolerance && best.evaluations < options.evaluation_limit) {
    low = high;
    f_low = f_high;
    high *= options.growth;
    f_high = try_at(high);
  }
  Scalar f_low_weighted = f_low, f_high_weighted = f_high;
  Scalar width_before = high - low;
  int side = 0;
  bool slow = false;
  while (abs(best.value) > options.tolerance && best.evaluations < options.evaluation_limit) {
    Scalar x = low + (high - low) * (f_low_weighted / (f_low_weighted - f_high_weighted));
    if (slow || !(x > low && x < high)) {  // slow, or x rounded to an end of the bracket
      x = low + (high - low) / 2;
    }
    if (!(x > low && x < high)) break;  // the bracket is down to round-off
    const Scalar value = try_at(x);
    if (value < Scalar(0)) {
      if (side < 0) f_high_weighted /= 2;
      side = -1;
      low = x;
      f_low_weighted = value;
    } else {
      if (side > 0) f_low_weighted /= 2;
      side = 1;
      high = x;
      f_high_weighted = value;
    }
    slow = high - low > width_before * Scalar(0.501);  // 0.501: a rounded half is not slow
    width_before = high - low;
  }
  return best;
}

}  // namespace CAROM_ABI
}  // namespace carom
