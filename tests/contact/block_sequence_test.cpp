// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/block_sequence.hpp"

#include <type_traits>
#include <vector>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/rigid_contact.hpp"

#include "support/catch.hpp"

namespace block_sequence_test {

using carom::ContactProblem, carom::Index, carom::WeightedBlock, carom::WeightedContact;
using Eigen::Matrix3d, Eigen::Vector3d;

namespace {

/// Two bodies, a rigid contact between them, a joint limit of the first, a contact of the second.
ContactProblem<double> make_problem() {
  ContactProblem<double> problem(0.01);
  const Index first = problem.add_body(Matrix3d(Vector3d(2, 3, 4).asDiagonal()), Vector3d(1, 2, 3));
  const Index second = problem.add_body(Matrix3d::Identity(), Vector3d(0, 0, -1));
  problem.add_contact(first, Matrix3d::Identity(), second, -Matrix3d::Identity(),
                      carom::RigidContact<double>{.gap = 0, .friction = 0.3});
  const Eigen::RowVector3d limit(0, 2, 1);
  problem.add_constraint(
      first, limit, carom::JointLimit<double>{.gap = 0.1, .compliance = carom::Compliance::step});
  problem.add_contact(second, 2 * Matrix3d::Identity(),
                      WeightedContact<double>{0.7, {0.1, 0.2}, Vector3d(1, 2, 3), false});
  return problem;
}

}  // namespace

TEST_CASE("block_sequence: blocks keep their order, rows, bodies and Jacobians", "[contact][law]") {
  const ContactProblem<double> problem = make_problem();
  CHECK(problem.block_count() == 3);
  CHECK(problem.friction_contact_count() == 2);
  CHECK(problem.impulse_count() == 7);
  CHECK(problem.part_count() == 3);
  CHECK((problem.is_friction_contact(0) && !problem.is_friction_contact(1)));
  CHECK((problem.number_of_kind(0) == 0 && problem.number_of_kind(2) == 1));
  CHECK(problem.number_of_kind(1) == 0);
  Index row = 0;
  for (const Index block : {0, 1, 2}) {
    CHECK(problem.first_row(block) == row);
    row += problem.rows(block);
  }
  CHECK(row == problem.impulse_count());
  CHECK((problem.side_count(0) == 2 && problem.side_count(1) == 1));
  CHECK((problem.side_body(0, 0) == 0 && problem.side_body(0, 1) == 1));
  CHECK(problem.jacobian(0, 1) == -Matrix3d::Identity());
  CHECK(problem.jacobian(1, 0) == Eigen::RowVector3d(0, 2, 1));
  // The whitened columns are L⁻¹ Jᵀ of the body's momentum matrix.
  const Matrix3d whitened = problem.friction_contact(0).whitened_columns(0);
  CHECK(whitened.diagonal().cwiseAbs2().isApprox(Vector3d(1.0 / 2, 1.0 / 3, 1.0 / 4)));
  Index seen = 0;
  problem.for_each_block([&](const auto& view) {
    CHECK(view.rows() == problem.rows(seen));
    ++seen;
  });
  CHECK(seen == 3);
}

TEST_CASE("block_sequence: laws are given and read, rigid blocks are counted", "[contact][law]") {
  ContactProblem<double> problem = make_problem();
  CHECK((problem.is_rigid(0) && !problem.is_rigid(1) && !problem.is_rigid(2)));
  CHECK(problem.rigid_count() == 1);
  CHECK(problem.friction_contact_law(2).friction == 0.7);
  CHECK(problem.law(2).bias_velocity.head<3>() == Vector3d(1, 2, 3));
  WeightedBlock<double> law = problem.law(2);
  law.rigid = true;
  law.set.friction(0) = 0.9;
  problem.set_law(2, law);
  CHECK(problem.rigid_count() == 2);
  CHECK(problem.friction_contact_law(2).friction == 0.9);
  WeightedBlock<double> limit = problem.law(1);
  limit.bias_velocity(0) = 5;
  problem.set_law(1, limit);
  CHECK(problem.law(1).bias_velocity(0) == 5);
  CHECK(problem.rigid_count() == 2);
  WeightedContact<double> soft = problem.friction_contact_law(0);
  soft.rigid = false;
  problem.set_law(0, soft);
  CHECK(problem.rigid_count() == 1);
  problem.make_rigid();  // a joint limit is no contact
  CHECK((problem.is_rigid(0) && !problem.is_rigid(1) && problem.is_rigid(2)));
  CHECK(problem.rigid_count() == 2);
  limit.rigid = true;
  problem.set_law(1, limit);
  problem.make_rigid();  // and stays as it is
  CHECK(problem.is_rigid(1));
  CHECK(problem.rigid_count() == 3);
}

TEST_CASE("block_sequence: another Jacobian has the bits of a problem that was built with it",
          "[contact][law]") {
  ContactProblem<double> changed(0.01), built(0.01);
  Matrix3d mass, first, second;
  mass << 2, 0.3, 0.1, 0.3, 3, 0.2, 0.1, 0.2, 4;
  first << 1, 2, 3, 0, 1, 4, 5, 6, 0;
  second << 0, 1, 0, 2, 0, 3, 1, 1, 7;
  const WeightedContact<double> law{0.7, {0.1, 0.2}, Vector3d(1, 2, 3), false};
  for (auto* problem : {&changed, &built}) {
    problem->add_body(mass, Vector3d(1, 2, 3));
    problem->add_body(2 * mass, Vector3d(3, 2, 1));
  }
  changed.add_contact(0, Matrix3d::Identity(), 1, first, law);
  changed.add_contact(1, first, law);
  built.add_contact(0, first, 1, second, law);
  built.add_contact(1, first, law);
  changed.set_jacobian(0, 0, first);
  CHECK(changed.jacobian(0, 1) == first);
  changed.set_jacobian(0, 1, second);
  for (const Index block : {0, 1}) {
    for (int side = 0; side < built.side_count(block); ++side) {
      CHECK(changed.jacobian(block, side) == built.jacobian(block, side));
      CHECK(changed.friction_contact(block).whitened_columns(side) ==
            built.friction_contact(block).whitened_columns(side));
    }
    CHECK(changed.friction_contact_law(block).regularization.normal == 0.2);
  }
}

TEST_CASE("block_sequence: a sequence that is emptied begins anew", "[contact][law]") {
  ContactProblem<double> problem = make_problem();
  problem.reset(0.02);
  CHECK((problem.block_count() == 0 && problem.body_count() == 0 && problem.impulse_count() == 0));
  CHECK((problem.part_count() == 0 && problem.rigid_count() == 0));
}

TEST_CASE("block_sequence: blocks are counted by rows, by parts of three, and if rigid",
          "[contact][law]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::MatrixXd::Identity(6, 6), Eigen::VectorXd::Zero(6));
  Index rows = 0, parts = 0, rigid = 0;
  for (int count = 1; count <= 6; ++count) {
    for (const bool hard : {false, true}) {
      WeightedBlock<double> law;
      law.set = carom::free_impulses<double>(count);
      law.rigid = hard;
      problem.add_constraint(0, Eigen::MatrixXd::Identity(6, 6).topRows(count), law);
      rows += count;
      parts += count > 3 ? 2 : 1;
      rigid += hard ? 1 : 0;
      CHECK(problem.impulse_count() == rows);
      CHECK(problem.part_count() == parts);
      CHECK(problem.rigid_count() == rigid);
    }
  }
}

TEST_CASE("block_sequence: blocks are visited in their order, by their own types or by one",
          "[contact][law]") {
  const ContactProblem<double> problem = make_problem();
  std::vector<Index> by_kind, by_one;
  problem.for_each_block_by_kind([&](const auto& view) {
    constexpr bool is_triple = std::decay_t<decltype(view)>::capacity == 3;
    CHECK(is_triple == problem.is_friction_contact(view.number()));
    by_kind.push_back(view.number());
  });
  problem.for_each_block([&](const auto& view) { by_one.push_back(view.number()); });
  CHECK(by_kind == std::vector<Index>{0, 1, 2});
  CHECK(by_one == by_kind);
}

}  // namespace block_sequence_test
