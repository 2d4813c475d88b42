// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/contact/primal.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/contact/surface.hpp"

namespace carom::examples {

/// A rigid body; its spin and linear velocity are in axes of the world.
struct RigidBlock {
  double mass = 1;                                         ///< [kg]
  Vector3<double> inertia{1, 1, 1};                        ///< principal, in its own axes [kg·m²]
  Vector3<double> position{0, 0, 0};                       ///< of its centre of mass [m]
  Eigen::Quaterniond orientation{1, 0, 0, 0};              ///< turns its axes into the world's
  Vector<double, 6> velocity = Vector<double, 6>::Zero();  ///< [rad/s, m/s]
  Vector3<double> force{0, 0, 0};                          ///< beside gravity [N], at its centre
  /// Only moves along this unit vector, without turning and without gravity: a press, a finger.
  std::optional<Vector3<double>> rail;

  [[nodiscard]] Vector3<double> place(const Vector3<double>& point) const {
    return position + orientation * point;
  }
};

/// A solid box by its half sizes [m].
[[nodiscard]] inline RigidBlock make_block(double mass, const Vector3<double>& half) {
  const Vector3<double> squares = half.cwiseAbs2();
  RigidBlock block;
  block.mass = mass;
  block.inertia = mass / 3 * (Vector3<double>::Constant(squares.sum()) - squares);
  return block;
}

/// Where two bodies touch, or a body and the world.
struct Touch {
  Index first;             ///< the body the normal points into.
  Index second = -1;       ///< the other; −1: the world.
  Vector3<double> point;   ///< [m]
  Vector3<double> normal;  ///< unit.
  double gap = 0;          ///< [m]
  double friction = 0.5;   ///< μ [-]
};

/// Bodies that touch, stepped in time: velocities by a contact problem of rigid contacts, then
/// positions by the new velocities.
class RigidWorld {
 public:
  using Touches = std::vector<Touch>;
  /// Answers a problem: writes the velocity and the impulse.
  using Solve = std::function<void(const ContactProblem<double>&, VectorX<double>& velocity,
                                   VectorX<double>& impulse)>;

  Vector3<double> gravity{0, 0, -9.81};  ///< [m/s²]
  double time_step = 0.005;              ///< δt [s]
  double restitution = 0;                ///< e [-]
  double correction = 0;                 ///< as in RigidContact
  double softness = 1e-6;                ///< as in RigidContact
  bool rigid = true;                     ///< else contacts are compliant, R = softness · w
  /// Replaces the touches' coefficients: friction follows from how fast each slid in the step
  /// before. The touches must then keep their order.
  std::optional<StaticKineticFriction<double>> friction;
  std::vector<RigidBlock> blocks;
  /// Finds where the blocks touch in their present places.
  std::function<Touches(const std::vector<RigidBlock>&)> find_touches;

  /// The contact problem of the next step.
  [[nodiscard]] ContactProblem<double> problem() const {
    ContactProblem<double> problem(time_step);
    for (const RigidBlock& block : blocks) add(block, problem);
    const Touches touches = find_touches(blocks);
    for (std::size_t i = 0; i < touches.size(); ++i) add(touches[i], i, problem);
    for (Index i = 0; !rigid && i < problem.block_count(); ++i) {
      WeightedContact<double> law = problem.friction_contact_law(i);
      law.rigid = false;
      problem.set_law(i, law);
    }
    return problem;
  }

  /// Takes one step.
  void step(const Solve& solve) {
    const ContactProblem<double> now = problem();
    VectorX<double> velocity = now.free_velocity();
    impulse = VectorX<double>::Zero(now.impulse_count());
    solve(now, velocity, impulse);
    slip_.resize(std::size_t(now.block_count()));
    for (Index i = 0; i < now.block_count(); ++i) {
      slip_[std::size_t(i)] = now.friction_contact(i).velocity(velocity).head<2>().norm();
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto [start, size] = now.body(Index(b));
      advance(blocks[b], velocity.segment(start, size));
    }
  }

  VectorX<double> impulse;  ///< of the last step [N·s]

