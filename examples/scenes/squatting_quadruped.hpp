// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom::examples {

/// A trunk on four legs of two slender rods that moves in the plane y = const; a dog's size.
struct SquatShape {
  double length = 0.5, width = 0.25, height = 0.12;  ///< of the trunk, hips at its corners [m].
  double trunk_mass = 10;                            ///< [kg]
  double rod = 0.2;                                  ///< of upper and lower legs [m].
  double upper_mass = 0.8, lower_mass = 0.25;        ///< [kg]
  double stiffness = 400;                            ///< P of the joints [N·m/rad].
  double damping = 20;                               ///< D of the joints [N·m·s/rad].
  double gravity = 9.81;                             ///< [m/s²]

  [[nodiscard]] double mass() const { return trunk_mass + 4 * (upper_mass + lower_mass); }
};

/// The planar quadruped with joint servos as a mechanism for ViscoelasticStepper: M, h, J written
/// out by hand. Coordinates: the trunk's x, z and pitch, then of each leg the angles of the upper
/// and the lower rod from the downward vertical, so that a rod points to (sin a, −cos a).
class SquattingQuadruped {
 public:
  static constexpr Index leg_count = 4, size = 3 + 2 * leg_count;
  using scalar_type = double;
  using Coordinates = Vector<double, size>;
  struct State {
    Coordinates q = Coordinates::Zero();
    Coordinates velocity = Coordinates::Zero();
  };

  double bend = 0.6;      ///< What the servos hold the hips at; knees twice as far back [rad].
  double servo_step = 0;  ///< Time over which the servos are linearized, that of a step [s]; at
                          ///< zero they act by the joints' last state, and may overshoot.

  explicit SquattingQuadruped(const SquatShape& shape = {}) : shape_(shape) {}

  [[nodiscard]] const SquatShape& shape() const noexcept { return shape_; }
  [[nodiscard]] static constexpr Index velocity_count() noexcept { return size; }
  [[nodiscard]] static constexpr Index contact_count() noexcept { return leg_count; }

  /// On straight shanks below the hips at the servos' angles, feet `depth` in the ground [m].
  [[nodiscard]] State standing(double depth = 0) const {
    State state;
    state.q(1) = 2 * shape_.rod * std::cos(bend) - depth;
    for (Index leg = 0; leg < leg_count; ++leg) {
      state.q(upper(leg)) = side(leg) * bend;
      state.q(lower(leg)) = -side(leg) * bend;
    }
    return state;
  }

  template <typename Matrix, typename Values>
  void write_dynamics(const State& state, Matrix& mass, Values& acceleration) const noexcept {
    SquareMatrix<double, size> m = SquareMatrix<double, size>::Zero();
    Coordinates force = Coordinates::Zero();
    m(0, 0) = m(1, 1) = shape_.trunk_mass;
    force(1) = -shape_.trunk_mass * shape_.gravity;
    m(2, 2) =
        shape_.trunk_mass / 12 * (shape_.length * shape_.length + shape_.height * shape_.height);
    for (Index leg = 0; leg < leg_count; ++leg) {
      const double half = shape_.rod / 2, square = shape_.rod * shape_.rod;
      add_rod(point(state, leg, half, 0), shape_.upper_mass, m, force);
      add_rod(point(state, leg, shape_.rod, half), shape_.lower_mass, m, force);
      m(upper(leg), upper(leg)) += shape_.upper_mass * square / 12;
      m(lower(leg), lower(leg)) += shape_.lower_mass * square / 12;
      const auto [hip, knee] = servos(leg);
      add_servo(state, {2, upper(leg)}, hip, m, force);
      add_servo(state, {upper(leg), lower(leg)}, knee, m, force);
    }
    mass = m;
    acceleration = m.llt().solve(force);
  }

  template <typename Matrix, typename Values>
  void write_contacts(const State& state, Values& points, Matrix& jacobian,
                      Values& drift) const noexcept {
    jacobian.setZero();
    for (Index leg = 0; leg < leg_count; ++leg) {
      const Point foot = point(state, leg, shape_.rod, shape_.rod);
      points.template segment<3>(3 * leg) << foot.place(0),
          (leg % 2 == 0 ? 0.5 : -0.5) * shape_.width, foot.place(1);
      drift.template segment<3>(3 * leg) << foot.drift(0), 0, foot.drift(1);
      jacobian.row(3 * leg) = foot.jacobian.row(0);
      jacobian.row(3 * leg + 2) = foot.jacobian.row(1);
    }
  }

