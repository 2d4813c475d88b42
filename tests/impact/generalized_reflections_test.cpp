// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/generalized_reflections.hpp"

#include <numbers>

#include "carom/impact/resolve.hpp"

#include "support/catch.hpp"
#include "support/impact_laws.hpp"
#include "support/impact_scenes.hpp"
#include "support/landing_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace generalized_reflections_test {

using namespace carom::testing;
using carom::GeneralizedReflections, carom::ImpactResolver, carom::ImpactStatus, carom::Index;
using carom::MassMatrix, carom::VectorX;

namespace {

carom::ImpactReport<double> reflect_together(const ImpactScene& scene, VectorX<double>& p) {
  GeneralizedReflections<double> impact({.reflection_limit = 1000});
  impact.prepare(scene.problem);
  return impact.resolve(scene.problem, p);
}

struct Both {
  VectorX<double> generalized, propagative;
};

Both resolve_both(const ImpactScene& scene, const VectorX<double>& before) {
  Both result{before, before};
  GeneralizedReflections<double> generalized;
  generalized.prepare(scene.problem);
  CHECK(generalized.resolve(scene.problem, result.generalized).status == ImpactStatus::resolved);
  ImpactResolver<double> resolver;
  resolver.prepare(scene.problem);
  CHECK(resolver.resolve(scene.problem, result.propagative).status == ImpactStatus::resolved);
  return result;
}

/// All contacts approach.
VectorX<double> draw_approaching(VectorSource<double>& source, const ImpactScene& scene) {
  VectorX<double> rates(scene.problem.contact_count());
  for (double& rate : rates) rate = -0.05 - source.unit();
  return momentum_with(scene, rates);
}

}  // namespace

TEST_CASE("generalized_reflections: elastic, pushing, feasible", "[impact][law]") {
  VectorSource<double> source(101u);
  WorstCase energy("energy"), told("energy told"), pushes("λ >= 0"), feasible("feasible");
  WorstCase impulses("the impulses told"), ended("resolved in few");
  for (int round = 0; round < 300; ++round) {
    const Index size = 2 + round % 6, contacts = 1 + round % (size + 1);
    const ImpactScene scene = draw_scene(source, size, contacts);
    const VectorX<double> before = draw_vector(source, size);
    VectorX<double> p = before;
    GeneralizedReflections<double> impact;
    impact.prepare(scene.problem);
    const auto report = impact.resolve(scene.problem, p);
    const double scale = scene.norm(before);
    const double spread = 1 + impact.impulses().norm() / scale;
    const double allowed = rounding(1000 + 100 * int(report.reflections), spread * scale);
    energy.see(std::abs(scene.norm(p) - scale), allowed, before);
    told.see(std::abs(report.energy_gain), allowed * scale, before);
    pushes.see_holds(impact.impulses().minCoeff() >= 0, before);
    feasible.see(-scene.rates(p).minCoeff(), rounding(70, scale), before);
    impulses.see((scene.moved(before, impact.impulses()) - p).norm(), 10 * allowed, before);
    ended.see_holds(report.status == ImpactStatus::resolved && report.reflections < 1000, before);
  }
  energy.check(300);
  told.check(300);
  pushes.check(300);
  feasible.check(300);
  impulses.check(300);
  ended.check(300);
}

TEST_CASE("generalized_reflections: the cradles of the table", "[impact][golden]") {
  check_cradles(&CradleCase::generalized, 100, reflect_together);
}

TEST_CASE("generalized_reflections: the cradle where the two laws part", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  const Both both = resolve_both(scene, vector_of({2, 0, -1}));
  CHECK((both.generalized - vector_of({-4, 2, 5}) / 3).norm() <= rounding(10, 2.0));
  CHECK((both.propagative - vector_of({-1, 0, 2})).norm() <= rounding(10, 2.0));
}

TEST_CASE("generalized_reflections: one reflection when all approach and none opens another",
          "[impact][law]") {
  VectorSource<double> source(102u);
  const ImpactScene scene = gram_scene(coxeter_gram(4, path_edges({3, 4, 3})));
  WorstCase mirror("s+ = -s-");
  for (int round = 0; round < 50; ++round) {
    const VectorX<double> before = draw_approaching(source, scene);
    VectorX<double> p = before;
    GeneralizedReflections<double> impact;
    impact.prepare(scene.problem);
    mirror.see_holds(impact.resolve(scene.problem, p).reflections == 1, before);
    mirror.see((scene.rates(p) + scene.rates(before)).norm(), rounding(400, before.norm()), before);
  }
  mirror.check(100);
}

