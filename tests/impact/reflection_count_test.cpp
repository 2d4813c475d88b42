// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/reflection_count.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "carom/impact/resolve.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/worst_case.hpp"

namespace reflection_count_test {

using namespace carom::testing;
using carom::ImpactResolver, carom::ImpactStatus, carom::Index, carom::pair_reflection_bound;
using carom::predicted_reflections, carom::SweepOrder, carom::VectorX;
using std::numbers::pi;

namespace {

/// How many reflections an impact of two contacts takes that begins with the given one.
Index reflections_from(const ImpactScene& pair, VectorX<double> p, Index first) {
  ImpactResolver<double, SweepOrder<double>> resolver({}, SweepOrder<double>({first, 1 - first}));
  resolver.prepare(pair.problem);
  const auto report = resolver.resolve(pair.problem, p);
  CHECK(report.status == ImpactStatus::resolved);
  return report.reflections;
}

}  // namespace

TEST_CASE("reflection_count: two contacts reflect at most ceil(pi / 2 gamma) times, and that often",
          "[impact][law]") {
  WorstCase bound("within the bound"), one_fewer("one fewer when one approaches");
  for (double two_gamma = 0.05; two_gamma < pi; two_gamma += 0.037) {
    const double c = -std::cos(two_gamma);
    const ImpactScene pair = pair_scene(c);
    const Index both = pair_reflection_bound(c, true), one = pair_reflection_bound(c, false);
    CHECK(both == Index(std::ceil(pi / two_gamma)));
    CHECK(one == std::max<Index>(1, both - 1));
    Index most_both = 0, most_one = 0;
    for (int k = 0; k < 400; ++k) {
      const double angle = 2 * pi * (k + 0.5) / 400;
      const VectorX<double> p = vector_of({std::cos(angle), std::sin(angle)});
      const VectorX<double> s = pair.rates(p);
      for (const Index first : {0, 1}) {
        const Index taken = reflections_from(pair, p, first);
        if (s.maxCoeff() < 0) most_both = std::max(most_both, taken);
        if (s.maxCoeff() >= 0) most_one = std::max(most_one, taken);
        bound.see_holds(taken <= both, c, p);
        if (s.maxCoeff() >= 0) one_fewer.see_holds(taken <= one, c, p);
      }
    }
    CAPTURE(c);
    // Attained, but where the momenta that need the last reflection are too few to be drawn.
    const double last = pi / two_gamma - std::floor(pi / two_gamma);
    if (last > 0.2) CHECK(most_both == both);
    if (last > 0.2) CHECK(most_one == one);
  }
  bound.check(10'000);
  one_fewer.check(10'000);
  for (int m = 2; m <= 50; ++m) CHECK(pair_reflection_bound(-std::cos(pi / m), true) == m);
  // Products of still narrower pairs do not distinguish their counts: the bound is then larger.
  for (const int m : {100'000, 1'000'000}) {
    CAPTURE(m);
    CHECK(pair_reflection_bound(-std::cos(pi / m), true) >= m);
    CHECK(pair_reflection_bound(-std::cos(pi / m), true) <= 2 * m);
    CHECK(pair_reflection_bound(-std::cos(pi / m), false) >= m - 1);
  }
  CHECK(pair_reflection_bound(-1.0, true) == std::numeric_limits<Index>::max());
  CHECK(pair_reflection_bound(1.0, true) == 1);
  CHECK(pair_reflection_bound(1.0, false) == 1);
}

TEST_CASE("reflection_count: a narrow pair is counted in time proportional to its roots",
          "[impact][regression]") {
  constexpr int m = 30'000;
  const ImpactScene narrow = pair_scene(-std::cos(pi / m));
  // Both contacts close, so every positive root is against the momentum.
  const VectorX<double> both = momentum_with(narrow, vector_of({-1, -1}));
  CHECK(predicted_reflections(narrow.problem, both) == m);
}

TEST_CASE("reflection_count: beyond the limit on roots no count is given", "[impact][example]") {
  const ImpactScene scene = ball_line(std::vector<double>(6, 1.0));  // 15 positive roots
  const VectorX<double> p = vector_of({6, 5, 4, 3, 2, 1});
  CHECK(predicted_reflections(scene.problem, p, 15) == 15);
  CHECK(predicted_reflections(scene.problem, p, 14) == -1);
}

TEST_CASE("reflection_count: round-off of a sliding body is no reflection",
          "[impact][regression]") {
  VectorSource<double> source(175u);
  WorstCase none("no reflection");
  for (int round = 0; round < 100; ++round) {
    const ImpactScene line = ball_line({1, 1, 1, 1});
    const VectorX<double> p = draw_sliding(source, line);
    none.see_holds(predicted_reflections(line.problem, p) == 0, p);
  }
  none.check(100);
}

}  // namespace reflection_count_test
