// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/sap_derivative.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "carom/contact/compliance_derivative.hpp"

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/dual.hpp"
#include "support/problem_change.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace sap_derivative_test {

using carom::testing::by_differences;
using carom::testing::by_solver;

using carom::CompliantContact, carom::ContactProblem, carom::DifferentialParts, carom::Index;
using carom::MatrixX, carom::ProblemDifferential, carom::RegionBoundary, carom::SapDerivative;
using carom::SapSolver, carom::SolveStatus, carom::Vector3, carom::VectorX;
using carom::testing::assemble, carom::testing::build, carom::testing::DenseProblem;
using carom::testing::draw_change, carom::testing::draw_matrix, carom::testing::draw_problem;
using carom::testing::Dual, carom::testing::for_each_drawn, carom::testing::move;
using carom::testing::RawProblem, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

static_assert(noexcept(std::declval<SapDerivative<double>&>().linearize(
    std::declval<const ContactProblem<double>&>(), std::declval<const VectorX<double>&>())));
static_assert(noexcept(std::declval<SapDerivative<double>&>().push_forward(
    std::declval<const ContactProblem<double>&>(),
    std::declval<const ProblemDifferential<double>&>(), std::declval<VectorX<double>&>())));
static_assert(noexcept(std::declval<SapDerivative<double>&>().pull_back(
    std::declval<const ContactProblem<double>&>(), std::declval<const VectorX<double>&>(),
    std::declval<ProblemDifferential<double>&>())));

namespace {

using Long = long double;

Eigen::VectorXd solve(const ContactProblem<double>& problem, double tolerance = 1e-13) {
  return carom::testing::solve(problem, tolerance);
}

/// Problems in which every body moves and every region comes up.
template <typename Visit>
void for_each_problem(int count, const Visit& visit) {
  for_each_drawn(
      {count, 9901u},
      [](VectorSource<double>& source, const std::vector<int>& sizes) {
        return draw_problem(
            source,
            {.sizes = sizes, .contact_count = 5, .mass_decades = 1, .stiffness_decades = 1});
      },
      visit);
}

/// Enough bodies that an incomplete factor leaves something out.
const carom::testing::RawShape crowd{
    .sizes = {6, 3, 6, 1, 6, 6, 2, 6}, .contact_count = 24, .stiffness_decades = 1};

using Number = Dual<Long, 1>;

/// ∇ℓ(v + s dv, θ + s dθ), differentiated by s at 0, all by automatic differentiation.
VectorX<Long> gradient_change(const RawProblem& raw, const VectorX<Long>& v,
                              const VectorX<Long>& dv, const ProblemDifferential<double>* change) {
  DenseProblem<Number> dense = assemble<Number>(raw);
  if (change != nullptr) {
    const auto here = assemble<Long>(raw);
    // Data enter linearly, so a step of one gives their slopes exactly but for round-off.
    const auto there = assemble<Long>(move(raw, *change, 1));
    const auto lean = [](auto& into, const auto& from, const auto& to) {
      for (Index k = 0; k < into.size(); ++k) into(k).slope[0] = to(k) - from(k);
    };
    lean(dense.momentum, here.momentum, there.momentum);
    lean(dense.jacobian, here.jacobian, there.jacobian);
    lean(dense.free_velocity, here.free_velocity, there.free_velocity);
    lean(dense.bias, here.bias, there.bias);
    lean(dense.weights, here.weights, there.weights);
    lean(dense.friction, here.friction, there.friction);
  }
  VectorX<Number> point(v.size());
  for (Index k = 0; k < v.size(); ++k) {
    point(k) = Number(v(k));
    point(k).slope[0] = dv(k);
  }
  const VectorX<Number> slope = dense.gradient(point);
  VectorX<Long> result(v.size());
  for (Index k = 0; k < v.size(); ++k) result(k) = slope(k).slope[0];
  return result;
}

/// dv by the implicit function theorem with dense matrices and automatic differentiation.
VectorX<Long> dense_change(const RawProblem& raw, const Eigen::VectorXd& velocity,
                           const ProblemDifferential<double>& change) {
  const Index n = velocity.size();
  const VectorX<Long> v = velocity.cast<Long>(), zero = VectorX<Long>::Zero(n);
  MatrixX<Long> hessian(n, n);
  for (Index k = 0; k < n; ++k) {
    VectorX<Long> unit = zero;
    unit(k) = 1;
    hessian.col(k) = gradient_change(raw, v, unit, nullptr);
  }
  const VectorX<Long> right = -gradient_change(raw, v, zero, &change);
  return carom::testing::multiply(carom::testing::invert(hessian), right);
}

}  // namespace

