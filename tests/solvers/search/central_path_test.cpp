// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/central_path.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/law_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace central_path_test {

using carom::testing::by_solver;

using carom::FrictionLaw, carom::Index;
using carom::detail::BodySystem, carom::detail::CentralPath;
using carom::testing::Incline, carom::testing::LawScene, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// The result of following the path of one island.
struct Followed {
  bool started = false;
  int steps = 0, rises = 0;
  double error = 0, outside = 0, least_share = 1, largest_share = 0;
};

/// Follows the path of an island until the natural map error is small.
template <typename Scalar>
[[nodiscard]] Followed follow(LawScene<Scalar>& scene, Index island, double tolerance,
                              int limit = 60, double margin = 30) {
  CentralPath<BodySystem<Scalar>> path;
  path.lay_out(scene.system);
  Followed result;
  result.started = path.start(scene.system, island, scene.yardstick, Scalar(margin), scene.iterate,
                              scene.memory);
  result.error = double(scene.measure(island));
  result.outside = scene.outside(island);
  while (result.started && result.error > tolerance && result.steps < limit) {
    const auto share = double(
        path.advance(scene.system, island, scene.yardstick.law, scene.iterate, scene.memory));
    result.least_share = std::min(result.least_share, share);
    result.largest_share = std::max(result.largest_share, share);
    ++result.steps;
    if (!(share > 0)) break;
    const auto error = double(scene.measure(island));
    result.rises += error > result.error;
    result.error = error;
    result.outside = std::max(result.outside, scene.outside(island));
  }
  return result;
}

/// The error that a path is followed down to in tests.
template <typename Scalar>
constexpr double path_end = sizeof(Scalar) == 8 ? 1e-9 : 1e-4;

}  // namespace

TEMPLATE_TEST_CASE("central_path: a block on an incline ends where its closed form is",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase impulse("impulse"), steps("in few steps"), inside("inside of the cone");
  for (const double slope : {0., 0.3, 0.49, 0.51, 0.8, 3.}) {
    for (const double mass : {1e-3, 2., 1e4}) {
      for (const FrictionLaw law : laws) {
        const Incline incline{mass, slope};
        LawScene<Scalar> scene(incline.problem(), law);
        const Followed end = follow(scene, 0, path_end<Scalar>);
        const Eigen::Vector3d expected = incline.impulse(law);
        // The path ends with an error of the root of that of the map where friction nearly slides.
        impulse.see((scene.impulse() - expected).norm(), 300 * path_end<Scalar> * expected.norm(),
                    slope, mass, int(law == FrictionLaw::convex));
        steps.see(end.steps, 20, slope, mass, int(law == FrictionLaw::convex));
        inside.see(end.outside, double(rounding<Scalar>(8, 1)));
      }
    }
  }
  for (const WorstCase* law : {&impulse, &steps, &inside}) law->check(36);
}

TEMPLATE_TEST_CASE("central_path: stacks are solved under both laws from inside of the cones",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase solved("error"), steps("in few steps"), inside("inside"), shares("shares");
  int scene_number = 0;
  for (const auto& raw : carom::testing::small_stacks()) {
    for (const FrictionLaw law : laws) {
      LawScene<Scalar> scene(raw, law);
      REQUIRE(scene.system.islands().size() == 1);
      const Followed end = follow(scene, 0, path_end<Scalar>);
      solved.see(end.error, path_end<Scalar>, scene_number, int(law == FrictionLaw::convex),
                 end.steps);
      steps.see(end.steps, 40, scene_number, int(law == FrictionLaw::convex));
      inside.see(end.outside, double(rounding<Scalar>(64, 1)), scene_number);
      shares.see_holds(end.started && end.least_share > 0 && end.largest_share <= 1 &&
                       end.largest_share > 0.9);
    }
    ++scene_number;
  }
  for (const WorstCase* law : {&solved, &steps, &inside, &shares}) law->check(16);
}

TEST_CASE("central_path: every shape of constraint is followed to its end under the convex law",
          "[solvers][law]") {
  VectorSource<double> source(1);
  WorstCase solved("error"), steps("in few steps");
  for (int round = 0; round < 4; ++round) {
    const auto raw = carom::testing::draw_body_problem(source, {6, 6, 3, 6, 6, 6});
    LawScene<double> scene(raw, FrictionLaw::convex);
    for (Index i = 0; i < scene.system.islands().size(); ++i) {
      // Sliding contacts off the path's centre leave the root of their product as error, and
      // Newton's method is tried at 1e-3.
      const Followed end = follow(scene, i, 1e-6);
      solved.see(end.error, by_solver(1e-6), round, i, end.steps);
      steps.see(end.steps, 50, round, i);
    }
  }
  solved.check(8);
  steps.check(8);
}

TEST_CASE("central_path: near its end, a smooth path falls faster than linearly",
          "[solvers][law]") {
  for (const FrictionLaw law : laws) {
    LawScene<double> scene(Incline{}.problem(), law);
    CentralPath<BodySystem<double>> path;
    path.lay_out(scene.system);
    REQUIRE(path.start(scene.system, 0, scene.yardstick, 30, scene.iterate, scene.memory));
    double error = scene.measure(0);
    int steps = 0;
    for (; error > 1e-4 && steps < 30; ++steps) {
      REQUIRE(path.advance(scene.system, 0, law, scene.iterate, scene.memory) > 0);
      error = scene.measure(0);
    }
    REQUIRE(error < by_solver(1e-4));
    REQUIRE(path.advance(scene.system, 0, law, scene.iterate, scene.memory) > 0.9);
    CHECK(scene.measure(0) < 0.02 * error);
  }
}

TEST_CASE("central_path: islands are followed by themselves", "[solvers][law]") {
  VectorSource<double> source(2);
  const auto raw = carom::testing::draw_body_problem(source, {6, 6, 6, 6, 6});
  LawScene<double> together(raw, FrictionLaw::convex), apart(raw, FrictionLaw::convex);
  REQUIRE(together.system.islands().size() >= 2);
  CentralPath<BodySystem<double>> path;
  path.lay_out(together.system);
  const Index count = together.system.islands().size();
  for (Index i = 0; i < count; ++i) {
    REQUIRE(
        path.start(together.system, i, together.yardstick, 30, together.iterate, together.memory));
  }
  for (int k = 0; k < 5; ++k) {
    for (Index i = 0; i < count; ++i) {
      static_cast<void>(together.measure(i));
      static_cast<void>(
          path.advance(together.system, i, FrictionLaw::convex, together.iterate, together.memory));
    }
  }
  for (Index i = 0; i < count; ++i) {
    const Followed end = follow(apart, i, 0, 5);
    CHECK(end.started);
  }
  CHECK(together.impulse() == apart.impulse());
}

}  // namespace central_path_test
