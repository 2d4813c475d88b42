// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/spatial_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_trees.hpp"
#include "support/tolerance.hpp"

namespace spatial_body_test {

using namespace carom::testing;
using carom::check_bodies, carom::Index, carom::JointKind, carom::SpatialBody;
using Point = carom::Vector3<double>;
using Matrix = carom::SquareMatrix<double, 3>;

namespace {

/// What is said of a chain of three bodies whose body 1 was changed.
[[nodiscard]] std::string said(const std::function<void(SpatialBody<double>&)>& change) {
  std::vector<SpatialBody<double>> bodies(3);
  for (Index i = 0; i < 3; ++i) {
    bodies[std::size_t(i)].parent = i - 1;
    bodies[std::size_t(i)].inertia.diagonal() << 1, 2, 2.5;
  }
  REQUIRE(check_bodies(bodies).empty());
  change(bodies[1]);
  return check_bodies(bodies);
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("spatial_body: bad entries are named", "[variational][edge]") {
  using Body = SpatialBody<double>;
  CHECK(check_bodies(std::vector<Body>{}) == "bodies: expected at least 1, got 0");
  for (const Index parent : {-2, 1, 2}) {
    CHECK(said([&](Body& b) { b.parent = parent; }) ==
          "body 1: parent: expected -1 or the index of an earlier body, got " +
              std::to_string(parent));
  }
  CHECK(said([](Body& b) { b.axis(1) = not_a_number; }) ==
        "body 1: axis entry 1: expected a finite number, got nan");
  CHECK(said([](Body& b) { b.axis *= 2; }) == "body 1: axis: expected length 1, got 2");
  CHECK(said([](Body& b) { b.axis.setZero(); }) == "body 1: axis: expected length 1, got 0");
  CHECK(said([](Body& b) { b.place(2) = infinite; }) ==
        "body 1: place entry 2: expected a finite number, got inf");
  CHECK(said([](Body& b) { b.centre(0) = -infinite; }) ==
        "body 1: centre entry 0: expected a finite number, got -inf");
  CHECK(said([](Body& b) { b.turn(2, 1) = not_a_number; }) ==
        "body 1: turn entry (2, 1): expected a finite number, got nan");
  CHECK(said([](Body& b) { b.turn(0, 1) = 0.25; }) ==
        "body 1: turn's product with its transpose entry (1, 0): expected that of the identity, "
        "got 0.25");
  CHECK(said([](Body& b) { b.turn *= 1.1; }).find("turn's product") != std::string::npos);
  CHECK(said([](Body& b) { b.turn *= -1; }) ==
        "body 1: turn's determinant: expected 1 (a rotation), got -1");
  for (const double mass : {-1.0, not_a_number, infinite}) {
    CHECK(said([&](Body& b) { b.mass = mass; }).find("body 1: mass: expected a finite number") ==
          0);
  }
  CHECK(said([](Body& b) { b.inertia(1, 1) = infinite; }) ==
        "body 1: inertia entry (1, 1): expected a finite number, got inf");
  CHECK(said([](Body& b) { b.inertia(2, 0) = 0.5; }) ==
        "body 1: inertia entry (2, 0): expected its mirror image (a symmetric matrix), got 0.5");
}

TEST_CASE("spatial_body: all bodies are looked at, and no more", "[variational][edge]") {
  std::vector<SpatialBody<double>> bodies(2);
  bodies[0].mass = -1;
  CHECK(check_bodies(bodies).find("body 0: mass: ") == 0);
  bodies[0].mass = 0;
  bodies.push_back({.parent = 7});  // the memory behind the last body names a bad one
  CHECK(check_bodies(bodies).find("body 2: parent: ") == 0);
  bodies.pop_back();
  CHECK(check_bodies(bodies).empty());
}

TEST_CASE("spatial_body: an inertia may be as unsymmetric as its largest entry allows",
          "[variational][edge]") {
  const double allowed = std::sqrt(std::numeric_limits<double>::epsilon());
  for (Index largest = 0; largest < 3; ++largest) {
    const auto spoilt = [&](double off) {
      return said([&](SpatialBody<double>& b) {
        b.inertia.setIdentity();
        b.inertia(largest, largest) = 2;
        b.inertia(1, 0) = off * allowed;
      });
    };
    CHECK(spoilt(1.5).empty());
    CHECK(spoilt(2.5).find("body 1: inertia entry (1, 0): ") == 0);
  }
}

TEST_CASE("spatial_body: inertias that no body has are refused", "[variational][edge]") {
  using Body = SpatialBody<double>;
  const std::string moment = "body 1: inertia: smallest principal moment: expected a number >= 0";
  const std::string triangle =
      "body 1: inertia: sum of the smaller principal moments less the largest: expected a number "
      ">= 0 (triangle inequality)";
  CHECK(said([](Body& b) { b.inertia.diagonal() << 1, -0.5, 1; }) == moment + ", got -0.5");
  CHECK(said([](Body& b) { b.inertia.diagonal() << 1, 1, 2.5; }) == triangle + ", got -0.5");
  CHECK(said([](Body& b) { b.inertia.diagonal() << 1e-12, 1e-12, 2.5e-12; }) ==
        triangle + ", got -5e-13");
  // Positive diagonals, but not positive semidefinite: eigenvalues 1 ± 2.
  CHECK(said([](Body& b) {
          b.inertia.setIdentity();
          b.inertia(0, 1) = b.inertia(1, 0) = 2;
        }) == moment + ", got -1");
  // On the border: a rod, a disk, a point; turned any way.
  std::mt19937 generator(31);
  for (const Point& moments : {Point(0, 1, 1), Point(1, 1, 2), Point(0, 0, 0), Point(3, 4, 7)}) {
    for (int run = 0; run < 20; ++run) {
      const Matrix turn = random_turn(generator);
      const Matrix inertia = turn * moments.asDiagonal() * turn.transpose();
      CHECK(said([&](Body& b) { b.inertia = inertia; }).empty());
      Point off = moments;
      off(0) -= 1e-5;  // no rigid body has these moments
      const Matrix bad = turn * off.asDiagonal() * turn.transpose();
      CHECK_FALSE(said([&](Body& b) { b.inertia = bad; }).empty());
    }
  }
}

TEMPLATE_TEST_CASE("spatial_body: smallest eigenvalues of symmetric matrices", "[variational][law]",
                   float, double) {
  using Scalar = TestType;
  std::mt19937 generator(37);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int run = 0; run < 200; ++run) {
    Point values(uniform(generator), uniform(generator), uniform(generator));
    if (run % 3 == 0) values(1) = values(2);
    if (run % 7 == 0) values(0) *= 1e-6;
    const Matrix turn = random_turn(generator);
    const Matrix matrix = turn * values.asDiagonal() * turn.transpose();
    const Scalar lowest = carom::detail::lowest_eigenvalue<Scalar>(matrix.template cast<Scalar>());
    CAPTURE(values(0), values(1), values(2), lowest);
    CHECK(std::abs(double(lowest) - values.minCoeff()) <= double(rounding(16, Scalar(1))));
  }
}

TEST_CASE("spatial_body: axes and rotations may be rounded to float", "[variational][edge]") {
  std::mt19937 generator(41);
  auto bodies = random_tree(generator, 6);
  for (auto& body : bodies) {
    body.axis += 1e-9 * Point::Ones();
    body.turn *= 1 + 1e-9;
  }
  CHECK(check_bodies(bodies).empty());
  CHECK(check_bodies(cast_bodies<float>(random_tree(generator, 6))).empty());
}

TEST_CASE("spatial_body: a floating body takes six joints behind what is there",
          "[variational][example]") {
  std::mt19937 generator(43);
  auto bodies = random_tree(generator, 2);
  auto body = random_body(generator);
  body.parent = 1;
  CHECK(carom::append_floating_body(bodies, body) == 7);
  REQUIRE(bodies.size() == 8);
  CHECK(check_bodies(bodies).empty());
  const std::array<Index, 6> axes = {0, 1, 2, 2, 1, 0};
  for (std::size_t k = 0; k < 6; ++k) {
    const auto& link = bodies[2 + k];
    CHECK(link.parent == Index(1 + k));
    CHECK(link.joint == (k < 3 ? JointKind::prismatic : JointKind::revolute));
    CHECK((link.axis - Point(Point::Unit(axes[k]))).norm() == 0);
    CHECK(link.mass == (k == 5 ? body.mass : 0.0));
    CHECK((link.place - (k == 0 ? body.place : Point(Point::Zero()))).norm() == 0);
    CHECK((link.turn - (k == 0 ? body.turn : Matrix(Matrix::Identity()))).norm() == 0);
  }
  CHECK((bodies[7].centre - body.centre).norm() == 0);
  CHECK((bodies[7].inertia - body.inertia).norm() == 0);
}

}  // namespace spatial_body_test