TEST_CASE(
    "sap_derivative: a change of all data moves the solution as automatic differentiation "
    "of the optimality conditions says",
    "[solvers][derivative]") {
  WorstCase same("dv by dense autodiff");
  for_each_problem(16, [&](VectorSource<double>& source, const RawProblem& raw) {
    const auto problem = build(raw);
    const Eigen::VectorXd velocity = solve(problem);
    const auto change = draw_change(source, problem);
    SapDerivative<double> derivative;
    REQUIRE(derivative.linearize(problem, velocity).usable());
    Eigen::VectorXd moved;
    CHECK(derivative.push_forward(problem, change, moved).converged());
    const VectorX<Long> expected = dense_change(raw, velocity, change);
    same.see((moved.cast<Long>() - expected).norm(), by_solver(1e-10L) * (1 + expected.norm()));
  });
  same.check(16);
}

TEMPLATE_TEST_CASE("sap_derivative: the two products are each other's transposes", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  for (const double limit : {1e12, 0.0}) {  // a factor, conjugate gradients
    WorstCase identity(limit > 0 ? "<(u, q), J w> = <J'(u, q), w>, factor"
                                 : "<(u, q), J w> = <J'(u, q), w>, CG");
    for_each_problem(40, [&](VectorSource<double>& source, const RawProblem& raw) {
      const auto problem = build<Scalar>(raw);
      SapSolver<Scalar> solver;
      VectorX<Scalar> velocity = problem.free_velocity();
      static_cast<void>(solver.solve(problem, velocity));
      SapDerivative<Scalar> derivative({.factor_work_limit = limit});
      REQUIRE(derivative.linearize(problem, velocity).usable());
      const auto w = draw_change(source, problem);
      const VectorX<Scalar> u = draw_matrix(source, velocity.size(), 1).template cast<Scalar>();
      const VectorX<Scalar> q =
          draw_matrix(source, problem.impulse_count(), 1).template cast<Scalar>();
      VectorX<Scalar> moved, alone, pressed;
      ProblemDifferential<Scalar> gradient;
      gradient.set_zero(problem);
      CHECK(derivative.push_forward(problem, w, moved, pressed).status != SolveStatus::not_finite);
      CHECK(derivative.push_forward(problem, w, alone).status != SolveStatus::not_finite);
      CHECK(alone == moved);
      CHECK(derivative.pull_back(problem, u, q, gradient).status != SolveStatus::not_finite);
      const Scalar left = u.dot(moved) + q.dot(pressed), right = gradient.dot(w);
      const Scalar size = u.norm() * moved.norm() + q.norm() * pressed.norm() +
                          gradient.free_velocity.norm() * w.free_velocity.norm() +
                          gradient.friction.norm() * w.friction.norm() +
                          gradient.regularization.cwiseProduct(w.regularization).norm() +
                          gradient.bias_velocity.norm() * w.bias_velocity.norm() +
                          gradient.matrices.cwiseProduct(w.matrices).norm();
      identity.see(std::abs(left - right), rounding(limit > 0 ? 3000 : 200000, size));
    });
    identity.check(40);
  }
}

TEST_CASE("sap_derivative: conjugate gradients and the factor agree", "[solvers][oracle]") {
  WorstCase same("dv by CG");
  int products = 0;
  VectorSource<double> source(77u);
  for (int sample = 0; sample < 20; ++sample) {
    const RawProblem raw = draw_problem(source, crowd);
    const auto problem = build(raw);
    const Eigen::VectorXd velocity = solve(problem);
    const auto change = draw_change(source, problem);
    SapDerivative<double> factor, iterative({.factor_work_limit = 0});
    REQUIRE(factor.linearize(problem, velocity).usable());
    REQUIRE(iterative.linearize(problem, velocity).usable());
    Eigen::VectorXd a, b;
    CHECK(factor.push_forward(problem, change, a).iterations == 0);
    const auto report = iterative.push_forward(problem, change, b);
    CHECK(report.converged());
    CHECK(report.residual <= report.residual_target);
    products += report.iterations;
    same.see((a - b).norm(), by_solver(1e-9) * (1 + a.norm()));
  }
  CHECK(products > 60);
  same.check(20);
}

