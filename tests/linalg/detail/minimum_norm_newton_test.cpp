// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/minimum_norm_newton.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace minimum_norm_newton_test {

using carom::testing::by_differences;
using carom::testing::by_solver;

using carom::find_nearest_root, carom::Index, carom::MatrixX, carom::MinimumNormOptions;
using carom::SolveStatus, carom::VectorX;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

VectorX<double> draw(VectorSource<double>& source, Index size) {
  VectorX<double> x(size);
  for (double& entry : x) entry = 2 * source.unit() - 1;
  return x;
}

}  // namespace

TEST_CASE("minimum_norm_newton: of a linear system's roots it finds the nearest",
          "[linalg][oracle]") {
  VectorSource<double> source(121u);
  WorstCase solved("A x = b"), nearest("x - start is in the range of A'"), quick("steps");
  for (int round = 0; round < 200; ++round) {
    const Index rows = 1 + round % 4, columns = rows + (round / 4) % 4;
    MatrixX<double> a(rows, columns);
    for (Index i = 0; i < a.size(); ++i) a(i) = 2 * source.unit() - 1;
    for (Index i = 0; i < rows; ++i) a(i, i) += 2;
    const VectorX<double> b = draw(source, rows), start = draw(source, columns);
    VectorX<double> x = start;
    const auto report = find_nearest_root<double>(
        [&](const VectorX<double>& at) { return VectorX<double>(a * at - b); }, x,
        {.tolerance = 1e-14});
    solved.see_holds(report.converged(), a, b);
    solved.see((a * x - b).cwiseAbs().maxCoeff(), by_solver(1e-14), a, b);
    solved.see(std::abs((a * x - b).cwiseAbs().maxCoeff() - report.residual), rounding(5, 1.0), a,
               b);
    const VectorX<double> step = a.transpose() * (a * a.transpose()).ldlt().solve(b - a * start);
    nearest.see((x - start - step).norm(), by_differences(1e-9), a, b);
    quick.see_holds(report.iterations <= 3, a, double(report.iterations));
  }
  solved.check(600);
  nearest.check(200);
  quick.check(200);
}

TEST_CASE("minimum_norm_newton: the error is squared in every step", "[linalg][law]") {
  const auto circle_and_line = [](const VectorX<double>& x) {
    VectorX<double> r(2);
    r << x(0) * x(0) + x(1) * x(1) + x(2) * x(2) - 3, x(0) - x(1);
    return r;
  };
  double before = 0;
  for (int steps = 0; steps <= 5; ++steps) {
    VectorX<double> x(3);
    x << 1.5, 0.8, 1.1;
    const auto report =
        find_nearest_root<double>(circle_and_line, x, {.tolerance = 0, .iteration_limit = steps});
    const double error = circle_and_line(x).norm();
    CAPTURE(steps, before, error);
    CHECK(report.residual == circle_and_line(x).cwiseAbs().maxCoeff());
    if (steps > 0)
      CHECK(error <= 0.5 * before * before + by_solver(1e-9) * before + rounding(5, 1.0));
    before = error;
  }
  VectorX<double> x(3);
  x << 1.5, 0.8, 1.1;
  const auto report = find_nearest_root<double>(circle_and_line, x);
  CHECK(report.converged());
  CHECK(report.residual <= rounding(16, 1.0));
  CHECK(report.iterations <= 7);
}

TEST_CASE("minimum_norm_newton: steps too long are halved", "[linalg][example]") {
  VectorX<double> x(1);
  x << 3;  // full Newton steps on the arc tangent run away from here
  const auto report = find_nearest_root<double>(
      [](const VectorX<double>& at) { return VectorX<double>(at.array().atan()); }, x);
  CHECK(report.converged());
  CHECK(std::abs(x(0)) <= rounding(50, 1.0));
  x << 4;  // the first full step leaves the domain
  CHECK(find_nearest_root<double>(
            [](const VectorX<double>& at) { return VectorX<double>(at.array().log()); }, x)
            .converged());
  CHECK(x(0) == Approx(1));
}

TEST_CASE("minimum_norm_newton: a large unknown is differenced by a step of its own size",
          "[linalg][example]") {
  // The spacing of numbers at 3e9 is 5e-7, so that a step of a millionth of a millionth is no step.
  VectorX<double> x(1);
  x << 3e9;
  const auto report = find_nearest_root<double>(
      [](const VectorX<double>& at) { return VectorX<double>(at.array() / 1e9 - 1); }, x);
  CHECK(report.converged());
  CHECK(report.iterations <= 2);
  CHECK(std::abs(x(0) - 1e9) <= rounding(16, 1e9));
}

TEST_CASE("minimum_norm_newton: why it ended short of a root is reported", "[linalg][example]") {
  VectorX<double> x(2);
  x << 1, 1;
  // Twice the same equation, contradicting.
  const auto dependent = find_nearest_root<double>(
      [](const VectorX<double>& at) {
        VectorX<double> r(2);
        r << at(0) + at(1), at(0) + at(1) - 1;
        return r;
      },
      x);
  CHECK(dependent.status == SolveStatus::no_progress);
  x << 1, 1;
  const auto flat = find_nearest_root<double>(
      [](const VectorX<double>&) { return VectorX<double>(VectorX<double>::Ones(1)); }, x);
  CHECK(flat.status == SolveStatus::no_progress);
  CHECK(flat.residual == 1);
  CHECK(x == VectorX<double>::Ones(2));
  const auto valley = find_nearest_root<double>(  // no root at all
      [](const VectorX<double>& at) {
        return VectorX<double>(VectorX<double>::Constant(1, 1 + at.squaredNorm()));
      },
      x);
  CHECK(valley.status == SolveStatus::no_progress);
  CHECK(valley.residual < 1.01);
  x << 1, std::numeric_limits<double>::quiet_NaN();
  CHECK(find_nearest_root<double>([](const VectorX<double>& at) { return at; }, x).status ==
        SolveStatus::not_finite);
  x << 5, 5;
  const auto none = find_nearest_root<double>([](const VectorX<double>& at) { return at; }, x,
                                              {.iteration_limit = 0});
  CHECK(none.status == SolveStatus::iteration_limit);
  CHECK(x(0) == 5);
  const auto no_equations = find_nearest_root<double>(
      [](const VectorX<double>&) { return VectorX<double>(VectorX<double>::Zero(0)); }, x);
  CHECK(no_equations.converged());
  CHECK((no_equations.residual == 0 && x(0) == 5));
  x << 0, 0;
  CHECK(find_nearest_root<double>([](const VectorX<double>& at) { return at; }, x).iterations == 0);
}

TEST_CASE("minimum_norm_newton: single precision", "[linalg][example]") {
  VectorX<float> x(2);
  x << 1.0F, 2.0F;
  const auto report = find_nearest_root<float>(
      [](const VectorX<float>& at) {
        return VectorX<float>(VectorX<float>::Constant(1, at.squaredNorm() - 2));
      },
      x);
  CHECK(report.converged());
  CHECK(x.norm() == Approx(std::sqrt(2.0)).epsilon(by_solver(1e-6)));
  CHECK(x(1) == Approx(2 * x(0)).epsilon(by_solver(1e-3)));
}

}  // namespace minimum_norm_newton_test
