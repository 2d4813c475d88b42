// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/batch_step.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "ensemble/law_check.hpp"

namespace batch_step_test {

using namespace carom::ensemble;
using carom::Index, carom::SolveStatus, carom::VectorX;
using carom::testing::by_solver;

constexpr std::uint64_t seed = 1;
constexpr auto no_pause = [] {};

/// ‖v − w‖_A relative to the momenta, whose errors the tolerances bound.
double distance(const carom::ContactProblem<double>& problem, const VectorX<double>& v,
                const VectorX<double>& w) {
  VectorX<double> difference = v - w, moved = v;
  problem.whiten(carom::as_span(difference));
  problem.whiten(carom::as_span(moved));
  return difference.norm() / (moved.norm() + problem.whitened_free_velocity().norm());
}

TEST_CASE("batch_step: answers obey the law, and are those of solvers that take one at a time",
          "[ensemble][oracle]") {
  BatchStep batch(seed);
  carom::SapSolver<double> convex({.tolerance = StepTally::tolerance});
  carom::ContactSolver<double> coulomb({.tolerance = StepTally::tolerance});
  int seen[3] = {}, others = 0, alone = 0;
  std::uint64_t next = 0;
  batch.visit(0, 90, no_pause, [&](std::uint64_t index) {
    CAPTURE(index);
    CHECK(index == next++);
    const RandomStep& step = batch.step();
    ++seen[int(step.law)];
    REQUIRE(batch.report().status == SolveStatus::converged);
    alone += int(batch.alone());
    CHECK(batch.report().residual <= by_solver(StepTally::tolerance));
    CHECK(check_law(step, batch.velocity(), batch.impulse()).worst() < by_solver(1e-6));
    VectorX<double> velocity = step.guess;
    if (step.law == StepLaw::convex) {
      REQUIRE(convex.solve(step.problem, velocity).converged());
      CHECK(distance(step.problem, batch.velocity(), velocity) <=
            by_solver(2 * StepTally::tolerance));
      return;
    }
    REQUIRE(coulomb.solve(step.problem, velocity).converged());
    others += int(distance(step.problem, batch.velocity(), velocity) > by_solver(1e-6));
  });
  for (const int count : seen) CHECK(count > 10);
  // Several velocities may obey Coulomb's law: of 15,003 such steps 72 were solved to another one.
  CHECK(others <= 3);
  CHECK(alone < 5);
}

TEST_CASE("batch_step: the tally has the same bits however problems are put into batches",
          "[ensemble][law]") {
  const TallyLayout layout = BatchStep::layout();
  Tally together(layout), apart(layout);
  BatchStep(seed).run(0, 48, together, no_pause);
  BatchStep one(seed);
  for (const std::uint64_t first : {31U, 0U, 17U, 16U}) {
    const std::uint64_t end = first == 0 ? 16 : first == 16 ? 17 : first == 17 ? 31 : 48;
    Tally part(layout);
    one.run(first, end, part, no_pause);
    apart.merge(part);
  }
  CHECK(together.problems == 48);
  CHECK(together == apart);
  Tally in_sevens(layout);
  BatchStep(seed, 7).run(0, 48, in_sevens, no_pause);
  CHECK(together == in_sevens);
  Tally other(layout);
  BatchStep(seed + 1).run(0, 48, other, no_pause);
  CHECK_FALSE(together.checksum == other.checksum);
}

TEST_CASE("batch_step: what a batch has no answer to is solved one at a time, and counted",
          "[ensemble]") {
  // For step 321 the lanes find no velocity that obeys its law.
  BatchStep batch(seed);
  Tally tally(BatchStep::layout());
  batch.run(321, 322, tally, no_pause);
  REQUIRE(batch.alone());
  CHECK(batch.report().status == SolveStatus::converged);
  carom::ContactSolver<double> coulomb({.tolerance = StepTally::tolerance});
  VectorX<double> velocity = batch.step().guess;
  CHECK(coulomb.solve(batch.step().problem, velocity).converged());
  CHECK(batch.velocity() == velocity);
  CHECK(batch.impulse() == VectorX<double>(coulomb.impulse()));
  const std::size_t counters = tally.counters.size();
  const std::string name = BatchStep::layout().counters[counters - 3].name;
  CHECK(name == "rigid, Coulomb, solved one at a time");
  CHECK(tally.counters[counters - 3] == 1);
  CHECK(tally.counters[counters - 2] == 0);
  CHECK(tally.counters[counters - 1] == 0);
}

TEST_CASE("batch_step: nothing to do, and a pause after each problem", "[ensemble]") {
  BatchStep batch(seed);
  Tally tally(BatchStep::layout());
  int pauses = 0;
  const auto pause = [&] { ++pauses; };
  batch.run(5, 5, tally, pause);
  CHECK((tally == Tally(BatchStep::layout()) && pauses == 0));
  batch.run(5, 8, tally, pause);
  CHECK((tally.problems == 3 && pauses == 6));
}

}  // namespace batch_step_test
