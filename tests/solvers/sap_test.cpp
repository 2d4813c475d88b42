// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/sap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/certificate_noise.hpp"
#include "support/constrained_problem.hpp"
#include "support/contact_solver_laws.hpp"
#include "support/deadline_laws.hpp"
#include "support/dense_problem.hpp"
#include "support/dual_oracle.hpp"
#include "support/executors.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "ensemble/random_step.hpp"

namespace sap_test {

using carom::testing::by_conditioning;
using carom::testing::by_solver;

using carom::ContactProblem, carom::Index, carom::SapOptions, carom::SapSolver;
using carom::SolveReport, carom::SolveStatus, carom::VectorX;
using carom::testing::assemble, carom::testing::build, carom::testing::convert_vector;
using carom::testing::DenseProblem, carom::testing::draw_problem, carom::testing::draw_velocity;
using carom::testing::RawContact, carom::testing::RawProblem, carom::testing::read_back;
using carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

static_assert(noexcept(std::declval<SapSolver<double>&>().solve(
    std::declval<const ContactProblem<double>&>(), std::declval<VectorX<double>&>())));
static_assert(noexcept(std::declval<const SapSolver<float>&>().impulse()));
static_assert(noexcept(std::declval<const SapSolver<float>&>().contact_velocity()));

namespace {

using Long = long double;

/// Problems small enough for the oracle, each with a guess.
template <typename Visit>
void for_each_problem(int count, const Visit& visit) {
  VectorSource<double> source(68000u);
  for (int sample = 0; sample < count; ++sample) {
    std::vector<int> sizes = {6, 1, 3};
    if (sample % 5 == 1) sizes = {7, 6, 6};
    if (sample % 5 == 2) sizes = {30, 2};
    if (sample % 5 == 3) sizes = {6};
    const RawProblem raw =
        draw_problem(source, {.sizes = sizes, .contact_count = 5, .stiffness_decades = 1});
    visit(raw, draw_velocity(source, raw));
  }
}

struct Solved {
  SolveReport<double> report;
  Eigen::VectorXd velocity, impulse;
};

Solved solve(const RawProblem& raw, const Eigen::VectorXd& guess,
             const SapOptions<double>& options = {.tolerance = 1e-12}) {
  SapSolver<double> solver(options);
  Solved solved{{}, guess, {}};
  solved.report = solver.solve(build(raw), solved.velocity);
  solved.impulse = solver.impulse();
  return solved;
}

Long distance(const DenseProblem<Long>& dense, const Eigen::VectorXd& a, const VectorX<Long>& b) {
  return dense.energy_norm(convert_vector<Long>(a) - b);
}

}  // namespace

TEST_CASE("sap: obeys the laws of every solver of bodies", "[solvers][law]") {
  carom::testing::check_contact_laws([](carom::FrictionLaw law, double tolerance, int limit) {
    return SapSolver<double>({.law = law, .tolerance = tolerance, .iteration_limit = limit});
  });
}

TEMPLATE_TEST_CASE("sap: it finds what an independent solver of the dual finds",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase near("within the sum of both certified bounds"), tight("both bounds are small"),
      converged("converged");
  for_each_problem(25, [&](const RawProblem& given, const Eigen::VectorXd& guess) {
    const auto problem = build<Scalar>(given);
    const auto dense = assemble<Long>(read_back(problem));
    const auto exact = carom::testing::solve_by_dual_oracle<Long>(dense, 1e-15L, 60000);
    const Scalar target = std::is_same_v<Scalar, float> ? Scalar(1e-4) : Scalar(1e-12);
    SapSolver<Scalar> solver({.tolerance = target});
    VectorX<Scalar> velocity = convert_vector<Scalar>(guess);
    const SolveReport<Scalar> report = solver.solve(problem, velocity);
    const Long error = dense.energy_norm(convert_vector<Long>(velocity) - exact.velocity);
    const Long size = dense.energy_norm(exact.velocity) + dense.energy_norm(dense.free_velocity);
    converged.see_holds(report.converged() && report.residual <= target &&
                        report.residual_target == target);
    near.see(error, report.error_bound + exact.error_bound + rounding(100, Scalar(1)) * size);
    tight.see(exact.error_bound, by_solver(1e-12L) * size);
    tight.see(report.error_bound, 5 * Long(target) * size);
  });
  near.check(25);
  tight.check(50);
  converged.check(25);
}

TEST_CASE("sap: the error bound holds after any number of iterations", "[solvers][law]") {
  WorstCase bound("|v - v_opt|_A <= error_bound"), finite("finite"), limited("iterations"),
      status("status"), cost("no worse than the guess");
  for_each_problem(30, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    const auto dense = assemble<Long>(raw);
    const Solved best = solve(raw, guess, {.tolerance = 1e-14});
    const VectorX<Long> optimum = convert_vector<Long>(best.velocity);
    const Long guess_cost = dense.cost(convert_vector<Long>(guess));
    for (const int limit : {0, 1, 2, 3, 5, 8}) {
      const Solved solved = solve(raw, guess, {.tolerance = 1e-12, .iteration_limit = limit});
      finite.see_holds(solved.velocity.allFinite() && solved.impulse.allFinite());
      limited.see_holds(solved.report.iterations <= limit);
      status.see_holds(solved.report.converged() ||
                       (solved.report.status == SolveStatus::iteration_limit &&
                        solved.report.iterations == limit &&
                        solved.report.residual > solved.report.residual_target));
      const Long slack = 1e-13L * (dense.energy_norm(optimum) + 1);
      bound.see(distance(dense, solved.velocity, optimum),
                solved.report.error_bound + best.report.error_bound + slack, double(limit));
      const Long reached = dense.cost(convert_vector<Long>(solved.velocity));
      cost.see(reached, guess_cost * (1 + rounding(20, 1.0)), double(limit));
    }
  });
  for (const WorstCase* law : {&bound, &finite, &limited, &status, &cost}) law->check(180);
}

