// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/convex_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Dense>

#include "carom/cones/friction_cone.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace convex_contact_test {

using carom::ConeRegion, carom::ContactOutcome, carom::ConvexGain, carom::ConvexInverseMass,
    carom::SquareMatrix, carom::Vector3;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

/// Positive definite with a condition number up to 10^decades and any scale.
template <typename Scalar>
SquareMatrix<Scalar, 3> random_metric(VectorSource<Scalar>& source, double decades, double scale) {
  SquareMatrix<double, 3> random;
  for (int k = 0; k < 9; ++k) random(k / 3, k % 3) = 2 * source.unit() - 1;
  const SquareMatrix<double, 3> q =
      Eigen::HouseholderQR<SquareMatrix<double, 3>>(random).householderQ();
  const double condition = std::pow(10.0, decades * source.unit());
  const Vector3<double> axes(1, std::pow(condition, -source.unit()), 1 / condition);
  const SquareMatrix<double, 3> w =
      q * (axes * double(source.positive(scale))).asDiagonal() * q.transpose();
  return ((w + w.transpose()) / 2).template cast<Scalar>();
}

/// A load of any size; one in ten along a direction that the cone and its dual meet in.
template <typename Scalar>
Vector3<Scalar> random_load(VectorSource<Scalar>& source, double scale) {
  return source.positive(scale) *
         Vector3<Scalar>(source.entry(1), source.entry(1), source.entry(1));
}

/// How far γ is from γ ∈ ℱ, u ∈ ℱ*, γ·u = 0, relative to what u is made of.
template <typename Scalar>
Scalar law_residual(const ContactOutcome<Scalar>& contact, const SquareMatrix<Scalar, 3>& w,
                    const Vector3<Scalar>& r, const Scalar& mu) {
  const Vector3<Scalar>& impulse = contact.impulse;
  const Vector3<Scalar> u = w * impulse + r;
  const Scalar size = w.norm() * impulse.norm() + r.norm(), wide = std::hypot(Scalar(1), mu);
  if (!(impulse.norm() < std::numeric_limits<Scalar>::max())) return Scalar(1);
  Scalar residual = (u - contact.velocity).norm() / size;
  residual = std::max(residual, Scalar((mu * u.template head<2>().norm() - u(2)) / (wide * size)));
  if (!(impulse.norm() > Scalar(0))) return residual;
  const Scalar outside = impulse.template head<2>().norm() - mu * impulse(2);
  return std::max({residual, Scalar(outside / (wide * impulse.norm())),
                   Scalar(std::abs(impulse.dot(u)) / (impulse.norm() * size))});
}

}  // namespace

TEMPLATE_TEST_CASE("convex_contact: every block meets the convex law", "[cones][law]", float,
                   double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  VectorSource<Scalar> source(1u);
  int regions[3] = {};
  const int rounds = carom::testing::sweep(3000, 6000);
  for (int round = 0; round < rounds; ++round) {
    const SquareMatrix<Scalar, 3> w = random_metric(source, single ? 3 : 8, single ? 4 : 12);
    const Scalar mu = source.unit() < 0.05 ? Scalar(0) : source.positive(6);
    const Vector3<Scalar> r = random_load(source, single ? 4 : 12);
    if (r.isZero(0)) continue;
    const auto contact = ConvexInverseMass<Scalar>(w).solve(r, mu);
    CAPTURE(round, w, r, mu, contact.impulse, contact.velocity, to_string(contact.region));
    CHECK(law_residual<Scalar>(contact, w, r, mu) <= rounding(2000, Scalar(1)));
    ++regions[int(contact.region)];
    // The same law, forces for velocities: lambda = l + G w, w in the dual cone.
    const auto dual = ConvexGain<Scalar>(w).solve(r, mu);
    const Vector3<Scalar> force = r + w * dual.velocity;
    const Scalar size = w.norm() * dual.velocity.norm() + r.norm(),
                 wide = std::hypot(Scalar(1), mu);
    CAPTURE(dual.impulse, dual.velocity, to_string(dual.region));
    const Scalar speed = dual.velocity.norm(), slack = rounding(2000, Scalar(1));
    CHECK((force - dual.impulse).norm() <= slack * size);
    CHECK(dual.impulse.template head<2>().norm() - mu * dual.impulse(2) <= slack * wide * size);
    CHECK(mu * dual.velocity.template head<2>().norm() - dual.velocity(2) <= slack * wide * speed);
    CHECK(std::abs(dual.impulse.dot(dual.velocity)) <= slack * size * speed);
    if (dual.region == ConeRegion::stick) CHECK(dual.velocity.isZero(0));
    if (dual.region == ConeRegion::separate) CHECK(dual.impulse.isZero(0));
  }
  for (const int count : regions) CHECK(count > rounds / 15);
}

