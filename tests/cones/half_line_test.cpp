// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/half_line.hpp"

#include <cmath>

#include "carom/cones/friction_cone.hpp"

#include "support/catch.hpp"
#include "support/cone_laws.hpp"
#include "support/derivative_laws.hpp"

namespace half_line_test {

using carom::ConeRegion, carom::FrictionCone, carom::HalfLine, carom::Vector, carom::Vector3;
using namespace carom::testing;

TEMPLATE_TEST_CASE("half_line: obeys the laws of a cone", "[cones][law]", float, double) {
  check_cone_laws<HalfLine<TestType>>([](auto&) { return HalfLine<TestType>{}; }, 300);
  check_derivative_laws<HalfLine<TestType>>([](auto&) { return HalfLine<TestType>{}; });
}

TEMPLATE_TEST_CASE("half_line: keeps what pushes and drops what pulls", "[cones][example]", float,
                   double) {
  using Limits = std::numeric_limits<TestType>;
  const HalfLine<TestType> line;
  for (const TestType push : {TestType(0), Limits::denorm_min(), TestType(1), Limits::max()}) {
    const Vector<TestType, 1> up(push), down(-push);
    CAPTURE(push);
    CHECK(project(line, up).point == up);
    CHECK(project(line, up).region == ConeRegion::stick);
    CHECK(project(line, down).point == Vector<TestType, 1>(TestType(0)));
    CHECK(contains(line, up));
    CHECK(in_dual(line, up));
    CHECK(contains(line, down) == (push == 0));
    CHECK(contains(line, down, push));
    if (push == 0) continue;
    CHECK(project(line, down).region == ConeRegion::separate);
    CHECK(projection_derivative(line, up)(0) == 1);
    CHECK(projection_derivative(line, down)(0) == 0);
  }
}

TEMPLATE_TEST_CASE("half_line: is the friction cone without friction", "[cones][law]", float,
                   double) {
  WorstCase same("normal entry");
  VectorSource<TestType> source(81);
  for (int sample = 0; sample < 500; ++sample) {
    const FrictionCone<TestType> cone{0};
    const Vector3<TestType> weights = draw_weights(cone, source, 12), y = source.next();
    const Vector<TestType, 1> normal(y.z());
    const Vector3<TestType> p3 = project(cone, weights, y).point;
    const Vector<TestType, 1> p = project(HalfLine<TestType>{}, normal).point;
    same.see(std::abs(p(0) - p3.z()), rounding(4, std::abs(y.z())), weights, y);
    same.see_holds(p3.x() == 0 && p3.y() == 0, weights, y);
  }
  same.check(500);
}

}  // namespace half_line_test
