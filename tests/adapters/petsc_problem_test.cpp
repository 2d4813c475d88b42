// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/petsc_problem.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"
#include "support/petsc_session.hpp"

namespace petsc_problem_test {

using carom::Fault, carom::Index, carom::PetscContactProblem;
using carom::testing::petsc_rank, carom::testing::petsc_rank_count, carom::testing::petsc_world;
using Matrix6 = carom::SquareMatrix<double, 6>;
using Vector6 = carom::Vector<double, 6>;

/// What all ranks are told when a part is filled; empty where it is taken.
template <typename Add>
std::string refusal(const Add& add) {
  PetscContactProblem problem(petsc_world(), 0.01);
  try {
    problem.fill(add);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("petsc_problem: a bad body of one rank is told to all, by rank, number and field",
          "[adapters][errors]") {
  const int bad = petsc_rank_count() - 1;
  const std::string told = refusal([&](PetscContactProblem& part) {
    Vector6 velocity = Vector6::Zero();
    if (petsc_rank() == bad) velocity(2) = std::numeric_limits<double>::quiet_NaN();
    part.add_body(1000 + petsc_rank(), Matrix6::Identity(), velocity);
  });
  CHECK(told == "rank " + std::to_string(bad) + ": body " + std::to_string(1000 + bad) +
                    ": free velocity entry 2: expected a finite number, got nan");
}

TEST_CASE("petsc_problem: of several bad ranks all hear the first", "[adapters][errors]") {
  const std::string told = refusal(
      [&](PetscContactProblem& part) { part.add_body(7, Matrix6::Zero(), Vector6::Zero()); });
  CHECK(told == "rank 0: body 7: momentum matrix entry (0, 0): expected a number > 0, got 0");
}

TEST_CASE("petsc_problem: numbers below zero, and own bodies after ghosts, are refused",
          "[adapters][errors]") {
  CHECK(refusal([](PetscContactProblem& part) {
          part.add_ghost(-3, Matrix6::Identity(), Vector6::Zero());
        }) == "rank 0: ghost body -3: expected a number >= 0");
  CHECK(refusal([](PetscContactProblem& part) {
          part.add_ghost(3, Matrix6::Identity(), Vector6::Zero());
          part.add_body(4, Matrix6::Identity(), Vector6::Zero());
        }) == "rank 0: body 4: expected own bodies before ghosts");
}

TEST_CASE("petsc_problem: of the two ranks of a cut block, the one of the lower body counts it",
          "[adapters][law]") {
  PetscContactProblem problem(petsc_world(), 0.01);
  problem.fill([](PetscContactProblem& part) {
    const Index own = part.add_body(10, Matrix6::Identity(), Vector6::Zero());
    const Index low = part.add_ghost(2, Matrix6::Identity(), Vector6::Zero());
    const Index high = part.add_ghost(30, Matrix6::Identity(), Vector6::Zero());
    const Eigen::Matrix<double, 3, 6> jacobian = Eigen::Matrix<double, 3, 6>::Identity();
    const carom::WeightedContact<double> law{0.5, {1, 1}, carom::Vector3<double>::Zero()};
    part.local().add_contact(own, jacobian, law);
    part.local().add_contact(own, jacobian, low, (-jacobian).eval(), law);
    part.local().add_contact(high, jacobian, own, (-jacobian).eval(), law);
  });
  CHECK(problem.own_count() == 1);
  CHECK(problem.own_size() == 6);
  CHECK_FALSE(problem.is_cut(0));
  CHECK(problem.is_cut(1));
  CHECK(problem.counts(0));
  CHECK_FALSE(problem.counts(1));
  CHECK(problem.counts(2));
}

TEST_CASE("petsc_problem: motions are unit vectors until a position is given", "[adapters][law]") {
  PetscContactProblem problem(petsc_world(), 0.01);
  const Index body = problem.add_body(0, Matrix6::Identity(), Vector6::Zero());
  CHECK(problem.motions(body) == Matrix6::Identity());
  problem.set_position(body, {1, 2, 3});
  // A turn about z moves what is at (1, 2, 3) by (−2, 1, 0).
  Vector6 expected;
  expected << 0, 0, 1, -2, 1, 0;
  CHECK(problem.motions(body).col(2) == expected);
  problem.reset(0.01);
  CHECK(problem.own_count() == 0);
}

}  // namespace petsc_problem_test