TEST_CASE("sap: the report's residual is the certificate's", "[solvers][oracle]") {
  WorstCase residual("residual"), bound("error bound"), readable("impulse and contact velocity");
  for_each_problem(30, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    const auto problem = build(raw);
    for (const int limit : {0, 1, 2, 200}) {
      SapSolver<double> solver({.iteration_limit = limit});
      Eigen::VectorXd velocity = guess;
      const auto report = solver.solve(problem, velocity);
      const auto certificate = carom::certify(problem, velocity, Eigen::VectorXd(solver.impulse()));
      const double noise = rounding(3000, 1.0);
      residual.see(std::abs(report.residual - certificate.residual), noise * (1 + report.residual));
      // The report leaves out what rounding can have done, which the certificate includes.
      bound.see(std::abs(report.error_bound - certificate.velocity_error_bound),
                carom::testing::velocity_bound_noise(problem, velocity,
                                                     Eigen::VectorXd(solver.impulse())));
      Eigen::VectorXd impulse;
      write_impulse(problem, velocity, impulse);
      readable.see((impulse - solver.impulse()).norm(),
                   by_conditioning(1e-10) * (1 + impulse.norm()));
      for (Index i = 0; i < problem.block_count(); ++i) {
        const Eigen::Vector3d expected = problem.friction_contact(i).velocity(velocity);
        readable.see((expected - solver.contact_velocity().segment<3>(3 * i)).norm(),
                     rounding(1000, 1 + velocity.norm()));
      }
    }
  });
  residual.check(120);
  bound.check(120);
  readable.check(120);
}

TEMPLATE_TEST_CASE("sap: a good guess comes back bit by bit in zero iterations", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  WorstCase unchanged("unchanged"), cheap("zero iterations");
  for_each_problem(30, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    const auto problem = build<Scalar>(raw);
    SapSolver<Scalar> tight(
        {.tolerance = std::is_same_v<Scalar, float> ? Scalar(3e-5) : Scalar(1e-11)});
    VectorX<Scalar> velocity = convert_vector<Scalar>(guess);
    static_cast<void>(tight.solve(problem, velocity));
    const VectorX<Scalar> before = velocity;
    SapSolver<Scalar> loose;
    const auto report = loose.solve(problem, velocity);
    cheap.see_holds(report.converged() && report.iterations == 0);
    unchanged.see_holds(velocity == before);
  });
  unchanged.check(30);
  cheap.check(30);
}

