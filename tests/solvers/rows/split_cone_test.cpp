// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/split_cone.hpp"

#include <cmath>
#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/solvers/rows/dual_blocks.hpp"

#include "support/catch.hpp"
#include "support/own_rows.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace split_cone_test {

using carom::FrictionLaw, carom::ImpulseSet, carom::ImpulseShape, carom::RowNumbers;
using carom::SquareMatrix, carom::Vector3;
using carom::detail::LocalRows, carom::detail::SplitCone;
using carom::testing::draw_block, carom::testing::draw_rows, carom::testing::rounding,
    carom::testing::VectorSource;

namespace {

constexpr ImpulseShape covered[] = {ImpulseShape::friction, ImpulseShape::torsional,
                                    ImpulseShape::rolling, ImpulseShape::spinless_rolling};

/// The impulse after visits with all other impulses constant.
template <typename Scalar>
RowNumbers<Scalar> solve_often(const SplitCone<Scalar, 6>& cone, const SquareMatrix<Scalar, 6>& w,
                               const RowNumbers<Scalar>& velocity, int visits = 2000) {
  RowNumbers<Scalar> impulse = RowNumbers<Scalar>::Zero();
  for (int k = 0; k < visits; ++k) {
    cone.solve((velocity + w * impulse).eval(), impulse);
  }
  return impulse;
}

}  // namespace

TEMPLATE_TEST_CASE("split_cone: visits end at the impulse that obeys Coulomb's law",
                   "[solvers][oracle]", float, double) {
  VectorSource<TestType> source(31);
  int slid = 0, stuck = 0, open = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const ImpulseShape shape = covered[trial % 4];
    const ImpulseSet<TestType> set = carom::cone_impulses<TestType>(
        shape, {TestType(0.4), TestType(trial % 3 == 0 ? 0 : 0.2), TestType(0.1)});
    REQUIRE(SplitCone<TestType, 6>::covers(set));
    const auto w = draw_block(source, set.rows);
    RowNumbers<TestType> velocity = draw_rows(source, set.rows);
    velocity(2) -= TestType(trial % 5) / 4;
    SplitCone<TestType, 6> cone;
    cone.prepare(set, w, 1);
    const RowNumbers<TestType> found = solve_often(cone, w, velocity);
    CAPTURE(trial, found.transpose(), velocity.transpose());
    // the map of the law does not move it, whatever its step
    const RowNumbers<TestType> u = velocity + w * found;
    const RowNumbers<TestType> trial_impulse = found - u / 4;
    const RowNumbers<TestType> mapped = coulomb_impulse(set, trial_impulse);
    CHECK((mapped - found).norm() <= rounding<TestType>(1e3, 1 + found.norm()));
    const TestType tangent = found.template head<2>().norm();
    (found(2) == 0 ? open : tangent < TestType(0.399) * found(2) ? stuck : slid) += 1;
  }
  CHECK(slid > 10);
  CHECK(stuck > 5);
  CHECK(open > 10);
}

TEMPLATE_TEST_CASE("split_cone: three rows are those of a friction contact among six",
                   "[solvers][law]", float, double) {
  VectorSource<TestType> source(32);
  for (int trial = 0; trial < 30; ++trial) {
    const auto set = carom::friction_impulses<TestType>(TestType(0.3) * TestType(trial % 4));
    const auto w = draw_block(source, 3);
    RowNumbers<TestType> velocity = draw_rows(source, 3), six = draw_rows(source, 3);
    six = coulomb_impulse(set, six);
    Vector3<TestType> three = six.template head<3>();
    SplitCone<TestType, 6> wide;
    SplitCone<TestType, 3> narrow;
    wide.prepare(set, w, 1);
    narrow.prepare(set, w.template topLeftCorner<3, 3>(), 1);
    wide.solve(velocity, six);
    narrow.solve(velocity.template head<3>(), three);
    CHECK((six.template head<3>() - three).norm() <= rounding<TestType>(10, 1 + three.norm()));
    CHECK(three.template head<2>().norm() <=
          set.friction.x() * three(2) + rounding<TestType>(10, three(2)));
    CHECK(narrow.own(1) == w(1, 1));
  }
}

TEST_CASE("split_cone: a block of zeros stays finite", "[solvers][law]") {
  const auto set = carom::friction_impulses(0.5);
  SplitCone<double, 3> cone;
  cone.prepare(set, SquareMatrix<double, 3>::Zero(), 1.0);
  Vector3<double> impulse(0.1, 0, 1);
  cone.solve(Vector3<double>(0, 0, 0), impulse);
  CHECK(impulse == Vector3<double>(0.1, 0, 1));  // no velocity: nothing moves
  cone.solve(Vector3<double>(1, 0, -1), impulse);
  CHECK(impulse.allFinite());
}

TEMPLATE_TEST_CASE("split_cone: a ball that falls is stopped at once, however small it is",
                   "[solvers][law]", float, double) {
  const auto mass = TestType(0.1);
  for (const double radius : {1.0, 1e-2, 1e-3, 1e-5}) {
    const auto r = TestType(radius);
    const auto set =
        carom::cone_impulses<TestType>(ImpulseShape::rolling, {TestType(0.5), r / 10, r / 10});
    SquareMatrix<TestType, 6> w = SquareMatrix<TestType, 6>::Zero();
    for (int k = 0; k < 6; ++k) w(k, k) = k < 3 ? 1 / mass : TestType(2.5) / (mass * r * r);
    SplitCone<TestType, 6> cone;
    cone.prepare(set, w, w.trace());
    RowNumbers<TestType> impulse = RowNumbers<TestType>::Zero(), velocity = impulse;
    velocity(2) = -2;
    cone.solve(velocity, impulse);
    CHECK(std::abs(impulse(2) - 2 * mass) <= rounding<TestType>(10, mass));
  }
}

TEST_CASE("split_cone: sets with another form are not covered", "[solvers][law]") {
  using Cone = SplitCone<double, 6>;
  for (const ImpulseShape shape :
       {ImpulseShape::planar, ImpulseShape::elliptic, ImpulseShape::ellipsoidal_torsional,
        ImpulseShape::ellipsoidal_rolling}) {
    CHECK_FALSE(Cone::covers(carom::cone_impulses<double>(shape, {0.4, 0.2, 0.1})));
  }
  CHECK_FALSE(Cone::covers(carom::free_impulses<double>(3)));
  auto shifted = carom::friction_impulses(0.5);
  shifted.shift(2) = 1;
  CHECK_FALSE(Cone::covers(shifted));
  CHECK_FALSE(SplitCone<double, 3>::covers(
      carom::cone_impulses<double>(ImpulseShape::rolling, {0.4, 0.2, 0.1})));
}

}  // namespace split_cone_test
