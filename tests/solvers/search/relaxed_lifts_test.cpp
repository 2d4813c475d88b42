// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/relaxed_lifts.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace relaxed_lifts_test {

using carom::detail::RelaxedLifts;
using Eigen::Vector3d;

TEST_CASE("relaxed_lifts: a lift follows what goes on and slows down where it turns back",
          "[solvers][example]") {
  const auto set = carom::friction_impulses(0.5);
  RelaxedLifts<double> lifts;
  lifts.reset(2);
  CHECK(lifts(1) == 0);
  // μ ‖u_t‖ = 0.5 · 5.
  CHECK(lifts.move(1, set, Vector3d(3, 4, -7).data()) == Approx(2.5));
  CHECK(lifts(1) == Approx(2.5));
  CHECK(lifts(0) == 0);
  lifts.move(1, set, Vector3d(0, 6, 0).data());  // goes on: all the way
  CHECK(lifts(1) == Approx(3));
  lifts.move(1, set, Vector3d(0, 2, 0).data());  // turns back: half of the way from 3 to 1
  CHECK(lifts(1) == Approx(2));
  lifts.move(1, set, Vector3d(0, 8, 0).data());  // turns again: a quarter of the way from 2 to 4
  CHECK(lifts(1) == Approx(2.5));
  lifts.move(1, set, Vector3d(0, 8, 0).data());  // goes on: 1.3 times that share
  CHECK(lifts(1) == Approx(2.5 + 0.325 * 1.5));
  lifts.reset(2);
  CHECK(lifts(1) == 0);
}

TEST_CASE("relaxed_lifts: an iteration that would circle comes to rest", "[solvers][law]") {
  // The lift that the velocities ask for falls three times as fast as the lift rises.
  const auto set = carom::friction_impulses(1.0);
  RelaxedLifts<double> lifts;
  lifts.reset(1);
  for (int step = 0; step < 60; ++step) {
    lifts.move(0, set, Vector3d(0, std::max(4 - 3 * lifts(0), 0.0), 0).data());
  }
  CHECK(lifts(0) == Approx(1).epsilon(carom::testing::by_solver(1e-3)));
}

}  // namespace relaxed_lifts_test
