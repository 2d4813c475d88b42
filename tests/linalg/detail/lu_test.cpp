// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/lu.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace lu_test {

using carom::Index, carom::LuFactor, carom::MatrixX, carom::VectorX;
using carom::detail::invert_corner, carom::detail::PivotBlock;
using carom::testing::rounding, carom::testing::VectorSource;

TEMPLATE_TEST_CASE("lu: the solution reproduces the right-hand side", "[linalg][law]", float,
                   double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(7u);
  LuFactor<Scalar> lu;
  lu.prepare(12);
  for (int round = 0; round < 300; ++round) {
    const Index n = 1 + round % 12;
    MatrixX<Scalar> a(n, n);
    VectorX<Scalar> b(n);
    for (Index i = 0; i < n; ++i) {
      b(i) = source.entry(2);
      for (Index j = 0; j < n; ++j) a(i, j) = source.entry(1, 0.3);
    }
    for (Index i = 0; i < n; ++i) a(i, (i + round) % n) += 30;  // regular, pivots off the diagonal
    REQUIRE(lu.factor(a));
    VectorX<Scalar> x = b;
    lu.solve(x);
    const Scalar scale = a.cwiseAbs().maxCoeff() * x.cwiseAbs().maxCoeff() + b.norm();
    CAPTURE(a, b, x);
    CHECK((a * x - b).norm() <= rounding(64, scale));
  }
}

TEST_CASE("lu: a leading block, a row exchange and a singular matrix", "[linalg][example]") {
  LuFactor<double> lu;
  lu.prepare(3);
  MatrixX<double> a(3, 3);
  a << 0, 2, 9, 4, 0, 9, 9, 9, 9;
  REQUIRE(lu.factor(a, 2));
  double x[] = {2, 4, 77};
  lu.solve(x);
  CHECK(x[0] == 1);
  CHECK(x[1] == 1);
  CHECK(x[2] == 77);
  a << 1, 2, 3, 2, 4, 6, 0, 0, 1;
  CHECK_FALSE(lu.factor(a));
  a(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(lu.factor(a));
}

TEST_CASE("lu: the spread of pivots is that of the largest to the least", "[linalg][example]") {
  carom::detail::PivotSpread<double> spread;
  CHECK(spread.ratio() == 1);
  const double first[] = {1.0 / 8, 5, 7, -1.0 / 32};  // reciprocals on the diagonal
  spread.see(first, 2);
  CHECK(spread.ratio() == 4);
  const double second[] = {1.0 / 2};
  spread.see(second, 1);
  CHECK(spread.ratio() == 16);
}

TEST_CASE("lu: a pivot that is infinite, or whose reciprocal is", "[linalg][example]") {
  LuFactor<double> lu;
  lu.prepare(2);
  for (const double pivot :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min()}) {
    MatrixX<double> a(2, 2);
    a << pivot, 0, 0, 1;
    CHECK_FALSE(lu.factor(a));
  }
}

TEMPLATE_TEST_CASE("lu: of a size that the compiler knows, for numbers and rows of numbers",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  using Six = Eigen::Matrix<Scalar, 6, 6>;
  VectorSource<Scalar> source(8u);
  for (int round = 0; round < 100; ++round) {
    Six a;
    Scalar inverse[6][6];
    PivotBlock<6, Scalar> block;
    for (int c = 0; c < 6; ++c) {
      for (int r = 0; r < 6; ++r) a(r, c) = source.entry(1, 0.3);
    }
    for (int i = 0; i < 6; ++i) a(i, (i + round) % 6) += 30;
    for (int c = 0; c < 6; ++c) {
      for (int r = 0; r < 6; ++r) block.entries[c][r] = inverse[c][r] = a(r, c);
    }
    Scalar x[6], b[6];
    Eigen::Array<Scalar, 2, 1> rows[6];
    for (int r = 0; r < 6; ++r) {
      x[r] = b[r] = source.entry(1);
      rows[r] << b[r], 2 * b[r];
    }
    REQUIRE(block.factor());
    REQUIRE(invert_corner<6>(inverse));
    block.solve(x);
    block.solve(rows);
    const Eigen::Map<const Eigen::Matrix<Scalar, 6, 1>> answer(x), given(b);
    const Eigen::Map<const Six> inverted(&inverse[0][0]);
    CAPTURE(a, given, answer);
    CHECK((a * answer - given).norm() <= rounding(64, a.norm() * answer.norm()));
    CHECK((a * inverted - Six::Identity()).norm() <= rounding(64, a.norm() * inverted.norm()));
    for (int r = 0; r < 6; ++r) {
      CHECK(std::abs(rows[r](0) - x[r]) <= rounding(16, answer.norm()));
      CHECK(std::abs(rows[r](1) - 2 * x[r]) <= rounding(32, answer.norm()));
    }
  }
}

TEST_CASE("lu: a singular matrix has no inverse and stays as it is", "[linalg][example]") {
  double singular[3][3] = {{1, 2, 3}, {2, 4, 6}, {0, 0, 1}};
  CHECK_FALSE(invert_corner<3>(singular));
  CHECK(singular[1][2] == 6);
}

}  // namespace lu_test
