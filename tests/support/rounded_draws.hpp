// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/detail/projection_rounding.hpp"

#include "support/constrained_problem.hpp"

/// @file
/// Blocks of every shape, points near the borders of their cones, and numbers with an error.
namespace carom::testing {

/// The kinds of law that draw_law() knows.
inline constexpr int law_kinds = 12;

/// A law whose weights are spread over decades, as the shape allows.
[[nodiscard]] inline WeightedBlock<double> draw_spread_law(VectorSource<double>& source, int kind) {
  WeightedBlock<double> law = draw_law(source, kind);
  const double tangent = source.positive(6), normal = source.positive(6);
  for (int i = 0; i < law.set.rows; ++i) {
    law.regularization(i) *= i == carom::detail::normal_row(law.set.shape) ? normal : tangent;
  }
  return law;
}

/// A law in long double, of the numbers that another type has rounded.
template <typename Scalar>
[[nodiscard]] WeightedBlock<long double> widened(const WeightedBlock<Scalar>& law,
                                                 const WeightedBlock<double>& drawn) {
  WeightedBlock<long double> wide = convert_law<long double>(drawn);
  wide.set.friction = law.set.friction.template cast<long double>();
  wide.set.lower = law.set.lower.template cast<long double>();
  wide.set.upper = law.set.upper.template cast<long double>();
  wide.set.shift = law.set.shift.template cast<long double>();
  wide.regularization = law.regularization.template cast<long double>();
  return wide;
}

/// A point anywhere, in the set, on its surface, or on the surface of its polar cone.
template <typename Scalar>
[[nodiscard]] RowNumbers<Scalar> draw_point(VectorSource<double>& source,
                                            const WeightedBlock<Scalar>& law) {
  RowNumbers<Scalar> y = RowNumbers<Scalar>::Zero();
  for (int i = 0; i < law.set.rows; ++i) y(i) = Scalar(source.entry(6));
  const RowNumbers<Scalar> nearest = nearest_impulse(law.set, law.regularization, y);
  const double place = source.unit();
  if (place < 0.3) return nearest;      // a rounding off the surface, on either side
  if (place < 0.5) return y - nearest;  // the polar cone's surface, where there is no shift
  if (place < 0.6) return RowNumbers<Scalar>::Zero();
  return y;
}

/// A point with errors, and one of the exact points that it stands for.
template <typename Scalar>
struct RoundedPoint {
  carom::detail::RoundedRows<Scalar> rows{};
  RowNumbers<long double> exact = RowNumbers<long double>::Zero();
};

/// @param share  errors relative to the point.
template <typename Scalar>
[[nodiscard]] RoundedPoint<Scalar> draw_error(VectorSource<double>& source,
                                              const RowNumbers<Scalar>& y, int rows, double share) {
  RoundedPoint<Scalar> point;
  point.exact = y.template cast<long double>();
  for (int i = 0; i < rows; ++i) {
    const Scalar error = std::abs(y(i)) * Scalar(share);
    point.rows[std::size_t(i)] = {y(i), error};
    point.exact(i) += (long double)(error) * (long double)(source.pick({-1, 0, 1}));
  }
  return point;
}

/// A drawn block with a trial point, its computed projection, and what both are exactly.
template <typename Scalar>
struct RoundedCase {
  WeightedBlock<Scalar> law;
  WeightedBlock<long double> wide;  ///< the same law
  RowNumbers<Scalar> y, nearest;
  double share;  ///< of y, that its errors are
  RoundedPoint<Scalar> point;
};

template <typename Scalar>
[[nodiscard]] RoundedCase<Scalar> draw_rounded_case(VectorSource<double>& source, int kind) {
  const WeightedBlock<double> drawn = draw_spread_law(source, kind);
  RoundedCase<Scalar> result;
  result.law = convert_law<Scalar>(drawn);
  result.wide = widened(result.law, drawn);
  result.y = draw_point(source, result.law);
  result.nearest = nearest_impulse(result.law.set, result.law.regularization, result.y);
  result.share = source.pick({0, 0, 1e-7, 1e-3});
  result.point = draw_error(source, result.y, result.law.set.rows, result.share);
  return result;
}

}  // namespace carom::testing
