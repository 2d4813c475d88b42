// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/contact_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/contact/wrench_contact.hpp"
#include "carom/solvers/answer_error.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/contact_solver_laws.hpp"
#include "support/deadline_laws.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

#include "scenes/pile.hpp"

namespace contact_solver_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::ContactProblem, carom::ContactSolver, carom::FrictionLaw, carom::Index,
    carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::draw_constrained, carom::testing::draw_problem,
    carom::testing::VectorSource;

namespace {

/// What holds of every answer: it is finite, its report is what can be measured of it, and the
/// velocity is that of the impulses: A (v − v*) = Σ Jᵀ γ.
template <typename Scalar>
void check_answer(const ContactProblem<Scalar>& problem, const ContactSolver<Scalar>& solver,
                  const VectorX<Scalar>& velocity, const carom::SolveReport<Scalar>& report) {
  using carom::testing::rounding;
  const VectorX<Scalar> impulse = solver.impulse();
  REQUIRE(impulse.size() == problem.impulse_count());
  REQUIRE(velocity.size() == problem.velocity_count());
  CHECK((impulse.allFinite() && velocity.allFinite()));
  const Scalar judged = judge_answer(problem, solver.options().law, velocity, impulse).residual;
  CHECK(report.measure == carom::ResidualMeasure::block_error);
  // What is far from an answer may have impulses whose rounding moves the bodies.
  const bool far = judged > Scalar(0.1);
  CHECK(std::abs(report.residual - judged) <=
        (far ? carom::testing::by_conditioning(Scalar(0.2)) * judged
             : Scalar(rounding(1000, 1 + judged))));
  CHECK(report.residual_target == solver.options().tolerance);
  CHECK((!report.converged() || report.residual <= report.residual_target));
  VectorX<Scalar> momentum = VectorX<Scalar>::Zero(velocity.size());
  problem.for_each_block(
      [&](const auto& block) { block.add_momentum(block.read(impulse), momentum); });
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const carom::MatrixX<Scalar> mass = problem.momentum_matrix(b);
    const VectorX<Scalar> change =
        velocity.segment(start, size) - problem.free_velocity().segment(start, size);
    const Scalar scale = mass.norm() * (velocity.norm() + problem.free_velocity().norm()) +
                         momentum.norm() + impulse.norm();
    CHECK((mass * change - momentum.segment(start, size)).norm() <= rounding(100, scale));
  }
}

}  // namespace

TEST_CASE("contact_solver: obeys the laws of every solver of bodies, by every method",
          "[solvers][law]") {
  carom::testing::check_contact_laws([](FrictionLaw law, double tolerance, int limit) {
    return ContactSolver<double>({.law = law, .tolerance = tolerance, .iteration_limit = limit});
  });
  for (const auto method : {carom::ContactMethod::sap, carom::ContactMethod::interior_point}) {
    CAPTURE(to_string(method));
    carom::testing::check_contact_laws([&](FrictionLaw law, double tolerance, int limit) {
      return ContactSolver<double>(
          {.law = law, .method = method, .tolerance = tolerance, .iteration_limit = limit});
    });
  }
}

TEMPLATE_TEST_CASE("contact_solver: random bodies, rigid or not, by either law", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  constexpr bool single = std::is_same_v<Scalar, float>;
  VectorSource<double> source(61u);
  for (int round = 0; round < 10; ++round) {
    auto problem = carom::testing::draw_bodies<Scalar>(source, 1 + round / 2);
    for (const bool rigid : {false, true}) {
      if (rigid) problem.make_rigid();
      for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
        const Scalar tolerance = single ? Scalar(1e-5) : Scalar(1e-11);
        ContactSolver<Scalar> solver({.law = law, .tolerance = tolerance});
        VectorX<Scalar> velocity = problem.free_velocity();
        const auto report = solver.solve(problem, velocity);
        CAPTURE(round, to_string(law), rigid, report.residual, report.iterations);
        CHECK(report.converged());
        check_answer(problem, solver, velocity, report);
      }
    }
  }
}

TEMPLATE_TEST_CASE("contact_solver: whatever the problem, the report is what can be measured",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(62u);
  for (int round = 0; round < 6; ++round) {  // with friction of 10 and v̂: there may be no answer
    const auto problem =
        build<Scalar>(make_rigid(draw_problem(source, {{6, 1, 3, 2}, 4 + 2 * round, 3, 3})));
    ContactSolver<Scalar> solver({.tolerance = Scalar(1e-5)});
    VectorX<Scalar> velocity = problem.free_velocity();
    const auto report = solver.solve(problem, velocity);
    CAPTURE(round, report.residual, report.iterations);
    check_answer(problem, solver, velocity, report);
  }
}

