// SPDX-License-Identifier: BSD-3-Clause
#include "peers/admm.hpp"

#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/impulse_solver_laws.hpp"
#include "support/tolerance.hpp"

namespace admm_test {

using carom::testing::rounding;

using carom::FrictionLaw, carom::Admm, carom::AdmmPenalty, carom::VectorX;
using carom::testing::DualShape;

namespace {

const auto make = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return Admm<Scalar>({.law = law, .tolerance = tolerance, .iteration_limit = limit});
};

const auto make_balanced = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return Admm<Scalar>({.law = law,
                       .tolerance = tolerance,
                       .iteration_limit = limit,
                       .rule = AdmmPenalty::balanced});
};

}  // namespace

TEST_CASE("admm: obeys the laws of every solver in impulses", "[cli][law]") {
  carom::testing::check_impulse_laws(make, {.singular_limit = 20000});
}

TEST_CASE("admm: the balanced penalty solves problems of all shapes too", "[cli][law]") {
  carom::testing::check_random_problems<double>(make_balanced, 10, DualShape{8, 3, 0.3, true, 0.1},
                                                1e-10, 100000);
}

TEST_CASE("admm: finds its penalty from a start that is far off", "[cli][law]") {
  carom::testing::VectorSource<double> source(33u);
  for (const AdmmPenalty rule : {AdmmPenalty::balanced, AdmmPenalty::spectral}) {
    int sum = 0;
    for (int sample = 0; sample < 12; ++sample) {
      const auto problem = assemble_dual(draw_dual(source, {8, 3, 0.5, false, 0.1}));
      for (const double penalty : {1e-6, 1e-3, 1e3}) {
        Admm<double> solver({.law = FrictionLaw::convex,
                             .tolerance = 1e-8,
                             .iteration_limit = 2000,
                             .rule = rule,
                             .penalty = penalty});
        VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
        const auto report = solver.solve(problem, impulse);
        CHECK(report.converged());
        sum += report.iterations;
      }
    }
    CAPTURE(sum);
    CHECK(sum < 36 * 150);
  }
}

TEST_CASE("admm: an indefinite W is made definite by the penalty, or refused", "[cli][input]") {
  // Two contacts on one body whose mutual block outweighs their own: eigenvalues 1 ± c.
  for (const double c : {3.0, 1e15}) {
    carom::testing::DualData data;
    data.sets = {carom::friction_impulses(0.5), carom::friction_impulses(0.5)};
    data.w.setIdentity(6, 6);
    data.w.topRightCorner(3, 3) = c * Eigen::Matrix3d::Identity();
    data.w.bottomLeftCorner(3, 3) = c * Eigen::Matrix3d::Identity();
    data.q = (Eigen::VectorXd(6) << 0.1, 0, -1, 0, 0.2, -1).finished();
    data.r.setZero(6);
    const auto problem = assemble_dual(data);
    Admm<double> solver({.tolerance = 1e-9, .iteration_limit = 500, .penalty = 0.5});
    VectorX<double> impulse = VectorX<double>::Zero(6);
    const auto report = solver.solve(problem, impulse);
    CAPTURE(c, report.residual, report.iterations, to_string(report.status));
    CHECK(impulse.allFinite());
    if (c > 100) {
      CHECK(report.status == carom::SolveStatus::no_progress);
      CHECK(report.iterations == 0);
      CHECK(impulse.isZero(0));
    } else {
      CHECK(report.iterations > 0);
      const auto certificate = certify(problem, impulse, FrictionLaw::coulomb);
      CHECK(std::abs(certificate.natural_map_error - report.residual) <= rounding(5000, 1.0));
    }
  }
}

}  // namespace admm_test
