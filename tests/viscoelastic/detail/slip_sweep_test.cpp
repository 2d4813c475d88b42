// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/slip_sweep.hpp"

#include "carom/cones/convex_contact.hpp"
#include "carom/cones/coulomb_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace slip_sweep_test {

using carom::ConvexGain, carom::CoulombGain, carom::Index, carom::MatrixX, carom::Vector3;
using carom::VectorX, carom::detail::SlipSweep;
using carom::testing::rounding, carom::testing::VectorSource;

TEMPLATE_TEST_CASE("slip_sweep: forces follow the anchors, and settle where the law holds",
                   "[viscoelastic][law]", CoulombGain<double>, ConvexGain<double>) {
  VectorSource<double> source(41u);
  for (int round = 0; round < 30; ++round) {
    const Index n = 1 + round % 4;
    const MatrixX<double> root = carom::testing::draw_matrix(source, 3 * n, 3 * n + 3);
    const MatrixX<double> gain =
        root * root.transpose() + 10 * MatrixX<double>::Identity(3 * n, 3 * n);
    const VectorX<double> average = 10 * carom::testing::draw_matrix(source, 3 * n, 1);
    const VectorX<double> friction = VectorX<double>::Constant(n, 0.2);
    SlipSweep<double, TestType> sweep;
    sweep.prepare(n);
    sweep.start(gain, average);
    CHECK(sweep.velocity().isZero(0));
    CHECK(sweep.response() == average);
    auto last = sweep.sweep(gain, friction);
    for (int k = 0; k < 400 && last.change > sweep.target(average, 64.0); ++k) {
      last = sweep.sweep(gain, friction);
    }
    REQUIRE(last.change <= sweep.target(average, 64.0));
    CHECK(last.settled);
    const VectorX<double> velocity = sweep.velocity(), force = sweep.force();
    const VectorX<double> response = average + gain * velocity;
    CAPTURE(round, gain, average);
    CHECK((sweep.response() - response).norm() <= rounding(2000, average.norm()));
    CHECK((force - response).norm() <= rounding(5000, average.norm()));
    // Each contact alone gives the same answer again.
    for (Index i = 0; i < n; ++i) {
      const TestType block(gain.block<3, 3>(3 * i, 3 * i));
      const Vector3<double> own = velocity.segment<3>(3 * i);
      const Vector3<double> held = response.segment<3>(3 * i) - block.gain() * own;
      const auto answer = block.solve(held, friction(i));
      CHECK((answer.impulse - force.segment<3>(3 * i)).norm() <= rounding(20000, average.norm()));
      CHECK(answer.region == sweep.contact(i).region);
    }
  }
}

TEST_CASE("slip_sweep: continues from given velocities", "[viscoelastic][example]") {
  SlipSweep<double, CoulombGain<double>> sweep;
  sweep.prepare(1);
  const MatrixX<double> gain = 2 * MatrixX<double>::Identity(3, 3);
  const VectorX<double> average = Vector3<double>(1, 0, 4), friction = VectorX<double>::Zero(1);
  sweep.start(gain, average);
  sweep.restart_from(gain, average, VectorX<double>(Vector3<double>(-0.5, 0, 0)));
  CHECK(sweep.response() == VectorX<double>(Vector3<double>(0, 0, 4)));
  CHECK(sweep.sweep(gain, friction).change == 0);
  CHECK(sweep.force() == VectorX<double>(Vector3<double>(0, 0, 4)));
}

}  // namespace slip_sweep_test
