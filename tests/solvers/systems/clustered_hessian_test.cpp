// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/clustered_hessian.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/executors.hpp"
#include "support/island_blocks.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace clustered_hessian_test {

using carom::ConjugateGradientReport, carom::Crew, carom::Index;
using carom::detail::ClusteredHessian, carom::detail::Columns, carom::detail::PackedEdge;
using carom::testing::for_each_executor, carom::testing::for_each_island_shape;
using carom::testing::IslandBlocks, carom::testing::RawShape, carom::testing::relative_residual;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr double soft = 1, stiff = 1e12;

template <typename Scalar>
bool factor(ClusteredHessian<Scalar>& hessian, const IslandBlocks<Scalar>& blocks, Crew& crew,
            double curvature) {
  return hessian.factor(blocks.packed, crew, Scalar(curvature),
                        [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
                          blocks.add_chosen(edge, targets);
                        });
}

RawShape many_bodies() {
  RawShape shape{.contact_count = 300};
  for (int k = 0; k < 120; ++k) shape.sizes.push_back(k % 7 == 3 ? 9 : k % 5 == 1 ? 3 : 6);
  return shape;
}

}  // namespace

TEMPLATE_TEST_CASE("clustered_hessian: solves the systems of the dense matrices", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(5301u);
  WorstCase residual("H x = b");
  ClusteredHessian<Scalar> hessian;
  const auto check = [&](const RawShape& shape) {
    const IslandBlocks<Scalar> blocks(source, shape, 0);
    for (Index i = 0; i < blocks.packed.islands().size(); ++i) {
      const auto& island = blocks.packed.islands()[i];
      hessian.lay_out(blocks.packed, island);
      for (const double curvature : {soft, stiff}) {
        Crew crew;
        REQUIRE(factor(hessian, blocks, crew, curvature));
        const auto b = blocks.draw_vector(source);
        std::vector<Scalar> x(b.size(), Scalar(42));
        const bool single = curvature == soft || sizeof(Scalar) == sizeof(float);
        const double share = single ? rounding(100, 1.0F) : rounding(100, 1.0);
        const auto report =
            hessian.solve(blocks.packed, crew, b.data(), x.data(), Scalar(share), 1000);
        CHECK(report.usable);
        for (std::size_t k = 0; k < x.size(); ++k) {  // the rest is left alone, and so is padding
          const bool inside = Index(k) >= island.vector_start &&
                              Index(k) < island.vector_start + island.vector_size;
          if (!inside) CHECK(x[k] == Scalar(42));
          if (x[k] == Scalar(42)) x[k] = Scalar(0);
        }
        // The matrices have condition numbers of some thousands.
        residual.see(relative_residual(blocks, island, x, b), 300 * share, curvature);
      }
    }
  };
  for_each_island_shape(check);
  check(many_bodies());
  residual.check(10);
}

TEST_CASE("clustered_hessian: two bodies have their whole factor", "[solvers][law]") {
  VectorSource<double> source(5302u);
  for (int sample = 0; sample < 20; ++sample) {
    const IslandBlocks<double> blocks(source, {.sizes = {6, 3}, .contact_count = 4}, 0);
    ClusteredHessian<double> hessian;
    for (const auto& island : blocks.packed.islands()) {
      hessian.lay_out(blocks.packed, island);
      Crew crew;
      REQUIRE(factor(hessian, blocks, crew, stiff));
      const auto b = blocks.draw_vector(source);
      std::vector<double> x(b.size());
      const auto report = hessian.solve(blocks.packed, crew, b.data(), x.data(), 1e-10, 50);
      CHECK(report.iterations == 1);
    }
  }
}

TEST_CASE("clustered_hessian: no more products than asked for, each of which descends",
          "[solvers]") {
  VectorSource<double> source(5303u);
  const IslandBlocks<double> blocks(source, many_bodies(), 0);
  ClusteredHessian<double> hessian;
  const auto& island = blocks.packed.islands()[0];
  hessian.lay_out(blocks.packed, island);
  Crew crew;
  REQUIRE(factor(hessian, blocks, crew, soft));
  const auto b = blocks.draw_vector(source);
  for (const int limit : {0, 1, 3}) {
    std::vector<double> x(b.size());
    const auto report = hessian.solve(blocks.packed, crew, b.data(), x.data(), 1e-6, limit);
    CHECK(report.iterations == limit);
    CHECK(report.usable == (limit > 0));
    double slope = 0;
    for (std::size_t k = 0; k < b.size(); ++k) slope += b[k] * x[k];
    CHECK((slope > 0) == (limit > 0));
  }
}

TEST_CASE("clustered_hessian: the numbers do not depend on who shares the work", "[solvers][law]") {
  VectorSource<double> source(5304u);
  const IslandBlocks<double> blocks(source, many_bodies(), 0);
  const auto& island = blocks.packed.islands()[0];
  const auto b = blocks.draw_vector(source);
  for (const double curvature : {soft, stiff}) {
    const auto solve = [&](Crew& crew) {
      ClusteredHessian<double> hessian;
      hessian.lay_out(blocks.packed, island);
      std::vector<double> x(b.size());
      REQUIRE(factor(hessian, blocks, crew, curvature));
      REQUIRE(hessian.solve(blocks.packed, crew, b.data(), x.data(), 1e-4, 100).usable);
      return x;
    };
    Crew alone;
    const std::vector<double> expected = solve(alone);
    for_each_executor([&](const auto& executor) {
      Crew crew;
      std::vector<double> x;
      executor(6, [&](Index) { crew.join([&] { x = solve(crew); }); });
      CHECK(x == expected);
    });
  }
}

TEMPLATE_TEST_CASE("clustered_hessian: neither indefinite nor NaN is factored", "[solvers]", float,
                   double) {
  using Scalar = TestType;
  VectorSource<double> source(5305u);
  IslandBlocks<Scalar> blocks(source, {.sizes = {6, 6}, .contact_count = 5}, 0);
  ClusteredHessian<Scalar> hessian;
  hessian.lay_out(blocks.packed, blocks.packed.islands()[0]);
  Crew crew;
  const std::vector<Eigen::MatrixXd> given = blocks.edges;
  for (std::size_t e = 0; e < given.size(); ++e) {
    blocks.edges = given;
    blocks.edges[e](0, 0) = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(factor(hessian, blocks, crew, soft));
    blocks.edges = given;
    blocks.edges[e] *= -1000;
    CHECK_FALSE(factor(hessian, blocks, crew, soft));
  }
  blocks.edges = given;
  CHECK(factor(hessian, blocks, crew, soft));  // the memory keeps nothing of them
}

}  // namespace clustered_hessian_test