 private:
  void add(const RigidBlock& block, ContactProblem<double>& problem) const {
    if (block.rail) {
      const double speed = block.rail->dot(block.velocity.tail<3>()) +
                           time_step / block.mass * block.rail->dot(block.force);
      problem.add_body(SquareMatrix<double, 1>::Constant(block.mass),
                       Vector<double, 1>::Constant(speed));
      return;
    }
    const SquareMatrix<double, 3> turn = block.orientation.toRotationMatrix();
    const SquareMatrix<double, 3> inertia = turn * block.inertia.asDiagonal() * turn.transpose();
    const Vector3<double> spin = block.velocity.head<3>();
    const Vector3<double> own = turn.transpose() * spin;
    const Vector3<double> torque = -own.cross(Vector3<double>(block.inertia.cwiseProduct(own)));
    Vector<double, 6> velocity = block.velocity;
    velocity.head<3>() += time_step * (turn * torque.cwiseQuotient(block.inertia));
    velocity.tail<3>() += time_step * (gravity + block.force / block.mass);
    SquareMatrix<double, 6> momentum = SquareMatrix<double, 6>::Zero();
    momentum.topLeftCorner<3, 3>() = inertia;
    momentum.bottomRightCorner<3, 3>().diagonal().setConstant(block.mass);
    problem.add_body(momentum, velocity);
  }

  /// Rows (t₁, t₂, n) of a touch on one of its bodies.
  [[nodiscard]] MatrixX<double> rows(const Touch& touch, Index body) const {
    const RigidBlock& block = blocks[std::size_t(body)];
    SquareMatrix<double, 3> frame;
    frame.row(0) = touch.normal.unitOrthogonal();
    frame.row(1) = touch.normal.cross(Vector3<double>(frame.row(0)));
    frame.row(2) = touch.normal;
    if (block.rail) return frame * *block.rail;
    return frame * point_rows(Vector3<double>(touch.point - block.position));
  }

  void add(const Touch& touch, std::size_t index, ContactProblem<double>& problem) const {
    RigidContact<double> law{.gap = touch.gap,
                             .friction = touch.friction,
                             .restitution = restitution,
                             .correction = correction,
                             .softness = softness};
    if (friction) law.friction = friction_at(*friction, index < slip_.size() ? slip_[index] : 0.0);
    const MatrixX<double> first = rows(touch, touch.first);
    double approach = -first.row(2).dot(speed_of(touch.first));
    if (touch.second < 0) {
      law.approach = std::max(approach, 0.0);
      problem.add_contact(touch.first, first, law);
      return;
    }
    const MatrixX<double> second = -rows(touch, touch.second);
    approach -= second.row(2).dot(speed_of(touch.second));
    law.approach = std::max(approach, 0.0);
    problem.add_contact(touch.first, first, touch.second, second, law);
  }
  [[nodiscard]] VectorX<double> speed_of(Index body) const {
    const RigidBlock& block = blocks[std::size_t(body)];
    if (block.rail) {
      return Vector<double, 1>::Constant(block.rail->dot(block.velocity.tail<3>()));
    }
    return block.velocity;
  }

  void advance(RigidBlock& block, const VectorX<double>& velocity) const {
    if (block.rail) {
      block.velocity << 0, 0, 0, velocity(0) * *block.rail;
    } else {
      block.velocity = velocity;
    }
    block.position += time_step * block.velocity.tail<3>();
    const Vector3<double> turn = time_step * block.velocity.head<3>();
    const double angle = turn.norm();
    if (angle > 0) {
      block.orientation = Eigen::AngleAxisd(angle, turn / angle) * block.orientation;
      block.orientation.normalize();
    }
  }

  std::vector<double> slip_;  ///< of the touches in the last step [m/s]
};

/// Four points around one, ± along two directions.
[[nodiscard]] inline std::vector<Vector3<double>> four_around(const Vector3<double>& centre,
                                                              const Vector3<double>& one,
                                                              const Vector3<double>& other) {
  return {centre - one - other, centre + one - other, centre - one + other, centre + one + other};
}

}  // namespace carom::examples
