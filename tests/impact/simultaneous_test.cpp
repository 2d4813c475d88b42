// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/simultaneous.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/landing_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace simultaneous_test {

using namespace carom::testing;
using carom::ImpactStatus, carom::PlasticImpact, carom::RestitutionImpact, carom::VectorX;

TEST_CASE("simultaneous: a body that lands flat rises flat, at e times its speed",
          "[impact][oracle]") {
  const auto see = [](const LandingBody& body, auto law, double r) {
    const ImpactScene scene = body.scene();
    VectorX<double> p = scene.momentum(body.falling(3));
    law.prepare(scene.problem);
    CHECK(law.resolve(scene.problem, p).status == ImpactStatus::resolved);
    CHECK((scene.velocity(p) + r * body.falling(3)).norm() <= rounding(400, 3.0));
    const auto& impulses = law.impulses();
    CHECK(impulses.maxCoeff() - impulses.minCoeff() <= rounding(100, impulses.maxCoeff()));
  };
  for (const double r : {0.0, 0.5, 0.8, 1.0}) {
    for (const double spread : {0.5, 0.375, 0.1}) {
      LandingBody body{.points = rectangle(spread, spread)};
      body.turned = Eigen::Quaterniond(0.2, 0.9, -0.3, 0.4).normalized();
      CAPTURE(r, spread);
      see(body, RestitutionImpact<double>(r), r);
      see(body, carom::SimultaneousImpact<double>(r), r);
    }
  }
}

TEST_CASE("simultaneous: restitution is between the plastic and the simultaneous outcome",
          "[impact][law]") {
  VectorSource<double> source(196u);
  WorstCase energy("|p+|² = |p_p|² + R²(|p-|² - |p_p|²)"), ends("R = 1 simultaneous");
  for (int round = 0; round < 100; ++round) {
    const ImpactScene scene = draw_scene(source, 2 + round % 5, 1 + round % 4);
    const VectorX<double> before = draw_vector(source, scene.problem.size());
    const double r = round % 5 == 0 ? 1 : source.unit();
    VectorX<double> after = before, resting = before, elastic = before;
    carom::SimultaneousImpact<double> impact(r);
    impact.prepare(scene.problem);
    static_cast<void>(impact.resolve(scene.problem, after));
    PlasticImpact<double> plastic;
    plastic.prepare(scene.problem);
    static_cast<void>(plastic.resolve(scene.problem, resting));
    carom::GeneralizedReflections<double> reflections;
    reflections.prepare(scene.problem);
    static_cast<void>(reflections.resolve(scene.problem, elastic));
    const double e0 = scene.inner(before, before), ep = scene.inner(resting, resting);
    const double spread = 1 + impact.impulses().norm() / std::sqrt(e0);
    energy.see(std::abs(scene.inner(after, after) - ep - r * r * (e0 - ep)),
               rounding(4000, spread * e0), before, r);
    if (r == 1) ends.see((after - elastic).norm(), rounding(4000, spread), before);
  }
  energy.check(100);
  ends.check(20);
}

}  // namespace simultaneous_test
