// SPDX-License-Identifier: BSD-3-Clause
#include "support/impact_scenes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/reflection_count.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/impact/uniqueness.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace impact_scenes_test {

using carom::testing::by_solver, carom::testing::rounding;

using namespace carom::testing;
using carom::ImpactReport, carom::ImpactResolver, carom::ImpactStatus, carom::Index;
using carom::MassMatrix, carom::PlasticImpact, carom::PlasticLaw, carom::VectorX;
using std::numbers::pi;

namespace {

struct Resolution {
  ImpactReport<double> report;
  VectorX<double> velocity;
};

Resolution resolve(const ImpactScene& scene, const VectorX<double>& velocity) {
  ImpactResolver<double> resolver;
  resolver.prepare(scene.problem);
  VectorX<double> p = scene.momentum(velocity);
  const auto report = resolver.resolve(scene.problem, p);
  return {report, scene.velocity(p)};
}

}  // namespace

TEST_CASE("scenes: equal balls in reversed order of speed come out sorted", "[impact][scene]") {
  for (const Index n : {2, 3, 5, 8, 9, 20, 100, 300}) {
    const ImpactScene scene = ball_line(std::vector<double>(std::size_t(n), 0.5));
    const auto end = resolve(scene, VectorX<double>::LinSpaced(n, double(n), 1.0));
    CAPTURE(n);
    CHECK(end.report.status == ImpactStatus::resolved);
    CHECK(end.report.reflections == n * (n - 1) / 2);
    CHECK((end.velocity - VectorX<double>::LinSpaced(n, 1.0, double(n))).cwiseAbs().maxCoeff() <=
          rounding(20 + int(n), double(n)));
  }
}

