// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/coulomb_newton.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/executors.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

#include "io/text_problem.hpp"
#include "scenes/pile.hpp"

namespace coulomb_newton_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::ContactProblem, carom::DelassusForm, carom::DelassusProblem;
using carom::FrictionLaw, carom::SapSolver, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::draw_problem, carom::testing::VectorSource;

namespace {

/// Problems whose friction leaves one solution.
template <typename Scalar>
ContactProblem<Scalar> draw(VectorSource<double>& source, int contacts) {
  auto raw = draw_problem(source, {{6, 6, 3, 6, 2}, contacts, 1, 2});
  for (auto& contact : raw.contacts) contact.law.friction = std::min(contact.law.friction, 0.5);
  return build<Scalar>(raw);
}

template <typename Scalar>
carom::ImpulseCertificate<Scalar> judge(const ContactProblem<Scalar>& problem,
                                        const VectorX<Scalar>& impulse) {
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write(problem, dual);
  return certify(dual, impulse, FrictionLaw::coulomb);
}

}  // namespace

TEMPLATE_TEST_CASE("coulomb newton: impulses obey Coulomb's law, velocities are theirs",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  VectorSource<double> source(51u);
  int far = 0, begun_again = 0;
  for (int sample = 0; sample < 60; ++sample) {
    const auto problem = draw<Scalar>(source, 1 + sample % 12);
    const double work = sample % 5 == 4 ? 0.0 : 1e15;  // 0: without a factor
    const Scalar tolerance = single ? Scalar(1e-4) : Scalar(work == 0 ? 1e-8 : 1e-11);
    SapSolver<Scalar> solver({.law = FrictionLaw::coulomb,
                              .tolerance = tolerance,
                              .iteration_limit = 2000,
                              .factor_work_limit = work});
    VectorX<Scalar> velocity = problem.free_velocity();
    const auto report = solver.solve(problem, velocity);
    CAPTURE(sample, report.residual, report.iterations);
    CHECK(report.converged());
    CHECK(report.error_bound == std::numeric_limits<Scalar>::infinity());
    const VectorX<Scalar> impulse = solver.impulse();
    CHECK(judge(problem, impulse).natural_map_error <= 30 * tolerance);
    VectorX<Scalar> own(velocity.size());
    write_velocity(problem, impulse, own);
    CHECK((own - velocity).norm() <= 100 * tolerance * (1 + velocity.norm()));
    // Friction that slides under the convex law pushes apart: the answers differ.
    SapSolver<Scalar> convex;
    VectorX<Scalar> other = problem.free_velocity();
    CHECK(convex.solve(problem, other).converged());
    if ((other - velocity).norm() > Scalar(1e-2) * velocity.norm()) ++far;

    VectorX<Scalar> again = velocity;  // from the answer: nothing is left to do
    const auto repeated = solver.solve(problem, again);
    begun_again += repeated.iterations > (single ? 3 : 0) ? 1 : 0;
    if (!single) CHECK(again == velocity);
  }
  // In float, what rounding does to an answer can be more than the tolerance.
  CHECK(begun_again <= (single ? 2 : 0));
  CHECK(far > 20);
}

// One contact in slide: γₙ = (v̂ₙ − vₙ)/Rₙ does not depend on the slip, so that a body pushed along
// a plane sinks as deep as one at rest; the convex law lifts it by μ ‖uₜ‖.
TEST_CASE("coulomb newton: a sliding body presses as one at rest does", "[solvers][example]") {
  for (const double speed : {0.0, 0.01, 1.0, 100.0}) {
    ContactProblem<double> problem(0.01);
    problem.add_body(Eigen::Matrix3d::Identity() * 2, Eigen::Vector3d(speed, 0, -0.1));
    problem.add_contact(0, Eigen::Matrix3d::Identity(),
                        carom::WeightedContact<double>{0.5, {1e-4, 1e-3}, Eigen::Vector3d::Zero()});
    SapSolver<double> solver({.law = FrictionLaw::coulomb, .tolerance = 1e-14});
    VectorX<double> velocity = problem.free_velocity();
    CHECK(solver.solve(problem, velocity).converged());
    const double normal = 0.1 / (0.5 + 1e-3);  // vₙ = −0.1 + γₙ/2 = −Rₙ γₙ
    CHECK(solver.impulse()(2) == Approx(normal).epsilon(rounding(5000, 1.0)));
    CHECK(velocity(2) == Approx(-1e-3 * normal).epsilon(by_solver(1e-10)));
    const double slides = std::max(0.0, speed - 0.5 * normal / 2);
    if (speed >= 1) CHECK(velocity(0) == Approx(slides).epsilon(rounding(5000, 1.0)));
  }
}