TEST_CASE("generalized_reflections: equal to propagation when -1 is in the group, else not",
          "[impact][law]") {
  VectorSource<double> source(103u);
  const auto parts = [&](const ImpactScene& scene) {
    double widest = 0;
    for (int round = 0; round < 20; ++round) {
      const VectorX<double> p = draw_approaching(source, scene);
      const Both both = resolve_both(scene, p);
      widest = std::max(widest, (both.generalized - both.propagative).norm() / p.norm());
    }
    return widest;
  };
  for (const int even : {2, 4, 6, 8})
    CHECK(parts(pair_scene(-std::cos(std::numbers::pi / even))) <= rounding(512, 1.0));
  for (const int odd : {3, 5, 7})
    CHECK(parts(pair_scene(-std::cos(std::numbers::pi / odd))) > clearly(1e-2));
  CHECK(parts(ball_line({1, 1, 1, 1, 1}, true)) <= rounding(8192, 1.0));                       // B5
  CHECK(parts(gram_scene(coxeter_gram(3, path_edges({5, 3})))) <= rounding(8192, 1.0));        // H3
  CHECK(parts(gram_scene(coxeter_gram(4, path_edges({3, 4, 3})))) <= rounding(8192, 1.0));     // F4
  CHECK(parts(gram_scene(coxeter_gram(4, {{0, 1}, {0, 2}, {0, 3}}))) <= rounding(8192, 1.0));  // D4
  CHECK(parts(gram_scene(coxeter_gram(5, {{0, 1}, {0, 2}, {0, 3}, {3, 4}}))) >
        clearly(1e-2));                                                           // D5
  CHECK(parts(gram_scene(coxeter_gram(3, path_edges({3, 3})))) > clearly(1e-2));  // A3
}

TEST_CASE("generalized_reflections: approach just beyond the tolerance ends",
          "[impact][regression]") {
  // Closing rates between the tolerance here and what the least squares take for zero.
  const ImpactScene scene = pair_scene(0);
  GeneralizedReflections<double> impact;
  impact.prepare(scene.problem);
  for (const double closing : {3e-15, 8e-15, 1e-14, 1.3e-14, 1e-13}) {
    VectorX<double> p = momentum_with(scene, vector_of({1, -closing}));
    const auto report = impact.resolve(scene.problem, p);
    CAPTURE(closing);
    CHECK(report.status == ImpactStatus::resolved);
    CHECK(report.reflections <= 2);
    CHECK(scene.rates(p).minCoeff() >= -rounding(100, 1.0));
  }
  GeneralizedReflections<double> strict({.tolerance = 0});
  const ImpactScene chain = ball_line({1, 3, 2, 5, 1});
  strict.prepare(chain.problem);
  VectorX<double> p = chain.momentum(vector_of({5, 3, 2, 1, 0}));
  CHECK(strict.resolve(chain.problem, p).reflections < 100);
}

TEST_CASE("generalized_reflections: the limit is kept and reported", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1, 1});
  GeneralizedReflections<double> impact({.reflection_limit = 1});
  impact.prepare(scene.problem);
  VectorX<double> p = vector_of({1, 0, 0, 0});
  const auto report = impact.resolve(scene.problem, p);
  CHECK(report.status == ImpactStatus::reflection_limit);
  CHECK(report.reflections == 1);
  CHECK((p - vector_of({0, 1, 0, 0})).norm() <= rounding(4, 1.0));
}

TEST_CASE("generalized_reflections: wedge and nothing closed", "[impact][example]") {
  GeneralizedReflections<double> impact;
  const ImpactScene wedge(MassMatrix<double>::make_diagonal(vector_of({1, 1})),
                          {vector_of({1, 0}), vector_of({-1, 0})});
  impact.prepare(wedge.problem);
  VectorX<double> p = vector_of({2, 3});
  CHECK(impact.resolve(wedge.problem, p).status == ImpactStatus::wedged);
  CHECK((p - vector_of({0, 3})).norm() <= rounding(4, 3.0));
  CHECK(impact.impulses().size() == 2);

  carom::ImpactProblem<double> empty(1);
  empty.prepare();
  impact.prepare(empty);
  p = vector_of({2});
  CHECK(impact.resolve(empty, p).status == ImpactStatus::resolved);
  CHECK(p(0) == 2);
}

TEST_CASE(
    "generalized_reflections: a body that slides along its contacts does not react to round-off",
    "[impact][regression]") {
  check_sliding(172u, reflect_together);
}

TEST_CASE("generalized_reflections: NaN is reported, and the momentum stays as it was",
          "[impact][example]") {
  check_not_finite(reflect_together);
}

TEST_CASE("generalized_reflections: feet that are given in any shape let a body rise flat",
          "[impact][oracle]") {
  // The centre of mass is above the feet, so that all of them press: no symmetry is needed.
  VectorSource<double> source(195u);
  WorstCase flat("v_n changes sign, no spin"), equal("equivalent feet, equal impulses");
  for (int round = 0; round < 100; ++round) {
    LandingBody body{.points = round % 2 == 0 ? polygon(3 + round % 5, 0.4, 0.1)
                                              : std::vector<Eigen::Vector2d>{
                                                    {0.4, 0.1}, {-0.3, 0.5}, {-0.2, -0.4}}};
    if (round % 2 == 1) {
      for (Eigen::Vector2d& p : body.points) p.x() *= 0.5 + source.unit();
    }
    const ImpactScene scene = body.scene();
    const VectorX<double> v = body.falling(2);
    VectorX<double> p = scene.momentum(v);
    GeneralizedReflections<double> impact;
    impact.prepare(scene.problem, 10);
    CHECK(impact.resolve(scene.problem, p).reflections == 1);
    flat.see((scene.velocity(p) + v).norm(), rounding(400, v.norm()), v);
    const auto& impulses = impact.impulses();
    if (round % 2 == 0) {
      equal.see(impulses.maxCoeff() - impulses.minCoeff(), rounding(64, impulses.maxCoeff()), v);
      CHECK(impact.sequence().size() == body.points.size());
      CHECK(impact.steps().size() == 1);
    }
  }
  flat.check(100);
  equal.check(50);
}

}  // namespace generalized_reflections_test
