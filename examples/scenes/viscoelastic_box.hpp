// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "carom/viscoelastic/free_body.hpp"
#include "carom/viscoelastic/stepper.hpp"

#include "scenes/sliding_mass.hpp"

namespace carom::examples {

/// A free rigid body above viscoelastic ground, and how it starts.
struct ViscoelasticScene {
  FreeBody<double> body;
  ContactMaterial<double> material;
  FreeBodyState<double> state;

  [[nodiscard]] ViscoelasticStepper<FreeBody<double>> stepper(
      SlipLaw law = SlipLaw::coulomb) const {
    ViscoelasticOptions<double> options;
    options.law = law;
    return {body, {material}, options};
  }
};

/// Ground of the same stiffness and damping in all directions.
[[nodiscard]] inline ContactMaterial<double> make_ground_material(double stiffness, double damping,
                                                                  double friction) {
  return {Vector3<double>::Constant(stiffness), Vector3<double>::Constant(damping), friction};
}

/// A SlidingMass as a body with one point, pressed in by its weight; its force along x is the
/// caller's to set.
[[nodiscard]] inline ViscoelasticScene make_sliding_point(const SlidingMass& mass,
                                                          double velocity = 0) {
  FreeBody<double> body(mass.mass, SquareMatrix<double, 3>::Identity(), {Vector3<double>::Zero()});
  body.gravity << 0, 0, -mass.gravity;
  body.force(0) = mass.pull;
  ViscoelasticScene scene{
      body, make_ground_material(mass.stiffness, mass.damping, mass.friction), {}};
  scene.state.position(2) = -mass.mass * mass.gravity / mass.stiffness;
  scene.state.velocity(0) = velocity;
  return scene;
}

/// What a box of 10 kg, 0.4 × 0.3 × 0.2 m, on its four lower corners, does.
enum class BoxScene : std::uint8_t {
  stick,  ///< Pulled by 20 N where friction would hold 49 N, after a jolt.
  push,   ///< By 70 N and 20 N, and turned by 15 N·m.
  spin,   ///< At 10 rad/s about the vertical.
  drop,   ///< Askew, 20 mm above the ground, moving along it at 0.5 m/s.
};

inline constexpr double viscoelastic_box_mass = 10;                 ///< [kg]
inline constexpr double viscoelastic_box_size[] = {0.4, 0.3, 0.2};  ///< [m]

/// The box at rest: each corner carries a quarter of its weight.
[[nodiscard]] inline ViscoelasticScene make_resting_box(double stiffness = 1e5,
                                                        double damping = 300,
                                                        double friction = 0.5) {
  const double x = viscoelastic_box_size[0], y = viscoelastic_box_size[1],
               z = viscoelastic_box_size[2];
  const Vector3<double> inertia =
      viscoelastic_box_mass / 12 * Vector3<double>(y * y + z * z, x * x + z * z, x * x + y * y);
  std::vector<Vector3<double>> corners;
  for (const double a : {-x / 2, x / 2}) {
    for (const double b : {-y / 2, y / 2}) corners.emplace_back(a, b, -z / 2);
  }
  FreeBody<double> body(viscoelastic_box_mass, inertia.asDiagonal(), corners);
  ViscoelasticScene scene{body, make_ground_material(stiffness, damping, friction), {}};
  scene.state.position(2) = z / 2 + viscoelastic_box_mass * body.gravity(2) / 4 / stiffness;
  return scene;
}

[[nodiscard]] inline ViscoelasticScene make_viscoelastic_box(BoxScene kind) {
  ViscoelasticScene scene = make_resting_box();
  if (kind == BoxScene::stick) {
    scene.body.force(0) = 20;
    scene.state.velocity << 0.01, 0, -0.02;
  } else if (kind == BoxScene::push) {
    scene.body.force << 70, 20, 0;
    scene.body.torque(2) = 15;
  } else if (kind == BoxScene::spin) {
    scene.state.rate(2) = 10;
  } else {
    const double half = 0.05;  // of the tilt about y [rad]
    scene.state.orientation << 0, std::sin(half), 0, std::cos(half);
    scene.state.position(2) = 0.02 + 0.1 * std::cos(2 * half) + 0.2 * std::sin(2 * half);
    scene.state.velocity(0) = 0.5;
  }
  return scene;
}

/// Root mean square distance between the corners of the box in two states [m].
[[nodiscard]] inline double box_distance(const FreeBodyState<double>& a,
                                         const FreeBodyState<double>& b) {
  const SquareMatrix<double, 3> turn =
      FreeBody<double>::rotation(a) - FreeBody<double>::rotation(b);
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    Vector3<double> arm;
    for (int k = 0; k < 3; ++k) {
      arm(k) = ((corner >> k) % 2 == 0 ? 0.5 : -0.5) * viscoelastic_box_size[k];
    }
    sum += (a.position - b.position + turn * arm).squaredNorm();
  }
  return std::sqrt(sum / 8);
}

}  // namespace carom::examples
