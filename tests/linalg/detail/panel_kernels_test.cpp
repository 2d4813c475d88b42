// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/panel_kernels.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>

#include "support/catch.hpp"
#include "support/executors.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace panel_kernels_test {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::detail::Columns, carom::detail::lanes_above, carom::detail::lanes_below;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

template <typename Scalar>
MatrixX<Scalar> draw_matrix(VectorSource<Scalar>& source, Index rows, Index columns) {
  MatrixX<Scalar> matrix(rows, columns);
  for (Index c = 0; c < columns; ++c) {
    for (Index r = 0; r < rows; ++r) matrix(r, c) = source.entry(1);
  }
  return matrix;
}

template <typename Scalar>
MatrixX<Scalar> draw_definite(VectorSource<Scalar>& source, Index size) {
  const MatrixX<Scalar> root = draw_matrix(source, size, size);
  return root * root.transpose() + Scalar(size) * MatrixX<Scalar>::Identity(size, size);
}

/// A matrix with room for whole lanes of rows, zero below the given ones.
template <typename Scalar>
MatrixX<Scalar> padded(const MatrixX<Scalar>& matrix) {
  MatrixX<Scalar> result = MatrixX<Scalar>::Zero(lanes_above(matrix.rows()), matrix.cols());
  result.topRows(matrix.rows()) = matrix;
  return result;
}

template <typename Scalar>
Columns<Scalar> columns(MatrixX<Scalar>& matrix) {
  return {matrix.data(), matrix.rows()};
}
template <typename Scalar>
Columns<const Scalar> given(const MatrixX<Scalar>& matrix) {
  return {matrix.data(), matrix.rows()};
}

template <typename Scalar>
MatrixX<Scalar> lower_part(const MatrixX<Scalar>& matrix) {
  return matrix.template triangularView<Eigen::Lower>();
}

}  // namespace

TEST_CASE("panel_kernels: rows are counted in whole lanes", "[linalg][example]") {
  CHECK((lanes_below(0) == 0 && lanes_above(0) == 0));
  CHECK((lanes_below(7) == 0 && lanes_above(7) == 8));
  CHECK((lanes_below(8) == 8 && lanes_above(8) == 8));
  CHECK((lanes_below(9) == 8 && lanes_above(9) == 16));
}

TEST_CASE("panel_kernels: a few numbers are added, and none behind them", "[linalg][law]") {
  for (int count = 0; count <= 21; ++count) {
    std::vector<double> target(std::size_t(count) + 1, 3), source(std::size_t(count) + 1, 4);
    carom::detail::add_numbers(target.data(), source.data(), count);
    CAPTURE(count);
    for (int i = 0; i < count; ++i) CHECK(target[std::size_t(i)] == 7);
    CHECK(target.back() == 3);
  }
}

TEST_CASE("panel_kernels: panels cover all columns once", "[linalg][law]") {
  for (Index count = 0; count <= 20; ++count) {
    Index next = 0;
    const bool done = carom::detail::for_each_panel(count, [&](Index first, auto width) {
      CHECK(first == next);
      next += width.value;
      return true;
    });
    CHECK((done && next == count));
  }
  int panels = 0;
  CHECK_FALSE(carom::detail::for_each_panel(20, [&](Index, auto) { return ++panels < 2; }));
  CHECK(panels == 2);
}

TEMPLATE_TEST_CASE("panel_kernels: a product is subtracted from what was there, or from nothing",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(3u);
  for (const Index lanes : {1, 2, 3}) {
    for (const Index depth : {0, 1, 7}) {
      const Index rows = 8 * lanes;
      // Columns beyond the depth are not read.
      const MatrixX<Scalar> a = draw_matrix(source, rows, depth + 1);
      const MatrixX<Scalar> start = draw_matrix(source, rows, 3);
      const MatrixX<Scalar> product = a.leftCols(depth) * a.topLeftCorner(3, depth).transpose();
      MatrixX<Scalar> c = start, fresh = start;
      carom::detail::subtract_product<3, false, Scalar>(columns(c), given(a), a.data(), depth, 0,
                                                        rows);
      carom::detail::subtract_product<3, true, Scalar>(columns(fresh), given(a), a.data(), depth, 0,
                                                       rows);
      CAPTURE(rows, depth);
      CHECK((c + product - start).norm() <= rounding(30, start.norm() + product.norm()));
      CHECK((fresh + product).norm() <= rounding(30, product.norm()));
    }
  }
}

