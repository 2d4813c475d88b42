// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/petsc_contact.hpp"

#include <string>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/petsc_session.hpp"
#include "support/tolerance.hpp"

#include "distributed/split_problem.hpp"
#include "io/text_problem.hpp"

namespace petsc_contact_test {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::PetscContactSolver;
using carom::distributed::choose_owners, carom::distributed::ProblemPart;
using carom::testing::petsc_rank_count, carom::testing::petsc_world;
using Numbers = carom::VectorX<double>;

constexpr double tolerance = 1e-6;

/// Solves a file's problem and certifies the impulses in one process.
void check(const std::string& name, FrictionLaw law, bool rigid) {
  INFO(name << (rigid ? ", rigid, " : ", compliant, ") << to_string(law));
  auto file = carom::files::read_text_problem(std::string(CAROM_SOURCE_DIR) + "/examples/data/" +
                                              name + ".txt");
  if (rigid) file.problem.make_rigid();
  ProblemPart part(petsc_world(), file.problem, choose_owners(file.problem, petsc_rank_count()));
  PetscContactSolver solver({.law = law, .tolerance = tolerance});
  Numbers velocity = part.cut(file.guess);
  const auto report = solver.solve(part.problem(), velocity);
  CHECK(report.converged());
  CHECK(report.residual <= tolerance);
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write(file.problem, dual);
  const auto certificate = certify(dual, part.join_rows(solver.impulse()), law);
  CHECK(certificate.natural_map_error <= carom::testing::by_solver(1.01 * tolerance));
  bool same = true;  // the laws are those of before
  for (Index i = 0; i < Index(part.blocks().size()); ++i) {
    const auto here = part.problem().local().law(i);
    const auto there = file.problem.law(part.blocks()[std::size_t(i)]);
    same = same && here.regularization == there.regularization &&
           here.bias_velocity == there.bias_velocity && here.rigid == there.rigid;
  }
  CHECK(same);
}

TEST_CASE("petsc_contact: Coulomb's law on compliant contact", "[adapters][oracle]") {
  for (const char* name : {"pile_n10_s60", "wall_n10", "mujoco_box_10"}) {
    check(name, FrictionLaw::coulomb, false);
  }
}

TEST_CASE("petsc_contact: rigid contact under both laws", "[adapters][oracle]") {
  for (const char* name : {"pile_n10_s60", "wall_n10"}) {
    check(name, FrictionLaw::convex, true);
    check(name, FrictionLaw::coulomb, true);
  }
}

}  // namespace petsc_contact_test
