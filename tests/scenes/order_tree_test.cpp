// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/order_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace order_tree_test {

using carom::testing::rounding;

using carom::Index;
using carom::VectorX;
using carom::examples::ImpactScene;
using carom::examples::OrderTree;

namespace {

struct Line {
  ImpactScene scene;
  VectorX<double> momentum;
  carom::ImpactOutcomes<double> outcomes;

  /// Balls in line, the faster the further behind.
  explicit Line(const std::vector<double>& masses)
      : scene(carom::examples::ball_line(masses)),
        momentum(scene.momentum(
            VectorX<double>::LinSpaced(Index(masses.size()), double(masses.size()) - 1, 0))),
        outcomes(enumerate_outcomes(scene.problem, scene.mass, momentum)) {}

  [[nodiscard]] OrderTree tree(Index limit = 1000) const {
    return make_order_tree(scene, momentum, outcomes, limit);
  }
};

/// The contacts from the root down to a node.
std::vector<Index> order_of(const OrderTree& tree, Index node) {
  std::vector<Index> order;
  for (Index at = node; tree.nodes[std::size_t(at)].parent >= 0;
       at = tree.nodes[std::size_t(at)].parent) {
    order.insert(order.begin(), tree.nodes[std::size_t(at)].contact);
  }
  return order;
}

}  // namespace

TEST_CASE("order_tree: four equal balls have the sixteen reduced words of a reversal",
          "[scenes][example]") {
  const OrderTree tree = Line({1, 1, 1, 1}).tree();
  CHECK(tree.complete);
  CHECK(tree.order_count == 16);
  CHECK(tree.depth() == 6);
  CHECK(Line({1, 1, 1, 1, 1}).tree().order_count == 768);
}

TEST_CASE("order_tree: every path is an admissible order and leads to the outcome it names",
          "[scenes][oracle]") {
  const Line line({1, 2, 1, 2});
  const OrderTree tree = line.tree();
  std::set<std::vector<Index>> orders;
  std::set<Index> outcomes;
  Index ends = 0;
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    const OrderTree::Node& node = tree.nodes[k];
    if (node.outcome == OrderTree::inner) continue;
    ++ends;
    VectorX<double> momentum = line.momentum;
    const std::vector<Index> order = order_of(tree, Index(k));
    REQUIRE(Index(order.size()) == node.level);
    for (const Index contact : order) {
      REQUIRE(line.scene.problem.rate(contact, momentum) < 0);
      reflect(line.scene.problem, contact, momentum);
    }
    CHECK(line.scene.rates(momentum).minCoeff() > -rounding(5000, 1.0));
    const auto& named = line.outcomes.outcomes[std::size_t(node.outcome)].momentum;
    CHECK(line.scene.norm(momentum - named) < rounding(5000, 1.0) * line.scene.norm(momentum));
    orders.insert(order);
    outcomes.insert(node.outcome);
  }
  CHECK(ends == tree.order_count);
  CHECK(Index(orders.size()) == ends);
  CHECK(outcomes.size() == line.outcomes.outcomes.size());
}

TEST_CASE("order_tree: ends have the columns 1, 2, ... and parents stand above their children",
          "[scenes][law]") {
  const OrderTree tree = Line({1, 2, 1, 2}).tree();
  std::vector<double> columns;
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    const OrderTree::Node& node = tree.nodes[k];
    if (node.outcome != OrderTree::inner) {
      columns.push_back(node.column);
      continue;
    }
    double low = 1e9, high = 0;
    for (const OrderTree::Node& other : tree.nodes) {
      if (other.parent != Index(k)) continue;
      low = std::min(low, other.column);
      high = std::max(high, other.column);
    }
    CHECK(node.column == (low + high) / 2);
  }
  std::sort(columns.begin(), columns.end());
  for (std::size_t k = 0; k < columns.size(); ++k) CHECK(columns[k] == double(k + 1));
}

TEST_CASE("order_tree: growing stops before a limit and leaves open nodes", "[scenes][example]") {
  const Line line({1, 1, 1, 1, 1, 1});
  const OrderTree tree = line.tree(100);
  CHECK_FALSE(tree.complete);
  CHECK(tree.order_count <= 100);
  CHECK(tree.order_count > 20);
  for (const OrderTree::Node& node : tree.nodes) CHECK(node.outcome < 0);  // all 15 deep
  const auto is_open = [](const auto& node) { return node.outcome == OrderTree::open; };
  CHECK(std::count_if(tree.nodes.begin(), tree.nodes.end(), is_open) == tree.order_count);
}

TEST_CASE("order_tree: where nothing closes the root is the end", "[scenes][example]") {
  Line line({1, 1, 1});
  line.momentum << 0, 1, 2;
  line.outcomes = enumerate_outcomes(line.scene.problem, line.scene.mass, line.momentum);
  const OrderTree tree = line.tree();
  REQUIRE(tree.nodes.size() == 1);
  CHECK(tree.nodes[0].outcome == 0);
  CHECK(tree.nodes[0].column == 1);
  CHECK(tree.order_count == 1);
  CHECK(tree.complete);
}

}  // namespace order_tree_test
