// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/contact/dual.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/contact_solver_laws.hpp"
#include "support/deadline_laws.hpp"
#include "support/dual_problems.hpp"
#include "support/executors.hpp"
#include "support/friction_files.hpp"
#include "support/impulse_solver_laws.hpp"
#include "support/planted_duals.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "scenes/pile.hpp"

namespace interior_point_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::InteriorPointSolver,
    carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::draw_constrained, carom::testing::draw_problem,
    carom::testing::sweep, carom::testing::VectorSource;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// The report is what can be measured of the answer, and the velocity is that of the impulses.
template <typename Scalar>
void check_answer(const ContactProblem<Scalar>& problem, const InteriorPointSolver<Scalar>& solver,
                  const VectorX<Scalar>& velocity, const carom::SolveReport<Scalar>& report) {
  using carom::testing::rounding;
  carom::DelassusForm<Scalar> form;
  carom::DelassusProblem<Scalar> dual;
  form.write(problem, dual);
  const VectorX<Scalar> impulse = solver.impulse();
  REQUIRE(impulse.size() == problem.impulse_count());
  const auto certificate = certify(dual, impulse, solver.options().law);
  const Scalar judged = judge_answer(problem, solver.options().law, velocity, impulse).residual;
  CAPTURE(to_string(report.status), report.iterations, report.residual, judged);
  // What is far from an answer may have impulses whose rounding moves the bodies. Elsewhere both
  // residuals have the rounding of the impulses, which may be large and cancel.
  const bool far = judged > Scalar(0.1);
  CHECK(std::abs(report.residual - judged) <=
        (far ? carom::testing::by_conditioning(Scalar(0.2)) * judged
             : Scalar(rounding(1000, 1 + judged + impulse.norm()))));
  CHECK(report.residual_target == solver.options().tolerance);
  CHECK((!report.converged() || report.residual <= report.residual_target));
  CHECK(certificate.cone_violation <= rounding(100, Scalar(1) + impulse.norm()));
  VectorX<Scalar> expected;
  write_velocity(problem, impulse, expected);
  // Pairs have velocities of their own, nearer to the answer than what impulses that cancel give.
  CHECK((velocity - expected).norm() <=
        rounding(1000, expected.norm() + velocity.norm() + impulse.norm()));
}

}  // namespace

TEST_CASE("interior_point: obeys the laws of every solver of bodies", "[solvers][law]") {
  carom::testing::check_contact_laws([](FrictionLaw law, double tolerance, int limit) {
    return InteriorPointSolver<double>(
        {.law = law, .tolerance = tolerance, .iteration_limit = limit});
  });
}

TEMPLATE_TEST_CASE("interior_point: random bodies, rigid or not, by either law", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  VectorSource<double> source(61u);
  for (int round = 0; round < 10; ++round) {
    auto problem = carom::testing::draw_bodies<Scalar>(source, 1 + round / 2);
    for (const bool rigid : {false, true}) {
      if (rigid) problem.make_rigid();
      for (const FrictionLaw law : laws) {
        const Scalar tolerance = single ? Scalar(1e-4) : Scalar(1e-11);
        InteriorPointSolver<Scalar> solver({.law = law, .tolerance = tolerance});
        VectorX<Scalar> velocity;
        const auto report = solver.solve(problem, velocity);
        CAPTURE(round, to_string(law), rigid);
        CHECK(report.converged());
        check_answer(problem, solver, velocity, report);
        const VectorX<Scalar> impulse = solver.impulse();
        const auto again = solver.solve_from(problem, impulse, velocity);
        CHECK(again.iterations == 0);
        CHECK(solver.impulse() == impulse);
      }
    }
  }
}

TEST_CASE("interior_point: on bodies as in impulses", "[solvers][oracle]") {
  VectorSource<double> source(62u);
  for (int round = 0; round < 4; ++round) {
    const auto problem = carom::testing::draw_bodies<double>(source, 3);  // compliant: one answer
    for (const FrictionLaw law : laws) {
      InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-12});
      VectorX<double> velocity;
      REQUIRE(solver.solve(problem, velocity).converged());
      carom::DelassusForm<double> form;
      carom::DelassusProblem<double> dual;
      form.write(problem, dual);
      VectorX<double> impulse = VectorX<double>::Zero(problem.impulse_count());
      REQUIRE(solver.solve(dual, impulse).converged());
      CHECK((impulse - solver.impulse()).norm() <= by_solver(1e-8) * (1 + impulse.norm()));
    }
  }
}

