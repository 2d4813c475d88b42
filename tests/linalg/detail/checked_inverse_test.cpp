// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/checked_inverse.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/wide_float.hpp"
#include "support/worst_case.hpp"

namespace checked_inverse_test {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::detail::CheckedInverse;
using carom::testing::invert, carom::testing::VectorSource, carom::testing::Wide;
using carom::testing::WorstCase;

/// A symmetric matrix whose condition grows with the decades, over units that differ.
template <typename Scalar>
MatrixX<Scalar> draw(VectorSource<double>& source, Index size, double decades) {
  const Eigen::MatrixXd spread = carom::testing::draw_matrix(source, size, size);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
  for (Index k = 0; k < size; ++k) {
    matrix += source.positive(decades) * spread.col(k) * spread.col(k).transpose();
  }
  Eigen::VectorXd units(size);
  for (Index k = 0; k < size; ++k) units(k) = source.positive(6);
  matrix = units.asDiagonal() * matrix * units.asDiagonal();
  MatrixX<Scalar> result = matrix.cast<Scalar>();
  return (result + result.transpose()) / Scalar(2);
}

TEMPLATE_TEST_CASE("checked_inverse: the norm that it gives is no less than the exact one",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(84u);
  WorstCase holds("norm"), tight("not much more, where the matrix is well-conditioned");
  int proven = 0;
  const int count = carom::testing::sweep(100, 1500);
  for (int sample = 0; sample < count; ++sample) {
    const Index size = 1 + Index(source.unit() * 9);
    const double decades = source.pick({0, 2, 4, 8});
    const MatrixX<Scalar> matrix = draw<Scalar>(source, size, decades);
    MatrixX<Scalar> factor = matrix;
    if (!carom::factor_cholesky(factor.data(), size, size)) continue;
    const CheckedInverse<Scalar> inverse(matrix, factor);
    if (!(inverse.factor() < std::numeric_limits<Scalar>::infinity())) continue;
    ++proven;
    const VectorX<Scalar> p = carom::testing::draw_matrix(source, size, 1).template cast<Scalar>();
    VectorX<Scalar> bounds(size);
    for (Index i = 0; i < size; ++i) bounds(i) = inverse.row_times(i, p.data()).most();
    const Scalar bound = inverse.factor() * carom::detail::norm_of_bounds(bounds);
    const auto q = carom::testing::convert_vector<Wide>(p);
    const auto solved = carom::testing::multiply(invert(carom::testing::widen(matrix)), q);
    const Wide exact = sqrt(carom::testing::inner(q, solved));
    carom::testing::see_wide(holds, exact, bound, decades, inverse.defect());
    if (decades == 0 && inverse.defect() < Scalar(0.01)) {
      carom::testing::see_wide(tight, bound, Wide(1.02) * exact, inverse.defect());
    }
  }
  holds.check(count / 3);
  tight.check(count / 20);
  CHECK(proven >= count / 3);
}

TEST_CASE("checked_inverse: of the identity, ζ is what two products may lose by rounding",
          "[linalg][example]") {
  // Each entry of the diagonal is 1, twice γ_{n+2} uncertain, with γ_k = k u/(1 - k u); the others
  // are 0.
  for (const Index size : {1, 2, 3, 6}) {
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(size, size);
    const double lost = double(size + 2) * carom::detail::unit_rounding<double>;
    const double exact = 2 * lost / (1 - lost) * std::sqrt(double(size));
    const double defect = CheckedInverse<double>(identity, identity).defect();
    CHECK(defect >= exact);
    CHECK(defect <= exact + carom::testing::rounding(256, exact));
  }
}

TEST_CASE("checked_inverse: a factor of another matrix proves nothing, or no more than is true",
          "[linalg][example]") {
  using Matrix = Eigen::MatrixXd;
  const Matrix matrix = 4 * Matrix::Identity(2, 2);
  Matrix factor = 2 * Matrix::Identity(2, 2);
  CHECK(CheckedInverse<double>(matrix, factor).defect() <= carom::testing::rounding(40, 1.0));
  factor(0, 0) = 1;  // X A Xᵀ = diag(4, 1)
  CHECK(CheckedInverse<double>(matrix, factor).factor() == std::numeric_limits<double>::infinity());
  factor(0, 0) = 4;  // diag(1/4, 1): ζ = 3/4
  CHECK(CheckedInverse<double>(matrix, factor).factor() ==
        Approx(2).epsilon(carom::testing::rounding(100, 1.0)));
}

}  // namespace checked_inverse_test
