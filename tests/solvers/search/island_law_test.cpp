// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/island_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "carom/solvers/answer_error.hpp"

#include "support/catch.hpp"
#include "support/fake_clock.hpp"
#include "support/law_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace island_law_test {

using carom::FrictionLaw, carom::Index, carom::SolveLimits, carom::SolveStatus, carom::VectorX;
using carom::detail::BodySystem, carom::detail::IslandLaw, carom::detail::make_yardstick;
using carom::testing::build, carom::testing::by_solver, carom::testing::draw_body_problem;
using carom::testing::FakeClock, carom::testing::Incline, carom::testing::RowPlaces;
using carom::testing::rounding, carom::testing::small_stacks, carom::testing::VectorSource;
using carom::testing::WorstCase;

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
      CHECK(std::abs(one.error() - worst) <= rounding(100000, 1.0));
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
  // ½ γᵀ(W + R)γ + γᵀq is at least what the bodies gain.
  WorstCase gained("the dual cost"), tame("large guesses become small impulses");
  for (const FrictionLaw law : laws) {
    for (const auto& raw : small_stacks()) {
      for (const bool timed : {false, true}) {
        for (std::uint32_t seed = 3; seed < 9; ++seed) {
          Case one(raw, law);
          VectorSource<double> source(seed);
          const Eigen::VectorXd guess =
              source.pick({0.01, 1, 100, 1e4}) *
              carom::testing::draw_matrix(source, one.problem.impulse_count(), 1);
          one.places().write(guess, one.solver.impulse());
          FakeClock clock;
          const auto outcome =
              one.solve(0, true, timed ? clock.until(0) : SolveLimits{}.with_iterations(1));
          if (outcome.status == SolveStatus::converged) continue;
          CHECK(outcome.status == (timed ? SolveStatus::deadline : SolveStatus::iteration_limit));
          const Eigen::VectorXd impulse = one.places().rows(one.solver.impulse());
          const Eigen::VectorXd velocity = one.places().rows(one.solver.velocity());
          gained.see_holds(impulse.allFinite());
          const double gain = impulse.dot(velocity + one.places().rows(one.system.load())) / 2;
          gained.see(std::max(gain, 0.0), rounding(1000, impulse.norm() * velocity.norm()),
                     to_string(law), timed, int(seed));
          if (guess.norm() > 10) tame.see_holds(impulse.norm() < guess.norm() / 10);
        }
      }
    }
  }
  gained.check(100);
  tame.check(50);
}

TEST_CASE("island_law: when time is over, a count of sweeps is the answer", "[solvers][oracle]") {
  // From zero impulses, which need no scaling: sure sweeps where the time is over before, all of
  // the final ones where only the systems are at their limit. A guess of zeros is not swept before.
  int counted = 0;
  for (const auto& raw : small_stacks()) {
    for (const FrictionLaw law : laws) {
      for (const bool warm : {false, true}) {
        for (const bool over : {true, false}) {
          Case one(raw, law), other(raw, law);
          const Index rows = one.problem.impulse_count();
          one.places().write(Eigen::VectorXd::Zero(rows), one.solver.impulse());
          FakeClock clock;
          SolveLimits limits = clock.until(over ? 0 : 1e9);
          if (!over && warm) continue;  // sweeps from the guess come first
          limits.iteration_limit = 0;
          const auto outcome = one.solve(0, warm, limits);
          using Tuning = carom::detail::IslandLawTuning;
          int left = over ? Tuning::sure_sweeps : Tuning::final_sweeps;
          std::vector<double> parts(std::size_t(3 * other.system.part_count()), 0.0);
          other.system.sweep(0, law, parts.data(), [&] { return left-- > 0; });
          CAPTURE(to_string(law), warm, over);
          CHECK(one.places().rows(one.solver.impulse()) == other.places().rows(parts.data()));
          CHECK(outcome.systems == 0);
          ++counted;
          if (outcome.error.residual <= tolerance) continue;
          CHECK(outcome.status == (over ? SolveStatus::deadline : SolveStatus::iteration_limit));
        }
      }
    }
  }
  CHECK(counted >= 40);
}

TEST_CASE("island_law: sweeps that satisfy the tolerance solve, though time was over",
          "[solvers][example]") {
  // Ten sweeps over one contact leave less than a quarter; no impulses at all leave more.
  const double coarse = 0.25;
  for (const FrictionLaw law : laws) {
    for (const double slope : {0.0, 0.3}) {
      const Incline incline{.slope = slope};
      Case one(incline.problem(), law);
      CHECK(one.solve(0, false, SolveLimits{}.with_iterations(0)).error.residual > coarse);
      FakeClock clock;
      const auto outcome = one.solver.solve(one.system, 0, false, coarse, clock.until(0));
      CHECK(outcome.error.residual <= coarse);
      CHECK(outcome.status == SolveStatus::converged);
      CHECK(outcome.systems == 0);
    }
  }
}

TEST_CASE("island_law: who asks for more than can be had gets the best that was found",
          "[solvers][law]") {
  const double hopeless = 1e-25;
  WorstCase best("at most the error of an answer that was enough");
  for (const auto& raw : small_stacks()) {
    for (const FrictionLaw law : laws) {
      Case enough(raw, law), more(raw, law);
      const auto found = enough.solve(0);
      REQUIRE(found.status == SolveStatus::converged);
      const auto outcome =
          more.solver.solve(more.system, 0, false, hopeless, SolveLimits{}.with_iterations(150));
      CHECK((outcome.status == SolveStatus::converged) == (outcome.error.residual <= hopeless));
      best.see(outcome.error.merit, std::max(found.error.merit, rounding(1000, 1.0)),
               to_string(law));
      // The same from an answer as a guess.
      Case again(raw, law);
      again.places().write(enough.places().rows(enough.solver.impulse()), again.solver.impulse());
      const auto warm =
          again.solver.solve(again.system, 0, true, hopeless, SolveLimits{}.with_iterations(150));
      best.see(warm.error.merit, std::max(found.error.merit, rounding(1000, 1.0)), to_string(law));
    }
  }
  best.check(32);
}

TEST_CASE("island_law: loads that are not finite are told, of their island alone",
          "[solvers][example]") {
  constexpr double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()};
  const Incline incline;
  for (const FrictionLaw law : laws) {
    for (const double number : bad) {
      for (Index place = 0; place < 3; ++place) {
        Case one(incline.problem(), law);
        one.system.add_to_load(place, number);
        const auto outcome = one.solve(0);
        CAPTURE(to_string(law), number, place, outcome.systems);
        CHECK(outcome.status == SolveStatus::not_finite);
        CHECK_FALSE(outcome.paired);
        // Each path fails at its first system, and so do proximal steps.
        CHECK(outcome.systems <= 2 * int(std::size(carom::detail::IslandLawTuning::margins)));
      }
    }
  }
  VectorSource<double> source(1);
  const auto raw = draw_body_problem(source, {6, 6, 3, 6, 6, 6});
  Case one(raw, FrictionLaw::coulomb), other(raw, FrictionLaw::coulomb);
  const Index islands = one.system.islands().size();
  REQUIRE(islands >= 2);
  one.system.add_to_load(3 * one.system.islands()[0].first_part, bad[0]);
  for (Index i = 0; i < islands; ++i) {
    const auto outcome = one.solve(i), alone = other.solve(i);
    CHECK(alone.status == SolveStatus::converged);
    CHECK(outcome.status == (i == 0 ? SolveStatus::not_finite : SolveStatus::converged));
    if (i > 0) CHECK(outcome.error.residual == alone.error.residual);
  }
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