TEST_CASE("interior_point: the compliant convex problem is SapSolver's own", "[solvers][oracle]") {
  VectorSource<double> source(63u);
  for (int round = 0; round < 6; ++round) {
    const auto problem = round < 3 ? build(draw_problem(source, {{6, 6, 3}, 6, 1, 1}))
                                   : build(draw_constrained(source, {6, 3, 6}, 4));
    InteriorPointSolver<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-12});
    VectorX<double> velocity, other = problem.free_velocity();
    const auto report = solver.solve(problem, velocity);
    CAPTURE(round, report.residual, report.iterations);
    CHECK(report.converged());
    carom::SapSolver<double> sap({.tolerance = 1e-13});
    REQUIRE(sap.solve(problem, other).residual < by_solver(1e-9));
    CHECK((velocity - other).norm() <= by_solver(1e-7) * (1 + other.norm()));
  }
}

TEST_CASE("interior_point: constraints of every shape beside rigid contacts", "[solvers][law]") {
  VectorSource<double> source(64u);
  int converged = 0;
  for (int round = 0; round < 8; ++round) {
    auto problem = build(draw_constrained(source, {6, 3, 6}, 4));
    problem.make_rigid();
    for (const FrictionLaw law : laws) {
      InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-9});
      VectorX<double> velocity;
      const auto report = solver.solve(problem, velocity);
      CAPTURE(round, to_string(law));
      check_answer(problem, solver, velocity, report);
      converged += report.converged();
    }
  }
  CHECK(converged >= 12);  // the law's path may fold
}

TEST_CASE("interior_point: an executor changes no bit", "[solvers][law]") {
  VectorSource<double> source(65u);
  ContactProblem<double> problem(0.01);
  for (int i = 0; i < 7; ++i) {  // islands of one block each
    const double mass = 0.5 + source.unit();
    const Eigen::Vector3d free(source.unit(), source.unit(), -0.1);
    const auto body = problem.add_body(mass * Eigen::Matrix3d::Identity(), free);
    problem.add_contact(body, Eigen::Matrix3d::Identity(),
                        carom::RigidContact<double>{.gap = 0, .friction = 0.1 * i});
  }
  InteriorPointSolver<double> one({.tolerance = 1e-12}), other({.tolerance = 1e-12});
  VectorX<double> velocity, backwards;
  CHECK(one.solve(problem, velocity).converged());
  CHECK(other.solve(problem, backwards, carom::testing::Backwards{}).converged());
  CHECK(velocity == backwards);
  CHECK(one.impulse() == other.impulse());
}

TEST_CASE("interior_point: a large island has the same bits whoever shares it",
          "[.][slow][solvers][law]") {
  carom::examples::Pile pile = carom::examples::make_pile({.body_count = 120});
  pile.problem.make_rigid();
  for (const FrictionLaw law : laws) {
    const carom::InteriorPointOptions<double> options{.law = law, .iteration_limit = 4};
    InteriorPointSolver<double> one(options);
    VectorX<double> velocity;
    const auto alone = one.solve(pile.problem, velocity);
    carom::testing::for_each_executor([&](const auto& executor) {
      InteriorPointSolver<double> other(options);
      VectorX<double> shared;
      const auto report = other.solve(pile.problem, shared, executor);
      CAPTURE(to_string(law));
      CHECK(report.iterations == alone.iterations);
      CHECK(report.residual == alone.residual);
      CHECK(shared == velocity);
      CHECK(other.impulse() == one.impulse());
    });
  }
}

TEST_CASE("interior_point: a large island beside a small one has the same bits whoever shares them",
          "[solvers][law]") {
  carom::examples::Pile pile = carom::examples::make_pile({.body_count = 120});
  ContactProblem<double>& problem = pile.problem;
  problem.add_contact(problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1)),
                      Eigen::Matrix3d::Identity(), carom::RigidContact<double>{.friction = 0.5});
  problem.make_rigid();
  carom::detail::BodySystem<double> system;
  system.take(problem, true);
  Index large = 0;
  for (Index i = 0; i < system.islands().size(); ++i) large += system.is_large(i) ? 1 : 0;
  REQUIRE((large > 0 && large < system.islands().size()));
  for (const FrictionLaw law : laws) {
    CAPTURE(to_string(law));
    const carom::InteriorPointOptions<double> options{.law = law, .iteration_limit = 1};
    InteriorPointSolver<double> one(options), other(options);
    VectorX<double> velocity, shared;
    const auto alone = one.solve(problem, velocity);
    const auto report = other.solve(problem, shared, carom::testing::ThreadEach{});
    CHECK((report.iterations == alone.iterations && report.residual == alone.residual));
    CHECK((shared == velocity && other.impulse() == one.impulse()));
  }
}

