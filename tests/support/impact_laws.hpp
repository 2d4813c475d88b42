// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <vector>

#include "carom/impact/impact_report.hpp"

#include "support/catch.hpp"
#include "support/cradle_cases.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

/// @file
/// Laws of every impact. resolve(scene, p) replaces the momentum p by the one after the impact and
/// returns the report.
namespace carom::testing {

/// A body that slides along its contacts does not react to round-off.
template <typename Resolve>
void check_sliding(unsigned seed, const Resolve& resolve) {
  VectorSource<double> source(seed);
  WorstCase rests("nothing happens");
  for (int round = 0; round < 300; ++round) {
    const ImpactScene scene = draw_scene(source, 6, 2 + round % 3);
    const VectorX<double> before = draw_sliding(source, scene);
    VectorX<double> p = before;
    const auto report = resolve(scene, p);
    rests.see_holds(report.status == ImpactStatus::resolved && report.reflections == 0, before);
    rests.see_holds(p == before, before);
  }
  rests.check(600);
}

/// A momentum that is not finite is reported and stays as it was.
template <typename Resolve>
void check_not_finite(const Resolve& resolve) {
  const ImpactScene scene = ball_line({1, 1, 1});
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    VectorX<double> p = vector_of({7, bad, 1});
    const auto report = resolve(scene, p);
    CHECK(report.status == ImpactStatus::not_finite);
    CHECK(report.reflections == 0);
    CHECK(p(0) == 7);
    CHECK(p(2) == 1);
  }
}

/// The cradles of the table end with the velocities in a column of it.
template <typename Resolve>
void check_cradles(std::vector<double> CradleCase::*column, int roundings, const Resolve& resolve) {
  for (const CradleCase& c : cradle_cases()) {
    const ImpactScene scene = ball_line(c.masses);
    const auto n = Index(c.masses.size());
    const VectorX<double> v = Eigen::Map<const VectorX<double>>(c.velocity.data(), n);
    const VectorX<double> expected = Eigen::Map<const VectorX<double>>((c.*column).data(), n);
    VectorX<double> p = scene.momentum(v);
    static_cast<void>(resolve(scene, p));
    CAPTURE(c.masses, c.velocity);
    CHECK((scene.velocity(p) - expected).norm() <= rounding(roundings, v.norm()));
  }
}

}  // namespace carom::testing
