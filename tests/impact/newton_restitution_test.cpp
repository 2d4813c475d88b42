// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/newton_restitution.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/impact_laws.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace newton_restitution_test {

using namespace carom::testing;
using carom::ImpactReport, carom::ImpactResolver, carom::ImpactStatus, carom::Index;
using carom::MassMatrix, carom::NewtonImpact, carom::VectorX;

namespace {

ImpactReport<double> resolve_with(const ImpactScene& scene, const VectorX<double>& restitution,
                                  VectorX<double>& p) {
  NewtonImpact<double> impact;
  impact.prepare(scene.problem, restitution);
  const VectorX<double> before = p;
  const auto report = impact.resolve(scene.problem, p);
  CHECK((scene.moved(before, impact.impulses()) - p).norm() <= rounding(2000, before.norm()));
  return report;
}

}  // namespace

TEST_CASE("newton_restitution: never gains energy, ends feasible, reports what it lost",
          "[impact][law]") {
  VectorSource<double> source(91u);
  WorstCase energy("energy"), told("energy told"), feasible("feasible"), status("status");
  for (int round = 0; round < 300; ++round) {
    const Index size = 2 + round % 5, contacts = 1 + round % size;
    const ImpactScene scene = draw_scene(source, size, contacts);
    VectorX<double> p = draw_vector(source, size), e(contacts);
    for (double& each : e) each = source.unit();
    const VectorX<double> before = p;
    const double start = scene.inner(p, p);
    const auto report = resolve_with(scene, e, p);
    const double allowed = rounding(2000 + 40 * int(report.reflections), start);
    energy.see(scene.inner(p, p) - start, allowed, before, e);
    told.see(std::abs(report.energy_gain - (scene.inner(p, p) - start) / 2), allowed, before, e);
    const double closing = by_solver(2e-6) * scene.rates(before).cwiseAbs().maxCoeff();
    feasible.see(-scene.rates(p).minCoeff(), closing, before, e);
    status.see_holds(
        report.status == ImpactStatus::resolved || report.status == ImpactStatus::collapsed, e);
    if (report.status == ImpactStatus::collapsed) {
      feasible.see(-scene.rates(p).minCoeff(), rounding(5000, 1.0), before, e);
    }
  }
  energy.check(300);
  told.check(300);
  feasible.check(300);
  status.check(300);
}

TEST_CASE("newton_restitution: restitution one is the elastic impact", "[impact][law]") {
  VectorSource<double> source(92u);
  WorstCase same("the elastic outcome");
  for (int round = 0; round < 100; ++round) {
    const ImpactScene scene = draw_scene(source, 4, 3);
    VectorX<double> p = draw_vector(source, 4), q = p;
    const auto report = resolve_with(scene, VectorX<double>::Ones(3), p);
    ImpactResolver<double> resolver;
    resolver.prepare(scene.problem);
    const auto elastic = resolver.resolve(scene.problem, q);
    same.see((p - q).norm(), rounding(50000, 1.0), p);
    same.see_holds(report.reflections == elastic.reflections, p);
  }
  same.check(200);
}

TEST_CASE("newton_restitution: each contact has its own", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  VectorX<double> p = vector_of({1, 0, 0});
  // First gap: 1 -> -0.5, leaving (.25, .75, 0). Second gap: plastic, (.25, .375, .375).
  const auto report = resolve_with(scene, vector_of({0.5, 0}), p);
  CHECK(report.status == ImpactStatus::resolved);
  CHECK(report.reflections == 2);
  CHECK((p - vector_of({0.25, 0.375, 0.375})).norm() <= rounding(4, 1.0));
  CHECK(report.energy_gain == Approx((0.0625 + 2 * 0.140625 - 1) / 2));
}

