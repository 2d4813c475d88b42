// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/infeasibility_ray.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
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

namespace {

/// A block between two walls that come closer, which presses on each with one contact of a shape.
ContactProblem<double> slot_of(carom::ImpulseShape shape, double closing) {
  ContactProblem<double> problem(0.01);
  const Index block = problem.add_body(carom::SquareMatrix<double, 6>::Identity(),
                                       Vector<double, 6>(Vector<double, 6>::Zero()));
  carom::WeightedBlock<double> law;
  law.rigid = true;
  law.set = carom::cone_impulses<double>(shape, {0.5, 0.2, 0.1});
  const int normal = carom::detail::normal_row(shape);
  law.bias_velocity(normal) = closing;
  for (const double side : {1.0, -1.0}) {  // velocities are along the normal, the tangents, turns
    carom::MatrixX<double> rows = carom::MatrixX<double>::Zero(law.set.rows, 6);
    rows(normal, 0) = side;
    for (int r = 0; r < law.set.rows; ++r) {
      if (r != normal) rows(r, r < normal ? r + 1 : r - normal + 2) = 1;
    }
    problem.add_constraint(block, rows, law);
  }
  return problem;
}

/// A shoe of one degree of freedom on a belt, as KleinBrake, with a contact of a shape, whose other
/// rows hardly move.
ContactProblem<double> brake_of(carom::ImpulseShape shape, double belt, double press = 1) {
  ContactProblem<double> problem(0.01);
  carom::WeightedBlock<double> law;
  law.rigid = true;
  law.set = carom::cone_impulses<double>(shape, {0.6, 0.3, 0.1});
  law.bias_velocity(0) = -belt;
  const Index size = law.set.rows;
  carom::MatrixX<double> mass = carom::MatrixX<double>::Identity(size, size), rows = 1e-9 * mass;
  VectorX<double> free = VectorX<double>::Zero(size);
  mass(0, 0) = 0.05;
  free(0) = -press;
  rows(0, 0) = 0.2;
  rows.row(carom::detail::normal_row(shape)).setZero();
  rows(carom::detail::normal_row(shape), 0) = 0.1;
  problem.add_body(mass, free);
  problem.add_constraint(0, rows, law);
  return problem;
}

constexpr carom::ImpulseShape every_cone[] = {carom::ImpulseShape::planar,
                                              carom::ImpulseShape::friction,
                                              carom::ImpulseShape::elliptic,
                                              carom::ImpulseShape::torsional,
                                              carom::ImpulseShape::spinless_rolling,
                                              carom::ImpulseShape::rolling,
                                              carom::ImpulseShape::ellipsoidal_torsional,
                                              carom::ImpulseShape::ellipsoidal_rolling};

}  // namespace

TEST_CASE("infeasibility_ray: a contact of any shape presses along its normal",
          "[solvers][example]") {
  for (const carom::ImpulseShape shape : every_cone) {
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      CAPTURE(int(shape), to_string(law));
      const auto problem = slot_of(shape, 0.1);
      const VectorX<double> ray = refine_ray(problem, law);
      CHECK(certify_infeasible(problem, law, ray).infeasible);
      VectorX<double> normals = ray;
      const int rows = int(ray.size()) / 2, normal = carom::detail::normal_row(shape);
      CHECK(ray(normal) > 0);
      CHECK(std::abs(ray(normal) - ray(rows + normal)) <= rounding(10, ray(normal)));
      normals(normal) = normals(rows + normal) = 0;
      CHECK(normals.norm() <= rounding(10, ray(normal)));
      CHECK(refine_ray(slot_of(shape, -0.1), law).isZero(0));
    }
  }
}

TEST_CASE("infeasibility_ray: what gives way or does not move has no part in it",
          "[solvers][example]") {
  // A mass on a line between the world and a body that this contact does not move, at their rows
  // 3 v ≥ 1 and −0.7 v ≥ 1; beside them a spring and a motor with bounds.
  ContactProblem<double> problem(0.01);
  using Line = carom::SquareMatrix<double, 1>;
  for (int b = 0; b < 2; ++b) problem.add_body(Line::Identity(), Vector<double, 1>::Zero());
  carom::WeightedBlock<double> stop;
  stop.rigid = true;
  stop.set = carom::pushing_impulse<double>();
  stop.bias_velocity(0) = 1;
  carom::WeightedBlock<double> spring = stop, motor = stop;
  spring.rigid = false;
  spring.regularization(0) = 1e-6;
  motor.set = carom::bounded_impulse(-3.0, 3.0);
  problem.add_constraint(0, Line::Constant(3), stop);
  problem.add_constraint(0, Line::Constant(-0.7), 1, Line::Zero(), stop);
  problem.add_constraint(0, Line::Constant(-1.1), spring);
  problem.add_constraint(0, Line::Identity(), motor);
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const VectorX<double> guess = VectorX<double>::Constant(4, 1e6);
    for (const VectorX<double>& ray : {refine_ray(problem, law), refine_ray(problem, law, guess)}) {
      CHECK(certify_infeasible(problem, law, ray).infeasible);
      CHECK(certify_infeasible(problem, law, ray).cancellation == 0);
      CHECK(ray.tail(2).isZero(0));
    }
  }
}

