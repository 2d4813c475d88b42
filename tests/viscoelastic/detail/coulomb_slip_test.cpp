// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/coulomb_slip.hpp"

#include <limits>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/cone_cases.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/viscoelastic_cases.hpp"

namespace coulomb_slip_test {

using carom::testing::by_solver;

using carom::ConeRegion, carom::CoulombSlip, carom::Index, carom::MatrixX, carom::VectorX;
using carom::testing::read_cone_cases, carom::testing::rounding, carom::testing::VectorSource;

namespace {

/// λ = λ_avg + G w and Coulomb's law of each contact.
void check_law(const CoulombSlip<double>& slip, const MatrixX<double>& gain,
               const VectorX<double>& average, const VectorX<double>& friction) {
  const VectorX<double> force = slip.force(), w = slip.velocity();
  const double size = average.norm() + gain.norm() * w.norm();
  CAPTURE(gain, average, friction, force, w);
  CHECK((average + gain * w - force).norm() <= rounding(2000, size));
  for (Index i = 0; i < friction.size(); ++i) {
    const double tangent = force.segment<2>(3 * i).norm(), normal = force(3 * i + 2);
    const double speed = w.segment<2>(3 * i).norm();
    CHECK(normal >= 0);
    CHECK(tangent <= friction(i) * normal + rounding(2000, size));
    if (slip.region(i) == ConeRegion::stick) CHECK(w.segment<3>(3 * i).isZero(0));
    if (slip.region(i) == ConeRegion::separate) {
      CHECK(tangent + normal == 0);
      CHECK(w(3 * i + 2) >= 0);
    }
    if (slip.region(i) == ConeRegion::slide) {
      CHECK(w(3 * i + 2) == 0);
      CHECK(tangent >= friction(i) * normal - rounding(2000, size));
      CHECK(force.segment<2>(3 * i).dot(w.segment<2>(3 * i)) <=
            -tangent * speed * (1 - rounding(100, 1.0)));
    }
  }
}

}  // namespace

TEST_CASE("coulomb_slip: known forces", "[viscoelastic][golden]") {
  for (const auto& c : read_cone_cases()) {
    CoulombSlip<double> slip;
    slip.prepare(c.average.size() / 3);
    const auto report = slip.solve(c.gain, c.average, c.frictions());
    REQUIRE(report.converged());
    CHECK(report.iterations <= 8);  // Newton's method ends what sweeps would take 20 for
    CAPTURE(c.average);
    CHECK((slip.force() - c.coulomb.force).norm() <= rounding(5000, 1.0) * c.average.norm());
    CHECK((slip.velocity() - c.coulomb.velocity).norm() <=
          rounding(5000, 1.0) * c.coulomb.velocity.norm());
    check_law(slip, c.gain, c.average, c.frictions());
  }
}

TEST_CASE("coulomb_slip: problems of no contact, of zeros, and of NaN", "[viscoelastic][example]") {
  CoulombSlip<double> slip;
  slip.prepare(0);
  CHECK(slip.solve(MatrixX<double>(0, 0), VectorX<double>(), VectorX<double>()).converged());
  slip.prepare(2);
  const MatrixX<double> gain = MatrixX<double>::Identity(6, 6);
  VectorX<double> average = VectorX<double>::Zero(6);
  const VectorX<double> friction = VectorX<double>::Constant(2, 0.5);
  CHECK(slip.solve(gain, average, friction).converged());
  CHECK(slip.force().isZero(0));
  average(4) = std::numeric_limits<double>::infinity();
  CHECK(slip.solve(gain, average, friction).status == carom::SolveStatus::not_finite);
  average(4) = 0;
  MatrixX<double> broken = gain;
  broken(1, 1) = std::nan("");
  CHECK(slip.solve(broken, average, friction).status == carom::SolveStatus::not_finite);
  CHECK(slip.force().isZero(0));
}

TEST_CASE("coulomb_slip: stiffness of 1e3 to 1e10, damped and not", "[viscoelastic][law]") {
  VectorSource<double> source(16u);
  CoulombSlip<double> slip;
  int hard = 0, newton_steps = 0;
  for (int round = 0; round < carom::testing::sweep(200, 800); ++round) {
    const Index n = 1 + round % 10;
    const carom::testing::SlipCase<double> c(source, n);
    slip.prepare(n);
    const auto report = slip.solve(c.gain, c.average, c.friction);
    const VectorX<double> force = slip.force(), w = slip.velocity();
    CAPTURE(round, n, c.stiffness, c.damping_ratio, report.iterations, report.residual);
    CHECK(report.converged());
    const double noise = rounding(1, c.gain.norm() * w.norm() / c.average.norm());
    CHECK(carom::testing::slip_miss(c, force, w) <= by_solver(1e-8) + noise);
    newton_steps += slip.newton_steps();
    if (report.iterations > CoulombSlip<double>::sweep_limit) ++hard;
  }
  CHECK(newton_steps > 20);
  CHECK(hard > carom::testing::sweep(2, 10));  // what sweeps do not solve is among them
}

TEST_CASE("coulomb_slip: single precision", "[viscoelastic][law]") {
  VectorSource<double> source(17u);
  CoulombSlip<float> slip;
  for (int round = 0; round < 200; ++round) {
    const Index n = 1 + round % 6;
    const carom::testing::SlipCase<float> c(source, n, 1e5);
    slip.prepare(n);
    const auto report = slip.solve(c.gain, c.average, c.friction);
    const VectorX<float> force = slip.force(), w = slip.velocity();
    CAPTURE(round, n, c.stiffness, c.damping_ratio, report.iterations, report.residual);
    CHECK(report.converged());
    const float noise = rounding(1, c.gain.norm() * w.norm() / c.average.norm());
    CHECK(carom::testing::slip_miss(c, force, w) <= by_solver(1e-3F) + noise);
  }
}

}  // namespace coulomb_slip_test
