// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/island_hessians.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "carom/solvers/rows/island_view.hpp"

#include "support/catch.hpp"
#include "support/island_blocks.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace direct_hessian_test {

using carom::ContactGraph, carom::Index, carom::detail::Columns, carom::detail::DirectHessian;
using carom::detail::PackedEdge, carom::detail::PackedIsland;
using carom::testing::for_each_island_shape, carom::testing::IslandBlocks;
using carom::testing::RawShape, carom::testing::relative_residual, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr double no_limit = 1e300;
const RawShape ring{.sizes = {3, 6, 6, 3, 6, 1, 7, 6}, .contact_count = 14};

/// Fills what is cleared; counts the edges asked for.
template <typename Scalar>
Scalar fill(DirectHessian<Scalar>& hessian, const IslandBlocks<Scalar>& blocks,
            const PackedIsland& island, Scalar raise = 0, int* count = nullptr) {
  return hessian.fill(
      blocks.packed, island,
      [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
        blocks.add(edge, targets);
        if (count != nullptr) ++*count;
      },
      raise);
}

template <typename Scalar>
std::vector<Scalar> solve(DirectHessian<Scalar>& hessian, const IslandBlocks<Scalar>& blocks,
                          std::vector<Scalar> x) {
  for (const PackedIsland& island : blocks.packed.islands()) {
    hessian.solve(blocks.packed, island, x.data());
  }
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("island_hessians: solves the systems of the dense matrices", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(5101u);
  WorstCase residual("H x = b"), largest("largest entry of the diagonal");
  DirectHessian<Scalar> hessian;
  for_each_island_shape([&](const RawShape& shape) {
    for (int sample = 0; sample < 5; ++sample) {
      const IslandBlocks<Scalar> blocks(source, shape, no_limit);
      hessian.lay_out(blocks.graph, blocks.packed);
      for (const PackedIsland& island : blocks.packed.islands()) {
        hessian.clear(island);
        const Scalar found = fill(hessian, blocks, island);
        const double expected = std::max(1.0, blocks.dense(island).diagonal().maxCoeff() - 1);
        largest.see(std::abs(double(found) - expected), rounding<Scalar>(30, Scalar(expected)));
        REQUIRE(hessian.factor(island));
      }
      const auto b = blocks.draw_vector(source), x = solve(hessian, blocks, b);
      for (const PackedIsland& island : blocks.packed.islands()) {
        residual.see(relative_residual(blocks, island, x, b), rounding<Scalar>(1000, 1));
      }
    }
  });
  residual.check(20);
  largest.check(20);
}

TEST_CASE("island_hessians: an island's solution leaves the others alone", "[solvers]") {
  VectorSource<double> source(5102u);
  const IslandBlocks<double> blocks(
      source, {.sizes = {3, 6, 3, 6, 1, 9, 3, 6, 6, 3, 2, 7}, .contact_count = 8}, no_limit);
  REQUIRE(blocks.packed.islands().size() > 1);
  DirectHessian<double> hessian;
  hessian.lay_out(blocks.graph, blocks.packed);
  const PackedIsland& island = blocks.packed.islands()[1];
  hessian.clear(island);
  static_cast<void>(fill(hessian, blocks, island));
  REQUIRE(hessian.factor(island));
  const auto b = blocks.draw_vector(source);
  auto x = b;
  hessian.solve(blocks.packed, island, x.data());
  for (Index k = 0; k < blocks.packed.vector_size(); ++k) {
    const bool inside = k >= island.vector_start && k < island.vector_start + island.vector_size &&
                        b[std::size_t(k)] != 0;
    CHECK((x[std::size_t(k)] != b[std::size_t(k)]) == inside);
  }
}

TEST_CASE("island_hessians: a crew changes no bit of an island without branches",
          "[solvers][law]") {
  VectorSource<double> source(5104u);
  const IslandBlocks<double> blocks(source, ring, no_limit);
  DirectHessian<double> alone, led;
  carom::Crew crew;
  for (DirectHessian<double>* hessian : {&alone, &led}) {
    hessian->lay_out(blocks.graph, blocks.packed);
    for (const PackedIsland& island : blocks.packed.islands()) {
      hessian->clear(island);
      static_cast<void>(fill(*hessian, blocks, island));
      REQUIRE(hessian->factor(island, hessian == &led ? &crew : nullptr));
    }
  }
  const auto b = blocks.draw_vector(source), expected = solve(alone, blocks, b);
  auto x = b;
  for (const PackedIsland& island : blocks.packed.islands()) {
    led.solve(blocks.packed, island, x.data(), &crew);
  }
  CHECK(x == expected);
}

TEST_CASE("island_hessians: filling what is touched gives the same as filling all",
          "[solvers][law]") {
  VectorSource<double> source(5103u);
  int asked = 0, edges = 0;
  for (int sample = 0; sample < 20; ++sample) {
    IslandBlocks<double> blocks(source, ring, no_limit);
    DirectHessian<double> partly, whole;
    partly.lay_out(blocks.graph, blocks.packed);
    whole.lay_out(blocks.graph, blocks.packed);
    for (const PackedIsland& island : blocks.packed.islands()) {
      partly.clear(island);
      static_cast<void>(fill(partly, blocks, island));
      REQUIRE(partly.factor(island));
    }
    for (const PackedIsland& island : blocks.packed.islands()) {
      const Index changed = island.first_edge + sample % (island.edge_end - island.first_edge);
      blocks.edges[std::size_t(changed)] *= 1.5;
      partly.touch(blocks.packed.edge(changed));
      partly.clear_touched(island);
      static_cast<void>(fill(partly, blocks, island, 0.0, &asked));
      REQUIRE(partly.factor(island));
      whole.clear(island);
      static_cast<void>(fill(whole, blocks, island, 0.0, &edges));
      REQUIRE(whole.factor(island));
      // Nothing changed, nothing asked for.
      int none = 0;
      partly.clear_touched(island);
      CHECK(fill(partly, blocks, island, 0.0, &none) == 1);
      CHECK(none == 0);
      REQUIRE(partly.factor(island));
    }
    const auto b = blocks.draw_vector(source);
    CHECK(solve(partly, blocks, b) == solve(whole, blocks, b));
  }
  CAPTURE(asked, edges);
  CHECK(asked > 0);
  CHECK(asked < edges);
}

TEST_CASE("island_hessians: pieces in any order fill what the whole fills, bit by bit",
          "[solvers][law]") {
  VectorSource<double> source(5107u);
  RawShape shape{.sizes = {}, .contact_count = 2200};
  for (int b = 0; b < 60; ++b) shape.sizes.push_back(b % 4 == 0 ? 3 : 6);
  const IslandBlocks<double> blocks(source, shape, no_limit);
  REQUIRE(blocks.packed.islands().size() == 1);
  const PackedIsland& island = blocks.packed.islands()[0];
  carom::detail::IslandPieces<double> pieces;
  pieces.lay_out(blocks.packed, island);
  REQUIRE(pieces.count() >= 3);
  DirectHessian<double> whole, pieced;
  for (auto* hessian : {&whole, &pieced}) {
    hessian->lay_out(blocks.graph, blocks.packed);
    hessian->clear(island);
  }
  const double expected = fill(whole, blocks, island, 0.5);
  const auto add = [&](const PackedEdge& edge, const Columns<double>(&targets)[3]) {
    blocks.add(edge, targets);
  };
  double largest = 0;
  int crossings = 0;
  for (Index k = pieces.count(); k-- > 0;) {
    const PackedIsland piece = pieces.piece(blocks.packed, island, k);
    const auto for_each_crossing = [&](const auto& visit) {
      pieces.for_each_crossing(blocks.packed, island, piece, [&](const PackedEdge& edge) {
        CHECK(edge.low_slot < piece.range.first_slot);
        ++crossings;
        visit(edge);
      });
    };
    largest =
        std::max(largest, pieced.fill_piece(blocks.packed, piece, for_each_crossing, add, 0.5));
  }
  CHECK(crossings > 0);
  CHECK(largest == expected);
  REQUIRE(whole.factor(island));
  REQUIRE(pieced.factor(island));
  const auto b = blocks.draw_vector(source);
  CHECK(solve(pieced, blocks, b) == solve(whole, blocks, b));
}

TEST_CASE("island_hessians: a raised diagonal is H + raise I", "[solvers][law]") {
  VectorSource<double> source(5104u);
  IslandBlocks<double> blocks(source, ring, no_limit);
  DirectHessian<double> hessian;
  hessian.lay_out(blocks.graph, blocks.packed);
  const double raise = 7;
  for (const PackedIsland& island : blocks.packed.islands()) {
    for (Index e = island.first_edge; e < island.edge_end; ++e) blocks.edges[std::size_t(e)] *= -1;
    hessian.clear(island);
    static_cast<void>(fill(hessian, blocks, island));
    CHECK_FALSE(hessian.factor(island));  // indefinite
    hessian.clear(island);
    static_cast<void>(fill(hessian, blocks, island, 3 * raise));
    REQUIRE(hessian.factor(island));
  }
  const auto b = blocks.draw_vector(source);
  const auto x = solve(hessian, blocks, b);
  auto shifted = b;
  for (std::size_t k = 0; k < b.size(); ++k) shifted[k] -= 3 * raise * x[k];
  for (const PackedIsland& island : blocks.packed.islands()) {
    CHECK(relative_residual(blocks, island, x, shifted) < rounding(50000, 1.0));
  }
}

TEMPLATE_TEST_CASE("island_hessians: numbers that are not finite show in the largest entry",
                   "[solvers]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(5105u);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    IslandBlocks<Scalar> blocks(source, {.sizes = {6, 6}, .contact_count = 5}, no_limit);
    DirectHessian<Scalar> hessian;
    hessian.lay_out(blocks.graph, blocks.packed);
    const PackedIsland& island = blocks.packed.islands()[0];
    for (auto& block : blocks.edges) {
      const Eigen::MatrixXd good = block;
      block(1, 1) = bad;
      hessian.clear(island);
      CHECK_FALSE(fill(hessian, blocks, island) <= std::numeric_limits<Scalar>::max());
      block = good;
    }
    hessian.clear(island);
    CHECK(fill(hessian, blocks, island) <= std::numeric_limits<Scalar>::max());
    CHECK(hessian.factor(island));
  }
}

