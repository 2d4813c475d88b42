// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/small_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "carom/contact/joint_constraints.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/sap_derivative.hpp"

#include "support/catch.hpp"
#include "support/certificate_noise.hpp"
#include "support/dense_problem.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace {

using carom::ContactProblem, carom::Index, carom::SapOptions, carom::SapSolver;
using carom::SolveReport, carom::SolveStatus, carom::VectorX;
using carom::testing::assemble, carom::testing::build, carom::testing::convert_vector;
using carom::testing::draw_problem, carom::testing::draw_velocity;
using carom::testing::RawProblem, carom::testing::read_back;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

using Long = long double;

template <typename Scalar>
struct Solved {
  SolveReport<Scalar> report;
  VectorX<Scalar> velocity, impulse, contact_velocity;
};

template <typename Scalar>
Solved<Scalar> solve(const ContactProblem<Scalar>& problem, const Eigen::VectorXd& guess,
                     const SapOptions<Scalar>& options) {
  SapSolver<Scalar> solver(options);
  Solved<Scalar> solved;
  solved.velocity = convert_vector<Scalar>(guess);
  solved.report = solver.solve(problem, solved.velocity);
  solved.impulse = solver.impulse();
  solved.contact_velocity = solver.contact_velocity();
  return solved;
}

template <typename Scalar>
constexpr Scalar target = std::is_same_v<Scalar, float> ? Scalar(1e-4) : Scalar(1e-10);

/// The same problem by the small way and by the general one.
template <typename Scalar>
struct Pair {
  Solved<Scalar> direct, general;

  Pair(const ContactProblem<Scalar>& problem, const Eigen::VectorXd& guess,
       SapOptions<Scalar> options = {.tolerance = target<Scalar>})
      : direct(solve(problem, guess, options)) {
    options.small_contact_limit = 0;
    general = solve(problem, guess, options);
  }
};

