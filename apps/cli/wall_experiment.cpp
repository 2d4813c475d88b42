// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "carom/solvers/contact_solver.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "io/number_text.hpp"
#include "scenes/masonry.hpp"

namespace carom::cli {
namespace {

using examples::BrickWall, files::format_rounded, examples::make_brick_wall, examples::RigidBlock,
    examples::RigidWorld;

/// A standing wall of bricks, and the results of its solver.
struct StandingWall {
  RigidWorld world;
  std::size_t brick_count, contact_count;
  double weight = 0;                 ///< [N]
  double carried = 0;                ///< by the ground in the last step [N]
  double fastest = 0, sunk = 0;      ///< at the end [m/s, m]
  double worst = 0;                  ///< largest natural map error of all steps
  std::vector<double> milliseconds;  ///< solve time of each step

  StandingWall(const BrickWall& wall, int steps) : world(make_brick_wall(wall)) {
    brick_count = world.blocks.size();
    contact_count = world.find_touches(world.blocks).size();
    for (const RigidBlock& block : world.blocks) weight += block.mass * earth_gravity;
    const std::vector<RigidBlock> built = world.blocks;
    for (int k = 0; k < steps; ++k) step();
    for (std::size_t i = 0; i < brick_count; ++i) {
      const RigidBlock& block = world.blocks[i];
      fastest = std::max(fastest, block.velocity.tail<3>().norm());
      sunk = std::max(sunk, (block.position - built[i].position).norm());
    }
    const auto touches = world.find_touches(world.blocks);
    for (std::size_t i = 0; i < contact_count; ++i) {
      if (touches[i].second < 0) carried += world.impulse(Index(3 * i + 2)) / world.time_step;
    }
  }

  /// The load on each brick, relative to the largest load.
  [[nodiscard]] std::vector<double> loads() const {
    std::vector<double> loads(brick_count, 0);
    const auto touches = world.find_touches(world.blocks);
    for (std::size_t i = 0; i < contact_count; ++i) {
      if (touches[i].second < 0) continue;
      loads[std::size_t(touches[i].second)] += world.impulse(Index(3 * i + 2));
    }
    const double largest = *std::max_element(loads.begin(), loads.end());
    for (double& load : loads) load /= largest;
    return loads;
  }

 private:
  ContactSolver<double> solver_{{.tolerance = 1e-8}};

  void step() {
    using Clock = std::chrono::steady_clock;
    world.step([&](const auto& problem, auto& velocity, auto& impulse) {
      const auto begin = Clock::now();
      const auto report = milliseconds.empty()
                              ? solver_.solve(problem, velocity)
                              : solver_.solve_from(problem, solver_.impulse(), velocity);
      milliseconds.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
      impulse = solver_.impulse();
      worst = std::max(worst, report.residual);
    });
  }
};

Panel make_load_panel(const StandingWall& wall, const BrickWall& shape) {
  const std::string title = "What lies on each brick";
  const double length = 2 * shape.half.x() * shape.columns,
               height = 2 * shape.half.z() * shape.rows;
  SvgPlot plot(title, {"along the wall [m]", {0, length}, {}}, {"height [m]", {0, height}, {}},
               300);
  const std::vector<double> loads = wall.loads();
  for (std::size_t i = 0; i < wall.brick_count; ++i) {
    const RigidBlock& block = wall.world.blocks[i];
    const double left = block.position.x(), half = block.mass / wall.world.blocks[0].mass;
    const double reach = half * shape.half.x() * 0.94, rise = shape.half.z() * 0.88;
    const double z = block.position.z();
    plot.area({{left - reach, z - rise},
               {left + reach, z - rise},
               {left + reach, z + rise},
               {left - reach, z + rise}},
              "load" + std::to_string(std::lround(9 * loads[i])));
  }
  return {title, {{"load1", "fill", "nearly nothing"}, {"load9", "fill", "the most"}}, plot.str()};
}

Panel make_time_panel(const StandingWall& wall) {
  const std::string title = "Time of a step’s solve, logarithmic";
  double slowest = 0, fastest = HUGE_VAL;
  for (const double time : wall.milliseconds) {
    slowest = std::max(slowest, time);
    fastest = std::min(fastest, time);
  }
  const Range exponents{std::floor(std::log10(fastest)), std::ceil(std::log10(slowest))};
  SvgPlot plot(title, {"step", {0, double(wall.milliseconds.size())}, {}},
               {"[ms]", exponents, make_decade_ticks(exponents)}, 300);
  std::vector<PlotPoint> points;
  for (const double time : wall.milliseconds) {
    points.push_back({double(points.size()) + 1, std::log10(time)});
  }
  plot.dots(points, "s2", 2.4);
  return {title, {{"s2", "dot", "one step"}}, plot.str()};
}

}  // namespace

Experiment run_wall_experiment(bool brief) {
  BrickWall shape;
  if (brief) {
    shape.columns = 11;
    shape.rows = 7;
  }
  const StandingWall wall(shape, brief ? 20 : 100);
  std::vector<double> next(wall.milliseconds.begin() + 1, wall.milliseconds.end());
  const auto median = next.begin() + std::ptrdiff_t(next.size() / 2);
  std::nth_element(next.begin(), median, next.end());
  Experiment experiment;
  experiment.title = "A wall of bricks";
  experiment.text =
      "A wall stands because nothing happens in it, which is hard to compute: " +
      std::to_string(wall.contact_count) + " corners of " + std::to_string(wall.brick_count) +
      " bricks share the load in more ways than one, and an error of any of them makes the wall "
      "creep. The contacts here are rigid and obey Coulomb’s law, without any softness. The first "
      "step starts from nothing and took " +
      format_rounded(wall.milliseconds[0], 2) +
      " ms; the next ones start from the impulses of the step before and took " +
      format_rounded(*median, 2) + " ms.";
  experiment.panels = {make_load_panel(wall, shape), make_time_panel(wall)};
  experiment.caption = "After one second in steps of 10 ms no brick has moved by more than " +
                       format_rounded(1e9 * wall.sunk, 2) +
                       " nm. Times are of this machine, in this run; each step is solved to 10⁻⁸.";
  experiment.comparisons = {
      {"Brick wall: force of the ground, the weight", "N", wall.weight, wall.carried, 1e-6},
      {"Brick wall: fastest brick at the end", "m/s", 0, wall.fastest, 1e-6},
      {"Brick wall: farthest that a brick moved", "m", 0, wall.sunk, 1e-6},
      {"Brick wall: natural map error of the worst step", "", 0, wall.worst, 1e-8}};
  return experiment;
}

}  // namespace carom::cli
