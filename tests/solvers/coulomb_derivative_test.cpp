// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/coulomb_derivative.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <Eigen/QR>

#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap_derivative.hpp"

#include "support/catch.hpp"
#include "support/limit_change.hpp"
#include "support/problem_change.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace coulomb_derivative_test {

using carom::ContactProblem, carom::CoulombDerivative, carom::FrictionLaw, carom::Index;
using carom::ProblemDifferential;
using carom::RegionBoundary, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::ConstrainedProblem, carom::testing::draw_change;
using carom::testing::draw_all_kinds, carom::testing::draw_limits, carom::testing::for_each_drawn,
    carom::testing::moved_problem;
using carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

static_assert(noexcept(std::declval<CoulombDerivative<double>&>().linearize(
    std::declval<const ContactProblem<double>&>(), std::declval<const VectorX<double>&>(),
    std::declval<const VectorX<double>&>())));
static_assert(noexcept(std::declval<CoulombDerivative<double>&>().push_forward(
    std::declval<const ContactProblem<double>&>(),
    std::declval<const ProblemDifferential<double>&>(), std::declval<VectorX<double>&>())));
static_assert(noexcept(std::declval<CoulombDerivative<double>&>().pull_back(
    std::declval<const ContactProblem<double>&>(), std::declval<const VectorX<double>&>(),
    std::declval<ProblemDifferential<double>&>())));

namespace {

template <typename Scalar>
struct Answer {
  VectorX<Scalar> velocity, impulse;
  bool found = false;
};

/// The answer of the solver to all digits that it gives; from an answer nearby if there is one.
template <typename Scalar>
Answer<Scalar> solve(const ContactProblem<Scalar>& problem,
                     const VectorX<Scalar>& guess = VectorX<Scalar>(),
                     FrictionLaw law = FrictionLaw::coulomb) {
  // A direction counts by a hundredth of its bodies' motion at least, so that rounding leaves some
  // hundred ε of error.
  const Scalar tolerance = 5000 * std::numeric_limits<Scalar>::epsilon();
  carom::ContactSolver<Scalar> solver(
      {.law = law, .tolerance = tolerance / 10, .iteration_limit = 500});
  Answer<Scalar> answer;
  const auto report = guess.size() > 0 ? solver.solve_from(problem, guess, answer.velocity)
                                       : solver.solve(problem, answer.velocity);
  answer.impulse = solver.impulse();
  answer.found = report.residual <= tolerance;
  return answer;
}

}  // namespace

TEMPLATE_TEST_CASE("coulomb_derivative: the two products are each other's transposes",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase identity("<u, J w> = <J'u, w>");
  for_each_drawn(
      {60, 512u},
      [](VectorSource<double>& source, const std::vector<int>& sizes) {
        return draw_all_kinds(source, sizes);
      },
      [&](VectorSource<double>& source, const ConstrainedProblem& raw) {
        auto problem = build<Scalar>(raw);
        if (source.unit() < 0.5) problem.make_rigid();
        const auto law = source.unit() < 0.5 ? FrictionLaw::convex : FrictionLaw::coulomb;
        const Answer<Scalar> answer = solve(problem, {}, law);
        if (!answer.found) return;
        CoulombDerivative<Scalar> derivative({.law = law});
        REQUIRE(derivative.linearize(problem, answer.velocity, answer.impulse).usable());
        auto w = draw_change(source, problem);
        draw_limits(source, problem, w);
        const VectorX<Scalar> u = carom::testing::draw_matrix(source, problem.velocity_count(), 1)
                                      .template cast<Scalar>();
        const VectorX<Scalar> g =
            carom::testing::draw_matrix(source, problem.impulse_count(), 1).template cast<Scalar>();
        VectorX<Scalar> moved, pushed;
        ProblemDifferential<Scalar> gradient;
        gradient.set_zero(problem);
        const auto forward = derivative.push_forward(problem, w, moved, pushed);
        const auto backward = derivative.pull_back(problem, u, g, gradient);
        if (!forward.converged() || !backward.converged()) return;
        const Scalar left = u.dot(moved) + g.dot(pushed), right = gradient.dot(w);
        const Scalar size = u.norm() * moved.norm() + g.norm() * pushed.norm() +
                            gradient.free_velocity.norm() * w.free_velocity.norm() +
                            gradient.friction.norm() * w.friction.norm() +
                            gradient.regularization.cwiseProduct(w.regularization).norm() +
                            gradient.bias_velocity.norm() * w.bias_velocity.norm() +
                            gradient.lower.norm() * w.lower.norm() +
                            gradient.upper.norm() * w.upper.norm() +
                            gradient.matrices.cwiseProduct(w.matrices).norm();
        identity.see(std::abs(left - right), rounding(3000, size));
      });
  identity.check(40);
}

