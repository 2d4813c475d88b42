// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/detail/coxeter_diagram.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace coxeter_diagram_test {

using carom::Index, carom::detail::arm_lengths, carom::detail::coxeter_type;
using carom::detail::CoxeterComponent, carom::detail::path_labels;

namespace {

/// Nodes 0, 1, 2, … in a row; labels of the edges between them.
CoxeterComponent row(const std::vector<int>& labels) {
  CoxeterComponent component;
  component.nodes.push_back(0);
  for (std::size_t k = 0; k < labels.size(); ++k) {
    component.nodes.push_back(Index(k) + 1);
    component.edges.push_back({Index(k), Index(k) + 1, labels[k]});
  }
  return component;
}

/// Three arms around node 0.
CoxeterComponent star(const std::vector<Index>& arms) {
  CoxeterComponent component;
  component.nodes.push_back(0);
  for (const Index arm : arms) {
    Index last = 0;
    for (Index k = 0; k < arm; ++k) {
      const auto next = Index(component.nodes.size());
      component.nodes.push_back(next);
      component.edges.push_back({last, next, 3});
      last = next;
    }
  }
  return component;
}

}  // namespace

TEST_CASE("coxeter_diagram: paths give their labels, other shapes none", "[impact][example]") {
  CHECK(path_labels(row({3, 4, 5})).size() == 3);
  CHECK(path_labels(row({})).empty());
  CHECK(path_labels(star({1, 1, 1})).empty());
  CoxeterComponent ring = row({3, 3});
  ring.edges.push_back({2, 0, 3});
  CHECK(path_labels(ring).empty());
}

TEST_CASE("coxeter_diagram: trees with three arms give their lengths, other shapes none",
          "[impact][example]") {
  CHECK(arm_lengths(star({4, 1, 2})) == std::vector<Index>{1, 2, 4});
  CHECK(arm_lengths(row({3, 3, 3})).empty());
  CHECK(arm_lengths(star({1, 1, 1, 1})).empty());
  CoxeterComponent strong = star({1, 1, 2});
  strong.edges.back().label = 4;
  CHECK(arm_lengths(strong).empty());
}

TEST_CASE("coxeter_diagram: finite irreducible types have their names, infinite ones none",
          "[impact][oracle]") {
  CHECK(coxeter_type(row({})) == "A1");
  CHECK(coxeter_type(row({3})) == "A2");
  CHECK(coxeter_type(row({4})) == "B2");
  CHECK(coxeter_type(row({7})) == "I2(7)");
  CHECK(coxeter_type(row({3, 3, 3})) == "A4");
  CHECK(coxeter_type(row({3, 3, 4})) == "B4");
  CHECK(coxeter_type(row({3, 4, 3})) == "F4");
  CHECK(coxeter_type(row({5, 3})) == "H3");
  CHECK(coxeter_type(row({3, 3, 5})) == "H4");
  CHECK(coxeter_type(row({5, 3, 3, 3})).empty());
  CHECK(coxeter_type(row({4, 4})).empty());
  CHECK(coxeter_type(star({1, 1, 1})) == "D4");
  CHECK(coxeter_type(star({1, 1, 5})) == "D8");
  CHECK(coxeter_type(star({1, 2, 2})) == "E6");
  CHECK(coxeter_type(star({1, 2, 4})) == "E8");
  CHECK(coxeter_type(star({1, 2, 5})).empty());
  CHECK(coxeter_type(star({2, 2, 2})).empty());
}

}  // namespace coxeter_diagram_test