TEST_CASE("interior_point: in time a step takes few systems, one that is solved takes none",
          "[solvers][scene]") {
  const double dt = 0.005, gravity = 9.81, friction = 0.5;
  ContactProblem<double> problem(dt);
  InteriorPointSolver<double> solver({.tolerance = 1e-12});
  VectorX<double> velocity = Eigen::Vector3d(6, 0, 0), impulse;
  int most = 0;
  for (int i = 0; i < 100; ++i) {
    problem.reset(dt);
    const Eigen::Vector3d free_velocity = velocity - Eigen::Vector3d(0, 0, gravity * dt);
    const auto block = problem.add_body(2 * Eigen::Matrix3d::Identity(), free_velocity);
    problem.add_contact(block, Eigen::Matrix3d::Identity(),
                        carom::RigidContact<double>{.gap = 0, .friction = friction});
    const auto report =
        i == 0 ? solver.solve(problem, velocity) : solver.solve_from(problem, impulse, velocity);
    REQUIRE(report.converged());
    impulse = solver.impulse();
    if (i > 0) most = std::max(most, report.iterations);
  }
  CHECK(most <= 4);
  CHECK(std::abs(velocity(0) - (6 - friction * gravity * dt * 100)) < by_solver(1e-9));
  CHECK(std::abs(velocity(2)) < rounding(5000, 1.0));
}

TEST_CASE("interior_point: at a deadline it returns the best so far, in its cones",
          "[solvers][real_time]") {
  VectorSource<double> source(66u);
  auto problem = carom::testing::draw_bodies<double>(source, 4);
  problem.make_rigid();
  for (const FrictionLaw law : laws) {
    InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-10});
    VectorX<double> velocity;
    carom::DelassusForm<double> form;
    carom::DelassusProblem<double> dual;
    form.write(problem, dual);
    carom::testing::check_deadlines(
        [&](const carom::SolveLimits& limits) {
          solver.set_limits(limits);
          return solver.solve(problem, velocity);
        },
        [&] {
          const auto certificate = certify(dual, solver.impulse(), law);
          const VectorX<double> impulse = solver.impulse();
          const double error = judge_answer(problem, law, velocity, impulse).residual;
          // Errors that sweeps end at go up and down.
          return carom::testing::Judged{
              error, certificate.cone_violation / (1 + solver.impulse().norm()), 0};
        });
  }
}

TEST_CASE("interior_point: an answer that comes early gives no energy", "[solvers][law]") {
  VectorSource<double> source(67u);
  carom::testing::WorstCase cost("dual cost"), inside("outside of the cones");
  for (const double push : {0., 0.5}) {
    for (const bool rigid : {true, false}) {
      const auto raw = carom::testing::make_stack({.count = 4, .copies = 1, .push = push});
      const auto problem = carom::testing::build(rigid ? carom::testing::make_rigid(raw) : raw);
      carom::DelassusForm<double> form;
      carom::DelassusProblem<double> dual;
      form.write(problem, dual);
      for (const FrictionLaw law : laws) {
        InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-10});
        VectorX<double> velocity;
        REQUIRE(solver.solve(problem, velocity).converged());
        const VectorX<double> answer = solver.impulse();
        for (const double size : {0.1, 1., 1e3, 1e9}) {
          const VectorX<double> guess =
              answer + size * answer.norm() * carom::testing::draw_matrix(source, answer.size(), 1);
          for (int deadline = 0; deadline < 12; ++deadline) {
            carom::testing::FakeClock clock;
            solver.set_limits(clock.until(deadline));
            const auto report = solver.solve_from(problem, guess, velocity);
            const auto certificate = certify(dual, solver.impulse(), law);
            inside.see(certificate.cone_violation / (1e-9 + solver.impulse().norm()),
                       rounding(50, 1.0));
            if (!(report.residual > 1e-3)) continue;
            VectorX<double> own = velocity;
            const double spent = dual_cost(problem, VectorX<double>(solver.impulse()), own);
            cost.see(spent, carom::testing::rounding(1000, 1.0) * answer.norm(), push, rigid, size,
                     deadline);
          }
          solver.set_limits({});
        }
      }
    }
  }
  cost.check(100);
  inside.check(300);
}

TEST_CASE("interior_point: nothing to do", "[solvers][law]") {
  ContactProblem<double> problem(0.01);
  InteriorPointSolver<double> solver;
  VectorX<double> velocity;
  CHECK(solver.solve(problem, velocity).converged());
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3));
  CHECK(solver.solve(problem, velocity).converged());
  CHECK(velocity == Eigen::Vector3d(1, 2, 3));
  const InteriorPointSolver<double> kept(
      {.law = FrictionLaw::convex, .tolerance = 1e-5, .iteration_limit = 7});
  CHECK(kept.options().tolerance == 1e-5);
  CHECK(kept.options().iteration_limit == 7);
  CHECK(kept.options().law == FrictionLaw::convex);
}