TEST_CASE("sap_derivative: it reports when conjugate gradients miss the tolerance",
          "[solvers][example]") {
  VectorSource<double> source(11u);
  const RawProblem raw = draw_problem(source, crowd);
  const auto problem = build(raw);
  SapDerivative<double> derivative({.factor_work_limit = 0, .product_limit = 1});
  REQUIRE(derivative.linearize(problem, solve(problem)).usable());
  Eigen::VectorXd moved;
  const auto report = derivative.push_forward(problem, draw_change(source, problem), moved);
  CHECK(report.status == SolveStatus::iteration_limit);
  CHECK(report.residual > report.residual_target);
}

TEST_CASE("sap_derivative: the solver's analysis is taken over, whatever was seen before",
          "[solvers][law]") {
  SapDerivative<double> shared;
  SapSolver<double> solver;
  for_each_problem(8, [&](VectorSource<double>& source, const RawProblem& raw) {
    const auto problem = build(raw);
    Eigen::VectorXd velocity = problem.free_velocity();
    static_cast<void>(solver.solve(problem, velocity));
    shared.prepare(solver);
    SapDerivative<double> alone;
    REQUIRE(alone.linearize(problem, velocity).usable());
    REQUIRE(shared.linearize(problem, velocity).usable());
    const auto change = draw_change(source, problem);
    Eigen::VectorXd a, b;
    static_cast<void>(alone.push_forward(problem, change, a));
    SapDerivative<double> moved = std::move(shared);
    static_cast<void>(moved.push_forward(problem, change, b));
    CHECK(a == b);
    shared = std::move(moved);
  });
}

TEST_CASE("sap_derivative: contacts of one body that change places keep their own derivatives",
          "[solvers][regression]") {
  // Two contacts of one body, one stuck and one open, first the one, then the other.
  SapDerivative<double> reused;
  for (const bool first_stuck : {true, false, true}) {
    ContactProblem<double> problem(0.01);
    problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0.01, 0, 0));
    const Eigen::Matrix3d up = Eigen::Matrix3d::Identity();
    const Eigen::Matrix3d aside = Eigen::Vector3d(2, 3, 0.5).asDiagonal();
    for (const bool stuck : {first_stuck, !first_stuck}) {
      problem.add_contact(
          0, stuck == first_stuck ? up : aside,
          carom::WeightedContact<double>{0.8, {0.1, 0.1}, Eigen::Vector3d(0, 0, stuck ? 0.2 : -5)});
    }
    const Eigen::VectorXd velocity = solve(problem);
    SapDerivative<double> fresh;
    REQUIRE(reused.linearize(problem, velocity).usable());
    REQUIRE(fresh.linearize(problem, velocity).usable());
    ProblemDifferential<double> by_reused, by_fresh;
    by_reused.set_zero(problem);
    by_fresh.set_zero(problem);
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(3);
    CHECK(reused.pull_back(problem, ones, by_reused).converged());
    CHECK(fresh.pull_back(problem, ones, by_fresh).converged());
    CHECK(by_reused.free_velocity == by_fresh.free_velocity);
    CHECK(by_reused.bias_velocity == by_fresh.bias_velocity);
  }
}

TEST_CASE("sap_derivative: analyses of different solvers are told apart", "[solvers][regression]") {
  // Each solver has analysed once, so that counts alone would not tell.
  SapDerivative<double> shared;
  for_each_problem(4, [&](VectorSource<double>& source, const RawProblem& raw) {
    const auto problem = build(raw);
    SapSolver<double> solver;
    Eigen::VectorXd velocity = problem.free_velocity();
    static_cast<void>(solver.solve(problem, velocity));
    shared.prepare(solver);
    REQUIRE(shared.linearize(problem, velocity).usable());
    SapDerivative<double> alone;
    REQUIRE(alone.linearize(problem, velocity).usable());
    const auto change = draw_change(source, problem);
    Eigen::VectorXd a, b;
    static_cast<void>(alone.push_forward(problem, change, a));
    static_cast<void>(shared.push_forward(problem, change, b));
    CHECK(a == b);
  });
}