TEST_CASE("sap: a warm start is cheaper than a cold one", "[solvers][example]") {
  int warm = 0, cold = 0;
  for_each_problem(30, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    Solved solved = solve(raw, guess);
    RawProblem moved = raw;
    for (auto& body : moved.bodies) body.free_velocity *= 1.001;
    cold += solve(moved, Eigen::VectorXd::Constant(guess.size(), 5)).report.iterations;
    warm += solve(moved, solved.velocity).report.iterations;
  });
  CAPTURE(warm, cold);
  CHECK(2 * warm < cold);
}

TEST_CASE("sap: a guess that is not finite is left alone", "[solvers][example]") {
  for_each_problem(3, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Eigen::VectorXd poisoned = guess;
      poisoned(guess.size() - 1) = bad;
      const Solved solved = solve(raw, poisoned);
      CHECK(solved.report.status == SolveStatus::not_finite);
      CHECK(solved.report.iterations == 0);
      CHECK_FALSE(solved.report.residual <= 1e300);
      CHECK_FALSE(solved.report.error_bound <= 1e300);
      CHECK(solved.velocity.head(guess.size() - 1) == guess.head(guess.size() - 1));
      CHECK_FALSE(std::isfinite(solved.velocity(guess.size() - 1)));
      CHECK(solved.impulse.isZero(0));
    }
  });
}

TEMPLATE_TEST_CASE("sap: an absurdly large guess does not count as an answer",
                   "[solvers][regression]", float, double) {
  using Scalar = TestType;
  WorstCase solved("converged to the answer");
  for_each_problem(6, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    const auto problem = build<Scalar>(raw);
    SapSolver<Scalar> solver;
    VectorX<Scalar> expected = convert_vector<Scalar>(guess);
    static_cast<void>(solver.solve(problem, expected));
    for (int part = 2; part <= 5; ++part) {
      const Scalar size = std::pow(std::numeric_limits<Scalar>::max(), Scalar(part) / 5) / 100;
      VectorX<Scalar> velocity = VectorX<Scalar>::Constant(guess.size(), size);
      const auto report = solver.solve(problem, velocity);
      const bool near = (velocity - expected).norm() <= Scalar(0.01) * (1 + expected.norm());
      solved.see_holds(report.converged() && near, size, report.residual, report.iterations);
    }
  });
  solved.check(24);
}

TEMPLATE_TEST_CASE("sap: a tolerance below round-off ends without progress, at the floor",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase floor("residual at round-off"), status("status"), quick("few iterations");
  for_each_problem(30, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    const auto problem = build<Scalar>(raw);
    SapSolver<Scalar> solver({.tolerance = std::numeric_limits<Scalar>::min()});
    VectorX<Scalar> velocity = convert_vector<Scalar>(guess);
    const auto report = solver.solve(problem, velocity);
    status.see_holds(report.status == SolveStatus::no_progress || report.converged());
    floor.see(report.residual, rounding(2000, Scalar(1)));
    quick.see(report.iterations, 60);
  });
  floor.check(30);
  status.check(30);
  quick.check(30);
}

TEST_CASE("sap: one solver serves problems of all sizes, as a fresh one would", "[solvers][law]") {
  WorstCase same("reused = fresh");
  SapSolver<double> reused({.tolerance = 1e-12});
  std::vector<RawProblem> problems;
  std::vector<Eigen::VectorXd> guesses;
  for_each_problem(10, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    problems.push_back(raw);
    guesses.push_back(guess);
  });
  problems.emplace_back();  // nothing at all
  guesses.emplace_back(0);
  for (int round = 0; round < 30; ++round) {
    const std::size_t i = std::size_t(round * 7) % problems.size();
    Eigen::VectorXd velocity = guesses[i];
    const auto problem = build(problems[i]);
    if (round % 3 == 0) reused.prepare(problem);
    const auto report = reused.solve(problem, velocity);
    const Solved fresh = solve(problems[i], guesses[i]);
    same.see_holds(velocity == fresh.velocity && report.iterations == fresh.report.iterations &&
                       report.residual == fresh.report.residual &&
                       reused.impulse() == fresh.impulse,
                   double(i));
  }
  same.check(30);
}

