// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/lu.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace lu_test {

using carom::Index, carom::LuFactor, carom::MatrixX, carom::VectorX;
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

}  // namespace lu_test