TEST_CASE("island_hessians: follows a graph that moves", "[solvers]") {
  VectorSource<double> source(5106u);
  IslandBlocks<double> blocks(source, ring, no_limit);
  DirectHessian<double> hessian;
  hessian.lay_out(blocks.graph, blocks.packed);
  for (const PackedIsland& island : blocks.packed.islands()) {
    hessian.clear(island);
    static_cast<void>(fill(hessian, blocks, island));
    REQUIRE(hessian.factor(island));
  }
  const auto b = blocks.draw_vector(source), before = solve(hessian, blocks, b);
  const ContactGraph elsewhere = std::move(blocks.graph);
  blocks.graph = ContactGraph();
  hessian.follow(elsewhere);
  CHECK(solve(hessian, blocks, b) == before);
}

}  // namespace direct_hessian_test

namespace iterative_hessian_test {

using carom::ConjugateGradientReport, carom::Index, carom::detail::Columns;
using carom::detail::IterativeHessian, carom::detail::PackedEdge, carom::detail::PackedIsland;
using carom::testing::for_each_island_shape, carom::testing::IslandBlocks;
using carom::testing::RawShape, carom::testing::relative_residual, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

template <typename Scalar>
bool factor(IterativeHessian<Scalar>& hessian, const IslandBlocks<Scalar>& blocks, Index island,
            int* count = nullptr) {
  return hessian.factor(blocks.packed, island,
                        [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
                          blocks.add(edge, targets);
                          if (count != nullptr) ++*count;
                        });
}

/// x of an island; the target is relative to ‖b‖.
template <typename Scalar>
ConjugateGradientReport<Scalar> solve(const IterativeHessian<Scalar>& hessian,
                                      const IslandBlocks<Scalar>& blocks, Index i,
                                      const std::vector<Scalar>& b, std::vector<Scalar>& x,
                                      Scalar target, int limit = 1000) {
  const PackedIsland& island = blocks.packed.islands()[i];
  std::vector<Scalar> residual = b, direction(b.size()), product(b.size());
  const auto start = island.vector_start;
  Scalar squared = 0;
  for (Index k = start; k < start + island.vector_size; ++k) {
    const Scalar entry = b[std::size_t(k)];
    squared += entry * entry;
  }
  return hessian.solve(blocks.packed, i,
                       {x.data() + start, residual.data() + start, direction.data() + start,
                        product.data() + start, island.vector_size},
                       target * std::sqrt(squared), limit);
}

}  // namespace

