// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/biconjugate_gradient.hpp"

#include <limits>
#include <vector>

#include <Eigen/LU>

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace biconjugate_gradient_test {

using carom::biconjugate_gradient, carom::ConjugateGradientReport, carom::Index, carom::VectorX;
using carom::testing::draw_matrix, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

template <typename Scalar>
struct Solved {
  VectorX<Scalar> x;
  ConjugateGradientReport<Scalar> report;
};

/// Solves with the inverse of another matrix as preconditioner.
template <typename Scalar>
Solved<Scalar> solve(const Eigen::MatrixXd& dense, const Eigen::MatrixXd& near,
                     const Eigen::VectorXd& b, Scalar target, int limit) {
  const Index size = b.size();
  const carom::MatrixX<Scalar> matrix = dense.cast<Scalar>(),
                               inverse = near.inverse().cast<Scalar>();
  VectorX<Scalar> x(size), r = b.cast<Scalar>();
  std::vector<VectorX<Scalar>> scratch(5, VectorX<Scalar>(size));
  using Map = Eigen::Map<VectorX<Scalar>>;
  using Given = Eigen::Map<const VectorX<Scalar>>;
  const auto report = biconjugate_gradient<Scalar>(
      {x.data(), r.data(), scratch[0].data(), scratch[1].data(), scratch[2].data(),
       scratch[3].data(), scratch[4].data(), size},
      target, limit,
      [&](const Scalar* in, Scalar* out) { Map(out, size) = matrix * Given(in, size); },
      [&](const Scalar* in, Scalar* out) { Map(out, size) = inverse * Given(in, size); });
  return {x, report};
}

/// I + a positive definite matrix + a smaller one without symmetry.
struct Drawn {
  Eigen::MatrixXd matrix, symmetric;
  Eigen::VectorXd b;

  Drawn(VectorSource<double>& source, Index size) {
    const Eigen::MatrixXd root = draw_matrix(source, size, size);
    symmetric = Eigen::MatrixXd::Identity(size, size) + root * root.transpose();
    matrix = symmetric + 0.3 * draw_matrix(source, size, size);
    b = draw_matrix(source, size, 1);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("biconjugate_gradient: it reaches the target, without symmetry",
                   "[linalg][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(71u);
  WorstCase left("left"), reported("reported");
  for (int sample = 0; sample < 200; ++sample) {
    const Drawn drawn(source, 1 + sample % 24);
    const Scalar share = sample % 2 == 0 ? Scalar(1e-3) : Scalar(0.1);
    const Scalar target = share * Scalar(drawn.b.norm());
    const auto [x, report] = solve<Scalar>(drawn.matrix, drawn.symmetric, drawn.b, target, 400);
    const double rest = (drawn.b - drawn.matrix * x.template cast<double>()).norm();
    const double allowed =
        double(rounding<Scalar>(3000, 1)) * drawn.matrix.norm() * double(x.norm());
    CHECK(report.usable);
    left.see(rest, double(target) + allowed, sample, report.iterations);
    reported.see(rest - double(report.residual), allowed, sample);
  }
  left.check(200);
  reported.check(200);
}

TEST_CASE("biconjugate_gradient: with the inverse as preconditioner one product is enough",
          "[linalg][law]") {
  VectorSource<double> source(72u);
  for (int sample = 0; sample < 40; ++sample) {
    const Drawn drawn(source, 1 + sample % 12);
    const auto solved = solve<double>(drawn.matrix, drawn.matrix, drawn.b,
                                      rounding(1e4, drawn.matrix.norm() * drawn.b.norm()), 100);
    CHECK(solved.report.iterations == 1);
    const double allowed = rounding(1e4, drawn.matrix.norm() * solved.x.norm());
    CHECK((drawn.matrix * solved.x - drawn.b).norm() <= allowed);
  }
}

TEST_CASE("biconjugate_gradient: zero, limits and numbers that are not finite", "[linalg][edge]") {
  VectorSource<double> source(73u);
  const Drawn drawn(source, 9);
  const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(9, 9);
  const auto none = solve<double>(drawn.matrix, unit, Eigen::VectorXd::Zero(9), 0.0, 10);
  CHECK((none.report.iterations == 0 && none.x.isZero(0) && none.report.usable));
  for (const int limit : {0, 1, 2, 5}) {
    const auto few = solve<double>(drawn.matrix, unit, drawn.b, 0.0, limit);
    CHECK(few.report.iterations <= limit + 1);
  }
  Eigen::MatrixXd broken = drawn.matrix;
  broken(3, 4) = std::numeric_limits<double>::quiet_NaN();
  CHECK(!solve<double>(broken, unit, drawn.b, 1e-9, 50).report.usable);
}

}  // namespace biconjugate_gradient_test
