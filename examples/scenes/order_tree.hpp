// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/reflection.hpp"

#include "scenes/touching_balls.hpp"

namespace carom::examples {

/// The tree of admissible orders of an impact: at each node any contact that still closes may
/// reflect next; where none does, the impact has ended.
struct OrderTree {
  struct Node {
    Index parent;   ///< −1 at the root.
    Index contact;  ///< that reflected last; −1 at the root.
    int level;      ///< reflections so far
    /// An end: index of its outcome. Else `inner`, or `open` where growing stopped.
    Index outcome;
    double column;  ///< place across the tree: ends count 1, 2, …, parents stand above the middle.
  };
  static constexpr Index inner = -1, open = -2;

  std::vector<Node> nodes;  ///< level by level, siblings side by side; the first is the root.
  Index order_count = 0;    ///< ends, open nodes included
  bool complete = true;     ///< no node is open.

  [[nodiscard]] int depth() const noexcept { return nodes.empty() ? 0 : nodes.back().level; }
};

namespace detail {

/// The outcome next to a momentum.
[[nodiscard]] inline Index nearest_outcome(const ImpactScene& scene,
                                           const ImpactOutcomes<double>& outcomes,
                                           const VectorX<double>& momentum) {
  Index nearest = OrderTree::open;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < outcomes.outcomes.size(); ++k) {
    const double distance = scene.norm(outcomes.outcomes[k].momentum - momentum);
    if (!(distance < least)) continue;
    least = distance;
    nearest = Index(k);
  }
  return nearest;
}

/// Gives every node its column, from the number of ends below it.
inline void lay_out(OrderTree& tree) {
  const std::size_t count = tree.nodes.size();
  std::vector<Index> ends(count, 0), first(count, 0);
  for (std::size_t k = count; k-- > 1;) {
    if (tree.nodes[k].outcome != OrderTree::inner) ends[k] = 1;
    ends[std::size_t(tree.nodes[k].parent)] += ends[k];
  }
  if (ends[0] == 0) ends[0] = 1;  // nothing closes: the root is the end
  tree.order_count = ends[0];
  std::vector<Index> taken = first;  // columns given to the children so far
  for (std::size_t k = 1; k < count; ++k) {
    const auto parent = static_cast<std::size_t>(tree.nodes[k].parent);
    first[k] = first[parent] + taken[parent];
    taken[parent] += ends[k];
  }
  std::vector<double> low(count, 0), high(count, 0);  // columns of the outermost children
  for (std::size_t k = count; k-- > 0;) {
    OrderTree::Node& node = tree.nodes[k];
    node.column = low[k] > 0 ? (low[k] + high[k]) / 2 : double(first[k]) + 1;
    if (node.parent < 0) continue;
    const auto parent = static_cast<std::size_t>(node.parent);
    low[parent] = node.column;  // children are met from the last to the first
    if (!(high[parent] > 0)) high[parent] = node.column;
  }
}

}  // namespace detail

/// Grows the tree level by level, as long as no more than `limit` orders are told apart.
/// @param outcomes  of the same impact: what its ends are called by.
/// @param limit     ≥ 1.
[[nodiscard]] inline OrderTree make_order_tree(const ImpactScene& scene,
                                               const VectorX<double>& momentum,
                                               const ImpactOutcomes<double>& outcomes,
                                               Index limit) {
  OrderTree tree;
  const double closing = -OutcomeOptions<double>{}.feasibility * scene.norm(momentum);
  std::vector<VectorX<double>> level{momentum};
  tree.nodes.push_back({-1, -1, 0, OrderTree::inner, 0});
  Index ended = 0;
  for (std::size_t begin = 0; !level.empty();) {
    std::vector<VectorX<double>> next;
    std::vector<OrderTree::Node> grown;
    Index ends = ended;
    for (std::size_t k = 0; k < level.size(); ++k) {
      OrderTree::Node& node = tree.nodes[begin + k];
      const std::size_t before = grown.size();
      for (Index i = 0; i < scene.problem.contact_count(); ++i) {
        if (!(scene.problem.rate(i, level[k]) < closing)) continue;
        next.push_back(level[k]);
        reflect(scene.problem, i, next.back());
        grown.push_back({Index(begin + k), i, node.level + 1, OrderTree::inner, 0});
      }
      if (grown.size() > before) continue;
      node.outcome = detail::nearest_outcome(scene, outcomes, level[k]);
      ++ends;
    }
    ended = ends;
    if (ended + Index(grown.size()) > limit) {
      for (std::size_t k = 0; k < level.size(); ++k) {
        OrderTree::Node& node = tree.nodes[begin + k];
        if (node.outcome == OrderTree::inner) node.outcome = OrderTree::open;
      }
      tree.complete = false;
      break;
    }
    begin = tree.nodes.size();
    tree.nodes.insert(tree.nodes.end(), grown.begin(), grown.end());
    level = std::move(next);
  }
  detail::lay_out(tree);
  return tree;
}

}  // namespace carom::examples
