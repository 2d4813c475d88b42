// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/body_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace body_rows_test {

using carom::Index;
using carom::detail::BlockIsland, carom::detail::BodyRows;
using carom::testing::BodyMatrices, carom::testing::build, carom::testing::ConstrainedProblem;
using carom::testing::draw_body_problem, carom::testing::rounding, carom::testing::RowPlaces;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// Problems of bodies of equal and of unlike sizes, and their matrices.
template <typename Visit>
void for_each_problem(std::uint32_t seed, const Visit& visit) {
  VectorSource<double> source(seed);
  for (const std::vector<int>& sizes : {std::vector<int>{6, 6, 6, 6, 6, 6},
                                        {3, 3, 3, 3, 3},
                                        {1, 2, 3, 6, 7, 4, 6},
                                        {9, 6, 3, 2, 6}}) {
    for (int k = 0; k < 3; ++k) {
      const ConstrainedProblem raw = draw_body_problem(source, sizes);
      visit(raw, BodyMatrices(raw), source);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("body_rows: two passes over the bodies multiply by the dense matrix",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase product("W γ"), load("q"), numbers("R and its mean with W");
  for_each_problem(1, [&](const ConstrainedProblem& raw, const BodyMatrices& dense, auto& source) {
    const auto problem = build<Scalar>(raw);
    BodyRows<Scalar> rows;
    rows.take(problem);
    const Index count = dense.load.size();
    const RowPlaces places(rows, count);
    constexpr auto nan = std::numeric_limits<Scalar>::quiet_NaN();
    const auto parts = std::size_t(3 * rows.part_count());
    std::vector<Scalar> impulse(parts, Scalar(0)), velocity(parts, nan);
    std::vector<Scalar> whitened(std::size_t(rows.vector_size()), nan);
    const Eigen::VectorXd gamma = carom::testing::draw_matrix(source, count, 1);
    places.write(gamma, impulse.data());
    for (Index i = 0; i < rows.islands().size(); ++i) {
      rows.write_momentum(i, impulse.data(), whitened.data());
      rows.write_velocities(i, whitened.data(), velocity.data());
    }
    const double allowed = double(rounding<Scalar>(300, 1));
    product.see((places.rows(velocity.data()) - dense.delassus * gamma).norm(),
                allowed * dense.delassus.norm() * gamma.norm());
    load.see((places.rows(rows.load()) - dense.load).norm(),
             allowed * (dense.load.norm() + dense.dual.free_velocity.norm()));
    for (Index i = 0; i < rows.blocks().size(); ++i) {
      rows.blocks().visit(i, [&](const auto& block) {
        double trace = 0, softness = 0;
        int own = 0;
        for (Index r = 0; r < count; ++r) {
          const int k = int(places.place[std::size_t(r)] - 3 * block.first_part);
          if (k < 0 || k >= block.size()) continue;
          numbers.see_holds(block.present(k));
          numbers.see(std::abs(double(block.regularization(k)) - dense.regularization(r)),
                      double(rounding<Scalar>(4, 1)) * dense.regularization(r));
          softness += double(block.regularization(k));
          trace += dense.delassus(r, r) + dense.regularization(r);
          ++own;
        }
        numbers.see_holds(own == block.impulse_set().rows);
        numbers.see(std::abs(double(block.inverse_mass) * own - trace), allowed * trace);
        numbers.see(std::abs(softness - double(block.regularization.sum())), allowed * softness);
      });
    }
  });
  for (const WorstCase* law : {&product, &load, &numbers}) law->check(12);
}

TEST_CASE("body_rows: every row has one place, and islands do not touch", "[solvers][law]") {
  WorstCase once("every row has a place of its own"), apart("W between islands is zero"),
      parts("blocks and parts of islands follow each other");
  for_each_problem(2, [&](const ConstrainedProblem& raw, const BodyMatrices& dense, auto&) {
    const auto problem = build<double>(raw);
    BodyRows<double> rows;
    rows.take(problem);
    const Index count = dense.load.size();
    const RowPlaces places(rows, count);
    std::vector<Index> sorted = places.place;
    std::sort(sorted.begin(), sorted.end());
    once.see_holds(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    once.see_holds(sorted.front() >= 0 && sorted.back() < 3 * rows.part_count());
    REQUIRE(rows.islands().size() >= 2);
    const auto island_of = [&](Index row) {
      Index found = -1;
      for (Index i = 0; i < rows.islands().size(); ++i) {
        const BlockIsland& own = rows.islands()[i];
        const Index part = places.place[std::size_t(row)] / 3;
        if (own.first_part <= part && part < own.part_end) found = i;
      }
      return found;
    };
    for (Index r = 0; r < count; ++r) {
      for (Index s = 0; s < count; ++s) {
        if (island_of(r) != island_of(s)) apart.see(std::abs(dense.delassus(r, s)), 0);
      }
    }
    Index block = 0, part = 0;
    for (const BlockIsland& own : rows.islands()) {
      parts.see_holds(own.first_block == block && own.first_part == part);
      for (; block < own.block_end; ++block) {
        parts.see_holds(rows.blocks().first_part(block) == part);
        part += rows.blocks().parts(block);
      }
      parts.see_holds(own.part_end == part);
    }
    parts.see_holds(block == rows.blocks().size() && part == rows.part_count());
  });
  once.check(12);
  apart.check(100);
  parts.check(100);
}

TEST_CASE("body_rows: blocks have the sets of the problem", "[solvers][law]") {
  WorstCase sets("sets");
  for_each_problem(3, [&](const ConstrainedProblem& raw, const BodyMatrices& dense, auto&) {
    const auto problem = build<double>(raw);
    BodyRows<double> rows;
    rows.take(problem);
    const RowPlaces places(rows, dense.load.size());
    for (std::size_t s = 0; s < dense.dual.sets.size(); ++s) {
      const auto& wanted = dense.dual.sets[s];
      const Index first = places.place[std::size_t(dense.dual.starts[s])] / 3;
      for (Index i = 0; i < rows.blocks().size(); ++i) {
        rows.blocks().visit(i, [&](const auto& block) {
          if (block.first_part != first) return;
          const auto set = block.impulse_set();
          sets.see_holds(set.shape == wanted.shape && set.rows == wanted.rows &&
                         set.friction == wanted.friction && set.shift == wanted.shift &&
                         set.lower == wanted.lower && set.upper == wanted.upper);
          sets.see_holds(block.is_cone() == (carom::detail::normal_row(wanted.shape) >= 0));
        });
      }
    }
  });
  sets.check(200);
}

TEST_CASE("body_rows: new numbers in the same pattern need no analysis", "[solvers][example]") {
  VectorSource<double> source(4);
  const std::vector<int> sizes = {6, 3, 6, 2, 6};
  const ConstrainedProblem first = draw_body_problem(source, sizes);
  ConstrainedProblem second = first;
  for (auto& contact : second.contacts.contacts) {
    contact.first_jacobian *= 2;
    contact.second_jacobian *= 2;
    contact.law.friction = contact.law.friction > 0 ? 0 : 1;  // triples become others and back
  }
  const auto problem = build<double>(first), changed = build<double>(second);
  BodyRows<double> rows, fresh;
  CHECK(rows.take(problem));
  CHECK_FALSE(rows.take(problem));
  CHECK_FALSE(rows.take(changed));
  fresh.take(changed);
  CHECK(rows.blocks().size() == fresh.blocks().size());
  CHECK(rows.blocks().triple_count() == fresh.blocks().triple_count());
  const Index count = problem.impulse_count();
  const RowPlaces old_places(rows, count), new_places(fresh, count);
  CHECK(old_places.place == new_places.place);
  std::vector<double> impulse(std::size_t(3 * rows.part_count()), 1.0), one = impulse, two = one;
  std::vector<double> whitened(std::size_t(rows.vector_size()));
  for (Index i = 0; i < rows.islands().size(); ++i) {
    rows.write_momentum(i, impulse.data(), whitened.data());
    rows.write_velocities(i, whitened.data(), one.data());
    fresh.write_momentum(i, impulse.data(), whitened.data());
    fresh.write_velocities(i, whitened.data(), two.data());
  }
  CHECK(one == two);
  ConstrainedProblem other = first;
  other.contacts.contacts.pop_back();
  other.constraints.clear();
  CHECK(rows.take(build<double>(other)));
}

TEST_CASE("body_rows: a problem without contacts has no rows", "[solvers][example]") {
  VectorSource<double> source(5);
  ConstrainedProblem raw = draw_body_problem(source, {6, 3, 6, 2, 6});
  raw.contacts.contacts.clear();
  raw.constraints.clear();
  BodyRows<double> rows;
  rows.take(build<double>(raw));
  CHECK(rows.blocks().size() == 0);
  CHECK(rows.islands().size() == 0);
  CHECK(rows.part_count() == 0);
}

}  // namespace body_rows_test
