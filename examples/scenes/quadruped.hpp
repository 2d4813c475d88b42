// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "carom/impact/plastic.hpp"
#include "carom/variational/impact_stepper.hpp"
#include "carom/variational/joint_forces.hpp"
#include "carom/variational/spatial_tree.hpp"

namespace carom::examples {

/// Coordinates of a quadruped: its trunk's six, then three per leg.
enum QuadrupedCoordinate : Index {
  quadruped_x,      ///< Trunk's centre, forwards [m].
  quadruped_y,      ///< To the left [m].
  quadruped_z,      ///< Above the ground [m].
  quadruped_yaw,    ///< [rad]
  quadruped_pitch,  ///< Nose down [rad]; singular at ±π/2.
  quadruped_roll,   ///< [rad]
  quadruped_legs,   ///< First of the legs' coordinates: abduction, hip, knee of each [rad].
  quadruped_size = quadruped_legs + 12,
};

/// Legs, and the gaps of their feet, in order.
enum QuadrupedLeg : Index { front_left, front_right, rear_left, rear_right, quadruped_leg_count };

/// A trunk that is a box, and four equal legs of two slender rods; invented, as large as a dog.
struct QuadrupedShape {
  double length = 0.5, width = 0.25, height = 0.12;  ///< of the trunk, hips at its corners [m].
  double trunk_mass = 10;                            ///< [kg]
  double upper_leg = 0.2, lower_leg = 0.2;           ///< [m]
  double upper_mass = 0.8, lower_mass = 0.25;        ///< [kg]
  double friction = 0.7;                             ///< of the feet [-], ≥ 0.
  double gravity = 9.81;                             ///< downwards [m/s²].
};

namespace detail {

[[nodiscard]] inline std::vector<SpatialBody<double>> make_quadruped_bodies(
    const QuadrupedShape& shape) {
  using Point = Vector3<double>;
  std::vector<SpatialBody<double>> bodies;
  SpatialBody<double> trunk;
  trunk.mass = shape.trunk_mass;
  const Point squares = Point(shape.length, shape.width, shape.height).cwiseAbs2();
  for (Index i = 0; i < 3; ++i) {
    trunk.inertia(i, i) = trunk.mass / 12 * (squares.sum() - squares(i));
  }
  const Index base = append_floating_body(bodies, trunk);
  const auto rod = [&](Index parent, double length, double mass) {
    auto body = SpatialBody<double>::link(parent, JointKind::revolute, Point::Unit(1));
    body.mass = mass;
    body.centre << 0, 0, -length / 2;
    body.inertia(0, 0) = body.inertia(1, 1) = mass * length * length / 12;
    return body;
  };
  for (Index leg = 0; leg < quadruped_leg_count; ++leg) {
    auto hip = SpatialBody<double>::link(base, JointKind::revolute, Point::Unit(0));
    hip.place << (leg < rear_left ? 0.5 : -0.5) * shape.length,
        (leg % 2 == front_left ? 0.5 : -0.5) * shape.width, 0;
    bodies.push_back(hip);
    bodies.push_back(rod(Index(bodies.size()) - 1, shape.upper_leg, shape.upper_mass));
    bodies.push_back(rod(Index(bodies.size()) - 1, shape.lower_leg, shape.lower_mass));
    bodies.back().place << 0, 0, -shape.upper_leg;
  }
  return bodies;
}

}  // namespace detail

/// A trunk on four legs above flat ground at height zero, with point feet that have friction.
class QuadrupedBody : public SpatialTree<double> {
 public:
  /// @note  Cold: allocates, throws std::invalid_argument.
  explicit QuadrupedBody(const QuadrupedShape& shape = {})
      : SpatialTree<double>(detail::make_quadruped_bodies(shape), {Point(0, 0, -shape.gravity)}),
        shape_(shape) {
    gradient_.setZero(3, size());
  }

