// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "carom/variational/composition.hpp"
#include "carom/variational/stepper.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/simple_systems.hpp"

namespace carom::cli {
namespace {

constexpr double true_period = 7.416298709205;  ///< 4 K(sin π/4) [s]
constexpr double true_angle = -0.946862453256;  ///< after 10 s [rad]

/// The pendulum with the energy p²/2 − cos q. It starts at rest at the angle q = π/2, where this
/// energy is zero.
struct Swing {
  double q = std::numbers::pi / 2;
  double p = 0;
  [[nodiscard]] double energy() const { return p * p / 2 - std::cos(q); }
};

using Method = std::function<void(Swing&, double)>;  ///< One step of the given length in seconds.

class Midpoint {
 public:
  void operator()(Swing& swing, double h) {
    put(swing);
    good_ = stepper_.step(state_, h).converged();
    take(swing);
  }
  void compose(Swing& swing, double h, std::span<const double> shares) {
    put(swing);
    good_ = composed_step<examples::PointPendulum>(stepper_, state_, h, shares, saved_).converged();
    take(swing);
  }

 private:
  void put(const Swing& swing) {
    state_.q(0) = swing.q;
    state_.momentum(0) = swing.p;
  }
  /// NaN is visible in each result.
  void take(Swing& swing) const {
    swing = {good_ ? state_.q(0) : std::nan(""), state_.momentum(0)};
  }

