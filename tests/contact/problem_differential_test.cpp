// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/problem_differential.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"

namespace problem_differential_test {

using carom::ContactProblem, carom::DifferentialParts, carom::Index, carom::ProblemDifferential;
using carom::testing::build, carom::testing::draw_problem, carom::testing::VectorSource;

TEMPLATE_TEST_CASE("problem_differential: each number of the data has one of its own",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(3u);
  for (int sample = 0; sample < 20; ++sample) {
    const auto problem = build<Scalar>(draw_problem(source, {.contact_count = 7}));
    ProblemDifferential<Scalar> numbers;
    CHECK_FALSE(numbers.fits(problem));
    numbers.set_zero(problem);
    CHECK(numbers.fits(problem));
    CHECK(numbers.has_matrices());
    CHECK(numbers.free_velocity.size() == problem.velocity_count());
    CHECK(numbers.friction.size() == 7);
    CHECK(numbers.regularization.size() == 21);
    CHECK(numbers.bias_velocity.size() == 21);
    CHECK(numbers.lower.size() == 21);
    CHECK(numbers.upper.size() == 21);
    for (Index b = 0; b < problem.body_count(); ++b) {
      REQUIRE(numbers.momentum(b).rows() == problem.momentum_matrix(b).rows());
      REQUIRE(numbers.momentum(b).cols() == problem.momentum_matrix(b).cols());
      numbers.momentum(b).array() += 1;
    }
    for (Index i = 0; i < problem.block_count(); ++i) {
      for (int side = 0; side < problem.side_count(i); ++side) {
        REQUIRE(numbers.jacobian(i, side).rows() == problem.jacobian(i, side).rows());
        auto own = numbers.jacobian(i, side);
        own.array() += 1;
      }
    }
    CHECK((numbers.matrices.array() == 1).all());  // all of them, none twice
    numbers.set_zero(problem);
    CHECK((numbers.matrices.array() == 0).all());
  }
}

TEST_CASE("problem_differential: it fits problems of its own sizes only", "[contact][example]") {
  const auto make = [](int first, int second, bool joined, int rows) {
    ContactProblem<double> problem(0.01);
    for (const int size : {first, second}) {
      problem.add_body(Eigen::MatrixXd::Identity(size, size), Eigen::VectorXd::Zero(size));
    }
    const carom::CompliantContact<double> law{.gap = 0, .stiffness = 1};
    const Eigen::MatrixXd here = Eigen::MatrixXd::Ones(3, first);
    if (joined) {
      problem.add_contact(0, here, 1, Eigen::MatrixXd::Ones(3, second), law);
    } else {
      problem.add_contact(0, here, law);
    }
    for (int left = rows; left > 0; left -= rows) {
      carom::WeightedBlock<double> rows_law;
      rows_law.set = carom::free_impulses<double>(rows);
      problem.add_constraint(0, Eigen::MatrixXd::Ones(rows, first), rows_law);
    }
    return problem;
  };
  ProblemDifferential<double> numbers;
  numbers.set_zero(make(3, 6, false, 1));
  CHECK(numbers.fits(make(3, 6, false, 1)));
  CHECK_FALSE(numbers.fits(make(6, 3, false, 1)));
  CHECK_FALSE(numbers.fits(make(3, 6, true, 1)));
  CHECK_FALSE(numbers.fits(make(3, 6, false, 2)));
  CHECK_FALSE(numbers.fits(make(3, 6, false, 0)));

  // The same bodies with the contact at the other one, and other bodies with the same velocities.
  ContactProblem<double> elsewhere(0.01), divided(0.01);
  for (const int size : {3, 6}) {
    elsewhere.add_body(Eigen::MatrixXd::Identity(size, size), Eigen::VectorXd::Zero(size));
  }
  for (int i = 0; i < 3; ++i)
    divided.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  ContactProblem<double> plain = elsewhere;
  const carom::CompliantContact<double> law{.gap = 0, .stiffness = 1};
  plain.add_contact(0, Eigen::MatrixXd::Ones(3, 3), law);
  elsewhere.add_contact(1, Eigen::MatrixXd::Ones(3, 6), law);
  divided.add_contact(0, Eigen::MatrixXd::Ones(3, 3), law);
  numbers.set_zero(plain);
  CHECK(numbers.fits(plain));
  CHECK_FALSE(numbers.fits(elsewhere));
  CHECK_FALSE(numbers.fits(divided));
  for (const int rows : {1, 2}) {  // the same rows in all, in another order
    carom::WeightedBlock<double> held;
    held.set = carom::free_impulses<double>(rows);
    plain.add_constraint(0, Eigen::MatrixXd::Ones(rows, 3), held);
  }
  ContactProblem<double> turned(0.01);
  for (const int size : {3, 6}) {
    turned.add_body(Eigen::MatrixXd::Identity(size, size), Eigen::VectorXd::Zero(size));
  }
  turned.add_contact(0, Eigen::MatrixXd::Ones(3, 3), law);
  for (const int rows : {2, 1}) {
    carom::WeightedBlock<double> held;
    held.set = carom::free_impulses<double>(rows);
    turned.add_constraint(0, Eigen::MatrixXd::Ones(rows, 3), held);
  }
  numbers.set_zero(plain);
  CHECK(numbers.fits(plain));
  CHECK_FALSE(numbers.fits(turned));

  // Each of its vectors has to fit.
  using Numbers = ProblemDifferential<double>;
  for (const auto vector :
       {&Numbers::free_velocity, &Numbers::friction, &Numbers::regularization,
        &Numbers::bias_velocity, &Numbers::lower, &Numbers::upper, &Numbers::matrices}) {
    Numbers other;
    other.set_zero(plain);
    (other.*vector).grow((numbers.*vector).size() + 1);
    CHECK_FALSE(other.fits(plain));
  }
}

TEST_CASE("problem_differential: the product runs over the data that both have",
          "[contact][example]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix2d::Identity(), Eigen::Vector2d(0, 0));
  problem.add_contact(0, Eigen::Matrix<double, 3, 2>::Ones(), {.gap = 0, .stiffness = 1});
  ProblemDifferential<double> a, b;
  a.set_zero(problem);
  b.set_zero(problem, DifferentialParts::vectors);
  CHECK_FALSE(b.has_matrices());
  CHECK(b.fits(problem));
  a.free_velocity << 1, 2;
  b.free_velocity << 3, 4;
  a.friction << 5;
  b.friction << 6;
  a.regularization << 7, 0, 8;
  b.regularization << 9, 1, 10;
  a.bias_velocity << 1, 1, 2;
  b.bias_velocity << 1, 1, 3;
  a.lower << 1, 0, 0;
  b.lower << 50, 1, 1;
  a.upper << 0, 0, 2;
  b.upper << 1, 1, 100;
  a.momentum(0).setConstant(1000);
  CHECK(a.dot(b) == 11 + 30 + 143 + 8 + 50 + 200);
  CHECK(b.dot(a) == a.dot(b));
  CHECK(a.dot(a) == 5 + 25 + 113 + 6 + 1 + 4 + 4e6);
}

}  // namespace problem_differential_test
