// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/solid_touches.hpp"

#include <algorithm>
#include <numbers>
#include <vector>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "scenes/pile.hpp"

namespace solid_touches_test {

using carom::testing::by_conditioning, carom::testing::rounding;

using carom::Vector3;
using carom::examples::make_ball, carom::examples::make_box_solid;
using carom::examples::Solid, carom::examples::SolidTouches, carom::examples::Touch;

constexpr double high = 100;  // above the floor [m]

Solid placed(Solid solid, const Vector3<double>& position) {
  solid.body.position = position + high * Vector3<double>::UnitZ();
  return solid;
}
std::vector<Touch> find(const std::vector<Solid>& solids, double reach = 1e-3) {
  SolidTouches finder;
  finder.reach = reach;
  return finder.find(solids);
}

TEST_CASE("solid_touches: two balls touch on the line of their centres", "[scenes][law]") {
  const std::vector<Solid> balls{placed(make_ball(0.2, 1), {0, 0, 0}),
                                 placed(make_ball(0.1, 1), {0.18, 0.24, 0})};
  const auto touches = find(balls);
  REQUIRE(touches.size() == 1);
  CHECK(std::abs(touches[0].gap) < rounding(50, 1.0));
  CHECK((touches[0].normal - Vector3<double>(-0.6, -0.8, 0)).norm() < rounding(50, 1.0));
  CHECK((touches[0].point - Vector3<double>(0.12, 0.16, high)).norm() < rounding(500, 1.0));
  CHECK(find({balls[0], placed(make_ball(0.1, 1), {0.31, 0, 0})}).empty());
}

TEST_CASE("solid_touches: a ball touches a box at a face, an edge, a corner, and from within",
          "[scenes][law]") {
  const Solid box = placed(make_box_solid({0.1, 0.2, 0.3}, 1), {0, 0, 0});
  const auto gap = [&](const Vector3<double>& place) {
    const auto touches = find({box, placed(make_ball(0.05, 1), place)}, 1);
    REQUIRE(touches.size() == 1);
    CHECK(touches[0].first == 1);  // the normal points into the ball
    return touches[0].gap;
  };
  CHECK(gap({0.16, 0, 0.1}) == Approx(0.01));
  CHECK(gap({0.13, 0.24, 0}) == Approx(0).margin(rounding(5, 1.0)));
  CHECK(gap({0.11, 0.22, 0.32}) == Approx(-0.02));
  CHECK(gap({0.09, 0, 0}) == Approx(-0.06));
}

TEST_CASE("solid_touches: a box on a box touches at the corners of the common rectangle",
          "[scenes][law]") {
  const Solid below = placed(make_box_solid({0.3, 0.3, 0.1}, 1), {0, 0, 0});
  Solid above = placed(make_box_solid({0.1, 0.2, 0.1}, 1), {0.25, 0, 0.199});
  for (const bool turned : {false, true}) {
    if (turned) {
      above.body.orientation = Eigen::AngleAxisd(std::numbers::pi, Vector3<double>::UnitZ());
    }
    const auto touches = find({below, above});
    REQUIRE(touches.size() == 4);
    for (const Touch& touch : touches) {
      CHECK(touch.gap == Approx(-0.001));
      CHECK((touch.normal + Vector3<double>::UnitZ()).norm() <
            rounding(5000, 1.0));  // into the one below
      CHECK(std::min(std::abs(touch.point.x() - 0.15), std::abs(touch.point.x() - 0.3)) <
            rounding(5000, 1.0));
      CHECK(std::abs(touch.point.y()) == Approx(0.2));
      CHECK(touch.point.z() == Approx(high + 0.0995));
    }
  }
}

TEST_CASE("solid_touches: crossed edges touch in one point", "[scenes][law]") {
  const double diagonal = 0.1 * std::sqrt(2.0);
  Solid below = placed(make_box_solid({0.1, 0.1, 0.1}, 1), {0, 0, 0});
  Solid above = placed(make_box_solid({0.1, 0.1, 0.1}, 1), {0.02, 0.03, 2 * diagonal - 0.001});
  below.body.orientation = Eigen::AngleAxisd(std::numbers::pi / 4, Vector3<double>::UnitX());
  above.body.orientation = Eigen::AngleAxisd(std::numbers::pi / 4, Vector3<double>::UnitY());
  const auto touches = find({below, above});
  REQUIRE(touches.size() == 1);
  CHECK(touches[0].gap == Approx(-0.001));
  CHECK((touches[0].normal + Vector3<double>::UnitZ()).norm() < rounding(5000, 1.0));
  CHECK((touches[0].point - Vector3<double>(0.02, 0, high + diagonal - 0.0005)).norm() <
        rounding(5000, 1.0));
}

TEST_CASE("solid_touches: gaps of boxes are those of their corners and edges, whatever their pose",
          "[scenes][oracle]") {
  carom::examples::detail::SteadyNoise noise(7);
  int touching = 0;
  for (int k = 0; k < 400; ++k) {
    Solid one = placed(make_box_solid({0.1, 0.15, 0.2}, 1), {0, 0, 0});
    Solid other = placed(make_box_solid({0.12, 0.1, 0.16}, 1), 0.3 * noise.vector());
    one.body.orientation = Eigen::AngleAxisd(3 * noise.next(), noise.vector().normalized());
    other.body.orientation = Eigen::AngleAxisd(3 * noise.next(), noise.vector().normalized());
    // A grid of points of the other: any within the first box is deeper than no touch reported.
    const Eigen::Matrix3d a = one.axes(), b = other.axes();
    bool overlap = false;
    for (int g = 0; g < 9 * 9 * 9 && !overlap; ++g) {
      const Vector3<double> share(g % 9 / 4.0 - 1, g / 9 % 9 / 4.0 - 1, g / 81 / 4.0 - 1);
      const Vector3<double> point =
          other.body.position + b * share.cwiseProduct(other.half) - one.body.position;
      overlap = ((a.transpose() * point).cwiseAbs() - one.half).maxCoeff() < -1e-9;
    }
    const auto touches = find({one, other}, 0);
    if (overlap) {
      CAPTURE(k);
      REQUIRE(!touches.empty());
      ++touching;
    }
    for (const Touch& touch : touches) {
      CHECK(touch.normal.norm() == Approx(1));
      CHECK(touch.normal.dot(one.body.position - other.body.position) > -rounding(5000, 1.0));
    }
    // If they are moved apart by the deepest touch along its normal, they do not overlap.
    double deepest = 0;
    Vector3<double> way = Vector3<double>::Zero();
    for (const Touch& touch : touches) {
      if (touch.gap < deepest) way = touch.normal;
      deepest = std::min(deepest, touch.gap);
    }
    one.body.position -= 1.000001 * deepest * way;
    CHECK(find({one, other}, -1e-6).empty());
  }
  CHECK(touching > 100);
}

TEST_CASE("solid_touches: the bin has a floor and four walls", "[scenes][law]") {
  SolidTouches finder;
  finder.half_width = 1;
  finder.reach = 1e-3;
  Solid ball = make_ball(0.1, 1), box = make_box_solid({0.1, 0.1, 0.1}, 1);
  ball.body.position << 0.9, -0.9, 0.1;
  box.body.position << -0.9, 0, 0.1;
  const auto touches = finder.find({ball, box});
  CHECK(touches.size() == 3 + 8);
  for (const Touch& touch : touches) {
    CHECK(touch.second == -1);
    CHECK(std::abs(touch.gap) < rounding(5000, 1.0));
  }
}

TEST_CASE("solid_touches: what is reported does not depend on who comes first", "[scenes][law]") {
  carom::examples::detail::SteadyNoise noise(9);
  std::vector<Solid> solids;
  for (int k = 0; k < 60; ++k) {
    Solid solid = k % 3 == 0 ? make_box_solid({0.1, 0.12, 0.09}, 1) : make_ball(0.1, 1);
    solid = placed(solid, 0.5 * noise.vector());
    solid.body.orientation = Eigen::AngleAxisd(3 * noise.next(), noise.vector().normalized());
    solids.push_back(solid);
  }
  const auto gaps = [](const std::vector<Touch>& touches) {
    std::vector<double> result;
    for (const Touch& touch : touches) result.push_back(touch.gap);
    std::sort(result.begin(), result.end());
    return result;
  };
  const auto forwards = gaps(find(solids));
  std::reverse(solids.begin(), solids.end());
  const auto backwards = gaps(find(solids));
  REQUIRE(forwards.size() == backwards.size());
  for (std::size_t i = 0; i < forwards.size(); ++i) {
    CHECK(std::abs(forwards[i] - backwards[i]) < by_conditioning(1e-9));
  }
}

}  // namespace solid_touches_test
