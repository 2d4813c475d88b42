// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/edge_kernels.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace edge_kernels_test {

using carom::Index, carom::SquareMatrix, carom::WeightedBlock, carom::detail::Columns;
using carom::detail::General3, carom::detail::lanes_above, carom::detail::PackedBlock;
using carom::detail::PackedEdge, carom::detail::PartArray, carom::detail::Symmetric3,
    carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// An edge between two bodies, or a body and the world, with drawn Ĵ beside the same as dense rows
/// over the low body's unknowns, then the high one's.
template <typename Scalar>
struct DrawnEdge {
  PackedEdge edge;
  std::vector<Scalar> block;
  Eigen::MatrixXd dense;  ///< 3 parts × unknowns
  Index unknowns = 0;

  /// @param parts     of which the last `others` are those of other blocks.
  /// @param high      unknowns of the high body; 0 for the world.
  DrawnEdge(VectorSource<Scalar>& source, int low, int high, Index parts, Index others,
            double decades)
      : edge{0, high > 0 ? 1 : -1, low, high, 0, lanes_above(low), 2, 2 + parts,
             0, 2 + parts - others},
        dense(Eigen::MatrixXd::Zero(3 * parts, low + high)),
        unknowns(low + high) {
    const Index lanes[2] = {lanes_above(low), lanes_above(high)};
    for (Index p = 0; p < parts; ++p) {
      for (int s = 0; s < 2; ++s) {
        const int size = s == 0 ? low : high;
        for (int c = 0; c < 3; ++c) {
          for (Index i = 0; i < lanes[s]; ++i) {
            block.push_back(i < size ? source.entry(decades, 0.2) : Scalar(0));
            if (i < size) dense(3 * p + c, s * low + i) = double(block.back());
          }
        }
      }
    }
  }
  /// Where an unknown stands in a packed vector.
  [[nodiscard]] Index at(Index k) const {
    return k < edge.low_size ? edge.low_start + k : edge.high_start + k - edge.low_size;
  }
  [[nodiscard]] std::vector<Scalar> vector() const {
    return std::vector<Scalar>(
        std::size_t(lanes_above(edge.low_size) + lanes_above(edge.high_size) + 8), Scalar(0));
  }
};

template <typename Scalar>
using Arrays = std::vector<std::vector<Scalar>>;

/// Calls visit for bodies of every path through the kernels: equal sizes 3 and 6, unequal sizes,
/// more than one register, and the world; for no part, for one and for many.
template <typename Scalar, typename Visit>
void for_each_edge(std::uint32_t seed, const Visit& visit) {
  VectorSource<Scalar> source(seed);
  for (const auto& [low, high] : std::initializer_list<std::pair<int, int>>{
           {6, 0}, {6, 6}, {3, 0}, {3, 3}, {6, 3}, {1, 0}, {7, 2}, {8, 8}, {9, 17}, {2, 6}}) {
    for (const Index parts : {0, 1, 5}) {
      for (const double decades : {0.0, 12.0}) {
        visit(DrawnEdge<Scalar>(source, low, high, parts, 0,
                                sizeof(Scalar) == 4 ? decades / 2 : decades),
              source);
      }
    }
  }
}

/// Blocks low-low, high-low and high-high in memory of their own, poisoned outside of them.
template <typename Scalar>
struct Targets {
  static constexpr Index pad = 3;
  std::vector<Scalar> numbers[3];
  Columns<Scalar> columns[3];
  int rows[3], cols[3];

