// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/delassus_islands.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <Eigen/SparseCore>

#include "support/catch.hpp"
#include "support/dual_problems.hpp"

namespace delassus_islands_test {

using carom::DelassusIslands, carom::DelassusProblem, carom::Index;
using carom::testing::assemble_dual, carom::testing::draw_dual, carom::testing::DualData;
using carom::testing::VectorSource;

namespace {

/// W of some contacts as it is, of others zero.
[[nodiscard]] DualData cut(DualData data, const std::vector<int>& group) {
  Index row = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    Index column = 0;
    for (std::size_t j = 0; j < group.size(); ++j) {
      if (group[i] != group[j]) {
        data.w.block(row, column, data.sets[i].rows, data.sets[j].rows).setZero();
      }
      column += data.sets[j].rows;
    }
    row += data.sets[i].rows;
  }
  return data;
}

/// The islands as their definition has them: who is reached from whom over blocks of W.
template <typename Scalar>
[[nodiscard]] std::vector<std::vector<int>> reach(const DelassusProblem<Scalar>& problem) {
  std::vector<int> label(std::size_t(problem.count()));
  std::iota(label.begin(), label.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (Index p = 0; p < problem.part_count(); ++p) {
      for (const auto* n = problem.begin(p); n != problem.end(p); ++n) {
        int &a = label[std::size_t(problem.part_contact(p))],
            &b = label[std::size_t(problem.part_contact(n->part))];
        if (a == b) continue;
        a = b = std::min(a, b);
        changed = true;
      }
    }
  }
  std::vector<std::vector<int>> islands;
  for (int seed = 0; seed < int(label.size()); ++seed) {
    std::vector<int> island;
    for (int i = 0; i < int(label.size()); ++i) {
      if (label[std::size_t(i)] == seed) island.push_back(i);
    }
    if (!island.empty()) islands.push_back(island);
  }
  return islands;
}

template <typename Scalar>
[[nodiscard]] std::vector<int> contacts_of(const DelassusIslands<Scalar>& islands, Index k) {
  const auto contacts = islands.contacts(k);
  return {contacts.begin(), contacts.end()};
}

/// An island's contacts, parts, blocks and yardsticks are those of the whole.
template <typename Scalar>
void check_part(const DelassusProblem<Scalar>& whole, const DelassusProblem<Scalar>& part,
                const std::vector<int>& contacts) {
  REQUIRE(part.count() == Index(contacts.size()));
  CHECK(part.mean_diagonal() == whole.mean_diagonal());
  CHECK(part.load_norm() == whole.load_norm());
  Index rows = 0, parts = 0, blocks = 0;
  for (Index i = 0; i < part.count(); ++i) {
    const Index own = contacts[std::size_t(i)];
    const auto &set = part.set(i), &given = whole.set(own);
    CHECK(set.shape == given.shape);
    CHECK(set.rows == given.rows);
    CHECK(set.friction == given.friction);
    CHECK((set.shift == given.shift && set.lower == given.lower && set.upper == given.upper));
    CHECK(part.first_row(i) == rows);
    CHECK(part.first_part(i) == parts);
    for (Index p = 0; p < part.parts(i); ++p) {
      const Index here = part.first_part(i) + p, there = whole.first_part(own) + p;
      CHECK(part.part_contact(here) == i);
      CHECK(part.load(here) == whole.load(there));
      CHECK(part.regularization(here) == whole.regularization(there));
      CHECK(part.diagonal(here) == whole.diagonal(there));
      for (int r = 0; r < 3; ++r) CHECK(part.present(here, r) == whole.present(there, r));
      REQUIRE(part.end(here) - part.begin(here) == whole.end(there) - whole.begin(there));
      const auto* expected = whole.begin(there);
      for (const auto* n = part.begin(here); n != part.end(here); ++n, ++expected) {
        CHECK(n->matrix == expected->matrix);
        const Index other = contacts[std::size_t(part.part_contact(n->part))];
        CHECK(other == whole.part_contact(expected->part));
        CHECK(n->part - part.first_part(part.part_contact(n->part)) ==
              expected->part - whole.first_part(other));
        if (n != part.begin(here)) CHECK((n - 1)->part < n->part);
      }
      blocks += part.end(here) - part.begin(here);
    }
    rows += set.rows;
    parts += part.parts(i);
  }
  CHECK(part.row_count() == rows);
  CHECK(part.part_count() == parts);
  CHECK(part.coupling_count() == blocks);
}

}  // namespace

