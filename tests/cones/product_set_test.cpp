// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/product_set.hpp"

#include <limits>

#include "carom/cones/box.hpp"
#include "carom/cones/ellipsoidal_cone.hpp"
#include "carom/cones/friction_cone.hpp"
#include "carom/cones/planar_cone.hpp"

#include "support/catch.hpp"
#include "support/cone_laws.hpp"
#include "support/derivative_laws.hpp"

namespace product_set_test {

using carom::Box, carom::ConeRegion, carom::EllipticCone, carom::FrictionCone, carom::PlanarCone;
using carom::ProductSet, carom::SetVector, carom::Vector, carom::Vector3;
using namespace carom::testing;

namespace {

template <typename Scalar>
using Contact = ProductSet<FrictionCone<Scalar>, PlanarCone<Scalar>, PlanarCone<Scalar>>;

template <typename Scalar>
using Mechanism = ProductSet<Box<Scalar, 2>, FrictionCone<Scalar>, Box<Scalar, 1>>;

template <typename Scalar>
Box<Scalar, 1> whole_line() {
  const Vector<Scalar, 1> infinity(std::numeric_limits<Scalar>::infinity());
  return {-infinity, infinity};
}

template <typename Scalar>
Contact<Scalar> draw_contact(VectorSource<Scalar>& source) {
  return {{FrictionCone<Scalar>{source.non_negative(6)}, PlanarCone<Scalar>{source.non_negative(6)},
           PlanarCone<Scalar>{source.non_negative(6)}}};
}

template <typename Scalar>
Mechanism<Scalar> draw_mechanism(VectorSource<Scalar>& source) {
  const Vector<Scalar, 2> reach(source.non_negative(), source.non_negative());
  return {{Box<Scalar, 2>{-reach, reach}, FrictionCone<Scalar>{source.non_negative(6)},
           whole_line<Scalar>()}};
}

}  // namespace

static_assert(carom::ConvexConeLike<Contact<double>> && Contact<double>::dimension == 7);
static_assert(carom::ConvexSetLike<Mechanism<double>> && Mechanism<double>::dimension == 6);
static_assert(!carom::ConvexConeLike<Mechanism<double>>, "a box is no cone");

TEST_CASE("product_set: cones obey the laws of a cone", "[cones][law]") {
  check_cone_laws<Contact<double>>(draw_contact<double>, 400);
}

TEST_CASE("product_set: sets obey the laws of a set", "[cones][law]") {
  check_set_laws<Mechanism<double>>(draw_mechanism<double>, 400);
}

TEST_CASE("product_set: the derivative obeys its laws", "[cones][derivative]") {
  check_derivative_laws<Contact<double>>(draw_contact<double>, 200, 1e-9L);
}

TEST_CASE("product_set: equals its parts", "[cones][law]") {
  WorstCase points("point"), slopes("block-diagonal slope"), members("member"), duals("dual");
  WorstCase regions("region");
  VectorSource<double> source(95);
  for (int sample = 0; sample < 500; ++sample) {
    const Contact<double> set = draw_contact(source);
    const auto& [cone, first, planar] = set.factors;
    const Vector<double, 7> weights = draw_weights(set, source, 12);
    Vector<double, 7> y = source.template vector<7>();
    if (sample % 3 == 0) y = project(set, y).point;
    if (sample % 3 == 1) y(2) = y(4) = y(6) = -double(1e12);
    const Vector3<double> w0 = weights.template head<3>(), y0 = y.template head<3>();
    const Vector<double, 2> w1 = weights.template segment<2>(3), y1 = y.template segment<2>(3);
    const Vector<double, 2> w2 = weights.template tail<2>(), y2 = y.template tail<2>();
    const auto p0 = project(cone, w0, y0);
    const auto p1 = project(first, w1, y1);
    const auto p2 = project(planar, w2, y2);
    const auto p = project(set, weights, y);
    Vector<double, 7> expected;
    expected << p0.point, p1.point, p2.point;
    points.see_holds(p.point == expected, set, weights, y);

    const bool agree = p0.region == p1.region && p1.region == p2.region;
    const ConeRegion region = agree ? p0.region : ConeRegion::slide;
    regions.see_holds(p.region == region, set, weights, y, p.region, region);

    carom::SquareMatrix<double, 7> slope = carom::SquareMatrix<double, 7>::Zero();
    slope.template topLeftCorner<3, 3>() = projection_derivative(cone, w0, y0);
    slope.template block<2, 2>(3, 3) = projection_derivative(first, w1, y1);
    slope.template bottomRightCorner<2, 2>() = projection_derivative(planar, w2, y2);
    slopes.see_holds(projection_derivative(set, weights, y) == slope, set, weights, y);

    members.see_holds(
        contains(set, y) == (contains(cone, y0) && contains(first, y1) && contains(planar, y2)),
        set, y);
    duals.see_holds(
        in_dual(set, y) == (in_dual(cone, y0) && in_dual(first, y1) && in_dual(planar, y2)), set,
        y);
  }
  for (const WorstCase* law : {&points, &slopes, &members, &duals, &regions}) law->check(500);
}

TEST_CASE("product_set: each factor alone decides membership", "[cones][example]") {
  const Contact<double> set{
      {FrictionCone<double>{1.0}, PlanarCone<double>{1.0}, PlanarCone<double>{1.0}}};
  Vector<double, 7> inside;
  inside << 1.0, 0.0, 2.0, 0.0, 2.0, 1.0, 2.0;
  CHECK(contains(set, inside));
  CHECK(in_dual(set, inside));
  CHECK(project(set, inside).region == ConeRegion::stick);
  Vector<double, 7> polar;
  polar << 1.0, 0.0, -2.0, 0.0, -1.0, 1.0, -2.0;
  CHECK(project(set, polar).region == ConeRegion::separate);
  for (const int entry : {0, 3, 5}) {
    Vector<double, 7> outside = inside;
    outside(entry) = 3.0;
    CAPTURE(entry);
    CHECK_FALSE(contains(set, outside));
    CHECK_FALSE(in_dual(set, outside));
    CHECK(contains(set, outside, 1.0));
    CHECK(in_dual(set, outside, 1.0));
    CHECK(project(set, outside).region == ConeRegion::slide);
  }
}

TEST_CASE("product_set: products nest and hold a single factor", "[cones][example]") {
  using Single = ProductSet<EllipticCone<double>>;
  using Lines = ProductSet<Box<double, 1>, Box<double, 1>>;
  using Nested = ProductSet<Single, Lines>;
  const Vector<double, 1> zero(0.0), infinity(std::numeric_limits<double>::infinity());
  const Single single{{EllipticCone<double>{{0.75, 0.5}}}};
  const Nested nested{{single, Lines{{Box<double, 1>{zero, infinity}, whole_line<double>()}}}};
  Vector<double, 5> y;
  y << 3.0, 0.0, 2.0, -1.0, -1.0;
  const auto p = project(nested, y);
  const Vector3<double> head = y.head<3>();
  CHECK(p.point.head<3>() == project(single, head).point);
  CHECK(p.point.head<3>() == project(std::get<0>(single.factors), head).point);
  CHECK(p.point(3) == 0.0);
  CHECK(p.point(4) == -1.0);
}

}  // namespace product_set_test
