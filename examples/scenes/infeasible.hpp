// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Geometry>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/contact/rigid_contact.hpp"

namespace carom::examples {

/// @file
/// Problems of rigid contact that have no answer beyond a threshold that is known in closed form,
/// and the rays that prove it.

/// Axes of a contact as rows: two tangents, then the normal, a unit vector.
template <typename Scalar>
[[nodiscard]] SquareMatrix<Scalar, 3> contact_axes(const Vector3<Scalar>& normal) {
  SquareMatrix<Scalar, 3> axes;
  const Vector3<Scalar> tangent = normal.unitOrthogonal();
  axes.row(0) = tangent;
  axes.row(1) = normal.cross(tangent);
  axes.row(2) = normal;
  return axes;
}

/// A block between two walls that move towards each other. At each wall it touches, or nearly, at
/// its four corners.
///
/// It goes along x with uₙ = ±vₓ ≥ c − ϕ/δt at the walls: there is an answer while 2c ≤ 2ϕ/δt, with
/// friction or without.
template <typename Scalar>
struct ClosingSlot {
  Scalar closing = 1;                      ///< c, speed of each wall [m/s]
  Scalar gap = 0;                          ///< ϕ at each wall [m]
  Scalar friction = 0;                     ///< μ [-]
  Scalar mass = 1;                         ///< of the block [kg]
  Scalar half = Scalar(0.1);               ///< half of its sides [m]
  Scalar time_step = Scalar(0.01);         ///< δt [s]
  Vector3<Scalar> across{1, 0, 0};         ///< x, the way the walls go: unit vector
  Vector3<Scalar> free_velocity{0, 0, 0};  ///< of the block [m/s]
};

/// Fastest walls that the block has room for [m/s].
template <typename Scalar>
[[nodiscard]] Scalar closing_limit(const ClosingSlot<Scalar>& slot) {
  return slot.gap / slot.time_step;
}

template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> make_closing_slot(const ClosingSlot<Scalar>& slot) {
  ContactProblem<Scalar> problem(slot.time_step);
  const Scalar h = slot.half;
  Vector<Scalar, 6> inertia, velocity = Vector<Scalar, 6>::Zero();
  inertia.template head<3>().setConstant(slot.mass * h * h * Scalar(2) / 3);
  inertia.template tail<3>().setConstant(slot.mass);
  velocity.template tail<3>() = slot.free_velocity;
  const Index block = problem.add_body(SquareMatrix<Scalar, 6>(inertia.asDiagonal()), velocity);
  for (const Scalar side : {Scalar(1), Scalar(-1)}) {
    const SquareMatrix<Scalar, 3> axes = contact_axes(Vector3<Scalar>(side * slot.across));
    for (int corner = 0; corner < 4; ++corner) {
      const Scalar up = corner < 2 ? h : -h, along = corner % 2 == 0 ? h : -h;
      const Vector3<Scalar> arm = axes.transpose() * Vector3<Scalar>(up, along, -h);
      RigidContact<Scalar> law{.gap = slot.gap, .friction = slot.friction};
      const Index i = problem.add_contact(block, axes * point_rows(arm), law);
      const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
      const Vector3<Scalar> bias(0, 0,
                                 problem.friction_contact_law(i).bias_velocity.z() + slot.closing);
      problem.set_law(i, {slot.friction, {tangent, normal}, bias, true});
    }
  }
  return problem;
}

/// Normals that press alike from both sides: v̂·r = 8 (c − ϕ/δt).
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> closing_slot_ray() {
  VectorX<Scalar> ray = VectorX<Scalar>::Zero(24);
  for (Index i = 0; i < 8; ++i) ray(3 * i + 2) = 1;
  return ray;
}

/// Balls side by side in a well, each as far into its neighbours as the next. Where positions ask
/// for all of the overlap to go within the step, Σ uₙ = 0 of the row is to be ≥ overlap/δt: there
/// is an answer while the well is as wide as the balls together.
template <typename Scalar>
struct NarrowWell {
  Index count = 5;                  ///< balls
  Scalar missing = Scalar(0.01);    ///< width of the balls less that of the well [m]
  Scalar radius = Scalar(0.05);     ///< of each [m]
  Scalar mass = 1;                  ///< of the first [kg]
  Scalar mass_ratio = 1;            ///< of each to the one before
  Scalar friction = Scalar(0.5);    ///< μ [-]
  Scalar correction = 1;            ///< share of the overlap that has to go, in [0, 1]
  Scalar time_step = Scalar(0.01);  ///< δt [s]
  Vector3<Scalar> along{1, 0, 0};   ///< of the row, from wall to wall: unit vector
};

template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> make_narrow_well(const NarrowWell<Scalar>& well) {
  ContactProblem<Scalar> problem(well.time_step);
  const SquareMatrix<Scalar, 3> axes = contact_axes(well.along);
  const Vector3<Scalar> arm = well.radius * well.along;
  const RigidContact<Scalar> law{.friction = well.friction};
  using Rows = Eigen::Matrix<Scalar, 3, 6>;
  const Rows behind = axes * point_rows(Vector3<Scalar>(-arm)), ahead = -axes * point_rows(arm);
  Scalar mass = well.mass;
  for (Index i = 0; i < well.count; ++i, mass *= well.mass_ratio) {
    Vector<Scalar, 6> inertia;
    inertia.template head<3>().setConstant(mass * well.radius * well.radius * Scalar(2) / 5);
    inertia.template tail<3>().setConstant(mass);
    const Index ball = problem.add_body(SquareMatrix<Scalar, 6>(inertia.asDiagonal()),
                                        Vector<Scalar, 6>(Vector<Scalar, 6>::Zero()));
    if (i == 0) problem.add_contact(ball, behind, law);
    if (i > 0) problem.add_contact(ball - 1, ahead, ball, behind, law);
  }
  problem.add_contact(well.count - 1, ahead, law);
  const Scalar share = well.missing > Scalar(0) ? well.correction : Scalar(1);
  const Scalar asked = share * well.missing / (Scalar(well.count + 1) * well.time_step);
  for (Index i = 0; i < problem.block_count(); ++i) {
    WeightedContact<Scalar> numbers = problem.friction_contact_law(i);
    numbers.bias_velocity.z() = asked;
    problem.set_law(i, numbers);
  }
  return problem;
}

/// Normals that press alike through all of the row.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> narrow_well_ray(const NarrowWell<Scalar>& well) {
  VectorX<Scalar> ray = VectorX<Scalar>::Zero(3 * (well.count + 1));
  for (Index i = 0; i <= well.count; ++i) ray(3 * i + 2) = 1;
  return ray;
}

