// SPDX-License-Identifier: BSD-3-Clause
// A capsule of 45 g between two pads that press with 12 N, μ = 0.7: friction could hold 38 times
// its weight. The program measures how fast it creeps down: in MuJoCo by cone, solver and impratio,
// then in the same model stepped by carom. Exit status: non-zero unless carom's creep is below 1e-6
// um/s.
#include <cmath>
#include <cstdio>
#include <exception>

#include "carom/adapters/mujoco.hpp"
#include "carom/compiled.hpp"

#include "engines/mujoco_models.hpp"

namespace {

using carom::MujocoLaw, carom::MujocoStepper, carom::MujocoVerdict;
using carom::examples::MujocoScene;

constexpr int settling = 500, watched = 1000;  // steps of 2 ms
constexpr double micrometre = 1e-6;

/// Creep in um/s with any step function.
template <typename Step>
double creep(const carom::examples::MujocoModel& model, const Step& step) {
  const auto data = carom::examples::make_mujoco(model);
  data->ctrl[0] = data->ctrl[1] = 12;
  double start = 0;
  for (int i = 0; i < settling + watched; ++i) {
    if (i == settling) start = data->qpos[4];
    step(model.get(), data.get());
  }
  return (start - data->qpos[4]) / (watched * model->opt.timestep) / micrometre;
}

bool run() {
  bool good = true;
  std::printf("%-10s %8s %-8s %12s %14s %14s\n", "cone", "impratio", "solver", "MuJoCo um/s",
              "carom um/s", "soft normals");
  for (const char* cone : {"elliptic", "pyramidal"}) {
    for (const double impratio : {1.0, 10.0, 100.0}) {
      for (const char* solver : {"PGS", "CG", "Newton"}) {
        MujocoScene scene;
        scene.cone = cone;
        scene.impratio = impratio;
        scene.solver = solver;
        const auto model = carom::examples::load_mujoco(gripper_text(scene));
        const double theirs = creep(model, [](mjModel* m, mjData* d) { mj_step(m, d); });
        std::printf("%-10s %8g %-8s %12.3f", cone, impratio, solver, theirs);
        // carom depends only on the rows of the cone and Rₙ.
        if (impratio == 10 && solver == std::string("Newton")) {
          bool answered = true;
          for (const MujocoLaw law : {MujocoLaw::coulomb, MujocoLaw::soft_coulomb}) {
            const auto own = carom::examples::load_mujoco(gripper_text(scene));
            if (law == MujocoLaw::coulomb) carom::give_margin(*own, 1e-3);
            MujocoStepper stepper({.law = law});
            const double ours = creep(own, [&](mjModel* m, mjData* d) {
              answered = stepper.step(m, d).verdict == MujocoVerdict::solved && answered;
            });
            std::printf(" %14.3e", ours);
            good = good && answered && std::abs(ours) < 1e-6;
          }
        }
        std::printf("\n");
      }
    }
  }
  return good;
}

}  // namespace

int main() {
  try {
    const bool good = run();
    std::printf("%s\n", good ? "carom holds the capsule" : "WRONG: carom's creep is too large");
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
