// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "carom/impact/resolve.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/touching_balls.hpp"

namespace carom::cli {
namespace {

/// A ball of mass 1 between a wall and a ball of mass `ratio` that approaches at unit speed.
struct Countdown {
  examples::ImpactScene scene;
  ImpactResolver<double> resolver;
  VectorX<double> momentum;
  ImpactReport<double> report;
  double energy_error;  ///< Relative.

  explicit Countdown(double ratio, Index recorded = 0)
      : scene(examples::ball_line({1, ratio}, true)) {
    resolver.prepare(scene.problem, recorded);
    momentum = scene.momentum(-VectorX<double>::Unit(2, 1));
    const double before = scene.norm(momentum);
    report = resolver.resolve(scene.problem, momentum);
    energy_error = std::pow(scene.norm(momentum) / before, 2) - 1;
  }
};

/// Velocities times the square root of the mass are on a circle; each reflection moves along it.
Panel make_circle_panel(double ratio) {
  const std::string title = "A ball 100 times as heavy: 31 reflections";
  const std::vector<Tick> ticks{{-1, "−1"}, {0, "0"}, {1, "1"}};
  SvgPlot plot(title, {"√(m/M) × velocity of the light ball", {-1.15, 1.15}, ticks},
               {"velocity of the heavy ball", {-1.15, 1.15}, ticks}, 400);
  const Countdown all(ratio, 1000);
  VectorX<double> momentum = all.scene.momentum(-VectorX<double>::Unit(2, 1));
  const auto point = [&] {
    const VectorX<double> v = all.scene.velocity(momentum);
    return PlotPoint{v(0) / std::sqrt(ratio), v(1)};
  };
  std::vector<PlotPoint> circle, path{point()};
  for (int d = 0; d <= 360; d += 3) {
    const double angle = d * std::numbers::pi / 180;
    circle.push_back({std::cos(angle), std::sin(angle)});
  }
  for (const Index contact : all.resolver.sequence()) {
    reflect(all.scene.problem, contact, momentum);
    path.push_back(point());
  }
  plot.curve(circle, "faint");
  plot.curve(path, "s1 thin");
  plot.dots(path, "s2", 2.6);
  plot.note({0.06, -1.08}, "start", "start", "note small");
  return {title,
          {{"s1", "line", "one reflection"}, {"s2", "dot", "velocities between reflections"}},
          plot.str()};
}

Panel make_count_panel() {
  const std::string title = "Reflections against the mass";
  SvgPlot plot(title, {"mass of the heavy ball", {0, 10.4}, make_decade_ticks({0, 10})},
               {"reflections", {0, 6}, make_decade_ticks({0, 6})}, 400);
  const auto expected = [](double decades) {
    return std::log10(std::numbers::pi / std::atan(std::pow(10.0, -decades / 2)));
  };
  std::vector<PlotPoint> line, counts;
  for (int tenth = 0; tenth <= 102; ++tenth) {
    const double decades = 0.1 * tenth;
    line.push_back({decades, expected(decades)});
  }
  for (int half = 0; half <= 16; ++half) {
    const double decades = 0.5 * half;
    counts.push_back(
        {decades, std::log10(double(Countdown(std::pow(10.0, decades)).report.reflections))});
  }
  plot.curve(line, "s1");
  plot.dots(counts, "s2");
  return {title, {{"s1", "line", "π / atan √(m/M)"}, {"s2", "dot", "counted"}}, plot.str()};
}

}  // namespace

Experiment run_galperin_experiment() {
  Experiment experiment;
  experiment.title = "Counting the digits of π";
  experiment.text =
      "A light ball rests in touch between a wall and a heavy ball that comes in. Let the heavy "
      "one have 100<sup><i>k</i></sup> times the mass and count the reflections until all is over: "
      "they spell π (Galperin). The last count hangs on the last digits of the velocities, and "
      "the energy must survive hundreds of thousands of reflections.";
  experiment.panels = {make_circle_panel(100), make_count_panel()};
  experiment.caption =
      "Scaled by the root of its mass each, the velocities stay on a circle, for energy is kept, "
      "and every reflection moves them on along it by twice the angle between the contacts.";
  const Index digits[] = {3, 31, 314, 3141, 31415, 314159};
  double ratio = 1;
  for (const Index expected : digits) {
    const Countdown all(ratio);
    const std::string mass = label_text(ratio);
    experiment.comparisons.push_back({"Reflections, heavy ball of mass " + mass, "",
                                      double(expected), double(all.report.reflections), 0});
    if (expected == 314159) {
      experiment.comparisons.push_back(
          {"Relative change of the energy after 314159", "", 0, all.energy_error, 1e-11});
    }
    ratio *= 100;
  }
  return experiment;
}

}  // namespace carom::cli