TEMPLATE_TEST_CASE("island_hessians: conjugate gradients solve the systems of the dense matrices",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(5201u);
  WorstCase residual("H x = b");
  IterativeHessian<Scalar> hessian;
  const Scalar target = rounding<Scalar>(100, 1);
  for_each_island_shape([&](const RawShape& shape) {
    for (int sample = 0; sample < 5; ++sample) {
      const IslandBlocks<Scalar> blocks(source, shape, 0);
      hessian.lay_out(blocks.packed);
      for (Index i = 0; i < blocks.packed.islands().size(); ++i) {
        const PackedIsland& island = blocks.packed.islands()[i];
        REQUIRE_FALSE(island.direct);
        REQUIRE(factor(hessian, blocks, i));
        const auto b = blocks.draw_vector(source);
        std::vector<Scalar> x(b.size(), Scalar(42));
        const auto report = solve(hessian, blocks, i, b, x, target);
        CHECK(report.usable);
        residual.see(relative_residual(blocks, island, x, b), 10 * double(target));
        for (Index k = 0; k < Index(x.size()); ++k) {  // the rest is left alone
          const bool inside =
              k >= island.vector_start && k < island.vector_start + island.vector_size;
          if (!inside) CHECK(x[std::size_t(k)] == Scalar(42));
        }
      }
    }
  });
  residual.check(20);
}