TEMPLATE_TEST_CASE("panel_kernels: leading columns leave the rest of the dense factorisation",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(5u);
  for (const Index size : {1, 5, 8, 13, 24, 31}) {
    for (const Index count : {Index(1), (size + 1) / 2, size}) {
      const MatrixX<Scalar> matrix = draw_definite(source, size);
      const MatrixX<Scalar> l = Eigen::LLT<MatrixX<Scalar>>(matrix).matrixL();
      MatrixX<Scalar> factor = padded(matrix);
      REQUIRE(carom::detail::factor_leading_columns(columns(factor), count, size));
      MatrixX<Scalar> own = lower_part<Scalar>(factor.topLeftCorner(size, count));
      own.diagonal() = own.diagonal().cwiseInverse().eval();
      const Scalar allowed = rounding(20 * int(size), matrix.norm());
      CAPTURE(size, count);
      CHECK((own - lower_part<Scalar>(l.leftCols(count))).norm() <= allowed);
      const Index rest = size - count;
      MatrixX<Scalar> left = padded<Scalar>(matrix.bottomRightCorner(rest, rest));
      const MatrixX<Scalar> below = padded<Scalar>(factor.block(count, 0, rest, count));
      carom::detail::subtract_square<false, Scalar>(columns(left), given(below), count, rest);
      const MatrixX<Scalar> end = l.bottomRightCorner(rest, rest);
      CHECK(lower_part<Scalar>(left.topRows(rest) - end * end.transpose()).norm() <= allowed);

      // With all columns, forth and back solve the system.
      if (count < size) continue;
      const VectorX<Scalar> b = draw_matrix(source, size, 1);
      VectorX<Scalar> x = VectorX<Scalar>::Zero(lanes_above(size));
      x.head(size) = b;
      carom::detail::solve_leading_columns(given(factor), size, size, x.data());
      carom::detail::solve_leading_columns_transposed(given(factor), size, size, x.data());
      CHECK((matrix * x.head(size) - b).norm() <=
            rounding(20 * int(size), matrix.norm() * x.norm()));
    }
  }
}

TEST_CASE("panel_kernels: a matrix that is not positive definite is refused", "[linalg][example]") {
  MatrixX<double> matrix = MatrixX<double>::Identity(16, 16);
  matrix(9, 9) = 0;
  MatrixX<double> factor = matrix;
  CHECK_FALSE(carom::detail::factor_leading_columns(columns(factor), 16, 16));
  factor = matrix;
  CHECK(carom::detail::factor_leading_columns(columns(factor), 9, 16));
  factor(2, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(carom::detail::factor_leading_columns(columns(factor), 9, 16));
}

}  // namespace panel_kernels_test

namespace shared_panels_test {

using carom::Crew, carom::Index;
using carom::detail::Columns, carom::detail::factor_leading_columns, carom::detail::lanes_above;
using carom::detail::RowShares, carom::detail::subtract_square;
using carom::testing::for_each_executor;

namespace {

/// Columns that are factored, and the square that they leave.
struct Front {
  Index own, rows, stride;
  std::vector<double> columns, square;

  Front(Index own_size, Index row_count)
      : own(own_size), rows(row_count), stride(lanes_above(own + lanes_above(rows)) + 8) {
    columns.resize(std::size_t(stride * own));
    square.resize(std::size_t(stride * rows));
    for (Index c = 0; c < own; ++c) {
      for (Index r = c; r < own + rows; ++r) {
        columns[std::size_t(c * stride + r)] = r == c ? double(own) : std::sin(double(3 * c + r));
      }
    }
  }
  [[nodiscard]] bool factor(const RowShares& shares) {
    const Columns<double> lower{columns.data(), stride};
    if (!factor_leading_columns(lower, own, own + rows, shares)) return false;
    subtract_square<true>(Columns<double>{square.data(), stride},
                          Columns<const double>{columns.data() + own, stride}, own, rows, shares);
    return true;
  }
};

}  // namespace

TEST_CASE("shared_panels: a shared front has the bits of one thread", "[linalg][law]") {
  for (const auto& [own, rows] : {std::pair<Index, Index>{301, 200}, {40, 460}, {7, 5}}) {
    Front alone(own, rows);
    REQUIRE(alone.factor({}));
    for_each_executor([&, own = own, rows = rows](const auto& executor) {
      Front shared(own, rows);
      bool positive = false;
      Crew crew;
      executor(4, [&](Index) { crew.join([&] { positive = shared.factor(RowShares{&crew}); }); });
      CAPTURE(own, rows);
      CHECK(positive);
      CHECK(shared.columns == alone.columns);
      CHECK(shared.square == alone.square);
    });
  }
}

TEST_CASE("shared_panels: a pivot that is not positive ends the factor", "[linalg][example]") {
  Front front(300, 200);
  front.columns[std::size_t(250 * front.stride + 250)] = -1e9;
  Crew crew;
  CHECK_FALSE(front.factor(RowShares{&crew}));
}

}  // namespace shared_panels_test
