// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/natural_map.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace natural_map_test {

using carom::ConeRegion, carom::FrictionCone, carom::FrictionLaw;
using carom::RowNumbers, carom::Vector3;
using carom::detail::natural_map, carom::detail::natural_map_squared;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

template <typename Scalar>
RowNumbers<Scalar> six_rows(const Vector3<Scalar>& x) {
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
  rows.template head<3>() = x;
  return rows;
}

}  // namespace

TEST_CASE("natural_map: three rows of a cone are a friction contact's set", "[contact][law]") {
  VectorSource<double> source(32u);
  for (int round = 0; round < 300; ++round) {
    const double mu = source.unit() < 0.1 ? 0 : source.unit(), w = source.positive(1);
    const Vector3<double> impulse = source.vector<3>(1, 0), u = source.vector<3>(1, 0);
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      const double three = natural_map_squared(law, FrictionCone<double>{mu}, impulse, u, w);
      const double six = natural_map_squared(law, carom::friction_impulses(mu),
                                             six_rows<double>(impulse), six_rows<double>(u), w);
      CHECK(std::abs(three - six) <=
            rounding(50, std::pow(w * impulse.norm() + (1 + mu) * u.norm(), 2)));
    }
  }
}

TEST_CASE("natural_map: numbers that are not finite make it infinite", "[contact][edge]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double bad = std::numeric_limits<double>::quiet_NaN();
  const Vector3<double> one(0, 0, 1), broken(0, bad, 1);
  const FrictionCone<double> cone{0.5};
  CHECK(natural_map_squared(FrictionLaw::coulomb, cone, one, broken, 1.0) == infinity);
  CHECK(natural_map_squared(FrictionLaw::convex, carom::friction_impulses(0.5),
                            six_rows<double>(broken), six_rows<double>(one), 1.0) == infinity);
  ConeRegion region{};
  CHECK(natural_map(cone, broken, one, region).minCoeff() == infinity);
}

}  // namespace natural_map_test
