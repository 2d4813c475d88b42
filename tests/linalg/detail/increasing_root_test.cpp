// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/increasing_root.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace increasing_root_test {

using carom::testing::by_solver;

using carom::find_increasing_root, carom::IncreasingRoot, carom::IncreasingRootOptions;
using carom::testing::WorstCase;

TEMPLATE_TEST_CASE("increasing_root: the value found is within tolerance, and is f there",
                   "[linalg][law]", float, double) {
  using Scalar = TestType;
  WorstCase solved("|f(x)| <= tolerance"), honest("value = f(argument)"), counted("calls");
  const auto try_on = [&](const auto& f, Scalar tolerance) {
    int calls = 0;
    const auto counting = [&](const Scalar& x) {
      ++calls;
      return f(x);
    };
    const IncreasingRoot<Scalar> root =
        find_increasing_root<Scalar>(counting, f(Scalar(0)), {.tolerance = tolerance});
    solved.see(std::abs(root.value), tolerance, root.argument, root.evaluations);
    honest.see_holds(root.value == f(root.argument) && root.argument > 0, root.argument);
    counted.see_holds(root.evaluations == calls && calls <= 40, root.evaluations, calls);
  };
  for (int p = -30; p <= 30; ++p) {
    const Scalar scale = std::pow(Scalar(10), Scalar(p) / 3);
    for (const Scalar root : {Scalar(1e-3), Scalar(0.3), Scalar(1), Scalar(1.7), Scalar(900)}) {
      const auto line = [&](Scalar x) { return scale * (x - root); };
      const auto kink = [&](Scalar x) { return scale * (x < root ? x - root : 50 * (x - root)); };
      const auto soft_kink = [&](Scalar x) {
        return scale * (x < root ? 50 * (x - root) : x - root);
      };
      const auto flat = [&](Scalar x) {  // nearly flat, then steep
        return scale * (x < 2 * root ? Scalar(1e-3) * (x / root - 3)
                                     : Scalar(30) * (x / root - 2) - Scalar(1e-3));
      };
      const auto cube = [&](Scalar x) { return scale * (x * x * x - root * root * root); };
      const auto bent = [&](Scalar x) { return scale * (std::tanh(x - root)); };
      try_on(line, scale * root / 100);
      try_on(kink, scale * root / 100);
      try_on(soft_kink, scale * root / 2);
      if (root > Scalar(0.1)) try_on(flat, scale * Scalar(3e-5));
      try_on(cube, scale * root * root * root / 100);
      try_on(bent, scale / 1000);
    }
  }
  solved.check(1000);
  honest.check(1000);
  counted.check(1000);
}

TEST_CASE("increasing_root: a first argument that is good enough is the only call",
          "[linalg][example]") {
  int calls = 0;
  const auto f = [&](double x) {
    ++calls;
    return x - 1.001;
  };
  const auto root = find_increasing_root<double>(f, -1.001, {.tolerance = 0.01});
  CHECK(root.argument == 1);
  CHECK(root.value == 1 - 1.001);
  CHECK(root.evaluations == 1);
  CHECK(calls == 1);
}

TEST_CASE("increasing_root: on a line the second guess is the root", "[linalg][example]") {
  const auto root =
      find_increasing_root<double>([](double x) { return x - 0.25; }, -0.25, {.tolerance = 1e-12});
  CHECK(root.argument == 0.25);
  CHECK(root.evaluations == 2);
}

TEST_CASE("increasing_root: first argument and growth are obeyed", "[linalg][example]") {
  std::vector<double> asked;
  const auto f = [&](double x) {
    asked.push_back(x);
    return x - 0.8;
  };
  const auto root = find_increasing_root<double>(
      f, -0.8, {.tolerance = 1e-12, .first = 0.01, .growth = 3, .evaluation_limit = 4});
  REQUIRE(asked.size() == 4);
  CHECK(asked[0] == 0.01);
  CHECK(asked[1] == Approx(0.03));
  CHECK(asked[2] == Approx(0.09));
  CHECK(asked[3] == Approx(0.27));
  CHECK(root.argument == asked[3]);  // the smallest |f| met
  CHECK(root.evaluations == 4);
}

TEST_CASE("increasing_root: the evaluation limit is kept and the answer stays positive",
          "[linalg][law]") {
  for (int limit = 1; limit <= 12; ++limit) {
    int calls = 0;
    double smallest = std::numeric_limits<double>::infinity();
    const auto f = [&](double x) {
      ++calls;
      const double value = x < 2.5 ? 1e-3 * (x - 3) : 1e5 * (x - 2.5) - 5e-4;
      smallest = std::min(smallest, std::abs(value));
      return value;
    };
    const auto root =
        find_increasing_root<double>(f, -3e-3, {.tolerance = 0, .evaluation_limit = limit});
    CAPTURE(limit, root.argument, root.value);
    CHECK(calls <= limit);
    CHECK(root.evaluations == calls);
    CHECK(root.argument > 0);
    CHECK(std::abs(root.value) == smallest);
  }
}

TEST_CASE("increasing_root: no root in reach gives the last, best argument", "[linalg][example]") {
  const auto root = find_increasing_root<double>([](double x) { return -1 / (1 + x); }, -1.0,
                                                 {.tolerance = 1e-300, .evaluation_limit = 20});
  CHECK(root.evaluations == 20);
  CHECK(root.argument == std::ldexp(1.0, 19));
  CHECK(root.value == -1 / (1 + root.argument));
}

TEST_CASE("increasing_root: a jump of huge size does not end the search early",
          "[linalg][regression]") {
  // False position alone lands on the lower end, to the last digit.
  const double kink = 2.75;
  const auto f = [&](double x) { return x < kink ? 1e-3 * (x - 4) : 1e20 * (x - kink) - 1.25e-3; };
  const auto steep = find_increasing_root<double>(f, -4e-3, {.tolerance = 1.3e-3});
  CHECK(std::abs(steep.value) <= by_solver(1.3e-3));

  const auto jump = [](double x) { return x < 2.75 ? -1.0 : 1e30; };
  const auto ended = find_increasing_root<double>(jump, -1.0, {.tolerance = 0.5});
  CHECK(ended.evaluations == 40);
  CHECK(ended.value == -1);
}

TEST_CASE("increasing_root: a bracket down to round-off ends the search", "[linalg][example]") {
  int calls = 0;
  const auto jump = [&](double x) {
    ++calls;
    return x < 0.7 ? -1.0 : 1.0;
  };
  const auto root =
      find_increasing_root<double>(jump, -1.0, {.tolerance = 0, .evaluation_limit = 500});
  CHECK(calls < 200);
  CHECK(root.argument > 0);
}

}  // namespace increasing_root_test
