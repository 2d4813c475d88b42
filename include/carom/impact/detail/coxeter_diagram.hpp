// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// An irreducible component of a Coxeter diagram: nodes, and edges with labels m ≥ 3.
struct CoxeterComponent {
  std::vector<Index> nodes;
  struct Edge {
    Index first, second;
    int label;
  };
  std::vector<Edge> edges;
};

/// Labels along a path from one of its ends; empty when the component is not a path.
[[nodiscard]] inline std::vector<int> path_labels(const CoxeterComponent& component) {
  std::vector<int> labels;
  const auto degree = [&](Index node) {
    return std::count_if(component.edges.begin(), component.edges.end(),
                         [&](const auto& e) { return e.first == node || e.second == node; });
  };
  Index at = -1;
  for (const Index node : component.nodes) {
    if (degree(node) > 2) return {};
    if (degree(node) == 1) at = node;
  }
  if (at < 0 || component.edges.size() + 1 != component.nodes.size()) return {};
  for (Index from = -1; labels.size() < component.edges.size();) {
    for (const auto& e : component.edges) {
      const Index other = e.first == at ? e.second : e.second == at ? e.first : -1;
      if (other < 0 || other == from) continue;
      labels.push_back(e.label);
      from = at;
      at = other;
      break;
    }
  }
  return labels;
}

/// Lengths of the three arms of a tree with one node of degree three and plain edges, ascending;
/// empty when the component is not of this shape.
[[nodiscard]] inline std::vector<Index> arm_lengths(const CoxeterComponent& component) {
  if (component.edges.size() + 1 != component.nodes.size()) return {};
  const auto next_of = [&](Index at, Index from) {
    std::vector<Index> others;
    for (const auto& e : component.edges) {
      if (e.first == at && e.second != from) others.push_back(e.second);
      if (e.second == at && e.first != from) others.push_back(e.first);
    }
    return others;
  };
  for (const auto& e : component.edges) {
    if (e.label != 3) return {};
  }
  for (const Index centre : component.nodes) {
    const std::vector<Index> starts = next_of(centre, -1);
    if (starts.size() < 3) continue;
    if (starts.size() > 3) return {};
    std::vector<Index> lengths;
    for (Index at : starts) {
      Index length = 1;
      for (Index from = centre;; ++length) {
        const std::vector<Index> further = next_of(at, from);
        if (further.empty()) break;
        if (further.size() > 1) return {};
        from = at;
        at = further.front();
      }
      lengths.push_back(length);
    }
    std::sort(lengths.begin(), lengths.end());
    return lengths;
  }
  return {};
}

/// Name of a finite irreducible Coxeter type, or "" when the component is not one.
[[nodiscard]] inline std::string coxeter_type(const CoxeterComponent& component) {
  const auto n = component.nodes.size();
  const std::string count = std::to_string(n);
  if (n == 1) return "A1";
  std::vector<int> labels = path_labels(component);
  if (!labels.empty()) {
    if (labels.front() < labels.back()) std::reverse(labels.begin(), labels.end());
    const int strong = *std::max_element(labels.begin(), labels.end());
    const auto strong_count =
        std::count_if(labels.begin(), labels.end(), [](int m) { return m > 3; });
    if (strong_count == 0) return "A" + count;
    if (n == 2) return strong == 4 ? "B2" : "I2(" + std::to_string(strong) + ")";
    if (strong_count > 1) return "";
    if (labels == std::vector<int>{3, 4, 3}) return "F4";
    if (labels.front() == 4) return "B" + count;
    if (labels.front() == 5 && n <= 4) return "H" + count;
    return "";
  }
  const std::vector<Index> arms = arm_lengths(component);
  if (arms.empty() || arms[0] != 1) return "";
  if (arms[1] == 1) return "D" + count;
  if (arms[1] == 2 && arms[2] >= 2 && arms[2] <= 4) return "E" + count;
  return "";
}

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
