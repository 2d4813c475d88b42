// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include "carom/viscoelastic/stepper.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "cli/wandering_anchors.hpp"
#include "scenes/sliding_mass.hpp"
#include "scenes/spring_contact.hpp"
#include "scenes/viscoelastic_box.hpp"

namespace carom::cli {
namespace {

using examples::SlidingMass;
using Body = FreeBody<double>;

SlidingMass make_pulled() {
  SlidingMass mass;
  mass.friction = 0.3;
  mass.pull = 6;
  return mass;
}

/// A pulled mass under one law in steps of 1 ms: its path, and its acceleration at the end.
struct Path {
  std::vector<PlotPoint> points{{0, 0}};  ///< Distance and height relative to the start [mm].
  double climb = 0;                       ///< z̈ [m/s²]
  double friction = 0;                    ///< [N]

  explicit Path(AnchorLaw law) {
    constexpr double dt = 1e-3;
    constexpr int steps = 200;
    const auto scene = examples::make_sliding_point(make_pulled());
    WanderingAnchors<Body> contact(scene.body, scene.material, law);
    auto state = scene.state;
    double before = 0;
    for (int k = 0; k < steps; ++k) {
      if (2 * k == steps) before = state.velocity(2);
      if (!contact.step(state, dt)) state.position(0) = std::nan("");
      points.push_back(
          {1e3 * state.position(0), 1e3 * (state.position(2) - scene.state.position(2))});
    }
    climb = (state.velocity(2) - before) / (0.5 * steps * dt);
    friction = contact.force().size() == 3 ? -contact.force()(0) : std::nan("");
  }
};

Panel make_path_panel(const Path& coulomb, const Path& convex, const Path& program,
                      const Path& printed) {
  const std::string title = "Paths of a mass pulled along the ground for 0.2 s";
  SvgPlot plot(title, {"way [mm]", {0, 80}, {}}, {"height above the start [mm]", {-1, 19}, {}},
               320);
  plot.curve(convex.points, "s4");
  plot.curve(program.points, "s3");
  plot.curve(printed.points, "s2 dashed");
  plot.curve(coulomb.points, "s1");
  const PlotPoint ends[] = {convex.points.back(), program.points.back(), coulomb.points.back()};
  const char* const styles[] = {"s4", "s3", "s1"};
  for (int k = 0; k < 3; ++k) plot.dots({ends[k]}, styles[k], 3.6);
  return {title,
          {{"s1", "line", "Coulomb"},
           {"s3", "line", "quadratic program"},
           {"s2 dashed", "line", "quadratic program as printed"},
           {"s4", "line", "associated law"}},
          plot.str()};
}

/// Mean acceleration along x in the second half of 0.2 s of a box of 10 kg pushed by 70 N [m/s²].
double push_box(double dt) {
  const auto scene = examples::make_resting_box();
  auto stepper = scene.stepper();
  stepper.system().force(0) = 70;
  auto state = scene.state;
  const int half = int(std::lround(0.1 / dt));
  double before = 0;
  for (int k = 0; k < 2 * half; ++k) {
    if (k == half) before = state.velocity(0);
    if (!stepper.step(state, dt).converged()) state.position(0) = std::nan("");
  }
  return std::isfinite(state.position(0)) ? (state.velocity(0) - before) / (half * dt)
                                          : std::nan("");
}

/// Angular velocity of the pushed box after 0.1 s under a law of the library [rad/s].
double turn_box(SlipLaw law, double dt) {
  const auto scene = examples::make_viscoelastic_box(examples::BoxScene::push);
  const int steps = int(std::lround(0.1 / dt));
  auto state = scene.state;
  bool solved = true;
  auto stepper = scene.stepper(law);
  for (int k = 0; k < steps; ++k) solved = stepper.step(state, dt).converged() && solved;
  return solved ? state.rate(2) : std::nan("");
}

/// The same under the document's program.
double turn_box_by_program(double dt) {
  const auto scene = examples::make_viscoelastic_box(examples::BoxScene::push);
  const int steps = int(std::lround(0.1 / dt));
  auto state = scene.state;
  bool solved = true;
  WanderingAnchors<Body> contact(scene.body, scene.material, AnchorLaw::program);
  for (int k = 0; k < steps; ++k) solved = contact.step(state, dt) && solved;
  return solved ? state.rate(2) : std::nan("");
}

Panel make_turn_panel(int finest) {
  const std::string title = "Rate of turn of a pushed box after 0.1 s";
  const Range range{-3.7, -1.9};
  SvgPlot plot(title,
               {"step [ms]", range, {{-3.602, "0.25"}, {-3, "1"}, {-2.5, "3.2"}, {-2, "10"}}},
               {"rate of turn [rad/s]", {0.6, 3.1}, {}}, 320);
  const auto scene = examples::make_viscoelastic_box(examples::BoxScene::push);
  examples::SpringContact<Body> exact(scene.body, scene.material);
  auto state = scene.state;
  for (int k = 0; k < finest; ++k) {
    exact.step(state, 0.1 / finest, examples::SpringIntegrator::midpoint);
  }
  plot.curve({{range.low, state.rate(2)}, {range.high, state.rate(2)}}, "faint dashed");
  const auto draw = [&](const char* style, const auto& turn) {
    std::vector<PlotPoint> points;
    for (const double dt : {2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2}) {
      if (dt * finest < 2.5) continue;  // too fine for a short run
      points.push_back({std::log10(dt), turn(dt)});
    }
    plot.curve(points, style);
    plot.dots(points, style, 2.8);
  };
  draw("s4", [](double dt) { return turn_box(SlipLaw::radial, dt); });
  draw("s3", turn_box_by_program);
  draw("s1", [](double dt) { return turn_box(SlipLaw::coulomb, dt); });
  return {title,
          {{"s1", "line", "Coulomb, coupled"},
           {"s3", "line", "quadratic program"},
           {"s4", "line", "radial projection"},
           {"faint", "dash", "by " + std::to_string(finest / 1000) + " 000 midpoint steps"}},
          plot.str()};
}

}  // namespace

Experiment run_climb_experiment(bool brief) {
  Experiment experiment;
  experiment.title = "Anchors that climb";
  experiment.text =
      "Where a contact slips, the anchor of its spring moves. The paper asks for the least anchor "
      "velocity that brings the force into a pyramid inside the cone: then anchors move along the "
      "normal too, and what is pulled along the ground rises from it. Coulomb's law lets them move "
      "against the force in the plane, and nothing rises.";
  const SlidingMass mass = make_pulled();
  const Path coulomb(AnchorLaw::coulomb), convex(AnchorLaw::convex), program(AnchorLaw::program),
      printed(AnchorLaw::printed_program);
  experiment.panels = {make_path_panel(coulomb, convex, program, printed),
                       make_turn_panel(brief ? 1'000 : 100'000)};
  const auto percent = [&](double friction) {
    return label_text(std::round(1e3 * std::abs(friction / mass.reach() - 1)) / 10) + " %";
  };
  experiment.caption = "Left: 1 kg, μ = 0.3, pulled by 6 N. The program climbs " +
                       label_text(std::round(program.points.back().y)) + " mm, its friction is " +
                       percent(program.friction) +
                       " too small; that of the associated law, with "
                       "the whole cone, " +
                       percent(convex.friction) +
                       " too large. Right: 10 kg on four corners, 70 N, 20 N and 15 N·m.";
  const double slope = mass.friction / std::sqrt(2.0), climb = climb_acceleration(mass, slope);
  experiment.comparisons = {
      {"Pulled mass, Coulomb: climb", "m/s²", 0, coulomb.climb, 1e-9},
      {"Pulled mass, Coulomb: friction", "N", mass.reach(), coulomb.friction, 1e-10},
      {"Pulled mass, quadratic program: climb", "m/s²", climb, program.climb, 1e-6},
      {"Pulled mass, quadratic program: friction", "N", slope * (mass.gravity + climb),
       program.friction, 1e-9},
      {"Pulled mass, associated law: friction", "N",
       mass.friction * (mass.gravity + climb_acceleration(mass, mass.friction)), convex.friction,
       1e-9},
      {"Pushed box: acceleration in steps of 1 ms", "m/s²", 2.095, push_box(1e-3), 1e-6},
      {"Pushed box: acceleration in steps of 10 ms", "m/s²", 2.095, push_box(1e-2), 1e-6}};
  return experiment;
}

}  // namespace carom::cli