TEST_CASE("delassus_islands: a partition into what is coupled, each a problem of its own",
          "[contact][law]") {
  VectorSource<double> source(71u);
  std::mt19937 engine(72);
  DelassusIslands<double> islands;  // the same all along, as is the part
  DelassusProblem<double> part;
  std::set<Index> counts;
  for (int round = 0; round < 30; ++round) {
    const int contacts = round == 3 ? 40 : 1 + round % 12;
    DualData data = draw_dual(source, {contacts, 1 + round % 7, 0.5, true, 0.1});
    std::vector<int> group(std::size_t(contacts), 0);
    for (int& g : group) g = int(engine() % std::uint32_t(1 + round % 5));
    data = cut(data, group);
    const auto problem = assemble_dual<double>(data);
    islands.find(problem);
    const auto expected = reach(problem);
    REQUIRE(islands.count() == Index(expected.size()));
    counts.insert(islands.count());
    for (Index k = 0; k < islands.count(); ++k) {
      CHECK(contacts_of(islands, k) == expected[std::size_t(k)]);
      islands.write(problem, k, part);
      check_part(problem, part, expected[std::size_t(k)]);
    }
    // Backwards, so that an island follows another of any size.
    for (Index k = islands.count() - 1; k >= 0; --k) {
      islands.write(problem, k, part);
      check_part(problem, part, expected[std::size_t(k)]);
    }
  }
  CHECK(counts.size() > 4);
  CHECK(*counts.begin() == 1);
}

TEST_CASE("delassus_islands: no contacts, no islands; contacts apart, each its own",
          "[contact][law]") {
  DelassusIslands<double> islands;
  CHECK(islands.count() == 0);
  DelassusProblem<double> problem;
  problem.assemble();
  islands.find(problem);
  CHECK(islands.count() == 0);
  for (int i = 0; i < 5; ++i) {
    problem.add_contact(carom::free_impulses<double>(1 + i), Eigen::VectorXd::Ones(1 + i));
  }
  problem.assemble();  // W = 0
  islands.find(problem);
  CHECK(islands.count() == 5);
  for (int i = 0; i < 5; ++i) CHECK(contacts_of(islands, i) == std::vector<int>{i});
}

TEST_CASE("delassus_islands: the second half of a wrench couples, too", "[contact][law]") {
  DelassusProblem<double> problem;
  for (int i = 0; i < 2; ++i) {
    problem.add_contact(carom::free_impulses<double>(6), Eigen::VectorXd::Ones(6));
  }
  Eigen::MatrixXd block = Eigen::MatrixXd::Zero(6, 6);
  block(4, 5) = 1;
  problem.add_coupling(0, 1, block);
  problem.assemble();
  // By blocks all halves couple, if by zeros; by entries the second ones alone.
  DelassusProblem<double> sparse;
  for (int i = 0; i < 2; ++i) {
    sparse.add_contact(carom::free_impulses<double>(6), Eigen::VectorXd::Ones(6));
  }
  Eigen::SparseMatrix<double> matrix(12, 12);
  matrix.insert(4, 11) = 1;
  matrix.insert(11, 4) = 1;
  sparse.add_matrix(matrix);
  DelassusIslands<double> islands;
  for (const auto* given : {&problem, &sparse}) {
    islands.find(*given);
    CHECK(islands.count() == 1);
  }
}

}  // namespace delassus_islands_test
