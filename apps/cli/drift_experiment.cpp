// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "carom/variational/impact_stepper.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/knocking_pendula.hpp"
#include "scenes/line_of_balls.hpp"

namespace carom::cli {
namespace {

/// Two pendula that knock: energy error over the count of impacts, and the largest one [J].
struct Knocking {
  std::vector<PlotPoint> errors;
  double largest = 0;

  /// @param restarts  each impact begins a full step, as in programs that stop at events.
  Knocking(bool restarts, int impact_count) {
    ImpactStepper<examples::KnockingPendula> stepper{examples::KnockingPendula{}};
    MechanicalState<double> state{0, Eigen::Vector2d(-1, 0.3), Eigen::Vector2d(0.3, 0.5)};
    const double start = stepper.energy(state);
    constexpr double h = 0.05;
    for (int impacts = 0; impacts < impact_count;) {
      const MechanicalState<double> before = state;
      auto report = stepper.step(state, h);
      if (restarts && report.converged() && report.impacts > 0) {
        const double until = stepper.events().front().time - before.time;
        state = before;
        stepper.restart();
        report = stepper.step(state, until + 1e-9 * h);  // just after the impact
      }
      if (!report.converged() || state.time > 1000.0 * impact_count) {
        largest = HUGE_VAL;
        break;
      }
      impacts += report.impacts;
      const double error = stepper.energy(state) - start;
      largest = std::max(largest, std::abs(error));
      if (report.impacts > 0 && impacts % 5 == 0) errors.push_back({double(impacts), error});
    }
  }
};

Panel make_drift_panel(const Knocking& finishing, const Knocking& restarting, int impact_count) {
  const std::string title = "Energy error of two pendula that knock";
  double low = 0, high = 0;
  for (const PlotPoint& point : restarting.errors) {
    low = std::min(low, point.y);
    high = std::max(high, point.y);
  }
  const double room = 0.08 * (high - low) + 1e-6;
  SvgPlot plot(title, {"impacts", {0, 1.03 * impact_count}, {}},
               {"energy error [mJ]", {1e3 * (low - room), 1e3 * (high + room)}, {}});
  const auto milli = [](std::vector<PlotPoint> points) {
    for (PlotPoint& point : points) point.y *= 1e3;
    return points;
  };
  plot.curve({{0, 0}, {double(impact_count), 0}}, "faint dashed");
  plot.curve(milli(restarting.errors), "s2");
  plot.curve(milli(finishing.errors), "s1");
  return {title,
          {{"s1", "line", "the step is finished after an impact"},
           {"s2", "line", "a new step starts at each impact"}},
          plot.str()};
}

/// Galperin's billiard in time, until no more impact is possible.
struct CountdownInTime {
  Index reflections = 0;
  double energy_error = 0;  ///< relative

  explicit CountdownInTime(int exponent) {
    const examples::LineStart start = examples::make_galperin(exponent);
    ImpactStepOptions<double> options;
    options.event_limit = 1'000'000;
    ImpactStepper<examples::LineOfBalls> stepper(start.balls, ImpactResolver<double>{}, options);
    MechanicalState<double> state{0, start.q, start.momentum()};
    const double energy = stepper.energy(state);
    for (int k = 0; k < 120; ++k) {
      const auto report = stepper.step(state, 0.1);
      if (!report.converged()) reflections = -1'000'000;
      reflections += report.reflections;
    }
    energy_error = stepper.energy(state) / energy - 1;
  }
};

/// Positions of the light and the heavy ball over time; the impacts are from the closed form.
Panel make_galperin_panel() {
  const std::string title = "A heavy ball and a light one before a wall: 31 impacts";
  SvgPlot plot(title, {"time [s]", {0, 4}, {}}, {"distance from the wall [m]", {0, 2.1}, {}});
  const examples::LineStart start = examples::make_galperin(1);
  ImpactStepper<examples::LineOfBalls> stepper(start.balls);
  MechanicalState<double> state{0, start.q, start.momentum()};
  std::vector<PlotPoint> light{{0, start.q(0)}}, heavy{{0, start.q(1)}};
  for (int k = 0; k < 2000 && stepper.step(state, 0.002).converged(); ++k) {
    light.push_back({state.time, state.q(0)});
    heavy.push_back({state.time, state.q(1)});
  }
  plot.curve(light, "s1");
  plot.curve(heavy, "s2");
  return {title, {{"s2", "line", "100 kg"}, {"s1", "line", "1 kg"}}, plot.str()};
}

}  // namespace

Experiment run_drift_experiment(bool brief) {
  const int impact_count = brief ? 300 : 3000;
  Experiment experiment;
  experiment.title = "Thousands of impacts, and the energy is still there";
  experiment.text =
      "When an impact falls into a step, the step up to it is shorter than the others. Whoever "
      "starts a full step after each impact changes the step thousands of times, and the energy "
      "drifts. carom finishes the step it was in, so that the grid of times stays (Seghete and "
      "Murphey, eq. 30).";
  const Knocking finishing(false, impact_count), restarting(true, impact_count);
  experiment.panels = {make_drift_panel(finishing, restarting, impact_count),
                       make_galperin_panel()};
  experiment.caption = "Left: steps of 0.05 s. After " + std::to_string(impact_count) +
                       " impacts the largest error is " +
                       label_text(std::round(10 * restarting.largest / finishing.largest) / 10) +
                       " times smaller where the step is finished.";
  experiment.comparisons = {
      {"Knocking pendula: largest energy error in " + std::to_string(impact_count) + " impacts",
       "J", 0, finishing.largest, 1e-4}};
  const Index digits[] = {3, 31, 314, 3141};
  for (int k = 0; k < 4; ++k) {
    const CountdownInTime all(k);
    const std::string mass = label_text(std::pow(100.0, k));
    experiment.comparisons.push_back({"Galperin in time: impacts, heavy ball of mass " + mass, "",
                                      double(digits[k]), double(all.reflections), 0});
    if (k == 3) {
      experiment.comparisons.push_back(
          {"Galperin in time: relative change of the energy", "", 0, all.energy_error, 1e-12});
    }
  }
  return experiment;
}

}  // namespace carom::cli
