// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "carom/cones/concepts.hpp"

#include "support/set_traits.hpp"
#include "support/tolerance.hpp"

/// @file
/// The laws of ConvexSetLike, true for every set, metric and point. Every law draws its own set,
/// metric and points over twelve decades each, with exact zeros.
namespace carom::testing {

/// Roundings granted to a projection, relative to |y|_R.
inline constexpr int projection_roundings = 16;

/// Error that a projection of y may have in the metric.
template <typename Vector>
[[nodiscard]] long double projection_allowance(const Vector& weights, const Vector& y) {
  using Scalar = typename Vector::Scalar;
  return projection_roundings * static_cast<long double>(std::numeric_limits<Scalar>::epsilon()) *
         norm_in(weights, y);
}

/// Calls visit(set, weights, y, source) for many sets from draw_set(source), metrics and points.
/// One point in eight lies near the set's surface.
template <ConvexSetLike Set, typename Draw, typename Visit>
void for_each_sample(const Draw& draw_set, int count, std::uint32_t seed, double decades,
                     const Visit& visit) {
  using Scalar = typename Set::scalar_type;
  VectorSource<Scalar> source(seed);
  for (int sample = 0; sample < count; ++sample) {
    const Set set = draw_set(source);
    const SetVector<Set> weights = draw_weights(set, source, decades);
    SetVector<Set> y = source.template vector<Set::dimension>(decades);
    if (sample % 8 == 7) y = project(set, weights, y).point;
    visit(set, weights, y, source);
  }
}

/// A member of the set: a random point if it is one, else the projection of a random point.
template <ConvexSetLike Set>
SetVector<Set> draw_member(const Set& set, VectorSource<typename Set::scalar_type>& source) {
  const SetVector<Set> point = source.template vector<Set::dimension>();
  return contains(set, point) ? point : SetVector<Set>(project(set, point).point);
}

template <ConvexSetLike Set, typename Draw>
void check_nearest_point_laws(const Draw& draw_set, int count) {
  WorstCase lands("lands in the set"), repeats("idempotent"), nears("non-expansive");
  WorstCase obtuse("variational inequality"), scales("depends on ratios of weights only");
  for_each_sample<Set>(
      draw_set, count, 11, 12,
      [&](const Set& set, const auto& weights, const auto& y, auto& source) {
        using Scalar = typename Set::scalar_type;
        const SetVector<Set> p = project(set, weights, y).point;
        const long double allowance = projection_allowance(weights, y);
        const Scalar slack = rounding(8, p.norm());
        lands.see_holds(contains(set, p, slack), set, weights, y, p);
        repeats.see(distance_in(weights, project(set, weights, p).point, p),
                    projection_allowance(weights, p), set, weights, y);

        const SetVector<Set> other = source.template vector<Set::dimension>();
        const SetVector<Set> p_other = project(set, weights, other).point;
        nears.see(distance_in(weights, p, p_other),
                  distance_in(weights, y, other) + allowance + projection_allowance(weights, other),
                  set, weights, y, other);

        const SetVector<Set> z = draw_member(set, source);
        const auto long_y = y.template cast<long double>().eval();
        const auto long_p = p.template cast<long double>().eval();
        const auto long_z = z.template cast<long double>().eval();
        const long double pairing =
            inner_in(weights, (long_y - long_p).eval(), (long_z - long_p).eval());
        obtuse.see(std::max(pairing, 0.0L), allowance * (norm_in(weights, z) + norm_in(weights, p)),
                   set, weights, y, z);

        const SetVector<Set> stretched = source.positive(6) * weights;
        scales.see(distance_in(weights, project(set, stretched, y).point, p), allowance, set,
                   weights, stretched, y);
      });
  for (const WorstCase* law : {&lands, &repeats, &nears, &obtuse, &scales}) law->check(count);
}

/// Whether every x ± margin e_i satisfies the condition: then the ball around x nearly does.
template <typename Vector, typename Condition>
[[nodiscard]] bool deep_inside(const Vector& x, typename Vector::Scalar margin,
                               const Condition& condition) {
  for (Index i = 0; i < x.size(); ++i) {
    for (const auto step : {margin, -margin}) {
      Vector moved = x;
      moved(i) += step;
      if (!condition(moved)) return false;
    }
  }
  return true;
}

template <ConvexSetLike Set, typename Draw>
void check_stick_region_law(const Draw& draw_set, int count) {
  WorstCase stick("stick is the set"), overload("no weights given means all equal");
  for_each_sample<Set>(
      draw_set, count, 12, 12, [&](const Set& set, const auto& weights, const auto& y, auto&) {
        using Scalar = typename Set::scalar_type;
        const auto [p, region] = project(set, weights, y);
        const Scalar margin = rounding(16, y.norm());
        const bool inside = deep_inside(y, margin, [&](const auto& x) { return contains(set, x); });
        const bool named =
            region == ConeRegion::stick ? p == y && contains(set, y, margin) : !inside;
        stick.see_holds(named, set, weights, y, p, region);

        const SetVector<Set> ones = SetVector<Set>::Ones();
        const bool same = project(set, y).point == project(set, ones, y).point &&
                          project(set, y).region == project(set, ones, y).region &&
                          projection_derivative(set, y) == projection_derivative(set, ones, y);
        overload.see_holds(same, set, y);
      });
  stick.check(count);
  overload.check(count);
}

/// All laws of a convex set, for sets drawn by draw_set(source).
template <ConvexSetLike Set, typename Draw>
void check_set_laws(const Draw& draw_set, int count = 600) {
  check_nearest_point_laws<Set>(draw_set, count);
  check_stick_region_law<Set>(draw_set, count);
}

}  // namespace carom::testing
