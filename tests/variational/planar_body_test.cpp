// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/planar_body.hpp"

#include <limits>
#include <vector>

#include "support/catch.hpp"

namespace planar_body_test {

using carom::check_bodies, carom::PlanarBody;

TEST_CASE("planar_body: bad bodies are named", "[variational][input]") {
  const auto fault = [](auto spoil) {
    std::vector<PlanarBody<double>> bodies(3);
    bodies[1].parent = 0;
    spoil(bodies[2]);
    return check_bodies(bodies);
  };
  CHECK(check_bodies(std::vector<PlanarBody<double>>()) == "bodies: expected at least 1, got 0");
  CHECK(fault([](auto& b) { b.parent = 2; }) ==
        "body 2: parent: expected -1 or the index of an earlier body, got 2");
  CHECK(fault([](auto& b) { b.parent = -2; }) ==
        "body 2: parent: expected -1 or the index of an earlier body, got -2");
  CHECK(fault([](auto& b) { b.mass = -1; }) ==
        "body 2: mass: expected a finite number >= 0, got -1");
  CHECK(fault([](auto& b) { b.inertia = std::numeric_limits<double>::quiet_NaN(); }) ==
        "body 2: inertia: expected a finite number >= 0, got nan");
  CHECK(fault([](auto& b) { b.centre(1) = std::numeric_limits<double>::infinity(); }) ==
        "body 2: centre entry 1: expected a finite number, got inf");
}

TEST_CASE("planar_body: all bodies are looked at, and no more", "[variational][input]") {
  std::vector<PlanarBody<double>> bodies(3);
  bodies[2].parent = 1;
  bodies[0].mass = -1;
  CHECK(check_bodies(bodies) == "body 0: mass: expected a finite number >= 0, got -1");
  bodies[0].mass = 0;
  CHECK(check_bodies(bodies).empty());
  bodies.push_back({.parent = 7});  // the memory behind the last body names a bad one
  CHECK_FALSE(check_bodies(bodies).empty());
  bodies.pop_back();
  CHECK(check_bodies(bodies).empty());
}

TEST_CASE("planar_body: gravity is that of the earth unless another is given",
          "[variational][input]") {
  CHECK(carom::PlanarTreeOptions<double>().gravity == carom::Vector<double, 2>(0, -9.81));
}

}  // namespace planar_body_test
