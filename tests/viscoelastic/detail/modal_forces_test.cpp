// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/modal_forces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/number_file.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/viscoelastic_cases.hpp"

namespace oscillator_functions_test {

using carom::oscillator_functions;
using carom::testing::read_numbers, carom::testing::rounding;

TEST_CASE("oscillator_functions: 1e-13 over 24 decades of stiffness and damping",
          "[viscoelastic][oracle]") {
  int rows = 0;
  for (const auto& line : read_numbers("oscillator_functions.txt")) {
    const double a = line.numbers[0], c = line.numbers[1];
    const auto o = oscillator_functions(a, c);
    const double* const expected = line.numbers.data() + 2;
    // Near its zeros an oscillation is as exact as its amplitude allows.
    const double decay = std::exp(-c / 2);
    const double amplitude[] = {std::max(decay / std::sqrt(1 + a), 1e-3 * expected[1]),
                                decay / (1 + a), 0, 0, 0};
    for (std::size_t k = 0; k < 5; ++k) {
      CAPTURE(a, c, k, o.f[k], expected[k]);
      CHECK(std::abs(o.f[k] - expected[k]) <=
            rounding(500, 1.0) * std::max(std::abs(expected[k]), amplitude[k]));
      if (k > 0) CHECK(o.f[k] >= 0);
    }
    CHECK(std::abs(o.slope - expected[5]) <=
          rounding(500, 1.0) * std::max({std::abs(expected[5]), decay, 1e-3 * expected[1]}));
    const double lag = a * expected[1] + c * expected[0];
    CHECK(std::abs(o.lag - lag) <= rounding(1000, 1.0) * std::max(lag, a / (1 + a) * decay));
    ++rows;
  }
  CHECK(rows > 300);
}

TEMPLATE_TEST_CASE("oscillator_functions: recursion, sign and limits", "[viscoelastic][law]", float,
                   double) {
  using Scalar = TestType;
  for (double a = 1e-12; a < 2e6; a *= 7) {
    for (double c = 1e-12; c < 2e6; c *= 7) {
      const auto o = oscillator_functions(Scalar(a), Scalar(c));
      Scalar inverse_factorial(1);
      for (std::size_t k = 0; k < 3; ++k) {
        inverse_factorial /= Scalar(double(k + 1));
        const Scalar sum = o.f[k] + Scalar(c) * o.f[k + 1] + Scalar(a) * o.f[k + 2];
        const Scalar size = inverse_factorial + std::abs(o.f[k]) + Scalar(c) * o.f[k + 1];
        CAPTURE(a, c, k);
        CHECK(std::abs(sum - inverse_factorial) <=
              rounding(400, size) * (1 + std::sqrt(Scalar(a)) / 100));
      }
      CHECK(o.lag >= 0);
      CHECK(std::abs(o.lag + o.slope - 1) <= rounding(100, Scalar(1)));
    }
  }
  const auto still = oscillator_functions(Scalar(0), Scalar(0));
  CHECK(still.f[0] == 1);
  CHECK(still.f[1] == Scalar(0.5));
  CHECK(std::abs(still.f[4] - Scalar(1) / 120) <= rounding(2, Scalar(1) / 120));
  CHECK(still.slope == 1);
}

}  // namespace oscillator_functions_test

