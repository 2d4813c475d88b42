// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/newton_walk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>

#include "carom/contact/primal.hpp"

#include "support/catch.hpp"
#include "support/fake_clock.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace newton_walk_test {

using carom::Index, carom::ResidualMeasure, carom::SolveReport, carom::SolveStatus;
using carom::detail::DiagonalRaiseTuning, carom::detail::DirectionSlope;
using carom::detail::factor_raised, carom::detail::find_step, carom::detail::finish_report;
using carom::detail::island_scale, carom::detail::IslandMeasures, carom::detail::meets_tolerance;
using carom::detail::NewtonLimits, carom::detail::start_from_best, carom::detail::walk_to_target;
using carom::testing::FakeClock, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Measures of a residual at scale one.
[[nodiscard]] IslandMeasures<double> measures_of(double residual) {
  return {.residual = residual, .free_squared = 1, .pushed_squared = 1, .gross_squared = 0};
}

/// An iterate whose residuals and step lengths are written down beforehand.
struct Script {
  struct Step {
    double residual;
    double length = 1;
  };
  std::vector<Step> steps;  ///< the last one repeats
  IslandMeasures<double> now = measures_of(1);
  IslandMeasures<double> kept = now;
  std::size_t taken = 0;
  bool returned = false;

  Script(double start, std::vector<Step> all) : steps(std::move(all)), now(measures_of(start)) {}

  [[nodiscard]] const IslandMeasures<double>& measures() const { return now; }
  double advance() {
    const Step& step = steps[std::min(taken++, steps.size() - 1)];
    now.residual = step.residual;
    return step.length;
  }
  void keep_iterate() { kept = now; }
  void return_to_kept() {
    now = kept;
    returned = true;
  }
};

struct Walked {
  SolveStatus status;
  int iterations;
  double residual;  ///< of the iterate at the end
};
[[nodiscard]] Walked walk(Script script, NewtonLimits<double> limits, int directions = 1000) {
  int iterations = 0;
  const auto status = walk_to_target(
      script, [&] { return directions-- > 0; }, limits, iterations);
  CHECK(iterations == int(script.taken));
  CHECK(script.returned == (status != SolveStatus::converged));
  return {status, iterations, script.now.residual};
}
[[nodiscard]] NewtonLimits<double> limits(double tolerance, int count = 100) {
  return {.tolerance = tolerance, .iteration_limit = count, .line_search_tolerance = 0.1};
}

}  // namespace

TEST_CASE("newton_walk: it ends at the first residual that satisfies the tolerance",
          "[solvers][example]") {
  const double tolerance = 0.25;
  const Walked exact = walk({1, {{0.5}, {0.25}, {0}}}, limits(tolerance));
  CHECK(exact.status == SolveStatus::converged);
  CHECK(exact.iterations == 2);
  CHECK(exact.residual == 0.25);
  const Walked above = walk({1, {{0.5}, {std::nextafter(0.25, 1.0)}, {0}}}, limits(tolerance));
  CHECK(above.iterations == 3);
}

TEST_CASE("newton_walk: whatever ends it early, the iterate of least residual is the answer",
          "[solvers][example]") {
  const std::vector<Script::Step> grows = {{0.5}, {0.4}, {0.7}, {0.9}};
  const Walked limited = walk({1, grows}, limits(1e-3, 4));
  CHECK(limited.status == SolveStatus::iteration_limit);
  CHECK(limited.iterations == 4);
  CHECK(limited.residual == 0.4);
  const Walked none = walk({1, grows}, limits(1e-3, 0));
  CHECK(none.status == SolveStatus::iteration_limit);
  CHECK(none.iterations == 0);
  CHECK(none.residual == 1);
  const Walked undirected = walk({1, grows}, limits(1e-3), 3);
  CHECK(undirected.status == SolveStatus::not_finite);
  CHECK(undirected.iterations == 3);
  CHECK(undirected.residual == 0.4);
  for (const double bad : {infinity, nan}) {
    const Walked left = walk({1, {{0.5}, {bad}}}, limits(1e-3));
    CHECK(left.status == SolveStatus::not_finite);
    CHECK(left.iterations == 2);
    CHECK(left.residual == 0.5);
  }
}

TEST_CASE("newton_walk: a deadline ends it before the next direction, or where one fails of it",
          "[solvers][example]") {
  FakeClock clock;
  NewtonLimits<double> timed = limits(1e-3);
  timed.caller = clock.until(3);  // readings 0, 1, 2 are before it
  const Walked ended = walk({1, {{0.5}, {0.7}}}, timed);
  CHECK(ended.status == SolveStatus::deadline);
  CHECK(ended.iterations == 3);
  CHECK(ended.residual == 0.5);
  FakeClock other;
  timed.caller = other.until(1);  // over when the direction has failed
  const Walked failed = walk({1, {{0.5}}}, timed, 0);
  CHECK(failed.status == SolveStatus::deadline);
  CHECK(failed.iterations == 0);
}

