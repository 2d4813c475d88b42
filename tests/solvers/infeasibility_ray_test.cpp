// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/infeasibility_ray.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "carom/contact/dual.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "support/catch.hpp"
#include "support/feasible_problems.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

#include "scenes/infeasible.hpp"

namespace infeasibility_ray_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::certify_infeasible, carom::ContactProblem, carom::FrictionLaw;
using carom::Index, carom::refine_ray, carom::Vector, carom::Vector3, carom::VectorX;
using carom::testing::VectorSource;

namespace {

/// Masses at random joined by contacts in random directions, with the world and each other.
ContactProblem<double> draw_problem(VectorSource<double>& source, int bodies, int contacts,
                                    double friction, double decades) {
  ContactProblem<double> problem(0.01);
  for (int b = 0; b < bodies; ++b) {
    const double mass = source.positive(decades);
    problem.add_body(mass * carom::SquareMatrix<double, 3>::Identity(), source.vector<3>(1, 0));
  }
  for (int i = 0; i < contacts; ++i) {
    const auto axes =
        carom::examples::contact_axes(Vector3<double>(source.vector<3>(1, 0).normalized()));
    // What a gap allows, or a surface that comes up asks for.
    const double gap = source.entry(1) / 100;
    carom::RigidContact<double> law{.friction = friction};
    law.surface_velocity.z() = -(gap > 0 ? 1 : 0.2) * gap / problem.time_step();
    const Index first = i % bodies, second = (i + 1 + i / bodies) % bodies;
    if (i % 3 == 0 || first == second) {
      problem.add_contact(first, axes, law);
    } else {
      problem.add_contact(first, axes, second, carom::SquareMatrix<double, 3>(-axes), law);
    }
  }
  return problem;
}

double distance(const ContactProblem<double>& problem, const VectorX<double>& velocity) {
  VectorX<double> whitened = velocity;
  problem.whiten(carom::as_span(whitened));
  return (whitened - problem.whitened_free_velocity()).norm();
}

}  // namespace

TEST_CASE("infeasibility_ray: where there is an answer the ray tells how far it is",
          "[solvers][oracle]") {
  VectorSource<double> source(11u);
  int answers = 0, proofs = 0;
  for (int sample = 0; sample < 60; ++sample) {
    const double friction = sample % 3 == 0 ? 0 : source.positive(1);
    const int bodies = 1 + sample % 4;
    const auto problem =
        draw_problem(source, bodies, 2 + sample % 7, friction, sample % 2 == 0 ? 0 : 4);
    carom::ContactSolver<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-12});
    VectorX<double> velocity = problem.free_velocity();
    const auto report = solver.solve(problem, velocity);
    const VectorX<double> ray = refine_ray(problem, FrictionLaw::convex);
    const auto judged = certify_infeasible(problem, FrictionLaw::convex, ray);
    CAPTURE(sample, friction, bodies, report.residual, judged.velocity_needed,
            judged.velocity_scale);
    CHECK(judged.cone_violation <= rounding(5000, 1.0));
    if (report.converged() && distance(problem, velocity) < 1e4 * judged.velocity_scale) {
      ++answers;
      const double exact = distance(problem, velocity);
      CAPTURE(exact);
      CHECK(!judged.infeasible);
      CHECK(std::abs(judged.velocity_needed - exact) <= by_solver(1e-6) * (1 + exact));
    } else if (!report.converged()) {
      CHECK(judged.infeasible);
      ++proofs;
    }
  }
  CAPTURE(answers, proofs);
  CHECK(answers > 20);
}

TEST_CASE("infeasibility_ray: it is found from impulses that grow, and from none",
          "[solvers][example]") {
  VectorSource<double> source(12u);
  carom::examples::NarrowWell<double> well{.count = 12};
  well.along = source.vector<3>(1, 0).normalized();
  const auto problem = carom::examples::make_narrow_well(well);
  const VectorX<double> exact = carom::examples::narrow_well_ray(well);
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    for (const double noise : {0.0, 1e-3, 0.3}) {
      VectorX<double> impulse = 1e7 * exact;
      for (Index i = 0; i < impulse.size(); ++i) {
        impulse(i) += 1e7 * noise * (source.unit() - 0.5);
      }
      const VectorX<double> ray = refine_ray(problem, law, impulse);
      CAPTURE(int(law), noise);
      CHECK(certify_infeasible(problem, law, ray).infeasible);
      CHECK(certify_infeasible(problem, law, ray).cone_violation <= rounding(50, 1.0));
    }
    VectorX<double> nonsense = exact;
    nonsense(0) = std::numeric_limits<double>::quiet_NaN();
    CHECK(certify_infeasible(problem, law, refine_ray(problem, law, nonsense)).infeasible);
    CHECK(certify_infeasible(problem, law, refine_ray(problem, law)).infeasible);
  }
}

TEST_CASE("infeasibility_ray: it is that of the island that has no answer", "[solvers][example]") {
  auto problem = carom::examples::make_narrow_well(carom::examples::NarrowWell<double>{.count = 3});
  const Index contacts = problem.block_count();
  for (int b = 0; b < 2; ++b) {  // apart, pressed down
    const Index body =
        problem.add_body(carom::SquareMatrix<double, 3>::Identity(), Vector3<double>(0, 0, -100));
    problem.add_contact(body, carom::SquareMatrix<double, 3>::Identity(),
                        carom::RigidContact<double>{.friction = 0.5});
  }
  const VectorX<double> ray = refine_ray(problem, FrictionLaw::coulomb);
  CHECK(certify_infeasible(problem, FrictionLaw::coulomb, ray).infeasible);
  CHECK(ray.tail(6).isZero(0));
  CHECK(ray.head(3 * contacts).norm() > 0);
}

