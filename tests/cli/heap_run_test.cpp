// SPDX-License-Identifier: BSD-3-Clause
#include "cli/heap_run.hpp"

#include <vector>

#include "carom/contact/problem_dump.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "io/text_problem.hpp"

namespace heap_run_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::FrictionLaw, carom::Index, carom::VectorX;
using carom::cli::HeapLaw, carom::cli::HeapRun, carom::cli::ThreadPool;
using carom::examples::make_pile, carom::examples::PileBodies, carom::examples::PileShape;

namespace {

constexpr double gravity = 9.81;

HeapRun make_run(const PileShape& shape, const HeapLaw& law = {}) {
  return {shape, make_pile(shape), law};
}

}  // namespace

TEST_CASE("heap_run: over many steps the ground gives the weight and what the bodies gained",
          "[cli][law]") {
  constexpr int steps = 12;
  for (const PileBodies bodies : {PileBodies::mixed, PileBodies::boxes}) {
    const PileShape shape{.body_count = 30, .bodies = bodies};
    const VectorX<double> before = make_pile(shape).guess;
    HeapRun run = make_run(shape);
    ThreadPool pool(1);
    double given = 0, expected = 0;
    for (int k = 0; k < steps; ++k) {
      if (k > 0) run.advance();
      REQUIRE(run.solve(pool).converged());
      CHECK(run.residual() <= by_solver(1.01e-8));
      for (Index i = 0; i < run.problem().block_count(); ++i) {
        if (run.problem().side_count(i) == 1) given += run.impulse()(3 * i + 2);
      }
    }
    for (Index b = 0; b < 30; ++b) {
      const double mass = run.problem().momentum_matrix(b)(5, 5);
      expected += mass * (gravity * shape.time_step * steps + run.velocity()(6 * b + 5) -
                          before(6 * b + 5));
    }
    CHECK(std::abs(given - expected) <= by_solver(1e-6) * expected);
    CHECK((run.farthest() > 0 && run.farthest() < 0.05));
  }
}

TEST_CASE("heap_run: gaps follow the velocities, and gravity acts in every step", "[cli][law]") {
  const PileShape shape{.body_count = 20, .time_step = 0.005};
  HeapRun run = make_run(shape);
  ThreadPool pool(1);
  REQUIRE(run.solve(pool).converged());
  std::vector<double> gaps;  // ϕ + δt uₙ, with ϕ = −v̂ₙ (δt + τ_d)
  const double relaxed = shape.time_step + shape.dissipation_time;
  for (Index i = 0; i < run.problem().block_count(); ++i) {
    const double gap = -relaxed * run.problem().friction_contact_law(i).bias_velocity.z();
    const double opening = run.problem().friction_contact(i).velocity(run.velocity()).z();
    gaps.push_back(gap + shape.time_step * opening);
  }
  const VectorX<double> velocity = run.velocity();
  run.advance();
  for (Index i = 0; i < run.problem().block_count(); ++i) {
    const auto& law = run.problem().friction_contact_law(i);
    CHECK(std::abs(-relaxed * law.bias_velocity.z() - gaps[std::size_t(i)]) <= rounding(100, 1e-3));
    CHECK((law.bias_velocity.head<2>().isZero(0) && law.friction == shape.friction));
  }
  const VectorX<double> pull = run.problem().free_velocity() - velocity;
  for (Index k = 0; k < pull.size(); ++k) {
    const double expected = k % 6 == 5 ? -gravity * shape.time_step : 0;
    CHECK(std::abs(pull(k) - expected) <= rounding(100, 1.0));
  }
}

TEST_CASE("heap_run: the same bits on any number of threads", "[cli][law]") {
  for (const HeapLaw& law :
       {HeapLaw{.law = FrictionLaw::convex}, HeapLaw{}, HeapLaw{.rigid = true}}) {
    std::vector<VectorX<double>> answers;
    for (const int threads : {1, 2, 3}) {
      HeapRun run = make_run({.body_count = 12}, law);
      ThreadPool pool(threads);
      REQUIRE(run.solve(pool).converged());
      run.advance();
      REQUIRE(run.solve(pool).converged());
      answers.push_back(run.velocity());
    }
    CHECK((answers[0] == answers[1] && answers[0] == answers[2]));
  }
}

TEST_CASE("heap_run: a heap that is written reads back to the same answer, bit for bit",
          "[cli][law]") {
  for (const bool rigid : {false, true}) {
    HeapRun run = make_run({.body_count = 12}, {.law = FrictionLaw::convex, .rigid = rigid});
    const auto given =
        carom::files::parse_text_problem(problem_text(run.problem(), run.velocity()));
    CHECK(given.problem.rigid_count() == (rigid ? given.problem.block_count() : 0));
    ThreadPool pool(1);
    REQUIRE(run.solve(pool).converged());
    carom::ContactSolverOptions<double> options{.law = FrictionLaw::convex, .tolerance = 1e-8};
    if (!rigid) options.method = carom::ContactMethod::sap;
    carom::ContactSolver<double> solver(options);
    VectorX<double> velocity = given.guess;
    REQUIRE(solver.solve(given.problem, velocity).converged());
    CHECK(velocity == run.velocity());
    CHECK(solver.impulse() == run.impulse());
  }
}

TEST_CASE("heap_run: memory grows with the bodies, and is linear where no factor is kept",
          "[cli][law]") {
  constexpr FrictionLaw convex = FrictionLaw::convex;
  const auto memory = [](Index bodies, const HeapLaw& law) {
    return heap_memory(PileShape{.body_count = bodies}, law);
  };
  for (const HeapLaw& law :
       {HeapLaw{.law = convex}, HeapLaw{}, HeapLaw{.law = convex, .rigid = true}}) {
    for (const Index bodies : {1, 10, 100, 10000, 100000}) {
      CHECK(memory(bodies, law) > 0);
      CHECK(memory(10 * bodies, law) > memory(bodies, law));
    }
  }
  const HeapLaw soft{.law = convex}, rigid{.law = convex, .rigid = true};
  CHECK(memory(1000000, soft) < 10.5 * memory(100000, soft));
  CHECK(memory(1000000, rigid) > memory(1000000, soft));
  CHECK(memory(1000000, {}) == memory(1000000, rigid));
  CHECK(memory(1000000, {.rigid = true}) > 2 * memory(1000000, rigid));
}

}  // namespace heap_run_test