TEST_CASE("island_hessians: a chain of blocks has its whole factor", "[solvers][law]") {
  // Without fill-in the incomplete factor is the factor: one product solves.
  VectorSource<double> source(5202u);
  for (int sample = 0; sample < 20; ++sample) {
    const IslandBlocks<double> blocks(source, {.sizes = {6, 3}, .contact_count = 4}, 0);
    IterativeHessian<double> hessian;
    hessian.lay_out(blocks.packed);
    for (Index i = 0; i < blocks.packed.islands().size(); ++i) {
      REQUIRE(factor(hessian, blocks, i));
      const auto b = blocks.draw_vector(source);
      std::vector<double> x(b.size());
      CHECK(solve(hessian, blocks, i, b, x, 1e-12).iterations == 1);
    }
  }
}

TEST_CASE("island_hessians: no more products than asked for", "[solvers]") {
  VectorSource<double> source(5203u);
  const IslandBlocks<double> blocks(source,
                                    {.sizes = {6, 6, 6, 6, 6, 6, 6, 6}, .contact_count = 30}, 0);
  IterativeHessian<double> hessian;
  hessian.lay_out(blocks.packed);
  REQUIRE(factor(hessian, blocks, 0));
  const auto b = blocks.draw_vector(source);
  std::vector<double> x(b.size());
  const auto whole = solve(hessian, blocks, 0, b, x, 1e-12);
  REQUIRE(whole.iterations > 3);
  for (const int limit : {0, 1, 3}) {
    const auto report = solve(hessian, blocks, 0, b, x, 1e-12, limit);
    CHECK(report.iterations == limit);
    CHECK(report.residual > whole.residual);
    CHECK(report.usable == (limit > 0));
  }
}

TEST_CASE("island_hessians: iterative islands have their places beside direct ones", "[solvers]") {
  VectorSource<double> source(5204u);
  int direct = 0, others = 0;
  for (int sample = 0; sample < 30; ++sample) {
    const IslandBlocks<double> blocks(
        source, {.sizes = {3, 6, 1, 9, 3, 6, 6, 3, 2, 7}, .contact_count = 9}, 60);
    IterativeHessian<double> hessian;
    hessian.lay_out(blocks.packed);
    for (Index i = 0; i < blocks.packed.islands().size(); ++i) {
      const PackedIsland& island = blocks.packed.islands()[i];
      ++(island.direct ? direct : others);
      if (island.direct) continue;
      int edges = 0;
      REQUIRE(factor(hessian, blocks, i, &edges));
      CHECK(edges == island.edge_end - island.first_edge);
      const auto b = blocks.draw_vector(source);
      std::vector<double> x(b.size());
      static_cast<void>(solve(hessian, blocks, i, b, x, 1e-13));
      CHECK(relative_residual(blocks, island, x, b) < rounding(50000, 1.0));
    }
  }
  CAPTURE(direct, others);
  CHECK(direct > 5);
  CHECK(others > 5);
}

TEMPLATE_TEST_CASE("island_hessians: neither indefinite nor NaN is factored", "[solvers]", float,
                   double) {
  using Scalar = TestType;
  VectorSource<double> source(5205u);
  IslandBlocks<Scalar> blocks(source, {.sizes = {6, 6}, .contact_count = 5}, 0);
  IterativeHessian<Scalar> hessian;
  hessian.lay_out(blocks.packed);
  const std::vector<Eigen::MatrixXd> given = blocks.edges;
  for (std::size_t e = 0; e < given.size(); ++e) {
    blocks.edges = given;
    blocks.edges[e](0, 0) = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(factor(hessian, blocks, 0));
    blocks.edges = given;
    blocks.edges[e] *= -1000;
    CHECK_FALSE(factor(hessian, blocks, 0));
  }
  blocks.edges = given;
  CHECK(factor(hessian, blocks, 0));  // the memory keeps nothing of them
}

}  // namespace iterative_hessian_test