/// One to three bodies, of which one alone is small, with up to 22 contacts.
template <typename Visit>
void for_each_problem(int count, const Visit& visit) {
  VectorSource<double> source(51200u);
  for (int sample = 0; sample < count; ++sample) {
    const std::vector<std::vector<int>> kinds = {{6},  {6},  {6},    {1},      {2},  {3},
                                                 {5},  {7},  {8},    {9},      {17}, {30},
                                                 {64}, {66}, {6, 6}, {6, 3, 6}};
    RawProblem raw = draw_problem(source, {.sizes = kinds[std::size_t(sample) % kinds.size()],
                                           .contact_count = (sample * 7) % 23,
                                           .stiffness_decades = double(1 + sample % 3)});
    visit(raw, draw_velocity(source, raw), sample);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("small_solver: it finds what the general way finds", "[solvers][oracle]", float,
                   double) {
  using Scalar = TestType;
  WorstCase near("within the sum of both bounds"), same("status"), met("residual"),
      honest("residual is the certificate's"), rows("impulses and contact velocities"),
      alike("as few iterations, or fewer");
  int direct_iterations = 0, general_iterations = 0;
  const int count = carom::testing::sweep(96, 960);
  for_each_problem(count, [&](const RawProblem& raw, const Eigen::VectorXd& guess, int sample) {
    const auto problem = build<Scalar>(raw);
    const Pair<Scalar> pair(problem, guess);
    const auto& [direct, general] = pair;
    const auto dense = assemble<Long>(read_back(problem));
    const VectorX<Long> apart =
        convert_vector<Long>(direct.velocity) - convert_vector<Long>(general.velocity);
    const Long size = dense.energy_norm(convert_vector<Long>(general.velocity)) +
                      dense.energy_norm(dense.free_velocity);
    near.see(
        dense.energy_norm(apart),
        direct.report.error_bound + general.report.error_bound + rounding(100, Scalar(1)) * size,
        sample);
    // In float, the largest of these end at round-off.
    same.see_holds(
        direct.report.converged() == general.report.converged() || std::is_same_v<Scalar, float>,
        sample);
    met.see(direct.report.residual, (std::max)(target<Scalar>, 10 * general.report.residual),
            sample);
    const auto certificate = carom::certify(problem, direct.velocity, direct.impulse);
    honest.see(std::abs(direct.report.residual - certificate.residual),
               rounding(3e4, Scalar(1)) * (1 + direct.report.residual), sample);
    honest.see(std::abs(direct.report.error_bound - certificate.velocity_error_bound),
               carom::testing::velocity_bound_noise(problem, direct.velocity, direct.impulse),
               sample);
    VectorX<Scalar> impulse;
    write_impulse(problem, direct.velocity, impulse);
    rows.see((impulse - direct.impulse).norm(), rounding(1e5, Scalar(1)) * (1 + impulse.norm()),
             sample);
    for (Index i = 0; i < problem.block_count(); ++i) {
      const carom::Vector3<Scalar> expected = problem.friction_contact(i).velocity(direct.velocity);
      rows.see((expected - direct.contact_velocity.template segment<3>(3 * i)).norm(),
               rounding(1000, 1 + direct.velocity.norm()), sample);
    }
    direct_iterations += direct.report.iterations;
    general_iterations += general.report.iterations;
  });
  // Some problems take a step more, or fewer, by their own rounding; more of them in float, where
  // the largest end at round-off.
  const int share = std::is_same_v<Scalar, float> ? 25 : 50;
  alike.see(direct_iterations, general_iterations + general_iterations / share);
  for (const WorstCase* law : {&near, &same, &met, &honest, &rows}) law->check(count);
  alike.check();
}

TEST_CASE("small_solver: a brick that slides takes few steps, one that rests takes one",
          "[solvers][example]") {
  const auto solve_brick = [](double push) {
    const double mass = 2, x = 0.1, y = 0.05, z = 0.03;  // half its edges
    Eigen::VectorXd inertia(6), velocity(6), guess(6);
    inertia << mass / 3 * Eigen::Vector3d(y * y + z * z, x * x + z * z, x * x + y * y),
        Eigen::Vector3d::Constant(mass);
    velocity << 0, 0, 0, push, 0.3 * push, -0.0981;
    guess << 0, 0, 0, push, 0.3 * push, 0;
    ContactProblem<double> problem(0.01);
    problem.add_body(Eigen::MatrixXd(inertia.asDiagonal()), velocity);
    for (const double a : {-x, x}) {
      for (const double b : {-y, y}) {
        Eigen::Matrix<double, 3, 6> jacobian;  // of a point: ω × r + v
        jacobian << 0, -z, -b, 1, 0, 0, z, 0, a, 0, 1, 0, b, -a, 0, 0, 0, 1;
        problem.add_contact(
            0, jacobian,
            carom::CompliantContact<double>{
                .gap = -1e-4, .stiffness = 1e5, .dissipation_time = 0.02, .friction = 0.5});
      }
    }
    return Pair<double>(problem, guess, {.tolerance = 1e-8});
  };
  int direct = 0, general = 0;
  for (int k = 1; k <= 10; ++k) {
    const auto pair = solve_brick(0.1 * k);
    CHECK(pair.direct.report.converged());
    direct += pair.direct.report.iterations;
    general += pair.general.report.iterations;
  }
  CAPTURE(direct, general);
  CHECK(4 * direct <= 3 * general);
  CHECK(solve_brick(0.3).direct.report.iterations <= 5);
  CHECK(solve_brick(0).direct.report.iterations == 1);
}

TEST_CASE("small_solver: the answer is the same to the last bit in any order of contacts",
          "[solvers][law]") {
  using Scalar = double;
  WorstCase same("bit by bit");
  std::mt19937 engine(3);
  const int count = carom::testing::sweep(24, 64);
  for_each_problem(count, [&](const RawProblem& raw, const Eigen::VectorXd& guess, int sample) {
    const auto plain = solve(build<Scalar>(raw), guess, SapOptions<Scalar>{});
    std::vector<std::size_t> from(raw.contacts.size());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = i;
    std::shuffle(from.begin(), from.end(), engine);
    RawProblem shuffled = raw;
    for (std::size_t i = 0; i < from.size(); ++i) shuffled.contacts[i] = raw.contacts[from[i]];
    const auto other = solve(build<Scalar>(shuffled), guess, SapOptions<Scalar>{});
    bool equal = other.velocity == plain.velocity &&
                 other.report.residual == plain.report.residual &&
                 other.report.iterations == plain.report.iterations;
    for (std::size_t i = 0; i < from.size(); ++i) {
      equal = equal && other.impulse.template segment<3>(3 * Index(i)) ==
                           plain.impulse.template segment<3>(3 * Index(from[i]));
    }
    same.see_holds(equal, sample);
  });
  same.check(count);
}

TEST_CASE("small_solver: one solver serves small problems and others in turn", "[solvers][law]") {
  WorstCase same("reused = fresh"), pattern("the graph is that of the last problem"),
      derivative("the derivative prepared by the solver is its own");
  SapSolver<double> reused;
  carom::SapDerivative<double> shared;
  for_each_problem(64, [&](const RawProblem& raw, const Eigen::VectorXd& guess, int sample) {
    ContactProblem<double> problem = build(raw);
    if (sample % 6 == 5) {  // as many parts as another problem has contacts
      const Eigen::MatrixXd row = Eigen::RowVectorXd::Ones(raw.bodies[0].free_velocity.size());
      problem.add_constraint(
          0, row, carom::JointLimit<double>{.gap = -1e-3, .compliance = carom::Compliance::step});
    }
    if (sample % 7 == 6) reused.prepare(problem);
    Eigen::VectorXd velocity = guess;
    const auto report = reused.solve(problem, velocity);
    const auto fresh = solve(problem, guess, SapOptions<double>{});
    same.see_holds(velocity == fresh.velocity && report.residual == fresh.report.residual &&
                       reused.impulse() == fresh.impulse &&
                       reused.contact_velocity() == fresh.contact_velocity,
                   sample);
    carom::ContactGraph graph;
    graph.analyse(problem, reused.options().factor_work_limit);
    bool equal = graph.slot_count() == reused.graph().slot_count() &&
                 graph.part_count() == reused.graph().part_count() &&
                 graph.islands().size() == reused.graph().islands().size();
    for (Index b = 0; equal && b < problem.body_count(); ++b) {
      equal = graph.slot_of(b) == reused.graph().slot_of(b);
    }
    pattern.see_holds(equal, sample);
    shared.prepare(reused);
    carom::SapDerivative<double> alone;
    const bool usable = shared.linearize(problem, velocity).usable();
    derivative.see_holds(usable == alone.linearize(problem, velocity).usable(), sample);
    if (!usable) return;
    carom::ProblemDifferential<double> a, b;
    a.set_zero(problem);
    b.set_zero(problem);
    static_cast<void>(shared.pull_back(problem, guess, a));
    static_cast<void>(alone.pull_back(problem, guess, b));
    derivative.see((a.free_velocity - b.free_velocity).norm(),
                   rounding(1e4, 1.0) * b.free_velocity.norm(), sample);
  });
  for (const WorstCase* law : {&same, &pattern, &derivative}) law->check(64);
}

TEMPLATE_TEST_CASE("small_solver: guesses out of range, and limits", "[solvers][example]", float,
                   double) {
  using Scalar = TestType;
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  for_each_problem(16, [&](const RawProblem& raw, const Eigen::VectorXd& guess, int sample) {
    if (raw.bodies.size() > 1) return;
    CAPTURE(sample);
    const auto problem = build<Scalar>(raw);
    SapSolver<Scalar> solver;
    for (const Scalar bad : {std::numeric_limits<Scalar>::quiet_NaN(), infinity}) {
      VectorX<Scalar> velocity = convert_vector<Scalar>(guess);
      velocity(guess.size() - 1) = bad;
      const VectorX<Scalar> before = velocity;
      const auto report = solver.solve(problem, velocity);
      CHECK(report.status == SolveStatus::not_finite);
      CHECK(report.residual == infinity);
      CHECK(report.error_bound == infinity);
      CHECK((velocity.head(guess.size() - 1) == before.head(guess.size() - 1)));
      CHECK(solver.impulse().size() == 3 * problem.block_count());
      CHECK(solver.impulse().isZero(0));
    }
    for (const int limit : {0, 1, 2}) {
      const Pair<Scalar> pair(problem, guess,
                              {.tolerance = target<Scalar>, .iteration_limit = limit});
      CHECK(pair.direct.report.iterations <= limit);
      CHECK((pair.direct.report.converged() ||
             pair.direct.report.status == SolveStatus::iteration_limit));
      CHECK(pair.direct.report.residual_target == target<Scalar>);
      const auto dense = assemble<Long>(read_back(problem));
      CHECK(dense.cost(convert_vector<Long>(pair.direct.velocity)) <=
            dense.cost(convert_vector<Long>(convert_vector<Scalar>(guess))) *
                (1 + rounding(100, Scalar(1))));
    }
    const Scalar tiny = (std::numeric_limits<Scalar>::min)();
    const Pair<Scalar> floor(problem, guess, {.tolerance = tiny});
    CHECK((floor.direct.report.status == SolveStatus::no_progress ||
           floor.direct.report.converged()));
    CHECK(floor.direct.report.residual <= rounding(1e4, Scalar(1)));
    // A loose tolerance is met at once, and the guess comes back as it was.
    SapSolver<Scalar> loose({.tolerance = Scalar(0.01)});
    VectorX<Scalar> velocity = floor.direct.velocity;
    CHECK(loose.solve(problem, velocity).iterations == 0);
    CHECK((velocity == floor.direct.velocity));
  });
}

TEST_CASE("small_solver: data whose squares leave the range of the type are reported",
          "[solvers][input]") {
  for (const double speed : {1e200, 1e300}) {
    ContactProblem<double> problem(0.01);
    problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(speed, 0, -speed));
    problem.add_contact(0, Eigen::Matrix3d::Identity(),
                        carom::WeightedContact<double>{0.5, {1e-3, 1e-3}, {0, 0, 0}});
    SapSolver<double> solver;
    VectorX<double> velocity = VectorX<double>::Zero(3);
    const auto report = solver.solve(problem, velocity);
    CHECK(report.status == SolveStatus::not_finite);
    CHECK(report.residual == std::numeric_limits<double>::infinity());
    CHECK(velocity.isZero(0));  // as it was
  }
}