TEST_CASE("interior_point: entries of a guess that are not finite count as zero",
          "[solvers][input]") {
  const auto problem = build(make_rigid(carom::testing::make_stack({.count = 2})));
  for (const FrictionLaw law : laws) {
    InteriorPointSolver<double> solver({.law = law}), clean({.law = law});
    VectorX<double> guess = VectorX<double>::Constant(problem.impulse_count(), 0.01);
    guess(2) = guess(7) = 0;
    VectorX<double> velocity, expected;
    CHECK(clean.solve_from(problem, guess, expected).converged());
    guess(2) = std::numeric_limits<double>::quiet_NaN();
    guess(7) = -std::numeric_limits<double>::infinity();
    CHECK(solver.solve_from(problem, guess, velocity).converged());
    CHECK(velocity == expected);
    CHECK(solver.impulse() == clean.impulse());
  }
}

TEST_CASE("interior_point: a wrong guess of many blocks costs sweeps, not the answer",
          "[solvers][law]") {
  const auto raw = carom::testing::make_stack({.count = 11, .push = 0.1});  // 44 blocks
  for (const bool rigid : {true, false}) {
    const auto problem = build(rigid ? make_rigid(raw) : raw);
    REQUIRE(problem.block_count() > carom::detail::IslandLawTuning::few_blocks);
    for (const FrictionLaw law : laws) {
      CAPTURE(rigid, to_string(law));
      InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-10});
      VectorX<double> velocity, expected;
      REQUIRE(solver.solve(problem, expected).converged());
      const VectorX<double> guess = 0.2 * solver.impulse();
      const auto report = solver.solve_from(problem, guess, velocity);
      CHECK(report.converged());
      check_answer(problem, solver, velocity, report);
      CHECK((velocity - expected).norm() <= by_solver(1e-6) * (1 + expected.norm()));
    }
  }
}

TEST_CASE("interior_point: within a deadline and no system it sweeps", "[solvers][law]") {
  const auto problem = build(make_rigid(carom::testing::make_stack({.count = 3, .push = 0.1})));
  for (const FrictionLaw law : laws) {
    InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-14});
    const VectorX<double> guess = VectorX<double>::Constant(problem.impulse_count(), 0.01);
    VectorX<double> velocity;
    solver.set_limits({.iteration_limit = 0});
    const double idle = solver.solve_from(problem, guess, velocity).residual;
    carom::testing::FakeClock clock;
    solver.set_limits(clock.until(1e9).with_iterations(0));
    const auto report = solver.solve_from(problem, guess, velocity);
    CHECK(report.status == SolveStatus::iteration_limit);
    CHECK(report.iterations == 0);
    CHECK(report.residual < idle);
    check_answer(problem, solver, velocity, report);
  }
}

TEST_CASE("interior_point: a contact that nothing moves leaves the answer of all others",
          "[solvers][input]") {
  const auto plain = build(make_rigid(carom::testing::make_stack({.count = 1, .push = 0.2})));
  auto problem = plain;
  problem.add_contact(
      0, carom::MatrixX<double>(carom::MatrixX<double>::Zero(3, 6)),
      carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, Eigen::Vector3d::Zero(), true});
  for (const FrictionLaw law : laws) {
    CAPTURE(to_string(law));
    InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-10});
    VectorX<double> velocity, expected;
    REQUIRE(solver.solve(plain, expected).converged());
    CHECK(solver.solve(problem, velocity).converged());
    CHECK((velocity - expected).norm() <= by_solver(1e-7));
    const VectorX<double> guess = VectorX<double>::Constant(problem.impulse_count(), 0.3);
    const auto report = solver.solve_from(problem, guess, velocity);
    CHECK(report.converged());
    CHECK((velocity - expected).norm() <= by_solver(1e-7));
    check_answer(problem, solver, velocity, report);
  }
}

TEST_CASE("interior_point: joints alone, without cones and bounds, are a linear system",
          "[solvers][oracle]") {
  VectorSource<double> source(91u);
  for (int sample = 0; sample < 10; ++sample) {
    const Eigen::MatrixXd jacobian = carom::testing::draw_matrix(source, 3, 6);
    const Eigen::VectorXd free = carom::testing::draw_matrix(source, 6, 1);
    const double mass = source.positive(4);
    ContactProblem<double> problem(0.01);
    problem.add_body(mass * Eigen::MatrixXd::Identity(6, 6), free);
    carom::WeightedBlock<double> joint;
    joint.set = carom::free_impulses<double>(3);
    joint.rigid = true;
    for (int r = 0; r < 3; ++r) joint.bias_velocity(r) = source.unit();
    problem.add_constraint(0, jacobian, joint);
    const Eigen::VectorXd lacks = joint.bias_velocity.head<3>() - jacobian * free;
    const Eigen::VectorXd pushed = (jacobian * jacobian.transpose()).ldlt().solve(lacks);
    const Eigen::VectorXd expected = free + jacobian.transpose() * pushed;
    for (const FrictionLaw law : laws) {
      InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-11});
      VectorX<double> velocity;
      CHECK(solver.solve(problem, velocity).converged());
      CHECK((velocity - expected).norm() <= by_solver(1e-8) * (1 + expected.norm()));
      CHECK((solver.impulse() - mass * pushed).norm() <= by_solver(1e-8) * mass * pushed.norm());
    }
  }
}

