// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/closed_forms.hpp"
#include "scenes/footed_body.hpp"
#include "scenes/point_mass.hpp"

namespace carom::cli {
namespace {

using examples::FootedBody;
using examples::make_incline;
using examples::PointMass;

constexpr double slope_friction = 0.5, slope_time_step = 0.01, point_mass = 1, box_mass = 2;
constexpr int slope_steps = 400;

double radians(double degrees) {
  return degrees * std::numbers::pi / 180;
}
bool slides(double degrees) {
  return std::tan(radians(degrees)) > slope_friction;
}

/// Motion along the slope after the transient has decayed.
struct SlopeMotion {
  double speed;                   ///< [m/s]
  double acceleration;            ///< Over the last step [m/s²].
  double tangent_regularization;  ///< Rₜ of a contact, harmonic mean [1/kg].
};

SlopeMotion run_point(double degrees) {
  PointMass mass(point_mass, make_incline(radians(degrees), earth_gravity), slope_time_step);
  double before = 0;
  for (int i = 0; i < slope_steps; ++i) {
    before = mass.velocity.x();
    mass.step();
  }
  return {mass.velocity.x(), (mass.velocity.x() - before) / slope_time_step,
          mass.problem().friction_contact_law(0).regularization.tangent};
}

SlopeMotion run_box(double degrees) {
  FootedBody box(examples::make_box(box_mass, {0.2, 0.15, 0.01}),
                 make_incline(radians(degrees), earth_gravity), slope_time_step);
  double before = 0;
  for (int i = 0; i < slope_steps; ++i) {
    before = box.velocity(3);
    box.step();
  }
  double stiffness = 0;  // all corners move alike, so 1/Rₜ is summed over them
  for (Index i = 0; i < 4; ++i)
    stiffness += 1 / box.problem().friction_contact_law(i).regularization.tangent;
  return {box.velocity(3), (box.velocity(3) - before) / slope_time_step, 4 / stiffness};
}

double expected_speed(const SlopeMotion& motion, double carried_mass, double degrees) {
  return examples::creep_velocity(motion.tangent_regularization, carried_mass, radians(degrees),
                                  earth_gravity, slope_time_step);
}
double expected_slope_acceleration(double degrees) {
  return slides(degrees)
             ? examples::slide_acceleration(slope_friction, radians(degrees), earth_gravity)
             : 0;
}

Panel make_acceleration_panel() {
  const std::string title = "Acceleration down the slope";
  SvgPlot plot(title, {"slope angle [degrees]", {0, 60}, make_ticks({0, 60}, 6)},
               {"acceleration [m/s²]", {-0.25, 6.5}, make_ticks({0, 6}, 6)});
  std::vector<PlotPoint> exact, points, boxes;
  for (int d = 0; d <= 240; ++d) exact.push_back({d / 4.0, expected_slope_acceleration(d / 4.0)});
  for (int d = 0; d <= 60; d += 3) points.push_back({double(d), run_point(d).acceleration});
  for (int d = 0; d <= 60; d += 6) boxes.push_back({double(d), run_box(d).acceleration});
  plot.curve(exact, "s1");
  plot.dots(boxes, "s3 ring", 5.5);
  plot.dots(points, "s2");
  return {title,
          {{"s1", "line", "g (sin a − μ cos a)"},
           {"s2", "dot", "point mass"},
           {"s3", "ring", "box on four corners"}},
          plot.str()};
}

Panel make_creep_panel() {
  const std::string title = "Creep while it sticks";
  SvgPlot plot(title, {"slope angle [degrees]", {0, 30}, make_ticks({0, 30}, 6)},
               {"speed [µm/s]", {0, 32}, {}});
  std::vector<PlotPoint> exact, exact_box, points, boxes;
  const SlopeMotion point = run_point(10), box = run_box(10);
  for (int d = 0; d <= 52; ++d) {
    exact.push_back({d / 2.0, 1e6 * expected_speed(point, point_mass, d / 2.0)});
    exact_box.push_back({d / 2.0, 1e6 * expected_speed(box, box_mass / 4, d / 2.0)});
  }
  for (int d = 0; d <= 26; d += 2) points.push_back({double(d), 1e6 * run_point(d).speed});
  for (int d = 0; d <= 24; d += 3) boxes.push_back({double(d), 1e6 * run_box(d).speed});
  plot.curve(exact, "s1");
  plot.curve(exact_box, "s1");
  plot.dots(boxes, "s3 ring", 5.5);
  plot.dots(points, "s2");
  plot.curve({{26.565, 0}, {26.565, 32}}, "faint dashed");
  plot.note({26.1, 3}, "slips at tan a = μ", "end", "note small");
  return {title,
          {{"s1", "line", "Rₜ m g sin a δt"},
           {"s2", "dot", "point mass"},
           {"s3", "ring", "box, a quarter of its weight per corner"}},
          plot.str()};
}

}  // namespace

Experiment run_incline_experiment() {
  Experiment experiment;
  experiment.title = "A block on a slope";
  experiment.text =
      "The first question anyone asks of friction: at what angle does the block slip, and how "
      "fast does it go? Each mark is a simulation of four seconds in steps of 10 ms, of a point "
      "mass and of a box that stands on its four lower corners; the curve is the textbook "
      "formula.";
  experiment.panels = {make_acceleration_panel(), make_creep_panel()};
  experiment.caption =
      "With <i>μ</i> = 0.5 both hold still up to 26.57° and then accelerate as Coulomb’s law "
      "says. A block that sticks still creeps, because its contacts are slightly soft: by "
      "some micrometers per second, as much as the formula allows, and chosen by one parameter.";
  for (const double degrees : {10.0, 24.0}) {
    const SlopeMotion point = run_point(degrees), box = run_box(degrees);
    const std::string slope = "on a slope of " + label_text(degrees) + "°";
    experiment.comparisons.push_back({"Creep of a point mass " + slope, "m/s",
                                      expected_speed(point, point_mass, degrees), point.speed,
                                      1e-9});
    experiment.comparisons.push_back({"Creep of a box " + slope, "m/s",
                                      expected_speed(box, box_mass / 4, degrees), box.speed, 1e-9});
  }
  for (const double degrees : {30.0, 60.0}) {
    const std::string slope = "on a slope of " + label_text(degrees) + "°";
    experiment.comparisons.push_back({"Acceleration of a point mass " + slope, "m/s²",
                                      expected_slope_acceleration(degrees),
                                      run_point(degrees).acceleration, 1e-9});
    experiment.comparisons.push_back({"Acceleration of a box " + slope, "m/s²",
                                      expected_slope_acceleration(degrees),
                                      run_box(degrees).acceleration, 1e-9});
  }
  return experiment;
}

}  // namespace carom::cli
