// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/animation.hpp"
#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/disc_heap.hpp"

namespace carom::cli {
namespace {

constexpr int step_count = 520, steps_per_frame = 6;

/// A column of discs falls over between two walls, until all discs rest.
struct Fall {
  Animation picture;
  std::vector<PlotPoint> carried;  ///< by floor and walls over time [s, N]
  double weight = 0;               ///< [N]
  double fastest = 0;              ///< at the end [m/s]
  std::size_t disc_count = 0;

  explicit Fall(int row_count)
      : picture("A column of discs falls over", {-0.72, 0.72}, {-0.05, 1.08}) {
    examples::DiscHeap heap = examples::make_disc_column(row_count);
    disc_count = heap.discs.size();
    weight = heap.weight();
    const double wall = heap.half_width;
    picture.backdrop({-0.72, -0.05}, {0.72, 0}, "wall");
    picture.backdrop({-0.72, -0.05}, {-wall, 0.7}, "wall");
    picture.backdrop({wall, -0.06}, {0.72, 0.7}, "wall");
    const char* const styles[] = {"s1", "s2", "s3", "yellow"};
    for (std::size_t i = 0; i < disc_count; ++i) {
      picture.ball(2 * i, heap.discs[i].radius, styles[i % 4]);
      picture.limb({2 * i, 2 * i + 1}, "spoke");
    }
    for (int k = 0; k <= step_count; ++k) {
      if (k % steps_per_frame == 0) add_frame(heap, k * time_step);
      if (k == step_count || !heap.step()) break;
      carried.push_back({(k + 1) * time_step, heap.carried()});
    }
    fastest = heap.fastest();
  }

 private:
  static constexpr double time_step = 0.005;  ///< of the heap [s]

  void add_frame(const examples::DiscHeap& heap, double time) {
    std::vector<PlotPoint> points;
    for (const examples::Disc& disc : heap.discs) {
      const double rim = 0.9 * disc.radius;
      points.push_back({disc.x, disc.z});
      points.push_back({disc.x + rim * std::sin(disc.angle), disc.z + rim * std::cos(disc.angle)});
    }
    picture.add_frame(time, points);
  }
};

Panel make_weight_panel(const Fall& fall) {
  const std::string title = "What floor and walls carry";
  const double end = step_count * 0.005;
  SvgPlot plot(title, {"time [s]", {0, end}, {}}, {"force upwards [kN]", {0, 2.5}, {}}, 330);
  std::vector<PlotPoint> points;
  for (const PlotPoint& at : fall.carried) points.push_back({at.x, at.y / 1000});
  plot.curve(points, "s2 thin");
  plot.curve({{0, fall.weight / 1000}, {end, fall.weight / 1000}}, "s1 dashed");
  return {title, {{"s1", "dash", "the weight of all"}, {"s2", "line", "computed"}}, plot.str()};
}

/// Lowering of the upper one of three discs after half a second [m].
double sinking(double friction) {
  examples::DiscHeap heap = examples::make_three_discs(friction);
  const double before = heap.discs[2].z;
  for (int i = 0; i < 250; ++i) {
    if (!heap.step()) return std::nan("");
  }
  return before - heap.discs[2].z;
}

/// The least friction for which the three stand, by reduction of an interval to a width.
double standing_friction(double width) {
  double falls = 0.1, stands = 0.5;
  while (stands - falls > width) {
    const double middle = (falls + stands) / 2;
    (sinking(middle) > 1e-4 ? falls : stands) = middle;
  }
  return stands;
}

Panel make_three_panel(int intervals) {
  const std::string title = "Three discs, one on top: how far it falls";
  SvgPlot plot(title, {"friction μ", {0.15, 0.35}, {}}, {"after 0.5 s [mm]", {-4, 90}, {}}, 330);
  const double limit = 2 - std::sqrt(3.0);
  std::vector<PlotPoint> points;
  for (int k = 0; k <= intervals; ++k) {
    const double friction = 0.15 + 0.2 * k / intervals;
    points.push_back({friction, std::min(1e3 * sinking(friction), 90.0)});
  }
  plot.curve({{limit, -4}, {limit, 90}}, "s1 dashed");
  plot.dots(points, "s2");
  plot.note({limit + 0.004, 78}, "2 − √3", "start", "note small");
  return {
      title, {{"s1", "dash", "they stand from here on"}, {"s2", "dot", "computed"}}, plot.str()};
}

}  // namespace

Experiment run_pile_experiment(bool brief) {
  Experiment experiment;
  experiment.title = "A heap of discs";
  const Fall fall(brief ? 7 : 13);
  experiment.text =
      "The " + std::to_string(fall.disc_count) +
      " discs at the top of this page fall over, roll, wedge and come to rest: some two hundred "
      "contacts with "
      "friction in one convex problem per step. Who carries whom in a heap is hard to say; that "
      "floor and walls together carry its weight is not. Nor is when three discs stand: without "
      "friction they part, and <i>μ</i> = 2 − √3 is just enough.";
  const std::string discs = std::to_string(fall.disc_count);
  experiment.panels = {
      {discs + " discs in real time: friction 0.4, compliant contact, convex law, steps of 5 ms",
       {},
       fall.picture.str(),
       true},
      make_weight_panel(fall),
      make_three_panel(brief ? 8 : 40)};
  experiment.caption =
      "By moments about its centre each lower disc feels the same friction above and below, which "
      "asks for tan 15° = 2 − √3 of the force between the discs. Steps of 5 ms for the heap, of "
      "2 ms for the three.";
  const double last = fall.carried.empty() ? 0 : fall.carried.back().y;
  experiment.comparisons = {
      {"Heap at rest: force of floor and walls, the weight", "N", fall.weight, last, 1e-3},
      {"Heap at rest: fastest disc", "m/s", 0, fall.fastest, 1e-2},
      {"Three discs: least friction that they stand by, 2 − √3", "", 2 - std::sqrt(3.0),
       standing_friction(brief ? 1e-4 : 1e-6), 1e-3}};
  return experiment;
}

}  // namespace carom::cli
