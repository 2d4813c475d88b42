// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <string>
#include <vector>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/resolve.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/order_tree.hpp"
#include "scenes/touching_balls.hpp"

namespace carom::cli {
namespace {

/// Each ball is faster than the ball before it: all contacts close.
VectorX<double> closing_speeds(Index count) {
  return VectorX<double>::LinSpaced(count, double(count - 1), 0);
}

ImpactOutcomes<double> outcomes_of(const std::vector<double>& masses) {
  const examples::ImpactScene scene = examples::ball_line(masses);
  const VectorX<double> momentum = scene.momentum(closing_speeds(scene.problem.size()));
  return enumerate_outcomes(scene.problem, scene.mass, momentum);
}

/// The tree of admissible orders of a line of balls, and the names of its ends.
struct Orders {
  ImpactOutcomes<double> outcomes;
  examples::OrderTree tree;

  explicit Orders(const std::vector<double>& masses) : outcomes(outcomes_of(masses)) {
    constexpr Index many = 1000;
    const examples::ImpactScene scene = examples::ball_line(masses);
    const VectorX<double> momentum = scene.momentum(closing_speeds(scene.problem.size()));
    tree = make_order_tree(scene, momentum, outcomes, many);
  }
};

Panel make_tree_panel(const Orders& orders, const std::string& title) {
  const examples::OrderTree& tree = orders.tree;
  const bool one = orders.outcomes.outcomes.size() == 1;
  std::vector<Tick> rows;
  for (int level = 0; level <= tree.depth(); ++level) {
    rows.push_back({double(level), std::to_string(level)});
  }
  const double columns = double(tree.order_count);
  SvgPlot plot(title,
               {"admissible orders, one column each",
                {0, columns + 1},
                {{1, "1"}, {columns, std::to_string(tree.order_count)}}},
               {"reflections", {double(tree.depth()) + 0.7, -0.4}, rows}, 340);
  const auto place = [](const examples::OrderTree::Node& node) {
    return PlotPoint{node.column, double(node.level)};
  };
  for (const auto& node : tree.nodes) {
    if (node.parent < 0) continue;
    plot.curve({place(tree.nodes[std::size_t(node.parent)]), place(node)}, "s1 thin");
  }
  for (const auto& node : tree.nodes) {
    if (node.outcome < 0) continue;
    plot.dots({place(node)}, one ? "s3" : "s2", 4);
    plot.note({node.column, double(node.level) + 0.55}, std::string(1, char('A' + node.outcome)),
              "middle", "note small");
  }
  return {
      title, {{one ? "s3" : "s2", "dot", "an end; equal letters, equal velocities"}}, plot.str()};
}

/// Count of reflections until a chain of equal balls is in order, by the resolver.
double count_reflections(Index balls) {
  const examples::ImpactScene scene =
      examples::ball_line(std::vector<double>(std::size_t(balls), 1.0));
  ImpactResolver<double> resolver;
  resolver.prepare(scene.problem);
  VectorX<double> momentum = scene.momentum(closing_speeds(balls));
  return double(resolver.resolve(scene.problem, momentum).reflections);
}

}  // namespace

Experiment run_order_experiment() {
  Experiment experiment;
  experiment.title = "Every way an impact can end";
  experiment.text =
      "Four balls in line run into each other, all contacts at once. An impact is resolved by "
      "reflections, one closing contact after another, and any closing contact may be next. With "
      "equal masses the order does not matter: the balls end sorted by speed, because the "
      "reflections form a finite Coxeter group, here <i>A</i><sub>3</sub>. With masses 1, 2, 1, 2 "
      "it does.";
  const Orders equal({1, 1, 1, 1}), unequal({1, 2, 1, 2});
  const auto counts = [](const Orders& orders) {
    return std::to_string(orders.tree.order_count) + " orders, " +
           std::to_string(orders.outcomes.outcomes.size());
  };
  experiment.panels = {
      make_tree_panel(equal, "Equal masses: " + counts(equal) + " outcome"),
      make_tree_panel(unequal, "Masses 1, 2, 1, 2: " + counts(unequal) + " outcomes")};
  experiment.caption =
      "Every path from the top is one admissible order. carom names the group where it can, so "
      "that uniqueness is certified without a search; else it lists the outcomes.";
  // An order of equal balls is a reduced word of the reversing permutation of four: 16 of them.
  experiment.comparisons = {
      {"Orders of four equal balls, reduced words of a reversal", "", 16,
       double(equal.tree.order_count), 0},
      {"Outcomes of four equal balls", "", 1, double(equal.outcomes.outcomes.size()), 0},
      {"Reflections of 100 equal balls, the number of inversions", "", 4950, count_reflections(100),
       0},
      {"Outcomes of five balls of masses 1, 2, 1, 2, 1, by other code and the symmetric one", "",
       73, double(outcomes_of({1, 2, 1, 2, 1}).outcomes.size()), 0}};
  return experiment;
}

}  // namespace carom::cli
