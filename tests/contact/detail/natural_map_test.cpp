// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/natural_map.hpp"

#include <cmath>
#include <limits>

#include "carom/contact/contact_problem.hpp"

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

  using carom::detail::relative_error;
  CHECK(relative_error(3.0, 4.0) == 0.75);
  CHECK(relative_error(3.0, 0.0) == 3);
  CHECK(relative_error(3.0, infinity) == infinity);
  CHECK(relative_error(3.0, bad) == infinity);
  const carom::detail::Yardstick<double> yardstick{FrictionLaw::coulomb, 2, 1};
  carom::detail::MapSums<double> sums;
  sums.map = 16;
  CHECK(sums.error(yardstick) == 2);
  sums.map = bad;
  CHECK(sums.error(yardstick) == infinity);
}

TEST_CASE("natural_map: the yardstick counts R where a block has it", "[contact][law]") {
  using carom::detail::YardstickSums;
  CHECK(YardstickSums<double>().yardstick(FrictionLaw::coulomb).inverse_mass == 1);
  carom::ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d(Vector3<double>(2, 4, 8).asDiagonal()),
                   Vector3<double>(1, 2, 3));
  const Vector3<double> moved(3, 0, 4);
  for (const bool rigid : {false, true}) {
    problem.add_contact(0, Eigen::Matrix3d::Identity(),
                        carom::WeightedContact<double>{0.5, {0.25, 0.5}, {0, 0, 0}, rigid});
    const auto contact = problem.friction_contact(problem.block_count() - 1);
    for (const bool softened : {false, true}) {
      YardstickSums<double> sums;
      const double trace = sums.add(contact, moved, softened);
      CHECK(std::abs(trace - (0.5 + 0.25 + 0.125)) <= rounding(8, 1.0));
      CHECK(sums.diagonal == trace + (rigid && !softened ? 0 : 0.25 + 0.25 + 0.5));
      CHECK(sums.load_squared == 25);
      CHECK(sums.rows == 3);
      CHECK(sums.yardstick(FrictionLaw::convex).load == 5);
    }
  }
}

}  // namespace natural_map_test
