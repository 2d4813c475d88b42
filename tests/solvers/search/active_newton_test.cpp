// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/active_newton.hpp"

#include "support/catch.hpp"
#include "support/law_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace active_newton_test {

using carom::FrictionLaw, carom::Index;
using carom::detail::ActiveNewton, carom::detail::BodySystem;
using carom::testing::Incline, carom::testing::LawScene, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// Newton's method on an island from the scene's impulses.
struct Solved {
  double before = 0, error = 0;  ///< merit
  int systems = 0;
};
[[nodiscard]] Solved polish(LawScene<double>& scene, Index island, int limit = 10) {
  auto at = scene.search(island, 1e-12);
  const double before = at.error;
  ActiveNewton<BodySystem<double>>::solve(at, limit);
  return {before, at.error, at.systems};
}

}  // namespace

TEST_CASE("active_newton: from anywhere, it never leaves more error than it found",
          "[solvers][law]") {
  VectorSource<double> source(3);
  WorstCase falls("the error falls or stays"), told("the error told is the iterate's"),
      patient("systems"), counted("what lowers the error is counted as a system");
  for (int round = 0; round < 5; ++round) {
    const auto raw = carom::testing::draw_body_problem(source, {6, 6, 3, 6, 6, 6});
    for (const FrictionLaw law : laws) {
      LawScene<double> scene(raw, law);
      for (const double size : {0., 1., 100.}) {
        for (Index i = 0; i < scene.system.islands().size(); ++i) {
          const Eigen::VectorXd guess = size * carom::testing::draw_matrix(source, scene.rows, 1);
          scene.places().write(guess, scene.iterate.impulse());
          const int limit = 1 + int(source.unit() * 8);
          const Solved end = polish(scene, i, limit);
          falls.see_holds(end.error <= end.before, end.before, end.error);
          told.see_holds(scene.merit(i) == end.error, round, size);
          patient.see_holds(end.systems <= limit);
          counted.see_holds(end.systems > 0 || end.error == end.before, round, i);
        }
      }
    }
  }
  falls.check(60);
  told.check(60);
  patient.check(60);
  counted.check(60);
}

TEST_CASE("active_newton: from nearby it solves in three systems", "[solvers][example]") {
  for (const FrictionLaw law : laws) {
    for (const double slope : {0.3, 0.8}) {  // sticks, slides
      CAPTURE(to_string(law), slope);
      const Incline incline{2, slope};
      LawScene<double> scene(incline.problem(), law);
      scene.places().write(0.99 * incline.impulse(law), scene.iterate.impulse());
      const Solved end = polish(scene, 0, 3);
      CHECK(end.error <= carom::testing::by_solver(1e-12));
      CHECK((scene.impulse() - incline.impulse(law)).norm() <= carom::testing::by_solver(1e-11));
    }
  }
}

TEST_CASE("active_newton: what is solved already takes no system", "[solvers][example]") {
  for (const FrictionLaw law : laws) {
    const Incline incline{2, 0.8};
    LawScene<double> scene(incline.problem(), law);
    scene.places().write(incline.impulse(law), scene.iterate.impulse());
    const Solved end = polish(scene, 0);
    CHECK(end.systems == 0);
    CHECK(end.error <= rounding(50, 1.0));
  }
}

}  // namespace active_newton_test
