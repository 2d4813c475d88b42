// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/active_newton.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "carom/solvers/search/central_path.hpp"

#include "support/catch.hpp"
#include "support/law_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace active_newton_test {

using carom::FrictionLaw, carom::Index;
using carom::detail::ActiveNewton, carom::detail::BodySystem, carom::detail::CentralPath;
using carom::testing::Incline, carom::testing::LawScene, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// The error that Newton's method is to end at.
template <typename Scalar>
constexpr double newton_end = sizeof(Scalar) == 8 ? 1e-12 : 3e-6;

/// Newton's method on an island from the scene's impulses.
struct Solved {
  double before = 0, error = 0;  ///< merit
  double residual = 0;           ///< largest error of a block, which the tolerance bounds
  int systems = 0;
};
template <typename Scalar>
[[nodiscard]] Solved polish(LawScene<Scalar>& scene, Index island, double tolerance,
                            int limit = 10) {
  auto at = scene.search(island, tolerance);
  const double before = double(at.error);
  ActiveNewton<BodySystem<Scalar>>::solve(at, limit);
  return {before, double(at.error), double(at.residual), at.systems};
}
/// Follows the central path down to an error.
template <typename Scalar>
void follow_path(LawScene<Scalar>& scene, Index island, double tolerance) {
  CentralPath<BodySystem<Scalar>> path;
  path.lay_out(scene.system);
  REQUIRE(
      path.start(scene.system, island, scene.yardstick, Scalar(30), scene.iterate, scene.memory));
  for (int k = 0; k < 60 && double(scene.measure(island)) > tolerance; ++k) {
    REQUIRE(path.advance(scene.system, island, scene.yardstick.law, scene.iterate, scene.memory) >
            Scalar(0));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("active_newton: a block on an incline is solved in closed form from nearby",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(1);
  WorstCase impulse("impulse"), few("systems"), error("error"), inside("inside of the cone");
  for (const double slope : {0., 0.3, 0.49, 0.51, 0.8, 3.}) {
    for (const double mass : {1e-3, 2., 1e4}) {
      for (const FrictionLaw law : laws) {
        const Incline incline{mass, slope};
        LawScene<Scalar> scene(incline.problem(), law);
        const Eigen::Vector3d expected = incline.impulse(law);
        const Eigen::Vector3d off = carom::testing::draw_matrix(source, 3, 1);
        scene.places().write(expected + 1e-3 * expected.norm() * off, scene.iterate.impulse());
        const Solved end = polish(scene, 0, newton_end<Scalar>);
        error.see(end.error, newton_end<Scalar>, slope, mass, int(law == FrictionLaw::convex));
        impulse.see((scene.impulse() - expected).norm(), 10 * newton_end<Scalar> * expected.norm(),
                    slope, mass, int(law == FrictionLaw::convex));
        few.see(end.systems, 5, slope, mass, int(law == FrictionLaw::convex));
        inside.see(scene.outside(0), double(rounding<Scalar>(8, 1)));
      }
    }
  }
  for (const WorstCase* law : {&impulse, &few, &error, &inside}) law->check(36);
}

TEMPLATE_TEST_CASE("active_newton: from a point of the path, stacks end at rounding",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase error("error"), few("systems"), true_error("the error told is the iterate's"),
      inside("inside of the cones");
  int number = 0, solved = 0;
  for (const auto& raw : carom::testing::small_stacks()) {
    for (const FrictionLaw law : laws) {
      LawScene<Scalar> scene(raw, law);
      // In floats, whose hyperstatic stacks are held softly, most end at what the solver asks for,
      // and none is further from the law than before.
      const bool wide = sizeof(Scalar) == 8;
      const double tolerance = wide ? newton_end<Scalar> : 2e-4;
      follow_path(scene, 0, wide ? 1e-5 : 1e-3);
      const Solved end = polish(scene, 0, tolerance);
      solved += end.residual <= tolerance;
      error.see(wide ? end.residual : end.error, wide ? tolerance : end.before, number,
                int(law == FrictionLaw::convex), end.before, end.systems);
      few.see(end.systems, 10, number, int(law == FrictionLaw::convex));
      true_error.see_holds(double(scene.merit(0)) == end.error);
      inside.see(scene.outside(0), double(rounding<Scalar>(64, 1)));
    }
    ++number;
  }
  CHECK(solved > 8);
  for (const WorstCase* law : {&error, &few, &true_error, &inside}) law->check(16);
}

TEST_CASE("active_newton: every shape of constraint is solved to rounding from the path's end",
          "[solvers][law]") {
  VectorSource<double> source(2);
  WorstCase error("error");
  for (int round = 0; round < 4; ++round) {
    const auto raw = carom::testing::draw_body_problem(source, {6, 6, 3, 6, 6, 6});
    LawScene<double> scene(raw, FrictionLaw::convex);
    for (Index i = 0; i < scene.system.islands().size(); ++i) {
      follow_path(scene, i, 1e-5);
      error.see(polish(scene, i, 1e-12).residual, newton_end<double>, round, i);
    }
  }
  error.check(8);
}

TEST_CASE("active_newton: from anywhere, it never leaves more error than it found",
          "[solvers][law]") {
  VectorSource<double> source(3);
  WorstCase falls("the error falls or stays"), told("the error told is the iterate's"),
      patient("systems");
  for (int round = 0; round < 5; ++round) {
    const auto raw = carom::testing::draw_body_problem(source, {6, 6, 3, 6, 6, 6});
    for (const FrictionLaw law : laws) {
      LawScene<double> scene(raw, law);
      for (const double size : {0., 1., 100.}) {
        for (Index i = 0; i < scene.system.islands().size(); ++i) {
          const Eigen::VectorXd guess = size * carom::testing::draw_matrix(source, scene.rows, 1);
          scene.places().write(guess, scene.iterate.impulse());
          const int limit = 1 + int(source.unit() * 8);
          const Solved end = polish(scene, i, 1e-12, limit);
          falls.see_holds(end.error <= end.before, end.before, end.error);
          told.see_holds(scene.merit(i) == end.error, round, size);
          patient.see_holds(end.systems <= limit);
        }
      }
    }
  }
  falls.check(60);
  told.check(60);
  patient.check(60);
}

TEST_CASE("active_newton: what is solved already takes no system", "[solvers][example]") {
  for (const FrictionLaw law : laws) {
    const Incline incline{2, 0.8};
    LawScene<double> scene(incline.problem(), law);
    scene.places().write(incline.impulse(law), scene.iterate.impulse());
    const Solved end = polish(scene, 0, 1e-12);
    CHECK(end.systems == 0);
    CHECK(end.error <= rounding(50, 1.0));
  }
}

}  // namespace active_newton_test