TEST_CASE("newton_walk: full steps that reduce a small residual no more are given up",
          "[solvers][example]") {
  const double small_one = 1e-4, tiny = 1e-9, target = 1e-14;  // tiny is near √ε, and small above
  const Walked above = walk({2 * small_one, {{small_one}}}, limits(target));
  // The first of them still gains, as it leaves half of the residual at the start.
  CHECK(above.status == SolveStatus::no_progress);
  CHECK(above.iterations == 13);
  CHECK(above.residual == small_one);
  const Walked near_floor = walk({2 * tiny, {{tiny}}}, limits(target));
  CHECK(near_floor.status == SolveStatus::no_progress);
  CHECK(near_floor.iterations == 4);
  // A residual that is not small may stay for a while, and so may one after short or long steps.
  CHECK(walk({1, {{0.5}}}, limits(target)).status == SolveStatus::iteration_limit);
  for (const double length : {0.5, 0.01, 2.0, 100.0}) {
    const Walked damped = walk({small_one, {{small_one, length}}}, limits(target));
    CHECK(damped.status == SolveStatus::iteration_limit);
    // Near the level of rounding any length counts.
    const Walked noise = walk({tiny, {{tiny, length}}}, limits(target));
    CHECK(noise.status == SolveStatus::no_progress);
    CHECK(noise.iterations == 3);
  }
  for (const double length : {0.51, 1.0, 1.99}) {
    const Walked full = walk({small_one, {{small_one, length}}}, limits(target));
    CHECK(full.iterations == 12);
  }
}

TEST_CASE("newton_walk: a step that gains begins the count of those without gain again",
          "[solvers][example]") {
  const double start = 1e-4;
  std::vector<Script::Step> steps(11, {start});
  steps.push_back({start / 4});
  const Walked again = walk({start, steps}, limits(1e-14));
  CHECK(again.status == SolveStatus::no_progress);
  CHECK(again.iterations == 12 + 12);
  CHECK(again.residual == start / 4);
}

TEST_CASE("newton_walk: a residual meets its tolerance relative to a finite scale",
          "[solvers][example]") {
  CHECK(meets_tolerance(0.5, 2.0, 0.25));
  CHECK_FALSE(meets_tolerance(0.51, 2.0, 0.25));
  CHECK(meets_tolerance(0.0, 0.0, 0.25));
  for (const double bad : {infinity, nan}) {
    CHECK_FALSE(meets_tolerance(bad, infinity, 0.25));
    CHECK_FALSE(meets_tolerance(bad, 1.0, 0.25));
    CHECK_FALSE(meets_tolerance(0.1, bad, 0.25));
  }
  IslandMeasures<double> measures;
  measures.take({9, 3, 5, 1e16});
  CHECK(measures.residual == 3);
  CHECK(std::abs(measures.scale() - std::sqrt(4 + 1e16 * rounding(1, 1.0))) <= rounding(4, 4.0));
  CHECK(measures.scale() > 2);
  CHECK(measures.meet(3 / measures.scale() * (1 + rounding(2, 1.0))));
  CHECK_FALSE(measures.meet(2.99 / measures.scale()));
  CHECK(measures.are_finite());
  measures.take({infinity, 3, 5, 7});
  CHECK_FALSE(measures.are_finite());
  measures.take({nan, 3, 5, 7});
  CHECK_FALSE(measures.are_finite());
}

TEMPLATE_TEST_CASE("newton_walk: islands that all converge make a whole that does",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(1);
  WorstCase whole("the root of the sum of squares of the islands is at most the scale of all");
  for (int k = 0; k < 200; ++k) {
    Scalar free(0), pushed(0), gross(0), squared(0);
    for (int island = 0; island < 1 + k % 5; ++island) {
      const Scalar f = source.non_negative(6), p = source.non_negative(6),
                   g = source.non_negative(20);
      const Scalar own = island_scale(f, p, g);
      CHECK(own * own <= (f + p) / 2 + rounding<Scalar>(1, g) + rounding<Scalar>(8, own * own));
      squared += own * own;
      free += f, pushed += p, gross += g;
    }
    whole.see(std::sqrt(squared),
              carom::momentum_scale(free, pushed, gross) * (1 + rounding<Scalar>(20, Scalar(1))));
  }
  whole.check(200);
  // Where momentum and impulses balance, it is no less than the scale of the whole.
  CHECK(island_scale(Scalar(4), Scalar(4), Scalar(0)) == Scalar(2));
}

