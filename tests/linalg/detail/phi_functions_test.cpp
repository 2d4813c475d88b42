// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/phi_functions.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace phi_functions_test {

using carom::phi_functions;
using carom::testing::rounding;

namespace {

/// φ_k as an integral, ∫₀¹ e^{(1−s)x} s^{k−1}/(k−1)! ds, by Gauss's rule of five nodes on 200
/// parts.
long double phi_by_quadrature(int k, long double x) {
  if (k == 0) return std::exp(x);
  const long double nodes[] = {0, std::sqrt(5 - 2 * std::sqrt(10.0L / 7)) / 3,
                               std::sqrt(5 + 2 * std::sqrt(10.0L / 7)) / 3};
  const long double weights[] = {128.0L / 225, (322 + 13 * std::sqrt(70.0L)) / 900,
                                 (322 - 13 * std::sqrt(70.0L)) / 900};
  long double factorial = 1, sum = 0;
  for (int j = 2; j < k; ++j) factorial *= j;
  constexpr int parts = 200;
  for (int part = 0; part < parts; ++part) {
    for (int j = -2; j <= 2; ++j) {
      const long double node = j < 0 ? -nodes[-j] : nodes[j];
      const long double s = (part + (1 + node) / 2) / parts;
      sum += weights[j < 0 ? -j : j] / 2 / parts * std::exp((1 - s) * x) * std::pow(s, k - 1);
    }
  }
  return sum / factorial;
}

}  // namespace

TEMPLATE_TEST_CASE("phi_functions: integrals of the exponential", "[linalg][oracle]", float,
                   double) {
  using Scalar = TestType;
  for (const double magnitude : {0.0, 1e-12, 1e-6, 0.01, 0.049, 0.051, 0.3, 0.49, 0.51, 1.0, 2.0,
                                 2.99, 3.01, 5.0, 20.0, 50.0}) {
    for (const double sign : {-1.0, 1.0}) {
      const auto x = Scalar(sign * magnitude);
      const auto phi = phi_functions<6>(x);
      for (int k = 0; k < 6; ++k) {
        const auto expected = Scalar(phi_by_quadrature(k, static_cast<long double>(x)));
        CAPTURE(x, k, phi[std::size_t(k)], expected);
        // eˣ itself carries x roundings.
        CHECK(std::abs(phi[std::size_t(k)] - expected) <=
              rounding(60, expected) * (k == 0 ? 1 + std::abs(x) : Scalar(1)));
      }
    }
  }
}

TEST_CASE("phi_functions: far to the left they are inverse powers", "[linalg][example]") {
  const auto phi = phi_functions<4>(-1e8);
  CHECK(phi[0] == 0);
  CHECK(std::abs(phi[1] - 1e-8) <= rounding(2, 1e-8));
  CHECK(std::abs(phi[2] - (1 - 1e-8) / 1e8) <= rounding(4, 1e-8));
  CHECK(std::abs(phi[3] - (0.5 - 1e-8) / 1e8) <= rounding(4, 1e-8));
}

}  // namespace phi_functions_test
