// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/proximal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/interior_point.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/dual_problems.hpp"
#include "support/executors.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

#include "scenes/infeasible.hpp"
#include "scenes/pile.hpp"

namespace proximal_test {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::InteriorPointSolver,
    carom::ProximalSolver, carom::SolveStatus, carom::VectorX;
using carom::testing::VectorSource;

namespace {

carom::examples::Pile make_heap(Index bodies) {
  carom::examples::PileShape shape;
  shape.body_count = bodies;
  return carom::examples::make_pile(shape);
}
carom::examples::Pile make_rigid_heap(Index bodies) {
  auto pile = make_heap(bodies);
  pile.problem.make_rigid();
  return pile;
}

template <typename Scalar>
auto certify_dual(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                  FrictionLaw law = FrictionLaw::convex) {
  carom::DelassusForm<Scalar> form;
  carom::DelassusProblem<Scalar> dual;
  form.write(problem, dual);
  return certify(dual, impulse, law);
}

}  // namespace

TEMPLATE_TEST_CASE("proximal: its report is what the dual form measures of its answer",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  const Scalar tolerance = single ? Scalar(1e-4) : Scalar(1e-8);
  VectorSource<double> source(62u);
  for (int round = 0; round < 10; ++round) {
    auto problem = carom::testing::draw_bodies<Scalar>(source, 1 + round / 2);
    for (const bool rigid : {false, true}) {
      if (rigid) problem.make_rigid();
      ProximalSolver<Scalar> solver({.tolerance = tolerance});
      VectorX<Scalar> velocity = problem.free_velocity(), expected;
      const auto report = solver.solve(problem, velocity);
      CAPTURE(round, rigid, to_string(report.status), report.iterations, report.residual);
      CHECK(report.converged());
      CHECK(report.residual <= tolerance);
      const VectorX<Scalar> impulse = solver.impulse();
      const auto certificate = certify_dual(problem, impulse);
      CHECK(std::abs(report.residual - certificate.natural_map_error) <=
            carom::testing::rounding(200, 1 + certificate.natural_map_error));
      CHECK(certificate.cone_violation <=
            carom::testing::rounding(100, Scalar(1) + impulse.norm()));
      write_velocity(problem, impulse, expected);
      CHECK(velocity == expected);
      const auto again = solver.solve_from(problem, impulse, velocity);
      CHECK(again.iterations == 0);
      CHECK(VectorX<Scalar>(solver.impulse()) == impulse);
    }
  }
}

TEMPLATE_TEST_CASE("proximal: compliant contact of every shape obeys Coulomb's law",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  const Scalar tolerance = single ? Scalar(1e-4) : Scalar(1e-8);
  VectorSource<double> source(63u);
  int converged = 0;
  constexpr int rounds = 20;
  for (int round = 0; round < rounds; ++round) {
    const auto drawn = carom::testing::draw_constrained(source, {6, 3, 6}, 6);
    const auto problem = carom::testing::build<Scalar>(drawn);
    ProximalSolver<Scalar> solver({.law = FrictionLaw::coulomb, .tolerance = tolerance});
    VectorX<Scalar> velocity = problem.free_velocity(), expected;
    const auto report = solver.solve(problem, velocity);
    CAPTURE(round, to_string(report.status), report.iterations, report.residual);
    const VectorX<Scalar> impulse = solver.impulse();
    const auto certificate = certify_dual(problem, impulse, FrictionLaw::coulomb);
    CHECK(certificate.natural_map_error <=
          report.residual + carom::testing::rounding(500, Scalar(1) + report.residual));
    CHECK(report.residual <= certificate.natural_map_error +
                                 carom::testing::rounding(500, Scalar(1) + report.residual));
    write_velocity(problem, impulse, expected);
    CHECK(velocity == expected);
    CHECK(report.converged() == (report.residual <= tolerance));
    converged += report.converged() ? 1 : 0;
  }
  CHECK(converged >= 8 * rounds / 10);  // the lifts have no proof of convergence
}

TEST_CASE("proximal: a compliant heap under Coulomb's law, from nothing and from its impulses",
          "[solvers][oracle]") {
  auto heap = make_heap(100);
  ProximalSolver<double> solver({.law = FrictionLaw::coulomb, .tolerance = 1e-9});
  InteriorPointSolver<double> oracle({.law = FrictionLaw::coulomb, .tolerance = 1e-11});
  VectorX<double> velocity = heap.guess, expected = heap.guess;
  const auto report = solver.solve(heap.problem, velocity);
  CAPTURE(to_string(report.status), report.iterations, report.residual);
  CHECK(report.converged());
  const VectorX<double> impulse = solver.impulse();
  const auto certificate = certify_dual(heap.problem, impulse, FrictionLaw::coulomb);
  CHECK(certificate.natural_map_error <= carom::testing::by_solver(1.01e-9));
  REQUIRE(oracle.solve(heap.problem, expected).converged());
  CHECK((velocity - expected).norm() <= carom::testing::by_solver(1e-5) * expected.norm());
  // The law is not the convex one, which would let what slides rise.
  CHECK(certify_dual(heap.problem, impulse, FrictionLaw::convex).natural_map_error >
        carom::testing::by_solver(1e-4));
  CHECK(solver.solve_from(heap.problem, impulse, velocity).iterations == 0);
  // A little later the last impulses are a good guess.
  velocity = 1.001 * heap.problem.free_velocity();
  heap.problem.set_free_velocity({velocity.data(), std::size_t(velocity.size())});
  const auto again = solver.solve_from(heap.problem, impulse, velocity);
  CHECK(again.converged());
  CHECK(again.iterations < report.iterations);
}

TEST_CASE("proximal: a rigid heap moves as the interior point has it", "[solvers][oracle]") {
  const auto heap = make_rigid_heap(60);
  ProximalSolver<double> solver({.tolerance = 1e-9});
  InteriorPointSolver<double> oracle({.law = FrictionLaw::convex, .tolerance = 1e-11});
  VectorX<double> velocity = heap.guess, expected = heap.guess;
  const auto report = solver.solve(heap.problem, velocity);
  CAPTURE(report.iterations, report.residual);
  CHECK(report.converged());
  REQUIRE(oracle.solve(heap.problem, expected).converged());
  // Impulses of a heap that is held in many ways differ; velocities are unique.
  CHECK((velocity - expected).norm() <= carom::testing::by_solver(1e-6) * expected.norm());
}

TEST_CASE("proximal: the executor changes no bit", "[solvers][law]") {
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const auto heap = law == FrictionLaw::convex ? make_rigid_heap(400) : make_heap(400);
    // A few steps show it; executors that delay their tasks would take long over all.
    const carom::ProximalOptions<double> options{.law = law, .iteration_limit = 3};
    ProximalSolver<double> solver(options);
    VectorX<double> velocity = heap.guess;
    const auto report = solver.solve(heap.problem, velocity);
    CHECK(report.iterations == 3);
    const VectorX<double> impulse = solver.impulse();
    carom::testing::for_each_executor([&](const auto& executor) {
      ProximalSolver<double> other(options);
      VectorX<double> shared = heap.guess;
      const auto same = other.solve(heap.problem, shared, executor);
      CHECK(shared == velocity);
      CHECK(VectorX<double>(other.impulse()) == impulse);
      CHECK(same.residual == report.residual);
      CHECK(same.iterations == report.iterations);
    });
  }
}

