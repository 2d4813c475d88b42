// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/sliding_problem.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace sliding_problem_test {

using carom::Index, carom::SlidingProblem, carom::Vector, carom::VectorX;
using carom::testing::rounding;

TEMPLATE_TEST_CASE("sliding_problem: a contact sticks or slides against its slip",
                   "[variational][example]", float, double) {
  using Scalar = TestType;
  const Scalar close = 64 * std::numeric_limits<Scalar>::epsilon();
  SlidingProblem<Scalar> problem;
  problem.prepare(1);
  problem.response << 2, 0, 0, 2;
  problem.slip << Scalar(0.6), Scalar(-0.8);
  problem.friction << Scalar(0.5);
  problem.normal << 2;
  REQUIRE(problem.solve(1).converged());
  CHECK(std::abs(problem.impulse(0) + Scalar(0.3)) < close);
  CHECK(std::abs(problem.impulse(1) - Scalar(0.4)) < close);
  problem.normal << Scalar(0.5);
  REQUIRE(problem.solve(1).converged());
  CHECK(std::abs(problem.impulse(0) + Scalar(0.15)) < close);
  CHECK(std::abs(problem.impulse(1) - Scalar(0.2)) < close);
  problem.normal << -1;
  REQUIRE(problem.solve(1).converged());
  CHECK(problem.impulse.norm() == 0);
}

TEST_CASE("sliding_problem: nothing takes more energy", "[variational][oracle]") {
  SlidingProblem<double> problem;
  problem.prepare(2);
  problem.response << 2, 0.3, 0.5, 0.1, 0.3, 1, -0.2, 0.4, 0.5, -0.2, 1.5, 0, 0.1, 0.4, 0, 0.8;
  problem.slip << 1, -0.5, 0.2, 0.7;
  problem.friction << 0.5, 0.3;
  problem.normal << 0.7, 5;
  REQUIRE(problem.solve(2).converged());
  const VectorX<double> best = problem.impulse;
  const auto cost = [&](const VectorX<double>& x) {
    return x.dot(problem.response * x) / 2 + problem.slip.dot(x);
  };
  // The first slides, the second sticks.
  CHECK(std::abs(best.head(2).norm() - 0.35) <= rounding(64, 1.0));
  CHECK((problem.slip + problem.response * best).tail(2).norm() <= rounding(8192, 1.0));
  for (int k = 0; k < 400; ++k) {
    VectorX<double> x = best;
    const double angle = 0.31 * k, length = 1e-3 * (k % 7);
    x.head(2) += length * Vector<double, 2>(std::cos(angle), std::sin(angle));
    x.tail(2) += length * Vector<double, 2>(std::sin(1.7 * angle), std::cos(angle));
    if (x.head(2).norm() > 0.35) x.head(2) *= 0.35 / x.head(2).norm();
    CHECK(cost(x) >= cost(best) - rounding(5, 1.0));
  }
}

}  // namespace sliding_problem_test
