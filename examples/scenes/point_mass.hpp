// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/contact/contact_problem.hpp"
#include "carom/solvers/sap.hpp"

#include "scenes/ground.hpp"

namespace carom::examples {

/// A point mass on the ground: three velocities, one contact, stepped by SAP.
class PointMass {
 public:
  PointMass(double mass, const Ground& ground, double time_step)
      : mass_(mass), ground_(ground), problem_(time_step), solver_({.tolerance = 1e-14}) {}

  Vector3<double> position = Vector3<double>::Zero();  ///< [m]
  Vector3<double> velocity = Vector3<double>::Zero();  ///< [m/s]
  /// Height up to which the contact exists [m]. Infinite shows what the model does at a distance.
  double contact_height = std::numeric_limits<double>::infinity();

  /// Advances one time step under gravity and a force [N].
  void step(const Vector3<double>& force = Vector3<double>::Zero()) {
    const double dt = problem_.time_step();
    const VectorX<double> free_velocity = velocity + dt * (ground_.gravity + force / mass_);
    problem_.reset(dt);
    problem_.add_body(mass_ * SquareMatrix<double, 3>::Identity(), free_velocity);
    if (position.z() <= contact_height) {
      problem_.add_contact(0, SquareMatrix<double, 3>::Identity(), ground_.contact(position.z()));
    }
    guess_ = velocity;
    static_cast<void>(solver_.solve(problem_, guess_));
    velocity = guess_;
    position += dt * velocity;
  }

  /// The last step's problem.
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }
  /// The last step's impulse [N·s], zero without contact.
  [[nodiscard]] Vector3<double> impulse() const {
    return problem_.block_count() > 0 ? Vector3<double>(solver_.impulse().head<3>())
                                      : Vector3<double>(0, 0, 0);
  }

 private:
  double mass_;
  Ground ground_;
  ContactProblem<double> problem_;
  SapSolver<double> solver_;
  VectorX<double> guess_;
};

}  // namespace carom::examples
