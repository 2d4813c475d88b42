// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/remove_overlap.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "carom/contact/rigid_contact.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/towers.hpp"

namespace remove_overlap_test {

using carom::ContactProblem, carom::Index, carom::remove_overlap, carom::RigidContact;
using carom::testing::by_solver, carom::testing::make_tower, carom::testing::TowerShape;

TEST_CASE("remove_overlap: towers rise by their overlaps, along any axis and at any scale",
          "[solvers][scene]") {
  for (const Eigen::Vector3d& up : {Eigen::Vector3d(0, 0, 1), Eigen::Vector3d(0.6, 0, -0.8)}) {
    for (const double depth : {1e-6, 0.05, 1e3}) {
      for (const double ratio : {1.0, 1e6}) {
        TowerShape shape;
        shape.masses = {1, 1, ratio};
        shape.up = up;
        const auto problem = make_tower<double>(shape);
        const Eigen::VectorXd gaps = Eigen::Vector3d(-depth, 2 * depth, -depth);
        Eigen::VectorXd motion;
        const auto report = remove_overlap(problem, gaps, motion);
        CAPTURE(up.transpose(), depth, ratio, motion.transpose());
        REQUIRE(report.converged());
        // The lowest rises by its overlap, the second stays below it, and the gap in between closes
        // before anything else is lifted.
        Eigen::VectorXd along(3);
        for (Index k = 0; k < 3; ++k) along(k) = motion.segment<3>(3 * k).dot(up);
        const double slack = by_solver(1e-6) * depth;
        CHECK(along(0) >= depth - slack);
        CHECK(along(1) - along(0) >= -2 * depth - slack);
        CHECK(along(2) - along(1) >= depth - slack);
        for (Index k = 0; k < 3; ++k) {
          CHECK((motion.segment<3>(3 * k) - along(k) * up).norm() <= slack);
        }
      }
    }
  }
}

TEST_CASE("remove_overlap: a body in two walls goes to where both allow it, or says so",
          "[solvers][scene]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 0, 0));
  Eigen::Matrix3d left, right;  // rows (t₁, t₂, n)
  left << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  right << 0, 1, 0, 0, 0, 1, -1, 0, 0;
  problem.add_contact(0, left, RigidContact<double>{});
  problem.add_contact(0, right, RigidContact<double>{});
  Eigen::VectorXd motion;
  CHECK(remove_overlap(problem, Eigen::VectorXd(Eigen::Vector2d(-0.01, 0.02)), motion).converged());
  CHECK((motion - Eigen::Vector3d(0.01, 0, 0)).norm() <= by_solver(1e-8));
  motion.setConstant(std::numeric_limits<double>::quiet_NaN());  // it is only written
  CHECK(remove_overlap(problem, Eigen::VectorXd(Eigen::Vector2d(-0.01, 0.02)), motion).converged());
  CHECK((motion - Eigen::Vector3d(0.01, 0, 0)).norm() <= by_solver(1e-8));
  CHECK_FALSE(
      remove_overlap(problem, Eigen::VectorXd(Eigen::Vector2d(-0.01, -0.01)), motion).converged());
  CHECK(motion.allFinite());
  CHECK_THROWS_AS(remove_overlap(problem, Eigen::VectorXd(1), motion), std::invalid_argument);
}

}  // namespace remove_overlap_test