TEST_CASE("infeasibility_ray: of rays that cancel it is the one with the largest demand",
          "[solvers][example]") {
  // Masses on lines between stops that leave no room, by 1, 3 and 2 m/s, and one that falls.
  using Line = carom::SquareMatrix<double, 1>;
  const auto dual_of = [](const std::vector<double>& lacks) {
    ContactProblem<double> problem(0.01);
    carom::WeightedBlock<double> stop;
    stop.rigid = true;
    stop.set = carom::pushing_impulse<double>();
    for (const double lack : lacks) {
      const Index mass = problem.add_body(Line::Identity(), Vector<double, 1>::Constant(-5));
      stop.bias_velocity(0) = lack;
      problem.add_constraint(mass, Line::Identity(), stop);
      stop.bias_velocity(0) = 0;
      if (lack > 0) problem.add_constraint(mass, -Line::Identity(), stop);
    }
    carom::DelassusProblem<double> dual;
    carom::DelassusForm<double>().write(problem, dual);
    return dual;
  };
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    for (const auto& [lacks, first] :
         {std::pair{std::vector<double>{1, 3, 2, 0}, 2}, {{0, 3, 2, 1}, 1}, {{2, 0, 1, 3}, 5}}) {
      const auto dual = dual_of(lacks);
      const VectorX<double> ray = refine_ray(dual, law);
      CHECK(certify_infeasible(dual, law, ray).infeasible);
      CHECK(ray(first) > 0);
      CHECK(std::abs(ray(first) - ray(first + 1)) <= rounding(10, ray(first)));
      VectorX<double> others = ray;
      others.segment<2>(first).setZero();
      CHECK(others.isZero(0));
      VectorX<double> nonsense = VectorX<double>::Ones(ray.size());
      nonsense(1) = std::numeric_limits<double>::infinity();
      CHECK(refine_ray(dual, law, nonsense) == ray);
    }
  }
}

TEST_CASE("infeasibility_ray: nothing has no ray, however it is given", "[solvers][example]") {
  const ContactProblem<double> empty(0.01);
  carom::DelassusProblem<double> dual;
  carom::DelassusForm<double>().write_matrix_free(empty, dual);
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    CHECK(refine_ray(empty, law).size() == 0);
    CHECK(refine_ray(dual, law).size() == 0);
    CHECK_FALSE(certify_infeasible(empty, law, VectorX<double>()).infeasible);
  }
}

TEST_CASE("infeasibility_ray: a slide is found where the tangents have one friction",
          "[solvers][example]") {
  for (const carom::ImpulseShape shape : every_cone) {
    using carom::ImpulseShape;
    const bool plain = shape == ImpulseShape::planar || shape == ImpulseShape::friction ||
                       shape == ImpulseShape::torsional || shape == ImpulseShape::rolling;
    const int normal = carom::detail::normal_row(shape);
    const auto problem = brake_of(shape, 1);
    CAPTURE(int(shape));
    const auto slide = carom::find_slide(problem, 0, Vector<double, 2>(2, 0));
    CHECK((slide.multipliers.size() > 0) == plain);
    VectorX<double> ray = VectorX<double>::Zero(problem.impulse_count());
    ray(normal) = 1;
    const auto judged = certify_infeasible(problem, FrictionLaw::coulomb, ray,
                                           {.velocity_bound = 1e3, .slides = {slide}});
    CHECK(judged.slides_proven == (plain ? 1 : 0));
    CHECK(judged.infeasible == plain);
    if (!plain) continue;
    VectorX<double> expected = VectorX<double>::Zero(problem.impulse_count());
    expected(normal) = 2;
    CHECK((slide.multipliers - expected).norm() <= rounding(100, 2.0));
    // The other way nothing slides: the belt holds it, or neither belt nor push asks for anything.
    CHECK(carom::find_slide(problem, 0, Vector<double, 2>(-1, 0)).multipliers.size() == 0);
    CHECK(carom::find_slide(brake_of(shape, 0, 0), 0, Vector<double, 2>(1, 0)).multipliers.size() ==
          0);
    const auto slot = slot_of(shape, 0.1);
    CHECK(carom::find_slide(slot, 0, Vector<double, 2>(1, 0)).multipliers.size() == 0);
  }
}

}  // namespace infeasibility_ray_test
