// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cli/experiment.hpp"
#include "cli/heap_run.hpp"
#include "cli/svg_plot.hpp"
#include "io/number_text.hpp"

namespace carom::cli {
namespace {

using examples::PileShape;

/// A heap after some steps: the load on each body, and the impulse of the ground.
struct SettledHeap {
  PileShape shape;
  Index contacts = 0;
  std::vector<double> loads;       ///< on each body, relative to the largest load
  double given = 0, expected = 0;  ///< upward impulse of the ground in all steps [N s]
  double worst = 0;                ///< largest residual of all steps

  SettledHeap(Index bodies, int steps)
      : shape{.body_count = bodies}, loads(std::size_t(bodies), 0) {
    examples::Pile pile = examples::make_pile(shape);
    const VectorX<double> before = pile.guess;
    HeapRun run(shape, std::move(pile), {.law = FrictionLaw::convex});
    ThreadPool pool(1);
    contacts = run.problem().block_count();
    for (int k = 0; k < steps; ++k) {
      if (k > 0) run.advance();
      static_cast<void>(run.solve(pool));  // the residual states the accuracy
      worst = std::max(worst, run.residual());
      given += from_ground(run);
    }
    const VectorX<double> gained = run.velocity() - before;
    for (Index b = 0; b < bodies; ++b) {
      const double mass = run.problem().momentum_matrix(b)(5, 5);
      expected += mass * (earth_gravity * shape.time_step * steps + gained(6 * b + 5));
    }
    for (Index i = 0; i < contacts; ++i) {
      if (run.problem().side_count(i) < 2) continue;
      loads[std::size_t(run.problem().side_body(i, 1))] += run.impulse()(3 * i + 2);
    }
    const double largest = *std::max_element(loads.begin(), loads.end());
    for (double& load : loads) load /= largest > 0 ? largest : 1;
  }

 private:
  /// Upward impulse of the ground in a step [N s]; its normal is vertical.
  [[nodiscard]] static double from_ground(const HeapRun& run) {
    double sum = 0;
    for (Index i = 0; i < run.problem().block_count(); ++i) {
      if (run.problem().side_count(i) == 1) sum += run.impulse()(3 * i + 2);
    }
    return sum;
  }
};

/// Draws bodies in a view from the front and above, without perspective.
class HeapPicture {
 public:
  explicit HeapPicture(const SettledHeap& heap)
      : heap_(heap), places_(examples::pile_places(heap.shape)) {
    const double width = 0.1 * double(heap.shape.side());
    const double reach = width / std::sqrt(2.0) * 1.05;
    const double bottom = -0.05, top = bottom + 2 * reach * (330 - 56) / 366;
    plot_ = SvgPlot(title, {"across [m]", {-reach, reach}, {}}, {"up [m]", {bottom, top}, {}}, 330);
    for (const std::size_t body : visible()) draw(body);
  }
  [[nodiscard]] Panel panel() const {
    return {
        title, {{"load1", "fill", "nearly nothing"}, {"load9", "fill", "the most"}}, plot_.str()};
  }

 private:
  static constexpr const char* title = "What lies on each body of the heap";
  static constexpr double radius = 0.05;  // [m]