namespace modal_forces_test {

using carom::Index, carom::MatrixX, carom::ModalForces, carom::VectorX;
using carom::testing::read_numbers, carom::testing::rounding, carom::testing::SpringCase,
    carom::testing::VectorSource;

TEST_CASE("modal_forces: one mass on a spring-damper", "[viscoelastic][golden]") {
  for (const auto& line : read_numbers("viscoelastic_scalar.txt")) {
    const auto& v = line.numbers;
    ModalForces<double> forces;
    forces.prepare(1, 3);
    const MatrixX<double> inverse_mass = MatrixX<double>::Identity(3, 3) / v[0];
    const VectorX<double> stiffness = VectorX<double>::Constant(3, v[1]);
    REQUIRE(forces.decompose_contacts(inverse_mass, stiffness, v[2] / v[1], v[3]));
    const VectorX<double> y = VectorX<double>::Constant(3, v[4]);
    const VectorX<double> rate = VectorX<double>::Constant(3, v[5]);
    const VectorX<double> acceleration = VectorX<double>::Constant(3, v[6]);
    VectorX<double> average(3), average2(3);
    forces.evaluate(y, rate, acceleration, average, average2);
    const double size = v[1] * std::abs(v[4]) + v[2] * std::abs(v[5]);
    CAPTURE(line.name, average, average2);
    CHECK((average.array() - v[14]).abs().maxCoeff() <= rounding(500, 1.0) * size);
    CHECK((average2.array() - v[15]).abs().maxCoeff() <= rounding(500, 1.0) * size);
    const MatrixX<double> q = forces.modes();
    const MatrixX<double> g = q.transpose() * forces.gains().asDiagonal() * q;
    const MatrixX<double> g2 = q.transpose() * forces.gains2().asDiagonal() * q;
    CHECK((g - v[16] * MatrixX<double>::Identity(3, 3)).norm() <= rounding(500, 1.0) * 2 * v[16]);
    CHECK((g2 - v[17] * MatrixX<double>::Identity(3, 3)).norm() <= rounding(500, 1.0) * 2 * v[17]);
  }
}

TEMPLATE_TEST_CASE("modal_forces: coordinates and contacts give the same forces",
                   "[viscoelastic][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(12u);
  for (int round = 0; round < 60; ++round) {
    const Index n = 1 + round % 4, velocities = 1 + round % int(3 * n - 1);
    const SpringCase<Scalar> c(source, n, velocities, round % 3 == 0 ? 0 : 0.01);
    ModalForces<Scalar> contacts, coordinates;
    contacts.prepare(n, 3 * n);
    coordinates.prepare(n, velocities);
    REQUIRE(contacts.decompose_contacts(c.inverse_mass(), c.stiffness, c.beta, c.time_step));
    REQUIRE(coordinates.decompose_coordinates(c.whitened, c.stiffness, c.beta, c.time_step));
    VectorX<Scalar> a(3 * n), a2(3 * n), b(3 * n), b2(3 * n);
    contacts.evaluate(c.y, c.rate, c.acceleration, a, a2);
    coordinates.evaluate(c.y, c.rate, c.acceleration, b, b2);
    CAPTURE(round, n, velocities);
    CHECK((a - b).norm() <= rounding(400, c.force_size()));
    CHECK((a2 - b2).norm() <= rounding(400, c.force_size()));
  }
}

TEST_CASE("modal_forces: velocities that move no contact, rows that no velocity moves",
          "[viscoelastic][example]") {
  // The second velocity moves no contact; the third contact row meets no velocity.
  MatrixX<double> whitened(2, 3);
  whitened << 1, 2, 0, 0, 0, 0;
  ModalForces<double> forces;
  forces.prepare(1, 2);
  const VectorX<double> stiffness = VectorX<double>::Constant(3, 1e4);
  REQUIRE(forces.decompose_coordinates(whitened, stiffness, 0.01, 0.002));
  VectorX<double> y(3), rate = VectorX<double>::Zero(3), average(3), average2(3);
  y << 0, 0, 1e-3;
  forces.evaluate(y, rate, rate, average, average2);
  CHECK(std::abs(average(2) + 10) <= rounding(8, 10.0));
  CHECK(std::abs(average2(2) + 10) <= rounding(8, 10.0));
  CHECK(std::abs(forces.own_gain(2) - 110) <= rounding(8, 110.0));
  whitened(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(forces.decompose_coordinates(whitened, stiffness, 0.01, 0.002));
}

}  // namespace modal_forces_test
