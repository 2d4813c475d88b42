// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/slip_sweep.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "carom/cones/coulomb_contact.hpp"

#include "support/catch.hpp"
#include "support/cone_cases.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace slip_sweep_test {

using carom::CoulombGain, carom::Index, carom::MatrixX, carom::Vector3;
using carom::VectorX, carom::detail::SlipSweep;
using carom::testing::rounding, carom::testing::VectorSource;

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

namespace convex_slip_test {

using carom::testing::by_solver;

using carom::ConvexSlip, carom::Index, carom::MatrixX, carom::VectorX;
using carom::testing::read_cone_cases, carom::testing::rounding, carom::testing::VectorSource;

TEST_CASE("convex_slip: known forces", "[viscoelastic][golden]") {
  for (const auto& c : read_cone_cases()) {
    ConvexSlip<double> slip;
    slip.prepare(c.average.size() / 3);
    REQUIRE(slip.solve(c.gain, c.average, c.frictions()).converged());
    CAPTURE(c.average);
    CHECK((slip.force() - c.convex.force).norm() <= rounding(5000, 1.0) * c.average.norm());
    CHECK((slip.velocity() - c.convex.velocity).norm() <=
          rounding(5000, 1.0) * c.convex.velocity.norm());
  }
}

TEST_CASE("convex_slip: cones, dual cones, complementarity", "[viscoelastic][law]") {
  VectorSource<double> source(14u);
  for (int round = 0; round < 100; ++round) {
    const Index n = 1 + round % 4;
    const MatrixX<double> root = carom::testing::draw_matrix(source, 3 * n, 3 * n + 3);
    const MatrixX<double> gain = 100 * (root * root.transpose());
    VectorX<double> average = 10 * carom::testing::draw_matrix(source, 3 * n, 1), friction(n);
    for (Index i = 0; i < n; ++i)
      friction(i) = source.unit() < 0.1 ? 0 : 1.5 * source.unit() + 0.05;
    ConvexSlip<double> slip;
    slip.prepare(n);
    REQUIRE(slip.solve(gain, average, friction).converged());
    const VectorX<double> force = slip.force(), w = slip.velocity();
    const double size = average.norm() + (gain * w).norm();
    CAPTURE(round, gain, average, friction, force, w);
    CHECK((average + gain * w - force).norm() <= rounding(20000, size));
    for (Index i = 0; i < n; ++i) {
      const double speed = w.segment<2>(3 * i).norm(), slack = rounding(200000, w.norm());
      CHECK(force.segment<2>(3 * i).norm() <=
            friction(i) * force(3 * i + 2) + rounding(2000, size));
      CHECK(w(3 * i + 2) >= friction(i) * speed - slack);
      CHECK(std::abs(force.segment<3>(3 * i).dot(w.segment<3>(3 * i))) <= size * slack);
    }
  }
}

TEST_CASE("convex_slip: friction of any size", "[viscoelastic][edge]") {
  ConvexSlip<double> slip;
  slip.prepare(1);
  MatrixX<double> gain(3, 3);
  gain << 2, 0.3, 0.1, 0.3, 3, -0.2, 0.1, -0.2, 1;
  for (const double mu : {1e-300, 1e-160, 1e-12, 1e-3, 1e3, 1e8, 1e12, 1e160, 1e300}) {
    CAPTURE(mu);
    const VectorX<double> friction = VectorX<double>::Constant(1, mu);
    for (const double normal : {1.0, -1.0, -1e-9}) {
      VectorX<double> average(3);
      average << 1, -2, normal;
      CAPTURE(normal);
      REQUIRE(slip.solve(gain, average, friction).converged());
      const VectorX<double> force = slip.force();
      REQUIRE(force.allFinite());
      CHECK(force(2) >= 0);
      CHECK(force.head(2).norm() <= mu * force(2) + by_solver(1e-7));
      CHECK((force - average - gain * slip.velocity()).norm() <= by_solver(1e-7));
    }
  }
}

TEST_CASE("convex_slip: what is not a number is refused", "[viscoelastic][example]") {
  ConvexSlip<double> slip;
  slip.prepare(1);
  const MatrixX<double> gain = MatrixX<double>::Identity(3, 3);
  VectorX<double> average = VectorX<double>::Ones(3), friction = VectorX<double>::Ones(1);
  average(1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(slip.solve(gain, average, friction).status == carom::SolveStatus::not_finite);
}

}  // namespace convex_slip_test
