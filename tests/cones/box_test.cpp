// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/box.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/cones/friction_cone.hpp"

#include "support/catch.hpp"
#include "support/derivative_laws.hpp"
#include "support/projection_oracle.hpp"
#include "support/set_laws.hpp"

namespace box_test {

using carom::Box, carom::ConeRegion, carom::FrictionCone, carom::Vector, carom::Vector3;
using namespace carom::testing;

namespace {

/// Intervals of every kind: two-sided, one-sided, a point, the line.
template <int Dimension, typename Scalar>
Box<Scalar, Dimension> draw_box(VectorSource<Scalar>& source) {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  Box<Scalar, Dimension> box;
  for (int i = 0; i < Dimension; ++i) {
    const Scalar a = source.entry(), b = source.entry();
    box.lower(i) = source.unit() < 0.2 ? -infinity : std::min(a, b);
    box.upper(i) = source.unit() < 0.2 ? infinity : std::max(a, b);
    if (source.unit() < 0.1) box.lower(i) = box.upper(i) = a;
  }
  return box;
}

}  // namespace

TEMPLATE_TEST_CASE("box: obeys the laws of a convex set", "[cones][law]", float, double) {
  check_set_laws<Box<TestType, 1>>([](auto& source) { return draw_box<1>(source); });
  check_set_laws<Box<TestType, 3>>([](auto& source) { return draw_box<3>(source); });
}

TEST_CASE("box: the derivative obeys its laws", "[cones][derivative]") {
  check_derivative_laws<Box<double, 3>>([](auto& source) { return draw_box<3>(source); });
}

TEMPLATE_TEST_CASE("box: the nearest point is the middle of lower, y and upper", "[cones][oracle]",
                   float, double) {
  WorstCase clamp("median of three"), region("stick inside, slide outside"), slope("0 or 1");
  VectorSource<TestType> source(91);
  for (int sample = 0; sample < 600; ++sample) {
    const auto box = draw_box<3>(source);
    const Vector<TestType, 3> weights = draw_weights(box, source, 12);
    const Vector<TestType, 3> y = sample % 2 == 0 ? source.next() : extreme_vector<3>(source);
    const auto projected = project(box, weights, y);
    const auto derivative = projection_derivative(box, weights, y);
    bool inside = true;
    for (int i = 0; i < 3; ++i) {
      std::array<TestType, 3> three{box.lower(i), y(i), box.upper(i)};
      std::sort(three.begin(), three.end());
      clamp.see_holds(projected.point(i) == three[1], box, y, projected.point);
      inside = inside && three[1] == y(i);
      slope.see_holds(derivative(i, i) == (three[1] == y(i) ? 1 : 0), box, y, derivative);
    }
    region.see_holds(projected.region == (inside ? ConeRegion::stick : ConeRegion::slide), box, y);
    region.see_holds(contains(box, y) == inside, box, y);
  }
  for (const WorstCase* law : {&clamp, &region, &slope}) law->check(600);
}

TEST_CASE("box: bounds count as inside, slack widens them", "[cones][example]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Box<double, 2> box{{-1, -infinity}, {2, 3}};
  const Vector<double, 2> corner(-1, 3), outside(2.5, 0), far(0, -1e30);
  CHECK(contains(box, corner));
  CHECK(project(box, corner).region == ConeRegion::stick);
  CHECK(projection_derivative(box, corner).isIdentity(0));
  CHECK_FALSE(contains(box, outside));
  CHECK(contains(box, outside, double(0.5)));
  CHECK(contains(box, far));
  CHECK(project(box, outside).point == Vector<double, 2>(2, 0));
  const Box<double, 2> free{{-infinity, -infinity}, {infinity, infinity}};
  CHECK(project(free, outside).region == ConeRegion::stick);
}

TEST_CASE("box: a half line is the friction cone without friction", "[cones][law]") {
  const Vector<double, 1> zero(double(0)), infinity(std::numeric_limits<double>::infinity());
  const Box<double, 1> half_line{zero, infinity};
  WorstCase same("normal entry");
  VectorSource<double> source(81);
  for (int sample = 0; sample < 500; ++sample) {
    const FrictionCone<double> cone{0};
    const Vector3<double> weights = draw_weights(cone, source, 12), y = source.next();
    const Vector3<double> p3 = project(cone, weights, y).point;
    const Vector<double, 1> p = project(half_line, Vector<double, 1>(y.z())).point;
    same.see(std::abs(p(0) - p3.z()), rounding(4, std::abs(y.z())), weights, y);
  }
  same.check(500);
}

}  // namespace box_test