namespace {

/// Whether the rows of the blocks that carry an impulse are independent: impulses of rigid contacts
/// are unique then.
bool are_loaded_rows_independent(const ContactProblem<double>& problem,
                                 const Eigen::VectorXd& impulse) {
  Eigen::MatrixXd rows(problem.impulse_count(), problem.velocity_count());
  Index count = 0;
  for (Index block = 0; block < problem.block_count(); ++block) {
    const int size = problem.rows(block);
    const double own_size = impulse.segment(problem.first_row(block), size).norm();
    if (own_size <= carom::testing::by_solver(1e-10) * impulse.norm()) continue;
    auto own = rows.middleRows(count, size);
    own.setZero();
    for (int s = 0; s < problem.side_count(block); ++s) {
      const auto [start, width] = problem.body(problem.side_body(block, s));
      own.middleCols(start, width) += problem.jacobian(block, s);
    }
    count += size;
  }
  return rows.topRows(count).colPivHouseholderQr().rank() == count;
}

void check_differences(FrictionLaw law) {
  WorstCase near("finite differences");
  int used = 0, slid = 0, rigid_used = 0, determined = 0;
  for_each_drawn(
      {carom::testing::sweep(24, 60), 77u}, draw_all_kinds,
      [&](VectorSource<double>& source, const ConstrainedProblem& raw) {
        const bool rigid = source.unit() < 0.5;
        ContactProblem<double> problem = build(raw);
        if (rigid) problem.make_rigid();
        const auto all = [&] {
          auto change = draw_change(source, problem);
          draw_limits(source, problem, change);
          return change;
        }();
        const auto answer = solve(problem, {}, law);
        CoulombDerivative<double> derivative({.law = law, .boundary_tolerance = 1e-2});
        if (!answer.found) return;
        REQUIRE(derivative.linearize(problem, answer.velocity, answer.impulse).usable());
        if (!derivative.one_sided().empty()) return;  // a step might cross it
        const bool unique = !rigid || are_loaded_rows_independent(problem, answer.impulse);
        for (int part = 0; part < carom::testing::part_count; ++part) {
          const auto change = carom::testing::take_part(problem, all, part);
          Eigen::VectorXd moved, pushed;
          if (!derivative.push_forward(problem, change, moved, pushed).converged()) return;
          const auto difference = [&](double h, Eigen::VectorXd& velocity,
                                      Eigen::VectorXd& impulse) {
            const auto ahead = solve(moved_problem(raw, change, h, rigid), answer.impulse, law);
            const auto behind = solve(moved_problem(raw, change, -h, rigid), answer.impulse, law);
            velocity = (ahead.velocity - behind.velocity) / (2 * h);
            impulse = (ahead.impulse - behind.impulse) / (2 * h);
            return ahead.found && behind.found;
          };
          const double h = 1e-4;
          Eigen::VectorXd wide[2], close[2];
          if (!difference(2 * h, wide[0], wide[1]) || !difference(h, close[0], close[1])) continue;
          const Eigen::VectorXd velocity = (4 * close[0] - wide[0]) / 3;
          const Eigen::VectorXd impulse = (4 * close[1] - wide[1]) / 3;
          const double speeds = 1 + moved.norm() + answer.velocity.norm();
          const double impulses = 1 + pushed.norm() + answer.impulse.norm();
          near.see((velocity - moved).norm(), carom::testing::by_differences(1e-7) * speeds, part,
                   rigid, used, "v");
          if (!unique) continue;  // the solver may find other impulses
          determined += rigid;
          near.see((impulse - pushed).norm(), carom::testing::by_differences(1e-6) * impulses, part,
                   rigid, used, "impulse");
          if (part == 1 && moved.norm() > 1e-3) ++slid;
        }
        ++used;
        rigid_used += rigid;
      });
  CAPTURE(used, slid, rigid_used, determined);
  CHECK(used >= 8);
  CHECK(rigid_used >= 3);
  if (law == FrictionLaw::coulomb) CHECK(determined >= 3);
  CHECK(slid >= 3);
  near.check(60);
}

}  // namespace

TEST_CASE(
    "coulomb_derivative: each datum alone moves velocities and impulses as differences of the "
    "solver say",
    "[solvers][derivative]") {
  check_differences(FrictionLaw::coulomb);
}
TEST_CASE("coulomb_derivative: so it does under the convex law", "[solvers][derivative]") {
  check_differences(FrictionLaw::convex);
}

