// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/matrix_entries.hpp"

#include <Eigen/LU>

#include "support/catch.hpp"

namespace matrix_entries_test {

using carom::Index;
using carom::detail::entries_of, carom::detail::in_memory, carom::detail::write_entries;
using RowMajor = Eigen::Matrix<double, 2, 3, Eigen::RowMajor>;

namespace {

/// Whether the entries of any matrix or expression are copied, by columns and by rows.
template <typename Derived>
bool copies(const Eigen::MatrixBase<Derived>& given) {
  const Eigen::MatrixXd expected = given;
  const Index rows = expected.rows(), columns = expected.cols();
  Eigen::MatrixXd copy(rows, columns), mirrored(columns, rows);
  write_entries(given, 1, rows, copy.data());
  write_entries(given, columns, 1, mirrored.data());
  const auto& kept = in_memory(given);
  const auto entries = entries_of(kept);
  bool same = copy == expected && mirrored == expected.transpose();
  same = same && entries.rows == rows && entries.columns == columns;
  for (Index c = 0; c < columns; ++c) {
    for (Index r = 0; r < rows; ++r) same = same && entries(r, c) == expected(r, c);
  }
  return same;
}

}  // namespace

TEST_CASE("matrix_entries: matrices of all kinds are read and copied", "[core][law]") {
  const Eigen::MatrixXd large = Eigen::MatrixXd::Random(7, 5);
  RowMajor by_rows;
  by_rows << 1, 2, 3, 4, 5, 6;
  const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> map(large.data(), 3, 4,
                                                                       Eigen::OuterStride<>(7));
  CHECK(copies(large));
  CHECK(copies(by_rows));
  CHECK(copies(large.block(2, 1, 3, 4)));
  CHECK(copies(large.transpose()));
  CHECK(copies(large.row(3)));
  CHECK(copies(large.col(2)));
  CHECK(copies(map));
  CHECK(copies(Eigen::MatrixXd(0, 4)));
}

TEST_CASE("matrix_entries: expressions are worked out first", "[core][law]") {
  Eigen::Matrix3d turn;  // whole numbers, whose products are exact
  turn << 1, -2, 3, 0, 4, 5, -6, 7, 2;
  Eigen::Matrix<double, 3, 6> rows;
  rows << 1, 2, 3, 4, 5, 6, -1, 0, 2, -3, 4, 0, 7, 1, -5, 2, 8, 3;
  CHECK(copies(Eigen::Matrix3d::Identity()));
  CHECK(copies(2 * turn + turn.transpose()));
  CHECK(copies(turn * rows));
  CHECK(copies(3 * (turn * rows).transpose()));
  CHECK(copies(turn.inverse()));
}

TEST_CASE("matrix_entries: a vector's entries have one index, also in memory of its own",
          "[core][example]") {
  CHECK(entries_of(Eigen::Vector3d::Zero().eval()).is_column);
  CHECK_FALSE(entries_of(Eigen::MatrixXd::Zero(3, 1).eval()).is_column);
  const Eigen::Vector3d x(1, 2, 3);
  CHECK(&in_memory(x) == &x);
}

}  // namespace matrix_entries_test
