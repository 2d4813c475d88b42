// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/falling_solids.hpp"

#include <algorithm>
#include <cmath>

#include "carom/contact/dual.hpp"
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace falling_solids_test {

using carom::testing::by_compliance, carom::testing::by_settling, carom::testing::by_solver,
    carom::testing::rounding;

using carom::FrictionLaw, carom::Index, carom::SapSolver, carom::Vector3;
using carom::examples::FallingSolids, carom::examples::make_ball;
using carom::examples::make_falling_solids, carom::examples::make_packed_balls;
using carom::examples::Solid, carom::examples::SolidContact, carom::examples::Touch;

/// One step by SAP.
void step(FallingSolids& scene, SapSolver<double>& solver) {
  scene.prepare();
  REQUIRE(solver.solve(scene.problem(), scene.velocity).converged());
  scene.impulse = solver.impulse();
  scene.advance();
}

double weight(const FallingSolids& scene) {
  double mass = 0;
  for (const Solid& solid : scene.solids) mass += solid.body.mass;
  return 9.81 * mass;
}

TEST_CASE("falling_solids: they come to rest in the bin, which carries their weight",
          "[scenes][scene]") {
  for (const auto kind : {SolidContact::compliant, SolidContact::rolling}) {
    FallingSolids scene = make_falling_solids(7, 3, kind);
    SapSolver<double> solver;
    double highest = 0;
    for (int k = 0; k < 150; ++k) {
      step(scene, solver);
      highest = std::max(highest, scene.kinetic_energy());
    }
    CHECK(scene.kinetic_energy() < by_settling(1e-4) * highest);
    CHECK(scene.deepest() < by_compliance(2e-3));
    for (const Solid& solid : scene.solids) {
      CHECK(solid.body.position.head<2>().cwiseAbs().maxCoeff() < 1);
      CHECK(solid.body.position.z() > 0);
    }
    double carried = 0;
    Index contact = 0;
    if (kind == SolidContact::compliant) {
      for (const Touch& touch : scene.touches()) {
        if (touch.second < 0) {
          const Eigen::Vector3d local = scene.impulse.segment<3>(3 * contact);
          const Vector3<double> t1 = touch.normal.unitOrthogonal();
          carried += local.z() * touch.normal.z() + local.x() * t1.z() +
                     local.y() * touch.normal.cross(t1).z();
        }
        ++contact;
      }
      CHECK(carried == Approx(weight(scene) * scene.time_step).epsilon(0.01));
    }
  }
}

TEST_CASE("falling_solids: a ball that rolls slows down by rolling friction alone",
          "[scenes][oracle]") {
  FallingSolids scene;
  scene.kind = SolidContact::rolling;
  scene.rolling_friction = 5e-3;
  Solid ball = make_ball(0.1, 300);
  ball.body.position << 0, 0, 0.1;
  ball.body.velocity << 0, 20, 0, 2, 0, 0;
  scene.solids = {ball};
  SapSolver<double> solver;
  for (int k = 0; k < 60; ++k) step(scene, solver);
  const double slowing = 5e-3 / 0.1 * 9.81 / 1.4;
  CHECK(scene.solids[0].body.velocity(3) == Approx(2 - slowing).epsilon(0.01));
  // Under the convex law what rolls against resistance is lifted, which makes the arm longer.
  CHECK(scene.solids[0].body.velocity(1) ==
        Approx(10 * scene.solids[0].body.velocity(3)).epsilon(0.02));
}

TEST_CASE("falling_solids: impulses of the step before are a guess of the next one's",
          "[scenes][law]") {
  FallingSolids scene = make_falling_solids(6, 0, SolidContact::rigid);
  carom::ContactSolver<double> solver;
  for (int k = 0; k < 60; ++k) {
    scene.prepare();
    REQUIRE(solver.solve_from(scene.problem(), scene.impulse, scene.velocity).converged());
    scene.impulse = solver.impulse();
    scene.advance();
  }
  scene.prepare();
  CHECK(scene.touches().size() >= 6);
  const Eigen::VectorXd guess = scene.impulse;
  CHECK(solver.solve_from(scene.problem(), guess, scene.velocity).converged());
  CHECK((solver.impulse() - guess).norm() < 0.05 * guess.norm());
}

TEST_CASE("falling_solids: packed balls nearly touch twelve others each", "[scenes][law]") {
  FallingSolids scene = make_packed_balls(216, 0.03);
  scene.prepare();
  CHECK(scene.solids.size() == 216);
  int inner = 0, among = 0;
  for (const Touch& touch : scene.touches()) {
    CHECK(touch.gap > -0.0006 - rounding(5000, 1.0));
    (touch.second < 0 ? inner : among) += 1;
  }
  CHECK(among > 4 * 216);
  CHECK(among < 6 * 216);
  CHECK(inner >= 36);
}

TEST_CASE("falling_solids: the central path finds impulses of packed rigid balls under both laws",
          "[scenes][scene]") {
  FallingSolids scene = make_packed_balls(12, 0.03);
  scene.prepare();
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write(scene.problem(), dual);
  for (const auto law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    carom::InteriorPointSolver<double> solver({.law = law, .iteration_limit = 40});
    Eigen::VectorXd velocity;
    const auto report = solver.solve(scene.problem(), velocity);
    CAPTURE(to_string(law), report.iterations, report.residual);
    if (law == FrictionLaw::convex) CHECK(report.converged());
    const Eigen::VectorXd impulse = solver.impulse();
    const auto judged = judge_answer(scene.problem(), law, velocity, impulse);
    CHECK(std::abs(judged.residual - report.residual) <= by_solver(1e-10));
    CHECK(certify(dual, impulse, law).natural_map_error <= report.residual);
  }
}

}  // namespace falling_solids_test
