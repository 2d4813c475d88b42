// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/equivalent_contacts.hpp"

#include <algorithm>
#include <numeric>

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/landing_scenes.hpp"

namespace equivalent_contacts_test {

using namespace carom::testing;
using carom::EquivalentContacts, carom::Index, carom::VectorX;

namespace {

using Groups = std::vector<std::vector<Index>>;

/// All groups of more than one contact, in the order of their first ones.
Groups groups_of(const ImpactScene& scene, const VectorX<double>& rates) {
  EquivalentContacts<double> equivalent;
  equivalent.prepare(scene.problem.contact_count());
  const bool any =
      equivalent.split(scene.problem, {rates.data(), std::size_t(rates.size())}, 1e-14);
  Groups result;
  for (Index i = 0; i < rates.size(); ++i) {
    const auto group = equivalent.group_of(i);
    if (group.size() > 1 && group.front() == i) result.emplace_back(group.begin(), group.end());
    for (const Index j : group) CHECK(equivalent.same(i, j));
  }
  CHECK(any == !result.empty());
  return result;
}

Groups groups_of(const LandingBody& body, const VectorX<double>& velocity) {
  const ImpactScene scene = body.scene();
  return groups_of(scene, scene.rates(scene.momentum(velocity)));
}

/// The plain way: compare every contact with every other by the sums over all groups, again and
/// again.
Groups groups_by_comparison(const ImpactScene& scene, const VectorX<double>& rates) {
  const carom::MatrixX<double> gram = scene.problem.gram();
  const Index count = rates.size();
  std::vector<Index> group(std::size_t(count), 0);
  Index groups = 0;
  for (Index before = -1; groups != before;) {
    before = groups;
    carom::MatrixX<double> sums = carom::MatrixX<double>::Zero(count, count + 1);
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < count; ++j) sums(i, group[std::size_t(j)]) += gram(i, j);
      sums(i, count) = rates(i);
    }
    std::vector<Index> next(std::size_t(count), -1);
    groups = 0;
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < i && next[std::size_t(i)] < 0; ++j) {
        const bool same = group[std::size_t(i)] == group[std::size_t(j)] &&
                          (sums.row(i) - sums.row(j)).cwiseAbs().maxCoeff() < 1e-10;
        if (same) next[std::size_t(i)] = next[std::size_t(j)];
      }
      if (next[std::size_t(i)] < 0) next[std::size_t(i)] = groups++;
    }
    group = next;
  }
  Groups all(static_cast<std::size_t>(groups));
  for (Index i = 0; i < count; ++i) all[std::size_t(group[std::size_t(i)])].push_back(i);
  std::erase_if(all, [](const auto& one) { return one.size() < 2; });
  return all;
}

}  // namespace

TEST_CASE("equivalent_contacts: feet at equal distances are one group, whatever the scale",
          "[impact][law]") {
  for (const double scale : {1e-6, 1.0, 1e5}) {
    for (const int corners : {2, 3, 4, 5, 7}) {
      LandingBody body{.points = polygon(corners, 0.3 * scale, 0.4)};
      body.inertia *= scale * scale;
      body.height *= scale;
      body.turned = Eigen::Quaterniond(0.3, -0.5, 0.7, 0.1).normalized();
      CAPTURE(scale, corners);
      const Groups groups = groups_of(body, body.falling(3 * scale));
      REQUIRE(groups.size() == 1);
      CHECK(groups[0].size() == std::size_t(corners));
    }
  }
}

