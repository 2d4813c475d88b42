// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/line_of_balls.hpp"

#include <cmath>
#include <vector>

#include "carom/variational/impact_stepper.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace line_of_balls_test {

using carom::testing::by_solver, carom::testing::clearly, carom::testing::rounding;

using namespace carom::examples;
using namespace carom::testing;
using carom::ImpactStepper, carom::ImpactStepOptions, carom::Index, carom::MechanicalState;
using carom::VectorX;

namespace {

struct Run {
  MechanicalState<double> state;
  Index impacts = 0, reflections = 0;
};

Run run(const LineStart& start, double h, int steps) {
  ImpactStepOptions<double> options;
  options.event_limit = 1'000'000;
  ImpactStepper<LineOfBalls> stepper(start.balls, carom::ImpactResolver<double>(), options);
  Run result{{0, start.q, start.momentum()}};
  for (int k = 0; k < steps; ++k) {
    const auto report = stepper.step(result.state, h);
    REQUIRE(report.converged());
    result.impacts += report.impacts;
    result.reflections += report.reflections;
  }
  return result;
}

/// Reflections that Galperin's balls take, and how far m₁x₁² + m₂x₂² is from its closed form.
void check_galperin(int exponent, Index digits, double h, double tolerance = 1e-9) {
  const LineStart start = make_galperin(exponent);
  const double mass = start.balls.masses[1];
  const int steps = int(std::lround(12 / h));  // the last impact of k = 2 comes after 8 s
  const Run end = run(start, h, steps);
  const double t = h * steps, x = end.state.q(0), y = end.state.q(1);
  // Σ m x² has the second derivative 2 Σ m v², which impacts keep; its rate Σ m x v, too, as the
  // two contacts meet where their forces do no work in it.
  const double inertia = x * x + mass * y * y, closed = 1 + mass * (t - 2) * (t - 2);
  const double energy = end.state.momentum(0) * end.state.momentum(0) +
                        end.state.momentum(1) * end.state.momentum(1) / mass;
  CAPTURE(exponent, h, end.reflections, inertia / closed - 1, energy / mass - 1);
  CHECK(end.reflections == digits);
  CHECK(std::abs(inertia / closed - 1) < tolerance);
  CHECK(std::abs(energy / mass - 1) < tolerance);
}

}  // namespace

TEST_CASE("line_of_balls: equal balls with gaps move as if through each other",
          "[scenes][oracle]") {
  VectorSource<double> source(411u);
  WorstCase place("place"), speed("momentum");
  for (int round = 0; round < 20; ++round) {
    const std::size_t n = 2 + std::size_t(round) % 6;
    std::vector<double> gaps, speeds;
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0) gaps.push_back(0.05 * source.unit());
      speeds.push_back(2 * source.unit() - 1);
    }
    const LineStart start = make_cradle(std::vector<double>(n, 0.3), 0.02, gaps, speeds);
    for (const double h : {0.01, 0.1}) {
      const Run end = run(start, h, int(std::lround(1 / h)));
      place.see((end.state.q - equal_balls_at(start, 1)).cwiseAbs().maxCoeff(), rounding(5000, 1.0),
                double(n), h);
      speed.see(std::abs(end.state.momentum.sum() - start.momentum().sum()), rounding(5000, 1.0),
                double(n), h);
    }
  }
  place.check(40);
  speed.check(40);
}

TEST_CASE("line_of_balls: one ball of a cradle comes in, one leaves", "[scenes][example]") {
  for (const double gap : {0.0, 1e-12, 1e-4}) {
    const LineStart start =
        make_cradle({1, 1, 1, 1, 1}, 0.02, {0.1, gap, gap, gap}, {1, 0, 0, 0, 0});
    const Run end = run(start, 0.01, 30);
    CAPTURE(gap, end.state.momentum.transpose());
    CHECK(end.reflections == 4);
    CHECK(end.state.momentum.head(4).norm() < rounding(5000, 1.0));
    CHECK(std::abs(end.state.momentum(4) - 1) < rounding(5000, 1.0));
    // Gaps above the tolerance on closed contacts take an instant each.
    CHECK(end.impacts == (gap > clearly(1e-6) ? 4 : 1));
  }
}

TEST_CASE("line_of_balls: walls return what comes to them", "[scenes][example]") {
  LineStart start = make_cradle({1, 2}, 0.1, {0.3}, {-1, 0.5});
  start.balls.left = -0.5;
  start.balls.right = 1.5;
  const Run end = run(start, 0.05, 200);
  const double energy = end.state.momentum(0) * end.state.momentum(0) +
                        end.state.momentum(1) * end.state.momentum(1) / 2;
  CHECK(std::abs(energy - 1.5) < rounding(5000, 1.0));
  CHECK(end.impacts > 10);
  CHECK(end.state.q(0) >= -0.4 - by_solver(1e-9));
  CHECK(end.state.q(1) <= 1.4 + by_solver(1e-9));
}

TEST_CASE("line_of_balls: the rest of a step after an impact may be arbitrarily short",
          "[scenes][law]") {
  // The wall is met some 1e-15 to 1e-9 s before the end of the 250th step.
  for (const double early : {0.0, 1e-15, 1.5e-14, 1e-13, 1e-12, 1e-11, 1e-9}) {
    LineStart start = make_cradle({1}, 0.1, {}, {1});
    start.balls.right = 2.6 - early;
    const Run end = run(start, 0.01, 300);
    CAPTURE(early, end.state.momentum(0) + 1);
    CHECK(end.impacts == 1);
    CHECK(std::abs(end.state.momentum(0) + 1) < rounding(500, 1.0));
  }
}

TEST_CASE("line_of_balls: Galperin's balls count the digits of pi in time", "[scenes][oracle]") {
  check_galperin(0, 3, 0.1);
  check_galperin(1, 31, 0.1);
  check_galperin(1, 31, 0.007);
  check_galperin(2, 314, 0.1);
  check_galperin(3, 3141, 0.1);
}

TEST_CASE("line_of_balls: more digits of pi", "[scenes][oracle][slow][.]") {
  check_galperin(4, 31415, 0.1);
  check_galperin(5, 314159, 0.1);
}

}  // namespace line_of_balls_test