namespace {

/// The gradient by upper bounds, and by each μ of cones: the sum over the rows that it bounds.
Eigen::VectorXd by_limits(const ContactProblem<double>& problem,
                          const ProblemDifferential<double>& gradient) {
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(problem.impulse_count());
  for (Index block = 0; block < problem.block_count(); ++block) {
    const auto set = problem.law(block).set;
    for (int r = 0; r < set.rows; ++r) {
      const int c = set.shape == carom::ImpulseShape::intervals
                        ? r
                        : carom::testing::coefficient_of(set.shape, r);
      sums(problem.first_row(block) + (c >= 0 ? c : r)) +=
          gradient.upper(problem.first_row(block) + r);
    }
  }
  return sums;
}

}  // namespace

TEST_CASE("coulomb_derivative: on compliant contact under the convex law it is SapDerivative",
          "[solvers][oracle]") {
  WorstCase same("two derivatives");
  int slid = 0, bounded = 0;
  for_each_drawn({carom::testing::sweep(40, 100), 31u}, draw_all_kinds,
                 [&](VectorSource<double>& source, const ConstrainedProblem& raw) {
                   const ContactProblem<double> problem = build(raw);
                   const auto answer = solve(problem, {}, FrictionLaw::convex);
                   CoulombDerivative<double> derivative({.law = FrictionLaw::convex});
                   carom::SapDerivative<double> oracle;
                   if (!answer.found) return;
                   REQUIRE(derivative.linearize(problem, answer.velocity, answer.impulse).usable());
                   REQUIRE(oracle.linearize(problem, answer.velocity).usable());
                   if (!derivative.one_sided().empty()) return;  // each may take another side
                   const Eigen::VectorXd by_velocity =
                       carom::testing::draw_matrix(source, problem.velocity_count(), 1);
                   const Eigen::VectorXd by_impulse =
                       carom::testing::draw_matrix(source, problem.impulse_count(), 1);
                   ProblemDifferential<double> found, expected;
                   found.set_zero(problem), expected.set_zero(problem);
                   if (!derivative.pull_back(problem, by_velocity, by_impulse, found).converged())
                     return;
                   if (!oracle.pull_back(problem, by_velocity, by_impulse, expected).converged())
                     return;
                   const auto see = [&](const auto& one, const auto& other, const char* what) {
                     same.see((one - other).norm(),
                              carom::testing::by_conditioning(1e-7) * (1 + other.norm()), what);
                   };
                   see(found.free_velocity, expected.free_velocity, "v*");
                   see(found.friction, expected.friction, "friction");
                   see(found.bias_velocity, expected.bias_velocity, "bias");
                   see(found.regularization, expected.regularization, "R");
                   see(found.matrices, expected.matrices, "A and J");
                   see(found.lower, expected.lower, "lower bounds");
                   see(by_limits(problem, found), by_limits(problem, expected),
                       "upper bounds and friction of cones");
                   slid += expected.friction.norm() > 1e-3;
                   bounded += expected.lower.norm() + expected.upper.norm() > 1e-3;
                 });
  CAPTURE(slid, bounded);
  CHECK(slid >= 10);
  CHECK(bounded >= 10);
  same.check(80);
}

namespace {

template <typename Scalar>
using Matrix3 = carom::SquareMatrix<Scalar, 3>;
template <typename Scalar>
using Vec3 = carom::Vector3<Scalar>;

/// A block on a rigid slope, frame along it: (down, across, up).
template <typename Scalar>
struct Slope {
  Scalar mass = 2, friction = Scalar(0.25), angle = Scalar(0.5), speed = 1,
         time_step = Scalar(0.01);
  static constexpr double gravity = 9.81;

  [[nodiscard]] ContactProblem<Scalar> problem() const {
    const Scalar fall = Scalar(gravity) * time_step;
    ContactProblem<Scalar> problem(time_step);
    problem.add_body(mass * Matrix3<Scalar>::Identity(),
                     Vec3<Scalar>(speed + fall * std::sin(angle), 0, -fall * std::cos(angle)));
    problem.add_contact(0, Matrix3<Scalar>::Identity(),
                        carom::RigidContact<Scalar>{.gap = 0, .friction = friction});
    return problem;
  }
};

/// dv and the gradients of v along each axis agree with a derivative by one datum.
template <typename Scalar>
struct Products {
  ContactProblem<Scalar> problem;
  Answer<Scalar> answer;
  CoulombDerivative<Scalar> derivative;
  carom::LinearizationReport<Scalar> report;

