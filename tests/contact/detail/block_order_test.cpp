// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/block_order.hpp"

#include "carom/contact/contact_problem.hpp"

#include "support/catch.hpp"

namespace block_order_test {

using carom::ContactProblem, carom::WeightedBlock;
using carom::detail::compare_jacobians, carom::detail::compare_laws;
using carom::detail::friction_contact_precedes;
using Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector3d;

namespace {

ContactProblem<double> two_bodies() {
  ContactProblem<double> problem(0.01);
  problem.add_body(4 * Matrix3d::Identity(), Vector3d(1, 2, 3));
  problem.add_body(MatrixXd::Identity(7, 7), Eigen::VectorXd::Ones(7));
  return problem;
}

WeightedBlock<double> held(int rows) {
  WeightedBlock<double> law;
  law.set = carom::free_impulses<double>(rows);
  return law;
}

}  // namespace

TEST_CASE("block_order: blocks of one pair are ordered by what they are", "[contact][law]") {
  auto problem = two_bodies();
  const MatrixXd row = MatrixXd::Ones(1, 3), wide = MatrixXd::Ones(1, 7);
  auto biased = held(1);
  biased.bias_velocity(0) = 0.5;
  problem.add_constraint(0, row, 1, wide, held(1));
  problem.add_constraint(1, wide, 0, row, held(1));  // the same, the other way round
  problem.add_constraint(0, row, 1, wide, biased);
  problem.add_constraint(0, row, 1, 2 * wide, held(1));
  const auto compare = [&](int a, int b) {
    const auto first = problem.other_block(a), second = problem.other_block(b);
    const int laws = compare_laws(first.law(), second.law());
    return laws != 0 ? laws : compare_jacobians(first, second);
  };
  CHECK(compare(0, 1) == 0);
  for (const int other : {2, 3}) {
    CHECK(compare(0, other) == -1);
    CHECK(compare(other, 1) == 1);
  }
}

TEST_CASE("block_order: friction contacts of one pair are ordered by law, then Jacobian",
          "[contact][law]") {
  auto problem = two_bodies();
  const MatrixXd first_rows = MatrixXd::Identity(3, 3), second_rows = MatrixXd::Ones(3, 7);
  const carom::WeightedContact<double> law{0.3, {0.1, 0.2}, Vector3d(0, 0, 1)};
  carom::WeightedContact<double> later = law;
  later.bias_velocity.z() = 2;
  problem.add_contact(0, first_rows, 1, second_rows, law);
  problem.add_contact(1, second_rows, 0, first_rows, law);  // the same, the other way round
  problem.add_contact(0, first_rows, 1, second_rows, later);
  problem.add_contact(0, 2 * first_rows, 1, second_rows, law);
  CHECK(!friction_contact_precedes(problem, 0, 1));
  CHECK(!friction_contact_precedes(problem, 1, 0));
  for (const int other : {2, 3}) {
    CHECK(friction_contact_precedes(problem, 0, other));
    CHECK(!friction_contact_precedes(problem, other, 1));
  }
}

}  // namespace block_order_test
