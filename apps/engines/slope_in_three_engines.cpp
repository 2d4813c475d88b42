// SPDX-License-Identifier: BSD-3-Clause
// Question: does the result depend on the direction of a slope?
//
// A block is on a slope of angle a, friction μ = 0.5. After t = 2 s its speed is t g (sin a − μ cos
// a), or zero if tan a ≤ μ. It does not depend on the rotation of the block's edges and of the
// engine's friction directions relative to downhill. Engines that bound friction by direction make
// it depend on this heading. Each engine runs with its own solver, and with carom instead, whose
// error must be below 1e-4 m/s.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <vector>

#include "engines/slope_engines.hpp"

namespace {

using namespace carom::engines;

struct Engine {
  const char* name;
  double (*slide)(const Slope&, Solver);
  bool takes_ours;
};

std::vector<Engine> find_engines() {
  std::vector<Engine> engines;
#ifdef CAROM_SLOPE_BULLET
  engines.push_back({"Bullet", slide_in_bullet, true});
#endif
#ifdef CAROM_SLOPE_DART
  engines.push_back({"DART", slide_in_dart, true});
#endif
#ifdef CAROM_SLOPE_MUJOCO
  engines.push_back({"MuJoCo, pyramidal", slide_in_mujoco, true});
  engines.push_back({"MuJoCo, elliptic", slide_in_mujoco_elliptic, true});
#endif
#ifdef CAROM_SLOPE_ODE
  engines.push_back({"ODE", slide_in_ode, false});
#endif
  return engines;
}

/// A speed to four digits, never "-0".
double rounded(double speed) {
  return std::round(speed * 1e4) / 1e4 + 0.0;
}

/// Prints the engine's rows.
/// @return  the largest error of carom's [m/s].
double show(const Engine& engine) {
  double worst = 0;
  for (const int degrees : {30, 20}) {
    for (int turn = 0; turn <= 90; turn += 15) {
      const Slope slope{degrees * std::numbers::pi / 180, turn * std::numbers::pi / 180};
      const double acceleration =
          gravity * (std::sin(slope.angle) - friction * std::cos(slope.angle));
      const double expected = std::max(0.0, time_step * step_count * acceleration);
      const double own = engine.slide(slope, Solver::own);
      std::printf("%-17s  %11d  %13d  %14.4f  %10.4f", engine.name, degrees, turn, expected,
                  rounded(own));
      if (engine.takes_ours) {
        const double speed = engine.slide(slope, Solver::carom), error = std::abs(speed - expected);
        std::printf("  %12.4f  %9.1e", rounded(speed), error);
        worst = error <= worst ? worst : error;  // NaN counts as the worst
      }
      std::printf("\n");
    }
  }
  return worst;
}

}  // namespace

int main() try {
  std::printf(
      "engine             angle [deg]  heading [deg]  expected [m/s]  own [m/s]  carom's [m/s]  "
      "its error\n");
  bool right = true;
  for (const Engine& engine : find_engines()) right = show(engine) <= 1e-4 && right;
  std::printf("%s\n", right ? "carom's is Coulomb's law whichever way the slope points"
                            : "WRONG: not what Coulomb's law says");
  return right ? 0 : 1;
} catch (const std::exception& fault) {
  std::fprintf(stderr, "%s\n", fault.what());
  return 1;
}
