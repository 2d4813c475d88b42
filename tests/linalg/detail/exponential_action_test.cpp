// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/exponential_action.hpp"

#include <cmath>

#include "carom/linalg/detail/matrix_exponential.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace exponential_action_test {

using carom::ExponentialAction, carom::Index, carom::MatrixExponential, carom::MatrixX,
    carom::VectorX;
using carom::testing::rounding, carom::testing::VectorSource;

TEMPLATE_TEST_CASE("exponential_action: the dense exponential times the vector", "[linalg][oracle]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(21u);
  for (int round = 0; round < 60; ++round) {
    const Index n = 1 + round % 7;
    MatrixX<Scalar> a(n, n);
    VectorX<Scalar> x(n);
    for (Index c = 0; c < n; ++c) {
      x(c) = source.entry(2);
      for (Index r = 0; r < n; ++r) a(r, c) = source.entry(1, 0.2) * Scalar(round % 5);
    }
    MatrixExponential<Scalar> dense;
    dense.prepare(n);
    REQUIRE(dense.evaluate(a));
    const VectorX<Scalar> expected = dense.result() * x;
    ExponentialAction<Scalar> action;
    action.prepare(n);
    VectorX<Scalar> result = x;
    const Scalar norm = a.norm();
    const int products =
        action.apply([&a](const auto& from, auto& to) { to.noalias() = a * from; }, norm, result);
    CAPTURE(a, x, result, expected);
    CHECK((result - expected).norm() <=
          rounding(100, dense.result().norm() * x.norm() * (Scalar(1) + norm)));
    CHECK(Scalar(products) <= 40 * ExponentialAction<Scalar>::substeps(norm));
  }
}

TEST_CASE("exponential_action: long rotations keep their length", "[linalg][example]") {
  ExponentialAction<double> action;
  action.prepare(2);
  VectorX<double> x(2);
  x << 1, 0;
  const double angle = 500;
  const int products = action.apply(
      [&](const auto& from, auto& to) {
        to(0) = -angle * from(1);
        to(1) = angle * from(0);
      },
      angle, x);
  CHECK(std::abs(x(0) - std::cos(angle)) <= rounding(4000, 1.0));
  CHECK(std::abs(x(1) - std::sin(angle)) <= rounding(4000, 1.0));
  CHECK(products > 250);
  CHECK(products < 250 * 40);
  x.setZero();
  CHECK(action.apply([](const auto&, auto& to) { to.setZero(); }, 0.0, x) <= 2);
  CHECK(x.isZero(0));
}

}  // namespace exponential_action_test
