// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "carom/viscoelastic/free_body.hpp"
#include "carom/viscoelastic/stepper.hpp"

namespace carom::testing {

/// A box of 10 kg, 0.4 × 0.3 × 0.2 m, that may touch the ground with its four lower corners.
inline FreeBody<double> make_box() {
  const double mass = 10, x = 0.4, y = 0.3, z = 0.2;
  const Vector3<double> inertia =
      mass / 12 * Vector3<double>(y * y + z * z, x * x + z * z, x * x + y * y);
  std::vector<Vector3<double>> corners;
  for (const double a : {-x / 2, x / 2}) {
    for (const double b : {-y / 2, y / 2}) corners.emplace_back(a, b, -z / 2);
  }
  return {mass, inertia.asDiagonal(), corners};
}

inline constexpr double box_stiffness = 1e5;

inline ContactMaterial<double> make_material(double stiffness = box_stiffness, double damping = 300,
                                             double friction = 0.5) {
  return {Vector3<double>::Constant(stiffness), Vector3<double>::Constant(damping), friction};
}

/// The box at rest: each corner carries a quarter of its weight.
inline FreeBodyState<double> rest_state(double stiffness = box_stiffness) {
  FreeBodyState<double> state;
  state.position(2) = 0.1 - 98.1 / 4 / stiffness;
  return state;
}

/// Energy of the box and of the springs of its contacts [J], less what its force has done.
template <typename Stepper>
double energy_of(const Stepper& stepper, const FreeBodyState<double>& state,
                 double stiffness = box_stiffness) {
  Growing<MatrixX<double>> jacobian;
  Growing<VectorX<double>> points, drift;
  jacobian.grow(12, 6);
  points.grow(12);
  drift.grow(12);
  stepper.system().write_contacts(state, points, jacobian, drift);
  double sum = stepper.system().energy(state) - stepper.system().force.dot(state.position);
  for (Index i = 0; i < 4; ++i) {
    if (!stepper.active(i)) continue;
    const auto stretch = points.segment<3>(3 * i) - stepper.anchors().template segment<3>(3 * i);
    sum += stiffness / 2 * stretch.squaredNorm();
  }
  return sum;
}

/// A point of 1 kg.
inline FreeBody<double> make_point() {
  return {1.0, SquareMatrix<double, 3>::Identity(), {Vector3<double>::Zero()}};
}

}  // namespace carom::testing