TEST_CASE("contact_solver: the compliant convex problem is SapSolver's own", "[solvers][oracle]") {
  VectorSource<double> source(63u);
  for (int round = 0; round < 6; ++round) {
    const auto problem = round < 3 ? build(draw_problem(source, {{6, 6, 3}, 6, 1, 1}))
                                   : build(draw_constrained(source, {6, 3, 6}, 4));
    ContactSolver<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-12});
    carom::SapSolver<double> sap({.tolerance = 1e-13});
    VectorX<double> velocity = problem.free_velocity(), expected = velocity;
    const auto report = solver.solve(problem, velocity);
    CAPTURE(round, report.residual, report.iterations);
    CHECK(report.converged());
    check_answer(problem, solver, velocity, report);
    CHECK(sap.solve(problem, expected).residual <= by_solver(1e-10));
    CHECK((velocity - expected).norm() <= by_solver(1e-8) * (1 + expected.norm()));
  }
}

// A contact without friction is γₙ = δt k (−(ϕ + δt vₙ) − τ_d vₙ)₊, m vₙ = m v*ₙ + γₙ, so that
// vₙ (m + δt k (δt + τ_d)) = m v*ₙ − δt k ϕ.
TEST_CASE("contact_solver: an overlap of a compliant contact is pushed out by its spring alone",
          "[solvers][example]") {
  const double mass = 2, dt = 0.01, gap = -0.01, fall = -9.81 * dt;
  for (const double stiffness : {1e2, 1e4, 1e6}) {
    for (const double dissipation_time : {0.0, 0.05}) {
      for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
        ContactProblem<double> problem(dt);
        problem.add_body(mass * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0.3, 0, fall));
        problem.add_contact(0, Eigen::Matrix3d::Identity(),
                            carom::CompliantContact<double>{.gap = gap,
                                                            .stiffness = stiffness,
                                                            .dissipation_time = dissipation_time,
                                                            .near_rigid = 0});
        ContactSolver<double> solver({.law = law, .tolerance = 1e-12});
        VectorX<double> velocity;
        const auto report = solver.solve(problem, velocity);
        const double spring = dt * stiffness, relaxation = dt + dissipation_time;
        const double expected = (mass * fall - spring * gap) / (mass + spring * relaxation);
        CAPTURE(stiffness, dissipation_time, to_string(law), report.iterations);
        CHECK(report.converged());
        CHECK(velocity(2) == Approx(expected).epsilon(by_solver(1e-9)));
        CHECK(velocity(0) == Approx(0.3));
        CHECK(solver.impulse()(2) == Approx(mass * (expected - fall)).epsilon(by_solver(1e-9)));
        const VectorX<double> impulse = 0.9 * solver.impulse();
        CHECK(solver.solve_from(problem, impulse, velocity).converged());
        CHECK(velocity(2) == Approx(expected).epsilon(by_solver(1e-9)));
      }
    }
  }
}

// The overlap of a contact goes the same way whatever else the contact bounds: over one wall at the
// speed of a plain contact, between two walls, where it cannot, not at all.
TEST_CASE("contact_solver: an overlap of a contact of any shape goes as that of a plain one",
          "[solvers][law]") {
  using carom::ImpulseShape;
  const double dt = 0.01, weight = 9.81 * dt;
  const auto rows_of = [](ImpulseShape shape, double side) {
    const Eigen::Index rows = shape == ImpulseShape::torsional          ? 4
                              : shape == ImpulseShape::spinless_rolling ? 5
                              : shape == ImpulseShape::rolling          ? 6
                                                                        : 3;
    carom::MatrixX<double> all = carom::MatrixX<double>::Identity(rows, 6);
    all.row(2) *= side;
    if (rows == 4) all.row(3) << 0, 0, 0, 0, 0, 1;
    return all;
  };
  for (const ImpulseShape shape :
       {ImpulseShape::friction, ImpulseShape::elliptic, ImpulseShape::torsional,
        ImpulseShape::spinless_rolling, ImpulseShape::rolling}) {
    for (const double depth : {1e-6, 1e-3}) {
      for (const double mass : {1e-3, 1.0, 1e3}) {
        const auto solve = [&](int walls, ImpulseShape with, double speed) {
          ContactProblem<double> problem(dt);
          problem.add_body(mass * carom::MatrixX<double>::Identity(6, 6),
                           VectorX<double>(speed * VectorX<double>::Unit(6, 2)));
          for (int wall = 0; wall < walls; ++wall) {
            carom::WrenchContact<double> law{.contact = {.gap = -depth, .friction = 0.5},
                                             .shape = with};
            if (with >= ImpulseShape::rolling) law.rolling_friction = 0.01;
            if (with == ImpulseShape::torsional) law.torsional_friction = 0.01;
            problem.add_constraint(0, rows_of(with, wall == 0 ? 1 : -1), law);
          }
          ContactSolver<double> solver;
          VectorX<double> velocity;
          const auto report = solver.solve(problem, velocity);
          CHECK(report.converged());
          CHECK(report.deepest_overlap == depth);
          CHECK(carom::judge_answer(problem, FrictionLaw::coulomb, velocity, solver.impulse())
                    .residual <= by_solver(2e-8));
          return velocity;
        };
        CAPTURE(int(shape), depth, mass);
        const VectorX<double> rises = solve(1, shape, -weight);
        CHECK(rises(2) > 0);
        CHECK(rises(2) == Approx(solve(1, ImpulseShape::friction, -weight)(2)));
        CHECK(solve(2, shape, -weight).norm() <= by_solver(1e-6) * weight);
      }
    }
  }
}