  /// Bodies at the edges of their layers and all of the highest layer, the farthest first.
  [[nodiscard]] std::vector<std::size_t> visible() const {
    std::vector<std::size_t> bodies;
    std::size_t begin = 0;
    for (Index side = heap_.shape.side(); begin < places_.size(); --side) {
      const std::size_t count = std::min(places_.size() - begin, std::size_t(side * side));
      const bool highest = begin + count == places_.size();
      for (std::size_t k = 0; k < count; ++k) {
        const Index row = Index(k) / side, column = Index(k) % side;
        const bool rim = row == 0 || column == 0 || row == side - 1 || column == side - 1;
        if (rim || highest) bodies.push_back(begin + k);
      }
      begin += count;
    }
    std::stable_sort(bodies.begin(), bodies.end(), [&](std::size_t a, std::size_t b) {
      return nearness(places_[a]) < nearness(places_[b]);
    });
    return bodies;
  }
  [[nodiscard]] static double nearness(const Vector3<double>& p) {
    return rise * p.z() - tilt * (p.x() + p.y()) / std::sqrt(2.0);
  }
  [[nodiscard]] static PlotPoint seen(const Vector3<double>& p) {
    return {(p.x() - p.y()) / std::sqrt(2.0),
            tilt * p.z() + rise * (p.x() + p.y()) / std::sqrt(2.0)};
  }
  void draw(std::size_t body) {
    const std::string load = "load" + std::to_string(std::lround(9 * heap_.loads[body]));
    const bool box = body % 4 == 3;
    std::vector<PlotPoint> outline;
    if (!box) {
      const PlotPoint centre = seen(places_[body]);
      for (int k = 0; k < corners; ++k) {
        const double angle = 2 * 3.141592653589793 * k / corners;
        outline.push_back(
            {centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
      }
      return fill(outline, load);
    }
    const auto corner = [&](double x, double y, double z) {
      return seen(places_[body] + radius * Vector3<double>(x, y, z));
    };
    fill({corner(-1, -1, 1), corner(1, -1, 1), corner(1, 1, 1), corner(-1, 1, 1)}, load);
    fill({corner(-1, -1, -1), corner(1, -1, -1), corner(1, -1, 1), corner(-1, -1, 1)}, load);
    fill({corner(-1, -1, -1), corner(-1, 1, -1), corner(-1, 1, 1), corner(-1, -1, 1)}, load);
  }
  /// Fills an outline. Bodies behind it are not visible through it.
  void fill(const std::vector<PlotPoint>& outline, const std::string& load) {
    plot_.area(outline, "opaque");
    plot_.area(outline, load);
  }

  static constexpr int corners = 16;                     // corners of a drawn circle
  static constexpr double tilt = 0.8660254, rise = 0.5;  // cosine and sine of 30° from above

  const SettledHeap& heap_;
  std::vector<Vector3<double>> places_;
  SvgPlot plot_{"", {"", {0, 1}, {}}, {"", {0, 1}, {}}};
};

/// Solve times of heaps that grow by half a decade.
struct HeapTimes {
  std::vector<PlotPoint> seconds;  ///< over the count of bodies, both as logarithms
  Index largest = 0;
  double last = 0;   ///< seconds of the largest heap
  double worst = 0;  ///< largest residual of all heaps

  explicit HeapTimes(int halves) {
    for (int k = 0; k <= halves; ++k) {
      largest = Index(std::lround(std::pow(10.0, 1 + k / 2.0)));
      const PileShape shape{.body_count = largest};
      HeapRun run(shape, examples::make_pile(shape), {.law = FrictionLaw::convex});
      ThreadPool pool(1);
      const auto begin = std::chrono::steady_clock::now();
      static_cast<void>(run.solve(pool));  // the residual states the accuracy
      last = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      seconds.push_back({1 + k / 2.0, std::log10(last)});
      worst = std::max(worst, run.residual());
    }
  }
};

Panel make_size_panel(const HeapTimes& times) {
  const std::string title = "Time of one step by the size of the heap, logarithmic";
  const double low = std::floor(times.seconds.front().y), high = std::ceil(times.seconds.back().y);
  const Range bodies{1, std::ceil(times.seconds.back().x)}, exponents{low, high};
  SvgPlot plot(title, {"bodies", bodies, make_decade_ticks(bodies)},
               {"seconds", exponents, make_decade_ticks(exponents)}, 330);
  const PlotPoint end = times.seconds.back();
  const double start = std::max(bodies.low, end.x - (end.y - low));
  plot.curve({{start, end.y - (end.x - start)}, end}, "s1 dashed");
  plot.curve(times.seconds, "s2 thin");
  plot.dots(times.seconds, "s2");
  return {title,
          {{"s1", "dash", "in proportion to the bodies"}, {"s2", "dot", "measured"}},
          plot.str()};
}

}  // namespace

Experiment run_heap_experiment(bool brief) {
  const int steps = brief ? 10 : 50;
  const SettledHeap heap(385, steps);
  const HeapTimes times(brief ? 4 : 7);
  Experiment experiment;
  experiment.title = "A heap of spheres and boxes";
  experiment.text =
      "Everything in a heap pushes on everything else, so that one step of time is one large "
      "problem. How large may it be? The heap on the left has " +
      std::to_string(heap.contacts) + " contacts of " + std::to_string(heap.shape.body_count) +
      " bodies. The one at the end of the curve has " + std::to_string(times.largest) +
      " bodies and took " + files::format_rounded(times.last, 2) +
      " s on the machine that made this page. How fast your own is, <code>carom heap --bodies "
      "10000 --law convex</code> says.";
  experiment.panels = {HeapPicture(heap).panel(), make_size_panel(times)};
  experiment.caption =
      "Compliant contact under the convex law, solved from rest to a residual of 10⁻⁸, on one "
      "thread. Times are by the clock, of one run on the machine that made this page, beside "
      "whatever else ran there; the memory of the solver is made within them. docs/performance.md "
      "has processor times of the same heaps.";
  experiment.comparisons = {
      {"Heap of spheres and boxes: impulse of the ground, the weight over time and the momentum "
       "gained",
       "N s", heap.expected, heap.given, 1e-6},
      {"Heap of spheres and boxes: residual of the worst step", "", 0,
       std::max(heap.worst, times.worst), 1.01e-8}};
  return experiment;
}

}  // namespace carom::cli
