// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Every sparse header of linalg beside what does the same in Eigen, as own_algebra_bench.cpp does
/// for dense ones: square grids of bodies with six unknowns each.
#include <vector>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <benchmark/benchmark.h>

#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/linalg/detail/block_incomplete_cholesky.hpp"
#include "carom/linalg/detail/block_lu.hpp"
#include "carom/linalg/detail/conjugate_gradient.hpp"
#include "carom/linalg/detail/front_forest.hpp"
#include "carom/linalg/detail/minimum_degree.hpp"

#include "support/packed_blocks.hpp"

#include "linalg/block_cases.hpp"
#include "linalg/side_by_side.hpp"

namespace {

using carom::Index;
using carom::benchmarks::add_pair;
using carom::benchmarks::grid_case;
using carom::benchmarks::GridCase;
using carom::benchmarks::measure;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void minimum_degree_ours(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  carom::MinimumDegree order;
  measure(state, [&] { benchmark::DoNotOptimize(order.compute(grid.matrix.graph.view(), 1e300)); });
}
void minimum_degree_eigen(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  Eigen::SparseMatrix<double> pattern(grid.matrix.graph.count(), grid.matrix.graph.count());
  for (const auto& [a, b] : grid.matrix.graph.edges) {
    pattern.insert(a, b) = pattern.insert(b, a) = 1;
  }
  for (int i = 0; i < grid.matrix.graph.count(); ++i) pattern.insert(i, i) = 1;
  pattern.makeCompressed();
  Eigen::AMDOrdering<int> order;
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> result;
  measure(state, [&] { order(pattern, result); });
}

/// Order and fronts of a pattern, before any number is known.
void front_forest_ours(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  carom::MinimumDegree order;
  carom::FrontForest forest;
  std::vector<int> slots = grid.slot_of;
  measure(state, [&] {
    benchmark::DoNotOptimize(order.compute(grid.matrix.graph.view(), 1e300));
    forest.clear();
    benchmark::DoNotOptimize(forest.append(grid.matrix.graph.view(), order, slots.data()));
  });
}
void front_forest_eigen(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> factor;
  measure(state, [&] { factor.analyzePattern(grid.sparse); });
}

void block_cholesky_ours(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  const auto& blocks = grid.matrix;
  std::vector<MatrixXd> diagonal, below;
  for (int i = 0; i < blocks.graph.count(); ++i) diagonal.push_back(blocks.block(i, i));
  grid.for_each_pair([&](int row, int column) { below.push_back(blocks.block(row, column)); });
  carom::BlockCholesky<double> factor;
  factor.reset(grid.forest);
  const VectorXd b = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd x = b;
  std::vector<double> scratch(2 * std::size_t(grid.forest.largest_front()));
  measure(state, [&] {
    factor.clear(grid.range);
    for (int i = 0; i < blocks.graph.count(); ++i) {
      const auto target = factor.diagonal(grid.slot(i));
      GridCase::write(diagonal[std::size_t(i)], target.data, target.stride);
    }
    std::size_t next = 0;
    grid.for_each_pair([&](int row, int column) {
      const auto target =
          factor.block(factor.place(grid.slot(column), grid.slot(row)), grid.slot(column));
      GridCase::write(below[next++], target.data, target.stride);
    });
    benchmark::DoNotOptimize(factor.factor(grid.range));
    x = b;
    factor.solve(grid.range, x.data(), grid.starts.data(), scratch.data());
  });
}
void block_cholesky_eigen(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> factor;
  factor.analyzePattern(grid.sparse);
  const VectorXd b = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd x = b;
  measure(state, [&] {
    factor.factorize(grid.sparse);
    x = factor.solve(b);
  });
}

void block_lu_ours(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  const auto& blocks = grid.matrix;
  std::vector<MatrixXd> diagonal, below, above;
  for (int i = 0; i < blocks.graph.count(); ++i) diagonal.push_back(blocks.block(i, i));
  grid.for_each_pair([&](int row, int column) {
    below.push_back(blocks.block(row, column));
    above.push_back(blocks.block(column, row).transpose());
  });
  carom::BlockLu<double> factor;
  factor.reset(grid.forest);
  const VectorXd b = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd x = b;
  std::vector<double> scratch(2 * std::size_t(grid.forest.largest_front()));
  const auto put = [](const MatrixXd& block, const auto& target) {
    GridCase::write(block, target.data, target.stride);
  };
  measure(state, [&] {
    factor.clear(grid.range);
    for (int i = 0; i < blocks.graph.count(); ++i) {
      const int slot = grid.slot(i);
      const Index place = factor.place(slot, slot);
      put(diagonal[std::size_t(i)], factor.lower(place, slot));
      put(diagonal[std::size_t(i)], factor.upper(place, slot));
    }
    std::size_t next = 0;
    grid.for_each_pair([&](int row, int column) {
      const Index place = factor.place(grid.slot(column), grid.slot(row));
      put(below[next], factor.lower(place, grid.slot(column)));
      put(above[next++], factor.upper(place, grid.slot(column)));
    });
    benchmark::DoNotOptimize(factor.factor(grid.range));
    x = b;
    factor.solve(grid.range, x.data(), grid.starts.data(), scratch.data());
  });
}
void block_lu_eigen(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  Eigen::SparseLU<Eigen::SparseMatrix<double>> factor;
  factor.analyzePattern(grid.sparse);
  const VectorXd b = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd x = b;
  measure(state, [&] {
    factor.factorize(grid.sparse);
    x = factor.solve(b);
  });
}

void block_symmetric_ours(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  const auto blocks = carom::testing::pack_blocks<double>(grid.matrix);
  const VectorXd x = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd y = x;
  measure(state, [&] { blocks.multiply({0, blocks.column_count()}, x.data(), y.data()); });
}
void block_symmetric_eigen(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  const Eigen::SparseMatrix<double> lower = grid.sparse.triangularView<Eigen::Lower>();
  const VectorXd x = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd y = x;
  measure(state, [&] { y.noalias() = lower.selfadjointView<Eigen::Lower>() * x; });
}

void block_incomplete_cholesky_ours(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  const auto blocks = carom::testing::pack_blocks<double>(grid.matrix);
  carom::BlockIncompleteCholesky<double> factor;
  factor.reset(blocks);
  const carom::ColumnRange all{0, blocks.column_count()};
  const VectorXd b = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd x = b;
  measure(state, [&] {
    benchmark::DoNotOptimize(factor.factor(blocks, all));
    x = b;
    factor.solve(all, x.data());
  });
}
void block_incomplete_cholesky_eigen(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>> factor;
  factor.analyzePattern(grid.sparse);
  const VectorXd b = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd x = b;
  measure(state, [&] {
    factor.factorize(grid.sparse);
    x = factor.solve(b);
  });
}

/// Twenty rounds with the diagonal as preconditioner, on the same sparse product.
void conjugate_gradient_ours(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  const Index n = grid.size();
  const VectorXd b = VectorXd::LinSpaced(n, -1, 2), inverse = grid.sparse.diagonal().cwiseInverse();
  VectorXd x = b, r = b, p = b, q = b;
  using Map = Eigen::Map<VectorXd>;
  using Given = Eigen::Map<const VectorXd>;
  measure(state, [&] {
    r = b;
    const auto report = carom::conjugate_gradient<double>(
        {x.data(), r.data(), p.data(), q.data(), n}, 0.0, 20,
        [&](const double* from, double* to) {
          Map(to, n).noalias() = grid.sparse.selfadjointView<Eigen::Lower>() * Given(from, n);
        },
        [&](const double* from, double* to) { Map(to, n) = inverse.cwiseProduct(Given(from, n)); });
    benchmark::DoNotOptimize(report.residual);
  });
}
void conjugate_gradient_eigen(benchmark::State& state) {
  const GridCase& grid = grid_case(int(state.range(0)));
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower> solver;
  solver.compute(grid.sparse);
  solver.setMaxIterations(20);
  solver.setTolerance(0);
  const VectorXd b = VectorXd::LinSpaced(grid.size(), -1, 2);
  VectorXd x = b;
  measure(state, [&] { x = solver.solve(b); });
}

const bool added = [] {
  add_pair("minimum_degree", minimum_degree_ours, minimum_degree_eigen, 4, 12);
  add_pair("front_forest", front_forest_ours, front_forest_eigen, 4, 12);
  add_pair("block_cholesky", block_cholesky_ours, block_cholesky_eigen, 4, 12);
  add_pair("block_lu", block_lu_ours, block_lu_eigen, 4, 12);
  add_pair("block_symmetric", block_symmetric_ours, block_symmetric_eigen, 4, 12);
  add_pair("block_incomplete_cholesky", block_incomplete_cholesky_ours,
           block_incomplete_cholesky_eigen, 4, 12);
  add_pair("conjugate_gradient", conjugate_gradient_ours, conjugate_gradient_eigen, 4, 12);
  return true;
}();

}  // namespace
