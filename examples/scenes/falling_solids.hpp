// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "carom/contact/wrench_contact.hpp"

#include "scenes/pile.hpp"
#include "scenes/solid_touches.hpp"

namespace carom::examples {

/// What the contacts of FallingSolids are.
enum class SolidContact {
  compliant,  ///< CompliantContact
  rolling,    ///< compliant, and those of balls resist rolling
  rigid,      ///< RigidContact
};

/// Balls and boxes that fall into a bin and settle, 60 steps a second.
class FallingSolids {
 public:
  std::vector<Solid> solids;
  SolidContact kind = SolidContact::compliant;
  double half_width = 1e30;        ///< of the bin [m]
  double time_step = 1.0 / 60;     ///< δt [s]
  double friction = 0.5;           ///< μ [-]
  double rolling_friction = 2e-3;  ///< μᵣ [m]
  double stiffness = 1e5;          ///< k of compliant contact [N/m]

  /// Finds the touches and writes the contact problem of the next step, with the velocities of the
  /// bodies and the impulses that their contacts had in the last one as guesses.
  void prepare() {
    double fastest = 0;
    for (const Solid& solid : solids) {
      const auto& twist = solid.body.velocity;
      fastest = std::max(fastest, twist.tail<3>().norm() + solid.extent() * twist.head<3>().norm());
    }
    finder_.half_width = half_width;
    finder_.reach = least_reach + 2 * time_step * fastest;
    touches_ = finder_.find(solids);
    std::erase_if(touches_, [&](const Touch& touch) {
      return touch.gap > least_reach + time_step * std::max(0.0, approach(touch));
    });
    problem_.reset(time_step);
    velocity.resize(6 * Index(solids.size()));
    for (std::size_t i = 0; i < solids.size(); ++i) add_body(Index(i), solids[i].body);
    constraint_touches_.clear();
    contact_touches_.clear();
    for (std::size_t i = 0; i < touches_.size(); ++i) add_touch(i);
    write_guess();
  }
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::vector<Touch>& touches() const noexcept { return touches_; }
  /// Guess of the problem's velocity, and its answer before advance().
  VectorX<double> velocity;
  /// Guess of its impulses, and their answer.
  VectorX<double> impulse;

  /// Moves the bodies by the velocity and keeps the impulses as guesses.
  void advance() {
    for (std::size_t i = 0; i < solids.size(); ++i) {
      RigidBlock& body = solids[i].body;
      body.velocity = velocity.segment<6>(6 * Index(i));
      body.position += time_step * body.velocity.tail<3>();
      const Vector3<double> turn = time_step * body.velocity.head<3>();
      const double angle = turn.norm();
      if (angle > 0) body.orientation = Eigen::AngleAxisd(angle, turn / angle) * body.orientation;
      body.orientation.normalize();
    }
    kept_.clear();
    for_each_row([&](const Touch& touch, int number, Index row) {
      const Vector3<double> local = impulse.segment<3>(row);
      kept_[{touch.first, touch.second, number}] = frame_of(touch).transpose() * local;
    });
  }

  [[nodiscard]] double kinetic_energy() const {
    double sum = 0;
    for (const Solid& solid : solids) {
      const RigidBlock& body = solid.body;
      const Vector3<double> spin = solid.axes().transpose() * body.velocity.head<3>();
      sum += body.mass * body.velocity.tail<3>().squaredNorm() +
             spin.dot(body.inertia.cwiseProduct(spin));
    }
    return sum / 2;
  }
  /// Deepest overlap of the touches found by prepare() [m].
  [[nodiscard]] double deepest() const {
    double depth = 0;
    for (const Touch& touch : touches_) depth = std::max(depth, -touch.gap);
    return depth;
  }

 private:
  static constexpr double least_reach = 0.002;  ///< gaps up to this are always contacts [m]

