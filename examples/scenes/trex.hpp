// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <numbers>
#include <utility>

#include "carom/variational/planar_tree.hpp"

namespace carom::examples {

/// Coordinates of the tailed running robot, in order.
enum TrexCoordinate : Index {
  trex_x,           ///< Hip, which is the front body's centre [m].
  trex_y,           ///< The same, above the ground [m].
  trex_body,        ///< θ: direction from the front body's centre to the rear one's [rad].
  trex_right_hip,   ///< φ_R: upper leg from the body's direction [rad].
  trex_right_knee,  ///< γ_R: lower leg from the upper one [rad].
  trex_left_hip,    ///< φ_L [rad].
  trex_left_knee,   ///< γ_L [rad].
  trex_tail,        ///< φ_T: rear body with the tail from θ [rad].
  trex_size,
};

/// Gaps to the ground, in order.
enum TrexContact : Index { trex_right_foot, trex_left_foot, trex_tail_tip, trex_contacts };

/// Lengths that make the robot; all masses follow from them.
struct TrexShape {
  double front_radius = 0.07;  ///< r₁ [m], > rear_radius.
  double rear_radius = 0.04;   ///< r₂ [m], > 0.
  double upper_leg = 0.08;     ///< l_u [m], > 0.
  double lower_leg = 0.10;     ///< l_l [m], > 0.

  /// Distance of the two bodies' centres: the spheres touch [m].
  [[nodiscard]] double body_length() const { return front_radius + rear_radius; }
  /// r₂ (r₁ + r₂)/(r₁ − r₂): the tail ends where the common tangents of the two spheres meet [m].
  [[nodiscard]] double tail_length() const {
    return rear_radius * body_length() / (front_radius - rear_radius);
  }
  bool operator==(const TrexShape&) const = default;
};

/// Springs and dampers in the joints, each about the stance it was built in.
struct TrexJoints {
  /// Hip actuators: Kp = 1e5 and Kv = 1e4 in kg, cm and s, that is 10 N·m/rad and 1 N·m·s/rad.
  double hip_stiffness = 10;
  double hip_damping = 1;
  double knee_stiffness = 10;  ///< [N·m/rad]
  double knee_damping = 0.05;  ///< [N·m·s/rad]
  double body_stiffness = 10;  ///< between front and rear body [N·m/rad]
  double body_damping = 0.05;  ///< [N·m·s/rad]

  /// Joints that turn freely.
  [[nodiscard]] static constexpr TrexJoints loose() { return {0, 0, 0, 0, 0, 0}; }
};

namespace detail {

/// Two spheres of water, rods of 0.25 kg/m for legs and tail; the rear sphere turns with the tail.
[[nodiscard]] inline PlanarTree<double> make_trex_tree(const TrexShape& shape, double gravity) {
  constexpr double water = 1000, rod = 0.25;  // [kg/m³], [kg/m]
  const auto sphere = [](double r) { return 4.0 / 3 * std::numbers::pi * r * r * r * water; };
  const auto make_rod = [&](Index parent, double place, double own) {
    PlanarBody<double> part;
    part.parent = parent;
    part.hinge = {place, 0};
    part.centre = {own / 2, 0};
    part.mass = rod * own;
    part.inertia = rod * own * own * own / 12;
    return part;
  };
  PlanarBody<double> front;
  front.mass = sphere(shape.front_radius);
  front.inertia = 0.4 * front.mass * shape.front_radius * shape.front_radius;
  // The rear sphere, centred on its hinge, with the tail.
  PlanarBody<double> rear = make_rod(0, shape.body_length(), shape.tail_length());
  const double ball = sphere(shape.rear_radius), tail = rear.mass, reach = rear.centre(0);
  rear.mass = ball + tail;
  rear.centre = {tail / rear.mass * reach, 0};
  rear.inertia +=
      0.4 * ball * shape.rear_radius * shape.rear_radius + ball * tail / rear.mass * reach * reach;
  const double upper = shape.upper_leg, lower = shape.lower_leg;
  PlanarTreeOptions<double> options;
  options.gravity = {0, -gravity};
  options.floating = true;
  return PlanarTree<double>({front, make_rod(0, 0, upper), make_rod(1, upper, lower),
                             make_rod(0, 0, upper), make_rod(3, upper, lower), rear},
                            options);
}

}  // namespace detail

/// The tailed running robot: eight degrees of freedom, contacts of both feet and of the tail's tip
/// with flat ground at height zero.
///
/// Foot = hip + l_u e(θ + φ) + l_l e(θ + φ + γ), e(a) = (cos a, sin a).
/// @cite  seghete2014propagative, section VII-B; what it leaves open: docs/derivations/trex.md
class Trex : public PlanarTree<double> {
 public:
  /// @param rest     configuration in which no spring pulls.
  /// @param friction of feet and tail on the ground while they rest or slide there [-], ≥ 0.
  /// @param gravity  [m/s²], downwards.
  /// @note  Cold: allocates, throws std::invalid_argument.
  Trex(const TrexShape& shape, VectorX<double> rest, const TrexJoints& joints = {},
       double friction = 0.5, double gravity = 9.81)
      : PlanarTree<double>(detail::make_trex_tree(shape, gravity)),
        shape_(shape),
        friction_(friction),
        rest_(std::move(rest)),
        stiffness_(VectorX<double>::Zero(trex_size)),
        damping_(VectorX<double>::Zero(trex_size)) {
    CAROM_EXPECTS(rest_.size() == trex_size);
    stiffness_.tail<5>() << joints.hip_stiffness, joints.knee_stiffness, joints.hip_stiffness,
        joints.knee_stiffness, joints.body_stiffness;
    damping_.tail<5>() << joints.hip_damping, joints.knee_damping, joints.hip_damping,
        joints.knee_damping, joints.body_damping;
    along_.setZero(trex_size);
    across_.setZero(trex_size);
  }