  explicit Targets(const PackedEdge& edge, bool all = true)
      : rows{edge.low_size, edge.high_size, edge.high_size},
        cols{edge.low_size, edge.low_size, edge.high_size} {
    for (int t = 0; t < 3; ++t) {
      const Index stride = rows[t] + pad;
      numbers[t].assign(std::size_t(stride * cols[t] + 1),
                        std::numeric_limits<Scalar>::quiet_NaN());
      for (int c = 0; c < cols[t]; ++c) {
        for (int r = 0; r < rows[t]; ++r)
          numbers[t][std::size_t(c * stride + r)] = Scalar(r - 2 * c);
      }
      columns[t] = {all || t == 2 ? numbers[t].data() : nullptr, stride};
    }
  }
  /// Compares block t with what was added to it.
  void compare(int t, const Eigen::MatrixXd& added, const Eigen::MatrixXd& size, WorstCase& worst,
               int roundings) const {
    const Index stride = rows[t] + pad;
    for (Index k = 0; k < Index(numbers[t].size()); ++k) {
      const Index c = k / stride, r = k % stride;
      const Scalar found = numbers[t][std::size_t(k)];
      if (c >= cols[t] || r >= rows[t]) {
        CHECK(std::isnan(found));
        continue;
      }
      const double expected = double(r - 2 * c) + added(r, c);
      worst.see(std::abs(double(found) - expected),
                rounding<Scalar>(roundings, Scalar(size(r, c) + 30)));
    }
  }
};

/// Compares all three with Σ Ĵᵀ G Ĵ.
template <typename Scalar>
void compare_all(const Targets<Scalar>& targets, const DrawnEdge<Scalar>& drawn,
                 const Eigen::MatrixXd& g, WorstCase& worst) {
  const Eigen::MatrixXd sum = drawn.dense.transpose() * g * drawn.dense;
  const Eigen::MatrixXd size =
      drawn.dense.cwiseAbs().transpose() * g.cwiseAbs() * drawn.dense.cwiseAbs();
  const Index low = drawn.edge.low_size, high = drawn.edge.high_size;
  targets.compare(0, sum.topLeftCorner(low, low), size.topLeftCorner(low, low), worst, 60);
  targets.compare(1, sum.bottomLeftCorner(high, low), size.bottomLeftCorner(high, low), worst, 60);
  targets.compare(2, sum.bottomRightCorner(high, high), size.bottomRightCorner(high, high), worst,
                  60);
}

template <typename Scalar>
General3<Scalar> as_general(const Symmetric3<Scalar>& g) {
  return g.whole();
}
template <typename Scalar>
General3<Scalar> as_general(const General3<Scalar>& g) {
  return g;
}
template <typename Scalar>
Eigen::Matrix3d dense_of(const Symmetric3<Scalar>& g) {
  Eigen::Matrix3d matrix;
  matrix << double(g.xx), double(g.xy), double(g.xz), double(g.xy), double(g.yy), double(g.yz),
      double(g.xz), double(g.yz), double(g.zz);
  return matrix;
}
template <typename Scalar>
Eigen::Matrix3d dense_of(const General3<Scalar>& g) {
  Eigen::Matrix3d matrix;
  matrix << double(g.xx), double(g.xy), double(g.xz), double(g.yx), double(g.yy), double(g.yz),
      double(g.zx), double(g.zy), double(g.zz);
  return matrix;
}

}  // namespace

TEMPLATE_TEST_CASE("edge_kernels: velocities of the parts are products with the dense rows",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase worst("v = J w");
  for_each_edge<Scalar>(6201u, [&](const DrawnEdge<Scalar>& drawn, VectorSource<Scalar>& source) {
    auto whitened = drawn.vector();
    Eigen::VectorXd x(drawn.unknowns);
    for (Index k = 0; k < drawn.unknowns; ++k)
      x(k) = double(whitened[std::size_t(drawn.at(k))] = source.entry(6, 0.1));
    Arrays<Scalar> found(3, std::vector<Scalar>(16, Scalar(77)));
    write_edge_velocities(drawn.edge, drawn.block.data(), whitened.data(),
                          {{found[0].data(), found[1].data(), found[2].data()}});
    for (Index k = 0; k < 16; ++k) {
      const bool own = k >= drawn.edge.first_part && k < drawn.edge.part_end;
      for (int c = 0; c < 3; ++c) {
        const Scalar value = found[std::size_t(c)][std::size_t(k)];
        if (!own) {
          CHECK(value == Scalar(77));
          continue;
        }
        const auto row = drawn.dense.row(3 * (k - drawn.edge.first_part) + c);
        worst.see(std::abs(double(value) - row.dot(x)),
                  rounding<Scalar>(30, Scalar(row.cwiseAbs().dot(x.cwiseAbs()))));
      }
    }
  });
  worst.check(300);
}