TEST_CASE("sap_derivative: without contacts the solution follows the free velocity",
          "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(4 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 3, 4));
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  SapDerivative<double> derivative;
  const Eigen::VectorXd velocity = problem.free_velocity();
  CHECK(derivative.linearize(problem, velocity).usable());
  ProblemDifferential<double> change;
  change.set_zero(problem);
  change.free_velocity << 1, 2, 3, 4, 5, 6;
  change.momentum(0).setConstant(7);  // does not matter: v = v*
  Eigen::VectorXd moved;
  CHECK(derivative.push_forward(problem, change, moved).converged());
  CHECK((moved - change.free_velocity).norm() <= rounding(50, 1.0));
  ProblemDifferential<double> gradient;
  gradient.set_zero(problem, DifferentialParts::vectors);
  CHECK(derivative.pull_back(problem, moved, gradient).converged());
  CHECK((gradient.free_velocity - moved).norm() <= rounding(50, 1.0));
  CHECK_FALSE(gradient.has_matrices());
  const ContactProblem<double> empty(0.01);
  CHECK(derivative.linearize(empty, Eigen::VectorXd()).usable());
}

TEST_CASE("sap_derivative: contacts on a boundary are named, others not", "[solvers][example]") {
  // Unit mass, R = 1: sticking impulse −v̂-free, v = v*/2; friction ½.
  const auto make = [](const Eigen::Vector3d& free) {
    ContactProblem<double> problem(0.01);
    for (int copy = 0; copy < 2; ++copy) {
      const Eigen::Vector3d inside(0.1, 0, -1);  // the first sticks well inside its cone
      problem.add_body(Eigen::Matrix3d::Identity(), copy == 0 ? inside : free);
      problem.add_contact(copy, Eigen::Matrix3d::Identity(),
                          carom::WeightedContact<double>{0.5, {1, 1}, Eigen::Vector3d::Zero()});
    }
    return problem;
  };
  const auto check = [&](const Eigen::Vector3d& free, RegionBoundary expected) {
    const auto problem = make(free);
    SapDerivative<double> derivative;
    const auto report = derivative.linearize(problem, solve(problem));
    CHECK(report.usable());
    CHECK(report.boundary_count == (expected == RegionBoundary::none ? 0 : 1));
    CHECK(derivative.boundary(0) == RegionBoundary::none);
    const Eigen::Vector3d sticks(-0.05, 0, 0.5);
    CHECK((derivative.friction_contact(0).impulse - sticks).norm() <= rounding(5000, 1.0));
    CHECK(derivative.boundary(1) == expected);
  };
  check({0.5, 0, -1}, RegionBoundary::stick_slide);
  check({0.3, 0.4, -1}, RegionBoundary::stick_slide);
  check({0.5 + 1e-4, 0, -1}, RegionBoundary::none);
  check({0.5 - 1e-4, 0, -1}, RegionBoundary::none);
  check({0, 0, -1}, RegionBoundary::none);
  check({1, 0, 0.5}, RegionBoundary::open_closed);  // eₙ + μ‖eₜ‖ = 0
  check({1, 0, 0.5 + 1e-4}, RegionBoundary::none);
  check({1, 0, 0.5 - 1e-4}, RegionBoundary::none);
  check({0, 0, 0}, RegionBoundary::open_closed);  // the apex: a contact just touching
  check({0, 0, 2}, RegionBoundary::none);
}

TEST_CASE("sap_derivative: numbers that are not finite are refused", "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  problem.add_contact(0, Eigen::Matrix3d::Identity(), {.gap = 0, .stiffness = 1e5});
  SapDerivative<double> derivative;
  const double huge = std::numeric_limits<double>::max();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, -huge, std::numeric_limits<double>::infinity()}) {
    const auto report = derivative.linearize(problem, Eigen::Vector3d(0, 0, bad));
    CHECK_FALSE(report.usable());
    CHECK(report.status == SolveStatus::not_finite);
  }
}

namespace {

/// A block sliding on a compliant plane, its height fed back to the gap: where it is after some
/// steps, and the derivative of that.
struct Slide {
  double friction = 0.3, mass = 2, speed = 3, stiffness = 1e4, gravity = 9.81, time_step = 0.01;