TEST_CASE("newton_restitution: the cradle collapses up to e = 7 - 4 sqrt 3", "[impact][oracle]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  const double critical = 7 - 4 * std::sqrt(3.0);
  for (const double factor : {0.3, 0.9, 0.99, 1.2, 3.0}) {
    CAPTURE(factor);
    VectorX<double> p = vector_of({1, 0, 0});
    const double e = factor * critical;
    const auto report = resolve_with(scene, vector_of({e, e}), p);
    CHECK(report.status == (factor < 1 ? ImpactStatus::collapsed : ImpactStatus::resolved));
    CHECK(p.sum() == Approx(1).epsilon(rounding(50, 1.0)));
    CHECK(scene.rates(p).minCoeff() >= -rounding(50, 1.0));
    if (factor < 1) CHECK((scene.rates(p)).norm() < by_solver(1e-5));  // all together, nearly
  }
  // A tighter threshold follows the series further.
  Index taken = 0;
  for (const double threshold : {1e-3, 1e-6, 1e-9, 1e-12}) {
    NewtonImpact<double> impact(threshold);
    impact.prepare(scene.problem, vector_of({0.05, 0.05}));
    VectorX<double> p = vector_of({1, 0, 0});
    const auto report = impact.resolve(scene.problem, p);
    CHECK(report.status == ImpactStatus::collapsed);
    CHECK(report.reflections > taken);
    taken = report.reflections;
  }
}

TEST_CASE("newton_restitution: the limit on reflections is kept and reported",
          "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1, 1});
  NewtonImpact<double> impact(1e-6, {.reflection_limit = 2});
  impact.prepare(scene.problem, vector_of({1, 1, 1}));
  VectorX<double> p = vector_of({4, 3, 2, 1});
  const auto report = impact.resolve(scene.problem, p);
  CHECK(report.status == ImpactStatus::reflection_limit);
  CHECK(report.reflections == 2);
}

TEST_CASE("newton_restitution: a wedge ends plastically", "[impact][example]") {
  const ImpactScene scene(MassMatrix<double>::make_diagonal(vector_of({1, 1})),
                          {vector_of({1, 0}), vector_of({-1, 0})});
  VectorX<double> p = vector_of({2, 3});
  const auto report = resolve_with(scene, vector_of({1, 1}), p);
  CHECK(report.status == ImpactStatus::wedged);
  CHECK((p - vector_of({0, 3})).norm() <= rounding(4, 3.0));
  CHECK(report.energy_gain == Approx(-2));
}

TEST_CASE("newton_restitution: what is no coefficient is refused by contact", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  NewtonImpact<double> impact;
  const auto refused = [&](const VectorX<double>& e) {
    return refusal_of([&] { impact.prepare(scene.problem, e); });
  };
  CHECK(refused(vector_of({1, 1.5})) ==
        "contact 1: restitution: expected a number in [0, 1], got 1.5");
  CHECK(refused(vector_of({-0.1, 1})) ==
        "contact 0: restitution: expected a number in [0, 1], got -0.1");
  CHECK(refused(vector_of({0, std::numeric_limits<double>::quiet_NaN()})) ==
        "contact 1: restitution: expected a number in [0, 1], got nan");
  CHECK(refused(vector_of({1})) == "restitution entries: expected one per contact, got 1");
  CHECK(refused(vector_of({0, 1})) == "accepted");
}

TEST_CASE("newton_restitution: NaN is reported, and the momentum stays as it was",
          "[impact][example]") {
  check_not_finite([](const ImpactScene& scene, VectorX<double>& p) {
    NewtonImpact<double> impact;
    impact.prepare(scene.problem, vector_of({1, 1}));
    return impact.resolve(scene.problem, p);
  });
}

TEST_CASE("newton_restitution: a body that slides along its contacts does not react to round-off",
          "[impact][regression]") {
  check_sliding(173u, [](const ImpactScene& scene, VectorX<double>& p) {
    NewtonImpact<double> impact(1e-6, {.reflection_limit = 1000});
    impact.prepare(scene.problem, VectorX<double>::Constant(scene.problem.contact_count(), 0.3));
    return impact.resolve(scene.problem, p);
  });
}

}  // namespace newton_restitution_test
