// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/lanes.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Looks for the root of an increasing function in each lane, as find_increasing_root() does for
/// one: the steps of a lane do not depend on the others, and a lane that has its root keeps it.
/// @param f          of a number for each lane.
/// @param at_zero    f(0), < 0 in the lanes wanted.
/// @param tolerance  accept |f| ≤ tolerance.
/// @param lanes      wanted; others get any number.
/// @return  the argument of the smallest |f| met.
template <typename Number, typename Function>
[[nodiscard]] CAROM_DEVICE Number find_root_in_lanes(const Function& f, const Number& at_zero,
                                                     const Number& tolerance,
                                                     const typename Number::Mask& lanes) noexcept {
  using Scalar = typename Number::scalar_type;
  const Number zero(Scalar(0)), one(Scalar(1)), half(Scalar(0.5)), two(Scalar(2));
  Number low = zero, high = one, at_low = at_zero, at_high = f(high);
  Number best = high, best_size = abs(at_high), width = one;
  // `side` is the end that moved last, −1 or 1.
  Number side = zero;
  auto slow = everywhere<Number>(false);
  auto growing = at_high < -tolerance;
  auto done = (!lanes) | (best_size <= tolerance);
  for (int count = 1; any(!done) && count < LineSearchTuning::evaluation_limit; ++count) {
    const Number chord = low + (high - low) * (at_low / (at_low - at_high));
    const Number middle = low + (high - low) * half;
    Number x = select(slow | (!((chord > low) & (chord < high))), middle, chord);
    x = select(growing, two * high, x);
    done = done | ((!growing) & (!((x > low) & (x < high))));  // the bracket is down to round-off
    const Number value = f(x), size = abs(value);
    const auto better = (!done) & (size < best_size);
    best = select(better, x, best);
    best_size = select(better, size, best_size);
    const auto rise = growing & (!done), narrow = (!growing) & (!done);
    const auto below = value < zero;
    const auto from_low = narrow & below, from_high = narrow & (!below);
    // The end that stays twice in a row counts half.
    at_high = select(from_low & (side < zero), at_high * half, at_high);
    at_low = select(from_high & (side > zero), at_low * half, at_low);
    side = select(from_low, -one, select(from_high, one, side));
    low = select(rise, high, select(from_low, x, low));
    at_low = select(rise, at_high, select(from_low, value, at_low));
    high = select(rise | from_high, x, high);
    at_high = select(rise | from_high, value, at_high);
    slow =
        narrow & (high - low > width * Number(Scalar(0.501)));  // 0.501: a rounded half is not slow
    width = select(rise | narrow, high - low, width);
    growing = rise & (value < -tolerance);
    done = done | (best_size <= tolerance);
  }
  return best;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
