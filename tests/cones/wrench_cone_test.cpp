// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/wrench_cone.hpp"

#include "support/catch.hpp"
#include "support/cone_laws.hpp"
#include "support/derivative_laws.hpp"
#include "support/projection_oracle.hpp"

namespace wrench_cone_test {

using carom::ConeRegion, carom::FrictionCone, carom::RollingCone, carom::SpinlessRollingCone;
using carom::TorsionalCone;
using carom::Vector, carom::Vector3;
using namespace carom::testing;

namespace {

template <typename Scalar>
TorsionalCone<Scalar> draw_torsional(VectorSource<Scalar>& source) {
  return {source.non_negative(), source.non_negative()};
}

template <typename Scalar>
RollingCone<Scalar> draw_rolling(VectorSource<Scalar>& source) {
  return {source.non_negative(), source.non_negative(), source.non_negative()};
}

template <typename Scalar>
SpinlessRollingCone<Scalar> draw_spinless(VectorSource<Scalar>& source) {
  return {source.non_negative(), source.non_negative()};
}

}  // namespace

TEMPLATE_TEST_CASE("wrench_cone: the torsional cone obeys the laws of a cone", "[cones][law]",
                   float, double) {
  check_cone_laws<TorsionalCone<TestType>>(draw_torsional<TestType>);
  check_rotation_law<TorsionalCone<TestType>>(draw_torsional<TestType>);
}

TEMPLATE_TEST_CASE("wrench_cone: the rolling cone obeys the laws of a cone", "[cones][law]", float,
                   double) {
  check_cone_laws<RollingCone<TestType>>(draw_rolling<TestType>);
  check_rotation_law<RollingCone<TestType>>(draw_rolling<TestType>);
  check_cone_laws<SpinlessRollingCone<TestType>>(draw_spinless<TestType>);
  check_rotation_law<SpinlessRollingCone<TestType>>(draw_spinless<TestType>);
}

TEST_CASE("wrench_cone: the derivatives obey their laws", "[cones][derivative]") {
  check_derivative_laws<TorsionalCone<double>>(draw_torsional<double>);
  check_derivative_laws<RollingCone<double>>(draw_rolling<double>);
  check_derivative_laws<SpinlessRollingCone<double>>(draw_spinless<double>);
}

TEMPLATE_TEST_CASE("wrench_cone: projection is the nearest point", "[cones][oracle]", float,
                   double) {
  check_against_oracle<TorsionalCone<TestType>>(draw_torsional<TestType>);
  check_against_oracle<RollingCone<TestType>>(draw_rolling<TestType>, 600);
  check_against_oracle<SpinlessRollingCone<TestType>>(draw_spinless<TestType>, 600);
}

TEMPLATE_TEST_CASE("wrench_cone: extreme friction loses no accuracy", "[cones][oracle]", float,
                   double) {
  const auto draw_extreme = [](auto& source) {
    const auto friction = [&] { return source.non_negative(extreme_friction_decades<TestType>); };
    return RollingCone<TestType>{friction(), friction(), friction()};
  };
  check_extreme_parameters<RollingCone<TestType>>(draw_extreme, 12);
  check_derivative_shape<RollingCone<TestType>>(draw_extreme, 200);
}

TEST_CASE("wrench_cone: moments at rest leave a friction cone", "[cones][law]") {
  WorstCase torsional("torsional"), rolling("rolling");
  for_each_sample<RollingCone<double>>(
      draw_rolling<double>, 400, 54, 12,
      [&](const auto& cone, const auto& weights, const auto& drawn, auto&) {
        const Vector3<double> y = drawn.template head<3>();
        const Vector3<double> weights3 = weights.template head<3>();
        const auto expected = project(FrictionCone<double>{cone.friction}, weights3, y);
        const long double allowance = projection_allowance(weights3, y);

        const Vector<double, 4> y4(y(0), y(1), y(2), double(0));
        const Vector<double, 4> weights4 = weights.template head<4>();
        const auto four =
            project(TorsionalCone<double>{cone.friction, cone.torsional_friction}, weights4, y4);
        torsional.see(distance_in(weights3, four.point, expected.point), allowance, cone, weights,
                      y);
        torsional.see_holds(four.point(3) == 0, cone, weights, y);

        Vector<double, 6> y6 = Vector<double, 6>::Zero();
        y6.template head<3>() = y;
        const auto six = project(cone, weights, y6);
        rolling.see(distance_in(weights3, six.point, expected.point), allowance, cone, weights, y);
        rolling.see_holds(six.point.template tail<3>().isZero(0), cone, weights, y);
      });
  torsional.check(400);
  rolling.check(400);
}

TEST_CASE("wrench_cone: without a spin the rolling cone is the one of six rows", "[cones][law]") {
  WorstCase worst("five rows of six");
  for_each_sample<SpinlessRollingCone<double>>(
      draw_spinless<double>, 400, 55, 12,
      [&](const auto& cone, const auto& weights, const auto& y, auto&) {
        Vector<double, 6> spread = Vector<double, 6>::Zero(), weights6 = spread;
        spread.template head<5>() = y;
        weights6 << weights, double(1);
        const RollingCone<double> whole{cone.friction, cone.rolling_friction, double(0)};
        const auto six = project(whole, weights6, spread);
        const auto five = project(cone, weights, y);
        const Vector<double, 5> expected = six.point.template head<5>();
        worst.see(distance_in(weights, five.point, expected), projection_allowance(weights, y),
                  cone, weights, y);
        worst.see_holds(five.region == six.region, cone, weights, y);
      });
  worst.check(400);
}

TEST_CASE("wrench_cone: a block without friction and load hides no other block",
          "[cones][regression]") {
  // The middle block is 0 <= 0 for any normal; the spin still exceeds its bound.
  const RollingCone<double> cone{1.0, 0.0, 1.0};
  Vector<double, 6> y;
  y << 1.0, 0.0, 2.0, 0.0, 0.0, 5.0;
  const auto [point, region] = project(cone, y);
  Vector<double, 6> expected;  // gn = (2 + 5) / (1 + 1)
  expected << 1.0, 0.0, 3.5, 0.0, 0.0, 3.5;
  CHECK(region == ConeRegion::slide);
  CHECK((point - expected).norm() <= rounding(4, expected.norm()));
}

TEST_CASE("wrench_cone: exact examples with one and two blocks sliding", "[cones][example]") {
  const TorsionalCone<double> cone{0.75, 0.5};
  const auto inside = project(cone, Vector<double, 4>(3.0, 0.0, 4.0, -2.0));
  CHECK(inside.region == ConeRegion::stick);  // on both surfaces counts
  // The spin alone slides: gn = (4 + 4.5 / 2) / (1 + 1/4) = 5.
  const auto spinning = project(cone, Vector<double, 4>(0.0, 3.0, 4.0, -4.5));
  CHECK(spinning.region == ConeRegion::slide);
  CHECK((spinning.point - Vector<double, 4>(0.0, 3.0, 5.0, -2.5)).norm() <= rounding(4, 5.0));
  // Both: gn = (0 + 3/4 * 10 + 1/2 * 10) / (1 + 9/16 + 1/4) = 12.5 * 16/29.
  const auto both = project(cone, Vector<double, 4>(6.0, -8.0, 0.0, 10.0));
  const double normal = 12.5 * 16 / 29;
  const Vector<double, 4> expected(0.45 * normal, -0.6 * normal, normal, 0.5 * normal);
  CHECK((both.point - expected).norm() <= rounding(8, expected.norm()));
  const auto away = project(cone, Vector<double, 4>(4.0, 0.0, -4.0, 2.0));
  CHECK(away.region == ConeRegion::separate);  // 3/4 * 4 + 1/2 * 2 = 4
}

}  // namespace wrench_cone_test
