// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/contact_solver_options.hpp"

#include <string>

#include "support/catch.hpp"

TEST_CASE("contact_solver_options: every method has a name of its own", "[solvers][example]") {
  using carom::ContactMethod;
  CHECK(std::string(to_string(ContactMethod::automatic)) == "automatic");
  CHECK(std::string(to_string(ContactMethod::sap)) == "sap");
  CHECK(std::string(to_string(ContactMethod::interior_point)) == "interior_point");
  CHECK(std::string(to_string(ContactMethod::proximal)) == "proximal");
  CHECK(std::string(to_string(ContactMethod(99))) == "unknown");
}

TEST_CASE("contact_solver_options: the default is Coulomb's law by the automatic method",
          "[solvers][example]") {
  const carom::ContactSolverOptions<float> options;
  CHECK(options.law == carom::FrictionLaw::coulomb);
  CHECK(options.method == carom::ContactMethod::automatic);
  CHECK(options.tolerance > 0);
  CHECK(options.iteration_limit > 0);
}
