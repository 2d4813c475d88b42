// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "carom/variational/impact_stepper.hpp"

#include "cli/animation.hpp"
#include "cli/experiment.hpp"
#include "scenes/billiards.hpp"

namespace carom::cli {
namespace {

constexpr double ball_mass = 0.17, break_speed = 8;

/// The break with cushions and cloth, until all balls rest.
struct Break {
  Animation picture;
  double time = 0;     ///< until the last ball rests [s]
  double deepest = 0;  ///< largest overlap [m]
  double rise = 0;     ///< largest gain of energy in a step [J]
  double fastest = 0;  ///< at the end [m/s]
  Index impacts = 0;

  Break() : picture("The break shot to rest", {-0.06, 2.6}, {-0.06, 1.33}) {
    const examples::BilliardsStart start = examples::make_break_shot();
    const examples::BilliardTable& table = *start.balls.table;
    picture.backdrop({-0.06, -0.06}, {table.width + 0.06, table.height + 0.06}, "cushion");
    picture.backdrop({0, 0}, {table.width, table.height}, "cloth");
    for (std::size_t i = 0; i < start.balls.radii.size(); ++i) {
      const char* const colors[] = {"s1", "s2", "yellow"};
      picture.ball(i, start.balls.radii[i], i == 0 ? "cue" : colors[i % 3]);
    }
    run(start);
  }

 private:
  void run(const examples::BilliardsStart& start) {
    ImpactStepper<examples::Billiards> stepper(start.balls);
    MechanicalState<double> state{0, start.q, start.momentum()};
    VectorX<double> gaps(start.balls.gap_count());
    double energy = stepper.energy(state), h = 0.004;
    fastest = break_speed;
    while (fastest > 1e-3 && state.time < 90) {
      add_frame(state);
      const auto report = stepper.step(state, h);
      if (!report.converged()) break;
      h = std::min(0.1, 1.01 * h);
      impacts += report.impacts;
      start.balls.write_gaps(state.q, gaps);
      deepest = std::max(deepest, -gaps.minCoeff());
      const double now = stepper.energy(state);
      rise = std::max(rise, now - energy);
      energy = now;
      fastest = 0;
      for (Index k = 0; k < state.q.size(); k += 2) {
        fastest =
            std::max(fastest, std::hypot(state.momentum(k), state.momentum(k + 1)) / ball_mass);
      }
    }
    add_frame(state);
    time = state.time;
  }
  void add_frame(const MechanicalState<double>& state) {
    std::vector<PlotPoint> centres;
    for (Index k = 0; k < state.q.size(); k += 2) centres.push_back({state.q(k), state.q(k + 1)});
    picture.add_frame(state.time, centres);
  }
};

/// Momentum along the table and energy half a second after a break without cushions and cloth.
struct FreeBreak {
  double momentum = 0, energy = 0;

  FreeBreak() {
    examples::BreakShotOptions options;
    options.cushions = false;
    options.rolling = 0;
    const examples::BilliardsStart start = examples::make_break_shot(options);
    ImpactStepper<examples::Billiards> stepper(start.balls);
    MechanicalState<double> state{0, start.q, start.momentum()};
    for (int k = 0; k < 25; ++k) {
      if (!stepper.step(state, 0.02).converged()) return;
    }
    for (Index k = 0; k < state.q.size(); k += 2) momentum += state.momentum(k);
    energy = stepper.energy(state);
  }
};

}  // namespace

Experiment run_break_experiment() {
  Experiment experiment;
  experiment.title = "Fifteen balls and a cue ball";
  experiment.text =
      "A break at 8 m/s on a nine-foot table: the rack’s thirty contacts are closed at once, and "
      "every later meeting of balls and cushions is found inside its step. Cloth slows the balls "
      "down until all of them rest.";
  const Break shot;
  experiment.panels = {{"The break, in slow motion at first", {}, shot.picture.str()}};
  experiment.caption = std::to_string(shot.impacts) + " instants of impact in " +
                       label_text(std::round(10 * shot.time) / 10) +
                       " s. The clock shows the time on the table.";
  const FreeBreak free;
  experiment.comparisons = {
      {"Break without cushions and cloth: momentum", "kg m/s", ball_mass * break_speed,
       free.momentum, 1e-12},
      {"Break without cushions and cloth: energy", "J", ball_mass * break_speed * break_speed / 2,
       free.energy, 1e-12},
      {"Break to rest: deepest overlap", "m", 0, shot.deepest, 1e-8},
      {"Break to rest: largest gain of energy in a step", "J", 0, shot.rise, 1e-12},
      {"Break to rest: fastest ball at the end", "m/s", 0, shot.fastest, 1e-3}};
  return experiment;
}

}  // namespace carom::cli