  [[nodiscard]] const QuadrupedShape& shape() const noexcept { return shape_; }
  [[nodiscard]] Index gap_count() const noexcept { return quadruped_leg_count; }
  [[nodiscard]] double friction(Index) const noexcept { return shape_.friction; }

  /// Place of a foot [m].
  [[nodiscard]] Point foot(const VectorX<double>& q, Index leg) const noexcept {
    return point(q, shank(leg), Point(0, 0, -shape_.lower_leg));
  }
  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const noexcept {
    for (Index leg = 0; leg < quadruped_leg_count; ++leg) out(leg) = foot(q, leg)(2);
  }
  void write_gap_gradients(const VectorX<double>& q, MatrixX<double>& out) const noexcept {
    for (Index leg = 0; leg < quadruped_leg_count; ++leg) {
      write_foot(q, leg);
      for (Index j = 0; j < quadruped_size; ++j) out(leg, j) = gradient_(2, j);
    }
  }
  void write_tangents(const VectorX<double>& q, Index leg, MatrixX<double>& out) const noexcept {
    write_foot(q, leg);
    for (Index j = 0; j < quadruped_size; ++j) {
      out(0, j) = gradient_(0, j);
      out(1, j) = gradient_(1, j);
    }
  }

 private:
  [[nodiscard]] static Index shank(Index leg) noexcept { return quadruped_legs + 3 * leg + 2; }
  void write_foot(const VectorX<double>& q, Index leg) const noexcept {
    static_cast<void>(write_point(q, shank(leg), Point(0, 0, -shape_.lower_leg), gradient_));
  }

  QuadrupedShape shape_;
  mutable MatrixX<double> gradient_;
};

/// How a quadruped stands, and how firmly its joints hold that stance.
struct QuadrupedStance {
  double bend = 0.6;       ///< of the hips; knees bend back twice as far, feet below hips [rad].
  double spread = 0;       ///< of the legs, outwards [rad].
  bool mirrored = false;   ///< Rear legs bend the other way: front and rear are mirror images.
  double stiffness = 400;  ///< K_p of all joints [N·m/rad]
  double damping = 24;     ///< K_d [N·m·s/rad]
};

/// Configuration of a stance with a level trunk, the lowest foot `drop` above the ground [m].
[[nodiscard]] inline VectorX<double> make_quadruped_posture(const QuadrupedBody& body,
                                                            const QuadrupedStance& stance,
                                                            double drop = 0) {
  VectorX<double> q = VectorX<double>::Zero(quadruped_size);
  for (Index leg = 0; leg < quadruped_leg_count; ++leg) {
    const double bend = stance.mirrored && leg >= rear_left ? -stance.bend : stance.bend;
    double* const joints = q.data() + quadruped_legs + 3 * leg;
    joints[0] = leg % 2 == front_left ? stance.spread : -stance.spread;
    joints[1] = bend;
    joints[2] = -2 * bend;
  }
  double lowest = body.foot(q, 0)(2);
  for (Index leg = 1; leg < quadruped_leg_count; ++leg) {
    lowest = std::min(lowest, body.foot(q, leg)(2));
  }
  q(quadruped_z) = drop - lowest;
  return q;
}

/// A quadruped whose joints are servos; the legs' targets may be moved between steps.
using Quadruped = WithJointForces<QuadrupedBody>;

[[nodiscard]] inline Quadruped make_quadruped(const QuadrupedStance& stance = {},
                                              const QuadrupedShape& shape = {}) {
  QuadrupedBody body(shape);
  const VectorX<double> q = make_quadruped_posture(body, stance);
  std::vector<JointForce<double>> forces;
  for (Index i = quadruped_legs; i < quadruped_size; ++i) {
    forces.push_back(JointForce<double>::servo(i, stance.stiffness, stance.damping, q(i)));
  }
  return Quadruped(body, forces);
}

/// Feet that land stay down.
using QuadrupedStepper = ImpactStepper<Quadruped, PlasticImpact<double>>;

}  // namespace carom::examples