  struct Step {
    ContactProblem<double> problem{1.0};
    Eigen::VectorXd velocity;
  };
  [[nodiscard]] CompliantContact<double> contact(double height) const {
    return {.gap = height, .stiffness = stiffness, .dissipation_time = 0.02, .friction = friction};
  }
  /// Where its weight and the spring balance.
  [[nodiscard]] double start_height() const { return -mass * gravity / stiffness; }
  [[nodiscard]] ContactProblem<double> step(const Vector3<double>& velocity, double height) const {
    ContactProblem<double> problem(time_step);
    const Vector3<double> free = velocity - Vector3<double>(0, 0, gravity * time_step);
    problem.add_body(mass * Eigen::Matrix3d::Identity(), free);
    problem.add_contact(0, Eigen::Matrix3d::Identity(), contact(height));
    return problem;
  }
  std::vector<Step> roll(int count, Vector3<double>& place) const {
    std::vector<Step> steps;
    Vector3<double> velocity(speed, 0, 0);
    place = Vector3<double>(0, 0, start_height() - 1e-4);
    for (int k = 0; k < count; ++k) {
      Step next{step(velocity, place.z()), {}};
      next.velocity = solve(next.problem, 1e-15);
      velocity = next.velocity;
      place += time_step * velocity;
      steps.push_back(std::move(next));
    }
    return steps;
  }
  [[nodiscard]] double distance(int count) const {
    Vector3<double> place;
    static_cast<void>(roll(count, place));
    return place.x() + 2 * place.z();
  }
};

}  // namespace

TEST_CASE("sap_derivative: the gradient of a rollout is that of its end by the start",
          "[solvers][scene]") {
  const Slide slide;
  const int count = 25;
  Vector3<double> place;
  const auto steps = slide.roll(count, place);
  double by_friction = 0, by_speed = 0, by_stiffness = 0, by_mass = 0;
  Vector3<double> place_bar(1, 0, 2), velocity_bar(0, 0, 0);
  SapDerivative<double> derivative;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const ContactProblem<double>& problem = step->problem;
    velocity_bar += slide.time_step * place_bar;
    const auto report = derivative.linearize(problem, step->velocity);
    REQUIRE(report.usable());
    REQUIRE(report.boundary_count == 0);
    ProblemDifferential<double> gradient;
    gradient.set_zero(problem);
    REQUIRE(derivative.pull_back(problem, Eigen::VectorXd(velocity_bar), gradient).converged());
    const auto inverse_mass = carom::inverse_mass_of(problem, 0);
    const auto law =
        carom::make_compliance_derivative(slide.contact(0), slide.time_step, inverse_mass.value);
    CHECK_FALSE(law.near_rigid);
    by_friction += gradient.friction(0);
    by_stiffness += gradient.regularization(2) * law.normal_by_stiffness;
    by_mass += gradient.momentum(0).cwiseProduct(problem.momentum_matrix(0)).sum() / slide.mass;
    by_mass += gradient.regularization.head(2).sum() * law.tangent_by_inverse_mass *
               inverse_mass.by_log_mass[0] / slide.mass;
    place_bar.z() += gradient.bias_velocity(2) * law.bias_by_gap;
    velocity_bar = gradient.free_velocity;
  }
  by_speed = velocity_bar.x();
  // The start, too, follows mass and stiffness.
  by_mass -= place_bar.z() * slide.gravity / slide.stiffness;
  by_stiffness += place_bar.z() * slide.mass * slide.gravity / (slide.stiffness * slide.stiffness);
  const auto difference = [&](double Slide::*datum, double step) {
    Slide more = slide, less = slide;
    more.*datum += step;
    less.*datum -= step;
    return (more.distance(count) - less.distance(count)) / (2 * step);
  };
  CHECK(by_friction == Approx(difference(&Slide::friction, 1e-5)).epsilon(by_differences(1e-7)));
  CHECK(by_speed == Approx(difference(&Slide::speed, 1e-5)).epsilon(by_differences(1e-7)));
  CHECK(by_mass == Approx(difference(&Slide::mass, 1e-4)).epsilon(by_differences(1e-6)));
  CHECK(by_stiffness == Approx(difference(&Slide::stiffness, 1)).epsilon(by_differences(1e-6)));
}

TEST_CASE("sap_derivative: a derivative beyond the largest number is reported",
          "[solvers][input]") {
  // A body without contacts answers a force by its inverse mass alone: dv = A⁻¹ dp.
  ContactProblem<double> problem(0.01);
  problem.add_body(1e-3 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  SapDerivative<double> derivative;
  REQUIRE(derivative.linearize(problem, problem.free_velocity()).usable());
  ProblemDifferential<double> gradient;
  gradient.set_zero(problem);
  const Eigen::VectorXd large = Eigen::Vector3d(0, 0, 1e307);
  CHECK(derivative.pull_back(problem, large, gradient).status == SolveStatus::not_finite);
  gradient.set_zero(problem);
  CHECK(derivative.pull_back(problem, Eigen::VectorXd(large * 1e-300), gradient).converged());
}

}  // namespace sap_derivative_test
