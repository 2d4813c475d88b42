// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/uniqueness.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/touching_balls.hpp"

namespace carom::cli {
namespace {

/// The balls come in the faster the further behind: every contact closes.
VectorX<double> closing_speeds(Index count) {
  return VectorX<double>::LinSpaced(count, double(count - 1), 0);
}

ImpactOutcomes<double> outcomes_of(const std::vector<double>& masses) {
  const examples::ImpactScene scene = examples::ball_line(masses);
  const VectorX<double> momentum = scene.momentum(closing_speeds(scene.problem.size()));
  return enumerate_outcomes(scene.problem, scene.mass, momentum);
}

/// The tree of admissible orders, laid out with one column for each order.
class OrderTree {
 public:
  struct Branch {
    PlotPoint from, to;
  };
  struct Leaf {
    PlotPoint at;
    std::size_t outcome;  ///< Index among the distinct outcomes.
  };

  explicit OrderTree(const std::vector<double>& masses)
      : scene_(examples::ball_line(masses)), outcomes_(outcomes_of(masses)) {
    static_cast<void>(grow(scene_.momentum(closing_speeds(scene_.problem.size())), 0));
  }

  [[nodiscard]] const std::vector<Branch>& branches() const noexcept { return branches_; }
  [[nodiscard]] const std::vector<Leaf>& leaves() const noexcept { return leaves_; }
  [[nodiscard]] std::size_t outcome_count() const noexcept { return outcomes_.outcomes.size(); }
  [[nodiscard]] int depth() const noexcept { return depth_; }

 private:
  /// Grows the tree below a momentum and returns its column.
  double grow(const VectorX<double>& momentum, int level) {
    depth_ = std::max(depth_, level);
    std::vector<PlotPoint> ends;
    for (Index i = 0; i < scene_.problem.contact_count(); ++i) {
      if (scene_.problem.rate(i, momentum) >= -1e-12 * scene_.norm(momentum)) continue;
      VectorX<double> next = momentum;
      reflect(scene_.problem, i, next);
      ends.push_back({grow(next, level + 1), double(level + 1)});
    }
    if (ends.empty()) {
      const double column = double(leaves_.size()) + 1;
      leaves_.push_back({{column, double(level)}, nearest_outcome(momentum)});
      return column;
    }
    const double middle = (ends.front().x + ends.back().x) / 2;
    for (const PlotPoint& end : ends) branches_.push_back({{middle, double(level)}, end});
    return middle;
  }

  [[nodiscard]] std::size_t nearest_outcome(const VectorX<double>& momentum) const {
    const auto distance = [&](const ImpactOutcome<double>& outcome) {
      return scene_.norm(outcome.momentum - momentum);
    };
    const auto nearest =
        std::min_element(outcomes_.outcomes.begin(), outcomes_.outcomes.end(),
                         [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    return std::size_t(nearest - outcomes_.outcomes.begin());
  }

  examples::ImpactScene scene_;
  ImpactOutcomes<double> outcomes_;
  std::vector<Branch> branches_;
  std::vector<Leaf> leaves_;
  int depth_ = 0;
};

Panel make_tree_panel(const OrderTree& tree, const std::string& title) {
  std::vector<Tick> rows;
  for (int level = 0; level <= tree.depth(); ++level) {
    rows.push_back({double(level), std::to_string(level)});
  }
  const double columns = double(tree.leaves().size());
  SvgPlot plot(title,
               {"admissible orders, one column each",
                {0, columns + 1},
                {{1, "1"}, {columns, std::to_string(tree.leaves().size())}}},
               {"reflections", {double(tree.depth()) + 0.7, -0.4}, rows}, 340);
  for (const auto& branch : tree.branches()) plot.curve({branch.from, branch.to}, "s1 thin");
  for (const auto& leaf : tree.leaves()) {
    plot.dots({leaf.at}, tree.outcome_count() == 1 ? "s3" : "s2", 4);
    plot.note({leaf.at.x, leaf.at.y + 0.55}, std::string(1, char('A' + leaf.outcome)), "middle",
              "note small");
  }
  return {
      title,
      {{tree.outcome_count() == 1 ? "s3" : "s2", "dot", "an end; equal letters, equal velocities"}},
      plot.str()};
}

/// Reflections until a chain of equal balls is in order, by the resolver.
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
  const OrderTree equal({1, 1, 1, 1}), unequal({1, 2, 1, 2});
  const auto count = [](std::size_t n) { return std::to_string(n); };
  experiment.panels = {
      make_tree_panel(equal, "Equal masses: " + count(equal.leaves().size()) + " orders, " +
                                 count(equal.outcome_count()) + " outcome"),
      make_tree_panel(unequal, "Masses 1, 2, 1, 2: " + count(unequal.leaves().size()) +
                                   " orders, " + count(unequal.outcome_count()) + " outcomes")};
  experiment.caption =
      "Every path from the top is one admissible order. carom names the group where it can, so "
      "that uniqueness is certified without a search; else it lists the outcomes.";
  // An order of equal balls is a reduced word of the reversing permutation of four: 16 of them.
  experiment.comparisons = {
      {"Orders of four equal balls, reduced words of a reversal", "", 16,
       double(equal.leaves().size()), 0},
      {"Outcomes of four equal balls", "", 1, double(equal.outcome_count()), 0},
      {"Reflections of 100 equal balls, the number of inversions", "", 4950, count_reflections(100),
       0},
      {"Outcomes of five balls of masses 1, 2, 1, 2, 1, by other code", "", 72,
       double(outcomes_of({1, 2, 1, 2, 1}).outcomes.size()), 0}};
  return experiment;
}

}  // namespace carom::cli