  void add_body(Index i, const RigidBlock& body) {
    const SquareMatrix<double, 3> turn = body.orientation.toRotationMatrix();
    SquareMatrix<double, 6> momentum = SquareMatrix<double, 6>::Zero();
    momentum.topLeftCorner<3, 3>() = turn * body.inertia.asDiagonal() * turn.transpose();
    momentum.bottomRightCorner<3, 3>().diagonal().setConstant(body.mass);
    velocity.segment<6>(6 * i) = body.velocity;
    Vector<double, 6> free = body.velocity;
    const Vector3<double> spin = turn.transpose() * body.velocity.head<3>();
    const Vector3<double> torque = -spin.cross(Vector3<double>(body.inertia.cwiseProduct(spin)));
    free.head<3>() += time_step * (turn * torque.cwiseQuotient(body.inertia));
    free(5) -= 9.81 * time_step;
    problem_.add_body(momentum, free);
  }
  /// Rows are t₁, t₂, n.
  [[nodiscard]] static SquareMatrix<double, 3> frame_of(const Touch& touch) {
    SquareMatrix<double, 3> frame;
    frame.row(0) = touch.normal.unitOrthogonal();
    frame.row(1) = touch.normal.cross(Vector3<double>(frame.row(0)));
    frame.row(2) = touch.normal;
    return frame;
  }
  template <int Rows>
  [[nodiscard]] Eigen::Matrix<double, Rows, 6> rows(const Touch& touch, Index body) const {
    const SquareMatrix<double, 3> frame = frame_of(touch);
    const RigidBlock& block = solids[std::size_t(body)].body;
    Eigen::Matrix<double, Rows, 6> result = Eigen::Matrix<double, Rows, 6>::Zero();
    result.template topRows<3>() =
        frame * point_rows(Vector3<double>(touch.point - block.position));
    if constexpr (Rows == 5) result.template bottomLeftCorner<2, 3>() = frame.topRows<2>();
    return result;
  }
  /// Speed at which a gap closes [m/s].
  [[nodiscard]] double approach(const Touch& touch) const {
    const auto speed = [&](Index i) {
      const RigidBlock& body = solids[std::size_t(i)].body;
      const Vector3<double> arm = touch.point - body.position;
      const Vector3<double> spin = body.velocity.head<3>();
      return touch.normal.dot(body.velocity.tail<3>() + spin.cross(arm));
    };
    return (touch.second < 0 ? 0.0 : speed(touch.second)) - speed(touch.first);
  }
  [[nodiscard]] bool rolls(const Touch& touch) const {
    return kind == SolidContact::rolling &&
           (solids[std::size_t(touch.first)].is_ball() ||
            (touch.second >= 0 && solids[std::size_t(touch.second)].is_ball()));
  }
  void add_touch(std::size_t number) {
    const Touch& touch = touches_[number];
    const CompliantContact<double> soft{
        .gap = touch.gap, .stiffness = stiffness, .dissipation_time = 0.02, .friction = friction};
    if (rolls(touch)) {
      const WrenchContact<double> law{.contact = soft,
                                      .shape = ImpulseShape::spinless_rolling,
                                      .rolling_friction = rolling_friction};
      constraint_touches_.push_back(number);
      if (touch.second < 0) {
        problem_.add_constraint(touch.first, rows<5>(touch, touch.first), law);
      } else {
        problem_.add_constraint(touch.first, rows<5>(touch, touch.first), touch.second,
                                (-rows<5>(touch, touch.second)).eval(), law);
      }
      return;
    }
    contact_touches_.push_back(number);
    if (kind != SolidContact::rigid) return add_contact(touch, soft);
    add_contact(touch, RigidContact<double>{.gap = touch.gap,
                                            .friction = friction,
                                            .correction = touch.gap < -5e-4 ? 0.1 : 0.0});
  }
  template <typename Law>
  void add_contact(const Touch& touch, const Law& law) {
    if (touch.second < 0) {
      problem_.add_contact(touch.first, rows<3>(touch, touch.first), law);
    } else {
      problem_.add_contact(touch.first, rows<3>(touch, touch.first), touch.second,
                           (-rows<3>(touch, touch.second)).eval(), law);
    }
  }