  explicit Products(const ContactProblem<Scalar>& given, FrictionLaw law = FrictionLaw::coulomb)
      : problem(given), answer(solve(given, {}, law)), derivative({.law = law}) {
    REQUIRE(answer.found);
    report = derivative.linearize(problem, answer.velocity, answer.impulse);
    REQUIRE(report.usable());
  }
  [[nodiscard]] ProblemDifferential<Scalar> nothing() const {
    ProblemDifferential<Scalar> change;
    change.set_zero(problem);
    return change;
  }
  [[nodiscard]] VectorX<Scalar> push(const ProblemDifferential<Scalar>& change) {
    VectorX<Scalar> moved;
    CHECK(derivative.push_forward(problem, change, moved).converged());
    return moved;
  }
  [[nodiscard]] VectorX<Scalar> push_impulse(const ProblemDifferential<Scalar>& change) {
    VectorX<Scalar> moved, pushed;
    CHECK(derivative.push_forward(problem, change, moved, pushed).converged());
    return pushed;
  }
  [[nodiscard]] ProblemDifferential<Scalar> pull(const VectorX<Scalar>& by_velocity) {
    ProblemDifferential<Scalar> gradient = nothing();
    CHECK(derivative.pull_back(problem, by_velocity, gradient).converged());
    return gradient;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("coulomb_derivative: a block that slides down a slope, in closed form",
                   "[solvers][scene]", float, double) {
  using Scalar = TestType;
  const Slope<Scalar> slope;
  Products<Scalar> products(slope.problem());
  CHECK(products.report.boundary_count == 0);
  const Scalar fall = Scalar(slope.gravity) * slope.time_step;
  // v = v* − μ g δt cos α along the slope, whatever the mass; γₙ = m g δt cos α.
  const auto near = [](Scalar expected) {
    return Approx(double(expected)).epsilon(double(rounding<Scalar>(300, 1)));
  };
  const Scalar by_friction = -fall * std::cos(slope.angle);
  auto change = products.nothing();
  change.friction(0) = 1;
  const VectorX<Scalar> moved = products.push(change);
  CHECK(moved(0) == near(by_friction));
  CHECK(std::abs(moved(1)) <= rounding<Scalar>(10, fall));
  CHECK(std::abs(moved(2)) <= rounding<Scalar>(10, fall));
  const VectorX<Scalar> pushed = products.push_impulse(change);
  CHECK(pushed(0) == near(slope.mass * by_friction));
  const auto gradient = products.pull(Vec3<Scalar>(1, 0, 0));
  CHECK(gradient.friction(0) == near(by_friction));
  CHECK(gradient.free_velocity(0) == near(1));
  CHECK(gradient.free_velocity(2) == near(slope.friction));  // the slope carries less
  CHECK(gradient.bias_velocity(2) == near(-slope.friction));
  CHECK(gradient.regularization.norm() == 0);  // rigid
  // Mass acts through A alone: at fixed v* it makes no difference.
  CHECK(std::abs(gradient.momentum(0).trace()) <= rounding<Scalar>(100, 1));
  // Turned by slip across: d(v across) = dv* (1 − μ g δt cos α/‖v*‖).
  const Scalar slip = products.answer.velocity(0);
  const auto across = products.pull(Vec3<Scalar>(0, 1, 0));
  CHECK(across.free_velocity(1) == near(slip / (slip - by_friction * slope.friction)));
}

TEST_CASE("coulomb_derivative: a contact without friction learns of friction under either law",
          "[solvers][scene]") {
  for (const auto law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    Slope<double> slope;
    slope.friction = 0;
    Products<double> products(slope.problem(), law);
    const Eigen::Vector3d free = products.problem.free_velocity();
    auto change = products.nothing();
    change.friction(0) = 1;
    const Eigen::VectorXd moved = products.push(change);
    CHECK(moved(0) == Approx(free(2)).epsilon(rounding(300, 1.0)));
    // Of the convex law vₙ = μ vₜ.
    const double lifted = law == FrictionLaw::convex ? free(0) : 0;
    CHECK(std::abs(moved(2) - lifted) <= rounding(300, 1.0));
  }
}

TEST_CASE("coulomb_derivative: a block at rest stays, whatever its data", "[solvers][scene]") {
  using Scalar = double;
  Slope<Scalar> slope;
  slope.friction = 1;
  slope.speed = 0;
  Products<Scalar> products(slope.problem());
  CHECK(products.report.boundary_count == 0);
  auto change = products.nothing();
  change.friction(0) = 1;
  change.free_velocity.setOnes();
  change.momentum(0).setIdentity();
  CHECK(products.push(change).norm() <= rounding<Scalar>(100, 1));
  const Vec3<Scalar> pushed = products.push_impulse(change);
  // γ = −A v*: dγ = −m dv* − dm v*.
  const Vec3<Scalar> expected =
      -slope.mass * Vec3<Scalar>::Ones() - products.problem.free_velocity();
  CHECK((pushed - expected).norm() <= rounding<Scalar>(100, slope.mass));
  auto bias = products.nothing();
  bias.bias_velocity << 1, 2, 3;
  CHECK((products.push(bias) - Vec3<Scalar>(1, 2, 3)).norm() <= rounding<Scalar>(100, 3));
}

namespace {

/// A box on four rigid feet under its weight.
ContactProblem<double> make_box() {
  auto raw = carom::testing::make_stack({.count = 1, .friction = 0.5, .push = 0});
  for (auto& contact : raw.contacts) contact.law.bias_velocity.setZero();
  return build(carom::testing::make_rigid(raw));
}

}  // namespace

TEST_CASE("coulomb_derivative: on four feet velocities are exact and impulses of least norm",
          "[solvers][scene]") {
  Products<double> products(make_box());
  CHECK(products.report.boundary_count == 0);
  Eigen::MatrixXd jacobian(12, 6);
  for (Index i = 0; i < 4; ++i) jacobian.middleRows<3>(3 * i) = products.problem.jacobian(i, 0);
  const Eigen::MatrixXd mass = products.problem.momentum_matrix(0);
  VectorSource<double> source(4u);
  for (int sample = 0; sample < 5; ++sample) {
    auto change = products.nothing();
    change.free_velocity = carom::testing::draw_matrix(source, 6, 1);
    CHECK(products.push(change).norm() <= rounding(1000, 1.0));
    const Eigen::VectorXd pushed = products.push_impulse(change);
    const Eigen::VectorXd expected =
        jacobian.transpose().completeOrthogonalDecomposition().solve(-mass * change.free_velocity);
    CHECK((pushed - expected).norm() <= carom::testing::by_conditioning(1e-6) * expected.norm());
    // A change that all feet follow, which moves the floor with the box.
    auto floor = products.nothing();
    const Eigen::VectorXd motion = carom::testing::draw_matrix(source, 6, 1);
    floor.bias_velocity = jacobian * motion;
    CHECK((products.push(floor) - motion).norm() <= rounding(10000, motion.norm()));
    // Gradients are those of what the feet follow together.
    const Eigen::VectorXd by_velocity = carom::testing::draw_matrix(source, 6, 1);
    const auto gradient = products.pull(by_velocity);
    CHECK(gradient.bias_velocity.dot(floor.bias_velocity) ==
          Approx(by_velocity.dot(motion)).epsilon(carom::testing::by_conditioning(1e-6)));
    CHECK(gradient.free_velocity.norm() <= rounding(10000, by_velocity.norm()));
  }
}

TEST_CASE("coulomb_derivative: feet that data ask to part are told", "[solvers][example]") {
  Products<double> products(make_box());
  auto change = products.nothing();
  for (Index i = 0; i < 4; ++i) change.bias_velocity(3 * i + 2) = i == 0 || i == 3 ? 1 : -1;
  Eigen::VectorXd moved, pushed;
  const auto report = products.derivative.push_forward(products.problem, change, moved, pushed);
  CHECK(report.status == SolveStatus::no_progress);
  CHECK(report.residual > report.residual_target);
  // In the mean they stay, and nothing presses without end.
  CHECK(moved.norm() <= carom::testing::by_conditioning(1e-5));
  CHECK(pushed.norm() <= carom::testing::by_conditioning(1e-3));
  // What rounding alone asks for, as after steps in which the box has come to rest, is no change.
  change.bias_velocity *= rounding(1, 1.0);
  const auto rounded = products.derivative.push_forward(products.problem, change, moved, pushed);
  CHECK(rounded.status == SolveStatus::converged);
  CHECK(moved.norm() <= rounding(1, 1.0));
}

TEST_CASE("coulomb_derivative: blocks on a boundary are named, and the derivative is one-sided",
          "[solvers][example]") {
  const auto check = [](const Eigen::Vector3d& free, RegionBoundary expected) {
    // The first mass sticks well inside of its cone, the second is looked at.
    ContactProblem<double> problem(0.01);
    const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();
    for (int copy = 0; copy < 2; ++copy) {
      problem.add_body(unit, copy == 0 ? Eigen::Vector3d(0.1, 0, -1) : free);
      problem.add_contact(copy, unit, carom::RigidContact<double>{.gap = 0, .friction = 0.5});
    }
    Products<double> products(problem);
    CAPTURE(free.transpose());
    CHECK(products.derivative.boundary(0) == RegionBoundary::none);
    CHECK(products.derivative.boundary(1) == expected);
    if (expected == RegionBoundary::none) {
      CHECK(products.derivative.one_sided().empty());
    } else {
      REQUIRE(products.derivative.one_sided().size() == 1);
      CHECK(products.derivative.one_sided()[0] == 1);
      CHECK(products.report.boundary_count == 1);
    }
  };
  check({0.5, 0, -1}, RegionBoundary::stick_slide);
  check({0.3, 0.4, -1}, RegionBoundary::stick_slide);
  check({0.5 + 1e-4, 0, -1}, RegionBoundary::none);
  check({0.5 - 1e-4, 0, -1}, RegionBoundary::none);
  check({0, 0, -1}, RegionBoundary::none);
  check({1, 0, 0}, RegionBoundary::open_closed);
  check({1, 0, 1e-4}, RegionBoundary::none);
  check({1, 0, -1e-4}, RegionBoundary::none);
  check({0, 0, 0}, RegionBoundary::open_closed);
  check({0, 0, 2}, RegionBoundary::none);
}

TEST_CASE("coulomb_derivative: under the convex law a contact opens where it lifts off",
          "[solvers][example]") {
  const auto boundary = [](const Eigen::Vector3d& free) {
    ContactProblem<double> problem(0.01);
    problem.add_body(Eigen::Matrix3d::Identity(), free);
    problem.add_contact(0, Eigen::Matrix3d::Identity(),
                        carom::RigidContact<double>{.gap = 0, .friction = 0.5});
    return Products<double>(problem, FrictionLaw::convex).derivative.boundary(0);
  };
  CHECK(boundary({1, 0, 0.5}) == RegionBoundary::open_closed);
  CHECK(boundary({0.6, 0.8, 0.5}) == RegionBoundary::open_closed);
  CHECK(boundary({1, 0, 0.5 + 1e-4}) == RegionBoundary::none);
  CHECK(boundary({1, 0, 0.5 - 1e-4}) == RegionBoundary::none);
  CHECK(boundary({1, 0, 0}) == RegionBoundary::none);
  CHECK(boundary({0.5, 0, -1}) == RegionBoundary::stick_slide);
}

TEST_CASE("coulomb_derivative: on a boundary it is the derivative towards stick and contact",
          "[solvers][derivative]") {
  Slope<double> slope;
  slope.speed = 0;
  slope.friction = std::tan(slope.angle);  // about to slip
  Products<double> products(slope.problem());
  REQUIRE(products.derivative.one_sided().size() == 1);
  auto change = products.nothing();
  change.free_velocity << -1, 0, 0;  // less pull
  const double h = 1e-3;
  const auto one_sided = [&](const Eigen::Vector3d& direction) {
    const Eigen::Vector3d there = slope.problem().free_velocity() + h * direction;
    ContactProblem<double> moved(slope.time_step);
    moved.add_body(slope.mass * Eigen::Matrix3d::Identity(), there);
    moved.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::RigidContact<double>{.gap = 0, .friction = slope.friction});
    return Eigen::VectorXd((solve(moved).velocity - products.answer.velocity) / h);
  };
  CHECK((products.push(change) - one_sided({-1, 0, 0})).norm() <= rounding(1000, 1 / h));
  CHECK(one_sided({1, 0, 0})(0) == Approx(1).epsilon(carom::testing::by_differences(1e-6)));
  // Rounding decides nothing: a slip of its size leaves the side as it is.
  const Eigen::VectorXd slips = products.answer.velocity + 1e-14 * Eigen::Vector3d::UnitX();
  REQUIRE(products.derivative.linearize(products.problem, slips, products.answer.impulse).usable());
  CHECK((products.push(change) - one_sided({-1, 0, 0})).norm() <= rounding(1000, 1 / h));
  // A mass that just touches: the derivative is that of pressing it down.
  ContactProblem<double> touching(0.01);
  touching.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  touching.add_contact(0, Eigen::Matrix3d::Identity(), carom::RigidContact<double>{.gap = 0});
  Products<double> resting(touching);
  auto down = resting.nothing();
  down.free_velocity << 0, 0, -1;
  CHECK(resting.push(down).norm() <= rounding(100, 1.0));
}

TEST_CASE("coulomb_derivative: without contacts the solution follows the free velocity",
          "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(4 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 3, 4));
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  problem.add_contact(1, Eigen::Matrix3d::Identity(), carom::RigidContact<double>{.gap = 0});
  Products<double> products(problem);
  auto change = products.nothing();
  change.free_velocity << 1, 2, 3, 0, 0, 0;
  change.momentum(0).setConstant(7);  // does not matter: v = v*
  CHECK((products.push(change) - change.free_velocity).norm() <= rounding(50, 1.0));
  const ContactProblem<double> empty(0.01);
  CoulombDerivative<double> derivative;
  CHECK(derivative.linearize(empty, Eigen::VectorXd(), Eigen::VectorXd()).usable());
}

TEST_CASE("coulomb_derivative: it may be moved, and used for another problem",
          "[solvers][regression]") {
  CoulombDerivative<double> reused;
  for (const double speed : {1.0, 0.0, 1.0}) {
    Slope<double> slope;
    slope.speed = speed;
    slope.friction = speed > 0 ? 0.2 : 1;
    Products<double> fresh(slope.problem());
    REQUIRE(reused.linearize(fresh.problem, fresh.answer.velocity, fresh.answer.impulse).usable());
    CoulombDerivative<double> moved = std::move(reused);
    auto change = fresh.nothing();
    change.friction(0) = change.free_velocity(0) = 1;
    Eigen::VectorXd by_moved;
    CHECK(moved.push_forward(fresh.problem, change, by_moved).converged());
    CHECK(by_moved == fresh.push(change));
    reused = std::move(moved);
  }
}

TEST_CASE("coulomb_derivative: numbers that are not finite are refused", "[solvers][example]") {
  const Slope<double> slope;
  const auto problem = slope.problem();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CoulombDerivative<double> derivative;
  const Eigen::VectorXd good = Eigen::Vector3d(0, 0, 1);
  for (const double bad : {nan, -nan, std::numeric_limits<double>::infinity()}) {
    const Eigen::VectorXd wrong = Eigen::Vector3d(0, 0, bad);
    CHECK(derivative.linearize(problem, wrong, good).status == SolveStatus::not_finite);
    const auto report = derivative.linearize(problem, good, wrong);
    CHECK(report.status == SolveStatus::not_finite);
    CHECK(report.faulty_block == 0);
  }
  CHECK(derivative.linearize(problem, good, good).faulty_block == -1);
}

namespace {

/// A problem in the plane: the second tangent row of each contact is zero.
carom::testing::RawProblem draw_planar(VectorSource<double>& source, int contacts) {
  using carom::testing::draw_body, carom::testing::draw_matrix;
  carom::testing::RawProblem raw;
  for (int b = 0; b < 2; ++b) raw.bodies.push_back(draw_body(source, 3, source.positive(2)));
  for (auto& body : raw.bodies) body.free_velocity = draw_matrix(source, 3, 1);
  for (int c = 0; c < contacts; ++c) {
    carom::testing::RawContact contact;
    contact.first = c % 2;
    contact.second = c > 1 ? 1 - c % 2 : -1;
    contact.first_jacobian = draw_matrix(source, 3, 3);
    contact.second_jacobian = draw_matrix(source, 3, 3);
    contact.first_jacobian.row(1).setZero();
    contact.second_jacobian.row(1).setZero();
    const double soft = source.pick({1e-6, 1e-3, 0.1});
    contact.law = {source.pick({0.3, 3, 10, 30}),
                   {soft * (0.1 + source.unit()), soft},
                   Eigen::Vector3d(0, 0, source.entry(2))};
    raw.contacts.push_back(contact);
  }
  return raw;
}

/// All answers of a planar problem, found by trying every combination of open, sticking, and
/// sliding to either side. `clear` is false if one of them is within 1e-6 of a boundary.
struct AllAnswers {
  std::vector<Answer<double>> found;
  bool clear = true;