// A block on rigid ground carries another on a spring that is compressed already.
TEST_CASE("contact_solver: a rigid contact below a compliant one, each by its own law",
          "[solvers][example]") {
  const double lower = 3, upper = 2, dt = 0.01, gap = -0.01, fall = -9.81 * dt;
  const double stiffness = 1e4, dissipation_time = 0.02, friction = 0.4, pull = 0.5;
  ContactProblem<double> problem(dt);
  const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();
  problem.add_body(lower * unit, Eigen::Vector3d(pull, 0, fall));
  problem.add_body(upper * unit, Eigen::Vector3d(0, 0, fall));
  // Its R would let the ground yield by as much as the spring does.
  problem.add_contact(0, unit, carom::RigidContact<double>{.friction = friction, .softness = 1});
  problem.add_contact(1, unit, 0, -unit,
                      carom::CompliantContact<double>{.gap = gap,
                                                      .stiffness = stiffness,
                                                      .dissipation_time = dissipation_time,
                                                      .near_rigid = 0});
  ContactSolver<double> solver({.tolerance = 1e-13});
  VectorX<double> velocity;
  const auto report = solver.solve(problem, velocity);
  CHECK(report.converged());
  const double spring = dt * stiffness, relaxation = dt + dissipation_time;
  const double rise = (upper * fall - spring * gap) / (upper + spring * relaxation);
  const double pressed = upper * (rise - fall), carried = pressed - lower * fall;
  const double slides = pull - friction * carried / lower;
  REQUIRE(slides > 0);
  CHECK(velocity(5) == Approx(rise).epsilon(by_solver(1e-9)));
  CHECK(std::abs(velocity(2)) <= rounding(50000, 1.0));  // it neither sinks nor lifts off
  CHECK(velocity(0) == Approx(slides).epsilon(by_solver(1e-9)));
  CHECK(solver.impulse()(5) == Approx(pressed).epsilon(by_solver(1e-9)));
  CHECK(solver.impulse()(2) == Approx(carried).epsilon(by_solver(1e-9)));

  // SapSolver needs an R and takes that of every contact: the ground sinks by R γ.
  carom::SapSolver<double> sap({.tolerance = 1e-13});
  const double weight = problem.friction_contact_law(0).regularization.normal;
  velocity = problem.free_velocity();
  CHECK(sap.solve(problem, velocity).converged());
  const Eigen::Vector3d rate = velocity.head<3>() + weight * sap.impulse().head<3>();
  CHECK(rate(2) == Approx(friction * rate.head<2>().norm()).epsilon(by_solver(1e-9)));
  CHECK(weight * sap.impulse()(2) > 0.01);

  problem.make_rigid();  // the overlap is then out within the step
  CHECK(solver.solve(problem, velocity).converged());
  CHECK(velocity(5) - velocity(2) ==
        Approx(-gap / (dt + dissipation_time)).epsilon(by_solver(1e-9)));
}

