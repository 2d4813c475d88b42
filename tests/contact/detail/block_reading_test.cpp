// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/block_reading.hpp"

#include <limits>
#include <stdexcept>
#include <tuple>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/joint_constraints.hpp"

#include "support/catch.hpp"

namespace block_reading_test {

using carom::ContactProblem, carom::JointLimit, carom::WeightedBlock;
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

TEST_CASE("block_reading: a friction cone is the same block by either function", "[contact][law]") {
  auto problem = two_bodies();
  const carom::WeightedContact<double> contact{0.3, {0.1, 0.2}, Vector3d(0, 0, 1), true};
  problem.add_contact(0, Matrix3d::Identity(), contact);
  problem.add_constraint(0, Matrix3d::Identity(), as_block(contact));
  CHECK(problem.friction_contact_count() == 2);
  CHECK(problem.rigid_count() == 2);
  WeightedBlock<double> adhesive = as_block(contact);
  adhesive.set.shift(2) = 1;
  problem.add_contact(0, Matrix3d::Identity(), adhesive);
  CHECK(!problem.is_friction_contact(2));
  CHECK(problem.rigid_count() == 3);
}

TEST_CASE("block_reading: numbers beyond the rows are forgotten", "[contact][law]") {
  auto problem = two_bodies();
  auto law = held(2);
  law.bias_velocity.tail<4>().setConstant(std::numeric_limits<double>::quiet_NaN());
  law.regularization.tail<4>().setConstant(-1);
  problem.add_constraint(0, MatrixXd::Ones(2, 3), law);
  CHECK(problem.law(0).bias_velocity.tail<4>().isZero(0));
  CHECK(problem.law(0).regularization.tail<4>() == Eigen::Vector4d::Ones());
}

TEST_CASE("block_reading: numbers without meaning for a shape are forgotten", "[contact][law]") {
  using carom::ImpulseShape;
  auto problem = two_bodies();
  for (const auto& [shape, rows, coefficients] :
       {std::tuple(ImpulseShape::intervals, 3, 0), std::tuple(ImpulseShape::friction, 3, 1),
        std::tuple(ImpulseShape::planar, 2, 1), std::tuple(ImpulseShape::elliptic, 3, 2),
        std::tuple(ImpulseShape::torsional, 4, 2), std::tuple(ImpulseShape::rolling, 6, 3),
        std::tuple(ImpulseShape::ellipsoidal_torsional, 4, 2),
        std::tuple(ImpulseShape::ellipsoidal_rolling, 6, 3),
        std::tuple(ImpulseShape::spinless_rolling, 5, 2)}) {
    CHECK(carom::friction_count(shape) == coefficients);
    WeightedBlock<double> law;
    law.set.shape = shape;
    law.set.rows = rows;
    law.set.lower.setConstant(-1);
    law.set.upper.setConstant(2);
    law.set.friction.setConstant(3);
    law.set.shift.setConstant(4);
    problem.add_constraint(1, MatrixXd::Identity(rows, 7), law);
    const auto kept = problem.law(problem.block_count() - 1).set;
    const bool bounded = shape == ImpulseShape::intervals;
    CHECK(kept.lower.head(rows) == Eigen::VectorXd::Constant(rows, bounded ? -1 : 0));
    CHECK(kept.upper.head(rows) == Eigen::VectorXd::Constant(rows, bounded ? 2 : 0));
    CHECK(kept.shift.head(rows) == Eigen::VectorXd::Constant(rows, bounded ? 0 : 4));
    CHECK(kept.lower.tail(6 - rows).isZero(0));
    CHECK(kept.upper.tail(6 - rows).isZero(0));
    CHECK(kept.shift.tail(6 - rows).isZero(0));
    CHECK(kept.friction.head(coefficients) == Eigen::VectorXd::Constant(coefficients, 3));
    CHECK(kept.friction.tail(3 - coefficients).isZero(0));
  }
}

TEST_CASE("block_reading: data are refused by name and leave no trace", "[contact][input]") {
  auto problem = two_bodies();
  const MatrixXd row = MatrixXd::Ones(1, 3), wide = MatrixXd::Ones(1, 7);
  problem.add_constraint(0, row, held(1));
  CHECK(problem.check_constraint(2, row, held(1)) ==
        "constraint 1: body: expected an index in [0, 2), got 2");
  CHECK(problem.check_constraint(-1, row, held(1)) ==
        "constraint 1: body: expected an index in [0, 2), got -1");
  CHECK(problem.check_constraint(0, wide, held(1)) ==
        "constraint 1: Jacobian columns: expected 3, got 7");
  CHECK(problem.check_constraint(0, MatrixXd(0, 3), held(1)) ==
        "constraint 1: Jacobian rows: expected a number in [1, 6], got 0");
  CHECK(problem.check_constraint(1, MatrixXd::Ones(7, 7), held(6)) ==
        "constraint 1: Jacobian rows: expected a number in [1, 6], got 7");
  CHECK(problem.check_constraint(0, MatrixXd::Ones(2, 3), held(1)) ==
        "constraint 1: Jacobian rows: expected 1, got 2");
  CHECK(problem.check_constraint(0, row, 0, row, held(1)) ==
        "constraint 1: second body: expected a body other than the first, got 0");
  CHECK(problem.check_constraint(0, row, 1, MatrixXd::Ones(2, 7), held(1)) ==
        "constraint 1: second Jacobian rows: expected 1, got 2");
  MatrixXd broken = MatrixXd::Ones(2, 3);
  broken(1, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK(problem.check_constraint(0, broken, held(2)) ==
        "constraint 1: Jacobian entry (1, 2): expected a finite number, got nan");
  broken.row(1).setZero();
  CHECK(problem.check_constraint(0, broken, held(2)) ==
        "constraint 1: Jacobian row 1: expected a non-zero row, got zero");
  CHECK(problem.check_constraint(0, MatrixXd::Zero(1, 3), 1, wide, held(1)).empty());
  const JointLimit<double> limit{.gap = std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_AS(problem.add_constraint(0, row, limit), std::invalid_argument);
  CHECK(problem.block_count() == 1);
  CHECK(problem.impulse_count() == 1);
}

}  // namespace block_reading_test
