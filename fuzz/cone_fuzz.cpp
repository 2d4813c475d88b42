// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as a set of impulses, a metric and a point. Its nearest point, and the
// impulse of Coulomb's law, must obey the law as it is written down from its definition, in float
// and in double; both must be such that a repetition changes nothing.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/impulse_set.hpp"

#include "support/law_oracle.hpp"

#include "draws.hpp"

namespace {

using carom::ImpulseSet, carom::ImpulseShape, carom::RowNumbers;
using carom::fuzz::demand, carom::fuzz::Draws;

template <typename Scalar>
ImpulseSet<Scalar> draw_set(Draws& draws, double decades) {
  using Shape = ImpulseShape;
  ImpulseSet<Scalar> set;
  set.shape = draws.pick({Shape::intervals, Shape::friction, Shape::planar, Shape::elliptic,
                          Shape::torsional, Shape::rolling, Shape::ellipsoidal_torsional,
                          Shape::ellipsoidal_rolling, Shape::spinless_rolling});
  if (set.shape == Shape::intervals) {
    set.rows = 1 + draws.below(6);
    for (int i = 0; i < set.rows; ++i) {
      const Scalar a = Scalar(draws.entry(decades)), b = Scalar(draws.entry(decades));
      const Scalar infinity = std::numeric_limits<Scalar>::infinity();
      set.lower(i) = draws.chance(0.2) ? -infinity : std::min(a, b);
      set.upper(i) = draws.chance(0.2) ? infinity : std::max(a, b);
    }
    return set;
  }
  set.rows = cone_row_count(set.shape);
  for (int k = 0; k < friction_count(set.shape); ++k) {
    set.friction(k) =
        draws.chance(0.1) ? Scalar(0) : Scalar(draws.positive(std::min(decades, 4.0)));
  }
  if (draws.chance(0.2))
    set.shift(carom::detail::normal_row(set.shape)) = Scalar(draws.positive(decades));
  return set;
}

/// R: rows that a cone bounds together have one weight, but on an ellipsoid's surface.
template <typename Scalar>
RowNumbers<Scalar> draw_metric(Draws& draws, const ImpulseSet<Scalar>& set, double decades) {
  RowNumbers<Scalar> metric = RowNumbers<Scalar>::Ones();
  const bool free =
      set.shape == ImpulseShape::intervals || carom::detail::is_ellipsoidal(set.shape);
  for (int i = 0; i < set.rows; ++i) metric(i) = Scalar(draws.positive(decades));
  if (!free && set.rows > 2) metric(1) = metric(0);
  if (!free && set.rows > 4) metric(4) = metric(3);
  return metric;
}

/// How far γ is from the law with u = R (γ − y), in units in which both are about one: those of the
/// part of a cone to which a row belongs.
template <typename Scalar>
double law_error(const ImpulseSet<Scalar>& set, const RowNumbers<Scalar>& metric,
                 const RowNumbers<Scalar>& y, const RowNumbers<Scalar>& impulse, bool convex) {
  using Long = long double;
  Eigen::Matrix<Long, 6, 1> g = Eigen::Matrix<Long, 6, 1>::Zero(), u = g;
  Long impulse_scale = 0, velocity_scale = 0;
  for (int r = 0; r < set.rows; ++r) {
    g(r) = impulse(r);
    u(r) = Long(metric(r)) * (g(r) - Long(y(r)));
    const Long size =
        std::max({std::abs(g(r)), std::abs(Long(y(r))), std::abs(Long(set.shift(r)))});
    impulse_scale = std::max(impulse_scale, size);
    velocity_scale = std::max(velocity_scale, Long(metric(r)) * size);
  }
  if (!(impulse_scale > 0)) return 0;
  ImpulseSet<Long> scaled;
  scaled.shape = set.shape;
  scaled.rows = set.rows;
  for (int k = 0; k < 3; ++k) scaled.friction(k) = Long(set.friction(k));
  for (int r = 0; r < set.rows; ++r) {
    g(r) /= impulse_scale;
    u(r) /= velocity_scale;
    scaled.lower(r) = Long(set.lower(r)) / impulse_scale;
    scaled.upper(r) = Long(set.upper(r)) / impulse_scale;
    scaled.shift(r) = Long(set.shift(r)) / impulse_scale;
  }
  if (convex && set.shape != ImpulseShape::intervals) {
    u(carom::testing::shape_of(scaled).normal) -= carom::testing::lift_of(scaled, u);
  }
  return double(carom::testing::law_error(scaled, g, u));
}

template <typename Scalar>
void check(Draws& draws) {
  const double decades = draws.pick({1.0, 4.0, 12.0});
  const ImpulseSet<Scalar> set = draw_set<Scalar>(draws, decades);
  const RowNumbers<Scalar> metric = draw_metric(draws, set, draws.pick({0.0, 2.0, 6.0}));
  RowNumbers<Scalar> y = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < set.rows; ++r) y(r) = Scalar(draws.entry(decades));
  demand(set_fault("set", set).empty(), "a set as it may be");
  const double most =
      4e3 * double(std::numeric_limits<Scalar>::epsilon()) *
      std::max(1.0, double(set.friction.maxCoeff()) * double(set.friction.maxCoeff()));

  const RowNumbers<Scalar> nearest = nearest_impulse(set, metric, y);
  const RowNumbers<Scalar> coulomb = coulomb_impulse(set, metric, y);
  for (const auto* point : {&nearest, &coulomb}) {
    demand(point->allFinite(), "a point of a set is finite");
    demand(point->tail(6 - set.rows).isZero(0), "rows beyond the set are zero");
  }
  const double convex_error = law_error(set, metric, y, nearest, true);
  demand(convex_error <= most, "the nearest point obeys the convex law", convex_error, most);
  const double coulomb_error = law_error(set, metric, y, coulomb, false);
  demand(coulomb_error <= most, "Coulomb's impulse obeys Coulomb's law", coulomb_error, most);
  const Scalar slack = Scalar(most) * (y.norm() + set.shift.norm());
  const Scalar again = (nearest_impulse(set, metric, nearest) - nearest).norm();
  demand(again <= slack, "the nearest point of a point of the set is itself", double(again),
         double(slack));
  const auto g = impulse_curvature(set, metric, y), h = coulomb_curvature(set, metric, y);
  demand(g.allFinite() && h.allFinite(), "curvatures are finite");
  const double size = double(g.cwiseAbs().maxCoeff());
  demand(double((g - g.transpose()).cwiseAbs().maxCoeff()) <= most * size,
         "the curvature is symmetric");
  for (int i = 0; i < set.rows; ++i) {
    demand(double(g(i, i)) >= -most * size, "the curvature is not negative", double(g(i, i)), size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  draws.chance(0.5) ? check<double>(draws) : check<float>(draws);
  return 0;
}
