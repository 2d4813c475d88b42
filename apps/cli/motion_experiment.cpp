// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "carom/impact/plastic.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/variational/impact_stepper.hpp"
#include "carom/variational/stepper.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/rocking_block.hpp"
#include "scenes/simple_systems.hpp"

namespace carom::cli {
namespace {

VectorX<double> pair(double a, double b) {
  return Eigen::Vector2d(a, b);
}

/// A ball that starts at rest 1 m above the floor, until it rests on the floor.
struct Bounces {
  std::vector<PlotPoint> heights;
  std::vector<double> times;  ///< of the impacts [s]

  explicit Bounces(double restitution, double end) {
    ImpactStepper<examples::BouncingBall, RestitutionImpact<double>> stepper(
        {}, RestitutionImpact<double>(restitution));
    MechanicalState<double> state{0, VectorX<double>::Ones(1), VectorX<double>::Zero(1)};
    constexpr double h = 0.01;
    heights.push_back({0, 1});
    while (state.time < end && stepper.step(state, h).converged()) {
      for (const auto& event : stepper.events()) {
        times.push_back(event.time);
        heights.push_back({event.time, 0});
      }
      heights.push_back({state.time, state.q(0)});
    }
  }
  /// Limit of the times of the impacts, which converge as a geometric series [s].
  [[nodiscard]] double end() const {
    if (times.size() < 6) return std::nan("");
    const double first = times[4] - times[3], second = times[5] - times[4];
    return times[5] + second * second / (first - second);
  }
};

const double first_fall = std::sqrt(2 / earth_gravity);

/// t_k = t₁ (1 + 2 Σ e^j), j = 1 … k − 1.
double expected_bounce(double e, int k) {
  return first_fall * (1 + 2 * e * (1 - std::pow(e, k - 1)) / (1 - e));
}

Panel make_bounce_panel() {
  const std::string title = "A ball bounces without end in a finite time";
  SvgPlot plot(title, {"time [s]", {0, 4.6}, {}}, {"height [m]", {0, 1.05}, {}});
  const double shares[] = {0.8, 0.5};
  const char* const styles[] = {"s1", "s2"};
  for (std::size_t k = 0; k < 2; ++k) {
    const double e = shares[k];
    plot.curve(Bounces(e, 4.5).heights, styles[k]);
    const double last = first_fall * (1 + e) / (1 - e);
    plot.dots({{last, 0}}, "s3 ring", 5);
  }
  return {title,
          {{"s1", "line", "R = 0.8"},
           {"s2", "line", "R = 0.5"},
           {"s3", "ring", "end of all bounces, t₁ (1 + R)/(1 − R)"}},
          plot.str()};
}

struct Orbit {
  std::vector<PlotPoint> path;
  double momentum_error = 0;  ///< of the angular momentum, which is 0.8 [-]