  [[nodiscard]] const TrexShape& shape() const noexcept { return shape_; }
  [[nodiscard]] const VectorX<double>& rest() const noexcept { return rest_; }
  [[nodiscard]] Index gap_count() const noexcept { return trex_contacts; }

  /// Place of what touches the ground [m].
  [[nodiscard]] Point tip(const VectorX<double>& q, Index contact) const noexcept {
    return point(q, body_of(contact), arm_of(contact));
  }

  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const noexcept {
    for (Index i = 0; i < trex_contacts; ++i) out(i) = tip(q, i)(1);
  }
  void write_gap_gradients(const VectorX<double>& q, MatrixX<double>& out) const noexcept {
    for (Index i = 0; i < trex_contacts; ++i) {
      write_point(q, body_of(i), arm_of(i), along_, across_);
      for (Index j = 0; j < trex_size; ++j) out(i, j) = across_(j);
    }
  }

  [[nodiscard]] double friction(Index) const noexcept { return friction_; }
  void write_tangents(const VectorX<double>& q, Index contact,
                      MatrixX<double>& out) const noexcept {
    write_point(q, body_of(contact), arm_of(contact), along_, across_);
    for (Index j = 0; j < trex_size; ++j) {
      out(0, j) = along_(j);
      out(1, j) = 0;
    }
  }

  /// The tree's Lagrangian less the energy in the springs.
  void write_lagrangian(const VectorX<double>& q, const VectorX<double>& v, const double& t,
                        LagrangianDerivatives<double>& out) const noexcept {
    PlanarTree<double>::write_lagrangian(q, v, t, out);
    pull(q, out);
  }
  void write_lagrangian_curvature(const VectorX<double>& q, const VectorX<double>& v,
                                  const double& t,
                                  LagrangianDerivatives<double>& out) const noexcept {
    PlanarTree<double>::write_lagrangian_curvature(q, v, t, out);
    pull(q, out);
    for (Index i = 0; i < trex_size; ++i) out.by_qq(i, i) -= stiffness_(i);
  }

  /// Dampers.
  void write_force(const VectorX<double>&, const VectorX<double>& v, const double&,
                   VectorX<double>& value, MatrixX<double>& by_q,
                   MatrixX<double>& by_v) const noexcept {
    by_q.setZero();
    by_v.setZero();
    for (Index i = 0; i < trex_size; ++i) {
      value(i) = -damping_(i) * v(i);
      by_v(i, i) = -damping_(i);
    }
  }

 private:
  [[nodiscard]] static Index body_of(Index contact) noexcept {
    return contact == trex_right_foot ? 2 : contact == trex_left_foot ? 4 : 5;
  }
  [[nodiscard]] Point arm_of(Index contact) const noexcept {
    return {contact == trex_tail_tip ? shape_.tail_length() : shape_.lower_leg, 0};
  }
  void pull(const VectorX<double>& q, LagrangianDerivatives<double>& out) const noexcept {
    for (Index i = 0; i < trex_size; ++i) {
      const double away = q(i) - rest_(i);
      out.value -= stiffness_(i) * away * away / 2;
      out.by_q(i) -= stiffness_(i) * away;
    }
  }

  TrexShape shape_;
  double friction_ = 0;
  VectorX<double> rest_, stiffness_, damping_;
  mutable VectorX<double> along_, across_;
};

}  // namespace carom::examples