TEST_CASE("convex_contact: diagonal blocks are projections onto the cone", "[cones][law]") {
  VectorSource<double> source(2u);
  for (int round = 0; round < 5000; ++round) {
    const double tangent = source.positive(4), mu = source.positive(4);
    const Vector3<double> weights(tangent, tangent, source.positive(4));
    const Vector3<double> r = random_load(source, 6);
    const carom::FrictionCone<double> cone{mu};
    const Vector3<double> expected =
        project(cone, weights, Vector3<double>(-r.cwiseQuotient(weights))).point;
    const auto contact =
        ConvexInverseMass<double>(SquareMatrix<double, 3>(weights.asDiagonal())).solve(r, mu);
    CAPTURE(weights, r, mu, contact.impulse, expected);
    CHECK((contact.impulse - expected).norm() <=
          rounding(100, 1.0) * (1 + expected.norm()) *
              std::sqrt(weights.maxCoeff() / weights.minCoeff()));
  }
}

TEST_CASE("convex_contact: no impulse of the cone costs less", "[cones][law]") {
  VectorSource<double> source(3u);
  for (int round = 0; round < 2000; ++round) {
    const auto w = random_metric(source, 3, 2);
    const double mu = source.positive(2);
    const Vector3<double> r = random_load(source, 2);
    const auto contact = ConvexInverseMass<double>(w).solve(r, mu);
    const auto cost = [&](const Vector3<double>& g) { return 0.5 * g.dot(w * g) + r.dot(g); };
    for (int other = 0; other < 20; ++other) {
      const Vector3<double> near =
          contact.impulse + (1e-3 + contact.impulse.norm()) * 0.3 * source.vector<3>(3);
      const Vector3<double> g =
          project(carom::FrictionCone<double>{mu}, Vector3<double>(1, 1, 1), near).point;
      CHECK(cost(contact.impulse) <=
            cost(g) + rounding(1000, w.norm() * g.squaredNorm() + r.norm() * g.norm()));
    }
  }
}

TEST_CASE("convex_contact: a guess changes the work, not the answer", "[cones][law]") {
  VectorSource<double> source(4u);
  for (int round = 0; round < 500; ++round) {
    const auto w = random_metric(source, 2, 0);
    const Vector3<double> r(source.entry(1), source.entry(1), -source.positive(1));
    const ConvexInverseMass<double> block(w);
    const auto cold = block.solve(r, 0.3);
    if (cold.region != ConeRegion::slide) continue;
    for (const double factor : {1e-6, 0.5, 1.0, 3.0, 1e6}) {
      const auto warm = block.solve(r, 0.3, factor * cold.ratio);
      CAPTURE(w, r, factor);
      CHECK((warm.impulse - cold.impulse).norm() <= rounding(2000, cold.impulse.norm()));
    }
  }
}

TEST_CASE("convex_contact: where the equation for sliding degenerates", "[cones][example]") {
  SquareMatrix<double, 3> w;
  w << 2, 0, 1.5, 0, 2, 0, 1.5, 0, 2;
  const ConvexInverseMass<double> block(w);
  // No tangential load, but coupling that friction .1 cannot hold: slides.
  const Vector3<double> pressed(0, 0, -1);
  const auto slide = block.solve(pressed, 0.1);
  CHECK(slide.region == ConeRegion::slide);
  CHECK(law_residual<double>(slide, w, pressed, 0.1) <= rounding(10, 1.0));
  for (const double tiny : {1e-300, 1e-20, 1e-16, 1e-12, 1e-8}) {
    const Vector3<double> r(tiny, -tiny, -1);
    CAPTURE(tiny);
    CHECK(law_residual<double>(block.solve(r, 0.1), w, r, 0.1) <= rounding(100, 1.0));
  }
  // Loads about the edge where the impulse of the unbounded problem changes sign.
  for (int step = -20; step <= 20; ++step) {
    const Vector3<double> r(1, 0.3, 1e-3 * step - 0.05);
    CAPTURE(step);
    CHECK(law_residual<double>(block.solve(r, 0.5), w, r, 0.5) <= rounding(100, 1.0));
  }
  CHECK(block.solve({3, 4, 2.6}, 0.5).region == ConeRegion::separate);
  CHECK(block.solve({3, 4, 2.4}, 0.5).region == ConeRegion::slide);
  CHECK(block.solve({0, 0, 0}, 0.5).impulse.isZero(0));
  const auto smooth = block.solve({3, 4, -2}, 0);
  CHECK((smooth.impulse - Vector3<double>(0, 0, 1)).norm() <= rounding(4, 1.0));
  CHECK((smooth.velocity - Vector3<double>(4.5, 4, 0)).norm() <= rounding(4, 5.0));
}