  /// Calls visit(touch, its number among those of its pair, its first row of impulses).
  template <typename Visit>
  void for_each_row(const Visit& visit) const {
    std::map<std::pair<Index, Index>, int> seen;
    const auto go = [&](std::size_t number, Index row) {
      const Touch& touch = touches_[number];
      visit(touch, seen[{touch.first, touch.second}]++, row);
    };
    Index row = 0;
    for (const std::size_t number : contact_touches_) {
      go(number, row);
      row += 3;
    }
    for (const std::size_t number : constraint_touches_) {
      go(number, row);
      row += 5;
    }
  }
  void write_guess() {
    impulse = VectorX<double>::Zero(problem_.impulse_count());
    for_each_row([&](const Touch& touch, int number, Index row) {
      const auto found = kept_.find({touch.first, touch.second, number});
      if (found != kept_.end()) impulse.segment<3>(row) = frame_of(touch) * found->second;
    });
  }

  SolidTouches finder_;
  std::vector<Touch> touches_;
  std::vector<std::size_t> contact_touches_, constraint_touches_;
  ContactProblem<double> problem_{1.0 / 60};
  std::map<std::tuple<Index, Index, int>, Vector3<double>> kept_;  ///< in axes of the world
};

/// Balls of 8 to 12 cm and boxes of like size in layers of six by six above a bin of two metres.
/// The numbers are the same on every machine but for rounding.
[[nodiscard]] inline FallingSolids make_falling_solids(Index balls, Index boxes,
                                                       SolidContact kind) {
  constexpr double density = 300;  // [kg/m³]
  constexpr int side = 6;
  FallingSolids scene;
  scene.kind = kind;
  scene.half_width = 1;
  detail::SteadyNoise noise(20260301);
  for (Index i = 0; i < balls + boxes; ++i) {
    // Boxes are spread evenly among the balls.
    const bool box = (i + 1) * boxes / (balls + boxes) > i * boxes / (balls + boxes);
    Solid solid;
    if (box) {
      solid = make_box_solid(Vector3<double>::Constant(0.085) + 0.02 * noise.vector(), density);
      solid.body.orientation = Eigen::AngleAxisd(3.14 * noise.next(), noise.vector().normalized());
    } else {
      solid = make_ball(0.1 + 0.02 * noise.next(), density);
    }
    const Index layer = i / (side * side), place = i % (side * side);
    solid.body.position << (double(place % side) - 2.5) * 0.33, (double(place / side) - 2.5) * 0.33,
        0.2 + 0.4 * double(layer);
    solid.body.position.head<2>() += 0.01 * noise.vector().head<2>();
    scene.solids.push_back(solid);
  }
  return scene;
}

/// Nearly equal balls in hexagonal layers in a box, at rest: every ball touches up to twelve
/// others, closely or not quite, and rigidly, so that loads are shared in many ways.
/// @param count   > 0.
/// @param jitter  of the radii, 1 cm, relative [-].
[[nodiscard]] inline FallingSolids make_packed_balls(Index count, double jitter) {
  constexpr double radius = 0.01, density = 2500;  // [m], [kg/m³]
  const Index side = (std::max)(Index(1), Index(std::lround(std::cbrt(double(count)))));
  const double root3 = std::sqrt(3.0), root6 = std::sqrt(6.0);
  FallingSolids scene;
  scene.kind = SolidContact::rigid;
  scene.half_width = radius * double(side + 1);
  detail::SteadyNoise noise(20260302);
  for (Index i = 0; i < count; ++i) {
    const Index column = i % side, row = i / side % side, layer = i / (side * side);
    Solid ball = make_ball(radius * (1 + jitter * noise.next()), density);
    const double odd = double(layer % 2);
    ball.body.position << 2 * double(column) + double((row + layer) % 2),
        root3 * (double(row) + odd / 3), 2 * root6 / 3 * double(layer);
    ball.body.position *= radius;
    ball.body.position += Vector3<double>(radius, radius, radius) -
                          Vector3<double>(scene.half_width, scene.half_width, 0);
    scene.solids.push_back(ball);
  }
  return scene;
}

}  // namespace carom::examples
