// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/general_forces.hpp"

#include <cmath>

#include <Eigen/Dense>

#include "carom/viscoelastic/detail/modal_forces.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/viscoelastic_cases.hpp"

namespace general_forces_test {

using carom::testing::by_conditioning;

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

TEST_CASE("general_forces: any damping, against small implicit steps", "[viscoelastic][oracle]") {
  VectorSource<double> source(6u);
  SpringCase<double> c(source, 2, 7, 0.002);
  c.time_step = 5e-3;
  for (Index i = 0; i < 6; ++i) c.damping(i) *= source.positive(2);
  GeneralForces<double> general;
  general.prepare(2);
  VectorX<double> average(6), average2(6);
  REQUIRE(general.set(c.inverse_mass(), c.stiffness, c.damping, c.time_step));
  REQUIRE(general.evaluate(c.y, c.rate, c.acceleration, average, average2));
  // Midpoint rule, extrapolated twice.
  const auto integrate = [&](int steps) {
    const double h = c.time_step / steps;
    const MatrixX<double> u = c.inverse_mass();
    MatrixX<double> a = MatrixX<double>::Zero(12, 12);
    a.topRightCorner(6, 6).setIdentity();
    a.bottomLeftCorner(6, 6) = -u * c.stiffness.asDiagonal();
    a.bottomRightCorner(6, 6) = -u * c.damping.asDiagonal();
    const MatrixX<double> one = MatrixX<double>::Identity(12, 12);
    const Eigen::PartialPivLU<MatrixX<double>> lu(one - h / 2 * a);
    VectorX<double> x(12), drive = VectorX<double>::Zero(12);
    x << c.y, c.rate;
    drive.tail(6) = c.acceleration;
    VectorX<double> sum = VectorX<double>::Zero(6);
    for (int k = 0; k < steps; ++k) {
      const VectorX<double> next = lu.solve((one + h / 2 * a) * x + h * drive);
      const VectorX<double> middle = (x + next) / 2;
      sum -= c.stiffness.cwiseProduct(middle.head(6)) + c.damping.cwiseProduct(middle.tail(6));
      x = next;
    }
    return VectorX<double>(sum / steps);
  };
  const VectorX<double> s1 = integrate(500), s2 = integrate(1000), s3 = integrate(2000);
  const VectorX<double> r1 = s2 + (s2 - s1) / 3, r2 = s3 + (s3 - s2) / 3;
  const VectorX<double> expected = r2 + (r2 - r1) / 15;
  CHECK((average - expected).norm() <= by_conditioning(1e-8) * c.force_size());
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

TEST_CASE("general_forces: the forces of the rows' stretches add up to those of all",
          "[viscoelastic][law]") {
  VectorSource<double> source(35u);
  for (int round = 0; round < 12; ++round) {
    const Index n = 1 + round % 3;
    const SpringCase<double> c(source, n, 3 * n + 1, 0.002);
    GeneralForces<double> forces;
    forces.prepare(n);
    VectorX<double> damping = c.damping;
    damping(0) *= 3;  // not proportional
    REQUIRE(forces.set(c.inverse_mass(), c.stiffness, damping, c.time_step));
    const VectorX<double> zero = VectorX<double>::Zero(3 * n);
    VectorX<double> average(3 * n), average2(3 * n), column(3 * n);
    REQUIRE(forces.evaluate(c.y, zero, zero, average, average2));
    VectorX<double> sum = zero;
    for (Index j = 0; j < 3 * n; ++j) {
      const VectorX<double> unit = VectorX<double>::Unit(3 * n, j);
      REQUIRE(forces.evaluate(unit, zero, zero, column, average2));
      sum += c.y(j) * column;
    }
    CAPTURE(round);
    CHECK((sum - average).norm() <= rounding(3000, c.stiffness.cwiseProduct(c.y).norm()));
  }
}

TEST_CASE("general_forces: single precision follows double", "[viscoelastic][law]") {
  VectorSource<double> source(36u);
  for (int round = 0; round < 20; ++round) {
    const Index n = 1 + round % 3;
    const SpringCase<double> c(source, n, 3 * n + 1, 0.002);
    for (const auto way : {0, 1}) {
      GeneralForces<double> exact;
      GeneralForces<float> single;
      exact.prepare(n);
      single.prepare(n);
      REQUIRE(exact.set(c.inverse_mass(), c.stiffness, c.damping, c.time_step));
      const MatrixX<float> inverse_mass = c.inverse_mass().cast<float>();
      const VectorX<float> k = c.stiffness.cast<float>(), b = c.damping.cast<float>();
      REQUIRE(single.set(inverse_mass, k, b, float(c.time_step)));
      exact.choose(way == 0 ? Way::taylor : Way::dense);
      single.choose(way == 0 ? GeneralForces<float>::Way::taylor
                             : GeneralForces<float>::Way::dense);
      VectorX<double> average(3 * n), average2(3 * n);
      VectorX<float> near(3 * n), near2(3 * n);
      const VectorX<float> y = c.y.cast<float>(), rate = c.rate.cast<float>(),
                           push = c.acceleration.cast<float>();
      REQUIRE(exact.evaluate(c.y, c.rate, c.acceleration, average, average2));
      REQUIRE(single.evaluate(y, rate, push, near, near2));
      CAPTURE(round, way);
      CHECK((near.cast<double>() - average).norm() <= rounding(20000, float(c.force_size())));
      CHECK((near2.cast<double>() - average2).norm() <= rounding(20000, float(c.force_size())));
    }
  }
}

}  // namespace general_forces_test
