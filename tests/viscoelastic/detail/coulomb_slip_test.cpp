// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/coulomb_slip.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "carom/viscoelastic/detail/average_forces.hpp"

#include "support/catch.hpp"
#include "support/cone_cases.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/viscoelastic_cases.hpp"

namespace coulomb_slip_test {

using carom::testing::by_solver;

using carom::ConeRegion, carom::CoulombSlip, carom::Index, carom::MatrixX, carom::VectorX;
using carom::testing::read_cone_cases, carom::testing::read_numbers, carom::testing::rounding,
    carom::testing::SpringCase, carom::testing::VectorSource;

namespace {

/// λ = λ_avg + G w and Coulomb's law of each contact.
void check_law(const CoulombSlip<double>& slip, const MatrixX<double>& gain,
               const VectorX<double>& average, const VectorX<double>& friction, int roundings) {
  const VectorX<double> force = slip.force(), w = slip.velocity();
  const double size = average.norm() + gain.norm() * w.norm();
  CAPTURE(gain, average, friction, force, w);
  CHECK((average + gain * w - force).norm() <= rounding(roundings, size));
  for (Index i = 0; i < friction.size(); ++i) {
    const double tangent = force.segment<2>(3 * i).norm(), normal = force(3 * i + 2);
    const double speed = w.segment<2>(3 * i).norm();
    CHECK(normal >= 0);
    CHECK(tangent <= friction(i) * normal + rounding(roundings, size));
    if (slip.region(i) == ConeRegion::stick) CHECK(w.segment<3>(3 * i).isZero(0));
    if (slip.region(i) == ConeRegion::separate) {
      CHECK(tangent + normal == 0);
      CHECK(w(3 * i + 2) >= 0);
    }
    if (slip.region(i) == ConeRegion::slide) {
      CHECK(w(3 * i + 2) == 0);
      CHECK(tangent >= friction(i) * normal - rounding(roundings, size));
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
    check_law(slip, c.gain, c.average, c.frictions(), 2000);
  }
}

TEST_CASE("coulomb_slip: random contacts of all kinds", "[viscoelastic][law]") {
  VectorSource<double> source(15u);
  int regions[3] = {}, newton_steps = 0;
  for (int round = 0; round < 300; ++round) {
    const Index n = 1 + round % 6;
    SpringCase<double> c(source, n, round % 3 == 0 ? 3 * n + 2 : 6, 0.003);
    c.stiffness.setConstant(1e5);
    c.damping = c.beta * c.stiffness;
    c.time_step = 1e-3;
    for (Index i = 0; i < n; ++i) {
      c.y.segment<3>(3 * i) = 1e-4 * carom::testing::draw_matrix(source, 3, 1);
      c.y(3 * i + 2) -= 5e-5;
    }
    c.rate *= 0.03;
    carom::AverageForces<double> forces;
    forces.prepare(n, c.whitened.rows());
    VectorX<double> average(3 * n), average2(3 * n), friction(n);
    MatrixX<double> gain(3 * n, 3 * n);
    REQUIRE(forces.set(c.whitened, c.stiffness, c.damping, c.time_step));
    REQUIRE(forces.evaluate(c.y, c.rate, c.acceleration, average, average2));
    REQUIRE(forces.write_gain(gain));
    for (Index i = 0; i < n; ++i) friction(i) = source.unit() < 0.1 ? 0 : source.unit();
    CoulombSlip<double> slip;
    slip.prepare(n);
    const auto report = slip.solve(gain, average, friction);
    CAPTURE(round, report.iterations, to_string(report.status));
    CHECK(report.converged());
    check_law(slip, gain, average, friction, 20000);
    newton_steps += slip.newton_steps();
    for (Index i = 0; i < n; ++i) ++regions[int(slip.region(i))];
  }
  for (const int count : regions) CHECK(count > 30);
  CHECK(newton_steps > 20);
}

TEST_CASE("coulomb_slip: infinite stiffness is rigid contact with friction",
          "[viscoelastic][golden]") {
  MatrixX<double> inverse_mass;
  VectorX<double> step, rate, acceleration, force, slide;
  for (const auto& line : read_numbers("rigid_limit.txt")) {
    const Eigen::Map<const VectorX<double>> numbers(line.numbers.data(),
                                                    Index(line.numbers.size()));
    if (line.name == "inverse_mass") inverse_mass = numbers.reshaped(12, 12);
    if (line.name == "step") step = numbers;
    if (line.name == "rate") rate = numbers;
    if (line.name == "acceleration") acceleration = numbers;
    if (line.name == "force") force = numbers;
    if (line.name == "slip") slide = numbers;
  }
  const MatrixX<double> whitened = inverse_mass.llt().matrixU();
  double before = 1;
  for (const double stiffness : {1e6, 1e8, 1e10}) {
    const VectorX<double> k = VectorX<double>::Constant(12, stiffness);
    const VectorX<double> b = VectorX<double>::Constant(12, 1e5);
    const VectorX<double> y = VectorX<double>::Zero(12);
    carom::AverageForces<double> forces;
    forces.prepare(4, 12);
    VectorX<double> average(12), average2(12);
    MatrixX<double> gain(12, 12);
    REQUIRE(forces.set(whitened, k, b, step(0)));
    REQUIRE(forces.evaluate(y, rate, acceleration, average, average2));
    REQUIRE(forces.write_gain(gain));
    CoulombSlip<double> slip;
    slip.prepare(4);
    const VectorX<double> friction = VectorX<double>::Constant(4, step(1));
    REQUIRE(slip.solve(gain, average, friction).converged());
    const double error = (slip.force() - force).norm() / force.norm();
    CAPTURE(stiffness, error, before);
    CHECK(error < before / 50);
    CHECK((slip.velocity() - slide).norm() <= 4 * error * slide.norm());
    before = error;
  }
  CHECK(before < rounding(5000, 1.0));
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
}

TEST_CASE("coulomb_slip: stiffness of 1e3 to 1e10, damped and not", "[viscoelastic][law]") {
  VectorSource<double> source(16u);
  CoulombSlip<double> slip;
  int hard = 0;
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
    if (report.iterations > CoulombSlip<double>::sweep_limit) ++hard;
  }
  CHECK(hard > carom::testing::sweep(2, 10));  // what sweeps do not solve is among them
}

TEST_CASE("coulomb_slip: single precision", "[viscoelastic][law]") {
  for (const auto& c : read_cone_cases()) {
    CoulombSlip<float> slip;
    slip.prepare(c.average.size() / 3);
    const MatrixX<float> gain = c.gain.cast<float>();
    const VectorX<float> average = c.average.cast<float>(), mu = c.frictions().cast<float>();
    REQUIRE(slip.solve(gain, average, mu).converged());
    CAPTURE(c.average);
    CHECK((slip.force().cast<double>() - c.coulomb.force).norm() <=
          rounding(1000, float(c.average.norm())));
  }
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
