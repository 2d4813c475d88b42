// SPDX-License-Identifier: BSD-3-Clause
// Towers of boxes on the ground, pushed: compliant contact by SapSolver, rigid contact under
// Coulomb's law by ContactSolver; velocities and impulses printed bit by bit.
#include <carom/carom.hpp>

#include "print_bits.hpp"

namespace {

using Jacobian = Eigen::Matrix<double, 3, 6>;

/// Of the point `arm` from the centre of a body whose velocity is (linear, angular) in the world.
Jacobian point_jacobian(const Eigen::Vector3d& arm) {
  Jacobian jacobian;
  jacobian << 1, 0, 0, 0, arm.z(), -arm.y(),  //
      0, 1, 0, -arm.z(), 0, arm.x(),          //
      0, 0, 1, arm.y(), -arm.x(), 0;
  return jacobian;
}

/// Boxes of half width 0.1 m one on the other, four contacts each; returns the free velocity.
template <typename Law>
Eigen::VectorXd add_tower(carom::ContactProblem<double>& problem, int boxes, const Law& law) {
  Numbers numbers;
  Eigen::VectorXd velocity(6 * boxes);
  for (int box = 0; box < boxes; ++box) {
    Eigen::Matrix<double, 6, 6> mass = Eigen::Matrix<double, 6, 6>::Zero();
    mass.diagonal() << 2, 2, 2, 0.02, 0.02, 0.02;
    for (int k = 0; k < 6; ++k) velocity(6 * box + k) = 0.1 * numbers.next();
    velocity(6 * box + 2) -= 0.0981;
    const auto body = problem.add_body(mass, velocity.segment<6>(6 * box));
    for (int corner = 0; corner < 4; ++corner) {
      const Eigen::Vector3d foot(corner % 2 == 0 ? 0.1 : -0.1, corner < 2 ? 0.1 : -0.1, -0.1);
      const Eigen::Vector3d head(foot.x(), foot.y(), 0.1);
      if (box == 0) {
        problem.add_contact(body, point_jacobian(foot), law);
      } else {
        problem.add_contact(body, point_jacobian(foot), body - 1, -point_jacobian(head), law);
      }
    }
  }
  return velocity;
}

template <typename Solver, typename Law>
bool print_solution(const char* name, Solver&& solver, const Law& law) {
  carom::ContactProblem<double> problem(0.01);
  Eigen::VectorXd velocity = add_tower(problem, 5, law);
  const auto report = solver.solve(problem, velocity);
  std::printf("%s: %d iterations\n", name, static_cast<int>(report.iterations));
  print_bits(name, velocity);
  print_bits("impulse", solver.impulse());
  return report.converged();
}

}  // namespace

int main() {
  const bool compliant =
      print_solution("compliant", carom::SapSolver<double>(),
                     carom::CompliantContact<double>{
                         .gap = 0, .stiffness = 1e5, .dissipation_time = 0.01, .friction = 0.5});
  const bool rigid = print_solution("rigid", carom::ContactSolver<double>(),
                                    carom::RigidContact<double>{.gap = 0, .friction = 0.5});
  return compliant && rigid ? 0 : 1;
}
