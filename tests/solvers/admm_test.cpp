// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/admm.hpp"

#include "carom/solvers/gauss_seidel.hpp"

#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/dual_solver_laws.hpp"

namespace admm_test {

using carom::FrictionLaw, carom::Admm, carom::VectorX;
using carom::testing::DualShape;

namespace {

const auto make = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return Admm<Scalar>({.law = law, .tolerance = tolerance, .iteration_limit = limit});
};

}  // namespace

TEST_CASE("admm: solves problems of all shapes", "[solvers][law]") {
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

TEST_CASE("admm: agrees with Gauss-Seidel where the solution is unique", "[solvers][law]") {
  carom::testing::check_agreement(make, [](FrictionLaw law, double tolerance, int limit) {
    return carom::GaussSeidel<double>(
        {.law = law, .tolerance = tolerance, .iteration_limit = limit});
  });
}

}  // namespace admm_test
