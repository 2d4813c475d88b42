// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/contact_graph.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "carom/contact/contact_problem.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/worst_case.hpp"

namespace contact_graph_test {

using carom::ContactEdge, carom::ContactGraph, carom::ContactIsland, carom::ContactProblem;
using carom::Index;
using carom::testing::build, carom::testing::draw_problem, carom::testing::RawContact;
using carom::testing::RawProblem, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr double any_work = 1e300;

/// Random problems of one to many islands.
template <typename Visit>
void for_each_problem(const Visit& visit) {
  VectorSource<double> source(31u);
  for (int sample = 0; sample < 40; ++sample) {
    std::vector<int> sizes;
    for (int i = 0; i < 3 + sample / 3; ++i) sizes.push_back(i % 5 == 4 ? 3 : 6);
    visit(draw_problem(source, {.sizes = sizes, .contact_count = sample}));
  }
}

/// Islands by the definition: the least label reachable through contacts; −1 without contact.
std::vector<int> reachable(const RawProblem& raw) {
  std::vector<int> label(raw.bodies.size(), -1);
  for (const RawContact& contact : raw.contacts) {
    label[std::size_t(contact.first)] = int(contact.first);
    if (contact.second >= 0) label[std::size_t(contact.second)] = int(contact.second);
  }
  for (std::size_t round = 0; round < raw.bodies.size(); ++round) {
    for (const RawContact& contact : raw.contacts) {
      if (contact.second < 0) continue;
      int& a = label[std::size_t(contact.first)];
      int& b = label[std::size_t(contact.second)];
      a = b = std::min(a, b);
    }
  }
  return label;
}

}  // namespace

TEST_CASE("contact_graph: islands are the bodies that contacts connect", "[contact][oracle]") {
  WorstCase same("islands"), slots("slots");
  int count = 0;
  for_each_problem([&](const RawProblem& raw) {
    ContactGraph graph;
    graph.analyse(build(raw), any_work);
    const std::vector<int> label = reachable(raw);
    const std::set<int> labels(label.begin(), label.end());
    bool right = Index(labels.size()) - Index(labels.count(-1)) == graph.islands().size();
    Index touched = 0;
    bool inverse = true;
    for (int body = 0; body < int(label.size()); ++body) {
      const int slot = graph.slot_of(body);
      inverse = inverse && (slot >= 0) == (label[std::size_t(body)] >= 0);
      if (slot < 0) continue;
      inverse = inverse && graph.body_at(slot) == body;
      ++touched;
    }
    for (const ContactIsland& island : graph.islands()) {
      for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
        right = right && label[std::size_t(graph.body_at(slot))] ==
                             label[std::size_t(graph.body_at(island.range.first_slot))];
      }
    }
    same.see_holds(right);
    slots.see_holds(inverse && touched == graph.slot_count());
    ++count;
  });
  same.check(count);
  slots.check(count);
}

TEST_CASE("contact_graph: every contact has one place, on the edge of its bodies",
          "[contact][law]") {
  WorstCase once("once"), edge_law("edges"), order("ordered");
  int count = 0;
  for_each_problem([&](const RawProblem& raw) {
    ContactGraph graph;
    graph.analyse(build(raw), any_work);
    std::set<int> seen;
    bool right = true, ordered = true;
    int next = 0;
    for (Index e = 0; e < graph.edges().size(); ++e) {
      const ContactEdge& edge = graph.edges()[e];
      ordered = ordered && edge.first_part == next && edge.part_end > next;
      next = edge.part_end;
      if (e > 0) {
        const ContactEdge& last = graph.edges()[e - 1];
        ordered = ordered && (last.low_slot < edge.low_slot ||
                              (last.low_slot == edge.low_slot && last.high_slot < edge.high_slot));
      }
      for (int k = edge.first_part; k < edge.part_end; ++k) {
        const RawContact& contact = raw.contacts[std::size_t(graph.part_at(k).block)];
        seen.insert(graph.part_at(k).block);
        const int a = graph.slot_of(contact.first);
        const int b = contact.second < 0 ? -1 : graph.slot_of(contact.second);
        right =
            right && (b < 0 ? edge.high_slot < 0 && edge.low_slot == a
                            : edge.low_slot == std::min(a, b) && edge.high_slot == std::max(a, b));
      }
    }
    once.see_holds(seen.size() == raw.contacts.size() && next == int(raw.contacts.size()));
    edge_law.see_holds(right);
    order.see_holds(ordered);
    ++count;
  });
  for (const WorstCase* law : {&once, &edge_law, &order}) law->check(count);
}