TEST_CASE("proximal: ContactSolver asks it for rigid heaps of thousands of bodies",
          "[solvers][slow]") {
  const auto heap = make_rigid_heap(4000);
  const double tolerance = 1e-5;
  REQUIRE(heap.problem.block_count() >= carom::detail::ContactSolverTuning::proximal_blocks);
  ProximalSolver<double> solver({.law = FrictionLaw::convex, .tolerance = tolerance});
  carom::ContactSolver<double> automatic({.law = FrictionLaw::convex, .tolerance = tolerance});
  VectorX<double> velocity = heap.guess, other = heap.guess;
  const auto report = solver.solve(heap.problem, velocity);
  CHECK(report.converged());
  const auto same = automatic.solve(heap.problem, other);
  CHECK(same.converged());
  CHECK(same.iterations == report.iterations);
  CHECK(other == velocity);
  CHECK(VectorX<double>(automatic.impulse()) == VectorX<double>(solver.impulse()));
}

TEST_CASE("proximal: a compliant heap of thousands of bodies needs it under neither law",
          "[solvers][slow]") {
  const auto heap = make_heap(4000);
  REQUIRE(heap.problem.block_count() >= carom::detail::ContactSolverTuning::proximal_blocks);
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    carom::ContactSolver<double> automatic({.law = law});
    VectorX<double> velocity = heap.guess;
    const auto report = automatic.solve(heap.problem, velocity);
    CAPTURE(to_string(law), report.iterations);
    CHECK(report.converged());
    CHECK(report.measure == carom::ResidualMeasure::block_error);
    // Under Coulomb's law Newton's method needs tens of steps or some hundred, as rounding decides:
    // other instruction sets have other counts. ProximalSolver would come after first_steps().
    CHECK(report.iterations <= carom::detail::first_steps(law, heap.problem));
    const VectorX<double> impulse = automatic.impulse();
    CHECK(carom::judge_answer(heap.problem, law, velocity, impulse).residual <=
          automatic.options().tolerance);
    const auto again = automatic.solve_from(heap.problem, impulse, velocity);
    CHECK((again.converged() && again.iterations == 0));  // from the answer
  }
}

