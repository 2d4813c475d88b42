// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace cholesky_test {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// A symmetric positive definite matrix whose scales spread over some decades.
template <typename Scalar>
MatrixX<Scalar> draw_definite(VectorSource<Scalar>& source, Index size) {
  MatrixX<Scalar> spread(size, size);
  for (Index i = 0; i < spread.size(); ++i) spread(i) = Scalar(2 * source.unit() - 1);
  MatrixX<Scalar> a = spread * spread.transpose();
  a.diagonal().array() += Scalar(0.1) * Scalar(size + 1);
  for (Index i = 0; i < size; ++i) {
    const Scalar scale = source.positive(4);
    a.row(i) *= scale;
    a.col(i) *= scale;
  }
  return a;
}

/// A matrix in memory with columns `stride` apart; everything that must not matter is NaN.
template <typename Scalar>
struct Strided {
  Index size, stride;
  std::vector<Scalar> memory;

  Strided(const MatrixX<Scalar>& a, Index padding)
      : size(a.rows()),
        stride(a.rows() + padding),
        memory(std::size_t(stride * size + 1), std::numeric_limits<Scalar>::quiet_NaN()) {
    for (Index c = 0; c < size; ++c) {
      for (Index r = c; r < size; ++r) at(r, c) = a(r, c);
    }
  }
  Scalar& at(Index r, Index c) { return memory[std::size_t(c * stride + r)]; }
  Scalar* data() { return memory.data(); }

  MatrixX<Scalar> lower() {
    MatrixX<Scalar> result = MatrixX<Scalar>::Zero(size, size);
    for (Index c = 0; c < size; ++c) {
      for (Index r = c; r < size; ++r) result(r, c) = at(r, c);
    }
    return result;
  }
};

constexpr int matrix_count = 3 * carom::testing::sweep(31, 71);  ///< of for_each_size.

