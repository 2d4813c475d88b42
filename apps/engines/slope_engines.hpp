// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// @file
/// One scene in several engines: a block at rest on a plane, with gravity tilted by an angle. Each
/// engine is a separate unit, compiled if the engine is installed.
namespace carom::engines {

struct Slope {
  double angle;    ///< [rad]
  double heading;  ///< of downhill, from the plane's x towards its y [rad]
};

enum class Solver {
  own,    ///< the engine's solver
  carom,  ///< carom instead
};

constexpr double mass = 2, friction = 0.5, gravity = 9.81;  // kg, -, m/s²
constexpr double length = 0.4, height = 0.2;                // of the block [m]
constexpr double time_step = 0.002;                         // s
constexpr int step_count = 1000;

/// Downhill speed at the end [m/s].
double slide_in_bullet(const Slope& slope, Solver solver);
[[gnu::visibility("default")]] double slide_in_dart(const Slope& slope, Solver solver);
double slide_in_mujoco(const Slope& slope, Solver solver);
/// With MuJoCo's elliptic cones instead of its pyramids.
double slide_in_mujoco_elliptic(const Slope& slope, Solver solver);
/// With its own solver only.
double slide_in_ode(const Slope& slope, Solver solver);

}  // namespace carom::engines