/// Painlevé and Klein's brake: a shoe of one degree of freedom, hinged at the height b above a belt
/// that it is pressed on at the distance a from below the hinge.
///
/// With its rate ω, uₙ = a ω and uₜ = b ω + c, so that velocities that satisfy the gap, ω ≥ 0, all
/// slide one way. Friction's moment −b μ γₙ is against that of the push, a γₙ: from μ = a/b on no
/// impulse stops the shoe, though velocities satisfy the gap. A belt that runs the other way only
/// pushes it off.
template <typename Scalar>
struct KleinBrake {
  Scalar offset = Scalar(0.1);    ///< a [m]
  Scalar height = Scalar(0.2);    ///< b [m]
  Scalar friction = Scalar(0.6);  ///< μ [-]
  Scalar belt = 1;                ///< c, speed of the belt along −t₁ [m/s]
  Scalar inertia = Scalar(0.05);  ///< I, about the hinge [kg·m²]
  Scalar press = 1;               ///< of ω before contact, towards the belt [rad/s]
};

/// Least coefficient of friction that jams.
template <typename Scalar>
[[nodiscard]] Scalar jamming_friction(const KleinBrake<Scalar>& brake) {
  return brake.offset / brake.height;
}

template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> make_klein_brake(const KleinBrake<Scalar>& brake) {
  ContactProblem<Scalar> problem(Scalar(0.01));
  const Index shoe = problem.add_body(SquareMatrix<Scalar, 1>::Constant(brake.inertia),
                                      Vector<Scalar, 1>::Constant(-brake.press));
  const Vector3<Scalar> rows(brake.height, 0, brake.offset);
  const Index i = problem.add_contact(shoe, rows, RigidContact<Scalar>{.friction = brake.friction});
  const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
  problem.set_law(i, {brake.friction, {tangent, normal}, Vector3<Scalar>(-brake.belt, 0, 0), true});
  return problem;
}

/// The impulse that stops the shoe where friction is less than what jams, by rows.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> stopping_impulse(const KleinBrake<Scalar>& brake) {
  const Scalar normal =
      brake.press * brake.inertia / (brake.offset - brake.friction * brake.height);
  VectorX<Scalar> impulse(3);
  impulse << -brake.friction * normal, 0, normal;
  return impulse;
}

/// A block in a channel that fits it exactly, with walls that run along it at a speed c: it can
/// only move from wall to wall, and not along.
///
/// Coulomb's law has an answer, the block rests against one wall. The convex law wants μ c of a
/// normal velocity at both walls, and has none.
template <typename Scalar>
struct RunningChannel {
  Scalar speed = 1;                    ///< c [m/s]
  Scalar friction = Scalar(0.5);       ///< μ [-]
  Scalar mass = 1;                     ///< [kg]
  Scalar free_velocity = Scalar(0.3);  ///< of the block, to the second wall [m/s]
};

template <typename Scalar>
[[nodiscard]] ContactProblem<Scalar> make_running_channel(const RunningChannel<Scalar>& channel) {
  ContactProblem<Scalar> problem(Scalar(0.01));
  const Index block = problem.add_body(SquareMatrix<Scalar, 1>::Constant(channel.mass),
                                       Vector<Scalar, 1>::Constant(channel.free_velocity));
  for (const Scalar side : {Scalar(1), Scalar(-1)}) {
    const Index i = problem.add_contact(block, Vector3<Scalar>(0, 0, side),
                                        RigidContact<Scalar>{.friction = channel.friction});
    const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
    problem.set_law(
        i, {channel.friction, {tangent, normal}, Vector3<Scalar>(-channel.speed, 0, 0), true});
  }
  return problem;
}

/// The ray that proves it for the convex law: v̂·r = 2 μ c.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> running_channel_ray(const RunningChannel<Scalar>& channel) {
  VectorX<Scalar> ray(6);
  ray << -channel.friction, 0, 1, -channel.friction, 0, 1;
  return ray;
}

}  // namespace carom::examples