TEST_CASE("contact_solver: rigid and compliant contacts mixed, against a dense dual of their own",
          "[solvers][oracle]") {
  VectorSource<double> source(67u);
  for (int round = 0; round < carom::testing::sweep(6, 20); ++round) {
    auto raw = draw_constrained(source, {6, 3, 6, 2}, round % 4);
    for (auto& contact : raw.contacts.contacts) {
      contact.law.rigid = source.unit() < 0.5;
      contact.law.bias_velocity.setZero();
    }
    carom::testing::DenseDual dense(raw);
    for (std::size_t i = 0; i < raw.contacts.contacts.size(); ++i) {
      if (raw.contacts.contacts[i].law.rigid) dense.weights.segment<3>(3 * Index(i)).setZero();
    }
    const auto problem = build(raw);
    ContactSolver<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-11});
    VectorX<double> velocity = problem.free_velocity();
    const auto report = solver.solve(problem, velocity);
    CAPTURE(round, problem.rigid_count(), report.residual, report.iterations);
    CHECK(report.converged());
    check_answer(problem, solver, velocity, report);
    const VectorX<double> expected = dense.velocity(dense.solve(40000));
    CHECK((velocity - expected).norm() <= by_solver(1e-6) * (1 + expected.norm()));
    ContactSolver<double> exact({.tolerance = 1e-10});
    const auto by_coulomb = exact.solve(problem, velocity);
    CHECK(by_coulomb.converged());
    check_answer(problem, exact, velocity, by_coulomb);
  }
}

TEST_CASE("contact_solver: constraints of every shape beside contacts", "[solvers][law]") {
  VectorSource<double> source(64u);
  for (int round = 0; round < 8; ++round) {
    const auto problem = build(draw_constrained(source, {6, 3, 6, 2}, 1 + round));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      ContactSolver<double> solver({.law = law, .tolerance = 1e-10});
      VectorX<double> velocity = problem.free_velocity();
      const auto report = solver.solve(problem, velocity);
      CAPTURE(round, to_string(law), report.residual, report.iterations);
      CHECK(report.converged());
      check_answer(problem, solver, velocity, report);
    }
  }
}

TEST_CASE("contact_solver: a motor keeps its gains where contact is rigid", "[solvers][example]") {
  // A block on the ground, drawn towards x = 1 by a spring with a damper; friction 0.1.
  const double dt = 0.01, weight = 9.81 * dt, spring = 40, damper = 2, mu = 0.1;
  ContactProblem<double> problem(dt);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -weight));
  problem.add_contact(0, Eigen::Matrix3d::Identity(), carom::RigidContact<double>{.friction = mu});
  problem.add_constraint(0, Eigen::RowVector3d(1, 0, 0),
                         carom::Motor<double>{.position_error = -1,
                                              .position_gain = spring,
                                              .velocity_gain = damper,
                                              .effort_limit = 1000});
  ContactSolver<double> solver({.tolerance = 1e-13});
  VectorX<double> velocity;
  const auto report = solver.solve(problem, velocity);
  CHECK(report.converged());
  check_answer(problem, solver, velocity, report);
  // v = δt (k (1 − δt v) − d v) − μ δt g
  const double expected = (dt * spring - mu * weight) / (1 + dt * (dt * spring + damper));
  CHECK(velocity(0) == Approx(expected).epsilon(by_solver(1e-10)));
  CHECK(std::abs(velocity(2)) <= rounding(50000, 1.0));
}

TEST_CASE("contact_solver: from the impulses of the step before it takes fewer iterations",
          "[solvers][law]") {
  VectorSource<double> source(65u);
  int cold = 0, warm = 0;
  for (int round = 0; round < 5; ++round) {
    auto raw = make_rigid(carom::testing::make_stack({.count = 3, .push = 0.1 * round}));
    const auto problem = build(raw);
    ContactSolver<double> solver({.tolerance = 1e-11});
    VectorX<double> velocity = problem.free_velocity(), again;
    cold += solver.solve(problem, velocity).iterations;
    const VectorX<double> impulse = solver.impulse();
    auto report = solver.solve_from(problem, impulse, again);
    CHECK(report.converged());
    CHECK(report.iterations == 0);  // it is the answer
    CHECK(again == velocity);
    check_answer(problem, solver, again, report);
    CHECK(solver.solve_from(problem, solver.impulse(), again).iterations == 0);
    CHECK(solver.impulse() == impulse);
    for (auto& body : raw.bodies) body.free_velocity += 1e-4 * draw_matrix(source, 6, 1);
    const auto next = build(raw);
    report = solver.solve_from(next, impulse, again);
    CAPTURE(round, report.iterations);
    CHECK(report.converged());
    check_answer(next, solver, again, report);
    warm += report.iterations;
  }
  CAPTURE(cold, warm);
  CHECK(warm < cold);
}

