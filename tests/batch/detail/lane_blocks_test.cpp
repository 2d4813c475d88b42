// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/detail/lane_blocks.hpp"

#include <vector>

#include "carom/batch/batch_storage.hpp"
#include "carom/batch/solve_batch.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/wrench_contact.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace lane_blocks_test {

using carom::BatchStorage, carom::BatchWorkspace, carom::ContactProblem, carom::FrictionLaw;
using carom::ImpulseShape, carom::Index, carom::SapOptions, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::by_solver, carom::testing::draw_matrix;
using carom::testing::draw_problem, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// Friction contacts, and blocks of every kind on three bodies.
ContactProblem<double> draw_blocks(VectorSource<double>& source) {
  ContactProblem<double> problem = build(draw_problem(source, {{6, 6, 3}, 2}));
  problem.add_constraint(0, draw_matrix(source, 1, 6), carom::JointLimit<double>{.gap = -0.01});
  problem.add_constraint(
      1, draw_matrix(source, 1, 6),
      carom::Motor<double>{.wanted_velocity = 1, .velocity_gain = 50, .effort_limit = 20});
  problem.add_constraint(2, draw_matrix(source, 1, 3),
                         carom::DryFriction<double>{.effort_limit = 5});
  carom::WeightedBlock<double> held;
  held.set = carom::free_impulses<double>(3);
  held.regularization *= 1e-3;
  problem.add_constraint(0, draw_matrix(source, 3, 6), 1, draw_matrix(source, 3, 6), held);
  const auto add = [&](ImpulseShape shape, int rows) {
    problem.add_contact(
        0, draw_matrix(source, rows, 6), 1, draw_matrix(source, rows, 6),
        carom::WrenchContact<double>{.contact = {.gap = 0, .stiffness = 1e4, .friction = 0.5},
                                     .shape = shape,
                                     .rolling_friction = 0.1,
                                     .torsional_friction = 0.2,
                                     .second_friction = 0.9,
                                     .bond = 0.5});
  };
  add(ImpulseShape::friction, 3);
  add(ImpulseShape::elliptic, 3);
  add(ImpulseShape::torsional, 4);
  add(ImpulseShape::spinless_rolling, 5);
  add(ImpulseShape::rolling, 6);
  add(ImpulseShape::ellipsoidal_torsional, 4);
  add(ImpulseShape::ellipsoidal_rolling, 6);
  return problem;
}

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
    problems.push_back(draw_blocks(source));
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