TEST_CASE("sap: the order of contacts, of bodies and of a contact's sides does not matter",
          "[solvers][law]") {
  WorstCase same("same answer");
  for_each_problem(30, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    const Solved plain = solve(raw, guess);
    RawProblem turned = raw;
    std::reverse(turned.contacts.begin(), turned.contacts.end());
    std::rotate(turned.contacts.begin(), turned.contacts.begin() + 2, turned.contacts.end());
    std::reverse(turned.bodies.begin(), turned.bodies.end());
    const Index last = Index(raw.bodies.size()) - 1;
    for (RawContact& contact : turned.contacts) {
      contact.first = last - contact.first;
      if (contact.second < 0) continue;
      contact.second = last - contact.second;
      std::swap(contact.first, contact.second);
      std::swap(contact.first_jacobian, contact.second_jacobian);
    }
    const auto reorder = [&](const Eigen::VectorXd& v) {
      Eigen::VectorXd result(v.size());
      Index from = 0, to = v.size();
      for (const auto& body : raw.bodies) {
        const Index n = body.momentum.rows();
        to -= n;
        result.segment(to, n) = v.segment(from, n);
        from += n;
      }
      return result;
    };
    const Solved other = solve(turned, reorder(guess));
    const auto dense = assemble<Long>(turned);
    const VectorX<Long> expected = convert_vector<Long>(reorder(plain.velocity));
    same.see(distance(dense, other.velocity, expected),
             plain.report.error_bound + other.report.error_bound +
                 rounding(1000, 1.0) * dense.energy_norm(expected));
    // Only one side swapped: the same contact, listed the other way round.
    RawProblem swapped = raw;
    for (RawContact& contact : swapped.contacts) {
      if (contact.second < 0) continue;
      std::swap(contact.first, contact.second);
      std::swap(contact.first_jacobian, contact.second_jacobian);
    }
    const Solved mirror = solve(swapped, guess);
    same.see(distance(assemble<Long>(raw), mirror.velocity, convert_vector<Long>(plain.velocity)),
             plain.report.error_bound + mirror.report.error_bound +
                 rounding(1000, 1.0) * dense.energy_norm(expected));
  });
  same.check(60);
}

TEST_CASE("sap: without contacts the free velocity is the answer", "[solvers][example]") {
  VectorSource<double> source(5u);
  const RawProblem raw = draw_problem(source, {.contact_count = 0});
  const auto problem = build(raw);
  const Eigen::VectorXd free = problem.free_velocity();
  const Solved from_free = solve(raw, free);
  CHECK(from_free.report.converged());
  CHECK(from_free.report.iterations == 0);
  CHECK(from_free.report.error_bound == 0);
  CHECK(from_free.velocity == free);
  CHECK(from_free.impulse.size() == 0);
  const Solved from_afar = solve(raw, Eigen::VectorXd::Constant(free.size(), 100));
  CHECK(from_afar.report.converged());
  CHECK((from_afar.velocity - free).norm() <= rounding(100, free.norm()));
}

TEST_CASE("sap: an empty problem is solved", "[solvers][example]") {
  const ContactProblem<double> problem(0.01);
  SapSolver<double> solver;
  Eigen::VectorXd nothing(0);
  const auto report = solver.solve(problem, nothing);
  CHECK(report.converged());
  CHECK(report.iterations == 0);
  CHECK(report.residual == 0);
  CHECK(solver.impulse().size() == 0);
  CHECK(solver.contact_velocity().size() == 0);
}

TEST_CASE("sap: a solver not yet used has no impulses", "[solvers][example]") {
  const SapSolver<double> solver;
  CHECK(solver.impulse().size() == 0);
  CHECK(solver.contact_velocity().size() == 0);
}

