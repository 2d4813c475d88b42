// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/detail/lane_blocks.hpp"

#include <vector>

#include "carom/batch/batch_storage.hpp"
#include "carom/batch/solve_batch.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/every_block.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace lane_blocks_test {

using carom::BatchStorage, carom::BatchWorkspace, carom::ContactProblem, carom::FrictionLaw;
using carom::Index, carom::SapOptions, carom::SolveStatus, carom::VectorX;
using carom::testing::by_solver;
using carom::testing::draw_every_block, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

template <int LaneCount = carom::batch_lane_count<double>>
carom::BatchReport solve(BatchStorage<double>& batch, const SapOptions<double>& options) {
  BatchWorkspace<double, LaneCount> workspace;
  workspace.prepare(batch.view(), 1);
  return solve_batch(batch.view(), batch.answers(), options, workspace);
}

void check_law(FrictionLaw law) {
  VectorSource<double> source(23001u);
  const SapOptions<double> options{.law = law, .tolerance = 1e-9};
  BatchStorage<double> batch, other;
  std::vector<ContactProblem<double>> problems;
  for (int i = 0; i < 40; ++i) {
    problems.push_back(draw_every_block(source));
    batch.add(problems.back());
    other.add(problems.back());
  }
  const auto report = solve(batch, options);
  solve<1>(other, options);
  WorstCase balance("balance"), obeys("law"), same("bits");
  for (Index i = 0; i < batch.count(); ++i) {
    const VectorX<double> velocity = batch.velocity(i), impulse = batch.impulse(i);
    same.see_holds(velocity == VectorX<double>(other.velocity(i)), i);
    if (batch.report(i).status != SolveStatus::converged) continue;
    const auto& problem = problems[std::size_t(i)];
    balance.see(certify(problem, velocity, impulse).residual, by_solver(1e-8), i);
    carom::DelassusForm<double> form;
    carom::DelassusProblem<double> dual;
    form.write(problem, dual);
    obeys.see(certify(dual, impulse, law).natural_map_error, by_solver(1e-6), i);
  }
  CHECK(report.converged >= 38);
  same.check(40);
  balance.check(38);
  obeys.check(38);
}

}  // namespace

TEST_CASE("lane_blocks: every kind of block obeys the convex law", "[lane_blocks]") {
  check_law(FrictionLaw::convex);
}
TEST_CASE("lane_blocks: every kind of block obeys Coulomb's law", "[lane_blocks]") {
  check_law(FrictionLaw::coulomb);
}

}  // namespace lane_blocks_test
