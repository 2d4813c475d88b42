// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/conjugate_gradient.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

#include <Eigen/Cholesky>

#include "support/block_matrices.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace conjugate_gradient_test {

using carom::conjugate_gradient, carom::ConjugateGradientReport, carom::Index, carom::VectorX;
using carom::testing::BlockGraph, carom::testing::BlockMatrix, carom::testing::rounding;
using carom::testing::WorstCase;

namespace {

template <typename Scalar>
struct Solved {
  VectorX<Scalar> x;
  ConjugateGradientReport<Scalar> report;
};

/// Solves with the matrix's diagonal as preconditioner.
template <typename Scalar>
Solved<Scalar> solve(const Eigen::MatrixXd& dense, const Eigen::VectorXd& b, Scalar target,
                     int limit) {
  const Index size = b.size();
  VectorX<Scalar> x(size), r = b.cast<Scalar>(), p(size), q(size);
  const carom::MatrixX<Scalar> matrix = dense.cast<Scalar>();
  using Map = Eigen::Map<VectorX<Scalar>>;
  using Given = Eigen::Map<const VectorX<Scalar>>;
  const auto report = conjugate_gradient<Scalar>(
      {x.data(), r.data(), p.data(), q.data(), size}, target, limit,
      [&](const Scalar* in, Scalar* out) { Map(out, size) = matrix * Given(in, size); },
      [&](const Scalar* in, Scalar* out) {
        Map(out, size) = Given(in, size).cwiseQuotient(matrix.diagonal());
      });
  return {x, report};
}

template <typename Visit>
void for_each_matrix(const Visit& visit) {
  std::uint32_t seed = 0;
  carom::testing::for_each_block_graph(
      [&](const BlockGraph& graph) { visit(BlockMatrix(graph, ++seed)); });
}

}  // namespace

TEMPLATE_TEST_CASE("conjugate_gradient: it reaches the target it was given", "[linalg][law]", float,
                   double) {
  using Scalar = TestType;
  WorstCase residual("residual"), reported("reported residual");
  int count = 0;
  const double relative = std::is_same_v<Scalar, float> ? 1e-4 : 1e-10;
  for_each_matrix([&](const BlockMatrix& matrix) {
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.dense.rows(), -1, 2);
    const auto [x, report] = solve<Scalar>(matrix.dense, b, Scalar(relative * b.norm()), 10000);
    const Eigen::VectorXd solved = x.template cast<double>();
    const double noise = rounding(100, Scalar(1)) * (matrix.dense.norm() * solved.norm());
    residual.see((matrix.dense * solved - b).norm(), relative * b.norm() + noise);
    reported.see_holds(report.usable && double(report.residual) <= 1.001 * relative * b.norm());
    ++count;
  });
  residual.check(count);
  reported.check(count);
}

TEST_CASE("conjugate_gradient: wherever it stops, the point descends and is no worse than less",
          "[linalg][law]") {
  WorstCase descends("b'x > 0"), limited("iterations"), energy("energy falls");
  int count = 0;
  for_each_matrix([&](const BlockMatrix& matrix) {
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.dense.rows(), -1, 2);
    double last = 0;
    for (const int limit : {1, 2, 3, 5, 9}) {
      const auto [x, report] = solve<double>(matrix.dense, b, 0.0, limit);
      descends.see_holds(b.dot(x) > 0);
      limited.see_holds(report.iterations <= limit);
      const double now = x.dot(matrix.dense * x) / 2 - b.dot(x);
      energy.see(now - last, rounding(100, matrix.dense.norm() * x.squaredNorm() + b.dot(x)));
      last = now;
      ++count;
    }
  });
  for (const WorstCase* law : {&descends, &limited, &energy}) law->check(count);
}

TEST_CASE("conjugate_gradient: it stops at a matrix that is not definite or not finite",
          "[linalg][example]") {
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(3);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(3, 3);
  matrix(2, 2) = -0.2;
  CHECK_FALSE(solve<double>(matrix, b, 1e-9, 50).report.usable);
  matrix(2, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(solve<double>(matrix, b, 1e-9, 50).report.usable);
  // The preconditioner, the diagonal, is negative, and the curvature along the first direction is
  // not.
  Eigen::MatrixXd crossed(2, 2);
  crossed << -1, 3, 3, -1;
  const auto stopped = solve<double>(crossed, Eigen::VectorXd::Ones(2), 1e-9, 50);
  CHECK(stopped.report.iterations == 0);
  CHECK_FALSE(stopped.report.usable);
  const auto nothing = solve<double>(Eigen::MatrixXd::Identity(3, 3), b, 100.0, 50);
  CHECK((nothing.report.iterations == 0 && nothing.x.isZero(0)));
}

}  // namespace conjugate_gradient_test
