// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

#include "carom/batch/batch_pattern.hpp"
#include "carom/contact/contact_problem.hpp"

namespace carom::ensemble {

/// The contact graph of an island with the count of contacts per pair; the last column is the
/// ground.
struct IslandGraph {
  static constexpr int most_bodies = 6, ground = most_bodies;
  /// Indices of bodies, each once.
  using Order = std::array<signed char, most_bodies>;

  int bodies = 0;
  bool rigid = false;
  std::array<std::array<signed char, most_bodies + 1>, most_bodies> contacts{};
  auto operator<=>(const IslandGraph&) const = default;

  /// The graph whose body i is body order[i] of this graph.
  [[nodiscard]] IslandGraph in(const Order& order) const;
};

/// A pattern of islands, its graph, and for each i the body of an island's graph that is the i-th
/// body of the pattern.
struct IslandKind {
  int pattern = 0;
  IslandGraph graph;
  IslandGraph::Order order{};
};

/// The patterns of islands, one for all graphs that differ only in the numbering of bodies:
/// contacts body by body, first those with the ground.
class IslandKinds {
 public:
  static constexpr int size = 6, rows = 3;  ///< of a body, of a contact
  [[nodiscard]] const IslandKind& of(const IslandGraph& graph);
  [[nodiscard]] const BatchPattern* patterns() const noexcept { return patterns_.data(); }
  [[nodiscard]] int count() const noexcept { return int(patterns_.size()); }

 private:
  [[nodiscard]] int pattern_of(const IslandGraph& graph);

  std::map<IslandGraph, IslandKind> kinds_;
  std::map<IslandGraph, int> numbers_;
  std::vector<BatchPattern> patterns_;
};

// --- implementation ---

inline IslandGraph IslandGraph::in(const Order& order) const {
  IslandGraph result = *this;
  for (int a = 0; a < bodies; ++a) {
    const auto& from = contacts[std::size_t(order[std::size_t(a)])];
    auto& to = result.contacts[std::size_t(a)];
    for (int b = 0; b < bodies; ++b) to[std::size_t(b)] = from[std::size_t(order[std::size_t(b)])];
    to[ground] = from[ground];
  }
  return result;
}

/// The pattern of a graph: the least graph of all numberings of its bodies.
inline const IslandKind& IslandKinds::of(const IslandGraph& graph) {
  const auto [place, is_new] = kinds_.try_emplace(graph);
  IslandKind& kind = place->second;
  if (!is_new) return kind;
  IslandGraph::Order order{};
  std::iota(order.begin(), order.end(), (signed char)(0));
  kind.graph = graph;
  kind.order = order;
  do {
    const IslandGraph other = graph.in(order);
    if (other < kind.graph) kind.graph = other, kind.order = order;
  } while (std::next_permutation(order.begin(), order.begin() + graph.bodies));
  kind.pattern = pattern_of(kind.graph);
  return kind;
}

inline int IslandKinds::pattern_of(const IslandGraph& graph) {
  const auto [place, is_new] = numbers_.try_emplace(graph, int(patterns_.size()));
  if (!is_new) return place->second;
  ContactProblem<double> problem(1);
  const Eigen::Matrix<double, rows, size> ones = Eigen::Matrix<double, rows, size>::Ones();
  for (int b = 0; b < graph.bodies; ++b) {
    problem.add_body(SquareMatrix<double, size>::Identity(), Vector<double, size>::Zero());
  }
  const WeightedContact<double> law{0, {1, 1}, Vector3<double>::Zero(), graph.rigid};
  for (int a = 0; a < graph.bodies; ++a) {
    const auto& counts = graph.contacts[std::size_t(a)];
    for (int i = 0; i < counts[IslandGraph::ground]; ++i) problem.add_contact(a, ones, law);
    for (int b = a + 1; b < graph.bodies; ++b) {
      for (int i = 0; i < counts[std::size_t(b)]; ++i) problem.add_contact(a, ones, b, ones, law);
    }
  }
  patterns_.emplace_back(problem);
  return place->second;
}

}  // namespace carom::ensemble
