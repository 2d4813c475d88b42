// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/footed_body.hpp"

namespace carom::cli {
namespace {

constexpr double mass = 3, radius = 1.5, gravity = 9.81, friction = 0.5, time_step = 0.01;
constexpr double transition = friction * mass * gravity * radius;  ///< Torque that slips [N·m].
constexpr double inertia = mass * radius * radius / 2;             ///< About the axis [kg·m²].

/// What the disc does once it moves steadily.
struct DiscMotion {
  double normal;                ///< Normal impulse of a foot [N·s].
  double tangent;               ///< Friction impulse of a foot [N·s].
  double angular_acceleration;  ///< [rad/s²]
};

DiscMotion run_disc(double torque) {
  examples::FootedBody disc(examples::make_disc(mass, radius), {}, time_step);
  double before = 0;
  for (int i = 0; i < 400; ++i) {
    before = disc.velocity(2);
    disc.step({0, 0, torque});
  }
  return {disc.impulse(0).z(), disc.impulse(0).head<2>().norm(),
          (disc.velocity(2) - before) / time_step};
}

double expected_tangent(double torque) {
  return time_step * std::min(torque / (3 * radius), friction * mass * gravity / 3);
}
double expected_acceleration(double torque) {
  return std::max(0.0, torque - transition) / inertia;
}

Panel make_friction_panel() {
  const std::string title = "Friction force on each foot";
  SvgPlot plot(title, {"torque [N m]", {0, 45}, {}}, {"friction force [N]", {0, 6}, {}});
  std::vector<PlotPoint> measured;
  for (int m = 0; m <= 45; m += 3) {
    measured.push_back({double(m), run_disc(m).tangent / time_step});
  }
  plot.curve({{0, 0},
              {transition, expected_tangent(transition) / time_step},
              {45, expected_tangent(45) / time_step}},
             "s1");
  plot.curve({{transition, 0}, {transition, 6}}, "faint dashed");
  plot.dots(measured, "s2");
  plot.note({transition + 0.8, 0.35}, "slips at μ m g R", "start", "note small");
  return {title, {{"s1", "line", "M/(3R), then μ m g/3"}, {"s2", "dot", "computed"}}, plot.str()};
}

Panel make_spin_panel() {
  const std::string title = "Angular acceleration";
  SvgPlot plot(title, {"torque [N m]", {0, 45}, {}},
               {"angular acceleration [rad/s²]", {-0.3, 7.5}, make_ticks({0, 7.5})});
  std::vector<PlotPoint> measured;
  for (int m = 0; m <= 45; m += 3) {
    measured.push_back({double(m), run_disc(m).angular_acceleration});
  }
  plot.curve({{0, 0}, {transition, 0}, {45, expected_acceleration(45)}}, "s1");
  plot.dots(measured, "s2");
  return {title, {{"s1", "line", "(M − μ m g R)/I"}, {"s2", "dot", "computed"}}, plot.str()};
}

}  // namespace

Experiment run_pizza_experiment() {
  Experiment experiment;
  experiment.title = "The pizza saver";
  experiment.text =
      "The little table that keeps the lid off a pizza, here of 3 kg and 1.5 m radius: a disc on "
      "three feet, twisted by a torque <i>M</i> about its axis. Three contacts share the load, so "
      "this checks that they agree with each other, not just with their own cone.";
  experiment.panels = {make_friction_panel(), make_spin_panel()};
  experiment.caption =
      "Friction balances the torque up to <i>μ m g R</i> = 22.07 N m; beyond it the feet "
      "slide together and the rest of the torque spins the disc.";
  for (const double fraction : {0.5, 1.5}) {
    const double torque = fraction * transition;
    const DiscMotion motion = run_disc(torque);
    const std::string at = ", torque " + label_text(fraction) + " μ m g R";
    experiment.comparisons.push_back({"Normal impulse of a foot" + at, "N s",
                                      time_step * mass * gravity / 3, motion.normal, 1e-9});
    experiment.comparisons.push_back(
        {"Friction impulse of a foot" + at, "N s", expected_tangent(torque), motion.tangent, 1e-9});
    experiment.comparisons.push_back({"Angular acceleration" + at, "rad/s²",
                                      expected_acceleration(torque), motion.angular_acceleration,
                                      1e-9});
  }
  return experiment;
}

}  // namespace carom::cli
