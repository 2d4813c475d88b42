// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/second_order.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace second_order_test {

using carom::SecondOrder, carom::VectorX;
using carom::testing::rounding;

namespace {

/// One variable along the outer direction and the first inner one.
template <typename Scalar>
SecondOrder<Scalar> variable(Scalar x) {
  SecondOrder<Scalar> result(x);
  result.outer(0) = 1;
  result.inner(0) = 1;
  return result;
}

template <typename Scalar>
void check(const SecondOrder<Scalar>& got, Scalar value, Scalar slope, Scalar curvature) {
  const Scalar scale = 1 + std::abs(value) + std::abs(slope) + std::abs(curvature);
  CAPTURE(got.value, got.outer(0), got.inner(0), got.mixed(0, 0), value, slope, curvature);
  CHECK(std::abs(got.value - value) <= rounding(16, scale));
  CHECK(std::abs(got.outer(0) - slope) <= rounding(16, scale));
  CHECK(std::abs(got.inner(0) - slope) <= rounding(16, scale));
  CHECK(std::abs(got.mixed(0, 0) - curvature) <= rounding(16, scale));
}

}  // namespace

TEMPLATE_TEST_CASE("second_order: functions carry slope and curvature", "[linalg][oracle]", float,
                   double) {
  using Scalar = TestType;
  for (const double at : {0.2, 0.5, 0.9}) {
    const auto a = Scalar(at);
    const auto x = variable(a);
    check(sin(x), std::sin(a), std::cos(a), -std::sin(a));
    check(cos(x), std::cos(a), -std::sin(a), -std::cos(a));
    const Scalar t = std::tan(a);
    check(tan(x), t, 1 + t * t, 2 * t * (1 + t * t));
    check(exp(x), std::exp(a), std::exp(a), std::exp(a));
    check(log(x), std::log(a), 1 / a, -1 / (a * a));
    check(sqrt(x), std::sqrt(a), 1 / (2 * std::sqrt(a)), -1 / (4 * a * std::sqrt(a)));
    check(pow(x, Scalar(3)), a * a * a, 3 * a * a, 6 * a);
    const Scalar q = 1 + a * a, w = 1 - a * a;
    check(atan(x), std::atan(a), 1 / q, -2 * a / (q * q));
    check(asin(x), std::asin(a), 1 / std::sqrt(w), a / (w * std::sqrt(w)));
    check(acos(x), std::acos(a), -1 / std::sqrt(w), -a / (w * std::sqrt(w)));
    const Scalar h = std::tanh(a);
    check(tanh(x), h, 1 - h * h, -2 * h * (1 - h * h));
    check(abs(-x), a, Scalar(1), Scalar(0));
    check(x * x / Scalar(4), a * a / 4, a / 2, Scalar(0.5));
    check(x / (x + 1), a / (a + 1), 1 / ((1 + a) * (1 + a)), -2 / ((1 + a) * (1 + a) * (1 + a)));
    check(hypot(x, Scalar(2) * x), a * std::sqrt(Scalar(5)), std::sqrt(Scalar(5)), Scalar(0));
    // atan2(x², 1) and atan2(1, x²) turn against each other.
    const Scalar d = 1 + a * a * a * a;
    const Scalar curvature = (2 * d - 8 * a * a * a * a) / (d * d);
    check(atan2(x * x, SecondOrder<Scalar>(1)), std::atan(a * a), 2 * a / d, curvature);
    check(atan2(SecondOrder<Scalar>(1), x * x), std::atan2(Scalar(1), a * a), -2 * a / d,
          -curvature);
  }
}

TEST_CASE("second_order: pairs of directions give one Hessian entry each", "[linalg][law]") {
  // f = x² y + sin(y z): the row of x holds (2y, 2x, 0), that of y (2x, −z² sin, cos − y z sin).
  VectorX<SecondOrder<double>> x(3);
  for (int i = 0; i < 3; ++i) {
    x(i) = SecondOrder<double>(0.3 + i);
    x(i).inner(i) = 1;
  }
  x(0).outer(0) = 1;
  x(1).outer(1) = 1;
  auto f = x(0) * x(0) * x(1);
  f += sin(x(1) * x(2));
  f -= 3;
  f *= 2.0;
  f /= 2.0;
  CHECK(f.value == Approx(0.09 * 1.3 + std::sin(1.3 * 2.3) - 3));
  CHECK(f.mixed(0, 0) == Approx(2.6));
  CHECK(f.mixed(1, 0) == Approx(0.6));
  CHECK(f.mixed(2, 0) == Approx(0.0));
  const double angle = 1.3 * 2.3;
  CHECK(f.mixed(0, 1) == Approx(0.6));
  CHECK(f.mixed(1, 1) == Approx(-2.3 * 2.3 * std::sin(angle)));
  CHECK(f.mixed(2, 1) == Approx(std::cos(angle) - angle * std::sin(angle)));
  CHECK(f.outer(1) == Approx(0.09 + 2.3 * std::cos(angle)));
  CHECK(f.inner(2) == Approx(1.3 * std::cos(1.3 * 2.3)));
}

TEST_CASE("second_order: each outer direction goes with each inner one", "[linalg][law]") {
  using Number = SecondOrder<double>;
  Number x(0.7), y(1.9);
  for (int i = 0; i < Number::outers; ++i) {
    x.outer(i) = 1 + i;
    y.outer(i) = 3 - i;
  }
  for (int j = 0; j < Number::inners; ++j) {
    x.inner(j) = 2 - 0.5 * j;
    y.inner(j) = 1 + 2 * j;
  }
  const Number f = sin(x), g = x * y;
  for (int i = 0; i < Number::outers; ++i) {
    for (int j = 0; j < Number::inners; ++j) {
      CAPTURE(i, j);
      CHECK(f.mixed(j, i) == Approx(-std::sin(0.7) * x.inner(j) * x.outer(i)));
      CHECK(g.mixed(j, i) == Approx(x.outer(i) * y.inner(j) + y.outer(i) * x.inner(j)));
    }
  }
}

TEST_CASE("second_order: vectors of Eigen hold it", "[linalg][example]") {
  VectorX<SecondOrder<double>> x(2);
  x(0) = variable(2.0);
  x(1) = 3.0;
  check<double>(x.dot(x), 13, 4, 2);
  check<double>((2.0 * x).squaredNorm(), 52, 16, 8);
  CHECK(x(0) < x(1));
  CHECK(x(0) != x(1));
  CHECK(x(1) >= 3.0);
}

TEST_CASE("second_order: without outer directions it is plain forward mode", "[linalg][law]") {
  using carom::FirstOrder;
  const double at[] = {0.4, 0.7};
  VectorX<FirstOrder<double>> x(2);
  VectorX<SecondOrder<double>> y(2);
  for (int i = 0; i < 2; ++i) {
    x(i) = at[i];
    y(i) = at[i];
    x(i).inner(i) = 1;
    y(i).inner(i) = 1;
  }
  const auto f = sin(x(0) * x(1)) / (x(0) + 2.0) + sqrt(x(1));
  const auto g = sin(y(0) * y(1)) / (y(0) + 2.0) + sqrt(y(1));
  CHECK(f.value == g.value);
  CHECK((f.inner == g.inner).all());
  CHECK(f.mixed.size() == 0);
}

TEST_CASE("second_order: the magnitude has the slope of its side", "[linalg][example]") {
  check(abs(variable(0.5)), 0.5, 1.0, 0.0);
  check(abs(variable(-0.5)), 0.5, -1.0, 0.0);
  check(abs(variable(0.0)), 0.0, 1.0, 0.0);
}

}  // namespace second_order_test
