// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/ball_on_path.hpp"

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace ball_on_path_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::FrictionLaw;
using carom::Vector3;
using carom::examples::BallOnPath;

const std::vector<double> products{10, 1, 0.1, 1e-3, 1e-6, 1e-12};

const Vector3<double> sliding{-5, 0, -1}, sticking{-1, 0, -1}, leaving{-1, 0, 0.5};

TEST_CASE("ball_on_path: the normal of Coulomb's path solves its quadratic equation",
          "[scenes][oracle]") {
  for (const Vector3<double>& q : {sliding, sticking, leaving}) {
    for (const double friction : {0.1, BallOnPath::alike, 2.0}) {
      const BallOnPath ball{.friction = friction, .free_velocity = q};
      const auto points = ball.path(FrictionLaw::coulomb, products);
      for (std::size_t i = 0; i < products.size(); ++i) {
        CAPTURE(q.transpose(), friction, products[i]);
        const double expected = ball.coulomb_normal(products[i]);
        CHECK(std::abs(points[i].z() - expected) <= by_solver(1e-10) * expected);
      }
    }
  }
}

TEST_CASE("ball_on_path: impulses of the convex path have the eigenvalues of two equations",
          "[scenes][oracle]") {
  for (const Vector3<double>& q : {sliding, sticking, leaving}) {
    const BallOnPath ball{.free_velocity = q};
    const auto points = ball.path(FrictionLaw::convex, products);
    for (std::size_t i = 0; i < products.size(); ++i) {
      const Vector3<double> expected = ball.convex_impulse(products[i]);
      CAPTURE(q.transpose(), products[i], points[i].transpose(), expected.transpose());
      CHECK((points[i] - expected).norm() <= by_solver(1e-10) * expected.norm());
    }
  }
}

TEST_CASE("ball_on_path: slip, normal and friction hold together at every kappa", "[scenes][law]") {
  for (const Vector3<double>& q : {sliding, sticking}) {
    const BallOnPath ball{.friction = 0.3, .free_velocity = q};
    const auto points = ball.path(FrictionLaw::coulomb, products);
    for (std::size_t i = 0; i < products.size(); ++i) {
      const Vector3<double> u = ball.delassus().cwiseProduct(points[i]) + q;
      const double slip = ball.friction * u.x(), half = u.z() / 2;
      const double zeta = half + std::sqrt(half * half + slip * slip);
      CAPTURE(q.transpose(), products[i], u.transpose());
      CHECK(points[i].x() * zeta == Approx(-ball.friction * slip * points[i].z())
                                        .epsilon(by_solver(1e-6))
                                        .margin(rounding(5000, 1.0)));
    }
  }
}

TEST_CASE("ball_on_path: it ends where Coulomb's law says, sliding and sticking", "[scenes][law]") {
  const BallOnPath slides{.free_velocity = sliding}, sticks{.free_velocity = sticking};
  const Vector3<double> slid = slides.path(FrictionLaw::coulomb, products).back();
  CHECK((slid - Vector3<double>(BallOnPath::alike, 0, 1)).norm() < by_solver(1e-9));
  const Vector3<double> stuck = sticks.path(FrictionLaw::coulomb, products).back();
  CHECK((stuck - Vector3<double>(2.0 / 7, 0, 1)).norm() < by_solver(1e-9));
}

}  // namespace ball_on_path_test
