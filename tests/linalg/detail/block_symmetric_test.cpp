// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/block_symmetric.hpp"

#include "support/catch.hpp"
#include "support/packed_blocks.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace block_symmetric_test {

using carom::BlockSymmetric, carom::VectorX;
using carom::testing::BlockMatrix, carom::testing::rounding, carom::testing::WorstCase;

TEMPLATE_TEST_CASE("block_symmetric: it multiplies as the dense matrix does", "[linalg][oracle]",
                   float, double) {
  using Scalar = TestType;
  WorstCase near("product"), untouched("nothing else is written");
  int count = 0;
  carom::testing::for_each_block_matrix([&](const BlockMatrix& matrix) {
    const auto blocks = carom::testing::pack_blocks<Scalar>(matrix);
    const carom::Index size = matrix.dense.rows();
    VectorX<Scalar> x = VectorX<Scalar>::LinSpaced(size, -1, 2), y(size + 1);
    y.setConstant(Scalar(77));
    blocks.multiply({0, blocks.column_count()}, x.data(), y.data());
    const Eigen::VectorXd expected = matrix.dense * x.template cast<double>();
    near.see((y.head(size).template cast<double>() - expected).norm(),
             rounding(10, Scalar(1)) * matrix.dense.norm() * double(x.norm()));
    untouched.see_holds(y(size) == Scalar(77));
    ++count;
  });
  near.check(count);
  untouched.check(count);
}

TEST_CASE("block_symmetric: a range is cleared, copied and multiplied alone", "[linalg][example]") {
  BlockSymmetric<double> a, b;
  for (int round = 0; round < 2; ++round) {
    a.clear_pattern();
    for (int column = 0; column < 2; ++column) {
      a.append_column(1, column);
      if (column == 0) a.append_row(1, 1);
    }
    a.append_column(2, 2);
    a.allocate();
  }
  CHECK((a.column_count() == 3 && a.block_count() == 1 && a.row(0) == 1 && a.size(2) == 2));
  a.clear({0, 3});
  a.diagonal(0)[0] = 2;
  a.diagonal(1)[0] = 3;
  a.below(0)[0] = 5;
  a.diagonal(2)[0] = a.diagonal(2)[3] = 7;
  b.copy_pattern(a);
  b.clear({0, 3});
  b.copy({0, 2}, a);
  Eigen::Vector4d x(1, 10, 100, 1000), y(0, 0, -1, -1);
  b.multiply({0, 2}, x.data(), y.data());
  CHECK(y == Eigen::Vector4d(52, 35, -1, -1));
  b.multiply({0, 3}, x.data(), y.data());
  CHECK(y == Eigen::Vector4d(52, 35, 0, 0));
  a.clear({0, 2});
  a.multiply({0, 3}, x.data(), y.data());
  CHECK(y == Eigen::Vector4d(0, 0, 700, 7000));
}

}  // namespace block_symmetric_test