TEST_CASE("contact_solver: impulses guessed wrong cost little under the convex law",
          "[solvers][law]") {
  VectorSource<double> source(66u);
  for (const bool rigid : {true, false}) {
    int cold = 0, wrong = 0;
    for (int round = 0; round < carom::testing::sweep(2, 4); ++round) {
      const auto raw = carom::testing::make_stack({.count = 10, .push = 0.4 * round});
      const auto problem = build(rigid ? make_rigid(raw) : raw);
      ContactSolver<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-10});
      VectorX<double> velocity = problem.free_velocity(), again;
      cold += solver.solve(problem, velocity).iterations;
      const double size = solver.impulse().norm();
      const VectorX<double> impulse = size * draw_matrix(source, problem.impulse_count(), 1);
      const auto report = solver.solve_from(problem, impulse, again);
      CAPTURE(round, rigid, report.iterations, report.residual);
      CHECK(report.converged());
      check_answer(problem, solver, again, report);
      CHECK((again - velocity).norm() <= by_solver(1e-6) * (1 + velocity.norm()));
      wrong += report.iterations;
    }
    CAPTURE(rigid, cold, wrong);
    CHECK(wrong <= 2 * cold);
  }
}

TEST_CASE("contact_solver: nothing to do, and guesses of any kind", "[solvers][law]") {
  ContactSolver<double> solver;
  const ContactProblem<double> empty(0.01);
  VectorX<double> velocity;
  CHECK(solver.solve(empty, velocity).converged());
  CHECK(velocity.size() == 0);
  CHECK(solver.impulse().size() == 0);

  ContactProblem<double> none(0.01);
  none.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3));
  CHECK(solver.solve(none, velocity).converged());
  CHECK(velocity == Eigen::Vector3d(1, 2, 3));

  const auto problem = build(make_rigid(carom::testing::make_stack({.count = 2})));
  const VectorX<double> free = problem.free_velocity();
  VectorX<double> expected = free;
  solver = ContactSolver<double>({.tolerance = 1e-12});
  CHECK(solver.solve(problem, expected).converged());
  for (const Index size : {0, 3, 100}) {  // a guess of another size is ignored
    velocity = VectorX<double>::Constant(size, 7);
    CHECK(solver.solve(problem, velocity).converged());
    CHECK(velocity == expected);
  }
  velocity = 100 * free;
  CHECK(solver.solve(problem, velocity).converged());
  CHECK((velocity - expected).norm() <= by_solver(1e-9));
}

TEMPLATE_TEST_CASE("contact_solver: velocities whose squares vanish are solved", "[solvers][input]",
                   float, double) {
  using Scalar = TestType;
  using Vector3 = carom::Vector3<Scalar>;
  using Matrix3 = Eigen::Matrix<Scalar, 3, 3>;
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    ContactSolver<Scalar> solver({.law = law});
    const Scalar least = std::numeric_limits<Scalar>::denorm_min();
    for (Scalar speed = 1; speed > 0; speed = speed > least ? speed / 100 : 0) {
      CAPTURE(to_string(law), speed);
      ContactProblem<Scalar> problem(Scalar(0.01));
      const Index block = problem.add_body(2 * Matrix3::Identity(), Vector3(speed, 0, -speed));
      carom::RigidContact<Scalar> contact;
      contact.friction = Scalar(0.5);
      problem.add_contact(block, Matrix3::Identity(), contact);
      const Index wheel = problem.add_body(Matrix3::Identity(), Vector3(0, -speed, 0));
      carom::DryFriction<Scalar> friction;
      friction.effort_limit = 1;
      problem.add_constraint(wheel, Eigen::Matrix<Scalar, 1, 3>(0, 1, 0), friction);
      VectorX<Scalar> velocity;
      const auto first = solver.solve(problem, velocity);
      CHECK(first.converged());
      const auto again = solver.solve_from(problem, solver.impulse(), velocity);
      CHECK(again.converged());
      CHECK(velocity.allFinite());
      CHECK(velocity.cwiseAbs().maxCoeff() <= speed);
    }
  }
}

TEST_CASE("contact_solver: where squares overflow nothing is called solved", "[solvers][input]") {
  for (const double speed : {1e150, 1e154, 1e160, 1e300}) {
    carom::ContactProblem<double> problem(0.01);
    const Eigen::Vector3d free(speed, 0, -speed);
    const auto body = problem.add_body(Eigen::Matrix3d::Identity(), free);
    problem.add_contact(body, Eigen::Matrix3d::Identity(),
                        carom::WeightedContact<double>{0.5, {1, 1}, {0, 0, 0}, true});
    CAPTURE(speed);
    Eigen::VectorXd velocity = free;
    carom::ContactSolver<double> solver;
    if (solver.solve(problem, velocity).converged())
      CHECK(velocity.z() >= -by_solver(1e-7) * speed);
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(3);
    carom::DelassusForm<double> form;
    carom::DelassusProblem<double> dual;
    form.write(problem, dual);
    CHECK_FALSE(certify(dual, none, carom::FrictionLaw::coulomb).natural_map_error < 0.1);
  }
}

