// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/scaled_blocks.hpp"

#include <Eigen/Dense>

#include "support/block_graphs.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace scaled_blocks_test {

using carom::ClusterEdge, carom::ClusterPattern, carom::Index, carom::ScaledBlocks;
using carom::Sequence, carom::VectorX;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr int node_count = 30;

int size_of(int node) {
  constexpr int sizes[] = {6, 3, 1, 9, 6, 7};
  return sizes[node % 6];
}

ClusterPattern make_pattern() {
  Sequence<ClusterEdge> edges;
  for (const auto& [low, high] : carom::testing::scattered_edges(node_count, 11, 2)) {
    edges.push_back({low, high, int(edges.size())});
  }
  ClusterPattern pattern;
  pattern.lay_out(node_count, size_of, edges, 4);
  return pattern;
}

/// Draws the blocks; the dense L and K − 2I over vectors with their padding.
template <typename Real>
void draw(VectorSource<double>& source, const ClusterPattern& pattern, ScaledBlocks<Real>& blocks,
          Eigen::MatrixXd& below, Eigen::MatrixXd& own) {
  blocks.reset(pattern);
  below.setZero(pattern.vector_size(), pattern.vector_size());
  own = below;
  for (Index p = 0; p < pattern.row_count(); ++p) {
    const auto& row = pattern.row(p);
    const Index lanes = carom::detail::lanes_above(row.size);
    Real* values = blocks.before(row.before_values);
    for (int k = row.before_begin; k < row.before_end; ++k) {
      const auto& column = pattern.row(pattern.before(k).column);
      const Index other = carom::detail::lanes_above(column.size);
      for (Index c = 0; c < column.size; ++c, values += lanes) {
        for (Index r = 0; r < row.size; ++r) {
          values[r] = Real(0.2 * (2 * source.unit() - 1));
          blocks.behind(pattern.before(k).other)[r * other + c] = values[r];
          below(row.start + r, column.start + c) = double(values[r]);
        }
      }
    }
    for (Index c = 0; c < row.size; ++c) {
      for (Index r = 0; r < row.size; ++r) {
        Real& entry = blocks.own(row.own_values)[c * lanes + r];
        entry = Real(2 * source.unit() - 1);
        own(row.start + r, row.start + c) = double(entry);
      }
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("scaled_blocks: its passes solve with the triangles of the dense matrix",
                   "[linalg][law]", float, double) {
  using Real = TestType;
  VectorSource<double> source(9200u);
  WorstCase before("(I + L) x = b"), behind("(I + Lᵀ) x = b"), product("y + (K − 2I) x");
  const ClusterPattern pattern = make_pattern();
  REQUIRE(pattern.row_count() == node_count);
  for (int sample = 0; sample < 20; ++sample) {
    ScaledBlocks<Real> blocks;
    Eigen::MatrixXd below, own;
    draw(source, pattern, blocks, below, own);
    VectorX<Real> b = VectorX<Real>::Zero(pattern.vector_size());
    for (Index p = 0; p < pattern.row_count(); ++p) {
      for (Index k = 0; k < pattern.row(p).size; ++k) {
        b(pattern.row(p).start + k) = Real(2 * source.unit() - 1);
      }
    }
    const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(below.rows(), below.cols());
    VectorX<Real> x = b, y = b, z = b;
    for (Index p = 0; p < pattern.row_count(); ++p) blocks.reduce_before(pattern, p, x.data());
    for (Index p = pattern.row_count(); p-- > 0;) blocks.reduce_behind(pattern, p, y.data());
    for (Index p = 0; p < pattern.row_count(); ++p) {
      blocks.add_own(pattern, p, b.data(), z.data());
    }
    const Eigen::VectorXd given = b.template cast<double>();
    const auto residual = [&](const Eigen::MatrixXd& matrix, const VectorX<Real>& found) {
      return (matrix.lazyProduct(found.template cast<double>()) - given).norm() /
             (1 + found.template cast<double>().norm());
    };
    before.see(residual(unit + below, x), rounding(300, Real(1)));
    behind.see(residual(unit + below.transpose(), y), rounding(300, Real(1)));
    const Eigen::VectorXd expected = given + own.lazyProduct(given);
    product.see((z.template cast<double>() - expected).norm(),
                rounding(300, Real(1)) * expected.norm());
  }
  before.check(20);
  behind.check(20);
  product.check(20);
}

}  // namespace scaled_blocks_test