// While the directions of friction are no unknowns of their own, these need 20 to 60 steps and the
// heap more than a hundred.
TEST_CASE("coulomb newton: walls and heaps need few steps, with a factor and without",
          "[solvers][oracle]") {
  std::vector<carom::examples::Pile> piles;
  for (const char* name : {"pile_n100_s60", "dt1ms_n100_s600", "mujoco_box_100", "wall_n100"}) {
    auto given = carom::files::read_text_problem(CAROM_SOURCE_DIR "/examples/data/" +
                                                 std::string(name) + ".txt");
    piles.push_back({std::move(given.problem), std::move(given.guess)});
  }
  carom::examples::PileShape shape;  // so many bodies are preconditioned cluster by cluster
  shape.body_count = carom::detail::ClusteredHessianTuning::least_bodies;
  shape.layers = 4;
  piles.push_back(carom::examples::make_pile(shape));
  for (const auto& pile : piles) {
    const bool is_large = pile.problem.body_count() >= shape.body_count;
    for (const double work : {1e15, 0.0}) {
      if (is_large && work > 0) continue;
      SapSolver<double> solver(
          {.law = FrictionLaw::coulomb, .tolerance = 1e-9, .factor_work_limit = work});
      VectorX<double> velocity = pile.guess;
      const auto report = solver.solve(pile.problem, velocity);
      CAPTURE(pile.problem.body_count(), work, report.iterations);
      CHECK(report.converged());
      CHECK(report.iterations <= 30);
      const auto error =
          judge_answer(pile.problem, FrictionLaw::coulomb, velocity, solver.impulse());
      CHECK(error.residual <= by_solver(1e-6));
    }
  }
}

TEST_CASE("coulomb newton: bounded rows beside contacts keep their law", "[solvers][law]") {
  VectorSource<double> source(54u);
  int saturated = 0;
  for (int sample = 0; sample < 30; ++sample) {
    auto raw = carom::testing::draw_constrained(source, {6, 6, 3, 6}, 3);
    for (auto& contact : raw.contacts.contacts) {
      contact.law.friction = std::min(contact.law.friction, 0.5);
    }
    for (auto& constraint : raw.constraints) {  // three rows, pulled beyond their bounds
      constraint.law.set = carom::free_impulses<double>(3);
      for (int r = 0; r < 3; ++r) {
        constraint.law.set.lower(r) = -0.02 * (r + 1);
        constraint.law.set.upper(r) = 0.03 * (r + 1);
      }
      constraint.law.regularization = carom::RowNumbers<double>::Constant(0.05);
      constraint.first_jacobian = constraint.first_jacobian.topRows(1).replicate(3, 1).eval();
      constraint.first_jacobian.row(1).reverseInPlace();
      constraint.first_jacobian.row(2).array() += 0.5;
      constraint.second = -1;
    }
    const auto problem = build<double>(raw);
    for (const double work : {1e15, 0.0}) {
      SapSolver<double> solver({.law = FrictionLaw::coulomb,
                                .tolerance = 1e-9,
                                .iteration_limit = 2000,
                                .factor_work_limit = work});
      VectorX<double> velocity = problem.free_velocity();
      const auto report = solver.solve(problem, velocity);
      CAPTURE(sample, work, report.residual, report.iterations);
      CHECK(report.converged());
      const VectorX<double> impulse = solver.impulse();
      CHECK(judge(problem, impulse).natural_map_error <= by_solver(1e-7));
      const auto rows = impulse.tail(9);
      saturated += int((rows.array() == 0.03).count() + (rows.array() == -0.02).count());
    }
  }
  CHECK(saturated > 30);
}