template <typename Scalar, typename Visit>
void for_each_size(const Visit& visit) {
  VectorSource<Scalar> source(611953u);
  for (Index size = 0; size <= 70; size += size < 20 ? 1 : carom::testing::sweep(5, 1)) {
    for (const Index padding : {0, 1, 7}) visit(draw_definite(source, size), padding, source);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("cholesky: the factor times its transpose is the matrix", "[linalg][law]", float,
                   double) {
  WorstCase returns("A = L L'");
  for_each_size<TestType>([&](const MatrixX<TestType>& a, Index padding, auto&) {
    Strided<TestType> kept(a, padding);
    const bool factored = carom::factor_cholesky(kept.data(), kept.size, kept.stride);
    returns.see_holds(factored, double(a.rows()), double(padding));
    const auto lower = kept.lower().template cast<long double>().eval();
    const auto product = (lower * lower.transpose()).eval();
    for (Index c = 0; c < a.cols(); ++c) {
      for (Index r = c; r < a.rows(); ++r) {  // entrywise bound of Higham, thm 10.3
        const long double size = std::sqrt(static_cast<long double>(a(r, r)) * a(c, c));
        returns.see(std::abs(product(r, c) - a(r, c)),
                    static_cast<long double>(rounding(int(a.rows()) + 3, TestType(1))) * size,
                    double(a.rows()), double(padding), double(r), double(c));
      }
    }
  });
  returns.check(matrix_count);
}

TEMPLATE_TEST_CASE("cholesky: what is above the diagonal or between columns is not touched",
                   "[linalg][law]", float, double) {
  WorstCase untouched("only the lower triangle is written"), unread("nothing else is read");
  for_each_size<TestType>([&](const MatrixX<TestType>& a, Index padding, auto&) {
    Strided<TestType> poisoned(a, padding), plain(a, padding);
    for (TestType& number : plain.memory) {
      if (std::isnan(number)) number = TestType(42);
    }
    const bool both = carom::factor_cholesky(poisoned.data(), poisoned.size, poisoned.stride) &&
                      carom::factor_cholesky(plain.data(), plain.size, plain.stride);
    unread.see_holds(both && poisoned.lower() == plain.lower(), double(a.rows()), double(padding));
    Index outside = 0, kept = 0;
    for (Index i = 0; i < Index(plain.memory.size()); ++i) {
      const Index c = i / std::max<Index>(plain.stride, 1),
                  r = i % std::max<Index>(plain.stride, 1);
      if (c < plain.size && r >= c && r < plain.size) continue;
      ++outside;
      kept += plain.memory[std::size_t(i)] == TestType(42) &&
              std::isnan(poisoned.memory[std::size_t(i)]);
    }
    untouched.see_holds(outside == kept, double(a.rows()), double(padding));
  });
  untouched.check(matrix_count);
  unread.check(matrix_count);
}

TEMPLATE_TEST_CASE("cholesky: a matrix that is not positive definite is refused, wherever it fails",
                   "[linalg][law]", float, double) {
  WorstCase refused("the pivot is refused");
  VectorSource<TestType> source(77u);
  for (const Index size : {1, 2, 3, 4, 5, 8, 11, 16, 33}) {
    for (Index bad = 0; bad < size; ++bad) {
      for (const TestType value :
           {TestType(-1), TestType(0), -std::numeric_limits<TestType>::infinity(),
            std::numeric_limits<TestType>::infinity(),
            std::numeric_limits<TestType>::quiet_NaN()}) {
        MatrixX<TestType> a = draw_definite(source, size);
        // Without the rest of its row the pivot is this number itself.
        a.row(bad).setZero();
        a.col(bad).setZero();
        a(bad, bad) = value;
        Strided<TestType> kept(a, 3);
        refused.see_holds(!carom::factor_cholesky(kept.data(), kept.size, kept.stride),
                          double(size), double(bad), value);
      }
      if (bad == 0) continue;
      MatrixX<TestType> a = draw_definite(source, size);
      a(bad, bad - 1) = a(bad - 1, bad) = std::numeric_limits<TestType>::quiet_NaN();
      Strided<TestType> off(a, 0);
      refused.see_holds(!carom::factor_cholesky(off.data(), off.size, off.stride), double(size),
                        double(bad));
      a(bad, bad - 1) = a(bad - 1, bad) =
          TestType(1.5) * std::sqrt(a(bad, bad) * a(bad - 1, bad - 1));
      Strided<TestType> indefinite(a, 0);
      refused.see_holds(!carom::factor_cholesky(indefinite.data(), size, size), double(size),
                        double(bad));
    }
  }
  refused.check();
}

TEMPLATE_TEST_CASE("cholesky: triangular solves and products agree with dense algebra",
                   "[linalg][oracle]", float, double) {
  using Wide = MatrixX<long double>;
  WorstCase forward("L x = b"), backward("L' x = b"), product("x <- L' x");
  for_each_size<TestType>([&](const MatrixX<TestType>& a, Index padding, auto& source) {
    const Index size = a.rows();
    Strided<TestType> kept(a, padding);
    if (!carom::factor_cholesky(kept.data(), kept.size, kept.stride)) return;
    const Wide lower = kept.lower().template cast<long double>();
    VectorX<TestType> b(size);
    for (Index i = 0; i < size; ++i) b(i) = source.entry(4);
    const VectorX<long double> wide = b.template cast<long double>();
    const long double unit = rounding(int(size) + 2, TestType(1));
    const auto note = [&](WorstCase& law, const Wide& matrix, const VectorX<long double>& x,
                          const VectorX<long double>& target) {
      const VectorX<long double> allowed =
          unit * (matrix.cwiseAbs() * x.cwiseAbs() + target.cwiseAbs());
      const VectorX<long double> error = (matrix * x - target).cwiseAbs();
      for (Index i = 0; i < size; ++i) law.see(error(i), allowed(i), double(size), double(i));
    };
    VectorX<TestType> x = b;
    carom::solve_lower(kept.data(), size, kept.stride, x.data());
    note(forward, lower, x.template cast<long double>(), wide);
    x = b;
    carom::solve_lower_transposed(kept.data(), size, kept.stride, x.data());
    note(backward, lower.transpose(), x.template cast<long double>(), wide);
    x = b;
    carom::multiply_lower_transposed(kept.data(), size, kept.stride, x.data());
    note(product, lower.transpose(), wide, x.template cast<long double>());
  });
  forward.check(matrix_count);
  backward.check(matrix_count);
  product.check(matrix_count);
}

TEMPLATE_TEST_CASE("cholesky: right sides solved together are solved one by one", "[linalg][law]",
                   float, double) {
  WorstCase same("L X = B"), untouched("nothing beyond them is written");
  for_each_size<TestType>([&](const MatrixX<TestType>& a, Index padding, auto& source) {
    const Index size = a.rows();
    Strided<TestType> kept(a, padding);
    if (!carom::factor_cholesky(kept.data(), kept.size, kept.stride)) return;
    for (const Index count : {0, 1, 2, 3, 4, 8}) {
      MatrixX<TestType> together(size, count + 1);
      for (Index i = 0; i < together.size(); ++i) together(i) = source.entry(4);
      MatrixX<TestType> alone = together;
      carom::solve_lower(kept.data(), size, kept.stride, together.data(), count);
      for (Index c = 0; c < count; ++c) {
        carom::solve_lower(kept.data(), size, kept.stride, alone.col(c).data());
        const TestType error = (together.col(c) - alone.col(c)).norm();
        same.see(double(error), double(rounding(int(size) + 2, alone.col(c).norm())), double(size),
                 double(count), double(c));
      }
      untouched.see_holds(together.col(count) == alone.col(count), double(size), double(count));
    }
  });
  same.check(18 * matrix_count);
  untouched.check(6 * matrix_count);
}

TEST_CASE("cholesky: one exact factorisation", "[linalg][example]") {
  // L = [2 0 0; -1 3 0; 4 5 1]
  double a[] = {4, -2, 8, 0, 10, 11, 0, 0, 42};
  REQUIRE(carom::factor_cholesky(a, Index(3), Index(3)));
  CHECK(a[0] == 2);
  CHECK(a[1] == -1);
  CHECK(a[2] == 4);
  CHECK(a[4] == 3);
  CHECK(a[5] == 5);
  CHECK(a[8] == 1);
  double x[] = {2, 5, 15};
  carom::solve_lower(a, Index(3), Index(3), x);
  CHECK(Eigen::Vector3d(x[0], x[1], x[2]) == Eigen::Vector3d(1, 2, 1));
  carom::multiply_lower_transposed(a, Index(3), Index(3), x);
  CHECK(Eigen::Vector3d(x[0], x[1], x[2]) == Eigen::Vector3d(4, 11, 1));
  carom::solve_lower_transposed(a, Index(3), Index(3), x);
  CHECK(Eigen::Vector3d(x[0], x[1], x[2]) == Eigen::Vector3d(1, 2, 1));
}

}  // namespace cholesky_test