TEMPLATE_TEST_CASE("newton_walk: a report divides by the scale unless it is zero",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  SolveReport<Scalar> report;
  report.status = SolveStatus::converged;
  finish_report(Scalar(3), Scalar(4), report);
  CHECK(report.measure == ResidualMeasure::momentum_balance);
  CHECK(report.residual == Scalar(0.75));
  CHECK(report.error_bound == Scalar(3));
  CHECK(report.status == SolveStatus::converged);
  finish_report(Scalar(3), Scalar(0), report);
  CHECK(report.residual == Scalar(3));
  CHECK(report.error_bound == Scalar(3));
  CHECK(report.status == SolveStatus::converged);
  const Scalar bad[] = {std::numeric_limits<Scalar>::infinity(),
                        std::numeric_limits<Scalar>::quiet_NaN()};
  for (const Scalar& number : bad) {
    for (const bool scale : {false, true}) {
      report.status = SolveStatus::converged;
      finish_report(scale ? Scalar(1) : number, scale ? number : Scalar(1), report);
      CHECK(report.status == SolveStatus::not_finite);
      CHECK(report.residual == bad[0]);
      CHECK(report.error_bound == bad[0]);
    }
  }
}

TEST_CASE("newton_walk: the start of least cost is taken, and the guess where costs are equal",
          "[solvers][example]") {
  struct Costs {
    double here, at_rest, when_free;
    char start = 'g';  // guess
    [[nodiscard]] double cost() const { return here; }
    [[nodiscard]] double cost_at_rest() const { return at_rest; }
    [[nodiscard]] double cost_when_free() const { return when_free; }
    void start_at_rest() { start = 'r'; }
    void start_free() { start = 'f'; }
  };
  const auto chosen = [](double here, double at_rest, double when_free) {
    Costs costs{here, at_rest, when_free};
    start_from_best(costs);
    return costs.start;
  };
  CHECK(chosen(1, 2, 3) == 'g');
  CHECK(chosen(1, 3, 2) == 'g');
  CHECK(chosen(2, 1, 3) == 'r');
  CHECK(chosen(3, 1, 2) == 'r');
  CHECK(chosen(2, 3, 1) == 'f');
  CHECK(chosen(3, 2, 1) == 'f');
  CHECK(chosen(1, 1, 1) == 'g');
  CHECK(chosen(2, 1, 1) == 'r');
  CHECK(chosen(infinity, infinity, 1) == 'f');
  CHECK(chosen(infinity, 1, infinity) == 'r');
  CHECK(chosen(1, nan, nan) == 'g');
}

TEMPLATE_TEST_CASE("newton_walk: a step ends where the slope is a permitted share of its start",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(5);
  WorstCase steps("the slope that is left");
  for (int k = 0; k < 300; ++k) {
    // The slope of a piecewise quadratic cost: momentum + α curvature, and impulses that grow from
    // some step on. It vanishes at α = `root`.
    const auto curvature = Scalar(source.positive(4)), root = Scalar(source.positive(4)),
               kink = Scalar(source.unit()) * root, rise = Scalar(source.positive(4));
    const auto push = [&](const Scalar& step) {
      return step > kink ? rise * (step - kink) : Scalar(0);
    };
    DirectionSlope<Scalar> slope;
    slope.curvature = curvature;
    slope.momentum = -(curvature * root + push(root));
    slope.at_zero = slope.momentum + push(Scalar(0));
    for (const Scalar share : {Scalar(0.5), Scalar(0.1), Scalar(1e-3)}) {
      const Scalar step = find_step(slope, share, push);
      const Scalar left = slope.momentum + step * curvature + push(step);
      steps.see(std::abs(left), share * -slope.at_zero * (1 + rounding<Scalar>(8, Scalar(1))),
                double(curvature), double(root), double(share));
      CHECK(step > Scalar(0));
    }
  }
  steps.check(900);
}

TEST_CASE("newton_walk: a direction that does not descend has the whole step",
          "[solvers][example]") {
  const auto push = [](double) { return 5.0; };
  for (const double at_zero : {0.0, 1.0, nan}) {
    CHECK(find_step(DirectionSlope<double>{at_zero, -1, 1}, 0.1, push) == 1);
  }
}