TEST_CASE("interior_point: with overlaps too it stops at its limit, and says so",
          "[solvers][law]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0.3, 0, -1));
  for (int k = 0; k < 2; ++k) {
    problem.add_contact(0, Eigen::Matrix3d::Identity(),
                        carom::RigidContact<double>{.gap = -0.01 * k, .friction = 0.5});
  }
  for (const FrictionLaw law : laws) {
    InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-10});
    VectorX<double> velocity;
    solver.set_limits({.iteration_limit = 0});
    const auto report = solver.solve(problem, velocity);
    CHECK(report.status == SolveStatus::iteration_limit);
    CHECK(report.iterations == 0);
    solver.set_limits({});
    CHECK(solver.solve(problem, velocity).converged());
  }
}

TEST_CASE("interior_point: a body whose walls overlap it from two sides is solved without overlaps",
          "[solvers][law]") {
  ContactProblem<double> problem(0.01);
  const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();
  const carom::RigidContact<double> wall{.gap = -0.01, .friction = 0.5};
  constexpr Index stuck = 1;
  for (Index body = 0; body < 3; ++body) {
    problem.add_body(unit, Eigen::Vector3d(0.1, 0, -0.1));
    problem.add_contact(body, unit, wall);
    if (body == stuck) problem.add_contact(body, Eigen::Matrix3d(-unit), wall);
  }
  const double out = problem.overlap_velocity(0);
  REQUIRE(out > 0);
  for (const FrictionLaw law : laws) {
    InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-10});
    VectorX<double> velocity;
    const auto report = solver.solve(problem, velocity);
    CAPTURE(to_string(law), to_string(report.status));
    CHECK(report.converged());
    for (Index body = 0; body < 3; ++body) {
      CAPTURE(body);
      const double expected = body == stuck ? 0 : out;
      // Under the convex law a sliding contact opens by μ times its speed, at most 0.1.
      const double open = law == FrictionLaw::convex ? wall.friction * 0.1 : 0;
      CHECK(velocity(3 * body + 2) >= expected - by_solver(1e-8));
      CHECK(velocity(3 * body + 2) <= expected + (body == stuck ? 0 : open) + by_solver(1e-8));
    }
  }
}

}  // namespace interior_point_test

// In impulses, without bodies.
namespace interior_point_impulses_test {

using carom::testing::by_solver;

using carom::Index, carom::SolveStatus, carom::VectorX;
using carom::InteriorPointSolver, carom::DelassusProblem, carom::FrictionLaw;
using carom::testing::assemble_dual, carom::testing::draw_dual, carom::testing::DualData;
using carom::testing::DualShape, carom::testing::sweep, carom::testing::VectorSource,
    carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// Without iterations there are no sweeps either.
const auto make = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return InteriorPointSolver<Scalar>(
      {.law = law, .tolerance = tolerance, .iteration_limit = limit, .sweeps = limit > 0 ? 30 : 0});
};

/// Newton's method alone, without sweeps.
const auto make_bare = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return InteriorPointSolver<Scalar>(
      {.law = law, .tolerance = tolerance, .iteration_limit = limit, .sweeps = 0});
};

/// Problems side by side that do not touch, contacts of one after those of the other.
[[nodiscard]] DualData put_together(const std::vector<DualData>& parts) {
  DualData whole;
  Index rows = 0;
  for (const DualData& part : parts) rows += part.q.size();
  whole.w.setZero(rows, rows);
  whole.q.resize(rows);
  whole.r.resize(rows);
  Index at = 0;
  for (const DualData& part : parts) {
    const Index size = part.q.size();
    whole.sets.insert(whole.sets.end(), part.sets.begin(), part.sets.end());
    whole.w.block(at, at, size, size) = part.w;
    whole.q.segment(at, size) = part.q;
    whole.r.segment(at, size) = part.r;
    at += size;
  }
  return whole;
}

/// Impulses of contacts added in an order, back in the order of the data.
[[nodiscard]] VectorX<double> in_data_order(const DelassusProblem<double>& problem,
                                            const std::vector<Index>& order,
                                            const VectorX<double>& impulse, const DualData& data) {
  std::vector<Index> first(data.sets.size() + 1, 0);
  for (std::size_t i = 0; i < data.sets.size(); ++i) first[i + 1] = first[i] + data.sets[i].rows;
  VectorX<double> result(impulse.size());
  for (Index i = 0; i < problem.count(); ++i) {
    const auto own = std::size_t(order[std::size_t(i)]);
    result.segment(first[own], data.sets[own].rows) =
        impulse.segment(problem.first_row(i), data.sets[own].rows);
  }
  return result;
}

}  // namespace

