// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/near_rigid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace near_rigid_test {

using carom::detail::NearRigidWeight, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

TEMPLATE_TEST_CASE("near_rigid: the weight is the larger of spring and clamp", "[contact][law]",
                   float, double) {
  using Scalar = TestType;
  const long double pi = std::acos(-1.0L);
  VectorSource<Scalar> source(611u);
  WorstCase value("R"), slope("dR/dw"), which("which");
  int clamped = 0;
  for (int sample = 0; sample < 2000; ++sample) {
    const Scalar compliant = source.positive(4), beta = source.non_negative(2),
                 w = source.positive(4) * 40;
    const NearRigidWeight<Scalar> weight(compliant, beta, w);
    const long double share = beta * static_cast<long double>(beta) / (4 * pi * pi);
    const long double expected = std::max(static_cast<long double>(compliant), share * w);
    value.see(std::abs(weight.value - expected), rounding(8, Scalar(1)) * expected, compliant, beta,
              w);
    slope.see(std::abs(weight.by_inverse_mass - share), rounding(8, Scalar(1)) * share, beta);
    which.see_holds(weight.clamped == (weight.value != compliant), compliant, beta, w);
    clamped += weight.clamped ? 1 : 0;
  }
  for (const WorstCase* law : {&value, &slope, &which}) law->check(2000);
  CHECK(clamped > 400);
  CHECK(clamped < 1600);
}

TEMPLATE_TEST_CASE("near_rigid: where both are equal the clamp holds", "[contact][edge]", float,
                   double) {
  using Scalar = TestType;
  const NearRigidWeight<Scalar> far(Scalar(0), Scalar(3), Scalar(7));
  CHECK(far.clamped);
  const NearRigidWeight<Scalar> equal(far.value, Scalar(3), Scalar(7));
  CHECK(equal.clamped);
  CHECK(equal.value == far.value);
  // A rigid spring without a clamp.
  CHECK(NearRigidWeight<Scalar>(Scalar(0), Scalar(0), Scalar(7)).value == 0);
  // A spring of no stiffness.
  const Scalar infinity = std::numeric_limits<Scalar>::infinity();
  CHECK(NearRigidWeight<Scalar>(infinity, Scalar(1), Scalar(1)).value == infinity);
  CHECK_FALSE(NearRigidWeight<Scalar>(infinity, Scalar(1), Scalar(1)).clamped);
}

}  // namespace near_rigid_test
