// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace symmetric_eigen_test {

using carom::Index, carom::MatrixX, carom::SymmetricEigen, carom::VectorX;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

template <typename Scalar>
void check_laws(SymmetricEigen<Scalar>& eigen, const MatrixX<Scalar>& s) {
  const Index n = s.rows();
  eigen.prepare(n);
  eigen.matrix() = s;
  CAPTURE(s);
  REQUIRE(eigen.solve());
  const MatrixX<Scalar> v = eigen.vectors();
  const VectorX<Scalar> d = eigen.values();
  CHECK((v.transpose() * v - MatrixX<Scalar>::Identity(n, n)).norm() <=
        rounding(20 + 20 * int(n), Scalar(1)));
  CHECK((s * v - v * d.asDiagonal()).norm() <= rounding(20 + 20 * int(n), s.norm()));
  VectorX<Scalar> sorted = d;
  std::sort(sorted.data(), sorted.data() + n);
  const VectorX<Scalar> expected = Eigen::SelfAdjointEigenSolver<MatrixX<Scalar>>(s).eigenvalues();
  CHECK((sorted - expected).norm() <= rounding(20 + 20 * int(n), s.norm()));
}

}  // namespace

TEMPLATE_TEST_CASE("symmetric_eigen: orthonormal vectors that diagonalise", "[linalg][law]", float,
                   double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(9u);
  SymmetricEigen<Scalar> eigen;
  for (int round = 0; round < 300; ++round) {
    const Index n = 1 + round % 13;
    MatrixX<Scalar> s(n, n);
    const double decades = round % 3 == 0 ? 8 : 1;
    for (Index c = 0; c < n; ++c) {
      for (Index r = 0; r <= c; ++r) s(r, c) = s(c, r) = source.entry(decades, 0.3);
    }
    check_laws(eigen, s);
  }
}

TEMPLATE_TEST_CASE(
    "symmetric_eigen: a size that the compiler knows needs no memory and gives the same",
    "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(11u);
  for (int round = 0; round < 100; ++round) {
    SymmetricEigen<Scalar, 3> fixed;
    SymmetricEigen<Scalar> dynamic;
    dynamic.prepare(3);
    MatrixX<Scalar> s(3, 3);
    for (Index c = 0; c < 3; ++c) {
      for (Index r = 0; r <= c; ++r) s(r, c) = s(c, r) = source.entry(1, 0.3);
    }
    fixed.matrix() = s;
    dynamic.matrix() = s;
    REQUIRE(fixed.solve());
    REQUIRE(dynamic.solve());
    CAPTURE(s);
    const MatrixX<Scalar> v = fixed.vectors();
    CHECK((s * v - v * fixed.values().asDiagonal()).norm() <= rounding(80, s.norm()));
    CHECK((fixed.values() - dynamic.values()).norm() <= rounding(20, s.norm()));
  }
}

TEMPLATE_TEST_CASE("symmetric_eigen: a power of two scales the values and nothing else",
                   "[linalg][law]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(10u);
  SymmetricEigen<Scalar> eigen;
  constexpr int decades = std::numeric_limits<Scalar>::max_exponent - 8;
  for (const int power : {-decades, -decades / 2, 7, decades / 2, decades}) {
    MatrixX<Scalar> s(6, 6);
    for (Index c = 0; c < 6; ++c) {
      for (Index r = 0; r <= c; ++r) s(r, c) = s(c, r) = source.entry(0.3, 0.3);
    }
    check_laws(eigen, s);
    const MatrixX<Scalar> vectors = eigen.vectors();
    const VectorX<Scalar> values = eigen.values();
    eigen.matrix() = s.unaryExpr([&](Scalar x) { return std::ldexp(x, power); });
    REQUIRE(eigen.solve());
    CHECK(eigen.vectors() == vectors);
    CHECK(eigen.values() == values.unaryExpr([&](Scalar x) { return std::ldexp(x, power); }));
  }
}

TEST_CASE("symmetric_eigen: diagonal, repeated, singular and zero matrices", "[linalg][example]") {
  SymmetricEigen<double> eigen;
  check_laws<double>(eigen, MatrixX<double>::Identity(5, 5) * 3);
  check_laws<double>(eigen, MatrixX<double>::Zero(4, 4));
  check_laws<double>(eigen, MatrixX<double>::Ones(6, 6));
  check_laws<double>(eigen, VectorX<double>::LinSpaced(7, -3, 3).asDiagonal());
  MatrixX<double> chain = MatrixX<double>::Zero(8, 8);
  for (Index i = 0; i < 8; ++i) {
    chain(i, i) = 2;
    if (i > 0) chain(i, i - 1) = chain(i - 1, i) = -1;
  }
  check_laws<double>(eigen, chain);
  check_laws<double>(eigen, chain * 1e-150);
}

TEST_CASE("symmetric_eigen: a part whose squares underflow costs a rounding of the largest value",
          "[linalg][example]") {
  SymmetricEigen<double> eigen;
  for (const double small_part : {1e-60, 1e-120, 1e-150, 1e-160, 1e-162, 1e-200}) {
    MatrixX<double> s = MatrixX<double>::Zero(5, 5);
    s.bottomRightCorner(4, 4) << 1, 0.3, 0.2, 0.4, 0.3, 2, 0.1, 0, 0.2, 0.1, 3, 0, 0.4, 0, 0, 1;
    s *= small_part;
    s(0, 0) = 1;
    check_laws<double>(eigen, s);
  }
}

TEST_CASE("symmetric_eigen: what is not finite is refused", "[linalg][example]") {
  SymmetricEigen<double> eigen;
  for (const Index n : {Index(1), Index(2), Index(3), Index(6)}) {
    eigen.prepare(n);
    eigen.matrix().setIdentity();
    eigen.matrix()(n - 1, n - 1) = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(eigen.solve());
    eigen.matrix().setIdentity();
    eigen.matrix()(0, 0) = std::numeric_limits<double>::infinity();
    CHECK_FALSE(eigen.solve());
  }
}

TEST_CASE("symmetric_eigen: an empty matrix has no values", "[linalg][example]") {
  SymmetricEigen<double> eigen;
  eigen.prepare(0);
  CHECK(eigen.solve());
  CHECK(eigen.values().size() == 0);
}

}  // namespace symmetric_eigen_test