TEST_CASE("sap: a solver keeps its results when moved", "[solvers][regression]") {
  // A copy would point into the memory of the original.
  static_assert(!std::is_copy_constructible_v<SapSolver<double>>);
  static_assert(std::is_nothrow_move_constructible_v<SapSolver<double>>);
  for_each_problem(1, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    const auto problem = build(raw);
    std::vector<SapSolver<double>> solvers(1);
    Eigen::VectorXd velocity = guess;
    static_cast<void>(solvers[0].solve(problem, velocity));
    const Eigen::VectorXd impulse = solvers[0].impulse();
    SapSolver<double> moved = std::move(solvers[0]);
    solvers.clear();
    CHECK(moved.impulse() == impulse);
    velocity = guess;
    CHECK(moved.solve(problem, velocity).converged());
  });
}

namespace {

/// Problems of several islands and of one, with bodies of mixed size.
template <typename Visit>
void for_each_island_problem(int count, const Visit& visit) {
  VectorSource<double> source(991u);
  for (int sample = 0; sample < count; ++sample) {
    std::vector<int> sizes;
    for (int i = 0; i < 4 + sample % 17; ++i) sizes.push_back(i % 7 == 6 ? 9 : 6);
    const RawProblem raw =
        draw_problem(source, {.sizes = sizes,
                              .contact_count = int(sizes.size()) * (sample % 5) / 2,
                              .stiffness_decades = 1});
    visit(raw, draw_velocity(source, raw));
  }
}

}  // namespace

TEST_CASE("sap: conjugate gradients and factorisation find the same", "[solvers][oracle]") {
  WorstCase same("velocity"), bounded("error bounds"), converged("converged");
  const int count = carom::testing::sweep(10, 40);
  for_each_island_problem(count, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    const Solved direct = solve(raw, guess, {.tolerance = 1e-13, .factor_work_limit = 1e300});
    const Solved iterative = solve(raw, guess, {.tolerance = 1e-13, .factor_work_limit = 0});
    const auto dense = assemble<Long>(raw);
    const Long apart = distance(dense, iterative.velocity, convert_vector<Long>(direct.velocity));
    const Long size = dense.energy_norm(dense.free_velocity) + 1;
    same.see(apart, by_solver(1e-12L) * size);
    bounded.see(
        apart, direct.report.error_bound + iterative.report.error_bound + rounding(50, 1.0) * size);
    converged.see_holds(direct.report.residual <= by_solver(1e-12) &&
                        iterative.report.residual <= by_solver(1e-12));
  });
  same.check(count);
  bounded.check(count);
  converged.check(count);
}

TEST_CASE("sap: the result is the same to the last bit for any order of the contacts",
          "[solvers][law]") {
  WorstCase same("bit by bit");
  std::mt19937 engine(17);
  const int count = carom::testing::sweep(10, 40);
  for_each_island_problem(count, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    for (const double limit : {1e300, 0.0}) {
      const Solved plain = solve(raw, guess, {.factor_work_limit = limit});
      RawProblem shuffled = raw;
      std::vector<std::size_t> from(raw.contacts.size());
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = i;
      std::shuffle(from.begin(), from.end(), engine);
      for (std::size_t i = 0; i < from.size(); ++i) {
        RawContact& contact = shuffled.contacts[i];
        contact = raw.contacts[from[i]];
        if (contact.second < 0 || i % 3 == 0) continue;  // sides swapped, too
        std::swap(contact.first, contact.second);
        std::swap(contact.first_jacobian, contact.second_jacobian);
      }
      const Solved other = solve(shuffled, guess, {.factor_work_limit = limit});
      bool equal = other.velocity == plain.velocity &&
                   other.report.residual == plain.report.residual &&
                   other.report.iterations == plain.report.iterations;
      for (std::size_t i = 0; i < from.size(); ++i) {
        equal = equal && other.impulse.segment<3>(3 * Index(i)) ==
                             plain.impulse.segment<3>(3 * Index(from[i]));
      }
      same.see_holds(equal, limit);
    }
  });
  same.check(2 * count);
}