TEST_CASE("equivalent_contacts: corners, edges and a middle are groups of their own",
          "[impact][example]") {
  LandingBody body{.points = rectangle(0.5, 0.5)};
  for (const Eigen::Vector2d& point : polygon(4, 0.5)) body.points.push_back(point);
  body.points.emplace_back(0, 0);
  CHECK(groups_of(body, body.falling(1)) == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  // With a long box the two pairs of edges differ.
  body.inertia = {0.1, 0.3, 0.3};
  CHECK(groups_of(body, body.falling(1)) == Groups{{0, 1, 2, 3}, {4, 6}, {5, 7}});
}

TEST_CASE("equivalent_contacts: what moves or weighs otherwise is told apart",
          "[impact][example]") {
  LandingBody body{.points = rectangle(0.5, 0.4)};
  VectorX<double> velocity = body.falling(1);
  velocity(3) = 1e-3;  // it tips to one side
  CHECK(groups_of(body, velocity) == Groups{{0, 2}, {1, 3}});
  velocity(4) = 2e-3;
  CHECK(groups_of(body, velocity).empty());
  body.points[2].x() *= 1.001;
  CHECK(groups_of(body, body.falling(1)).empty());
  // Equal rates, unequal neighbours: a line of balls struck from one side.
  const ImpactScene line = ball_line({1, 1, 1, 1, 1, 1});
  CHECK(groups_of(line, vector_of({-1, 0, 0, 0, 0})).empty());
  CHECK(groups_of(line, vector_of({-1, 0, 0, 0, -1})) == Groups{{0, 4}, {1, 3}});
  CHECK(groups_of(line, vector_of({-1, -1, -1, -1, -1})) == Groups{{0, 4}, {1, 3}});
  CHECK(groups_of(ball_line({1, 2, 1, 1, 1, 1}), vector_of({-1, 0, 0, 0, -1})).empty());
}

TEST_CASE("equivalent_contacts: a contact that repeats another is none", "[impact][example]") {
  LandingBody body{.points = rectangle(0.5, 0.5)};
  body.points.push_back(body.points[0]);
  CHECK(groups_of(body, body.falling(1)) == Groups{{0, 1, 2, 3}});
  EquivalentContacts<double> equivalent;
  equivalent.prepare(5);
  const ImpactScene scene = body.scene();
  const VectorX<double> rates = scene.rates(scene.momentum(body.falling(1)));
  CHECK(equivalent.split(scene.problem, {rates.data(), 5}, 0));
  CHECK(equivalent.group_of(4).empty());
  CHECK(!equivalent.same(4, 4));
}

TEST_CASE("equivalent_contacts: the groups are those of plain comparison, in every order",
          "[impact][oracle]") {
  VectorSource<double> source(191u);
  int split = 0;
  for (int round = 0; round < 300; ++round) {
    const Index count = 2 + round % 9;
    // Few different products and rates, so that many contacts are equivalent.
    carom::MatrixX<double> gram = carom::MatrixX<double>::Identity(count, count);
    VectorX<double> rates(count);
    for (Index i = 0; i < count; ++i) {
      rates(i) = round % 2 == 0 ? -1 : -1 - std::floor(1.3 * source.unit());
      for (Index j = 0; j < i; ++j) {
        gram(i, j) = gram(j, i) = source.unit() < 0.4 ? -0.09 : 0.0;
      }
    }
    const ImpactScene scene = gram_scene(gram);
    const Groups groups = groups_of(scene, rates);
    CAPTURE(round, gram, rates);
    CHECK(groups == groups_by_comparison(scene, rates));
    split += groups.empty() ? 0 : 1;
  }
  CHECK(split > 100);
}

TEST_CASE("equivalent_contacts: the mean of each group", "[impact][example]") {
  const ImpactScene line = ball_line({1, 1, 1, 1, 1, 1});
  EquivalentContacts<double> equivalent;
  equivalent.prepare(5);
  const VectorX<double> rates = vector_of({-1, 0, 0, 0, -1});
  REQUIRE(equivalent.split(line.problem, {rates.data(), 5}, 0));
  VectorX<double> numbers = vector_of({1, 2, 3, 4, 5});
  equivalent.average(numbers);
  CHECK(numbers == vector_of({3, 3, 3, 3, 3}));
  numbers = vector_of({1, 2, 7, 5, 2});
  equivalent.average(numbers);
  CHECK(numbers == vector_of({1.5, 3.5, 7, 3.5, 1.5}));
}

}  // namespace equivalent_contacts_test