TEST_CASE("contact_solver: a guess that is not finite is reported, or ignored",
          "[solvers][input]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto problem = build(make_rigid(carom::testing::make_stack({.count = 2})));
  ContactSolver<double> solver;
  for (const double bad : {nan, std::numeric_limits<double>::infinity()}) {
    VectorX<double> velocity = problem.free_velocity();
    velocity(3) = bad;
    const auto report = solver.solve(problem, velocity);
    CHECK(report.status == SolveStatus::not_finite);
    CHECK(std::isinf(report.residual));
    CHECK(solver.impulse().isZero(0));
    CHECK(velocity.head(3) == problem.free_velocity().head(3));  // as it was
    VectorX<double> impulse = VectorX<double>::Zero(problem.impulse_count());
    impulse(5) = bad;
    velocity.setZero();
    CHECK(solver.solve_from(problem, impulse, velocity).status == SolveStatus::not_finite);
    CHECK(velocity.isZero(0));
  }
  VectorX<double> velocity = problem.free_velocity();
  CHECK(solver.solve(problem, velocity).converged());  // it recovers
}

TEST_CASE(
    "contact_solver: below the round-off of SapSolver it goes on by impulses, and says where "
    "it ends",
    "[solvers][law]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 0.3, -1));
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::WeightedContact<double>{0.3, {1e-3, 1e-3}, Eigen::Vector3d::Zero()});
  ContactSolver<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-30});
  VectorX<double> velocity = problem.free_velocity();
  const auto report = solver.solve(problem, velocity);
  CAPTURE(report.residual, report.iterations, to_string(report.status));
  CHECK(report.residual <= rounding(50, 1.0));
  CHECK(report.converged() == (report.residual <= rounding(0, 1.0)));
  check_answer(problem, solver, velocity, report);
}

TEST_CASE("contact_solver: at a deadline it returns the best so far, in its cones",
          "[solvers][law]") {
  const auto raw = carom::testing::make_stack({.count = 4, .copies = 1, .push = 0.5});
  for (const bool rigid : {true, false}) {
    const auto problem = build(rigid ? make_rigid(raw) : raw);
    carom::DelassusForm<double> form;
    carom::DelassusProblem<double> dual;
    form.write(problem, dual);
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      CAPTURE(rigid, to_string(law));
      ContactSolver<double> solver({.law = law, .tolerance = 1e-11});
      VectorX<double> velocity;
      const auto judge = [&] {
        const auto certificate = certify(dual, solver.impulse(), law);
        const double size = 1 + solver.impulse().norm();
        // The stages on bodies go by another measure than the report's.
        const VectorX<double> impulse = solver.impulse();
        return carom::testing::Judged{judge_answer(problem, law, velocity, impulse).residual,
                                      certificate.cone_violation / size, 0};
      };
      carom::testing::check_deadlines(
          [&](const carom::SolveLimits& limits) {
            solver.set_limits(limits);
            velocity = problem.free_velocity();
            const auto report = solver.solve(problem, velocity);
            check_answer(problem, solver, velocity, report);
            return report;
          },
          judge);
      const VectorX<double> outside = VectorX<double>::Constant(problem.impulse_count(), -1);
      carom::testing::FakeClock clock;
      solver.set_limits(clock.until(0));
      const auto report = solver.solve_from(problem, outside, velocity);
      CHECK(report.status == SolveStatus::deadline);
      CHECK(judge().outside <= rounding(5, 1.0));
      check_answer(problem, solver, velocity, report);
      solver.set_limits({});
      CHECK(solver.solve(problem, velocity).converged());
    }
  }
}

TEST_CASE("contact_solver: with twice the time the answer is not worse, and a deadline is kept",
          "[solvers][law]") {
  for (const auto& [count, rigid] : {std::pair{3, true}, {10, true}, {3, false}, {10, false}}) {
    const auto raw = carom::testing::make_stack({.count = count});
    const auto problem = build(rigid ? make_rigid(raw) : raw);
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      double before = std::numeric_limits<double>::infinity();
      for (int deadline = 8; deadline <= 1 << 14; deadline *= 2) {
        CAPTURE(count, to_string(law), deadline);
        ContactSolver<double> solver({.law = law});
        carom::testing::FakeClock clock;
        solver.set_limits(clock.until(deadline));
        VectorX<double> velocity = problem.free_velocity();
        const auto report = solver.solve(problem, velocity);
        check_answer(problem, solver, velocity, report);
        // At a residual of 1 and more no digit is known.
        CHECK(std::min(report.residual, 1.0) <= std::max(before, by_solver(1e-7)));
        CHECK(clock.calls <= deadline + deadline / 10 + 1);
        before = report.residual;
      }
      CHECK(before <= ContactSolver<double>().options().tolerance);
    }
  }
}

