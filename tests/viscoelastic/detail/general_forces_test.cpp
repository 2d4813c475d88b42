// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/general_forces.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "carom/viscoelastic/detail/modal_forces.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/viscoelastic_cases.hpp"

namespace general_forces_test {

using carom::GeneralForces, carom::Index, carom::MatrixX, carom::ModalForces, carom::VectorX;
using carom::testing::rounding, carom::testing::SpringCase, carom::testing::VectorSource;
using Way = GeneralForces<double>::Way;

TEST_CASE("general_forces: Taylor series and dense exponential agree with the modes",
          "[viscoelastic][oracle]") {
  VectorSource<double> source(5u);
  for (int round = 0; round < 30; ++round) {
    const Index n = 1 + round % 3;
    const SpringCase<double> c(source, n, 3 * n + 1, round % 3 == 0 ? 0 : 0.003);
    ModalForces<double> modal;
    modal.prepare(n, 3 * n);
    REQUIRE(modal.decompose_contacts(c.inverse_mass(), c.stiffness, c.beta, c.time_step));
    VectorX<double> a(3 * n), a2(3 * n), b(3 * n), b2(3 * n), g(3 * n), g2(3 * n);
    modal.evaluate(c.y, c.rate, c.acceleration, a, a2);
    const MatrixX<double> q = modal.modes();
    const MatrixX<double> gain = q.transpose() * modal.gains().asDiagonal() * q;
    const MatrixX<double> gain2 = q.transpose() * modal.gains2().asDiagonal() * q;
    GeneralForces<double> general;
    general.prepare(n);
    REQUIRE(general.set(c.inverse_mass(), c.stiffness, c.damping, c.time_step));
    for (const Way way : {Way::taylor, Way::dense}) {
      general.choose(way);
      REQUIRE(general.evaluate(c.y, c.rate, c.acceleration, b, b2));
      CAPTURE(round, n, int(way));
      CHECK((a - b).norm() <= rounding(4000, c.force_size()));
      CHECK((a2 - b2).norm() <= rounding(4000, c.force_size()));
      for (Index j = 0; j < 3 * n; ++j) {
        REQUIRE(general.write_gain_column(j, g, g2));
        CHECK((g - gain.col(j)).norm() <= rounding(4000, gain.norm()));
        CHECK((g2 - gain2.col(j)).norm() <= rounding(4000, gain2.norm()));
      }
    }
  }
}

TEST_CASE("general_forces: the cheaper way is taken", "[viscoelastic][example]") {
  VectorSource<double> source(7u);
  SpringCase<double> c(source, 2, 6, 0.001);
  GeneralForces<double> general;
  general.prepare(2);
  REQUIRE(general.set(c.inverse_mass(), c.stiffness, c.damping, 1e-4));
  CHECK(general.way() == Way::taylor);
  REQUIRE(general.set(c.inverse_mass(), VectorX<double>(1e6 * c.stiffness),
                      VectorX<double>(1e6 * c.damping), 1e-2));
  CHECK(general.way() == Way::dense);
  VectorX<double> a(6), a2(6);
  CHECK(general.evaluate(c.y, c.rate, c.acceleration, a, a2));
  c.stiffness(0) = std::nan("");
  CHECK_FALSE(general.set(c.inverse_mass(), c.stiffness, c.damping, 1e-4));
}

TEST_CASE("general_forces: numbers that are not finite are reported", "[viscoelastic][input]") {
  VectorSource<double> source(8u);
  const SpringCase<double> c(source, 2, 6, 0.001);
  GeneralForces<double> general;
  general.prepare(2);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    MatrixX<double> inverse_mass = c.inverse_mass();
    VectorX<double> stiffness = c.stiffness, damping = c.damping;
    inverse_mass(1, 2) = bad;
    CHECK_FALSE(general.set(inverse_mass, stiffness, damping, 1e-4));
    stiffness(3) = bad;
    CHECK_FALSE(general.set(c.inverse_mass(), stiffness, damping, 1e-4));
    damping(5) = bad;
    CHECK_FALSE(general.set(c.inverse_mass(), c.stiffness, damping, 1e-4));
    REQUIRE(general.set(c.inverse_mass(), c.stiffness, c.damping, 1e-4));
    VectorX<double> y = c.y, a(6), a2(6);
    y(0) = bad;
    for (const Way way : {Way::taylor, Way::dense}) {
      general.choose(way);
      CHECK_FALSE(general.evaluate(y, c.rate, c.acceleration, a, a2));
      CHECK(general.evaluate(c.y, c.rate, c.acceleration, a, a2));
    }
  }
}

}  // namespace general_forces_test
