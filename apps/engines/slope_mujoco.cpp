// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mujoco/mujoco.h>
#include <string>

#include "carom/adapters/mujoco.hpp"
#include "carom/compiled.hpp"

#include "engines/mujoco_models.hpp"
#include "engines/slope_engines.hpp"

namespace carom::engines {
namespace {

/// The scene in MuJoCo's format.
/// @param cone  pyramidal or elliptic.
std::string write_scene(const Slope& slope, const char* cone) {
  const double pull = gravity * std::sin(slope.angle), press = gravity * std::cos(slope.angle);
  std::array<char, 1000> text{};
  std::snprintf(text.data(), text.size(),
                "<mujoco><option timestep='%.17g' gravity='%.17g %.17g %.17g' cone='%s'/>"
                "<default><geom friction='%.17g'/></default>"
                "<worldbody><geom type='plane' size='20 20 1'/>"
                "<body pos='0 0 %.17g'><freejoint/>"
                "<geom type='box' size='%.17g %.17g %.17g' mass='%.17g'/></body>"
                "</worldbody></mujoco>",
                time_step, pull * std::cos(slope.heading), pull * std::sin(slope.heading), -press,
                cone, friction, height / 2, length / 2, length / 2, height / 2, mass);
  return text.data();
}

double slide(const Slope& slope, Solver solver, const char* cone) {
  const examples::MujocoModel model = examples::load_mujoco(write_scene(slope, cone));
  if (solver == Solver::carom) give_margin(*model, 1e-3);
  const examples::MujocoData data = examples::make_mujoco(model);
  MujocoStepper stepper;
  for (int step = 0; step < step_count; ++step) {
    if (solver == Solver::own) {
      mj_step(model.get(), data.get());
    } else if (!stepper.step(model.get(), data.get()).answered()) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  return data->qvel[0] * std::cos(slope.heading) + data->qvel[1] * std::sin(slope.heading);
}

}  // namespace

double slide_in_mujoco(const Slope& slope, Solver solver) {
  return slide(slope, solver, "pyramidal");
}

double slide_in_mujoco_elliptic(const Slope& slope, Solver solver) {
  return slide(slope, solver, "elliptic");
}

}  // namespace carom::engines