TEST_CASE("proximal: ContactSolver has it as a method", "[solvers]") {
  const auto heap = make_rigid_heap(30);
  ProximalSolver<double> solver({.tolerance = 1e-6});
  carom::ContactSolver<double> method(
      {.law = FrictionLaw::convex, .method = carom::ContactMethod::proximal, .tolerance = 1e-6});
  method.prepare(heap.problem);
  VectorX<double> velocity = heap.guess, other = heap.guess;
  CHECK(solver.solve(heap.problem, velocity).converged());
  CHECK(method.solve(heap.problem, other).converged());
  const VectorX<double> impulse = method.impulse();
  CHECK(carom::judge_answer(heap.problem, FrictionLaw::convex, other, impulse).residual <=
        carom::testing::by_solver(1e-6));
  // Two measures of the same tolerance; the heap's softest motion multiplies what is left of each.
  CHECK((other - velocity).norm() <= carom::testing::by_solver(1e-3) * velocity.norm());
  CHECK(method.solve_from(heap.problem, impulse, other).iterations == 0);
}

TEST_CASE("proximal: limits end it with the best answer so far", "[solvers]") {
  const auto heap = make_rigid_heap(60);
  double least = std::numeric_limits<double>::infinity();
  for (const int limit : {0, 1, 20, 60}) {
    ProximalSolver<double> solver({.tolerance = 1e-14, .iteration_limit = limit});
    VectorX<double> velocity = heap.guess;
    const auto report = solver.solve(heap.problem, velocity);
    CAPTURE(limit);
    CHECK(report.status == SolveStatus::iteration_limit);
    CHECK(report.iterations <= limit);
    CHECK(report.residual <= least);
    least = report.residual;
  }
  CHECK(least < carom::testing::by_solver(1e-3));
  ProximalSolver<double> solver({.tolerance = 1e-14});
  const auto late = [](void*) noexcept { return 1.0; };
  solver.set_limits({.now = late, .deadline = 0});
  VectorX<double> velocity = heap.guess;
  CHECK(solver.solve(heap.problem, velocity).status == SolveStatus::deadline);
  CHECK(velocity.allFinite());
}

TEST_CASE("proximal: impulses that cannot obey the law are not called an answer", "[solvers]") {
  carom::examples::ClosingSlot<double> slot;  // walls that close on a block without room
  const auto problem = make_closing_slot(slot);
  REQUIRE(closing_limit(slot) < slot.closing);
  ProximalSolver<double> solver;
  VectorX<double> velocity = problem.free_velocity();
  const auto report = solver.solve(problem, velocity);
  CAPTURE(to_string(report.status), report.residual);
  CHECK_FALSE(report.converged());
  CHECK(velocity.allFinite());
}

TEST_CASE("proximal: nothing to do, and guesses that are no numbers", "[solvers]") {
  ContactProblem<double> empty(0.01);
  ProximalSolver<double> solver;
  VectorX<double> velocity(0);
  CHECK(solver.solve(empty, velocity).converged());
  empty.add_body(carom::SquareMatrix<double, 1>::Identity(), carom::Vector<double, 1>(2.0));
  velocity.setZero(1);
  CHECK(solver.solve(empty, velocity).converged());
  CHECK(velocity(0) == 2.0);

  const auto heap = make_rigid_heap(10);
  velocity = heap.guess;
  velocity(3) = std::numeric_limits<double>::quiet_NaN();
  CHECK(solver.solve(heap.problem, velocity).status == SolveStatus::not_finite);
  CHECK(velocity.allFinite());
  VectorX<double> impulse = VectorX<double>::Constant(heap.problem.impulse_count(),
                                                      std::numeric_limits<double>::infinity());
  CHECK(solver.solve_from(heap.problem, impulse, velocity).converged());
}

TEST_CASE("proximal: below rounding it ends by itself, with the best answer", "[solvers][law]") {
  VectorSource<double> source(63u);
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    auto problem = carom::testing::draw_bodies<double>(source, 3);
    if (law == FrictionLaw::convex) problem.make_rigid();
    ProximalSolver<double> solver({.law = law, .tolerance = 1e-30, .iteration_limit = 1000000});
    VectorX<double> velocity = problem.free_velocity();
    const auto report = solver.solve(problem, velocity);
    CAPTURE(to_string(law), report.residual, report.iterations);
    CHECK(report.status == SolveStatus::no_progress);
    CHECK(report.residual <= carom::testing::by_solver(1e-8));
  }
}

}  // namespace proximal_test