TEST_CASE("sap: the result is the same to the last bit whoever runs the islands",
          "[solvers][law]") {
  WorstCase same("bit by bit");
  const int count = carom::testing::sweep(8, 20);
  for_each_island_problem(count, [&](const RawProblem& raw, const Eigen::VectorXd& guess) {
    for (const double limit : {1e300, 0.0}) {
      const auto problem = build(raw);
      const Solved plain = solve(raw, guess, {.factor_work_limit = limit});
      const auto run = [&](const auto& executor) {
        SapSolver<double> solver({.factor_work_limit = limit});
        Eigen::VectorXd velocity = guess;
        const auto report = solver.solve(problem, velocity, executor);
        return velocity == plain.velocity && report.residual == plain.report.residual;
      };
      same.see_holds(run(carom::testing::Backwards{}) && run(carom::testing::ThreadEach{}), limit);
    }
  });
  same.check(2 * count);
}

TEST_CASE("sap: islands do not influence each other", "[solvers][law]") {
  // Neither at a loose tolerance nor where one is a hundred million times as light as another.
  for (const double tolerance : {1e-12, 1e-3}) {
    for (const double lighter : {1.0, 0.1}) {
      CAPTURE(tolerance, lighter);
      WorstCase same("bit by bit");
      std::vector<RawProblem> problems;
      std::vector<Eigen::VectorXd> guesses;
      double scale = 1;
      for_each_problem(8, [&](RawProblem raw, const Eigen::VectorXd& guess) {
        for (auto& body : raw.bodies) body.momentum *= scale;
        for (auto& contact : raw.contacts) {
          contact.law.regularization.tangent /= scale;
          contact.law.regularization.normal /= scale;
        }
        problems.push_back(raw);
        guesses.push_back(guess);
        scale *= lighter;
      });
      RawProblem all;
      Eigen::VectorXd guess;
      for (std::size_t p = 0; p < problems.size(); ++p) {
        const Index shift = Index(all.bodies.size()), start = guess.size();
        for (const auto& body : problems[p].bodies) all.bodies.push_back(body);
        for (RawContact contact : problems[p].contacts) {
          contact.first += shift;
          if (contact.second >= 0) contact.second += shift;
          all.contacts.push_back(contact);
        }
        guess.conservativeResize(start + guesses[p].size());
        guess.tail(guesses[p].size()) = guesses[p];
      }
      const Solved together = solve(all, guess, {.tolerance = tolerance});
      Index start = 0;
      for (std::size_t p = 0; p < problems.size(); ++p) {
        // A single body would be solved by SmallSolver.
        const Solved alone =
            solve(problems[p], guesses[p], {.tolerance = tolerance, .small_contact_limit = 0});
        const Index size = guesses[p].size();
        same.see_holds(alone.velocity == together.velocity.segment(start, size), double(p));
        start += size;
      }
      CHECK(together.report.converged());
      same.check(8);
    }
  }
}

TEMPLATE_TEST_CASE("sap: hard problems converge, or end at round-off and report it",
                   "[solvers][scene]", float, double) {
  using Scalar = TestType;
  using carom::testing::StackShape;
  WorstCase finite("finite"), honest("the residual is the one recomputed"), good("small residual");
  int count = 0;
  const StackShape plain;
  std::vector<StackShape> shapes = {plain};
  for (const double friction : {0.0, 10.0}) shapes.push_back({.friction = friction});
  for (const double mass : {1e-6, 1e3, 1e6}) shapes.push_back({.top_mass = mass});
  for (const double normal : {1e-12, 1e-9, 1e3}) shapes.push_back({.normal = normal});
  for (const double tangent : {1e-9, 1e-6, 1e3}) shapes.push_back({.tangent = tangent});
  shapes.push_back({.top_mass = 1e6, .normal = 1e-12, .tangent = 1e-9});
  shapes.push_back({.friction = 10, .normal = 1e-9, .tangent = 1e-6, .copies = 5});
  const int high = carom::testing::sweep(30, 100);
  shapes.push_back({.count = high});
  shapes.push_back({.count = high, .top_mass = 1e3});
  shapes.push_back({.count = 1, .copies = 25});  // a table on a hundred legs
  shapes.push_back({.copies = 3});
  for (const StackShape& shape : shapes) {
    for (const double limit : {1e300, 0.0}) {
      const RawProblem raw = carom::testing::make_stack(shape);
      const auto problem = build<Scalar>(raw);
      SapSolver<Scalar> solver(
          {.iteration_limit = carom::testing::sweep(80, 200), .factor_work_limit = limit});
      VectorX<Scalar> velocity = problem.free_velocity();
      const auto report = solver.solve(problem, velocity);
      const VectorX<Scalar> impulse = solver.impulse();
      const auto certificate = carom::certify(problem, velocity, impulse);
      finite.see_holds(velocity.allFinite() && impulse.allFinite() &&
                       std::isfinite(report.residual));
      // Stiff contacts turn the last digit of a velocity into an impulse of this size.
      const Scalar stiff =
          Scalar(1 / std::min({1.0, shape.normal, shape.tangent}) * std::max(1.0, shape.top_mass));
      honest.see(double(std::abs(report.residual - certificate.residual)),
                 double(rounding(3000, 1 + stiff)), limit, shape.normal, shape.tangent);
      const bool hard = !report.converged();
      good.see(double(report.residual),
               hard ? double(rounding(3000, 1 + stiff)) : double(report.residual_target),
               double(shape.count), limit, report.iterations);
      ++count;
    }
  }
  finite.check(count);
  honest.check(count);
  good.check(count);
}

