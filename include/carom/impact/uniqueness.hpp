// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "carom/core/elementary.hpp"
#include "carom/core/scalar.hpp"
#include "carom/impact/impact_problem.hpp"

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

/// The reason why an impact has one outcome for all orders.
enum class UniquenessReason {
  orthogonal,  ///< All normals orthogonal (or one contact): reflections commute.
  dihedral,    ///< Two contacts with ⟨u, v⟩ = −cos(π/m).
  coxeter,     ///< The reflections generate a finite Coxeter group.
  unknown,     ///< Not certified: enumerate the outcomes.
};

/// The result about the outcomes of an impact that follows from the Gram matrix only.
struct Uniqueness {
  UniquenessReason reason = UniquenessReason::unknown;
  /// Type of each irreducible component, such as "A3" or "I2(5)", largest first.
  std::vector<std::string> components;

  /// Whether each momentum has a single outcome, over all admissible orders.
  [[nodiscard]] bool unique() const noexcept { return reason != UniquenessReason::unknown; }
};

/// "orthogonal", "dihedral m=4", "Coxeter A3 x A1" or "unknown".
[[nodiscard]] inline std::string to_string(const Uniqueness& uniqueness) {
  if (uniqueness.reason == UniquenessReason::unknown) return "unknown";
  if (uniqueness.reason == UniquenessReason::orthogonal) return "orthogonal";
  if (uniqueness.reason == UniquenessReason::dihedral) {
    const std::string& type = uniqueness.components.front();
    if (type == "A2") return "dihedral m=3";
    if (type == "B2") return "dihedral m=4";
    return "dihedral m=" + type.substr(3, type.size() - 4);  // "I2(m)"
  }
  std::string text = "Coxeter ";
  for (const std::string& type : uniqueness.components) {
    if (&type != &uniqueness.components.front()) text += " x ";
    text += type;
  }
  return text;
}

/// The m ≥ 2 with c = −cos(π/m), or 0 when there is none.
/// @param product    c = ⟨u, v⟩ of unit normals.
/// @param tolerance  allowance on c [-], ≥ 0.
/// @note  Real-time safe: constant work.
template <RealScalar Scalar>
[[nodiscard]] int coxeter_label(const Scalar& product, const Scalar& tolerance) noexcept {
  if (product > tolerance || product < Scalar(-1)) return 0;
  const Scalar angle = elementary::acos(product < Scalar(0) ? -product : Scalar(0));  // π/m
  if (!(angle > Scalar(0))) return 0;
  const Scalar m = std::round(std::numbers::pi_v<Scalar> / angle);
  if (!(m < Scalar(1e6))) return 0;
  const Scalar exact = -elementary::cos(std::numbers::pi_v<Scalar> / m);
  // Products for large m are close to each other: the tolerance must be below half their distance.
  const Scalar next = -elementary::cos(std::numbers::pi_v<Scalar> / (m + 1));
  const Scalar allowance = (std::min)(tolerance, (exact - next) / 4);
  return std::abs(product - exact) <= allowance ? int(m) : 0;
}

/// Certifies that an impact has one outcome for each momentum and each admissible order.
///
/// For linearly independent normals this is true exactly if each pair has ⟨u_i, u_j⟩ = −cos(π/m_ij)
/// with an integer m_ij ≥ 2. The reflections then generate a finite Coxeter group, and each
/// admissible order ends at the one point of the orbit in the closed feasible chamber.
/// @param tolerance  tolerance on the products [-], ≥ 0; 9e-10 in double, 2e-5 in float. It covers
///                   round-off in the masses. Designs with a larger difference are still nearly
///                   unique, and so are their outcomes.
/// @note  Cold: allocates, throws std::invalid_argument for a problem that is not prepared().
/// @cite  mozes1990reflection; docs/derivations/uniqueness.md
template <RealScalar Scalar>
[[nodiscard]] Uniqueness classify(
    const ImpactProblem<Scalar>& problem,
    Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon()) / 16) {
  problem.require_prepared();
  Uniqueness result;
  std::vector<std::pair<std::size_t, std::string>> ranked;  // contacts of a component, its type
  const Index count = problem.contact_count();
  std::vector<char> seen(std::size_t(count), 0);
  for (Index first = 0; first < count; ++first) {
    if (seen[std::size_t(first)] || problem.merged_into(first) >= 0) continue;
    detail::CoxeterComponent component;
    component.nodes.push_back(first);
    seen[std::size_t(first)] = 1;
    for (std::size_t k = 0; k < component.nodes.size(); ++k) {
      const Index node = component.nodes[k];
      for (const auto& [other, product] : problem.neighbours(node)) {
        const int label = coxeter_label(product, tolerance);
        if (label == 0) return {};
        if (label == 2) continue;
        if (node < other) component.edges.push_back({node, other, label});
        if (seen[std::size_t(other)]) continue;
        seen[std::size_t(other)] = 1;
        component.nodes.push_back(other);
      }
    }
    const std::string type = detail::coxeter_type(component);
    if (type.empty()) return {};
    ranked.emplace_back(component.nodes.size(), type);
  }
  std::sort(ranked.begin(), ranked.end(), std::greater<>());
  for (auto& [rank, type] : ranked) result.components.push_back(std::move(type));
  const bool all_single = std::all_of(result.components.begin(), result.components.end(),
                                      [](const std::string& type) { return type == "A1"; });
  const bool pair = result.components.size() == 1 &&
                    (result.components[0] == "A2" || result.components[0] == "B2" ||
                     result.components[0].starts_with("I2"));
  result.reason = all_single ? UniquenessReason::orthogonal
                  : pair     ? UniquenessReason::dihedral
                             : UniquenessReason::coxeter;
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
