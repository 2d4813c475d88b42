// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/projected_gradient.hpp"

#include "carom/solvers/gauss_seidel.hpp"

#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/dual_solver_laws.hpp"

namespace projected_gradient_test {

using carom::FrictionLaw, carom::ProjectedGradient, carom::VectorX;
using carom::testing::DualShape;

namespace {

const auto make = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return ProjectedGradient<Scalar>({.law = law, .tolerance = tolerance, .iteration_limit = limit});
};

}  // namespace

TEST_CASE("projected_gradient: solves problems of all shapes", "[solvers][law]") {
  carom::testing::check_random_problems<double>(make, 20, DualShape{8, 3, 0.3, true, 0.1}, 1e-10,
                                                100000);
  carom::testing::check_random_problems<float>(make, 10, DualShape{8, 3, 0.3, true, 0.1}, 1e-4f,
                                               20000);
}

TEST_CASE("projected_gradient: what every solver in impulses promises", "[solvers][law]") {
  carom::testing::check_boundaries(make);
  carom::testing::check_best_iterate(make);
  carom::testing::check_scales(make);
  carom::testing::check_closed_forms(make);
  carom::testing::check_singular(make, 1e-6, 200000);
  carom::testing::check_order(make);
  carom::testing::check_against_sap(make);
}

TEST_CASE("projected_gradient: agrees with Gauss-Seidel where the solution is unique",
          "[solvers][law]") {
  carom::testing::check_agreement(make, [](FrictionLaw law, double tolerance, int limit) {
    return carom::GaussSeidel<double>(
        {.law = law, .tolerance = tolerance, .iteration_limit = limit});
  });
}

}  // namespace projected_gradient_test
