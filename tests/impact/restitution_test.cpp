// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/restitution.hpp"

#include <fstream>
#include <sstream>

#include "support/catch.hpp"
#include "support/impact_laws.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace restitution_test {

using namespace carom::testing;
using carom::ImpactResolver, carom::ImpactStatus, carom::Index, carom::MassMatrix;
using carom::PlasticImpact, carom::PlasticLaw, carom::restitution_blend, carom::RestitutionImpact;
using carom::VectorX;

TEST_CASE("restitution: energy ends between plastic and elastic as the square of R says",
          "[impact][law]") {
  VectorSource<double> source(81u);
  WorstCase energy("|p+|² = |p_p|² + R²(|p-|² - |p_p|²)"), told("the energy told");
  WorstCase feasible("feasible"), impulses("the impulses told"), pushes("they push");
  WorstCase ends("R = 0 plastic, R = 1 elastic");
  for (const PlasticLaw law : {PlasticLaw::moreau, PlasticLaw::bilateral}) {
    for (int round = 0; round < 200; ++round) {
      const Index size = 2 + round % 6;
      const ImpactScene scene = draw_scene(source, size, 1 + round % size);
      const VectorX<double> before = draw_vector(source, size);
      const double r = round % 10 == 0 ? 0 : round % 10 == 1 ? 1 : source.unit();
      RestitutionImpact<double> impact(r, law);
      impact.prepare(scene.problem);
      VectorX<double> after = before, resting = before, elastic = before;
      const auto report = impact.resolve(scene.problem, after);
      PlasticImpact<double> plastic(law);
      plastic.prepare(scene.problem);
      static_cast<void>(plastic.resolve(scene.problem, resting));
      ImpactResolver<double> resolver;
      resolver.prepare(scene.problem);
      const auto reflected = resolver.resolve(scene.problem, elastic);
      const double e0 = scene.inner(before, before), e = scene.inner(after, after);
      const double ep = scene.inner(resting, resting), scale = std::sqrt(e0);
      // The smallest angle of the normals enters the impulses, not the energy.
      const double spread = 1 + impact.impulses().norm() / scale;
      const double allowed = rounding(2000, spread);
      energy.see(std::abs(e - ep - r * r * (e0 - ep)), allowed * e0, before, r);
      told.see(std::abs(report.energy_gain - (e - e0) / 2), allowed * spread * e0, before, r);
      feasible.see(-scene.rates(after).minCoeff(), allowed * scale, before, r);
      impulses.see((scene.moved(before, impact.impulses()) - after).norm(), 10 * allowed, before);
      if (law == PlasticLaw::moreau) {
        pushes.see_holds(impact.impulses().minCoeff() >= -allowed, before, r);
      }
      if (r == 0) ends.see((after - resting).norm(), 10 * allowed, before);
      if (r == 1) ends.see((after - elastic).norm(), 10 * allowed, before);
      CHECK(report.reflections == reflected.reflections);
    }
  }
  energy.check(400);
  told.check(400);
  feasible.check(400);
  impulses.check(400);
  pushes.check(200);
  ends.check(80);
}

TEST_CASE("restitution: the blend is R where x vanishes, and solves its equation elsewhere",
          "[impact][oracle]") {
  VectorSource<double> source(82u);
  WorstCase plain("alpha = R at x = 0"), solves("2 a x + a² D = R² (2 x + D)"), range("0 to 1");
  for (int round = 0; round < 2000; ++round) {
    const double r = round % 9 == 0 ? 0 : round % 9 == 1 ? 1 : source.unit();
    const double d = source.positive(12);
    plain.see(std::abs(restitution_blend(r, 0.0, d) - r), rounding(4, r), r, d);
    const double x = round % 3 == 0 ? -0.49 * d * source.unit() : source.positive(12);
    const double a = restitution_blend(r, x, d);
    if (x > 0) range.see_holds(a >= 0 && a <= 1 + rounding(5, 1.0), r, x, d);
    const double kept = r * r * (2 * x + d);
    const double terms = std::abs(2 * a * x) + a * a * d + kept;
    solves.see(std::abs(2 * a * x + a * a * d - kept), rounding(8, x > 0 ? terms : std::abs(x) + d),
               r, x, d);
  }
  plain.check(2000);
  solves.check(2000);
  range.check(1000);
  CHECK(restitution_blend(0.3, 0.0, 0.0) == 0.3);  // plastic is elastic: nothing to blend
}

TEST_CASE("restitution: two resting balls hit by a third, in closed form", "[impact][golden]") {
  std::ifstream file(CAROM_SOURCE_DIR "/tests/golden/cradle_fig2b.csv");
  REQUIRE(file);
  const ImpactScene scene = ball_line({1, 1, 1});
  WorstCase closed("v ((1-R)/3, (1-R)/3, (1+2R)/3)"), table("as printed"), lost("2/3 (1-R²)");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line[0] == 'v') continue;
    std::istringstream text(line);
    double number[7] = {};
    char comma = 0;
    for (double& n : number) {
      text >> n;
      text >> comma;
    }
    const double v = number[0], r = number[1];
    for (const PlasticLaw law : {PlasticLaw::moreau, PlasticLaw::bilateral}) {
      RestitutionImpact<double> impact(r, law);
      impact.prepare(scene.problem);
      VectorX<double> p = vector_of({v, 0, 0});
      const auto report = impact.resolve(scene.problem, p);
      closed.see((p - v / 3 * vector_of({1 - r, 1 - r, 1 + 2 * r})).norm(), rounding(20, v), v, r);
      table.see((p - vector_of({number[2], number[3], number[4]})).norm(), by_digits(1e-14) * v, v,
                r);
      lost.see(std::abs(-report.energy_gain - (1 - r * r) / 3 * v * v), rounding(20, v * v), v, r);
      table.see(std::abs(-report.energy_gain - number[6]), by_digits(1e-13) * v * v, v, r);
    }
  }
  closed.check(240);
  table.check(240);
  lost.check(240);
}

TEST_CASE("restitution: one contact obeys Newton", "[impact][example]") {
  const ImpactScene scene = ball_line({3, 1});
  for (const double r : {0.0, 0.25, 0.7, 1.0}) {
    RestitutionImpact<double> impact(r);
    impact.prepare(scene.problem, 5);
    VectorX<double> p = scene.momentum(vector_of({2, -1}));
    CHECK(impact.resolve(scene.problem, p).reflections == 1);
    const VectorX<double> v = scene.velocity(p);
    CHECK(v(1) - v(0) == Approx(3 * r).margin(rounding(5, 1.0)));
    CHECK(p.sum() == Approx(5));
    CHECK(impact.sequence().size() == 1);
  }
}

TEST_CASE("restitution: a wedge ends plastically whatever R", "[impact][example]") {
  const ImpactScene scene(MassMatrix<double>::make_diagonal(vector_of({1, 1})),
                          {vector_of({1, 0}), vector_of({-1, 0})});
  RestitutionImpact<double> impact(1.0);
  impact.prepare(scene.problem);
  VectorX<double> p = vector_of({2, 3});
  CHECK(impact.resolve(scene.problem, p).status == ImpactStatus::wedged);
  CHECK((p - vector_of({0, 3})).norm() <= rounding(4, 3.0));
}

TEST_CASE("restitution: NaN is reported, and the momentum stays as it was", "[impact][example]") {
  check_not_finite([](const ImpactScene& scene, VectorX<double>& p) {
    RestitutionImpact<double> impact(0.5);
    impact.prepare(scene.problem);
    return impact.resolve(scene.problem, p);
  });
}

}  // namespace restitution_test