TEMPLATE_TEST_CASE("edge_kernels: momenta are added, products with the transposed rows",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase worst("p += J^T y");
  for_each_edge<Scalar>(6202u, [&](const DrawnEdge<Scalar>& drawn, VectorSource<Scalar>& source) {
    Arrays<Scalar> impulse(3, std::vector<Scalar>(16, Scalar(77)));
    const Index parts = drawn.edge.part_end - drawn.edge.first_part;
    Eigen::VectorXd gamma = Eigen::VectorXd::Zero(3 * parts);
    auto block = drawn.block;
    const Index width = parts > 0 ? Index(block.size()) / parts : 0;
    for (Index k = 0; k < parts; ++k) {
      const bool open = k % 2 == 1;  // Ĵ of an open contact must not matter
      for (int c = 0; c < 3; ++c) {
        Scalar& value = impulse[std::size_t(c)][std::size_t(2 + k)];
        value = open ? Scalar(0) : source.entry(6, 0.5);
        gamma(3 * k + c) = double(value);
      }
      if (open)
        std::fill_n(block.begin() + k * width, width, std::numeric_limits<Scalar>::infinity());
    }
    auto momentum = drawn.vector();
    for (Index k = 0; k < drawn.unknowns; ++k) momentum[std::size_t(drawn.at(k))] = Scalar(k);
    auto apart = momentum;
    const PartArray<Scalar> numbers{{impulse[0].data(), impulse[1].data(), impulse[2].data()}};
    add_edge_momentum(drawn.edge, block.data(), numbers, momentum.data());
    add_edge_momentum(drawn.edge, block.data(), numbers, apart.data(), true, false);
    add_edge_momentum(drawn.edge, block.data(), numbers, apart.data(), false, true);
    CHECK(apart == momentum);
    const Eigen::VectorXd added = drawn.dense.transpose() * gamma;
    const Eigen::VectorXd size = drawn.dense.cwiseAbs().transpose() * gamma.cwiseAbs();
    for (Index k = 0; k < drawn.unknowns; ++k) {
      worst.see(std::abs(double(momentum[std::size_t(drawn.at(k))]) - double(k) - added(k)),
                rounding<Scalar>(30, Scalar(size(k) + double(k))));
    }
  });
  worst.check(300);
}

TEMPLATE_TEST_CASE(
    "edge_kernels: curvature is the sum of 3x3 products over the contacts that have any",
    "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase symmetric("symmetric G"), general("any G");
  for_each_edge<Scalar>(6203u, [&](const DrawnEdge<Scalar>& drawn, VectorSource<Scalar>& source) {
    const Index parts = drawn.edge.part_end - drawn.edge.first_part;
    Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(3 * parts, 3 * parts), lopsided = whole;
    std::vector<Symmetric3<Scalar>> gs;
    std::vector<General3<Scalar>> hs;
    const auto draw = [&] { return source.entry(4, 0.1); };
    for (Index k = 0; k < parts; ++k) {
      gs.push_back({draw(), draw(), draw(), draw(), draw(), draw()});
      hs.push_back({draw(), draw(), draw(), draw(), draw(), draw(), draw(), draw(), draw()});
      if (k % 3 == 1) continue;
      whole.block<3, 3>(3 * k, 3 * k) = dense_of(gs.back());
      lopsided.block<3, 3>(3 * k, 3 * k) = dense_of(hs.back());
      CHECK((dense_of(hs.back().transpose()) == dense_of(hs.back()).transpose()));
    }
    const auto pick = [&](const auto& list) {
      return [&](Index part, auto& g) {
        const Index k = part - drawn.edge.first_part;
        g = as_general(list[std::size_t(k)]);
        return k % 3 != 1;
      };
    };
    const Targets<Scalar> one(drawn.edge), two(drawn.edge);
    add_edge_curvature(drawn.edge, drawn.block.data(), pick(gs), one.columns);
    compare_all(one, drawn, whole, symmetric);
    add_edge_curvature(drawn.edge, drawn.block.data(), pick(hs), two.columns);
    compare_all(two, drawn, lopsided, general);
  });
  symmetric.check(1000);
  general.check(1000);
}