  Orbit(double h, int turns) {
    VariationalStepper<examples::KeplerOrbit> stepper{examples::KeplerOrbit{}};
    auto state = stepper.make_state(pair(0.4, 0), pair(0, 2));
    path.push_back({0.4, 0});
    while (state.time < 2 * std::numbers::pi * turns && stepper.step(state, h).converged()) {
      path.push_back({state.q(0), state.q(1)});
      const double spin = state.q(0) * state.momentum(1) - state.q(1) * state.momentum(0);
      const double error = std::abs(spin / 0.8 - 1);
      momentum_error = error <= momentum_error ? momentum_error : error;
    }
  }
};

Panel make_orbit_panel() {
  const std::string title = "Three turns of a planet, 100 steps each";
  SvgPlot plot(title, {"x", {-1.9, 1.5}, {}}, {"y", {-1.18, 1.18}, {}});
  std::vector<PlotPoint> ellipse;
  for (int d = 0; d <= 360; d += 3) {
    const double angle = d * std::numbers::pi / 180;
    ellipse.push_back({std::cos(angle) - 0.6, 0.8 * std::sin(angle)});
  }
  const Orbit orbit(2 * std::numbers::pi / 100, 3);
  plot.curve(ellipse, "s3 dashed");
  plot.curve(orbit.path, "s1 thin");
  plot.dots(orbit.path, "s1", 2.2);
  plot.dots({{0, 0}}, "s2", 5);
  return {
      title, {{"s1", "line", "carom"}, {"s3", "dash", "ellipse of eccentricity 0.6"}}, plot.str()};
}

/// Ratio of the angular velocities when a rocking block changes from one corner to the other: the
/// momentum is projected onto motions in which the new corner does not move.
double rocking_ratio(const examples::RockingBlock& block) {
  const double b = block.width / 2, h = block.height / 2;
  const double inertia = block.mass * (b * b + h * h) / 3;
  const auto mass =
      MassMatrix<double>::make_diagonal(Eigen::Vector3d(block.mass, block.mass, inertia));
  ImpactProblem<double> problem(3);  // (x, y, angle); the corners are at (±b, −h)
  problem.add_contact(mass, Eigen::Vector3d(1, 0, h));
  problem.add_contact(mass, Eigen::Vector3d(0, 1, b));
  problem.prepare();
  PlasticImpact<double> plastic(PlasticLaw::bilateral);
  plastic.prepare(problem);
  VectorX<double> momentum = mass.momentum(Eigen::Vector3d(h, -b, -1));
  static_cast<void>(plastic.resolve(problem, momentum));
  return -momentum(2) / inertia;
}

/// A mass on a spring, ω = 3/s, after many steps of two thirds of a radian each.
Comparison compare_oscillator() {
  VariationalStepper<examples::SpringMass> stepper(examples::SpringMass{2, 18});
  auto state = stepper.make_state(VectorX<double>::Ones(1), VectorX<double>::Zero(1));
  constexpr double h = 0.2;
  constexpr int steps = 1000;
  for (int k = 0; k < steps; ++k) {
    if (!stepper.step(state, h).converged()) state.q(0) = std::nan("");
  }
  return {"Oscillator after 1000 steps: cos 1000Ωh, tan(Ωh/2) = ωh/2", "m",
          std::cos(2 * steps * std::atan(3 * h / 2)), state.q(0), 1e-10};
}

std::vector<Comparison> compare_motion() {
  std::vector<Comparison> comparisons{compare_oscillator()};
  for (const double e : {0.8, 0.5}) {
    const Bounces bounces(e, 4.5);
    const std::string at = ", R = " + label_text(e);
    const auto time = [&](std::size_t k) {
      return k < bounces.times.size() ? bounces.times[k] : std::nan("");
    };
    comparisons.push_back({"Bouncing ball, impact 1" + at, "s", first_fall, time(0), 1e-12});
    comparisons.push_back(
        {"Bouncing ball, impact 6" + at, "s", expected_bounce(e, 6), time(5), 1e-12});
    comparisons.push_back({"Bouncing ball, end of all bounces, from three of them" + at, "s",
                           first_fall * (1 + e) / (1 - e), bounces.end(), 1e-9});
  }
  comparisons.push_back({"Kepler: change of the angular momentum in 200 turns", "", 0,
                         Orbit(2 * std::numbers::pi / 60, 200).momentum_error, 1e-12});
  for (const double width : {0.1, 0.2, 0.4}) {
    const examples::RockingBlock block{width, 1};
    const double alpha = std::atan(width);
    comparisons.push_back(
        {"Rocking block, 1 × " + label_text(width) + " m: rate after over before, 1 − 1.5 sin²α",
         "", 1 - 1.5 * std::pow(std::sin(alpha), 2), rocking_ratio(block), 1e-14});
  }
  return comparisons;
}

}  // namespace

Experiment run_motion_experiment() {
  Experiment experiment;
  experiment.title = "Motion with known answers";
  experiment.text =
      "A bouncing ball comes to rest after infinitely many impacts, and a program has to get past "
      "them; carom finds each to rounding and holds the ball down once a bounce is shorter than "
      "the step can tell. A planet keeps its angular momentum, at steps so long that the picture "
      "shows them.";
  experiment.panels = {make_bounce_panel(), make_orbit_panel()};
  experiment.caption =
      "The ellipse turns, by which a step of order 2 errs; its size and shape stay from turn to "
      "turn.";
  experiment.comparisons = compare_motion();
  return experiment;
}

}  // namespace carom::cli
