// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "carom/contact/contact_problem.hpp"
#include "carom/solvers/sap.hpp"

#include "scenes/ground.hpp"

namespace carom::examples {

/// What a rigid body is made of, in its own frame at the center of mass.
struct BodyShape {
  double mass;                        ///< [kg]
  Vector3<double> inertia;            ///< Principal moments [kg·m²].
  std::vector<Vector3<double>> feet;  ///< Points that touch the ground [m].
};

/// A box of the given half widths, on the four corners of its lower face.
[[nodiscard]] inline BodyShape make_box(double mass, const Vector3<double>& half) {
  const Vector3<double> s = half.cwiseAbs2() * (mass / 3);
  return {mass,
          {s.y() + s.z(), s.x() + s.z(), s.x() + s.y()},
          {{half.x(), half.y(), -half.z()},
           {-half.x(), half.y(), -half.z()},
           {-half.x(), -half.y(), -half.z()},
           {half.x(), -half.y(), -half.z()}}};
}

/// A thin disc on three points of its rim, 120 degrees apart.
[[nodiscard]] inline BodyShape make_disc(double mass, double radius) {
  const double s = mass * radius * radius / 4;
  const double half = radius / 2, side = radius * std::sqrt(3.0) / 2;
  return {mass, {s, s, 2 * s}, {{radius, 0, 0}, {-half, side, 0}, {-half, -side, 0}}};
}

/// A rigid body that stands on the ground on some points, stepped by SAP. Velocities are angular,
/// then linear, both in the frame of the ground.
class FootedBody {
 public:
  FootedBody(BodyShape shape, const Ground& ground, double time_step)
      : shape_(std::move(shape)),
        ground_(ground),
        problem_(time_step),
        solver_({.tolerance = 1e-14}) {
    position = {0, 0, shape_.feet.empty() ? 0 : -shape_.feet.front().z()};
  }

  Vector3<double> position;  ///< [m]
  SquareMatrix<double, 3> orientation = SquareMatrix<double, 3>::Identity();
  Vector<double, 6> velocity = Vector<double, 6>::Zero();  ///< [rad/s, m/s]

  /// Advances one time step under gravity and a torque [N·m].
  void step(const Vector3<double>& torque = Vector3<double>::Zero()) {
    const double dt = problem_.time_step();
    const SquareMatrix<double, 3> inertia =
        orientation * shape_.inertia.asDiagonal() * orientation.transpose();
    const Vector3<double> spin = velocity.head<3>();
    const Vector3<double> spin_rate =
        orientation * (orientation.transpose() * (torque - spin.cross(inertia * spin)))
                          .cwiseQuotient(shape_.inertia);
    VectorX<double> free_velocity = velocity;
    free_velocity.head<3>() += dt * spin_rate;
    free_velocity.tail<3>() += dt * ground_.gravity;
    Eigen::Matrix<double, 6, 6> momentum = Eigen::Matrix<double, 6, 6>::Zero();
    momentum.topLeftCorner<3, 3>() = inertia;
    momentum.bottomRightCorner<3, 3>().diagonal().setConstant(shape_.mass);
    problem_.reset(dt);
    problem_.add_body(momentum, free_velocity);
    for (const Vector3<double>& foot : shape_.feet) add_foot(orientation * foot);
    guess_ = velocity;
    static_cast<void>(solver_.solve(problem_, guess_));
    velocity = guess_;
    position += dt * velocity.tail<3>();
    turn(dt * velocity.head<3>());
  }

  [[nodiscard]] const BodyShape& shape() const noexcept { return shape_; }
  /// The last step's problem.
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }
  /// The last step's impulse on one foot [N·s].
  [[nodiscard]] Vector3<double> impulse(Index foot) const {
    return solver_.impulse().segment<3>(3 * foot);
  }

 private:
  /// Contact of a point at `arm` from the center of mass: v + ω × arm.
  void add_foot(const Vector3<double>& arm) {
    Eigen::Matrix<double, 3, 6> jacobian;
    jacobian << 0, arm.z(), -arm.y(), 1, 0, 0,  //
        -arm.z(), 0, arm.x(), 0, 1, 0,          //
        arm.y(), -arm.x(), 0, 0, 0, 1;
    problem_.add_contact(0, jacobian, ground_.contact(position.z() + arm.z()));
  }
  void turn(const Vector3<double>& angles) {
    const double angle = angles.norm();
    if (angle > 0) orientation = Eigen::AngleAxisd(angle, angles / angle) * orientation;
  }

  BodyShape shape_;
  Ground ground_;
  ContactProblem<double> problem_;
  SapSolver<double> solver_;
  VectorX<double> guess_;
};

}  // namespace carom::examples