TEMPLATE_TEST_CASE("sap: a body at rest whose contacts press against each other is solved",
                   "[solvers][regression]", float, double) {
  // Net momenta are zero but for round-off: a residual relative to them alone can stay large.
  using Scalar = TestType;
  for (const double squeeze : {1e-3, 1.0, 1e3}) {
    for (const double normal : {1e-6, 1e-2, 1.0}) {
      RawProblem raw;
      raw.bodies.push_back({Eigen::Matrix3d::Identity() * 3.0, Eigen::Vector3d::Zero()});
      for (const double side : {1.0, -1.0}) {
        carom::testing::RawContact contact;
        contact.first = 0;
        contact.first_jacobian = Eigen::Vector3d(1, side, side).asDiagonal();
        contact.law = {0.5, {normal, normal}, Eigen::Vector3d(0, 0, squeeze)};
        raw.contacts.push_back(contact);
      }
      const auto problem = build<Scalar>(raw);
      SapSolver<Scalar> solver;
      VectorX<Scalar> velocity = carom::Vector3<Scalar>(Scalar(0.3), Scalar(-0.2), Scalar(0.1));
      const auto report = solver.solve(problem, velocity);
      CAPTURE(squeeze, normal, report.iterations, report.residual);
      CHECK(report.converged());
      CHECK(report.iterations <= 12);
      CHECK(double(velocity.norm()) <= double(rounding(100, Scalar(squeeze / normal))));
      const auto certificate = carom::certify(problem, velocity, VectorX<Scalar>(solver.impulse()));
      CHECK(certificate.residual <= 2 * report.residual_target);
    }
  }
}

TEST_CASE("sap: stiff friction takes the same steps as friction contacts and as other blocks",
          "[solvers][oracle]") {
  VectorSource<double> source(20u);
  WorstCase same("velocity");
  int as_contacts = 0, as_constraints = 0;
  constexpr int count = carom::testing::sweep(10, 30);
  for (int sample = 0; sample < count; ++sample) {
    RawProblem raw = draw_problem(source, {.sizes = {6, 6, 6, 6, 6, 6}, .contact_count = 15});
    carom::testing::ConstrainedProblem other;
    other.contacts.bodies = raw.bodies;
    for (RawContact& contact : raw.contacts) {
      auto& [tangent, normal] = contact.law.regularization;
      tangent *= 1e-2;
      normal *= 1e-2;
      carom::WeightedBlock<double> law;
      law.set = carom::friction_impulses(contact.law.friction);
      law.set.shift(2) = 1e-14;  // adhesion too small to matter, which makes it no friction contact
      law.regularization.head<3>() << tangent, tangent, normal;
      law.bias_velocity.head<3>() = contact.law.bias_velocity;
      other.constraints.push_back(
          {contact.first, contact.second, contact.first_jacobian, contact.second_jacobian, law});
    }
    const Solved solved = solve(raw, Eigen::VectorXd::Zero(36), {.tolerance = 1e-8});
    SapSolver<double> solver({.tolerance = 1e-8});
    VectorX<double> velocity = VectorX<double>::Zero(36);
    const auto report = solver.solve(build(other), velocity);
    CAPTURE(sample, solved.report.iterations, report.iterations);
    CHECK(solved.report.converged());
    CHECK(report.converged());
    same.see((velocity - solved.velocity).norm(), by_solver(1e-6) * solved.velocity.norm(), sample);
    as_contacts += solved.report.iterations;
    as_constraints += report.iterations;
  }
  same.check(count);
  CAPTURE(as_contacts, as_constraints);
  CHECK(std::abs(as_constraints - as_contacts) <= as_contacts / 10);
}

