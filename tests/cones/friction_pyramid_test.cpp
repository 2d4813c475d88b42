// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/friction_pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "carom/cones/friction_cone.hpp"
#include "carom/cones/planar_cone.hpp"

#include "support/catch.hpp"
#include "support/cone_laws.hpp"
#include "support/derivative_laws.hpp"
#include "support/projection_oracle.hpp"
#include "support/tolerance.hpp"

namespace friction_pyramid_test {

using carom::testing::by_digits;

using carom::ConeRegion, carom::FrictionCone, carom::FrictionPyramid, carom::PlanarCone;
using carom::Vector, carom::Vector3;
using namespace carom::testing;

namespace {

template <typename Scalar>
FrictionPyramid<Scalar> draw_pyramid(VectorSource<Scalar>& source) {
  return {source.non_negative()};
}

}  // namespace

TEMPLATE_TEST_CASE("friction_pyramid: obeys the laws of a cone", "[cones][law]", float, double) {
  check_cone_laws<FrictionPyramid<TestType>>(draw_pyramid<TestType>);
}

TEST_CASE("friction_pyramid: the derivative obeys its laws", "[cones][derivative]") {
  check_derivative_laws<FrictionPyramid<double>>(draw_pyramid<double>);
}

TEMPLATE_TEST_CASE("friction_pyramid: projection is the nearest point, each tangent its own weight",
                   "[cones][oracle]", float, double) {
  const auto draw_inner = [](auto& source) {
    return carom::make_inner_pyramid<TestType>(source.non_negative());
  };
  const auto draw_outer = [](auto& source) {
    return carom::make_outer_pyramid<TestType>(source.non_negative());
  };
  check_against_oracle<FrictionPyramid<TestType>>(draw_inner);
  check_against_oracle<FrictionPyramid<TestType>>(draw_outer);
}

TEMPLATE_TEST_CASE("friction_pyramid: extreme friction loses no accuracy", "[cones][oracle]", float,
                   double) {
  const auto draw_extreme = [](auto& source) {
    return FrictionPyramid<TestType>{source.non_negative(extreme_friction_decades<TestType>)};
  };
  check_extreme_parameters<FrictionPyramid<TestType>>(draw_extreme, 12);
  check_derivative_shape<FrictionPyramid<TestType>>(draw_extreme, 200);
}

TEST_CASE("friction_pyramid: the inner lies in the cone, the cone in the outer", "[cones][law]") {
  WorstCase inner_in_cone("inner in cone"), cone_in_outer("cone in outer");
  WorstCase edges("inner edges touch the cone"), faces("outer faces touch the cone");
  VectorSource<double> source(52);
  for (int sample = 0; sample < 500; ++sample) {
    const FrictionCone<double> cone{source.non_negative(4)};
    const auto inner = carom::make_inner_pyramid(cone.friction);
    const auto outer = carom::make_outer_pyramid(cone.friction);
    const Vector3<double> y = source.template vector<3>(4);
    const Vector3<double> in_inner = project(inner, y).point;
    const Vector3<double> in_cone = project(cone, y).point;
    inner_in_cone.see_holds(contains(cone, in_inner, rounding(8, in_inner.norm())), cone, y);
    cone_in_outer.see_holds(contains(outer, in_cone, rounding(8, in_cone.norm())), cone, y);

    const double m = inner.half_width, mu = cone.friction;
    const Vector3<double> edge(m, -m, 1), face(0, mu, 1);
    edges.see(std::abs(edge.template head<2>().norm() - mu), rounding(4, mu), cone);
    faces.see_holds(contains(outer, face) && outer.half_width == mu, cone);
  }
  for (const WorstCase* law : {&inner_in_cone, &cone_in_outer, &edges, &faces}) law->check(500);
}

TEST_CASE("friction_pyramid: with one tangent at rest it is a planar cone", "[cones][law]") {
  WorstCase same("equals the planar cone");
  for_each_sample<FrictionPyramid<double>>(
      draw_pyramid<double>, 400, 53, 12,
      [&](const auto& cone, const auto& weights, const auto&, auto& source) {
        const int moving = source.unit() < 0.5 ? 0 : 1;
        Vector3<double> y = source.next();  // not on the surface, where regions meet
        y(1 - moving) = 0;
        const PlanarCone<double> planar{cone.half_width};
        const Vector<double, 2> weights2(weights(moving), weights(2)), y2(y(moving), y(2));
        const Vector<double, 2> p2 = project(planar, weights2, y2).point;
        Vector3<double> expected = Vector3<double>::Zero();
        expected(moving) = p2(0);
        expected(2) = p2(1);
        const auto [p, region] = project(cone, weights, y);
        same.see(distance_in(weights, p, expected), projection_allowance(weights, y), cone, weights,
                 y);
        same.see_holds(region == project(planar, weights2, y2).region, cone, weights, y);
      });
  same.check(400);
}

TEST_CASE("friction_pyramid: exact examples with no, one and two faces active",
          "[cones][example]") {
  const FrictionPyramid<double> cone{0.5};
  const Vector3<double> weights(1.0, 4.0, 1.0);
  const auto rest = project(cone, weights, Vector3<double>(1.0, -2.0, 4.0));
  CHECK(rest.region == ConeRegion::stick);
  CHECK(rest.point == Vector3<double>(1.0, -2.0, 4.0));
  // One face: gn = (4 + 4/2 * 4.5) / (1 + 4/4), the first tangent stays.
  const auto one = project(cone, weights, Vector3<double>(1.0, -4.5, 4.0));
  CHECK(one.region == ConeRegion::slide);
  CHECK((one.point - Vector3<double>(1.0, -3.25, 6.5)).norm() <= rounding(8, 6.5));
  // Both faces: gn = (0 + 1/2 * 9 + 4/2 * 9) / (1 + 1/4 + 1) = 10.
  const auto two = project(cone, weights, Vector3<double>(9.0, -9.0, 0.0));
  CHECK(two.region == ConeRegion::slide);
  CHECK((two.point - Vector3<double>(5.0, -5.0, 10.0)).norm() <= rounding(8, 10.0));
  const auto away = project(cone, weights, Vector3<double>(2.0, 2.0, -5.0));
  CHECK(away.region == ConeRegion::separate);  // 1/2 * 2 + 4/2 * 2 = 5
}

TEST_CASE("friction_pyramid: the inner one holds a fifth less than the cone in the mean",
          "[cones][example]") {
  // Along a direction at the angle a from a face's normal, up to 45 degrees, it holds
  // mu/(sqrt 2 cos a): 29.3 % less than the cone at worst, (4/pi) ln(1 + sqrt 2)/sqrt 2 of it in
  // the mean.
  const double mu = 0.7;
  const FrictionPyramid<double> pyramid = carom::make_inner_pyramid(mu);
  double sum = 0, least = 1;
  const int directions = 40'000;
  for (int i = 0; i < directions; ++i) {
    const double angle = 2 * std::numbers::pi * (i + 0.5) / directions;
    const Vector3<double> along(mu * std::cos(angle), mu * std::sin(angle), 0);
    double inside = 0, outside = 2;  // shares of the cone's friction
    for (int halving = 0; halving < 40; ++halving) {
      const double middle = (inside + outside) / 2;
      const Vector3<double> pushed = middle * along + Vector3<double>::UnitZ();
      (contains(pyramid, pushed, 0.0) ? inside : outside) = middle;
    }
    sum += inside;
    least = std::min(least, inside);
  }
  const double mean = 4 / std::numbers::pi * std::log(1 + std::sqrt(2.0)) / std::sqrt(2.0);
  CHECK(std::abs(mean - (1 - 0.2065)) < by_digits(5e-5));
  CHECK(std::abs(sum / directions - mean) < by_digits(1e-7));
  CHECK(std::abs(least - std::sqrt(0.5)) < by_digits(1e-6));
}

}  // namespace friction_pyramid_test