TEST_CASE("infeasibility_ray: without blocks it is found too", "[solvers][example]") {
  const auto problem =
      carom::examples::make_narrow_well(carom::examples::NarrowWell<double>{.count = 4});
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write_matrix_free(problem, dual);
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const VectorX<double> ray = refine_ray(dual, law);
    CHECK(certify_infeasible(dual, law, ray).infeasible);
    CHECK(certify_infeasible(problem, law, ray).infeasible);
  }
}

TEMPLATE_TEST_CASE("infeasibility_ray: no problem around an answer is proven to have none",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  const double decades = std::is_same_v<Scalar, float> ? 5 : 12;
  for (int sample = 0; sample < 60; ++sample) {
    carom::testing::FeasibleProblems<Scalar> draws(1000u + unsigned(sample), decades);
    const auto answered = draws.draw(sample);
    const ContactProblem<Scalar>& problem = answered.problem;
    carom::DelassusProblem<Scalar> dual;
    carom::DelassusForm<Scalar>().write(problem, dual);
    VectorX<Scalar> noise(problem.impulse_count());
    for (Index row = 0; row < noise.size(); ++row) noise(row) = draws.source().entry(4);
    const VectorX<Scalar> grown = Scalar(1e7) * answered.impulse + noise;
    CAPTURE(sample, problem.body_count(), problem.block_count());
    for (const VectorX<Scalar>& ray :
         {refine_ray(problem, FrictionLaw::coulomb), refine_ray(dual, FrictionLaw::coulomb),
          refine_ray(problem, FrictionLaw::coulomb, answered.impulse),
          refine_ray(problem, FrictionLaw::coulomb, grown), answered.impulse, noise,
          VectorX<Scalar>(grown - Scalar(9e6) * answered.impulse),
          VectorX<Scalar>(VectorX<Scalar>::Ones(noise.size()))}) {
      CHECK(!certify_infeasible(problem, FrictionLaw::coulomb, ray).infeasible);
      CHECK(!certify_infeasible(dual, FrictionLaw::coulomb, ray).infeasible);
    }
  }
}

TEMPLATE_TEST_CASE("infeasibility_ray: with a contradiction added each of them is",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  using carom::testing::Contradiction;
  const double decades = std::is_same_v<Scalar, float> ? 5 : 12;
  for (int sample = 0; sample < 60; ++sample) {
    carom::testing::FeasibleProblems<Scalar> draws(1000u + unsigned(sample), decades);
    auto problem = draws.draw(sample).problem;
    const auto what = Contradiction(sample / 5 % 4);
    const VectorX<Scalar> known = contradict(problem, what, draws, draws.speed());
    CAPTURE(sample, int(what), problem.body_count(), problem.block_count());
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      CHECK(certify_infeasible(problem, law, known).infeasible);
      const auto found = certify_infeasible(problem, law, refine_ray(problem, law));
      CAPTURE(int(law), found.cancellation, found.drive);
      CHECK(found.infeasible);
    }
  }
}

TEST_CASE("infeasibility_ray: none where the free velocity satisfies the gaps",
          "[solvers][example]") {
  const auto problem = carom::examples::make_closing_slot(
      carom::examples::ClosingSlot<double>{.closing = -1, .friction = 0.5});
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const VectorX<double> ray = refine_ray(problem, law);
    CHECK(ray.size() == problem.impulse_count());
    CHECK(ray.isZero(0));
  }
  const carom::DelassusProblem<double> empty;
  CHECK(refine_ray(empty, FrictionLaw::coulomb).size() == 0);
}

TEST_CASE("infeasibility_ray: a weak case is known by velocities without end",
          "[solvers][example]") {
  // u = (v, c, v): the convex law's cone is met only at infinity.
  ContactProblem<double> problem(0.01);
  problem.add_body(carom::SquareMatrix<double, 1>::Identity(), Vector<double, 1>::Zero());
  const Index i =
      problem.add_contact(0, Vector3<double>(1, 0, 1), carom::RigidContact<double>{.friction = 1});
  const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
  problem.set_law(i, {1, {tangent, normal}, Vector3<double>(0, -1, 0), true});
  const VectorX<double> ray = refine_ray(problem, FrictionLaw::convex);
  CHECK(certify_infeasible(problem, FrictionLaw::convex, ray).velocity_needed > 100);
}

TEST_CASE("infeasibility_ray: the multipliers of a slide are those of the brake",
          "[solvers][example]") {
  const carom::examples::KleinBrake<double> brake;
  const auto problem = carom::examples::make_klein_brake(brake);
  const auto slide = carom::find_slide(problem, 0, Vector<double, 2>(3, 0));
  REQUIRE(slide.multipliers.size() == 3);
  CHECK(slide.multipliers(2) == Approx(brake.height / brake.offset));
  CHECK(slide.multipliers.head(2).isZero(0));
  CHECK(carom::find_slide(problem, 0, Vector<double, 2>(0, 0)).multipliers.size() == 0);
}

}  // namespace infeasibility_ray_test
