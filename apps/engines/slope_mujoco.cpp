// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <mujoco/mujoco.h>
#include <stdexcept>

#include "carom/adapters/mujoco.hpp"
#include "carom/compiled.hpp"

#include "engines/slope_engines.hpp"

namespace carom::engines {
namespace {

/// The scene as MuJoCo reads it.
/// @param cone  pyramidal or elliptic.
std::array<char, 1000> write_scene(const Slope& slope, const char* cone) {
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
  return text;
}

using Model = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using Data = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

Model load(const Slope& slope, const char* cone) {
  const std::array<char, 1000> text = write_scene(slope, cone);
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  const int length_of_text = int(std::strlen(text.data()));
  mj_makeEmptyFileVFS(files.get(), "slope.xml", length_of_text);
  std::memcpy(files->filedata[files->nfile - 1], text.data(), std::size_t(length_of_text));
  std::array<char, 1000> fault{};
  Model model(mj_loadXML("slope.xml", files.get(), fault.data(), int(fault.size())),
              &mj_deleteModel);
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error(fault.data());
  return model;
}

double slide(const Slope& slope, Solver solver, const char* cone) {
  const Model model = load(slope, cone);
  if (solver == Solver::carom) give_margin(*model, 1e-3);
  const Data data(mj_makeData(model.get()), &mj_deleteData);
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
