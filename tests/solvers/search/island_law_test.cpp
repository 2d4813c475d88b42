// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/island_law.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "carom/solvers/answer_error.hpp"

#include "support/catch.hpp"
#include "support/fake_clock.hpp"
#include "support/law_scenes.hpp"
#include "support/tolerance.hpp"

namespace island_law_test {

using carom::FrictionLaw, carom::Index, carom::SolveLimits, carom::SolveStatus, carom::VectorX;
using carom::detail::BodySystem, carom::detail::IslandLaw, carom::detail::make_yardstick;
using carom::testing::build, carom::testing::by_solver, carom::testing::draw_body_problem;
using carom::testing::FakeClock, carom::testing::Incline, carom::testing::RowPlaces;
using carom::testing::small_stacks, carom::testing::VectorSource;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};
constexpr double tolerance = 1e-9;

/// A problem with all that solves its islands.
struct Case {
  carom::ContactProblem<double> problem;
  FrictionLaw law;
  BodySystem<double> system;
  IslandLaw<BodySystem<double>> solver;

  template <typename Raw>
  Case(const Raw& raw, FrictionLaw given) : problem(build<double>(raw)), law(given) {
    system.take(problem, law == FrictionLaw::convex);
    solver.lay_out(system, make_yardstick(system, law));
  }
  [[nodiscard]] RowPlaces places() const { return {system.rows(), problem.impulse_count()}; }
  [[nodiscard]] auto solve(Index island, bool warm = false, const SolveLimits& limits = {}) {
    return solver.solve(system, island, warm, tolerance, limits);
  }
  /// The error of the impulses by the measure of all solvers.
  [[nodiscard]] double error() const {
    const VectorX<double> impulse = places().rows(solver.impulse());
    VectorX<double> velocity;
    write_velocity(problem, impulse, velocity);
    return judge_answer(problem, law, velocity, impulse).residual;
  }
};

}  // namespace

TEST_CASE("island_law: a block on an incline rests or slides as the law says",
          "[solvers][oracle]") {
  for (const FrictionLaw law : laws) {
    for (const double slope : {0.0, 0.3, 0.8}) {
      for (const double mass : {1e-6, 2.0, 1e6}) {
        const Incline incline{.mass = mass, .slope = slope};
        Case one(incline.problem(), law);
        const auto outcome = one.solve(0);
        CAPTURE(to_string(law), slope, mass);
        CHECK(outcome.status == SolveStatus::converged);
        CHECK(outcome.error.residual <= tolerance);
        const Eigen::Vector3d wanted = incline.impulse(law);
        CHECK((one.places().rows(one.solver.impulse()) - wanted).norm() <=
              by_solver(10 * tolerance) * wanted.norm());
      }
    }
  }
}

TEST_CASE("island_law: islands solved one by one make an answer of the whole", "[solvers][law]") {
  VectorSource<double> source(1);
  for (int round = 0; round < 3; ++round) {
    const auto raw = draw_body_problem(source, {6, 6, 3, 6, 6, 6});
    for (const FrictionLaw law : laws) {
      Case one(raw, law);
      double worst = 0;
      bool solved = true;
      for (Index i = 0; i < one.system.islands().size(); ++i) {
        const auto outcome = one.solve(i);
        solved = solved && outcome.status == SolveStatus::converged;
        CHECK((outcome.status == SolveStatus::converged) == (outcome.error.residual <= tolerance));
        worst = std::max(worst, outcome.error.residual);
      }
      CAPTURE(round, to_string(law));
      CHECK(solved);
      CHECK(std::abs(one.error() - worst) <= carom::testing::rounding(100000, 1.0));
    }
  }
}

