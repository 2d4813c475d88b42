// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/matrix_exponential.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace matrix_exponential_test {

using carom::Index, carom::MatrixExponential, carom::MatrixX;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

template <typename Scalar>
MatrixX<Scalar> random_matrix(VectorSource<Scalar>& source, Index n, double decades) {
  MatrixX<Scalar> a(n, n);
  for (Index c = 0; c < n; ++c) {
    for (Index r = 0; r < n; ++r) a(r, c) = source.entry(decades, 0.2);
  }
  return a;
}

template <typename Scalar>
MatrixX<Scalar> exponential_of(const MatrixX<Scalar>& a) {
  MatrixExponential<Scalar> exponential;
  exponential.prepare(a.rows());
  REQUIRE(exponential.evaluate(a));
  return exponential.result();
}

}  // namespace

TEMPLATE_TEST_CASE("matrix_exponential: exp(A) exp(-A) = 1, exp(2A) = exp(A)^2", "[linalg][law]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(3u);
  for (int round = 0; round < 60; ++round) {
    const Index n = 1 + round % 9;
    const MatrixX<Scalar> a = random_matrix(source, n, 1);
    const MatrixX<Scalar> forth = exponential_of(a);
    const MatrixX<Scalar> back = exponential_of(MatrixX<Scalar>(-a));
    const MatrixX<Scalar> twice = exponential_of(MatrixX<Scalar>(2 * a));
    CAPTURE(a);
    CHECK((forth * back - MatrixX<Scalar>::Identity(n, n)).norm() <=
          rounding(200, forth.norm() * back.norm()));
    CHECK((twice - forth * forth).norm() <= rounding(200, forth.norm() * forth.norm()));
  }
}

TEMPLATE_TEST_CASE("matrix_exponential: symmetric matrices through their eigenvalues",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(5u);
  for (int round = 0; round < 40; ++round) {
    const Index n = 1 + round % 8;
    MatrixX<Scalar> a = random_matrix(source, n, 1);
    a = (a + a.transpose()).eval() * Scalar(round % 4);
    const Eigen::SelfAdjointEigenSolver<MatrixX<Scalar>> eigen(a);
    const MatrixX<Scalar> expected = eigen.eigenvectors() *
                                     eigen.eigenvalues().array().exp().matrix().asDiagonal() *
                                     eigen.eigenvectors().transpose();
    CAPTURE(a);
    CHECK((exponential_of(a) - expected).norm() <=
          rounding(100, expected.norm() * (Scalar(1) + a.norm())));
  }
}

TEST_CASE("matrix_exponential: closed forms", "[linalg][example]") {
  MatrixX<double> a(2, 2);
  a << 0, -3, 3, 0;
  MatrixX<double> e = exponential_of(a);
  CHECK(std::abs(e(0, 0) - std::cos(3.0)) <= rounding(8, 1.0));
  CHECK(std::abs(e(1, 0) - std::sin(3.0)) <= rounding(8, 1.0));
  a << 0, 5, 0, 0;  // nilpotent
  e = exponential_of(a);
  CHECK((e - (MatrixX<double>(2, 2) << 1, 5, 0, 1).finished()).norm() <= rounding(2, 5.0));
  CHECK(exponential_of(MatrixX<double>(MatrixX<double>::Zero(3, 3))) ==
        MatrixX<double>::Identity(3, 3));
  CHECK(exponential_of(MatrixX<double>(MatrixX<double>::Zero(0, 0))).size() == 0);
}

TEST_CASE("matrix_exponential: badly scaled matrices are balanced first", "[linalg][oracle]") {
  // D⁻¹ A D has the exponential D⁻¹ exp(A) D; entries of twelve decades keep their digits.
  VectorSource<double> source(8u);
  for (int round = 0; round < 30; ++round) {
    const Index n = 2 + round % 5;
    const MatrixX<double> a = random_matrix(source, n, 1);
    carom::VectorX<double> d(n);
    for (Index i = 0; i < n; ++i) d(i) = std::ldexp(1.0, int(40 * source.unit()) - 20);
    const MatrixX<double> scaled = d.cwiseInverse().asDiagonal() * a * d.asDiagonal();
    const MatrixX<double> back =
        d.asDiagonal() * exponential_of(scaled) * d.cwiseInverse().asDiagonal();
    const MatrixX<double> expected = exponential_of(a);
    CAPTURE(a, d);
    CHECK((back - expected).norm() <= rounding(2000, expected.norm()));
  }
}

TEST_CASE("matrix_exponential: what is not finite is refused", "[linalg][example]") {
  MatrixExponential<double> exponential;
  exponential.prepare(2);
  MatrixX<double> a = MatrixX<double>::Identity(2, 2);
  a(0, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(exponential.evaluate(a));
  a(0, 1) = std::numeric_limits<double>::infinity();
  CHECK_FALSE(exponential.evaluate(a));
  a(0, 1) = 1;
  a(0, 0) = 1e6;
  CHECK_FALSE(exponential.evaluate(a));  // beyond the range
  a.setConstant(1e308);
  CHECK_FALSE(exponential.evaluate(a));  // the sum of a column is
}

}  // namespace matrix_exponential_test

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
