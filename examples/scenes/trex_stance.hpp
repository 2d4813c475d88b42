// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <numbers>

#include "carom/impact/design.hpp"
#include "carom/impact/outcomes.hpp"

#include "scenes/trex.hpp"

namespace carom::examples {

/// How the robot stands: its lengths and its configuration. The right foot and the tail's tip
/// touch the ground.
struct TrexStance {
  TrexShape shape;
  VectorX<double> q;  ///< see TrexCoordinate
};

/// Angles of the leg and tail joints [rad].
struct TrexPose {
  double right_hip, right_knee, left_hip, left_knee, tail;
};

namespace detail {

/// θ for which the tail's tip is at height zero, the hip at height y; the rear end low, the front
/// body ahead of it to the left.
[[nodiscard]] inline double trex_lean(const TrexShape& shape, double height, double tail) {
  // y + a sin θ + b sin(θ + φ_T) = 0, one sine of amplitude r and phase s.
  const double a = shape.body_length(), b = shape.tail_length();
  const double r = std::hypot(a + b * std::cos(tail), b * std::sin(tail));
  const double s = std::atan2(b * std::sin(tail), a + b * std::cos(tail));
  return 2 * std::numbers::pi - std::asin(height / r) - s;
}

}  // namespace detail

/// Stands the robot on its right foot and its tail with given joint angles.
/// @param height  first guess of the hip's height [m], found from there.
[[nodiscard]] inline TrexStance make_trex_stance(const TrexShape& shape, const TrexPose& pose,
                                                 double height) {
  const auto foot = [&](double y) {
    const double upper = detail::trex_lean(shape, y, pose.tail) + pose.right_hip;
    return y + shape.upper_leg * std::sin(upper) +
           shape.lower_leg * std::sin(upper + pose.right_knee);
  };
  double before = height * 1.001, value = foot(before);
  for (int k = 0; k < 40 && height != before; ++k) {
    const double here = foot(height);
    if (here == value) break;
    const double next = height - here * (height - before) / (here - value);
    before = height;
    value = here;
    height = next;
  }
  TrexStance stance{shape, VectorX<double>::Zero(trex_size)};
  stance.q << 0, height, detail::trex_lean(shape, height, pose.tail), pose.right_hip,
      pose.right_knee, pose.left_hip, pose.left_knee, pose.tail;
  return stance;
}

/// The paper's "Initial" row, with height and lean computed so that both contacts close.
[[nodiscard]] inline TrexStance trex_initial() {
  return make_trex_stance({}, {5.13, 5.24, 1.99, 5.24, 0}, 0.123);
}

/// The paper's "Optimized" row, with height and lean computed in the same way.
[[nodiscard]] inline TrexStance trex_printed_optimum() {
  return make_trex_stance({0.0669, 0.0422, 0.0781, 0.0986}, {4.79, 5.67, 2.85, 5.71, -0.19}, 0.136);
}

/// Legs straight, the right one plumb, the left one opposite to it.
[[nodiscard]] inline TrexStance trex_straight(const TrexShape& shape = {}, double tail = 0) {
  const double height = shape.upper_leg + shape.lower_leg;
  const double lean = detail::trex_lean(shape, height, tail);
  const double hip = 1.5 * std::numbers::pi - lean;
  TrexStance stance{shape, VectorX<double>::Zero(trex_size)};
  stance.q << 0, height, lean, hip, 0, hip - std::numbers::pi, 0, tail;
  return stance;
}

/// Coordinates of a design: x, y [cm], six angles [rad], then r₁, r₂, l_u, l_l [cm]. Centimetres
/// give lengths and angles steps of like size.
[[nodiscard]] inline VectorX<double> trex_design(const TrexStance& stance) {
  VectorX<double> x(trex_size + 4);
  x << stance.q, stance.shape.front_radius, stance.shape.rear_radius, stance.shape.upper_leg,
      stance.shape.lower_leg;
  x.head<2>() *= 100;
  x.tail<4>() *= 100;
  return x;
}

/// The stance of a design.
[[nodiscard]] inline TrexStance trex_stance(const VectorX<double>& design) {
  const VectorX<double> lengths = design.tail<4>() / 100;
  TrexStance stance{{lengths(0), lengths(1), lengths(2), lengths(3)}, design.head<trex_size>()};
  stance.q.head<2>() /= 100;
  return stance;
}

/// The two contacts of a stance, right foot and tail, as find_unique_design wants them; that both
/// stay closed are its constraints [100 m]: ⟨u, v⟩ is so small that gaps of a millimetre on the
/// way would otherwise outweigh it and hold back the steps.
[[nodiscard]] inline DesignPoint<double> trex_contacts_of(const TrexStance& stance) {
  const Trex trex(stance.shape, stance.q, TrexJoints::loose());
  LagrangianDerivatives<double> at;
  at.resize(trex_size);
  trex.write_lagrangian_curvature(stance.q, VectorX<double>::Zero(trex_size), 0, at);
  VectorX<double> gaps(Index{trex_contacts});
  MatrixX<double> gradients(Index{trex_contacts}, Index{trex_size});
  trex.write_gaps(stance.q, gaps);
  trex.write_gap_gradients(stance.q, gradients);
  DesignPoint<double> point;
  point.mass = MassMatrix<double>::make_dense(at.by_vv);
  point.first_gradient = gradients.row(trex_right_foot).transpose();
  point.second_gradient = gradients.row(trex_tail_tip).transpose();
  point.constraints.resize(2);
  point.constraints << gaps(trex_right_foot), gaps(trex_tail_tip);
  point.constraints /= 100;
  return point;
}

/// Moves a stance to the nearest one with ⟨u, v⟩ = 0 and both contacts closed.
inline SolveReport<double> optimize_trex(TrexStance& stance) {
  VectorX<double> design = trex_design(stance);
  const auto report = find_unique_design<double>(
      [](const VectorX<double>& x) { return trex_contacts_of(trex_stance(x)); }, design);
  stance = trex_stance(design);
  return report;
}

/// Every way in which a landing on foot and tail can end, all parts falling at the same speed.
[[nodiscard]] inline ImpactOutcomes<double> trex_landings(const TrexStance& stance) {
  const DesignPoint<double> point = trex_contacts_of(stance);
  ImpactProblem<double> problem(trex_size);
  problem.add_contact(point.mass, point.first_gradient);
  problem.add_contact(point.mass, point.second_gradient);
  problem.prepare();
  const VectorX<double> falling = -VectorX<double>::Unit(trex_size, trex_y);
  // Outcomes that differ by a few roundings also count as two, because their distance is asked for.
  OutcomeOptions<double> options;
  options.tolerance = 1e-15;
  return enumerate_outcomes(problem, point.mass, point.mass.momentum(falling), options);
}

}  // namespace carom::examples
