// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/island_batch.hpp"

#include <algorithm>
#include <vector>

#include "carom/batch/batch_storage.hpp"
#include "carom/contact/compliance.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "ensemble/random_step.hpp"

namespace island_batch_test {

using namespace carom::ensemble;
using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::SolveStatus, carom::VectorX;
using carom::testing::by_solver;

constexpr carom::SapOptions<double> convex{.law = FrictionLaw::convex, .tolerance = 1e-10};

struct Answer {
  VectorX<double> velocity, impulse;
};

Answer answer(const IslandBatch& batch, Index i, const ContactProblem<double>& problem) {
  Answer result{VectorX<double>(problem.velocity_count()),
                VectorX<double>(problem.impulse_count())};
  batch.write_answer(i, result.velocity, result.impulse);
  return result;
}

/// The same bodies and contacts, bodies in the order n − 1, ..., 0 and contacts turned around.
ContactProblem<double> turned(const ContactProblem<double>& given) {
  ContactProblem<double> result(given.time_step());
  const Index last = given.body_count() - 1;
  for (Index b = last; b >= 0; --b) {
    result.add_body(given.momentum_matrix(b),
                    given.free_velocity().segment<6>(given.body(b).start));
  }
  for (Index k = given.block_count() - 1; k >= 0; --k) {
    const auto law = given.friction_contact_law(k);
    const Index body = last - given.side_body(k, 0);
    if (given.side_count(k) == 1) {
      result.add_contact(body, given.jacobian(k, 0), law);
    } else {
      result.add_contact(last - given.side_body(k, 1), given.jacobian(k, 1), body,
                         given.jacobian(k, 0), law);
    }
  }
  return result;
}

TEST_CASE("island_batch: answers are those of whole problems in a batch", "[ensemble][oracle]") {
  IslandBatch islands;
  carom::BatchStorage<double> whole;
  std::vector<RandomStep> steps;
  for (std::uint64_t index = 0; steps.size() < 40; ++index) {
    RandomStep step;
    step.make(1, index);
    if (step.law != StepLaw::convex) continue;
    islands.add(step.problem, step.guess);
    whole.add(step.problem, step.guess);
    steps.push_back(step);
  }
  islands.solve(convex);
  carom::BatchWorkspace<double> workspace;
  workspace.prepare(whole.view(), 1);
  REQUIRE(solve_batch(whole.view(), whole.answers(), convex, workspace).converged == 40);
  for (Index i = 0; i < 40; ++i) {
    CAPTURE(i);
    const auto& problem = steps[std::size_t(i)].problem;
    const auto [velocity, impulse] = answer(islands, i, problem);
    CHECK(islands.report(i).status == SolveStatus::converged);
    CHECK(islands.report(i).residual <= by_solver(convex.tolerance));
    VectorX<double> difference = velocity - whole.velocity(i), moved = velocity;
    problem.whiten(carom::as_span(difference));
    problem.whiten(carom::as_span(moved));
    const double scale = moved.norm() + problem.whitened_free_velocity().norm();
    CHECK(difference.norm() <= by_solver(2e-10) * scale);
    CHECK((impulse - whole.impulse(i)).norm() <= by_solver(1e-4) * impulse.norm());
  }
}

TEST_CASE("island_batch: a problem's bits do not depend on the others, nor on what was before",
          "[ensemble][law]") {
  IslandBatch all, one;
  std::vector<RandomStep> steps(20);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].make(1, i);
    all.add(steps[i].problem, steps[i].guess);
  }
  all.solve(convex);
  for (std::size_t i = steps.size(); i-- > 0;) {
    CAPTURE(i);
    one.clear();
    one.add(steps[i].problem, steps[i].guess);
    one.solve(convex);
    const Answer expected = answer(all, Index(i), steps[i].problem);
    const Answer found = answer(one, 0, steps[i].problem);
    CHECK(found.velocity == expected.velocity);
    CHECK(found.impulse == expected.impulse);
    CHECK(one.report(0).iterations == all.report(Index(i)).iterations);
  }
}

TEST_CASE("island_batch: answers go to their bodies and contacts, in any order of these",
          "[ensemble]") {
  IslandBatch batch;
  int largest = 0;
  for (std::uint64_t index = 0; index < 40; ++index) {
    RandomStep step;
    step.make(1, index);
    if (step.law != StepLaw::convex) continue;
    CAPTURE(index);
    const ContactProblem<double> other = turned(step.problem);
    batch.clear();
    batch.add(step.problem, step.problem.free_velocity());
    batch.add(other, other.free_velocity());
    batch.solve(convex);
    const Answer a = answer(batch, 0, step.problem), b = answer(batch, 1, other);
    const Index bodies = step.problem.body_count(), contacts = step.problem.block_count();
    largest = std::max(largest, int(bodies));
    for (Index i = 0; i < bodies; ++i) {
      CHECK((a.velocity.segment<6>(6 * i) - b.velocity.segment<6>(6 * (bodies - 1 - i))).norm() <=
            by_solver(1e-5) * a.velocity.norm());
    }
    for (Index k = 0; k < contacts; ++k) {
      CHECK((a.impulse.segment<3>(3 * k) - b.impulse.segment<3>(3 * (contacts - 1 - k))).norm() <=
            by_solver(1e-4) * a.impulse.norm());
    }
  }
  CHECK(largest == 6);
}

}  // namespace island_batch_test