TEST_CASE(
    "contact_graph: friction contacts come first on an edge, in their own order, whatever came "
    "before",
    "[contact][law]") {
  VectorSource<double> source(32u);
  ContactGraph graph;  // the same for all
  WorstCase kinds("kinds"), order("ordered"), whole("all blocks");
  int count = 0, pairs = 0;
  for (int sample = 0; sample < 60; ++sample) {
    ContactProblem<double> problem(0.01);
    const int bodies = 1 + sample % 4;
    for (int b = 0; b < bodies; ++b) {
      problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
    }
    const auto draw = [&](int limit) { return Index(source.unit() * limit); };
    carom::WeightedBlock<double> rows;
    rows.set = carom::free_impulses<double>(1);
    for (int k = 0; k < 1 + sample % 7; ++k) {
      const Index first = draw(bodies), second = draw(bodies);
      const Eigen::Matrix3d jacobian = (1 + source.unit()) * Eigen::Matrix3d::Identity();
      const carom::WeightedContact<double> law{source.unit(), {0.1, 0.2}, Eigen::Vector3d::Zero()};
      const bool friction = source.unit() < 0.6, world = first == second;
      if (friction && world) problem.add_contact(first, jacobian, law);
      if (friction && !world) problem.add_contact(first, jacobian, second, jacobian, law);
      if (!friction && world) problem.add_constraint(first, jacobian.topRows(1), rows);
      if (!friction && !world) {
        problem.add_constraint(first, jacobian.topRows(1), second, jacobian.topRows(1), rows);
      }
    }
    graph.analyse(problem, any_work);
    bool right = true, ordered = true;
    std::set<int> seen;
    for (const ContactEdge& edge : graph.edges()) {
      for (int k = edge.first_part; k < edge.part_end; ++k) {
        const int block = graph.part_at(k).block;
        seen.insert(block);
        right = right && problem.is_friction_contact(block) == (k < edge.other_begin);
        if (k == edge.first_part || k >= edge.other_begin) continue;
        ++pairs;
        ordered = ordered && !carom::detail::friction_contact_precedes(problem, block,
                                                                       graph.part_at(k - 1).block);
      }
    }
    kinds.see_holds(right, sample);
    order.see_holds(ordered, sample);
    whole.see_holds(Index(seen.size()) == problem.block_count(), sample);
    ++count;
  }
  for (const WorstCase* law : {&kinds, &order, &whole}) law->check(count);
  CHECK(pairs > 20);
}

TEST_CASE("contact_graph: constraints of one pair are in one order, however they were added",
          "[contact][law]") {
  // Three rows that differ in the law or in the Jacobian only.
  const auto order_of = [](const std::vector<int>& added) {
    ContactProblem<double> problem(0.01);
    for (int b = 0; b < 2; ++b) {
      problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
    }
    for (const int k : added) {
      carom::WeightedBlock<double> rows;
      rows.set = carom::free_impulses<double>(1);
      rows.bias_velocity(0) = k == 2 ? 0.5 : 0;
      const Eigen::RowVector3d jacobian(1, k == 1 ? 2 : 1, 0);
      problem.add_constraint(0, jacobian, 1, jacobian, rows);
    }
    ContactGraph graph;
    graph.analyse(problem, any_work);
    std::vector<int> order;
    for (int k = 0; k < 3; ++k) order.push_back(added[std::size_t(graph.part_at(k).block)]);
    return order;
  };
  std::vector<int> added = {0, 1, 2};
  const std::vector<int> order = order_of(added);
  while (std::next_permutation(added.begin(), added.end())) CHECK(order_of(added) == order);
}

TEST_CASE("contact_graph: a pattern is analysed once", "[contact][example]") {
  VectorSource<double> source(7u);
  RawProblem raw = draw_problem(source, {.sizes = {6, 6, 6, 6}, .contact_count = 9});
  ContactGraph graph;
  graph.analyse(build(raw), any_work);
  CHECK(graph.analysis_count() == 1);
  raw.bodies[0].free_velocity *= 2;
  raw.contacts[3].law.friction = 0.7;
  graph.analyse(build(raw), any_work);
  raw.contacts.push_back(raw.contacts[0]);  // one more between bodies that touch already
  graph.analyse(build(raw), any_work);
  CHECK(graph.analysis_count() == 1);
  CHECK(graph.part_at(9).block >= 0);
  raw.contacts.clear();
  graph.analyse(build(raw), any_work);
  CHECK(graph.analysis_count() == 2);
  CHECK((graph.islands().empty() && graph.slot_count() == 0 && graph.slot_of(2) == -1));
}

