// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/free_line.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/cone_laws.hpp"
#include "support/derivative_laws.hpp"

namespace free_line_test {

using carom::ConeRegion, carom::FreeLine, carom::Vector;
using namespace carom::testing;

TEMPLATE_TEST_CASE("free_line: obeys the laws of a cone", "[cones][law]", float, double) {
  check_cone_laws<FreeLine<TestType>>([](auto&) { return FreeLine<TestType>{}; }, 300);
  check_derivative_laws<FreeLine<TestType>>([](auto&) { return FreeLine<TestType>{}; });
}

TEMPLATE_TEST_CASE("free_line: holds every finite number, and its dual only zero",
                   "[cones][example]", float, double) {
  using Limits = std::numeric_limits<TestType>;
  const FreeLine<TestType> line;
  for (const TestType x : {TestType(0), Limits::denorm_min(), TestType(-1), Limits::lowest()}) {
    const Vector<TestType, 1> y(x);
    CAPTURE(x);
    CHECK(contains(line, y));
    CHECK(project(line, y).point == y);
    CHECK(project(line, y).region == ConeRegion::stick);
    CHECK(projection_derivative(line, y)(0) == 1);
    CHECK(in_dual(line, y) == (x == 0));
    CHECK(in_polar(line, y) == (x == 0));
    CHECK(in_dual(line, y, std::abs(x)));
  }
  CHECK_FALSE(contains(line, Vector<TestType, 1>(Limits::quiet_NaN())));
  CHECK_FALSE(contains(line, Vector<TestType, 1>(Limits::infinity())));
}

}  // namespace free_line_test