  template <typename Values>
  void write_velocity(const State& state, Values& velocity) const noexcept {
    velocity = state.velocity;
  }
  template <typename Values>
  void advance(State& state, const Values& displacement, const Values& velocity) const noexcept {
    state.q += displacement;
    state.velocity = velocity;
  }

 private:
  /// A point of a leg: place (x, z), Jacobian, J̇ v.
  struct Point {
    Eigen::Vector2d place, drift;
    Eigen::Matrix<double, 2, size> jacobian;
  };

  /// What a servo aims at: an angle [rad], and the torque that holds the trunk there [N·m].
  struct Target {
    double angle, torque;
  };

  [[nodiscard]] static constexpr Index upper(Index leg) noexcept { return 3 + 2 * leg; }
  [[nodiscard]] static constexpr Index lower(Index leg) noexcept { return 4 + 2 * leg; }
  /// Legs 0 and 1 are in front; rear ones bend the other way.
  [[nodiscard]] static constexpr double side(Index leg) noexcept { return leg < 2 ? 1 : -1; }

  /// Targets of hip and knee: each foot bears a quarter of the weight, rods their own.
  [[nodiscard]] std::array<Target, 2> servos(Index leg) const noexcept {
    const double lever = side(leg) * shape_.rod * std::sin(bend) * shape_.gravity;
    return {{{side(leg) * bend, lever * (shape_.upper_mass + shape_.lower_mass) / 2},
             {-2 * side(leg) * bend,
              lever * (shape_.mass() / double(leg_count) - shape_.lower_mass / 2)}}};
  }

  /// The point so far down the upper rod and so far down the lower one [m].
  [[nodiscard]] Point point(const State& state, Index leg, double along_upper,
                            double along_lower) const noexcept {
    Point p;
    p.place = state.q.head<2>();
    p.drift.setZero();
    p.jacobian.setZero();
    p.jacobian(0, 0) = p.jacobian(1, 1) = 1;
    const auto turn = [&](Index angle, const Eigen::Vector2d& arm) {
      p.place += arm;
      p.jacobian.col(angle) << -arm(1), arm(0);
      p.drift -= arm * state.velocity(angle) * state.velocity(angle);
    };
    const auto down = [&](Index angle) {
      return Eigen::Vector2d(std::sin(state.q(angle)), -std::cos(state.q(angle)));
    };
    const double pitch = state.q(2), hip = side(leg) * shape_.length / 2;
    turn(2, hip * Eigen::Vector2d(std::cos(pitch), std::sin(pitch)));
    turn(upper(leg), along_upper * down(upper(leg)));
    if (along_lower > 0) turn(lower(leg), along_lower * down(lower(leg)));
    return p;
  }

  template <typename Matrix>
  void add_rod(const Point& centre, double mass, Matrix& m, Coordinates& force) const noexcept {
    m += mass * centre.jacobian.transpose() * centre.jacobian;
    const Eigen::Vector2d pull(-centre.drift(0), -centre.drift(1) - shape_.gravity);
    force += mass * centre.jacobian.transpose() * pull;
  }

  /// A servo between two angles at the end of servo_step: P and D enter M as well.
  template <typename Matrix>
  void add_servo(const State& state, const std::array<Index, 2>& between, const Target& target,
                 Matrix& m, Coordinates& force) const noexcept {
    const Index from = between[0], to = between[1];
    const double angle = state.q(to) - state.q(from);
    const double rate = state.velocity(to) - state.velocity(from);
    const double t = servo_step, grip = t * (shape_.damping + t * shape_.stiffness);
    const double torque = target.torque + shape_.stiffness * (target.angle - angle - t * rate) -
                          shape_.damping * rate;
    force(to) += torque;
    force(from) -= torque;
    m(to, to) += grip;
    m(from, from) += grip;
    m(to, from) -= grip;
    m(from, to) -= grip;
  }

  SquatShape shape_;
};

}  // namespace carom::examples