TEST_CASE("island_law: stacks are solved, and an answer given again takes no system",
          "[solvers][law]") {
  for (const auto& raw : small_stacks()) {
    for (const FrictionLaw law : laws) {
      Case one(raw, law);
      const auto cold = one.solve(0);
      CHECK(cold.status == SolveStatus::converged);
      CHECK(cold.systems > 0);
      CHECK(one.error() <= by_solver(2 * tolerance));
      const Eigen::VectorXd answer = one.places().rows(one.solver.impulse());
      if (cold.paired) continue;
      const auto again = one.solve(0, true);
      CHECK(again.status == SolveStatus::converged);
      CHECK(again.systems == 0);
      CHECK(one.places().rows(one.solver.impulse()) == answer);
      // Without a guess what the memory has is not one.
      CHECK(one.solve(0, false).systems == cold.systems);
    }
  }
}

TEST_CASE("island_law: without iterations a guess is measured, and stays", "[solvers][example]") {
  const Incline incline;
  Case one(incline.problem(), FrictionLaw::coulomb);
  const Eigen::Vector3d guess(0.1, 0.2, -3);  // outside of its set
  one.places().write(guess, one.solver.impulse());
  const auto outcome = one.solve(0, true, SolveLimits{}.with_iterations(0));
  CHECK(outcome.status == SolveStatus::iteration_limit);
  CHECK(outcome.systems == 0);
  CHECK(one.places().rows(one.solver.impulse()) == guess);
  for (const int limit : {1, 2}) {
    Case stack(small_stacks().back(), FrictionLaw::coulomb);
    const auto limited = stack.solve(0, false, SolveLimits{}.with_iterations(limit));
    CHECK(limited.systems <= limit);
    CHECK(limited.status == (limited.error.residual <= tolerance ? SolveStatus::converged
                                                                 : SolveStatus::iteration_limit));
  }
}

TEST_CASE("island_law: an answer that comes too early adds no energy", "[solvers][law]") {
  for (const auto& raw : small_stacks()) {
    for (const bool timed : {false, true}) {
      Case one(raw, FrictionLaw::coulomb);
      VectorSource<double> source(3);
      const Eigen::VectorXd guess =
          100 * carom::testing::draw_matrix(source, one.problem.impulse_count(), 1);
      one.places().write(guess, one.solver.impulse());
      FakeClock clock;
      const auto outcome =
          one.solve(0, true, timed ? clock.until(0) : SolveLimits{}.with_iterations(1));
      if (outcome.status == SolveStatus::converged) continue;
      CHECK(outcome.status == (timed ? SolveStatus::deadline : SolveStatus::iteration_limit));
      const Eigen::VectorXd impulse = one.places().rows(one.solver.impulse());
      const Eigen::VectorXd velocity = one.places().rows(one.solver.velocity());
      CHECK(impulse.allFinite());
      // ½ γᵀ(W + R)γ + γᵀq, which is at least what the bodies gain.
      const double gain = impulse.dot(velocity + one.places().rows(one.system.load())) / 2;
      CHECK(gain <= carom::testing::rounding(1000, impulse.norm() * velocity.norm()));
      CHECK(impulse.norm() < guess.norm() / 10);
    }
  }
}

TEST_CASE("island_law: loads that are not finite are told", "[solvers][example]") {
  const Incline incline;
  Case one(incline.problem(), FrictionLaw::coulomb);
  one.system.add_to_load(2, std::numeric_limits<double>::quiet_NaN());
  CHECK(one.solve(0).status == SolveStatus::not_finite);
}

TEST_CASE("island_law: what no impulse can satisfy does not converge", "[solvers][example]") {
  // Two walls that close on a body at 1 m/s each.
  carom::testing::RawProblem raw;
  raw.bodies.push_back({Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero()});
  for (const double side : {-1.0, 1.0}) {
    carom::testing::RawContact contact;
    contact.first_jacobian = Eigen::Matrix3d::Identity();
    contact.first_jacobian.row(2) *= side;
    contact.law.rigid = true;
    contact.law.bias_velocity = Eigen::Vector3d(0, 0, 1);
    raw.contacts.push_back(contact);
  }
  Case one(raw, FrictionLaw::coulomb);
  const auto outcome = one.solve(0);
  CHECK(outcome.status == SolveStatus::no_progress);
  CHECK(outcome.error.residual > 0.1);
  CHECK(one.places().rows(one.solver.impulse()).allFinite());
}

}  // namespace island_law_test