  VariationalStepper<examples::PointPendulum> stepper_{examples::PointPendulum{1, 1, 1}};
  MechanicalState<double> state_{0, VectorX<double>::Zero(1), VectorX<double>::Zero(1)};
  MechanicalState<double> saved_ = state_;
  bool good_ = true;
};

void step_euler(Swing& swing, double h) {
  swing.p -= h * std::sin(swing.q);
  swing.q += h * swing.p;
}

void step_runge_kutta(Swing& swing, double h) {
  double q = 0, p = 0;  // mean derivatives
  Swing at = swing;
  constexpr std::array<double, 4> weights{1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  constexpr std::array<double, 4> reach{0.5, 0.5, 1, 0};
  for (std::size_t k = 0; k < 4; ++k) {
    const double slope_q = at.p, slope_p = -std::sin(at.q);
    q += weights[k] * slope_q;
    p += weights[k] * slope_p;
    at = {swing.q + reach[k] * h * slope_q, swing.p + reach[k] * h * slope_p};
  }
  swing = {swing.q + h * q, swing.p + h * p};
}

Method compose(std::vector<double> shares) {
  return [midpoint = Midpoint(), shares = std::move(shares)](Swing& swing, double h) mutable {
    midpoint.compose(swing, h, shares);
  };
}
Method yoshida() {
  const auto shares = yoshida_shares<double>();
  return compose({shares.begin(), shares.end()});
}
Method suzuki() {
  const auto shares = suzuki_shares<double>();
  return compose({shares.begin(), shares.end()});
}

/// Largest |energy error| in windows of time that grow by a tenth of a decade, as logarithms.
std::vector<PlotPoint> energy_errors(const Method& method, double h, double periods) {
  std::vector<PlotPoint> points;
  Swing swing;
  double worst = 0, edge = 1;
  const auto steps = static_cast<long>(std::ceil(periods * true_period / h));
  for (long k = 1; k <= steps; ++k) {
    method(swing, h);
    worst = std::max(worst, std::abs(swing.energy()));
    const double now = double(k) * h / true_period;
    if (now < edge && k < steps) continue;
    points.push_back({std::log10(now), std::log10(worst)});
    worst = 0;
    edge *= std::pow(10.0, 0.1);
  }
  return points;
}

Panel make_energy_panel(int decades) {
  const std::string title = "Energy error over many swings, step 0.1 s";
  const Range range{-6.5, -0.5};
  const Range swings{0, double(decades)};
  SvgPlot plot(title, {"swings", swings, make_decade_ticks(swings)},
               {"energy error [J]", range, make_decade_ticks(range)});
  constexpr double h = 0.1;
  const double most = std::pow(10.0, decades);
  plot.curve(energy_errors(step_euler, h, most), "s3");
  plot.curve(energy_errors(step_runge_kutta, h, most), "s2");
  plot.curve(energy_errors(Midpoint(), h, most), "s1");
  const double bound = std::log10(h * h / 24);
  plot.curve({{0, bound}, {swings.high, bound}}, "faint dashed");
  plot.note({0.06, bound - 0.35}, "h²/24", "start", "note small");
  return {title,
          {{"s1", "line", "carom, midpoint"},
           {"s2", "line", "Runge–Kutta of order 4"},
           {"s3", "line", "semi-implicit Euler"}},
          plot.str()};
}

double angle_error(const Method& method, int steps) {
  Swing swing;
  for (int k = 0; k < steps; ++k) method(swing, 10.0 / steps);
  return std::abs(swing.q - true_angle);
}

Panel make_order_panel() {
  const std::string title = "Error of the angle after 10 s, by the step";
  const Range steps{-2.4, -0.6}, errors{-12.6, -1};
  SvgPlot plot(title,
               {"step [s]", steps, {{-2, "0.01"}, {-1.5, "0.032"}, {-1, "0.1"}, {-0.7, "0.2"}}},
               {"error [rad]", errors, make_decade_ticks(errors)});
  const Method methods[] = {Midpoint(), yoshida(), suzuki()};
  const char* const styles[] = {"s1", "s2", "s3"};
  for (std::size_t m = 0; m < 3; ++m) {
    std::vector<PlotPoint> points;
    for (const int n : {50, 70, 100, 141, 200, 283, 400, 566, 800, 1131, 1600, 2263}) {
      points.push_back({std::log10(10.0 / n), std::log10(angle_error(methods[m], n))});
    }
    plot.curve(points, styles[m]);
    plot.dots(points, styles[m], 2.6);
  }
  return {title,
          {{"s1", "line", "midpoint, order 2"},
           {"s2", "line", "three substeps (Yoshida), order 4"},
           {"s3", "line", "five substeps (Suzuki), order 4"}},
          plot.str()};
}

/// Period of a swing, from the instants at which the angle decreases through zero; cubic
/// interpolation between steps.
double period(double h) {
  Midpoint midpoint;
  Swing swing;
  double first = 0;
  for (int k = 0, crossings = 0; k < 1'000'000; ++k) {
    const Swing before = swing;
    midpoint(swing, h);
    if (!(before.q > 0 && swing.q <= 0)) continue;
    const double a = before.q, b = swing.q, m = h * before.p, n = h * swing.p;
    double s = a / (a - b);
    for (int round = 0; round < 5; ++round) {
      const double c2 = 3 * (b - a) - 2 * m - n, c3 = 2 * (a - b) + m + n;
      s -= (a + s * (m + s * (c2 + s * c3))) / (m + s * (2 * c2 + s * 3 * c3));
    }
    const double time = (k + s) * h;
    if (++crossings == 2) return time - first;
    first = time;
  }
  return std::nan("");
}

double order(const Method& method, int steps) {
  return std::log2(angle_error(method, steps) / angle_error(method, 2 * steps));
}

std::vector<Comparison> compare_energy(int steps) {
  Swing swing;
  Midpoint midpoint;
  double lowest = 0, highest = 0;
  constexpr double h = 0.01;
  for (int k = 0; k < steps; ++k) {
    midpoint(swing, h);
    const double energy = swing.energy();
    lowest = energy >= lowest ? lowest : energy;
    highest = energy <= highest ? highest : energy;
  }
  Swing fine;
  const Method best = suzuki();
  for (int k = 0; k < 2000; ++k) best(fine, 0.005);
  return {{"Pendulum: largest energy error in " + std::to_string(steps) + " steps of 0.01 s, h²/24",
           "J", h * h / 24, highest, 2e-5},
          {"Pendulum: lowest energy error of the same", "J", 0, lowest, 1e-12},
          {"Pendulum: period, extrapolated from two steps", "s", true_period,
           (4 * period(0.01) - period(0.02)) / 3, 1e-8},
          {"Pendulum: angle after 10 s, five substeps", "rad", true_angle, fine.q, 1e-10},
          {"Order of the midpoint rule", "", 2, order(Midpoint(), 1600), 1e-3},
          {"Order with Yoshida’s three substeps", "", 4, order(yoshida(), 800), 2e-2},
          {"Order with Suzuki’s five substeps", "", 4, order(suzuki(), 400), 2e-2}};
}

}  // namespace

Experiment run_energy_experiment(bool brief) {
  const int decades = brief ? 3 : 4;  // of swings
  Experiment experiment;
  experiment.title = "A pendulum that does not tire";
  experiment.text =
      "A pendulum starts at rest from the horizontal and swings for a long time, in steps of a "
      "tenth of a "
      "second. A method of order 4 is closer at first, and loses energy with every swing. The "
      "variational stepper solves the equations that a discrete action gives: its energy errs by "
      "no more than <i>h</i>²/24, however long it runs.";
  experiment.panels = {make_energy_panel(decades), make_order_panel()};
  experiment.caption =
      "Left: the largest error met in each stretch of time. Right: substeps, one of them back in "
      "time, raise the order and keep the rest.";
  experiment.comparisons = compare_energy(brief ? 20'000 : 200'000);
  return experiment;
}

}  // namespace carom::cli
