// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/footed_body.hpp"

namespace carom::cli {
namespace {

constexpr double disc_mass = 3, disc_radius = 1.5, disc_friction = 0.5, disc_time_step = 0.01;
constexpr double slip_torque = disc_friction * disc_mass * earth_gravity * disc_radius;  ///< [N·m]
constexpr double disc_inertia = disc_mass * disc_radius * disc_radius / 2;  ///< [kg·m²]

/// The steady motion of the disc.
struct DiscMotion {
  double normal;                ///< Normal impulse of a foot [N·s].
  double tangent;               ///< Friction impulse of a foot [N·s].
  double angular_acceleration;  ///< [rad/s²]
};

DiscMotion run_disc(double torque) {
  examples::FootedBody disc(examples::make_disc(disc_mass, disc_radius), {}, disc_time_step);
  double before = 0;
  for (int i = 0; i < 400; ++i) {
    before = disc.velocity(2);
    disc.step({0, 0, torque});
  }
  return {disc.impulse(0).z(), disc.impulse(0).head<2>().norm(),
          (disc.velocity(2) - before) / disc_time_step};
}

double expected_disc_tangent(double torque) {
  return disc_time_step *
         std::min(torque / (3 * disc_radius), disc_friction * disc_mass * earth_gravity / 3);
}
double expected_disc_acceleration(double torque) {
  return std::max(0.0, torque - slip_torque) / disc_inertia;
}

/// A dot: a torque [N m], and the motion of the disc under it.
struct Twist {
  double torque;
  DiscMotion motion;
};

std::vector<Twist> twist_disc() {
  std::vector<Twist> twists;
  for (int m = 0; m <= 45; m += 3) twists.push_back({double(m), run_disc(m)});
  return twists;
}

Panel make_friction_panel(const std::vector<Twist>& twists) {
  const std::string title = "Friction force on each foot";
  SvgPlot plot(title, {"torque [N m]", {0, 45}, {}}, {"friction force [N]", {0, 6}, {}});
  std::vector<PlotPoint> measured;
  measured.reserve(twists.size());
  for (const auto& [torque, motion] : twists) {
    measured.push_back({torque, motion.tangent / disc_time_step});
  }
  plot.curve({{0, 0},
              {slip_torque, expected_disc_tangent(slip_torque) / disc_time_step},
              {45, expected_disc_tangent(45) / disc_time_step}},
             "s1");
  plot.curve({{slip_torque, 0}, {slip_torque, 6}}, "faint dashed");
  plot.dots(measured, "s2");
  plot.note({slip_torque + 0.8, 0.35}, "slips at μ m g R", "start", "note small");
  return {title, {{"s1", "line", "M/(3R), then μ m g/3"}, {"s2", "dot", "computed"}}, plot.str()};
}

Panel make_spin_panel(const std::vector<Twist>& twists) {
  const std::string title = "Angular acceleration";
  SvgPlot plot(title, {"torque [N m]", {0, 45}, {}},
               {"angular acceleration [rad/s²]", {-0.3, 7.5}, make_ticks({0, 7.5})});
  std::vector<PlotPoint> measured;
  measured.reserve(twists.size());
  for (const auto& [torque, motion] : twists) {
    measured.push_back({torque, motion.angular_acceleration});
  }
  plot.curve({{0, 0}, {slip_torque, 0}, {45, expected_disc_acceleration(45)}}, "s1");
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
  const std::vector<Twist> twists = twist_disc();
  experiment.panels = {make_friction_panel(twists), make_spin_panel(twists)};
  experiment.caption =
      "Friction balances the torque up to <i>μ m g R</i> = 22.07 N m; beyond it the feet "
      "slide together and the rest of the torque spins the disc.";
  for (const double fraction : {0.5, 1.5}) {
    const double torque = fraction * slip_torque;
    const DiscMotion motion = run_disc(torque);
    const std::string at = ", torque " + label_text(fraction) + " μ m g R";
    experiment.comparisons.push_back({"Normal impulse of a foot" + at, "N s",
                                      disc_time_step * disc_mass * earth_gravity / 3, motion.normal,
                                      1e-9});
    experiment.comparisons.push_back({"Friction impulse of a foot" + at, "N s",
                                      expected_disc_tangent(torque), motion.tangent, 1e-9});
    experiment.comparisons.push_back({"Angular acceleration" + at, "rad/s²",
                                      expected_disc_acceleration(torque),
                                      motion.angular_acceleration, 1e-9});
  }
  return experiment;
}

}  // namespace carom::cli
