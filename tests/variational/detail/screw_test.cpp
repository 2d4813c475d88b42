// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/screw.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace screw_test {

using carom::Index, carom::SquareMatrix, carom::Vector3, carom::detail::Screw;
using carom::detail::SpatialInertia, carom::testing::rounding;

namespace {

/// Numbers in [−1, 1] that repeat nowhere in a test.
struct Numbers {
  double at = 0.37;
  double next() {
    at = 3.99 * at * (1 - at);
    return 2 * at - 1;
  }
  Screw<double> screw() {
    Screw<double> s;
    for (Index i = 0; i < 3; ++i) {
      s.angular(i) = next();
      s.linear(i) = next();
    }
    return s;
  }
};

}  // namespace

TEST_CASE("screw: the power of a momentum stays when both are moved by a twist",
          "[variational][law]") {
  Numbers numbers;
  for (int round = 0; round < 50; ++round) {
    const Screw<double> a = numbers.screw(), b = numbers.screw(), p = numbers.screw();
    CAPTURE(round);
    // d/dt (b·p) = (a × b)·p + b·(a ×* p) = 0
    CHECK(std::abs(a.cross(b).dot(p) + b.dot(a.cross_momentum(p))) <= rounding(64, 4.0));
    CHECK(std::abs(a.cross(b).dot(p) + b.cross(a).dot(p)) <= rounding(64, 4.0));
  }
}

TEST_CASE("screw: an inertia is symmetric and adds up", "[variational][law]") {
  Numbers numbers;
  SpatialInertia<double> one;
  one.mass = 2;
  one.moment << 0.3, -0.1, 0.7;
  one.turning << 2, 0.1, -0.2, 0.1, 3, 0.3, -0.2, 0.3, 4;
  SpatialInertia<double> both = one;
  both += one;
  for (int round = 0; round < 50; ++round) {
    const Screw<double> a = numbers.screw(), b = numbers.screw();
    CAPTURE(round);
    CHECK(std::abs(a.dot(one * b) - b.dot(one * a)) <= rounding(64, 10.0));
    CHECK(std::abs(a.dot(both * b) - 2 * a.dot(one * b)) <= rounding(64, 10.0));
  }
}

}  // namespace screw_test
