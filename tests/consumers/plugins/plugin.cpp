// SPDX-License-Identifier: BSD-3-Clause
// A shared library that uses carom and shows one C function.
#include <carom/carom.hpp>

extern "C"
#if defined(_WIN32)
    __declspec(dllexport)
#else
    __attribute__((visibility("default")))
#endif
    /// Slides a brick of 1 kg for a step; its speed after it, or -1 if the step is not solved.
    double slide(double speed) {
  carom::ContactProblem<double> problem(0.01);
  const Eigen::Matrix3d mass = Eigen::Matrix3d::Identity();
  const auto brick = problem.add_body(mass, Eigen::Vector3d(speed, 0, -0.0981));
  problem.add_contact(brick, mass,
                      carom::RigidContact<double>{.gap = 0, .friction = CAROM_PLUGIN_FRICTION});
  thread_local carom::ContactSolver<double> solver;
  Eigen::VectorXd velocity;
  return solver.solve(problem, velocity).converged() ? velocity.x() : -1;
}