TEST_CASE("contact_solver: with a deadline guesses of any kind are answered as without one",
          "[solvers][input]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool rigid : {true, false}) {
    CAPTURE(rigid);
    const auto raw = carom::testing::make_stack({.count = 2});
    auto problem = build(rigid ? make_rigid(raw) : raw);
    ContactSolver<double> untimed({.tolerance = 1e-10}), solver({.tolerance = 1e-10});
    VectorX<double> expected;
    REQUIRE(untimed.solve(problem, expected).converged());
    const VectorX<double> answer = untimed.impulse();
    const auto hurry = [&](double deadline) {
      static carom::testing::FakeClock clock;
      clock.calls = 0;
      solver.set_limits(clock.until(deadline));
    };
    for (const Index size : {0, 3, 100}) {  // a guess of another size is ignored
      hurry(1e6);
      VectorX<double> velocity = VectorX<double>::Constant(size, 7);
      CHECK(solver.solve(problem, velocity).converged());
      CHECK((velocity - expected).norm() <= by_solver(1e-7));
    }
    // The answer is a guess that the first sweeps leave as it is, whatever time there is.
    for (const double deadline : {1e6, 40.0}) {
      hurry(deadline);
      VectorX<double> velocity = VectorX<double>::Constant(expected.size(), nan);  // is not read
      const auto report = solver.solve_from(problem, answer, velocity);
      CHECK(report.converged());
      check_answer(problem, solver, velocity, report);
    }
    hurry(1e6);
    VectorX<double> velocity;
    CHECK(solver.solve_from(problem, 0.5 * answer, velocity).converged());
    CHECK((velocity - expected).norm() <= by_solver(1e-7));
    velocity.resize(0);
    CHECK(untimed.solve_from(problem, answer, velocity).converged());
    CHECK((velocity - expected).norm() <= by_solver(1e-7));
    hurry(1e6);
    velocity = expected;
    velocity(3) = nan;
    CHECK(solver.solve(problem, velocity).status == SolveStatus::not_finite);
    CHECK(solver.impulse().isZero(0));
    CHECK(velocity.head(3) == expected.head(3));  // as it was
    VectorX<double> impulse = answer;
    impulse(5) = nan;
    hurry(1e6);
    CHECK(solver.solve_from(problem, impulse, velocity).status == SolveStatus::not_finite);
    CHECK(solver.impulse().isZero(0));

    VectorX<double> free = problem.free_velocity();
    free(2) = std::numeric_limits<double>::infinity();
    problem.set_free_velocity(carom::as_span(free));
    for (const bool guessed : {false, true}) {
      hurry(1e6);
      velocity = expected;
      const auto report =
          guessed ? solver.solve_from(problem, answer, velocity) : solver.solve(problem, velocity);
      CHECK(report.status == SolveStatus::not_finite);
      CHECK(solver.solve_from(problem, answer, velocity).status == SolveStatus::not_finite);
      solver.set_limits({});
      CHECK(solver.solve_from(problem, answer, velocity).status == SolveStatus::not_finite);
      CHECK(solver.solve(problem, velocity).status == SolveStatus::not_finite);
    }
  }
}

TEST_CASE("contact_solver: whenever the deadline comes, the report is that of the answer",
          "[solvers][law]") {
  const auto problem = build(carom::testing::make_stack({.count = 3}));
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (int deadline = 40; deadline < 160; ++deadline) {
      CAPTURE(to_string(law), deadline);
      ContactSolver<double> solver({.law = law, .tolerance = 1e-13});
      carom::testing::FakeClock clock;
      solver.set_limits(clock.until(deadline));
      VectorX<double> velocity = problem.free_velocity();
      const auto report = solver.solve(problem, velocity);
      CHECK((report.converged() || report.status == SolveStatus::deadline));
      check_answer(problem, solver, velocity, report);
    }
  }
}

