// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/reduced_factor.hpp"

#include <limits>
#include <vector>

#include <Eigen/Dense>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace reduced_factor_test {

using carom::Index, carom::detail::invert_reduced_factor, carom::detail::lanes_above;
using carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// C⁻¹ as a matrix, or an empty one where there is none.
Eigen::MatrixXd invert(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const Index size = a.rows(), lanes = lanes_above(size);
  const auto padded = [&](const Eigen::MatrixXd& matrix) {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(lanes, size);
    result.topRows(size) = matrix;
    return result;
  };
  const Eigen::MatrixXd first = padded(a), second = padded(b);
  Eigen::MatrixXd factor = padded(a), inverse = Eigen::MatrixXd::Zero(lanes, size);
  if (!invert_reduced_factor(first.data(), second.data(), size, factor.data(), inverse.data())) {
    return {};
  }
  return inverse.topRows(size);
}

/// Σ of the entries of C⁻¹ (A − θ B) C⁻ᵀ − I.
double error_of(const Eigen::MatrixXd& inverse, const Eigen::MatrixXd& reduced) {
  const Eigen::MatrixXd half = inverse.lazyProduct(reduced);
  return (half.lazyProduct(inverse.transpose()) -
          Eigen::MatrixXd::Identity(reduced.rows(), reduced.cols()))
      .norm();
}

}  // namespace

TEST_CASE("reduced_factor: inverts the factor with the largest share that is definite enough",
          "[linalg][law]") {
  VectorSource<double> source(9300u);
  WorstCase right("C⁻¹ (A − θ B) C⁻ᵀ = I");
  for (const Index size : {1, 3, 6, 7, 9}) {
    const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(size, size);
    Eigen::MatrixXd half(size, 1);
    for (Index k = 0; k < size; ++k) half(k, 0) = 2 * source.unit() - 1;
    const Eigen::MatrixXd shared = half.lazyProduct(half.transpose());
    right.see(error_of(invert(2 * unit + shared, unit + shared), unit), rounding(100, 1.0), size);
    // A − θ B = (2 − θ β) I: the share is the first that leaves at least one half.
    const double betas[] = {1, 1.6, 2.5, 100}, shares[] = {1, 0.9, 0.5, 0};
    for (int k = 0; k < 4; ++k) {
      const Eigen::MatrixXd inverse = invert(2 * unit, betas[k] * unit);
      REQUIRE(inverse.size() > 0);
      right.see(error_of(inverse, (2 - shares[k] * betas[k]) * unit), rounding(100, 1.0), size, k);
    }
  }
  right.check(20);
}

TEST_CASE("reduced_factor: neither indefinite nor NaN is factored", "[linalg]") {
  const Eigen::MatrixXd none = Eigen::MatrixXd::Zero(6, 6);
  Eigen::MatrixXd a = Eigen::MatrixXd::Identity(6, 6);
  CHECK(invert(a, none).size() == 36);
  a(4, 4) = -1;
  CHECK(invert(a, none).size() == 0);
  a(4, 4) = std::numeric_limits<double>::quiet_NaN();
  CHECK(invert(a, none).size() == 0);
}

}  // namespace reduced_factor_test
