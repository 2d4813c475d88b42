// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/iterative_hessian.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/island_blocks.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

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

TEMPLATE_TEST_CASE("iterative_hessian: solves the systems of the dense matrices", "[solvers][law]",
                   float, double) {
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

TEST_CASE("iterative_hessian: a chain of blocks has its whole factor", "[solvers][law]") {
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

TEST_CASE("iterative_hessian: no more products than asked for", "[solvers]") {
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

TEST_CASE("iterative_hessian: islands have their places beside direct ones", "[solvers]") {
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

TEMPLATE_TEST_CASE("iterative_hessian: neither indefinite nor NaN is factored", "[solvers]", float,
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
