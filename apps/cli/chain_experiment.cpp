// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "carom/variational/impact_stepper.hpp"

#include "cli/animation.hpp"
#include "cli/experiment.hpp"
#include "scenes/line_of_balls.hpp"

namespace carom::cli {
namespace {

constexpr double chain_radius = 0.1, chain_gap = 0.06, wall_left = -0.5, wall_right = 1.7;

/// Five balls between walls, the first one with unit speed.
examples::LineStart make_chain(const std::vector<double>& masses) {
  examples::LineStart start = examples::make_cradle(
      masses, chain_radius, {0.3, chain_gap, chain_gap, chain_gap}, {1, 0, 0, 0, 0});
  start.balls.left = wall_left;
  start.balls.right = wall_right;
  return start;
}

/// Positions of equal balls between walls. Without the size of the balls, they pass through each
/// other, and walls are mirrors.
VectorX<double> equal_chain_at(const examples::LineStart& start, double time) {
  const double low = wall_left + chain_radius, free = wall_right - wall_left - 10 * chain_radius;
  VectorX<double> x(start.q.size());
  for (Index i = 0; i < x.size(); ++i) {
    const double way = start.q(i) - 2 * chain_radius * double(i) - low + start.velocity(i) * time;
    const double turned = std::fmod(std::fmod(way, 2 * free) + 2 * free, 2 * free);
    x(i) = std::min(turned, 2 * free - turned);
  }
  std::sort(x.data(), x.data() + x.size());
  for (Index i = 0; i < x.size(); ++i) x(i) += low + 2 * chain_radius * double(i);
  return x;
}

/// A chain in time, and its conserved quantities.
struct Chain {
  double worst_place = 0;  ///< Largest distance from equal_chain_at [m].
  double energy_error = 0;
  Index reflections = 0;
  Animation picture;

  Chain(const std::string& title, const std::vector<double>& masses, double end)
      : picture(title, {wall_left - 0.06, wall_right + 0.06}, {-0.22, 0.3}) {
    picture.backdrop({wall_left - 0.06, -0.1}, {wall_left, 0.2}, "wall");
    picture.backdrop({wall_right, -0.1}, {wall_right + 0.06, 0.2}, "wall");
    picture.line({wall_left - 0.06, -0.1}, {wall_right + 0.06, -0.1}, "frame");
    for (std::size_t i = 0; i < masses.size(); ++i) {
      const bool heavy = masses[i] > 1;
      picture.ball(i, chain_radius, i == 0 ? "s2" : heavy ? "s3" : "s1");
    }
    run(make_chain(masses), end);
  }

 private:
  void run(const examples::LineStart& start, double end) {
    ImpactStepper<examples::LineOfBalls> stepper(start.balls);
    MechanicalState<double> state{0, start.q, start.momentum()};
    const double energy = stepper.energy(state);
    constexpr double h = 1.0 / 60;
    for (int k = 0; double(k) * h < end; ++k) {
      std::vector<PlotPoint> centres;
      for (const double x : state.q) centres.push_back({x, 0});
      picture.add_frame(state.time, centres);
      const auto report = stepper.step(state, h);
      if (!report.converged()) worst_place = HUGE_VAL;
      reflections += report.reflections;
      worst_place = std::max(worst_place,
                             (state.q - equal_chain_at(start, state.time)).cwiseAbs().maxCoeff());
      energy_error = std::max(energy_error, std::abs(stepper.energy(state) / energy - 1));
    }
  }
};

}  // namespace

Experiment run_chain_experiment() {
  Experiment experiment;
  experiment.title = "The cradle in time";
  experiment.text =
      "Five balls on a rail between walls, small gaps between four of them. Equal balls hand on "
      "one speed, so that only one moves at a time. Make every other one twice as heavy, and each "
      "blow leaves something behind.";
  const Chain equal("Equal balls", {1, 1, 1, 1, 1}, 12),
      unequal("Masses 1, 2, 1, 2, 1", {1, 2, 1, 2, 1}, 12);
  experiment.panels = {{"Equal balls", {}, equal.picture.str()},
                       {"Masses 1, 2, 1, 2, 1", {{"s3", "dot", "2 kg"}}, unequal.picture.str()}};
  experiment.caption =
      "At half speed. Equal balls move as if they went through each other, which gives their "
      "places at any time in closed form.";
  experiment.comparisons = {{"Five equal balls between walls, 12 s: largest error of a place", "m",
                             0, equal.worst_place, 1e-12},
                            {"Five unequal balls between walls, 12 s: change of the energy", "", 0,
                             unequal.energy_error, 1e-13}};
  return experiment;
}

}  // namespace carom::cli