TEST_CASE("interior_point_impulses: solves problems of all shapes", "[solvers][law]") {
  for (const double regularization : {0.1, 0.01, 0.0}) {
    carom::testing::check_random_problems<double>(
        make, sweep(5, 20), DualShape{8, 3, 0.5, true, regularization}, 1e-10, 8000);
  }
  carom::testing::check_random_problems<float>(make, sweep(5, 20), DualShape{8, 3, 0.3, true, 0.1},
                                               1e-4f, 8000);
}

TEST_CASE("interior_point_impulses: obeys the laws of every solver in impulses", "[solvers][law]") {
  carom::testing::check_impulse_laws(make, {.singular_tolerance = 1e-10, .singular_limit = 8000});
}

TEST_CASE("interior_point_impulses: the same from systems alone, without sweeps",
          "[solvers][law]") {
  carom::testing::check_random_problems<double>(make_bare, sweep(8, 30),
                                                DualShape{6, 3, 0.5, true, 0.1}, 1e-10, 8000);
  carom::testing::check_random_problems<double>(make_bare, sweep(6, 20),
                                                DualShape{6, 3, 0.5, false, 0.0}, 1e-10, 8000);
  carom::testing::check_boundaries(make_bare);
  carom::testing::check_scales(make_bare);
  carom::testing::check_closed_forms(make_bare);
  carom::testing::check_against_sap(make_bare);
  carom::testing::check_agreement(make_bare);
}

TEMPLATE_TEST_CASE("interior_point_impulses: rigid and hyperstatic, to every tolerance",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(41u);
  const bool fine = std::is_same_v<Scalar, double>;
  for (int round = 0; round < sweep(4, 8); ++round) {
    const DualShape shape{sweep(8, 12) + round, 2, round % 2 == 0 ? 0.3 : 1.0, round % 4 < 2, 0.0};
    const auto problem = assemble_dual<Scalar>(draw_dual(source, shape));
    for (const FrictionLaw law : laws) {
      for (const double tolerance : {1e-4, 1e-8, 1e-12}) {
        if (!fine && tolerance < 1e-6) continue;
        VectorX<Scalar> impulse = VectorX<Scalar>::Zero(problem.row_count());
        const auto report = make(law, Scalar(tolerance), 8000).solve(problem, impulse);
        CAPTURE(round, tolerance, report.iterations);
        CHECK(report.converged());
        CHECK(report.residual_target == Scalar(tolerance));
        carom::testing::check_answer(problem, impulse, report, law);
        CHECK(certify(problem, impulse, law).natural_map_error <=
              Scalar(tolerance) + carom::testing::rounding(4, Scalar(1)));
      }
    }
  }
}