TEMPLATE_TEST_CASE("edge_kernels: blocks whose targets have no data are left out", "[solvers]",
                   float, double) {
  using Scalar = TestType;
  WorstCase worst("high-high");
  for_each_edge<Scalar>(6204u, [&](const DrawnEdge<Scalar>& drawn, VectorSource<Scalar>&) {
    if (drawn.edge.high_slot < 0) return;
    const Index parts = drawn.edge.part_end - drawn.edge.first_part, high = drawn.edge.high_size,
                low = drawn.edge.low_size;
    Targets<Scalar> targets(drawn.edge, false);
    const auto identity = [](Index, General3<Scalar>& g) {
      g = {};
      g.xx = g.yy = g.zz = Scalar(1);
      return true;
    };
    add_edge_curvature(drawn.edge, drawn.block.data(), identity, targets.columns);
    const Eigen::MatrixXd rows = drawn.dense.rightCols(high);
    targets.compare(2, rows.transpose() * rows, rows.cwiseAbs().transpose() * rows.cwiseAbs(),
                    worst, 60);
    targets.compare(1, Eigen::MatrixXd::Zero(high, low), Eigen::MatrixXd::Zero(high, low), worst,
                    0);
    CHECK(parts >= 0);
  });
  worst.check(300);
}

TEMPLATE_TEST_CASE("edge_kernels: another block's curvature couples its parts", "[solvers][oracle]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(6205u);
  WorstCase worst("J^T G J of six rows");
  for (const auto& [low, high] :
       std::initializer_list<std::pair<int, int>>{{6, 0}, {6, 6}, {3, 9}, {1, 2}, {8, 3}}) {
    for (const int rows : {1, 3, 4, 6}) {
      const Index own = (rows + 2) / 3,
                  parts = 1 + own + 2;  // a contact and another block of two parts beside it
      const DrawnEdge<Scalar> drawn(source, low, high, parts, parts - 1, 4);
      WeightedBlock<Scalar> law;
      law.set = carom::free_impulses<Scalar>(rows);
      law.regularization.setOnes();
      const PackedBlock<Scalar> other(law, 0, drawn.edge.other_begin);
      SquareMatrix<Scalar, 6> g = SquareMatrix<Scalar, 6>::Zero();
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows; ++j) g(i, j) = source.entry(4, 0.3);
      }
      if (rows == 6) g.template block<3, 3>(3, 0).setZero();
      Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(3 * parts, 3 * parts);
      whole.block(3, 3, 3 * own, 3 * own) =
          g.template cast<double>().topLeftCorner(3 * own, 3 * own);
      const Targets<Scalar> targets(drawn.edge);
      add_other_curvature(drawn.edge, drawn.block.data(), other, g, targets.columns);
      compare_all(targets, drawn, whole, worst);
      if (high == 0) continue;
      Targets<Scalar> part(drawn.edge, false);
      add_other_curvature(drawn.edge, drawn.block.data(), other, g, part.columns);
      part.compare(1, Eigen::MatrixXd::Zero(high, low), Eigen::MatrixXd::Zero(high, low), worst, 0);
      const Eigen::MatrixXd right = drawn.dense.rightCols(high);
      part.compare(2, right.transpose() * whole * right,
                   right.cwiseAbs().transpose() * whole.cwiseAbs() * right.cwiseAbs(), worst, 60);
    }
  }
  worst.check(300);
}

}  // namespace edge_kernels_test
