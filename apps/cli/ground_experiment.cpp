// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/closed_forms.hpp"
#include "scenes/point_mass.hpp"

namespace carom::cli {
namespace {

using examples::Ground;
using examples::PointMass;

constexpr double dropped_mass = 1;  ///< Slides in the other runs [kg].

Ground make_soft_ground() {
  Ground ground;
  ground.stiffness = 1e4;
  ground.dissipation_time = 0.002;
  return ground;
}

/// Heights [m] of a point mass that starts at rest 4 mm above soft ground, in steps of 1 ms.
std::vector<double> drop(int steps) {
  PointMass falling(dropped_mass, make_soft_ground(), 0.001);
  falling.position.z() = 0.004;
  falling.contact_height = 0;
  std::vector<double> heights{falling.position.z()};
  for (int i = 0; i < steps; ++i) {
    falling.step();
    heights.push_back(falling.position.z());
  }
  return heights;
}

Panel make_drop_panel() {
  const std::string title = "Dropped: height against time";
  SvgPlot plot(title, {"time [ms]", {0, 400}, {}}, {"height [mm]", {-4.2, 4.4}, {}});
  std::vector<PlotPoint> measured;
  const std::vector<double> heights = drop(400);
  for (std::size_t i = 0; i < heights.size(); ++i) {
    measured.push_back({double(i), 1e3 * heights[i]});
  }
  const double rest =
      1e3 * examples::resting_gap(dropped_mass, earth_gravity, make_soft_ground().stiffness);
  plot.area({{0, 0}, {400, 0}, {400, -4.2}, {0, -4.2}}, "separate");
  plot.curve({{0, rest}, {400, rest}}, "s1 dashed");
  plot.curve(measured, "s2");
  plot.note({395, -3.9}, "below the surface", "end", "note small");
  return {title, {{"s1", "dash", "rest, −m g/k"}, {"s2", "line", "computed"}}, plot.str()};
}

/// Steady height [m] of a sliding point mass, pushed with the friction force.
struct Gliding {
  double height;
  double expected;
  double coulomb;  ///< The height under Coulomb's exact law.
};

Gliding glide(double speed) {
  constexpr double time_step = 0.01;
  const Ground ground;
  PointMass puck(dropped_mass, ground, time_step);
  for (int i = 0; i < 300; ++i) {
    puck.velocity.x() = speed;
    puck.step({ground.friction * dropped_mass * earth_gravity, 0, 0});
  }
  const ContactWeights<double> weights = puck.problem().friction_contact_law(0).regularization;
  return {puck.position.z(),
          examples::gliding_gap(ground, weights, dropped_mass, puck.velocity.x(), time_step),
          -(time_step + ground.dissipation_time) * weights.normal * dropped_mass * earth_gravity *
              time_step};
}

Panel make_gliding_panel() {
  const std::string title = "Gliding: height against speed";
  SvgPlot plot(title, {"sliding speed [m/s]", {0, 2}, {}}, {"height [mm]", {-2, 32}, {}});
  std::vector<PlotPoint> exact, coulomb, measured;
  for (int i = 1; i <= 20; ++i) {
    const Gliding at = glide(i / 10.0);
    exact.push_back({i / 10.0, 1e3 * at.expected});
    coulomb.push_back({i / 10.0, 1e3 * at.coulomb});
    measured.push_back({i / 10.0, 1e3 * at.height});
  }
  plot.curve(coulomb, "s3 dashed");
  plot.curve(exact, "s1");
  plot.dots(measured, "s2");
  return {title,
          {{"s1", "line", "closed form"},
           {"s2", "dot", "computed"},
           {"s3", "dash", "Coulomb’s law itself"}},
          plot.str()};
}

}  // namespace

Experiment run_ground_experiment() {
  Experiment experiment;
  experiment.title = "Soft ground, and what the model gives up";
  experiment.text =
      "Contacts here are springs with dissipation, so a mass comes to rest a little below the "
      "surface. The price for a problem that always has one answer, and a proof of it, is an "
      "artefact: what slides fast floats a little above the surface.";
  experiment.panels = {make_drop_panel(), make_gliding_panel()};
  experiment.caption =
      "Dropped: 1 kg that starts at rest 4 mm above ground of 10 kN/m rebounds and settles where "
      "weight and "
      "spring "
      "balance. Gliding: the float grows with speed, time step and friction, exactly as derived: "
      "known, bounded, and shown rather than hidden.";
  experiment.comparisons.push_back(
      {"Depth of a mass at rest, −m g/k", "m",
       examples::resting_gap(dropped_mass, earth_gravity, make_soft_ground().stiffness),
       drop(3000).back(), 1e-6});
  for (const double speed : {0.1, 1.0, 2.0}) {
    const Gliding at = glide(speed);
    experiment.comparisons.push_back({"Height when gliding at " + label_text(speed) + " m/s", "m",
                                      at.expected, at.height, 1e-9});
  }
  return experiment;
}

}  // namespace carom::cli