TEST_CASE("interior_point_impulses: no friction, and friction that always holds",
          "[solvers][law]") {
  VectorSource<double> source(42u);
  // The natural map of no impulse at all is about 1/μ: far larger coefficients make zero pass.
  for (const double mu : {0.0, 10.0, 1e4}) {
    for (int round = 0; round < 5; ++round) {
      DualData data = draw_dual(source, {6, 3, 1.0, false, round % 2 == 0 ? 0.0 : 0.05});
      for (auto& set : data.sets) set.friction(0) = mu;
      const auto problem = assemble_dual(data);
      for (const FrictionLaw law : laws) {
        for (const int sweeps : {0, 30}) {
          VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
          InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-9, .sweeps = sweeps});
          const auto report = solver.solve(problem, impulse);
          CAPTURE(mu, round, sweeps, to_string(law), report.residual);
          CHECK(report.converged());
          carom::testing::check_answer(problem, impulse, report, law);
          for (Index i = 0; mu == 0 && i < problem.count(); ++i) {
            CHECK(impulse.segment<2>(3 * i).norm() == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("interior_point_impulses: contacts that nothing moves change nothing for the others",
          "[solvers][law]") {
  VectorSource<double> source(43u);
  for (int round = 0; round < 6; ++round) {
    const DualData data = draw_dual(source, {6, 2, 0.4, true, 0.1});
    // W = 0, R = 0: no impulse moves this contact, which opens or rests.
    DualData idle = carom::testing::make_block(1, 0.5, {0, 0, round % 2 == 0 ? 0.0 : 0.2});
    idle.w.setZero();
    const DualData both = put_together({idle, data, idle});
    const auto problem = assemble_dual(data), extended = assemble_dual(both);
    for (const FrictionLaw law : laws) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
      VectorX<double> longer = VectorX<double>::Zero(extended.row_count());
      CHECK(make(law, 1e-12, 8000).solve(problem, impulse).converged());
      const auto report = make(law, 1e-12, 8000).solve(extended, longer);
      CAPTURE(round, report.residual, carom::to_string(report.status));
      CHECK(report.converged());
      carom::testing::check_answer(extended, longer, report, law);
      CHECK((longer.segment(3, impulse.size()) - impulse).norm() <=
            by_solver(1e-9) * (1 + impulse.norm()));
    }
  }
}

TEST_CASE("interior_point_impulses: islands come in any order, and mixed", "[solvers][law]") {
  VectorSource<double> source(44u);
  std::mt19937 engine(7);
  for (int round = 0; round < 4; ++round) {
    std::vector<DualData> parts;
    for (int k = 0; k < 4; ++k) parts.push_back(draw_dual(source, {2 + k, 2, 0.4, true, 0.2}));
    const DualData data = put_together(parts);
    std::vector<Index> order(data.sets.size());
    std::iota(order.begin(), order.end(), Index(0));
    for (const FrictionLaw law : laws) {
      const auto problem = assemble_dual(data);
      VectorX<double> expected = VectorX<double>::Zero(problem.row_count());
      CHECK(make(law, 1e-13, 8000).solve(problem, expected).converged());
      Index at = 0;
      for (const DualData& part : parts) {  // each alone
        VectorX<double> own = VectorX<double>::Zero(part.q.size());
        CHECK(make(law, 1e-13, 8000).solve(assemble_dual(part), own).converged());
        CHECK((own - expected.segment(at, own.size())).norm() <=
              by_solver(1e-9) * (1 + own.norm()));
        at += own.size();
      }
      for (int k = 0; k < 4; ++k) {
        std::shuffle(order.begin(), order.end(), engine);
        const auto mixed = assemble_dual(data, order);
        VectorX<double> impulse = VectorX<double>::Zero(mixed.row_count());
        const auto report = make(law, 1e-13, 8000).solve(mixed, impulse);
        CHECK(report.converged());
        carom::testing::check_answer(mixed, impulse, report, law);
        CHECK((in_data_order(mixed, order, impulse, data) - expected).norm() <=
              by_solver(1e-9) * (1 + expected.norm()));
      }
    }
  }
}

TEST_CASE("interior_point_impulses: islands of one size that are coupled in other ways",
          "[solvers][law]") {
  // Four contacts: a chain, a ring with both diagonals, a star.
  const auto couple = [](VectorSource<double>& source, const auto& are_coupled) {
    DualData data = draw_dual(source, {4, 2, 1.0, false, 0.1});
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 4; ++j) {
        if (i != j && !are_coupled(i, j)) data.w.block<3, 3>(3 * i, 3 * j).setZero();
      }
      data.w.block<3, 3>(3 * i, 3 * i) *= 4;  // stays positive definite
    }
    return data;
  };
  const auto chain = [](Index i, Index j) { return i - j == 1 || j - i == 1; };
  const auto all = [](Index, Index) { return true; };
  const auto star = [](Index i, Index j) { return i == 0 || j == 0; };
  VectorSource<double> source(49u);
  for (int round = 0; round < 3; ++round) {
    const DualData parts[] = {couple(source, chain), couple(source, all), couple(source, star)};
    for (const auto& order : {std::vector<int>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
      std::vector<DualData> chosen;
      for (const int k : order) chosen.push_back(parts[k]);
      const auto problem = assemble_dual(put_together(chosen));
      for (const FrictionLaw law : laws) {
        for (const int sweeps : {0, 30}) {
          InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-12, .sweeps = sweeps});
          VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
          const auto report = solver.solve(problem, impulse);
          CAPTURE(round, to_string(law), sweeps, report.residual);
          CHECK(report.converged());
          carom::testing::check_answer(problem, impulse, report, law);
          for (std::size_t k = 0; k < 3; ++k) {
            VectorX<double> own = VectorX<double>::Zero(12);
            CHECK(solver.solve(assemble_dual(chosen[k]), own).converged());
            CHECK((own - impulse.segment<12>(12 * Index(k))).norm() <=
                  by_solver(1e-9) * (1 + own.norm()));
          }
        }
      }
    }
  }
}

TEST_CASE("interior_point_impulses: islands together keep the limit and the tolerance",
          "[solvers][law]") {
  VectorSource<double> source(45u);
  std::vector<DualData> parts;
  for (int k = 0; k < 9; ++k) parts.push_back(draw_dual(source, {5, 1, 0.8, false, 0.0}));
  const auto problem = assemble_dual(put_together(parts));
  for (const FrictionLaw law : laws) {
    for (const int limit : {0, 1, 7, 8000}) {
      for (const double tolerance : {1e-3, 1e-6, 1e-11}) {
        VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
        const auto report = make_bare(law, tolerance, limit).solve(problem, impulse);
        CAPTURE(limit, tolerance, report.iterations);
        CHECK(report.iterations <= limit);
        carom::testing::check_answer(problem, impulse, report, law);
        if (limit == 8000) CHECK(report.converged());
        if (!report.converged()) CHECK(report.status == SolveStatus::iteration_limit);
        if (limit == 0) CHECK(impulse.isZero(0));
      }
    }
  }
}

TEST_CASE("interior_point_impulses: problems solved before do not matter", "[solvers][law]") {
  VectorSource<double> source(46u);
  std::vector<DelassusProblem<double>> problems;
  for (int k = 0; k < 6; ++k) {
    problems.push_back(assemble_dual(draw_dual(source, {3 + 5 * (k % 3), 3, 0.5, true, 0.01})));
  }
  for (const FrictionLaw law : laws) {
    InteriorPointSolver<double> kept({.law = law, .tolerance = 1e-11, .sweeps = 10});
    for (const auto& problem : problems) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count()), fresh = impulse;
      InteriorPointSolver<double> made({.law = law, .tolerance = 1e-11, .sweeps = 10});
      const auto report = kept.solve(problem, impulse), expected = made.solve(problem, fresh);
      CHECK(impulse == fresh);
      CHECK(report.iterations == expected.iterations);
      CHECK(report.residual == expected.residual);
    }
  }
}

