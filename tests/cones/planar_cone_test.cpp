// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/planar_cone.hpp"

#include "carom/cones/friction_cone.hpp"

#include "support/catch.hpp"
#include "support/cone_laws.hpp"
#include "support/derivative_laws.hpp"
#include "support/projection_oracle.hpp"

namespace planar_cone_test {

using carom::ConeRegion, carom::FrictionCone, carom::PlanarCone, carom::Vector, carom::Vector3;
using namespace carom::testing;

namespace {

template <typename Scalar>
PlanarCone<Scalar> draw_planar(VectorSource<Scalar>& source) {
  return {source.non_negative()};
}

}  // namespace

TEMPLATE_TEST_CASE("planar_cone: obeys the laws of a cone", "[cones][law]", float, double) {
  check_cone_laws<PlanarCone<TestType>>(draw_planar<TestType>);
}

TEST_CASE("planar_cone: the derivative obeys its laws", "[cones][derivative]") {
  check_derivative_laws<PlanarCone<double>>(draw_planar<double>);
}

TEMPLATE_TEST_CASE("planar_cone: projection is the nearest point", "[cones][oracle]", float,
                   double) {
  check_against_oracle<PlanarCone<TestType>>(draw_planar<TestType>);
}

TEMPLATE_TEST_CASE("planar_cone: extreme friction loses no accuracy", "[cones][oracle]", float,
                   double) {
  const auto draw_extreme = [](auto& source) {
    return PlanarCone<TestType>{source.non_negative(extreme_friction_decades<TestType>)};
  };
  check_extreme_parameters<PlanarCone<TestType>>(draw_extreme, 12);
  check_derivative_shape<PlanarCone<TestType>>(draw_extreme, 200);
}

TEST_CASE("planar_cone: is the friction cone cut at y_t2 = 0", "[cones][law]") {
  WorstCase same("equals the friction cone"), slope("so does the derivative");
  for_each_sample<PlanarCone<double>>(
      draw_planar<double>, 400, 51, 12,
      [&](const auto& cone, const auto& weights, const auto& y, auto&) {
        const FrictionCone<double> spatial{cone.friction};
        const Vector3<double> weights3(weights(0), weights(0), weights(1));
        const Vector3<double> y3(y(0), 0, y(1));
        const Vector3<double> p3 = project(spatial, weights3, y3).point;
        const Vector<double, 2> p = project(cone, weights, y).point;
        same.see(distance_in(weights, p, Vector<double, 2>(p3(0), p3(2))),
                 projection_allowance(weights, y), cone, weights, y, p, p3);
        const auto region = project(cone, weights, y).region;
        if (region != project(spatial, weights3, y3).region) return;
        const auto d = projection_derivative(cone, weights, y);
        const auto d3 = projection_derivative(spatial, weights3, y3);
        carom::SquareMatrix<double, 2> cut;
        cut << d3(0, 0), d3(0, 2), d3(2, 0), d3(2, 2);
        slope.see(
            largest_entry(in_metric_coordinates(weights, d) - in_metric_coordinates(weights, cut)),
            rounding(16, double(1)), cone, weights, y, region);
      });
  same.check(400);
  slope.check(300);
}

TEST_CASE("planar_cone: one exact example per region", "[cones][example]") {
  const PlanarCone<double> cone{0.75};
  const Vector<double, 2> surface(3.0, 4.0), polar(-3.0, -2.25), outside(5.0, 0.0);
  for (const double scale : {1.0, 0x1p-1060, 0x1p1000}) {
    CAPTURE(scale);
    CHECK(project(cone, Vector<double, 2>(scale * surface)).region == ConeRegion::stick);
    CHECK(project(cone, Vector<double, 2>(scale * surface)).point == scale * surface);
    CHECK(project(cone, Vector<double, 2>(scale * polar)).region == ConeRegion::separate);
  }
  const auto slide = project(cone, outside);
  CHECK(slide.region == ConeRegion::slide);
  CHECK((slide.point - Vector<double, 2>(1.8, 2.4)).norm() <= rounding(4, 5.0));
}

}  // namespace planar_cone_test