TEST_CASE("scenes: a thousand equal balls come out sorted", "[impact][scene]") {
  const Index n = 1000;
  const ImpactScene scene = ball_line(std::vector<double>(std::size_t(n), 1.0));
  const auto end = resolve(scene, VectorX<double>::LinSpaced(n, double(n), 1.0));
  CHECK(end.report.reflections == n * (n - 1) / 2);
  CHECK((end.velocity - VectorX<double>::LinSpaced(n, 1.0, double(n))).cwiseAbs().maxCoeff() <=
        rounding(500'000, 1.0));
}

TEST_CASE("scenes: a cradle between a wall and nothing returns every ball", "[impact][scene]") {
  const ImpactScene scene = ball_line({1, 1, 1, 1}, true);
  const auto end = resolve(scene, vector_of({-1, -2, -3, -4}));
  CHECK(end.report.reflections == 16);
  CHECK((end.velocity - vector_of({1, 2, 3, 4})).norm() <= rounding(50, 4.0));
  // Between two walls there is no way out: the balls stop.
  const ImpactScene shut = ball_line({1, 1, 1, 1}, true, true);
  const auto stopped = resolve(shut, vector_of({1, -2, 3, -1}));
  CHECK(stopped.report.status == ImpactStatus::wedged);
  CHECK(stopped.velocity.norm() <= rounding(100, 4.0));
}

TEST_CASE("scenes: Galperin's balls count the digits of pi", "[impact][scene]") {
  // A ball of mass 1 between a wall and a ball of mass 100^k that comes in.
  const Index digits[] = {3, 31, 314, 3141, 31415, 314159};
  double ratio = 1;
  for (const Index expected : digits) {
    const ImpactScene scene = ball_line({1, ratio}, true);
    const auto end = resolve(scene, vector_of({0, -1}));
    CAPTURE(ratio);
    CHECK(end.report.status == ImpactStatus::resolved);
    CHECK(end.report.reflections == expected);
    const double energy =
        end.velocity(0) * end.velocity(0) + ratio * end.velocity(1) * end.velocity(1);
    CHECK(std::abs(energy / ratio - 1) <= rounding(50000, 1.0));
    CHECK(end.velocity(0) >= -by_solver(1e-9));
    CHECK(end.velocity(1) >= end.velocity(0) * (1 - by_solver(1e-9)) - by_solver(1e-9));
    const double product = scene.problem.gram()(0, 1);
    CHECK(carom::pair_reflection_bound(product, false) >= expected);
    CHECK(carom::pair_reflection_bound(product, false) <= expected + 3);
    ratio *= 100;
  }
}

TEST_CASE("scenes: Galperin's count follows from the angle of the normals", "[impact][scene]") {
  // Reflections of a ray in a wedge of angle 2γ = atan(sqrt(m / M)): ceil(pi / angle) - 1.
  VectorSource<double> source(161u);
  WorstCase counted("reflections");
  for (int round = 0; round < 100; ++round) {
    const double ratio = 1 + 500 * source.unit();
    const double wedge = std::atan(1 / std::sqrt(ratio));
    const auto end = resolve(ball_line({1, ratio}, true), vector_of({0, -1}));
    counted.see_holds(double(end.report.reflections) == std::ceil(pi / wedge) - 1, ratio);
  }
  counted.check(100);
}

TEST_CASE("scenes: the cue ball between two others", "[impact][scene]") {
  // Right angle: each takes its component, the cue ball stops.
  VectorX<double> v = VectorX<double>::Zero(6);
  v(0) = 1;
  const auto end = resolve(billiards(pi / 2), v);
  CHECK(end.report.reflections == 2);
  CHECK((end.velocity - vector_of({0, 0, 0.5, 0.5, 0.5, -0.5})).norm() <= rounding(10, 1.0));
}

TEST_CASE("scenes: a rocking block keeps Housner's share of its speed", "[impact][scene]") {
  // Half width b, half height h; rotates about its left corner and lands on the right one, which
  // neither slips nor bounces. Coordinates (x, y, rotation) of the middle.
  for (const double b : {0.1, 0.3, 0.5, 0.7}) {
    const double h = 1, mass = 2.3, inertia = mass * (b * b + h * h) / 3;
    const double sine = b / std::sqrt(b * b + h * h);
    const auto block = MassMatrix<double>::make_diagonal(vector_of({mass, mass, inertia}));
    const auto along = [](double y) { return vector_of({1, 0, -y}); };
    const auto up = [](double x) { return vector_of({0, 1, x}); };
    const VectorX<double> tangent = along(-h), right = up(b), left = up(-b);
    // About the left corner (-b, -h), turning clockwise: v = w x r.
    const double turning = -1.4;
    const VectorX<double> before = vector_of({-turning * h, turning * b, turning});
    CHECK(std::abs(left.dot(before)) < rounding(5, 1.0));
    CHECK(right.dot(before) < 0);
    const double housner = 1 - 1.5 * sine * sine;

    const ImpactScene held(block, {right, tangent});
    PlasticImpact<double> bilateral(PlasticLaw::bilateral);
    bilateral.prepare(held.problem);
    VectorX<double> p = held.momentum(before);
    static_cast<void>(bilateral.resolve(held.problem, p));
    CHECK(held.velocity(p)(2) == Approx(housner * turning).epsilon(rounding(500, 1.0)));

    // With the left corner closed, too, and friction as two opposite contacts, one-sided.
    const ImpactScene free(block, {right, left, tangent, -tangent});
    PlasticImpact<double> moreau;
    moreau.prepare(free.problem);
    p = free.momentum(before);
    static_cast<void>(moreau.resolve(free.problem, p));
    const VectorX<double> after = free.velocity(p);
    CAPTURE(b);
    if (housner > 0) {
      CHECK(after(2) == Approx(housner * turning).epsilon(rounding(5000, 1.0)));
      CHECK(left.dot(after) > 0);
    }
  }
}

TEST_CASE("scenes: a ball wedged between walls stops across and slides along", "[impact][scene]") {
  // A valley of three walls in space around the vertical: nothing to move but up and down.
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({2, 2, 2}));
  std::vector<VectorX<double>> walls;
  for (int k = 0; k < 3; ++k) {
    walls.push_back(vector_of({std::cos(2 * pi * k / 3), std::sin(2 * pi * k / 3), 0}));
  }
  const auto end = resolve(ImpactScene(mass, walls), vector_of({1, -2, 3}));
  CHECK(end.report.status == ImpactStatus::wedged);
  CHECK((end.velocity - vector_of({0, 0, 3})).norm() <= rounding(30, 4.0));
  // Opened a little it bounces.
  for (auto& wall : walls) wall(2) = 0.1;
  CHECK(resolve(ImpactScene(mass, walls), vector_of({1, -2, -3})).report.status ==
        ImpactStatus::resolved);
}

TEST_CASE("scenes: normals given twice do not count twice", "[impact][scene]") {
  const auto mass = MassMatrix<double>::make_diagonal(VectorX<double>::Ones(3));
  const VectorX<double> ab = vector_of({-1, 1, 0}), bc = vector_of({0, -1, 1});
  const ImpactScene scene(mass, {ab, ab, bc, 2 * ab, 3 * bc});
  const auto end = resolve(scene, vector_of({3, 2, 1}));
  CHECK(end.report.reflections == 3);
  CHECK((end.velocity - vector_of({1, 2, 3})).norm() <= rounding(10, 3.0));
  CHECK(
      carom::enumerate_outcomes(scene.problem, scene.mass, vector_of({3, 2, 1})).outcomes.size() ==
      1);
}

}  // namespace impact_scenes_test