TEST_CASE("sap: Coulomb's law holds of every cone, whichever way it was added", "[solvers][law]") {
  carom::testing::VectorSource<double> source(90210u);
  carom::testing::WorstCase obeyed("natural map of Coulomb's law"),
      differs("is not the convex law");
  const int rounds = carom::testing::sweep(20, 60);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> sizes = round % 2 == 0 ? std::vector<int>{6, 6, 3} : std::vector<int>{6};
    const auto problem =
        carom::testing::build(carom::testing::draw_constrained(source, sizes, 1 + round % 5));
    SapSolver<double> solver({.law = carom::FrictionLaw::coulomb, .tolerance = 1e-12});
    Eigen::VectorXd velocity = problem.free_velocity();
    // Lifts in a row need not arrive: ContactSolver goes on from there.
    if (!solver.solve(problem, velocity).converged()) continue;
    carom::DelassusForm<double> form;
    carom::DelassusProblem<double> dual;
    form.write(problem, dual);
    const Eigen::VectorXd impulse = solver.impulse();
    obeyed.see(certify(dual, impulse, carom::FrictionLaw::coulomb).natural_map_error,
               by_solver(1e-9));
    if (certify(dual, impulse, carom::FrictionLaw::convex).natural_map_error > 1e-3) {
      differs.see_holds(true);
    }
  }
  obeyed.check(rounds * 9 / 10);
  differs.check(rounds / 10);
}

TEST_CASE("sap: full steps that do not shrink the residual are no round-off while it is large",
          "[solvers][regression]") {
  // Three bodies of the ensemble's million, 1e-4 from the solution for some iterations on end.
  carom::ensemble::RandomStep step;
  step.make(1, 293'948);
  REQUIRE(step.law == carom::ensemble::StepLaw::convex);
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    SapSolver<double> solver({.tolerance = tolerance});
    VectorX<double> velocity = step.guess;
    const auto report = solver.solve(step.problem, velocity);
    CAPTURE(tolerance, report.iterations, report.residual);
    CHECK(report.converged());
    CHECK(report.iterations <= 20);
  }
}

TEST_CASE("sap: at a deadline it returns the best so far, in its cones", "[solvers][law]") {
  VectorSource<double> source(71u);
  for (const auto law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
    for (int round = 0; round < 4; ++round) {
      const auto problem = build(draw_problem(source, {{6, 6, 3, 2, 6}, 4 + round, 2, 3}));
      SapSolver<double> solver({.law = law, .tolerance = 1e-10});
      // Where a convex problem of Coulomb's row is interrupted is not on the way of the whole row.
      const bool convex = law == carom::FrictionLaw::convex;
      VectorX<double> velocity;
      CAPTURE(round, to_string(law));
      carom::testing::check_deadlines(
          [&](const carom::SolveLimits& limits) {
            solver.set_limits(limits);
            velocity = problem.free_velocity();
            return solver.solve(problem, velocity);
          },
          [&] {
            const VectorX<double> impulse = solver.impulse();
            const auto certificate = certify(problem, velocity, impulse);
            VectorX<double> change = velocity;  // from the velocity that balances the impulses
            write_velocity(problem, impulse, change);
            change -= velocity;
            problem.whiten(carom::as_span(change));
            return carom::testing::Judged{certificate.residual,
                                          certificate.cone_violation / (1 + impulse.norm()),
                                          convex ? change.norm() + 1e-12 : 0};
          });
      solver.set_limits({.iteration_limit = 1});
      velocity = problem.free_velocity();
      CHECK(solver.solve(problem, velocity).iterations <= 1);
    }
  }
}

}  // namespace sap_test