TEST_CASE("coulomb newton: islands on threads, and a solver moved, give the same bits",
          "[solvers][law]") {
  VectorSource<double> source(55u);
  auto raw = draw_problem(source, {{6, 6}, 4, 1, 2});
  for (int island = 1; island < 5; ++island) {
    const auto more = draw_problem(source, {{6, 6, 3}, 3 + island, 1, 2});
    const auto first = Eigen::Index(raw.bodies.size());
    raw.bodies.insert(raw.bodies.end(), more.bodies.begin(), more.bodies.end());
    for (auto contact : more.contacts) {
      contact.first += first;
      if (contact.second >= 0) contact.second += first;
      raw.contacts.push_back(contact);
    }
  }
  for (auto& contact : raw.contacts) contact.law.friction = std::min(contact.law.friction, 0.5);
  const auto problem = build<double>(raw);
  SapSolver<double> solver({.law = FrictionLaw::coulomb, .tolerance = 1e-10});
  VectorX<double> velocity = problem.free_velocity(), threaded = velocity, moved = velocity;
  CHECK(solver.solve(problem, velocity).converged());
  CHECK(solver.solve(problem, threaded, carom::testing::ThreadEach{}).converged());
  CHECK(threaded == velocity);
  SapSolver<double> other = std::move(solver);
  CHECK(other.solve(problem, moved).converged());
  CHECK(moved == velocity);
}

TEST_CASE("coulomb newton: the status says what stops it, and the best is kept",
          "[solvers][example]") {
  VectorSource<double> source(53u);
  const auto problem = draw<double>(source, 12);
  VectorX<double> velocity = problem.free_velocity();
  SapSolver<double> none({.law = FrictionLaw::coulomb, .iteration_limit = 0});
  CHECK(none.solve(problem, velocity).status == SolveStatus::iteration_limit);
  SapSolver<double> few({.law = FrictionLaw::coulomb, .tolerance = 1e-12, .iteration_limit = 3});
  const auto limited = few.solve(problem, velocity);
  CHECK(limited.status == SolveStatus::iteration_limit);
  SapSolver<double> impossible({.law = FrictionLaw::coulomb, .tolerance = 1e-30});
  velocity = problem.free_velocity();
  const auto floor = impossible.solve(problem, velocity);
  CHECK(!floor.converged());
  CHECK(floor.residual < rounding(5000, 1.0));
  velocity(0) = std::nan("");
  CHECK(impossible.solve(problem, velocity).status == SolveStatus::not_finite);
}

TEST_CASE("coulomb newton: without a limit it ends by itself below rounding",
          "[solvers][example]") {
  VectorSource<double> source(53u);
  const auto problem = draw<double>(source, 3);
  SapSolver<double> impossible(
      {.law = FrictionLaw::coulomb, .tolerance = 1e-30, .iteration_limit = 1000000});
  VectorX<double> velocity = problem.free_velocity();
  const auto floor = impossible.solve(problem, velocity);
  CHECK(floor.status == SolveStatus::no_progress);
  CHECK(floor.residual < rounding(5000, 1.0));
}

TEST_CASE("coulomb newton: one contact more between the same bodies", "[solvers][law]") {
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (const double work : {1e15, 0.0}) {
      const carom::SapOptions<double> options{
          .law = law, .tolerance = 1e-9, .factor_work_limit = work};
      VectorSource<double> source(56u);
      auto raw = draw_problem(source, {{6, 6}, 2, 1, 2});
      for (auto& contact : raw.contacts) contact.law.friction = 0.3;
      raw.contacts[0].first = 0;
      raw.contacts[0].second = 1;
      raw.contacts[0].first_jacobian = carom::testing::draw_matrix(source, 3, 6);
      raw.contacts[0].second_jacobian = carom::testing::draw_matrix(source, 3, 6);
      SapSolver<double> reused(options);
      for (int k = 0; k < 3; ++k) {
        const auto problem = build<double>(raw);
        SapSolver<double> fresh(options);
        VectorX<double> velocity = problem.free_velocity(), expected = velocity;
        CHECK(reused.solve(problem, velocity).converged());
        CHECK(fresh.solve(problem, expected).converged());
        CHECK((velocity == expected && reused.impulse() == fresh.impulse()));
        auto more = raw.contacts[0];
        more.first_jacobian = carom::testing::draw_matrix(source, 3, 6);
        raw.contacts.push_back(more);
      }
    }
  }
}

}  // namespace coulomb_newton_test