TEST_CASE(
    "contact_graph: it is laid out anew where blocks between the same bodies are of other kinds",
    "[contact][example]") {
  carom::WeightedBlock<double> held;
  held.set = carom::free_impulses<double>(1);
  const auto make = [&](int size, int contacts, Index first) {
    ContactProblem<double> problem(0.01);
    for (int i = 0; i < 3; ++i) {
      problem.add_body(Eigen::MatrixXd::Identity(size, size), Eigen::VectorXd::Zero(size));
    }
    const Eigen::MatrixXd rows = Eigen::MatrixXd::Ones(3, size);
    for (int i = 0; i < 3; ++i) {
      if (i < contacts) {
        problem.add_contact(first, rows, first + 1, rows,
                            carom::WeightedContact<double>{0.5, {1, 1}, {0, 0, 0}});
      } else {
        problem.add_constraint(first, rows.topRows(1), first + 1, rows.topRows(1), held);
      }
    }
    return problem;
  };
  ContactGraph graph;
  const auto counts = [&](const ContactProblem<double>& problem) {
    graph.analyse(problem, any_work);
    return std::vector<int>{graph.analysis_count(), graph.layout_count()};
  };
  CHECK(counts(make(3, 2, 0)) == std::vector<int>{1, 1});
  CHECK(counts(make(3, 2, 0)) == std::vector<int>{1, 1});
  CHECK(counts(make(3, 1, 0)) == std::vector<int>{1, 2});
  CHECK(counts(make(3, 1, 1)) == std::vector<int>{2, 3});  // between other bodies
  CHECK(counts(make(4, 1, 1)) == std::vector<int>{3, 4});  // of another size
}

TEST_CASE("contact_graph: an island is direct while its factor is small enough",
          "[contact][example]") {
  VectorSource<double> source(9u);
  const RawProblem raw = draw_problem(source, {.sizes = {6, 6, 6, 6}, .contact_count = 20});
  ContactGraph graph;
  graph.analyse(build(raw), any_work);
  REQUIRE(graph.islands().size() == 1);
  CHECK(graph.islands()[0].direct);
  CHECK(graph.forest().fronts().size() > 0);
  graph.analyse(build(raw), 0);
  CHECK_FALSE(graph.islands()[0].direct);
  CHECK(graph.forest().fronts().empty());
  CHECK(graph.analysis_count() == 2);
}

}  // namespace contact_graph_test

namespace block_order_test {

using carom::ContactProblem, carom::WeightedBlock;
using carom::detail::compare_jacobians, carom::detail::compare_laws;
using carom::detail::friction_contact_precedes;
using Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector3d;

namespace {

ContactProblem<double> two_bodies() {
  ContactProblem<double> problem(0.01);
  problem.add_body(4 * Matrix3d::Identity(), Vector3d(1, 2, 3));
  problem.add_body(MatrixXd::Identity(7, 7), Eigen::VectorXd::Ones(7));
  return problem;
}

WeightedBlock<double> held(int rows) {
  WeightedBlock<double> law;
  law.set = carom::free_impulses<double>(rows);
  return law;
}

}  // namespace

TEST_CASE("block_order: blocks of one pair are ordered by what they are", "[contact][law]") {
  auto problem = two_bodies();
  const MatrixXd row = MatrixXd::Ones(1, 3), wide = MatrixXd::Ones(1, 7);
  auto biased = held(1);
  biased.bias_velocity(0) = 0.5;
  problem.add_constraint(0, row, 1, wide, held(1));
  problem.add_constraint(1, wide, 0, row, held(1));  // the same, the other way round
  problem.add_constraint(0, row, 1, wide, biased);
  problem.add_constraint(0, row, 1, 2 * wide, held(1));
  const auto compare = [&](int a, int b) {
    const auto first = problem.other_block(a), second = problem.other_block(b);
    const int laws = compare_laws(first.law(), second.law());
    return laws != 0 ? laws : compare_jacobians(first, second);
  };
  CHECK(compare(0, 1) == 0);
  for (const int other : {2, 3}) {
    CHECK(compare(0, other) == -1);
    CHECK(compare(other, 1) == 1);
  }
}

TEST_CASE("block_order: friction contacts of one pair are ordered by law, then Jacobian",
          "[contact][law]") {
  auto problem = two_bodies();
  const MatrixXd first_rows = MatrixXd::Identity(3, 3), second_rows = MatrixXd::Ones(3, 7);
  const carom::WeightedContact<double> law{0.3, {0.1, 0.2}, Vector3d(0, 0, 1)};
  carom::WeightedContact<double> later = law;
  later.bias_velocity.z() = 2;
  problem.add_contact(0, first_rows, 1, second_rows, law);
  problem.add_contact(1, second_rows, 0, first_rows, law);  // the same, the other way round
  problem.add_contact(0, first_rows, 1, second_rows, later);
  problem.add_contact(0, 2 * first_rows, 1, second_rows, law);
  CHECK(!friction_contact_precedes(problem, 0, 1));
  CHECK(!friction_contact_precedes(problem, 1, 0));
  for (const int other : {2, 3}) {
    CHECK(friction_contact_precedes(problem, 0, other));
    CHECK(!friction_contact_precedes(problem, other, 1));
  }
}

}  // namespace block_order_test
