// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/proximal_law.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace proximal_law_test {

using carom::detail::RelaxedLifts;
using Eigen::Vector3d;

TEST_CASE("proximal_law: a lift follows what goes on and slows down where it turns back",
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

TEST_CASE("proximal_law: an iteration that would circle comes to rest", "[solvers][law]") {
  // The lift that the velocities ask for falls three times as fast as the lift rises.
  const auto set = carom::friction_impulses(1.0);
  RelaxedLifts<double> lifts;
  lifts.reset(1);
  for (int step = 0; step < 60; ++step) {
    lifts.move(0, set, Vector3d(0, std::max(4 - 3 * lifts(0), 0.0), 0).data());
  }
  CHECK(lifts(0) == Approx(1).epsilon(carom::testing::by_solver(1e-3)));
}

TEST_CASE(
    "proximal_law: an impulse at the centre leaves a rigid block as it is, and a lift moves "
    "the normal's bias alone",
    "[solvers][law]") {
  carom::WeightedBlock<double> law;
  law.set = carom::friction_impulses(0.5);
  law.rigid = true;
  law.bias_velocity.head<3>() << 0.5, -0.25, 2;
  const Vector3d centre(1, -2, 4);
  const auto soft = carom::detail::proximal_law(law, 0.125, centre.data(), 0.75);
  // v̂ + R c less the lift, so that u with R γ is that of the rigid law where γ = c.
  CHECK(soft.regularization.head<3>() == Vector3d::Constant(0.125));
  CHECK(soft.bias_velocity.head<3>() == Vector3d(0.625, -0.5, 1.75));
  law.rigid = false;
  const auto lifted = carom::detail::proximal_law(law, 0.125, centre.data(), 0.75);
  CHECK(lifted.regularization == law.regularization);
  CHECK(lifted.bias_velocity.head<3>() == Vector3d(0.5, -0.25, 1.25));
}

}  // namespace proximal_law_test
