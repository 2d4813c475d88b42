// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include "carom/impact/outcomes.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/touching_balls.hpp"

namespace carom::cli {
namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double heavy_cue_mass = 4;  ///< Mass of the heavy cue ball, relative to the others.

/// Distance of the outcomes of the break shot, by enumeration.
double indeterminacy_of_break(double theta, double cue_mass) {
  const examples::ImpactScene scene = examples::billiards(theta, cue_mass);
  const VectorX<double> momentum = scene.momentum(VectorX<double>::Unit(6, 0));
  return enumerate_outcomes(scene.problem, scene.mass, momentum).indeterminacy;
}

/// Equal balls, θ in [π/3, π]: two reflections, or three if the first ball is hit again.
double expected_equal(double theta) {
  const double c = std::cos(theta), s = std::sin(theta);
  return std::sqrt((1 + c) * (2 - c)) * std::min(std::abs(c), s * s);
}

/// Two reflections, cue ball of mass m_c: 4 |c| sqrt(β (1 − c)(1 + cos θ)) with β = 1/(1 + m_c)
/// and c = ⟨u_a, u_b⟩ = β cos θ.
double expected_heavy(double theta) {
  const double share = 1 / (1 + heavy_cue_mass), c = share * std::cos(theta);
  return 4 * std::abs(c) * std::sqrt(share * (1 - c) * (1 + std::cos(theta)));
}

Panel make_angle_panel() {
  const std::string title = "How far apart two outcomes can be";
  SvgPlot plot(title,
               {"angle between the balls [°]",
                {60, 180},
                {{60, "60"}, {90, "90"}, {120, "120"}, {150, "150"}, {180, "180"}}},
               {"ξ, relative to the momentum", {0, 0.8}, {}});
  std::vector<PlotPoint> equal, weighted, equal_dots, weighted_dots;
  for (int half = 120; half <= 360; ++half) {
    const double d = 0.5 * half;
    equal.push_back({d, expected_equal(d * degree)});
    weighted.push_back({d, expected_heavy(d * degree)});
  }
  for (int d = 60; d <= 180; d += 5) {
    equal_dots.push_back({double(d), indeterminacy_of_break(d * degree, 1)});
    weighted_dots.push_back({double(d), indeterminacy_of_break(d * degree, heavy_cue_mass)});
  }
  plot.curve(equal, "s1");
  plot.curve(weighted, "s3 dashed");
  plot.dots(equal_dots, "s2");
  plot.dots(weighted_dots, "s2");
  plot.note({91.5, 0.74}, "one outcome at 90°", "start", "note small");
  plot.curve({{90, 0}, {90, 0.8}}, "faint dashed");
  return {title,
          {{"s1", "line", "equal balls"},
           {"s3", "dash", "cue ball four times as heavy"},
           {"s2", "dot", "enumerated"}},
          plot.str()};
}

/// The three balls at an angle, and the velocities after both orders.
Panel make_table_panel(double theta) {
  const std::string title = "Where the balls go at " + label_text(theta / degree) + "°";
  SvgPlot plot(title, {"x [radii]", {-1.9, 4.7}, {}}, {"y [radii]", {-2.35, 2.35}, {}}, 317);
  const PlotPoint centres[] = {{0, 0},
                               {2 * std::cos(theta / 2), 2 * std::sin(theta / 2)},
                               {2 * std::cos(theta / 2), -2 * std::sin(theta / 2)}};
  for (const PlotPoint& centre : centres) {
    std::vector<PlotPoint> ball;
    for (int d = 0; d <= 360; d += 6) {
      ball.push_back({centre.x + std::cos(d * degree), centre.y + std::sin(d * degree)});
    }
    plot.curve(ball, "faint");
  }
  const examples::ImpactScene scene = examples::billiards(theta);
  const VectorX<double> momentum = scene.momentum(VectorX<double>::Unit(6, 0));
  const auto ends = enumerate_outcomes(scene.problem, scene.mass, momentum).outcomes;
  const char* const styles[] = {"s1", "s3"};
  for (std::size_t k = 0; k < std::min<std::size_t>(2, ends.size()); ++k) {
    const VectorX<double> v = 2.2 * scene.velocity(ends[k].momentum);
    for (Index ball = 0; ball < 3; ++ball) {
      const PlotPoint from = centres[ball];
      plot.curve({from, {from.x + v(2 * ball), from.y + v(2 * ball + 1)}}, styles[k]);
      plot.dots({{from.x + v(2 * ball), from.y + v(2 * ball + 1)}}, styles[k], 3.6);
    }
  }
  plot.curve({{-1.8, 0}, {-1.15, 0}}, "s2");
  plot.dots({{-1.15, 0}}, "s2", 3.6);
  return {title,
          {{"s2", "line", "velocity before"},
           {"s1", "line", "after, upper ball first"},
           {"s3", "line", "after, lower ball first"}},
          plot.str()};
}

/// Largest relative error of the enumerated ξ against a closed form, over the range of angles.
template <typename Expected>
double largest_error(const Expected& expected, double cue_mass) {
  double largest = 0;
  for (int quarter = 240; quarter <= 720; ++quarter) {
    const double theta = 0.25 * quarter * degree, closed = expected(theta);
    const double error = std::abs(indeterminacy_of_break(theta, cue_mass) - closed);
    largest = std::max(largest, error / std::max(closed, 0.1));
  }
  return largest;
}

}  // namespace

Experiment run_billiards_experiment() {
  Experiment experiment;
  experiment.title = "The break shot: when physics is undecided";
  experiment.play = "billiards";
  experiment.text =
      "A ball rolls head-on between two others at rest and touches both in the same instant. "
      "Which of the two is hit first? Nothing in rigid-body mechanics says, and the two answers "
      "differ by <i>ξ</i>. carom finds every outcome, and tells when there is only one: where "
      "the two contacts do not feel each other, at a right angle, for any masses and radii "
      "(Seghete and Murphey, Fig. 5).";
  experiment.panels = {make_angle_panel(), make_table_panel(60 * degree)};
  experiment.caption =
      "Zero means one outcome whatever comes first. The kink at 128.2° is where the ball hit "
      "first is hit again.";
  const double bend = std::acos((1 - std::sqrt(5.0)) / 2);
  const struct {
    const char* name;
    double theta, expected;
  } points[] = {{"60°", 60 * degree, 0.75},
                {"90°", 90 * degree, 0},
                {"120°", 120 * degree, std::sqrt(5.0) / 4},
                {"the kink, cos θ = (1 − √5)/2", bend, (std::sqrt(5.0) - 1) / 2}};
  for (const auto& p : points) {
    experiment.comparisons.push_back({std::string("ξ of the break shot at ") + p.name, "",
                                      p.expected, indeterminacy_of_break(p.theta, 1), 1e-14});
  }
  experiment.comparisons.push_back({"Largest error of ξ, 60° to 180°, equal balls", "", 0,
                                    largest_error(expected_equal, 1), 1e-14});
  experiment.comparisons.push_back({"Largest error of ξ, 60° to 180°, heavy cue ball", "", 0,
                                    largest_error(expected_heavy, heavy_cue_mass), 1e-14});
  return experiment;
}

}  // namespace carom::cli
