// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include "carom/cones/friction_cone.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"

namespace carom::cli {
namespace {

constexpr double cone_friction = 0.6;
constexpr Range across{0, 2.5}, upward{-1.05, 1.35};

/// Regions of the (‖yₜ‖, yₙ) plane for Rₜ/Rₙ = ratio, their boundaries, and sample projections.
Panel make_panel(const std::string& title, double ratio) {
  SvgPlot plot(title, {"sideways part of the trial impulse, |yₜ|", across, {}},
               {"normal part, yₙ", upward, {}}, 420);
  const double surface_end = cone_friction * upward.high;
  const double polar = -cone_friction * ratio;  // slope of the boundary between slide and separate
  plot.area({{0, 0}, {0, upward.high}, {surface_end, upward.high}}, "stick");
  std::vector<PlotPoint> apart{{0, 0}, {0, upward.low}};
  const bool leaves_below = polar * across.high < upward.low;
  const PlotPoint polar_end = leaves_below ? PlotPoint{upward.low / polar, upward.low}
                                           : PlotPoint{across.high, polar * across.high};
  if (!leaves_below) apart.push_back({across.high, upward.low});
  apart.push_back(polar_end);
  plot.area(apart, "separate");
  plot.curve({{0, 0}, {surface_end, upward.high}}, "s1");
  plot.curve({{0, 0}, polar_end}, "s3 dashed");
  const std::vector<PlotPoint> samples{{1.6, 0.75},  {2.1, 0.1},  {2.3, -0.5},
                                       {1.0, -0.35}, {0.3, 1.05}, {0.5, -0.8}};
  for (const PlotPoint& from : samples) {
    const Vector3<double> y(from.x, 0, from.y);
    const Vector3<double> p =
        project(FrictionCone<double>{cone_friction}, ContactWeights<double>{ratio, 1}, y).point;
    if ((p - y).norm() > 0) plot.arrow(from, {p.x(), p.z()}, "s2");
    plot.dots({from}, "s2", 3.6);
  }
  plot.note({0.07, 0.78}, "stick");
  plot.note({2.05, 1.0}, "slide");
  plot.note({0.12, -0.97}, "separate");
  return {title,
          {{"s1", "line", "cone surface, |yₜ| = μ yₙ"},
           {"s3", "dash", "border of separation"},
           {"s2", "dot", "trial impulse → projection"}},
          plot.str()};
}

/// Normal entry of the nearest surface point, by reduction of an interval. It uses no formula of
/// the library.
double search_normal(const Vector3<double>& y, double ratio) {
  const auto distance = [&](double normal) {
    return ratio * std::pow(cone_friction * normal - y.x(), 2) + std::pow(normal - y.z(), 2);
  };
  double low = 0, high = 10;
  while (high - low > 1e-9) {
    const double third = (high - low) / 3;
    if (distance(low + third) < distance(high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  return (low + high) / 2;
}

}  // namespace

Experiment run_cone_experiment() {
  Experiment experiment;
  experiment.title = "Where an impulse may point";
  experiment.play = "cone";
  experiment.text =
      "Dry friction limits the push between two bodies to a cone: sideways at most <i>μ</i> times "
      "what presses them together. A step first asks for a trial impulse <i>y</i> that would "
      "undo all relative motion; <code>project()</code> returns the nearest impulse that "
      "friction allows.";
  experiment.panels = {make_panel("Equal weights, Rₜ = Rₙ", 1),
                       make_panel("Stiff sideways, Rₜ = 0.15 Rₙ", 0.15)};
  experiment.caption =
      "Inside the cone the bodies stick and the trial impulse stands; below the dashed border they "
      "separate and the answer is zero; between them they slide and the answer lies on the "
      "surface. The weights <i>R</i>, the softness of the contact, decide what “nearest” means: "
      "the same six trial impulses land in different places. Here <i>μ</i> = 0.6.";
  const Vector3<double> y(2.2, 0, 0.95);
  for (const double ratio : {1.0, 0.15}) {
    const Vector3<double> p =
        project(FrictionCone<double>{cone_friction}, ContactWeights<double>{ratio, 1}, y).point;
    experiment.comparisons.push_back(
        {ratio == 1 ? "Normal impulse nearest to y = (2.2, 0, 0.95), Rₜ = Rₙ; by search"
                    : "The same with Rₜ = 0.15 Rₙ; by search",
         "N s", search_normal(y, ratio), p.z(), 1e-7});
  }
  return experiment;
}

}  // namespace carom::cli
