// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/animation.hpp"
#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/trex_drop.hpp"

namespace carom::cli {
namespace {

constexpr double least = 1e-17;  ///< Start of the axis of the picture.

/// Two copies of a robot from the drop on. They resolve impacts in opposite order.
struct Pair {
  examples::TrexStance stance;
  std::vector<examples::TrexSample> samples;

  Pair(const examples::TrexStance& given, double duration) : stance(given) {
    examples::TrexDropOptions options;
    options.time_step = 5e-4;
    options.duration = duration;
    samples = examples::compare_trex_orders(stance, options);
  }
};

examples::TrexStance make_optimum() {
  examples::TrexStance stance = examples::trex_initial();
  static_cast<void>(examples::optimize_trex(stance));
  return stance;
}

/// A number of both copies over time, for three stances.
Panel make_difference_panel(const std::string& title, const std::string& label,
                            double examples::TrexSample::*number,
                            const std::vector<const Pair*>& pairs) {
  const Range range{std::log10(least), 0.5};
  SvgPlot plot(title, {"time [s]", {0.15, 0.46}, {}}, {label, range, make_decade_ticks({-16, 0})},
               330);
  const char* const styles[] = {"s2 thin", "s3 thin", "s1 thin"};
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    std::vector<PlotPoint> points;
    for (const examples::TrexSample& sample : pairs[k]->samples) {
      if (sample.impacts == 0) continue;
      if (points.empty()) points.push_back({sample.time, range.low});
      points.push_back({sample.time, std::log10(std::max(sample.*number, least))});
    }
    plot.curve(points, styles[k]);
  }
  return {title,
          {{"s2", "line", "straight legs"},
           {"s3", "line", "the paper’s first stance"},
           {"s1", "line", "optimised stance"}},
          plot.str()};
}

/// The shape of a robot: two spheres, two legs, a tail.
class RobotShape {
 public:
  explicit RobotShape(const examples::TrexStance& stance)
      : trex_(stance.shape, stance.q, examples::TrexJoints::loose()), shape_(stance.shape) {}

  void add_to(Animation& picture, std::size_t first, const std::string& style) const {
    picture.limb({first, first + 3, first + 4}, style + " far");
    picture.limb({first + 1, first + 6}, style);
    picture.ball(first, shape_.front_radius, style + " body");
    picture.ball(first + 1, shape_.rear_radius, style + " body");
    picture.limb({first, first + 2, first + 5}, style);
  }
  /// Hip, rear centre, right knee, left knee, left foot, right foot, tip of the tail.
  void write(const VectorX<double>& q, std::vector<PlotPoint>& out) const {
    const auto put = [&](Index body, double along) {
      const auto place = trex_.point(q, body, {along, 0});
      out.push_back({place(0), place(1)});
    };
    put(0, 0);
    put(5, 0);
    put(1, shape_.upper_leg);
    put(3, shape_.upper_leg);
    put(4, shape_.lower_leg);
    put(2, shape_.lower_leg);
    put(5, shape_.tail_length());
  }

 private:
  examples::Trex trex_;
  examples::TrexShape shape_;
};

Panel make_drop_panel(const std::string& title, const Pair& pair) {
  Animation picture(title, {-0.26, 0.4}, {-0.06, 0.47});
  picture.line({-0.26, 0}, {0.4, 0}, "frame");
  const RobotShape shape(pair.stance);
  shape.add_to(picture, 7, "s2");
  shape.add_to(picture, 0, "s1");
  for (std::size_t k = 0; k < pair.samples.size(); k += 4) {
    std::vector<PlotPoint> points;
    shape.write(pair.samples[k].q_a, points);
    shape.write(pair.samples[k].q_b, points);
    picture.add_frame(pair.samples[k].time, points);
  }
  return {title, {{"s1", "line", "foot first"}, {"s2", "line", "tail first"}}, picture.str()};
}

/// ξ at the end of a step that ends just after the landing; NaN if there is a fault.
double landing_indeterminacy(const examples::TrexStance& stance) {
  examples::TrexDropOptions options;
  options.time_step = std::sqrt(2 * options.drop / earth_gravity) / 20 * (1 + 1e-9);
  options.duration = 20 * options.time_step;
  const auto samples = examples::compare_trex_orders(stance, options);
  const bool landed = samples.size() == 20 && samples.back().impacts == 2;
  return landed ? samples.back().indeterminacy : std::nan("");
}

std::vector<Comparison> compare_trex(const Pair& best, const Pair& straight) {
  const double product = normal_product(examples::trex_contacts_of(best.stance));
  const double apart = landing_indeterminacy(straight.stance);
  const double together = landing_indeterminacy(best.stance);
  return {{"Optimised stance: ⟨u, v⟩ of foot and tail", "", 0, product, 1e-14},
          {"Straight legs: ξ of the landing in time, by enumeration without time", "",
           examples::trex_landings(straight.stance).indeterminacy, apart, 1e-6},
          {"Straight legs: ξ of the landing", "", 0.2857285, apart, 1e-6},
          {"Optimised stance: ξ of the landing", "", 0, together, 1e-13},
          {"ξ of the landing, optimised over straight", "", 0, together / apart, 1e-5}};
}

}  // namespace

Experiment run_trex_experiment(bool brief) {
  const double duration = brief ? 0.21 : 0.45;  // of a drop [s]
  Experiment experiment;
  experiment.title = "A robot designed so that its landing is decided";
  experiment.text =
      "A running robot with a tail is dropped from 17 cm and lands on a foot and its tail in the "
      "same instant. Two copies resolve every impact in opposite order of contacts. Straight legs "
      "send them apart at once. A few Newton steps move the stance to one whose contacts do not "
      "feel each other, ⟨<i>u</i>, <i>v</i>⟩ = 0, and the copies land as one (Seghete and "
      "Murphey, section VII-B and Fig. 8).";
  const Pair best(make_optimum(), duration), straight(examples::trex_straight(), duration);
  const Pair initial(examples::trex_initial(), duration);
  const std::vector<const Pair*> pairs{&straight, &initial, &best};
  experiment.panels = {
      make_drop_panel("Optimised stance", best), make_drop_panel("Straight legs", straight),
      make_difference_panel("How far apart the velocities are", "ξ, relative to the landing",
                            &examples::TrexSample::indeterminacy, pairs),
      make_difference_panel("How far apart the places are", "largest difference [m, rad]",
                            &examples::TrexSample::distance, pairs)};
  experiment.caption =
      "Some seventeen times slower than life; only feet and tail touch the ground in this model. "
      "Differences below 10<sup>−17</sup>, none at all included, "
      "are drawn there. After the landing the light foot bounces thousands of times under its "
      "springs, and each bounce stretches what rounding left: that growth is the robot’s own.";
  experiment.comparisons = compare_trex(best, straight);
  return experiment;
}

}  // namespace carom::cli
