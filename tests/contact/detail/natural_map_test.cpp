// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/natural_map.hpp"

#include <cmath>
#include <limits>

#include "carom/cones/convex_contact.hpp"
#include "carom/cones/coulomb_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace natural_map_test {

using carom::testing::clearly;

using carom::ConeRegion, carom::FrictionCone, carom::FrictionLaw, carom::ImpulseSet;
using carom::RowNumbers, carom::SquareMatrix, carom::Vector3;
using carom::detail::law_velocity, carom::detail::natural_map, carom::detail::natural_map_squared;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

template <typename Scalar>
RowNumbers<Scalar> six_rows(const Vector3<Scalar>& x) {
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
  rows.template head<3>() = x;
  return rows;
}

}  // namespace

TEMPLATE_TEST_CASE("natural_map: vanishes at solutions of one contact, under either law",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(31u);
  int seen[3] = {};
  for (int round = 0; round < 400; ++round) {
    SquareMatrix<Scalar, 3> root;
    for (carom::Index c = 0; c < 3; ++c) root.col(c) = source.template vector<3>(1, 0);
    const SquareMatrix<Scalar, 3> w = root * root.transpose() + SquareMatrix<Scalar, 3>::Identity();
    const Vector3<Scalar> load = source.template vector<3>(1, 0);
    const Scalar mu = Scalar(source.unit()), step = Scalar(1) / w.trace();
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      const auto answer = law == FrictionLaw::coulomb
                              ? carom::CoulombInverseMass<Scalar>(w).solve(load, mu)
                              : carom::ConvexInverseMass<Scalar>(w).solve(load, mu);
      const FrictionCone<Scalar> cone{mu};
      ConeRegion region{};
      const Vector3<Scalar> moved = law_velocity(law, cone, answer.velocity);
      const Vector3<Scalar> map =
          natural_map(cone, answer.impulse, Vector3<Scalar>(step * moved), region);
      const Scalar scale = answer.impulse.norm() + step * load.norm();
      CAPTURE(w, load, mu, to_string(law), answer.impulse);
      CHECK(map.norm() <= rounding(200, scale));
      ++seen[int(answer.region)];
      // Away from the solution it does not vanish.
      const Vector3<Scalar> aside = answer.impulse + scale * Vector3<Scalar>(0, 0, 1);
      const Vector3<Scalar> there = law_velocity(law, cone, Vector3<Scalar>(w * aside + load));
      CHECK(natural_map(cone, aside, Vector3<Scalar>(step * there), region).norm() >
            clearly(Scalar(1e-3)) * scale);
    }
  }
  for (const int count : seen) CHECK(count > 10);
}

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