TEST_CASE("contact_solver: a heap of many blocks is solved without a factor of all of them",
          "[solvers][law]") {
  // Particles in pairs: the lower one on the ground, the upper one on it, which slides.
  ContactProblem<double> heap(0.01);
  const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();
  carom::WeightedContact<double> law{0.3, {1e-3, 1e-4}, Eigen::Vector3d::Zero()};
  while (heap.block_count() < carom::detail::ContactSolverTuning::proximal_blocks) {
    const Index lower = heap.add_body(unit, Eigen::Vector3d(0, 0, -0.1));
    const Index upper = heap.add_body(unit, Eigen::Vector3d(1, 0, -0.1));
    heap.add_contact(lower, unit, law);
    heap.add_contact(upper, unit, lower, Eigen::Matrix3d(-unit), law);
  }
  ContactSolver<double> solver;
  solver.prepare(heap);
  VectorX<double> velocity = heap.free_velocity();
  const auto report = solver.solve(heap, velocity);
  CHECK(report.converged());
  const VectorX<double> impulse = solver.impulse(), found = velocity;
  // Every pair is the first one: 0.1 N·s on the upper contact, 0.2 N·s on the lower, μ times the
  // first against the slide, up to R γ.
  for (Index pair = 0; pair < heap.body_count() / 2; ++pair) {
    CHECK((impulse.segment<6>(6 * pair) - impulse.head<6>()).norm() <= by_solver(1e-7));
  }
  CHECK(
      (impulse.head<6>() - (carom::Vector<double, 6>() << -0.03, 0, 0.2, -0.03, 0, 0.1).finished())
          .norm() <= carom::testing::by_compliance(1e-3));

  // From its impulses there is nothing to do.
  const auto again = solver.solve_from(heap, impulse, velocity);
  CHECK((again.converged() && again.iterations == 0));
  CHECK((velocity - found).norm() <= rounding(100, found.norm()));

  carom::testing::FakeClock clock;  // time for some sweeps, which are the answer, or a better one
  solver.set_limits(clock.until(60));
  const auto hurried = solver.solve(heap, velocity);
  CHECK((hurried.converged() || hurried.status == SolveStatus::deadline));
  CHECK(judge_answer(heap, FrictionLaw::coulomb, velocity, solver.impulse()).residual ==
        Approx(hurried.residual));
}

TEST_CASE("contact_solver: its limit of iterations holds for all stages together",
          "[solvers][law]") {
  const auto raw = carom::testing::make_stack({.count = 6, .copies = 2, .push = 0.5});
  for (const bool rigid : {true, false}) {
    const auto problem = build(rigid ? make_rigid(raw) : raw);
    for (const int limit : {0, 1, 2, 5, 10}) {
      CAPTURE(rigid, limit);
      for (const bool by_caller : {false, true}) {
        ContactSolver<double> solver(
            {.tolerance = 1e-14, .iteration_limit = by_caller ? 1000 : limit});
        if (by_caller) solver.set_limits({.iteration_limit = limit});
        VectorX<double> velocity = problem.free_velocity();
        const auto report = solver.solve(problem, velocity);
        CHECK(report.iterations <= limit);
        CHECK((report.converged() || report.status == SolveStatus::iteration_limit));
        check_answer(problem, solver, velocity, report);
      }
    }
  }
}

namespace {

/// Runs tasks from the last to the first, and keeps the most that it got at a time.
struct Reversed {
  Index most = 0;
  template <typename Task>
  void operator()(Index count, const Task& task) {
    most = std::max(most, count);
    for (Index i = count - 1; i >= 0; --i) task(i);
  }
};

}  // namespace

TEST_CASE("contact_solver: the result is the same to the last bit whoever runs the islands",
          "[solvers][law]") {
  for (const bool rigid : {false, true}) {
    for (const auto method : {carom::ContactMethod::automatic, carom::ContactMethod::sap}) {
      auto piles = carom::examples::make_piles(3, {.body_count = 5});
      if (rigid) piles.problem.make_rigid();
      const carom::ContactSolverOptions<double> options{.law = FrictionLaw::convex,
                                                        .method = method};
      ContactSolver<double> plain(options), other(options);
      VectorX<double> velocity = piles.guess, others = piles.guess;
      Reversed executor;
      const auto report = plain.solve(piles.problem, velocity);
      const auto again = other.solve(piles.problem, others, executor);
      CHECK(executor.most == 3);
      CHECK((velocity == others && plain.impulse() == other.impulse()));
      CHECK(report.residual == again.residual);

      const VectorX<double> guess = 0.9 * plain.impulse();
      executor.most = 0;
      CHECK(plain.solve_from(piles.problem, guess, velocity).converged());
      CHECK(other.solve_from(piles.problem, guess, others, executor).converged());
      CHECK(executor.most == 3);
      CHECK((velocity == others && plain.impulse() == other.impulse()));

      executor.most = 0;  // a solve without an executor does not keep the last one's
      CHECK(other.solve(piles.problem, others).converged());
      CHECK(executor.most == 0);
    }
  }
}

}  // namespace contact_solver_test
