// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/proximal_newton.hpp"

#include "support/catch.hpp"
#include "support/law_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace proximal_newton_test {

using carom::testing::by_solver;

using carom::FrictionLaw, carom::Index, carom::SolveLimits;
using carom::detail::BodySystem, carom::detail::ProximalNewton;
using carom::testing::Incline, carom::testing::LawScene, carom::testing::VectorSource,
    carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// Proximal steps on an island from the scene's impulses.
struct Solved {
  double before = 0, error = 0;
  int systems = 0;
};
[[nodiscard]] Solved search(LawScene<double>& scene, Index island, double tolerance,
                            const SolveLimits& limits, bool bounds_given = true) {
  ProximalNewton<BodySystem<double>> proximal;
  proximal.lay_out(scene.system);
  auto at = scene.search(island, tolerance, limits);
  const double before = at.error;
  proximal.solve(at, {1e-2, 0.5, 40, 80, bounds_given});
  return {before, at.error, at.systems};
}
[[nodiscard]] SolveLimits systems(int count) {
  return SolveLimits().with_iterations(count);
}

}  // namespace

TEST_CASE("proximal_newton: stacks are solved from no impulse, rigid and hyperstatic",
          "[solvers][law]") {
  WorstCase error("error"), told("the error told is the iterate's");
  int number = 0;
  for (const auto& raw : carom::testing::small_stacks()) {
    for (const FrictionLaw law : laws) {
      for (const bool bounds_given : {true, false}) {
        LawScene<double> scene(raw, law);
        const Solved end = search(scene, 0, 1e-10, systems(2000), bounds_given);
        error.see(end.error, by_solver(2e-10), number, int(law == FrictionLaw::convex),
                  end.systems);
        told.see_holds(scene.merit(0) == end.error);
      }
    }
    ++number;
  }
  error.check(32);
  told.check(32);
}

TEST_CASE("proximal_newton: it keeps to its limits and never leaves more error than it found",
          "[solvers][law]") {
  VectorSource<double> source(3);
  WorstCase falls("the error falls or stays"), told("the error told is the iterate's"),
      patient("systems"), apart("other islands stay"), counted("a lower error took a system");
  for (int round = 0; round < 4; ++round) {
    const auto raw = carom::testing::draw_body_problem(source, {6, 6, 3, 6, 6, 6});
    for (const FrictionLaw law : laws) {
      LawScene<double> scene(raw, law);
      const Eigen::VectorXd guess = carom::testing::draw_matrix(source, scene.rows, 1);
      for (Index i = 0; i < scene.system.islands().size(); ++i) {
        scene.places().write(guess, scene.iterate.impulse());
        const auto& own = scene.system.islands()[i];
        const int limit = int(source.unit() * 9);
        const Solved end = search(scene, i, 1e-12, systems(limit));
        falls.see_holds(end.error <= end.before, end.before, end.error);
        told.see_holds(scene.merit(i) == end.error, round);
        patient.see_holds(end.systems <= limit, end.systems, limit);
        counted.see_holds(end.systems > 0 || end.error == end.before, round, i);
        bool same = true;
        LawScene<double> untouched(raw, law);
        untouched.places().write(guess, untouched.iterate.impulse());
        for (Index p = 0; p < 3 * scene.system.part_count(); ++p) {
          const bool inside = p >= 3 * own.first_part && p < 3 * own.part_end;
          same = same && (inside || scene.iterate.impulse()[p] == untouched.iterate.impulse()[p]);
        }
        apart.see_holds(same, round, i);
      }
    }
  }
  for (const WorstCase* law : {&falls, &told, &patient, &apart, &counted}) law->check(16);
}

TEST_CASE("proximal_newton: at a deadline no further system begins", "[solvers][law]") {
  LawScene<double> scene(Incline{2, 0.8}.problem(), FrictionLaw::coulomb);
  SolveLimits limits;
  limits.now = [](void*) noexcept { return 1.0; };
  limits.deadline = 0.5;
  CHECK(search(scene, 0, 1e-12, limits).systems == 0);
}

}  // namespace proximal_newton_test