TEST_CASE("interior_point_impulses: guesses that are not finite", "[solvers][law]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity}) {
    DelassusProblem<double> refusing;
    CHECK_THROWS_AS(refusing.add_contact(carom::friction_impulses(0.5), Eigen::Vector3d(0, bad, 0)),
                    std::invalid_argument);
    const auto problem = assemble_dual(carom::testing::make_block(2, 0.3, {1, 0, -1}));
    for (int row = 0; row < 3; ++row) {
      VectorX<double> impulse = VectorX<double>::Zero(3);
      impulse(row) = bad;
      InteriorPointSolver<double> solver;
      const auto report = solver.solve(problem, impulse);
      CHECK(report.status == SolveStatus::not_finite);
      CHECK_FALSE(report.converged());
      CHECK(report.residual == infinity);
      impulse.setZero();  // the solver still works
      CHECK(solver.solve(problem, impulse).converged());
    }
  }
}

TEST_CASE("interior_point_impulses: islands with planted solutions", "[solvers][oracle]") {
  VectorSource<double> source(48u);
  for (int round = 0; round < sweep(2, 5); ++round) {
    for (const FrictionLaw law : laws) {
      std::vector<DualData> parts;
      VectorX<double> planted;
      for (int k = 0; k < sweep(3, 5); ++k) {
        const auto part = carom::testing::plant_dual(source, {1 + 3 * k, 2, 0.3, true, 0.3}, law);
        parts.push_back(part.data);
        planted.conservativeResize(planted.size() + part.impulse.size());
        planted.tail(part.impulse.size()) = part.impulse;
      }
      const auto problem = assemble_dual(put_together(parts));
      for (const int sweeps : {0, 30}) {
        InteriorPointSolver<double> solver({.law = law, .tolerance = 1e-12, .sweeps = sweeps});
        VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
        CHECK(solver.solve(problem, impulse).converged());
        CHECK((impulse - planted).norm() <= by_solver(1e-9) * (1 + planted.norm()));
        impulse = planted;
        CHECK(solver.solve(problem, impulse).iterations == 0);
        CHECK(impulse == planted);
        // From near it, a system or two per island.
        for (Index k = 0; k < impulse.size(); ++k) impulse(k) += 1e-7 * (source.unit() - 0.5);
        const auto warm = solver.solve(problem, impulse);
        CHECK(warm.converged());
        CHECK(warm.iterations <= 10);
      }
    }
  }
}

TEST_CASE("interior_point_impulses: bundled problems to twelve digits", "[solvers][golden]") {
  for (const auto& file : carom::testing::friction_files()) {
    const auto problem = carom::testing::read_friction_dual(file);
    CHECK(problem.check() == "");
    if (problem.count() > sweep(30, 1000)) continue;
    for (const double tolerance : {1e-8, 1e-12}) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
      const auto report = make(FrictionLaw::coulomb, tolerance, 8000).solve(problem, impulse);
      CAPTURE(file, tolerance, report.iterations, problem.count());
      CHECK(report.converged());
      carom::testing::check_answer(problem, impulse, report, FrictionLaw::coulomb);
    }
  }
}

TEST_CASE("interior_point_impulses: at a deadline it returns the best so far, in its cones",
          "[solvers][law]") {
  VectorSource<double> source(29u);
  for (int round = 0; round < 3; ++round) {
    const auto problem = assemble_dual(draw_dual(source, {6 + 3 * round, 3, 0.3, false, 0.1}));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      CAPTURE(round, to_string(law));
      carom::testing::check_dual_deadlines(
          InteriorPointSolver<double>({.law = law, .tolerance = 1e-11}), problem);
    }
  }
}

}  // namespace interior_point_impulses_test
