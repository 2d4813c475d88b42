// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/ellipsoidal_cone.hpp"

#include <cmath>
#include <limits>

#include "carom/cones/friction_cone.hpp"

#include "support/catch.hpp"
#include "support/cone_laws.hpp"
#include "support/derivative_laws.hpp"
#include "support/projection_oracle.hpp"

namespace ellipsoidal_cone_test {

using carom::ConeRegion, carom::EllipsoidalCone, carom::EllipsoidalRollingCone;
using carom::EllipsoidalTorsionalCone, carom::EllipticCone, carom::FrictionCone;
using carom::SquareMatrix, carom::Vector, carom::Vector3;
using namespace carom::testing;

namespace {

/// Semi-axes over `decades` decades; one direction in ten has no friction.
template <int Dimension, typename Scalar>
EllipsoidalCone<Scalar, Dimension> draw_ellipsoid(VectorSource<Scalar>& source,
                                                  double decades = 12) {
  EllipsoidalCone<Scalar, Dimension> cone;
  for (auto& mu : cone.friction) mu = source.non_negative(decades);
  return cone;
}

template <int Dimension>
constexpr auto draw = [](auto& source) { return draw_ellipsoid<Dimension>(source); };

/// Duals pass through the scalar iteration, whose last step leaves their slopes at the root of the
/// rounding error of long double.
constexpr long double dual_allowance = 1e-8L;

/// dP/dy from one Newton step in duals on the oracle's multiplier.
template <typename Scalar, int Dimension>
LongMatrix derivative_by_oracle(const EllipsoidalCone<Scalar, Dimension>& cone,
                                const Vector<Scalar, Dimension>& given_weights,
                                const Vector<Scalar, Dimension>& given_y) {
  using Number = Dual<long double, Dimension>;
  using Single = Dual<long double, 1>;
  const Vector<long double, Dimension - 1> friction = cone.friction.template cast<long double>();
  const Vector<long double, Dimension> weights = given_weights.template cast<long double>();
  const Vector<long double, Dimension> y = given_y.template cast<long double>();
  const long double multiplier = ellipsoid_multiplier<Dimension>(friction, weights, y);
  Vector<Number, Dimension> dual_y;
  Vector<Single, Dimension> single_y;
  for (int i = 0; i < Dimension; ++i) {
    dual_y(i) = Number::variable(y(i), std::size_t(i));
    single_y(i) = Single(y(i));
  }
  const long double slope = ellipsoid_residual<Single, Dimension>(friction, weights, single_y,
                                                                  Single::variable(multiplier, 0))
                                .slope[0];
  const Number step = Number(multiplier) - ellipsoid_residual<Number, Dimension>(
                                               friction, weights, dual_y, Number(multiplier)) /
                                               Number(slope);
  const auto point = ellipsoid_point<Number, Dimension>(friction, weights, dual_y, step);
  LongMatrix result(Dimension, Dimension);
  for (int i = 0; i < Dimension; ++i) {
    for (int j = 0; j < Dimension; ++j) result(i, j) = point(i).slope[std::size_t(j)];
  }
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("ellipsoidal_cone: elliptic friction obeys the laws of a cone", "[cones][law]",
                   float, double) {
  check_cone_laws<EllipticCone<TestType>>(draw<3>);
}

TEMPLATE_TEST_CASE("ellipsoidal_cone: torsional and rolling obey the laws of a cone",
                   "[cones][law]", float, double) {
  check_cone_laws<EllipsoidalTorsionalCone<TestType>>(draw<4>);
  check_cone_laws<EllipsoidalRollingCone<TestType>>(draw<6>);
}

TEST_CASE("ellipsoidal_cone: equal tangent axes are isotropic", "[cones][law]") {
  check_rotation_law<EllipsoidalRollingCone<double>>([](auto& source) {
    auto cone = draw_ellipsoid<6>(source);
    cone.friction(1) = cone.friction(0);
    cone.friction(3) = cone.friction(2);
    return cone;
  });
}

TEMPLATE_TEST_CASE("ellipsoidal_cone: the derivative obeys its laws", "[cones][derivative]", float,
                   double) {
  check_derivative_laws<EllipticCone<TestType>>(draw<3>, 300, dual_allowance);
  check_derivative_shape<EllipsoidalRollingCone<TestType>>(draw<6>, 200);
}

TEMPLATE_TEST_CASE("ellipsoidal_cone: the derivative equals that of the oracle",
                   "[cones][derivative]", float, double) {
  using Cone = EllipsoidalTorsionalCone<TestType>;
  if (!carom::testing::has_longer<TestType>) return;
  const auto draw_moderate = [](auto& source) { return draw_ellipsoid<4>(source, 4); };
  WorstCase worst("slope of the sliding point");
  for_each_sample<Cone>(
      draw_moderate, 400, 61, 4,
      [&](const Cone& cone, const auto& weights, const auto&, auto& source) {
        const Vector<TestType, 4> y = source.template vector<4>(4);
        const auto [p, region] = project(cone, weights, y);
        const long double multiplier = ellipsoid_multiplier<4>(
            cone.friction.template cast<long double>().eval(),
            weights.template cast<long double>().eval(), y.template cast<long double>().eval());
        if (region != ConeRegion::slide || multiplier == 0 || std::isinf(multiplier)) return;
        const LongMatrix error =
            in_metric_coordinates(weights, projection_derivative(cone, weights, y)) -
            in_metric_coordinates(weights, derivative_by_oracle(cone, weights, y));
        worst.see(largest_entry(error), rounding(32, TestType(1)), cone, weights, y);
      });
  worst.check(100);
}

TEMPLATE_TEST_CASE("ellipsoidal_cone: projection is the nearest point", "[cones][oracle]", float,
                   double) {
  check_against_oracle<EllipticCone<TestType>>(draw<3>);
  check_against_oracle<EllipsoidalTorsionalCone<TestType>>(draw<4>);
  check_against_oracle<EllipsoidalRollingCone<TestType>>(draw<6>, 400);
}

TEMPLATE_TEST_CASE("ellipsoidal_cone: extreme friction loses no accuracy", "[cones][oracle]", float,
                   double) {
  const auto draw_extreme = [](auto& source) {
    return draw_ellipsoid<4>(source, extreme_friction_decades<TestType>);
  };
  check_extreme_parameters<EllipsoidalTorsionalCone<TestType>>(draw_extreme, 12);
  check_derivative_shape<EllipsoidalTorsionalCone<TestType>>(draw_extreme, 200);
}

TEMPLATE_TEST_CASE("ellipsoidal_cone: points a rounding from the surface stay accurate",
                   "[cones][oracle]", float, double) {
  using Cone = EllipsoidalTorsionalCone<TestType>;
  WorstCase surface("near the surface"), polar("near the polar cone"), slopes("finite derivative");
  VectorSource<TestType> source(62);
  for (int sample = 0; sample < 400; ++sample) {
    const Cone cone = draw_ellipsoid<4>(source, 2);
    const Vector<TestType, 4> weights = draw_weights(cone, source, 2);
    const Vector<TestType, 4> drawn = source.template vector<4>(2);
    const Vector<TestType, 4> p = project(cone, weights, drawn).point;
    // P − y is R⁻¹ times the dual surface, y − P thus lies on the polar cone in the metric.
    for (Vector<TestType, 4> y : {p, Vector<TestType, 4>(drawn - p)}) {
      WorstCase& worst = y == p ? surface : polar;
      for (int i = 0; i < 4; ++i) {
        y(i) *= 1 + TestType(int(3 * source.unit()) - 1) * rounding(2, TestType(1));
      }
      compare_with_oracle(worst, cone, weights, y);
      const LongMatrix m = in_metric_coordinates(weights, projection_derivative(cone, weights, y));
      slopes.see(largest_entry(m), 1 + rounding(32, TestType(1)), cone, weights, y);
    }
  }
  surface.check(400);
  polar.check(100);
  slopes.check(400);
}

TEST_CASE("ellipsoidal_cone: the scalar root takes few steps", "[cones][law]") {
  const struct {
    double decades;
    int most;
    double mean;  // half a step more where the iteration starts at 0, not at the asymptote's root
  } expectations[] = {{1, 8, 3.0}, {4, 12, 2.2}};
  for (const auto& expected : expectations) {
    WorstCase most("steps");
    long total = 0, count = 0;
    VectorSource<double> source(63);
    for (int sample = 0; sample < 4000; ++sample) {
      const auto cone = draw_ellipsoid<6>(source, expected.decades);
      const Vector<double, 6> weights = draw_weights(cone, source, expected.decades);
      const Vector<double, 6> y = source.vector<6>(expected.decades);
      const carom::detail::EllipsoidProjection<double> k(6, cone.friction.data(), weights.data(),
                                                         y.data());
      if (k.region != ConeRegion::slide || k.only_drops) continue;
      most.see(k.section.steps, expected.most, cone, weights, y);
      total += k.section.steps;
      ++count;
    }
    most.check(1000);
    CAPTURE(expected.decades, total, count);
    CHECK(double(total) <= expected.mean * double(count));
  }
}

TEST_CASE("ellipsoidal_cone: the scalar root never needs its step limit", "[cones][law]") {
  WorstCase most("steps");
  VectorSource<double> source(64);
  for (int sample = 0; sample < 4000; ++sample) {
    const auto cone = draw_ellipsoid<4>(source, 12);
    const Vector<double, 4> weights = draw_weights(cone, source, 12);
    const Vector<double, 4> y = source.vector<4>(12);
    const carom::detail::EllipsoidProjection<double> k(4, cone.friction.data(), weights.data(),
                                                       y.data());
    most.see(k.section.steps, carom::detail::ellipsoid_step_limit - 1, cone, weights, y);
  }
  most.check(4000);
}

TEMPLATE_TEST_CASE("ellipsoidal_cone: equal axes are the friction cone, nearly equal ones nearly",
                   "[cones][law]", float, double) {
  WorstCase same("equals the friction cone"), close("tends to the friction cone");
  WorstCase regions("same region");
  VectorSource<TestType> source(65);
  for (int sample = 0; sample < 600; ++sample) {
    const FrictionCone<TestType> round{source.non_negative()};
    const Vector3<TestType> weights = draw_weights(round, source, 12);
    const Vector3<TestType> y = source.next();
    const auto expected = project(round, weights, y);
    const auto actual =
        project(EllipticCone<TestType>{{round.friction, round.friction}}, weights, y);
    same.see(distance_in(weights, expected.point, actual.point), projection_allowance(weights, y),
             round, weights, y);
    regions.see_holds(expected.region == actual.region, round, weights, y);
    // |P_a − P_b|_R <= |y|_R sin(angle between the cones) <= |y|_R (relative change of an axis).
    const TestType change = TestType(1e-3);
    const EllipticCone<TestType> wider{{round.friction, round.friction * (1 + change)}};
    close.see(distance_in(weights, expected.point, project(wider, weights, y).point),
              2 * change * norm_in(weights, y), round, weights, y);
  }
  for (const WorstCase* law : {&same, &close, &regions}) law->check(600);
}

TEST_CASE("ellipsoidal_cone: a direction without friction is dropped", "[cones][law]") {
  WorstCase dropped("equals the cone of the other directions");
  VectorSource<double> source(66);
  for (int sample = 0; sample < 400; ++sample) {
    EllipsoidalTorsionalCone<double> cone = draw_ellipsoid<4>(source);
    cone.friction(2) = 0;
    const Vector<double, 4> weights = draw_weights(cone, source, 12);
    Vector<double, 4> y = source.template vector<4>();
    y(3) = sample % 2 == 0 ? double(1) : double(0);
    const EllipticCone<double> rest{cone.friction.template head<2>()};
    const auto four = project(cone, weights, y);
    const auto three = project(rest, Vector3<double>(weights.template head<3>()),
                               Vector3<double>(y.template head<3>()));
    dropped.see(distance_in(weights.template head<3>().eval(), four.point, three.point),
                projection_allowance(weights, y), cone, weights, y);
    dropped.see_holds(four.point(3) == 0, cone, weights, y);
    const bool moved = three.region == ConeRegion::stick && y(3) != 0;
    const ConeRegion expected = !moved                  ? three.region
                                : three.point.isZero(0) ? ConeRegion::separate
                                                        : ConeRegion::slide;
    dropped.see_holds(four.region == expected, cone, weights, y, four.region, expected);
  }
  dropped.check(400);
}

TEST_CASE("ellipsoidal_cone: exact examples in every region", "[cones][example]") {
  const EllipticCone<double> cone{{0.75, 0.5}};
  for (const double scale : {1.0, 0x1p-1040, 0x1p1000}) {
    CAPTURE(scale);
    const Vector3<double> surface = scale * Vector3<double>(3.0, 0.0, 4.0);
    CHECK(project(cone, surface).region == ConeRegion::stick);
    CHECK(project(cone, surface).point == surface);
    const Vector3<double> polar = scale * Vector3<double>(4.0, 8.0, -5.0);  // |(3, 4)| = 5
    CHECK(project(cone, polar).region == ConeRegion::separate);
    CHECK(project(cone, polar).point == Vector3<double>::Zero());
  }
  // Multiplier 1/2 with R = 1: gn = 2, (gn - yn) = -(1/2) gn / 1 gives yn = 1,
  // g = mu gn (0.6, 0.8) = (0.9, 0.8), y_i = g_i (1 + 0.5 / mu_i^2).
  const Vector3<double> y(0.9 * (1 + 0.5 / 0.5625), 0.8 * 3, 1.0);
  const auto slide = project(cone, y);
  CHECK(slide.region == ConeRegion::slide);
  CHECK((slide.point - Vector3<double>(0.9, 0.8, 2.0)).norm() <= rounding(8, 2.0));
  // Multiplier 3: gn = 2, yn = (1 - 3) gn = -4.
  const Vector3<double> y_below(0.9 * (1 + 3 / 0.5625), 0.8 * 13, -4.0);
  const auto below = project(cone, y_below);
  CHECK((below.point - Vector3<double>(0.9, 0.8, 2.0)).norm() <= rounding(16, y_below.norm()));
  // Multiplier Rn = 1: yn = 0.
  const Vector3<double> y_level(0.9 * (1 + 1 / 0.5625), 0.8 * 5, 0.0);
  const auto level = project(cone, y_level);
  CHECK((level.point - Vector3<double>(0.9, 0.8, 2.0)).norm() <= rounding(16, y_level.norm()));
}

TEST_CASE("ellipsoidal_cone: membership is the ellipsoid's inequality", "[cones][example]") {
  const EllipsoidalTorsionalCone<double> cone{{0.75, 0.5, 0.0}};
  CHECK(contains(cone, Vector<double, 4>(2.25, 2.0, 5.0, 0.0)));  // |(3, 4)| = 5
  CHECK_FALSE(contains(cone, Vector<double, 4>(2.25, 2.5, 5.0, 0.0)));
  CHECK_FALSE(contains(cone, Vector<double, 4>(2.5, 2.0, 5.0, 0.0)));
  CHECK_FALSE(contains(cone, Vector<double, 4>(2.25, 2.0, 5.0, 0.25)));
  CHECK(contains(cone, Vector<double, 4>(2.25, 2.0, 5.0, 0.25), 0.25));
  CHECK_FALSE(contains(cone, Vector<double, 4>(0.0, 0.0, -0.5, 0.0)));
  CHECK(contains(cone, Vector<double, 4>(0.0, 0.0, -0.5, 0.0), 0.5));
  CHECK(in_dual(cone, Vector<double, 4>(4.0, 8.0, 5.0, 99.0)));
  CHECK_FALSE(in_dual(cone, Vector<double, 4>(4.0, 8.5, 5.0, 0.0)));
  CHECK_FALSE(in_dual(cone, Vector<double, 4>(4.5, 8.0, 5.0, 0.0)));
  CHECK(in_dual(cone, Vector<double, 4>(4.0, 8.5, 5.0, 0.0), 0.25));
}

TEMPLATE_TEST_CASE("ellipsoidal_cone: next to the end of the range it scales as anywhere",
                   "[cones][law]", float, double) {
  using Scalar = TestType;
  const EllipticCone<Scalar> cone{{Scalar(0.5), Scalar(0.25)}};
  const Vector3<Scalar> weights(2, 3, 4), y(3, 4, 5), beside(3, 4, Scalar(0.5));
  const Scalar large = std::ldexp(Scalar(1), std::numeric_limits<Scalar>::max_exponent - 4);
  for (const Vector3<Scalar>& point : {y, beside}) {
    const auto expected = project(cone, weights, point);
    for (const Scalar scale : {large, 1 / large}) {
      CAPTURE(scale, point.transpose());
      const auto found = project(cone, weights, Vector3<Scalar>(point * scale));
      CHECK(found.region == expected.region);
      CHECK((found.point / scale - expected.point).norm() <= rounding(16, expected.point.norm()));
      const auto weighted = project(cone, Vector3<Scalar>(weights * scale), point);
      CHECK((weighted.point - expected.point).norm() <= rounding(16, expected.point.norm()));
    }
  }
}

}  // namespace ellipsoidal_cone_test
