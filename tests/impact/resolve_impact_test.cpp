// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/resolve_impact.hpp"

#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/newton_restitution.hpp"
#include "carom/impact/restitution.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace resolve_impact_test {

using namespace carom::testing;
using carom::Index, carom::VectorX, carom::ImpactStatus, carom::resolve_impact;

TEST_CASE("resolve_impact: a cradle hands its speed on, in order", "[impact][example]") {
  const ImpactScene scene = ball_line({2, 2, 2});
  const auto solution =
      resolve_impact(scene.problem, scene.mass, scene.momentum(vector_of({1, 0, 0})));
  CHECK((solution.velocity - vector_of({0, 0, 1})).norm() <= rounding(10, 1.0));
  CHECK((solution.momentum - vector_of({0, 0, 2})).norm() <= rounding(10, 2.0));
  CHECK(solution.sequence == std::vector<Index>{0, 1});
  CHECK(solution.report.status == ImpactStatus::resolved);
  CHECK(solution.report.reflections == 2);
}

TEST_CASE("resolve_impact: the errors it reports are round-off, whatever the law",
          "[impact][law]") {
  VectorSource<double> source(171u);
  WorstCase momentum("momentum"), energy("energy"), left("infeasibility"), same("the law itself");
  const auto see = [&](const ImpactScene& scene, const VectorX<double>& p, auto law) {
    const auto solution = resolve_impact(scene.problem, scene.mass, p, law);
    momentum.see(solution.momentum_error, rounding(2000, 1.0), p);
    energy.see(solution.energy_error, rounding(2000, 1.0), p);
    left.see(solution.infeasibility, by_solver(1e-10), p);
    VectorX<double> direct = p;
    if constexpr (requires { law.prepare(scene.problem); }) law.prepare(scene.problem);
    static_cast<void>(law.resolve(scene.problem, direct));
    same.see((direct - solution.momentum).norm(), 0, p);
  };
  for (int round = 0; round < 100; ++round) {
    const ImpactScene scene = draw_scene(source, 3 + round % 5, 1 + round % 4);
    const VectorX<double> p = draw_vector(source, scene.problem.size());
    see(scene, p, carom::ImpactResolver<double>());
    see(scene, p, carom::PlasticImpact<double>());
    see(scene, p, carom::RestitutionImpact<double>(0.6));
    see(scene, p, carom::GeneralizedReflections<double>());
    carom::NewtonImpact<double> newton;
    newton.prepare(scene.problem, VectorX<double>::Constant(scene.problem.contact_count(), 0.8));
    see(scene, p, newton);
  }
  momentum.check(500);
  energy.check(500);
  left.check(500);
  same.check(500);
}

TEST_CASE("resolve_impact: errors are seen where there are some", "[impact][law]") {
  // A law that forgets one impulse, gains energy and leaves the contact closing.
  struct Careless {
    VectorX<double> none = VectorX<double>::Zero(1);
    carom::ImpactReport<double> resolve(const carom::ImpactProblem<double>&,
                                        VectorX<double>& momentum) noexcept {
      momentum *= 2;
      return {ImpactStatus::resolved, 0, 0};
    }
    const VectorX<double>& impulses() const { return none; }
  };
  const ImpactScene scene = ball_line({1, 1});
  const VectorX<double> p = vector_of({1, -1});
  const auto solution = resolve_impact(scene.problem, scene.mass, p, Careless());
  CHECK(solution.momentum_error == Approx(1));
  CHECK(solution.energy_error == Approx(3));
  CHECK(solution.infeasibility == Approx(2));  // |u| = 1: s = -sqrt 2 * 2 over |p| = sqrt 2
  CHECK(solution.sequence.empty());
}

TEST_CASE("resolve_impact: rest stays rest, bad momenta are refused", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1});
  const auto still = resolve_impact(scene.problem, scene.mass, VectorX<double>::Zero(2).eval());
  CHECK(still.velocity.norm() == 0);
  CHECK((still.momentum_error == 0 && still.energy_error == 0 && still.infeasibility == 0));
  const auto refused = [&](const VectorX<double>& p) {
    return refusal_of([&] { static_cast<void>(resolve_impact(scene.problem, scene.mass, p)); });
  };
  CHECK(refused(vector_of({1})) ==
        "momentum entries: expected as many as the problem's size, got 1");
  CHECK(refused(vector_of({1, std::nan("")})) ==
        "momentum entry 1: expected a finite number, got nan");
}

TEST_CASE("resolve_impact: options that contradict themselves are refused by name",
          "[impact][example]") {
  using Elastic = carom::ImpactResolver<double>;
  const auto refused = [](const carom::ImpactOptions<double>& options) {
    const std::string fault = check(options);
    CHECK(refusal_of([&] { static_cast<void>(Elastic(options)); }) == fault);
    CHECK(refusal_of([&] { static_cast<void>(carom::NewtonImpact<double>(0.1, options)); }) ==
          fault);
    CHECK(refusal_of([&] { static_cast<void>(carom::GeneralizedReflections<double>(options)); }) ==
          fault);
    return fault;
  };
  CHECK(refused({.tolerance = -1e-9}) == "tolerance: expected a fraction in [0, 1), got -1e-09");
  CHECK(refused({.tolerance = 1}) == "tolerance: expected a fraction in [0, 1), got 1");
  CHECK(refused({.tolerance = std::nan("")}) ==
        "tolerance: expected a fraction in [0, 1), got nan");
  CHECK(refused({.reflection_limit = -1}) == "reflection limit: expected a count >= 0, got -1");
  CHECK(check(carom::ImpactOptions<double>{}).empty());
  for (const double restitution : {-0.1, 1.1, std::nan("")}) {
    CHECK(refusal_of([&] {
            static_cast<void>(carom::RestitutionImpact<double>(restitution));
          }).substr(0, 45) == "restitution: expected a number in [0, 1], got");
  }
  for (const double threshold : {0.0, -1.0, 1.0, std::nan("")}) {
    CHECK(refusal_of([&] {
            static_cast<void>(carom::NewtonImpact<double>(threshold));
          }).substr(0, 53) == "collapse threshold: expected a fraction in (0, 1), go");
  }
}

}  // namespace resolve_impact_test
