// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/batch_storage.hpp"

#include <vector>

#include "carom/batch/solve_batch.hpp"
#include "carom/contact/joint_constraints.hpp"

#include "support/catch.hpp"
#include "support/every_block.hpp"
#include "support/raw_problem.hpp"

namespace batch_storage_test {

using carom::BatchPattern, carom::BatchStorage, carom::BatchWorkspace, carom::CompliantContact;
using carom::ContactProblem, carom::ImpulseShape, carom::Index, carom::SapOptions;
using carom::SolveStatus, carom::WeightedBlock, carom::testing::build;
using carom::testing::draw_every_block, carom::testing::draw_matrix;
using carom::testing::draw_problem, carom::testing::draw_velocity, carom::testing::RawProblem;
using carom::testing::VectorSource;

namespace {

carom::BatchReport solve(BatchStorage<double>& batch) {
  BatchWorkspace<double> workspace;
  workspace.prepare(batch.view(), 1);
  return solve_batch(batch.view(), batch.answers(), SapOptions<double>{}, workspace);
}

}  // namespace

TEST_CASE("batch_storage: numbers stand where the pattern says", "[batch_storage]") {
  VectorSource<double> source(22001u);
  BatchStorage<double> batch;
  std::vector<ContactProblem<double>> problems;
  for (int i = 0; i < 12; ++i) {
    problems.push_back(build(draw_problem(source, {{2, 1, 3}, i % 4})));
    const Eigen::VectorXd guess = Eigen::VectorXd::Constant(6, i);
    CHECK(batch.add(problems.back(), guess) == i);
  }
  const auto view = batch.view();
  for (Index i = 0; i < batch.count(); ++i) {
    const ContactProblem<double>& problem = problems[std::size_t(i)];
    CHECK(view.guess.of(i)[5] == double(i));
    CHECK(view.free_velocity.of(i)[4] == problem.free_velocity()(4));
    CHECK(view.mass.of(i)[4 + 1 + 3] == problem.momentum_matrix(2)(1, 0));
    const double* jacobian = view.jacobian.of(i);
    for (Index k = 0; k < problem.block_count(); ++k) {
      const auto& law = problem.friction_contact_law(k);
      CHECK(view.friction.of(i)[k] == law.friction);
      CHECK(view.regularization.of(i)[2 * k] == law.regularization.tangent);
      CHECK(view.regularization.of(i)[2 * k + 1] == law.regularization.normal);
      CHECK(view.bias.of(i)[3 * k + 2] == law.bias_velocity(2));
      for (int s = 0; s < int(problem.side_count(k)); ++s) {
        const auto rows = problem.jacobian(k, s);
        CHECK(jacobian[rows.cols()] == rows(1, 0));
        jacobian += 3 * rows.cols();
      }
    }
  }
}

TEST_CASE("batch_storage: each block's numbers stand at the places that its island names",
          "[batch_storage]") {
  VectorSource<double> source(22007u);
  ContactProblem<double> problem = draw_every_block(source);
  problem.add_contact(2, draw_matrix(source, 3, 3),
                      CompliantContact<double>{.gap = 0, .stiffness = 1e4, .friction = 0.4});
  BatchStorage<double> batch;
  batch.add(problem);
  batch.add(problem);
  CHECK(&batch.pattern(0) == &batch.pattern(1));
  const BatchPattern& pattern = batch.pattern(1);
  const auto view = batch.view();
  Index seen = 0;
  const auto check = [&](const carom::detail::LaneContact& block) {
    const Index k = block.number;
    const WeightedBlock<double> law = problem.law(k);
    CAPTURE(k);
    ++seen;
    CHECK((block.rows == problem.rows(k) && block.rigid == problem.is_rigid(k)));
    for (int i = 0; i < friction_count(law.set.shape); ++i) {
      CHECK(view.friction.of(1)[block.friction + i] == law.set.friction(i));
    }
    const double* regularization = view.regularization.of(1) + block.regularization;
    CHECK(regularization[0] == law.regularization(0));
    if (block.is_friction_contact) CHECK(regularization[1] == law.regularization(2));
    for (int r = 0; r < block.rows; ++r) {
      CHECK(view.bias.of(1)[block.row + r] == law.bias_velocity(r));
      if (block.is_friction_contact) continue;
      CHECK(regularization[r] == law.regularization(r));
      const bool intervals = law.set.shape == ImpulseShape::intervals;
      const double* bounds = view.bounds.of(1) + block.bounds;
      CHECK(bounds[r] == (intervals ? law.set.lower : law.set.shift)(r));
      if (intervals) CHECK(bounds[block.rows + r] == law.set.upper(r));
    }
    for (int s = 0; s < int(problem.side_count(k)); ++s) {
      const auto rows = problem.jacobian(k, s);
      const double* jacobian = view.jacobian.of(1) + block.sides[s].jacobian;
      CHECK(block.sides[s].body == problem.side_body(k, s));
      CHECK(jacobian[0] == rows(0, 0));
      CHECK(jacobian[rows.size() - 1] == rows(rows.rows() - 1, rows.cols() - 1));
    }
  };
  for (const auto& island : pattern.islands()) {
    for (const auto& contact : island.contacts()) check(contact);
    for (const auto& other : island.others()) check(other);
  }
  CHECK(seen == problem.block_count());
  // The counts are those of the numbers of one problem.
  CHECK(view.friction.of(1) - view.friction.of(0) == pattern.friction_count());
  CHECK(view.regularization.of(1) - view.regularization.of(0) == pattern.regularization_count());
  CHECK(view.bias.of(1) - view.bias.of(0) == pattern.row_count());
  CHECK(view.bounds.of(1) - view.bounds.of(0) == pattern.bound_count());
  CHECK(view.jacobian.of(1) - view.jacobian.of(0) == pattern.jacobian_count());
  CHECK(view.mass.of(1) - view.mass.of(0) == pattern.mass_count());
}

TEST_CASE("batch_storage: zeros of one problem's Jacobian bind no other", "[batch_storage]") {
  VectorSource<double> source(21006u);
  RawProblem full = draw_problem(source, {{8}, 4}), part = full;
  for (auto& contact : part.contacts) {
    contact.first_jacobian.leftCols(3).setZero();
    contact.first_jacobian.rightCols(2).setZero();
  }
  const Eigen::VectorXd guess = draw_velocity(source, full);
  BatchStorage<double> a, b;
  a.add(build(part), guess);
  a.add(build(full), guess);
  b.add(build(full), guess);
  b.add(build(part), guess);
  CHECK(&a.pattern(0) == &a.pattern(1));
  solve(a);
  solve(b);
  CHECK(a.velocity(0) == b.velocity(1));
  CHECK(a.velocity(1) == b.velocity(0));
  CHECK((a.report(0).status == SolveStatus::converged &&
         a.report(1).status == SolveStatus::converged));
}

TEST_CASE("batch_storage: what does not fit is refused and leaves the batch", "[batch_storage]") {
  BatchStorage<double> batch;
  VectorSource<double> source(21012u);
  ContactProblem<double> problem = build(draw_problem(source, {{6}, 2}));
  batch.add(problem);
  CHECK_THROWS_WITH(batch.add(problem, Eigen::VectorXd::Zero(5)),
                    "guess: expected 6 numbers, got 5");
  problem.add_constraint(0, Eigen::Matrix<double, 1, 6>::Ones(),
                         carom::Motor<double>{.velocity_gain = 1});
  CHECK(batch.add(problem) == 1);  // another pattern
  CHECK(&batch.pattern(0) != &batch.pattern(1));
  CHECK(solve(batch).converged == 2);
}

}  // namespace batch_storage_test
