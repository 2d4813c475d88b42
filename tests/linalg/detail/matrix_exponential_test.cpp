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
