// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/petsc_contact.hpp"

#include <cmath>
#include <string>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/petsc_session.hpp"
#include "support/tolerance.hpp"

#include "distributed/split_problem.hpp"
#include "io/text_problem.hpp"

namespace petsc_contact_test {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::PetscContactOptions,
    carom::PetscContactSolver;
using carom::distributed::choose_owners, carom::distributed::ProblemPart;
using carom::testing::petsc_rank_count, carom::testing::petsc_world;
using Numbers = carom::VectorX<double>;

constexpr double tolerance = 1e-6;

/// Solves a file's problem and certifies the impulses in one process.
/// @param interior_point  whether the interior point comes before the sequence.
void check(const std::string& name, FrictionLaw law, bool rigid, bool interior_point = true) {
  INFO(name << (rigid ? ", rigid, " : ", compliant, ") << to_string(law));
  auto file = carom::files::read_text_problem(std::string(CAROM_SOURCE_DIR) + "/examples/data/" +
                                              name + ".txt");
  if (rigid) file.problem.make_rigid();
  ProblemPart part(petsc_world(), file.problem, choose_owners(file.problem, petsc_rank_count()));
  PetscContactSolver solver(
      {.law = law,
       .tolerance = tolerance,
       .interior_point_limit = interior_point ? PetscContactOptions().interior_point_limit : 0});
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
    check(name, FrictionLaw::coulomb, false, false);
  }
}

TEST_CASE("petsc_contact: rigid contact under both laws", "[adapters][oracle]") {
  for (const char* name : {"pile_n10_s60", "wall_n10"}) {
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      check(name, law, true);
      check(name, law, true, false);
    }
  }
}

TEST_CASE("petsc_contact: the sequence goes on where the interior point ends early",
          "[adapters][oracle]") {
  auto file = carom::files::read_text_problem(std::string(CAROM_SOURCE_DIR) +
                                              "/examples/data/pile_n10_s60.txt");
  file.problem.make_rigid();
  ProblemPart part(petsc_world(), file.problem, choose_owners(file.problem, petsc_rank_count()));
  PetscContactSolver solver({.tolerance = tolerance, .system_limit = 2});
  Numbers velocity = part.cut(file.guess);
  CHECK(solver.solve(part.problem(), velocity).converged());
  PetscContactSolver brief({.tolerance = tolerance, .problem_limit = 1, .system_limit = 4});
  velocity = part.cut(file.guess);
  const auto report = brief.solve(part.problem(), velocity);
  CHECK(report.status == carom::SolveStatus::iteration_limit);
  // What is reported is the answer.
  const auto certificate = certify(part.problem(), velocity, brief.impulse(), FrictionLaw::coulomb);
  CHECK(std::abs(certificate.natural_map_error - report.residual) <=
        carom::testing::by_digits(1e-9) * (1 + report.residual));
}

}  // namespace petsc_contact_test
