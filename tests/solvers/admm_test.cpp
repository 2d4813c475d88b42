// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/admm.hpp"

#include "carom/solvers/gauss_seidel.hpp"

#include "support/catch.hpp"
#include "support/deadline_laws.hpp"
#include "support/dual_problems.hpp"
#include "support/dual_solver_laws.hpp"

namespace admm_test {

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

TEST_CASE("admm: solves problems of all shapes", "[solvers][law]") {
  carom::testing::check_random_problems<double>(make_balanced, 10, DualShape{8, 3, 0.3, true, 0.1},
                                                1e-10, 100000);
  carom::testing::check_random_problems<double>(make, 20, DualShape{8, 3, 0.3, true, 0.1}, 1e-10,
                                                100000);
  carom::testing::check_random_problems<float>(make, 10, DualShape{8, 3, 0.3, true, 0.1}, 1e-4f,
                                               20000);
}

TEST_CASE("admm: what every solver in impulses promises", "[solvers][law]") {
  carom::testing::check_boundaries(make);
  carom::testing::check_best_iterate(make);
  carom::testing::check_scales(make);
  carom::testing::check_closed_forms(make);
  carom::testing::check_singular(make, 1e-6, 20000);
  carom::testing::check_order(make);
  carom::testing::check_against_sap(make);
}

TEST_CASE("admm: finds its penalty from a start that is far off", "[solvers][law]") {
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

TEST_CASE("admm: agrees with Gauss-Seidel where the solution is unique", "[solvers][law]") {
  carom::testing::check_agreement(make, [](FrictionLaw law, double tolerance, int limit) {
    return carom::GaussSeidel<double>(
        {.law = law, .tolerance = tolerance, .iteration_limit = limit});
  });
}

TEST_CASE("admm: options are kept as given", "[solvers][example]") {
  carom::testing::check_options_kept<Admm<double>>();
}

TEST_CASE("admm: an indefinite W is made definite by the penalty, or refused", "[solvers][input]") {
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
      CHECK(std::abs(certificate.natural_map_error - report.residual) <= 1e-12);
    }
  }
}

TEST_CASE("admm: at a deadline it returns the best so far, in its cones", "[solvers][law]") {
  carom::testing::VectorSource<double> source(11u);
  const auto problem = assemble_dual(draw_dual(source, {6, 3, 0.3, false, 0.1}));
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    carom::testing::check_dual_deadlines(Admm<double>({.law = law}), problem);
    Admm<double> solver({.law = law, .tolerance = 1e-14});
    solver.set_limits({.iteration_limit = 3});
    VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
    const auto report = solver.solve(problem, impulse);
    CHECK(report.iterations == 3);
    CHECK(report.status == carom::SolveStatus::iteration_limit);
  }
}

}  // namespace admm_test