  explicit AllAnswers(const carom::testing::RawProblem& raw) {
    const Index count = Index(raw.contacts.size()), n = 6;
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(n, n);
    Eigen::VectorXd free(n);
    for (int b = 0; b < 2; ++b) {
      inverse.block(3 * b, 3 * b, 3, 3) = raw.bodies[std::size_t(b)].momentum.inverse();
      free.segment(3 * b, 3) = raw.bodies[std::size_t(b)].free_velocity;
    }
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(2 * count, n);  // tangent, normal
    Eigen::VectorXd bias(2 * count), soft(2 * count);
    for (Index c = 0; c < count; ++c) {
      const auto& contact = raw.contacts[std::size_t(c)];
      for (const int row : {0, 2}) {
        const Index at = 2 * c + row / 2;
        jacobian.row(at).segment(3 * contact.first, 3) = contact.first_jacobian.row(row);
        if (contact.second >= 0) {
          jacobian.row(at).segment(3 * contact.second, 3) = contact.second_jacobian.row(row);
        }
        bias(at) = contact.law.bias_velocity(row);
        const auto& r = contact.law.regularization;
        soft(at) = row == 0 ? r.tangent : r.normal;
      }
    }
    Eigen::MatrixXd w = jacobian * inverse * jacobian.transpose();
    w.diagonal() += soft;
    const Eigen::VectorXd q = jacobian * free - bias;
    int combinations = 1;
    for (Index c = 0; c < count; ++c) combinations *= 4;
    for (int k = 0; k < combinations; ++k) {
      // Per contact: two equations in its tangential and normal impulse.
      Eigen::MatrixXd system = w;
      Eigen::VectorXd right = -q;
      int code = k;
      for (Index c = 0; c < count; ++c, code /= 4) {
        const int region = code % 4;
        const double mu = raw.contacts[std::size_t(c)].law.friction;
        const auto set = [&](Index row, double by_tangent, double by_normal) {
          system.row(row).setZero();
          system(row, 2 * c) = by_tangent;
          system(row, 2 * c + 1) = by_normal;
          right(row) = 0;
        };
        if (region == 0) set(2 * c, 1, 0), set(2 * c + 1, 0, 1);
        if (region >= 2) set(2 * c, 1, region == 2 ? mu : -mu);
      }
      const Eigen::VectorXd gamma = system.fullPivLu().solve(right), u = w * gamma + q;
      double margin = 1;
      code = k;
      for (Index c = 0; c < count; ++c, code /= 4) {
        const int region = code % 4;
        const double mu = raw.contacts[std::size_t(c)].law.friction;
        const double x = gamma(2 * c), normal = gamma(2 * c + 1), weight = w(2 * c + 1, 2 * c + 1);
        if (region == 0) margin = std::min(margin, u(2 * c + 1));
        if (region == 1) margin = std::min(margin, weight * (mu * normal - std::abs(x)));
        if (region >= 1) margin = std::min(margin, weight * normal);
        if (region >= 2) margin = std::min(margin, region == 2 ? u(2 * c) : -u(2 * c));
      }
      clear = clear && std::abs(margin) > 1e-6;
      if (!(margin > 0)) continue;
      Answer<double> answer;
      answer.velocity = free + inverse * (jacobian.transpose() * gamma);
      answer.impulse.setZero(3 * count);
      for (Index c = 0; c < count; ++c) {
        answer.impulse(3 * c) = gamma(2 * c);
        answer.impulse(3 * c + 2) = gamma(2 * c + 1);
      }
      found.push_back(answer);
    }
  }
};

}  // namespace

TEST_CASE("coulomb_derivative: the indices of all answers of a problem sum to one",
          "[solvers][oracle]") {
  VectorSource<double> source(40);
  int clear = 0, several = 0, negative = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const auto raw = draw_planar(source, 1 + trial % 3);
    const AllAnswers answers(raw);
    if (!answers.clear) continue;
    ++clear;
    const auto problem = build(raw);
    int sum = 0, least = 1;
    for (const auto& answer : answers.found) {
      CHECK(carom::judge_answer(problem, FrictionLaw::coulomb, answer.velocity, answer.impulse)
                .residual <= rounding(1e8, 1.0));
      CoulombDerivative<double> derivative;
      REQUIRE(derivative.linearize(problem, answer.velocity, answer.impulse).usable());
      const int index = derivative.index();
      CHECK((index == 1 || index == -1));
      sum += index;
      least = std::min(least, index);
    }
    CHECK(sum == 1);
    several += answers.found.size() > 1 ? 1 : 0;
    negative += least == -1 ? 1 : 0;
  }
  CHECK(clear > 900);
  CHECK(several > 20);  // the test would prove little about problems with one answer
  CHECK(negative > 20);
}

TEST_CASE(
    "coulomb_derivative: the index of a moved derivative, on a boundary, and without a factor",
    "[solvers][example]") {
  CoulombDerivative<double> derivative;
  CHECK(derivative.index() == 0);
  const Slope<double> slope;
  const Products<double> sliding(slope.problem());
  REQUIRE(derivative.linearize(sliding.problem, sliding.answer.velocity, sliding.answer.impulse)
              .usable());
  CHECK(derivative.index() == 1);
  CoulombDerivative<double> moved = std::move(derivative);
  CHECK(moved.index() == 1);
  const Eigen::VectorXd wrong = Eigen::Vector3d::Constant(std::numeric_limits<double>::quiet_NaN());
  CHECK(!moved.linearize(sliding.problem, wrong, sliding.answer.impulse).usable());
  CHECK(moved.index() == 0);
  ContactProblem<double> touching(0.01);  // neither pressed nor apart
  touching.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  touching.add_contact(0, Eigen::Matrix3d::Identity(), carom::RigidContact<double>{.gap = 0});
  const Eigen::VectorXd rest = Eigen::Vector3d::Zero();
  REQUIRE(moved.linearize(touching, rest, rest).usable());
  CHECK(moved.index() == 0);
}

}  // namespace coulomb_derivative_test
