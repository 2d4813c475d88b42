// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/detail/oscillator_functions.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/number_file.hpp"
#include "support/tolerance.hpp"

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

TEST_CASE("oscillator_functions: one mass on a spring-damper", "[viscoelastic][golden]") {
  for (const auto& line : read_numbers("viscoelastic_scalar.txt")) {
    const auto& v = line.numbers;
    const double mass = v[0], stiffness = v[1], damping = v[2], t = v[3];
    const auto o = oscillator_functions(stiffness / mass * t * t, damping / mass * t);
    double power = t;
    for (std::size_t k = 0; k < 4; ++k, power *= t) {
      CAPTURE(line.name, k);
      CHECK(std::abs(o.f[k] * power - v[7 + k]) <= rounding(500, 1.0) * std::abs(v[7 + k]));
    }
    CHECK(std::abs(o.slope - v[11]) <= rounding(500, 1.0));
    const double place =
        (o.slope + damping / mass * t * o.f[0]) * v[4] + t * o.f[0] * v[5] + t * t * o.f[1] * v[6];
    CHECK(std::abs(place - v[12]) <= rounding(500, 1.0) * std::abs(v[4]));
  }
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
