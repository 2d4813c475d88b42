// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/curvature.hpp"

#include <cmath>
#include <utility>

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/dual.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace curvature_test {

using carom::ConeRegion, carom::ContactCurvature, carom::ContactWeights, carom::FrictionCone;
using carom::Index, carom::make_curvature, carom::SquareMatrix, carom::Vector3;
using carom::testing::Dual, carom::testing::foot_on_cone, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

static_assert(noexcept(make_curvature(std::declval<const FrictionCone<double>&>(),
                                      std::declval<const ContactWeights<double>&>(),
                                      std::declval<const Vector3<double>&>())));

namespace {

/// dP/dy of the geometric projection, by automatic differentiation.
template <typename Scalar>
SquareMatrix<long double, 3> slope_of_foot(const FrictionCone<Scalar>& cone,
                                           const ContactWeights<Scalar>& weights,
                                           const Vector3<Scalar>& y) {
  using Number = Dual<long double, 3>;
  Vector3<Number> input;
  for (std::size_t i = 0; i < 3; ++i) input(Index(i)) = Number::variable(y(Index(i)), i);
  const Vector3<Number> foot = foot_on_cone<Number>(Number(cone.friction), Number(weights.tangent),
                                                    Number(weights.normal), input);
  SquareMatrix<long double, 3> slope;
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) slope(i, j) = foot(i).slope[std::size_t(j)];
  }
  return slope;
}

template <typename Scalar>
struct Sample {
  FrictionCone<Scalar> cone;
  ContactWeights<Scalar> weights;
  Vector3<Scalar> y;
  ConeRegion region;
};

/// Draws contacts at random; the three regions and the cone without friction all come up.
template <typename Scalar, typename Visit>
void for_each_sample(int count, const Visit& visit) {
  VectorSource<Scalar> source(31337u);
  for (int sample = 0; sample < count; ++sample) {
    Sample<Scalar> s{{source.pick({0, 0.01, 0.5, 1, 10})},
                     {source.positive(6), source.positive(6)},
                     source.template vector<3>(3, 0.05),
                     ConeRegion::stick};
    s.region = project(s.cone, s.weights, s.y).region;
    visit(s);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("curvature: root times its transpose is the projection's slope over R",
                   "[contact][derivative]", float, double) {
  using Scalar = TestType;
  WorstCase stick("stick"), slide("slide"), separate("separate");
  for_each_sample<Scalar>(6000, [&](const Sample<Scalar>& s) {
    const auto curvature = make_curvature(s.cone, s.weights, s.y);
    const SquareMatrix<long double, 3> root = curvature.root.template cast<long double>();
    const Vector3<long double> diagonal(s.weights.tangent, s.weights.tangent, s.weights.normal);
    const SquareMatrix<long double, 3> expected =
        slope_of_foot(s.cone, s.weights, s.y) * diagonal.cwiseInverse().asDiagonal();
    // In the metric's own coordinates everything is of size one; γₙ may have cancelled.
    const Vector3<long double> unit = diagonal.cwiseSqrt();
    const SquareMatrix<long double, 3> error =
        unit.asDiagonal() * (root * root.transpose() - expected) * unit.asDiagonal();
    WorstCase& law = s.region == ConeRegion::stick   ? stick
                     : s.region == ConeRegion::slide ? slide
                                                     : separate;
    law.see(error.cwiseAbs().maxCoeff(), rounding(30, Scalar(1)), s.cone.friction,
            s.weights.tangent, s.weights.normal, s.y);
  });
  stick.check(500);
  slide.check(500);
  separate.check(500);
}

TEMPLATE_TEST_CASE("curvature: the rank is the region's, and columns beyond it are zero",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  WorstCase ranks("rank"), zeros("columns beyond the rank");
  for_each_sample<Scalar>(3000, [&](const Sample<Scalar>& s) {
    const auto curvature = make_curvature(s.cone, s.weights, s.y);
    const int sliding = s.cone.friction == Scalar(0) ? 1 : 2;
    const int expected = s.region == ConeRegion::stick   ? 3
                         : s.region == ConeRegion::slide ? sliding
                                                         : 0;
    ranks.see_holds(curvature.rank == expected, s.cone.friction, s.weights.tangent,
                    s.weights.normal, s.y, curvature.rank);
    zeros.see_holds(curvature.root.rightCols(3 - curvature.rank).isZero(Scalar(0)));
  });
  ranks.check(3000);
  zeros.check(3000);
}

TEST_CASE("curvature: it is the convex cost's own second derivative", "[contact][derivative]") {
  // ½‖P(y)‖²_R has gradient R P(y); seen from contact velocities its Hessian is G = (dP/dy) R⁻¹.
  const FrictionCone<double> cone{0.5};
  const ContactWeights<double> weights{0.02, 0.3};
  for (const Vector3<double>& y : {Vector3<double>(0.1, -0.2, 3), Vector3<double>(3, 1, 1),
                                   Vector3<double>(2, -4, -0.01), Vector3<double>(0.1, 0.1, -5)}) {
    const auto impulse_at = [&](const Vector3<double>& velocity) {
      const Vector3<double> trial =
          y - Vector3<double>(velocity.x() / weights.tangent, velocity.y() / weights.tangent,
                              velocity.z() / weights.normal);
      return Vector3<double>(project(cone, weights, trial).point);
    };
    const auto curvature = make_curvature(cone, weights, y);
    const Eigen::Matrix3d g = curvature.root * curvature.root.transpose();
    for (int k = 0; k < 3; ++k) {
      const Vector3<double> step = 1e-6 * Vector3<double>::Unit(k);
      const Vector3<double> slope = -(impulse_at(step) - impulse_at(-step)) / 2e-6;
      CAPTURE(y.transpose(), k, slope.transpose(), g);
      CHECK((slope - g.col(k)).norm() <= 1e-8 * (1 + g.norm()));
    }
  }
}

TEST_CASE("curvature: on the axis there is no direction to slide in", "[contact][example]") {
  const FrictionCone<double> cone{0.5};
  const ContactWeights<double> weights{4, 25};
  const auto above = make_curvature(cone, weights, {0, 0, 1});
  CHECK(above.rank == 3);
  CHECK(above.root.isApprox(Eigen::Vector3d(0.5, 0.5, 0.2).asDiagonal().toDenseMatrix()));
  CHECK(make_curvature(cone, weights, {0, 0, -1}).rank == 0);
  CHECK(make_curvature(FrictionCone<double>{0}, weights, {0, 0, -1}).rank == 0);
}

}  // namespace curvature_test