TEST_CASE("convex_contact: a gain's guess changes the work, not the answer", "[cones][law]") {
  VectorSource<double> source(5u);
  for (int round = 0; round < 500; ++round) {
    const auto g = random_metric(source, 2, 0);
    const Vector3<double> held(source.entry(1), source.entry(1), source.entry(1));
    const ConvexGain<double> block(g);
    const auto cold = block.solve(held, 0.3);
    if (cold.region != ConeRegion::slide) continue;
    for (const double factor : {1e-6, 0.5, 1.0, 3.0, 1e6}) {
      const auto warm = block.solve(held, 0.3, factor * cold.ratio);
      CAPTURE(g, held, factor);
      CHECK((warm.impulse - cold.impulse).norm() <= rounding(2000, held.norm()));
    }
  }
}

TEST_CASE("convex_contact: 1e6 blocks, full and diagonal", "[cones][slow][.]") {
  VectorSource<double> source(77u);
  double worst = 0, worst_diagonal = 0;
  for (int round = 0; round < 1000000; ++round) {
    const auto w = random_metric(source, 8, 12);
    const Vector3<double> r = random_load(source, 12);
    const double mu = source.positive(6);
    if (r.isZero(0)) continue;
    worst =
        std::max(worst, law_residual<double>(ConvexInverseMass<double>(w).solve(r, mu), w, r, mu));
    const double tangent = source.positive(8), scale = source.positive(12);
    const Vector3<double> weights(scale * tangent, scale * tangent, scale);
    const SquareMatrix<double, 3> diagonal = weights.asDiagonal();
    const auto nearest = project(carom::FrictionCone<double>{mu}, weights,
                                 Vector3<double>(-r.cwiseQuotient(weights)));
    const Vector3<double> u = weights.cwiseProduct(nearest.point) + r;
    worst_diagonal =
        std::max(worst_diagonal,
                 law_residual<double>({nearest.point, u, nearest.region, 0.0}, diagonal, r, mu));
  }
  CAPTURE(worst, worst_diagonal);
  CHECK(worst <= rounding(5000, 1.0));
  CHECK(worst_diagonal <= rounding(5000, 1.0));
}

TEST_CASE("convex_contact: friction beyond the rounding of the type is taken as its end",
          "[cones][example]") {
  SquareMatrix<double, 3> g;
  g << 2, 0.5, 0.3, 0.5, 3, 0.2, 0.3, 0.2, 1;
  const ConvexGain<double> block(g);
  const Vector3<double> held(3, 4, -1);
  const double least = std::numeric_limits<double>::epsilon(), most = 1 / least;
  for (const auto& [beyond, end] : {std::pair(least / 1024, least), std::pair(most * 1024, most)}) {
    const auto expected = block.solve(held, end), found = block.solve(held, beyond);
    CAPTURE(beyond);
    CHECK(found.region == expected.region);
    CHECK(found.impulse == expected.impulse);
    CHECK(found.velocity == expected.velocity);
    CHECK(found.velocity.allFinite());
  }
  CHECK(block.solve(held, least / 1024).velocity != block.solve(held, most * 1024).velocity);
}

TEST_CASE("convex_contact: the axes of a singular block keep a rounding of its large value",
          "[cones][example]") {
  const carom::detail::TangentAxes<double> axes(1, 1, 1);
  CHECK(std::abs(axes.high - 2) <= rounding(4, 2.0));
  CHECK(axes.low == std::numeric_limits<double>::epsilon() * axes.high);
  CHECK(std::abs(axes.cosine - axes.sine) <= rounding(4, 1.0));
}

}  // namespace convex_contact_test