TEMPLATE_TEST_CASE(
    "newton_walk: a matrix that rounding makes indefinite gets a direction that descends",
    "[solvers][law]", float, double) {
  using Scalar = TestType;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  VectorSource<double> source(7);
  int raised = 0;
  for (int k = 0; k < 40; ++k) {
    // A stiff part of too little rank that swallows the identity.
    const Matrix jacobian =
        (1e6 * carom::testing::draw_matrix(source, 12, 3)).template cast<Scalar>();
    Matrix hessian = jacobian.lazyProduct(jacobian.transpose());
    if (sizeof(Scalar) == 8) hessian *= Scalar(1e6);
    const Scalar largest = hessian.diagonal().maxCoeff();
    hessian.diagonal().array() += Scalar(1);
    Eigen::LLT<Matrix> factor;
    Matrix filled;
    Scalar raise(-1), last(-1);
    const auto fill = [&](const Scalar& by) {
      filled = hessian;
      filled.diagonal().array() += by;
      last = by;
      return largest;
    };
    REQUIRE(factor_raised([&](const Scalar& by) { return fill(by); },
                          [&] { return factor.compute(filled).info() == Eigen::Success; }, raise));
    CHECK(raise == last);
    CHECK(raise <= rounding<Scalar>(16000, largest));
    raised += raise > Scalar(0);
    const Matrix gradient = carom::testing::draw_matrix(source, 12, 1).template cast<Scalar>();
    const Matrix direction = -factor.solve(gradient);
    CHECK(gradient.col(0).dot(direction.col(0)) < Scalar(0));
  }
  CHECK(raised >= 10);
}

TEST_CASE("newton_walk: what needs no raise has none, and what no raise helps is refused",
          "[solvers][example]") {
  double raise = -1;
  std::vector<double> raises;
  const auto fill_from = [&](double largest) {
    return [&raises, largest](double by) {
      raises.push_back(by);
      return largest;
    };
  };
  CHECK(factor_raised(
      fill_from(1), [] { return true; }, raise));
  CHECK(raise == 0);
  CHECK(raises == std::vector<double>{0});
  raises.clear();
  CHECK_FALSE(factor_raised(
      fill_from(8), [] { return false; }, raise));
  REQUIRE(raises.size() == std::size_t(DiagonalRaiseTuning::attempt_limit));
  CHECK(raises[0] == 0);
  for (std::size_t k = 1; k < raises.size(); ++k) {
    CHECK(raises[k] == DiagonalRaiseTuning::next(raises[k - 1], 8.0));
  }
  for (const double bad : {infinity, nan}) {
    raises.clear();
    CHECK_FALSE(factor_raised(
        fill_from(bad), [] { return true; }, raise));
    CHECK(raises == std::vector<double>{0});
  }
}

TEST_CASE("newton_walk: Newton's method with its line search finds the least of a convex cost",
          "[solvers][oracle]") {
  // ½‖w − w*‖² + Σ log cosh(Jw): a smooth cost whose gradient and curvature are known.
  struct Iterate {
    Eigen::MatrixXd jacobian;
    Eigen::VectorXd free, at, direction, kept;
    IslandMeasures<double> now;

    [[nodiscard]] Eigen::VectorXd gradient(const Eigen::VectorXd& w) const {
      return w - free + jacobian.transpose() * (jacobian * w).array().tanh().matrix();
    }
    void evaluate() {
      now.take({gradient(at).squaredNorm(), free.squaredNorm(), (at - free).squaredNorm(), 0});
    }
    [[nodiscard]] const IslandMeasures<double>& measures() const { return now; }
    void keep_iterate() { kept = at; }
    void return_to_kept() {
      at = kept;
      evaluate();
    }
    bool find_direction() {
      const Eigen::ArrayXd tangent = (jacobian * at).array().tanh();
      Eigen::MatrixXd hessian =
          jacobian.transpose() * (1 - tangent.square()).matrix().asDiagonal() * jacobian;
      hessian.diagonal().array() += 1;
      direction = -hessian.llt().solve(gradient(at));
      return true;
    }
    double advance() {
      const auto push = [&](double step) {
        const Eigen::VectorXd moved = at + step * direction;
        return (jacobian * direction).dot((jacobian * moved).array().tanh().matrix());
      };
      const double momentum = direction.dot(at - free);
      const double step = find_step(
          DirectionSlope<double>{momentum + push(0), momentum, direction.squaredNorm()}, 0.1, push);
      at += step * direction;
      evaluate();
      return step;
    }
  };
  VectorSource<double> source(9);
  for (const double size : {0.1, 1.0, 30.0}) {
    Iterate iterate;
    iterate.jacobian = size * carom::testing::draw_matrix(source, 9, 6);
    iterate.free = 10 * carom::testing::draw_matrix(source, 6, 1);
    iterate.at = 10 * carom::testing::draw_matrix(source, 6, 1);
    iterate.evaluate();
    int iterations = 0;
    const auto status = walk_to_target(
        iterate, [&] { return iterate.find_direction(); }, limits(1e-10), iterations);
    CAPTURE(size, iterations);
    CHECK(status == SolveStatus::converged);
    CHECK(iterate.gradient(iterate.at).norm() <=
          carom::testing::by_solver(1e-10) * iterate.now.scale());
  }
}

}  // namespace newton_walk_test
