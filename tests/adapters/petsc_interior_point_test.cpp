// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/petsc_interior_point.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "carom/adapters/petsc_certificate.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/interior_point.hpp"

#include "support/catch.hpp"
#include "support/petsc_session.hpp"
#include "support/tolerance.hpp"

#include "distributed/split_problem.hpp"
#include "io/text_problem.hpp"
#include "scenes/infeasible.hpp"
#include "scenes/pile.hpp"

namespace petsc_interior_point_test {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::PetscInteriorPointSolver;
using carom::distributed::choose_owners, carom::distributed::ProblemPart;
using carom::testing::petsc_rank_count, carom::testing::petsc_world;
using Numbers = carom::VectorX<double>;

constexpr double tolerance = 1e-8;

/// Solves a problem that every process has the whole of, and judges the answer as one process does:
/// joined impulses by the dual form, and the velocity beside that of InteriorPointSolver.
void check(ContactProblem<double>& whole, FrictionLaw law, const std::vector<int>& owners) {
  ProblemPart part(petsc_world(), whole, owners);
  PetscInteriorPointSolver solver({.law = law, .tolerance = tolerance});
  Numbers velocity = Numbers::Zero(part.problem().local().velocity_count());
  const auto report = solver.solve(part.problem(), velocity);
  CHECK(report.converged());
  CHECK(report.residual <= tolerance);
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write(whole, dual);
  const Numbers impulse = part.join_rows(solver.impulse());
  const double judged = certify(dual, impulse, law).natural_map_error;
  CHECK(judged <= carom::testing::by_solver(1.01 * tolerance));
  const auto balance = certify(part.problem(), velocity, solver.impulse(), law);
  CHECK(balance.natural_map_error <= carom::testing::by_solver(1.01 * tolerance));
  // Each cut block counts once in what the search reports.
  CHECK(std::abs(report.residual - balance.natural_map_error) <=
        carom::testing::by_digits(1e-11) + carom::testing::by_digits(1e-2) * report.residual);
  CHECK(balance.residual <= carom::testing::by_solver(1e-12));

  carom::InteriorPointSolver<double> one({.law = law, .tolerance = tolerance});
  Numbers alone;
  REQUIRE(one.solve(whole, alone).converged());
  const Numbers all = part.join(velocity);
  // Impulses of rigid bodies need not be unique, and velocities follow the answers' errors.
  CHECK((all - alone).norm() <= carom::testing::by_solver(1e-4) * (1 + alone.norm()));
}

void check(const std::string& name, FrictionLaw law, bool rigid) {
  INFO(name << (rigid ? ", rigid, " : ", compliant, ") << to_string(law));
  auto file = carom::files::read_text_problem(std::string(CAROM_SOURCE_DIR) + "/examples/data/" +
                                              name + ".txt");
  if (rigid) file.problem.make_rigid();
  check(file.problem, law, choose_owners(file.problem, petsc_rank_count()));
}

TEST_CASE("petsc_interior_point: the answers of one process on bundled problems",
          "[adapters][oracle]") {
  for (const char* name : {"pile_n1_s30", "pile_n10_s60", "wall_n10", "mujoco_box_10",
                           "robot_30x16", "mujoco_sphere_10", "rigid_n100_s60"}) {
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      for (const bool rigid : {false, true}) check(name, law, rigid);
    }
  }
}

TEST_CASE("petsc_interior_point: ranks without bodies, and bodies given out at random",
          "[adapters][law]") {
  auto file = carom::files::read_text_problem(std::string(CAROM_SOURCE_DIR) +
                                              "/examples/data/pile_n10_s60.txt");
  file.problem.make_rigid();
  std::vector<int> owners(std::size_t(file.problem.body_count()), 0);
  check(file.problem, FrictionLaw::coulomb, owners);
  for (std::size_t b = 0; b < owners.size(); ++b) {
    owners[b] = int((7 * b + 3) % std::size_t(petsc_rank_count()));
  }
  check(file.problem, FrictionLaw::coulomb, owners);
}

TEST_CASE("petsc_interior_point: one solve for each factor and right side", "[adapters][law]") {
  carom::examples::PileShape shape;
  shape.body_count = 60;
  auto pile = carom::examples::make_pile(shape);
  pile.problem.make_rigid();
  ProblemPart part(petsc_world(), pile.problem, choose_owners(pile.problem, petsc_rank_count()));
  PetscInteriorPointSolver solver({.law = FrictionLaw::convex, .tolerance = 1e-6});
  Numbers velocity = Numbers::Zero(part.problem().local().velocity_count());
  const auto report = solver.solve(part.problem(), velocity);
  REQUIRE(report.converged());
  const auto& counts = solver.counts();
  CHECK(counts.linear_iterations >= report.iterations);
  // Three right sides and four refinements at most.
  CHECK(counts.linear_iterations <= 15 * report.iterations);
  CHECK((counts.cut_blocks > 0) == (petsc_rank_count() > 1));
  CHECK((counts.exchanged_bytes > 0) == (petsc_rank_count() > 1));
}

/// However large impulses are, their residual relative to them is small.
constexpr double loose = 1e-4;

TEST_CASE("petsc_interior_point: impulses that grow without end are no answer",
          "[adapters][errors]") {
  const auto well = make_narrow_well(carom::examples::NarrowWell<double>{});
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    ProblemPart part(petsc_world(), well, choose_owners(well, petsc_rank_count()));
    PetscInteriorPointSolver solver({.law = law, .tolerance = loose});
    Numbers velocity = Numbers::Zero(part.problem().local().velocity_count());
    const auto report = solver.solve(part.problem(), velocity);
    CAPTURE(to_string(law), report.residual);
    CHECK(report.status == carom::SolveStatus::no_progress);
    CHECK(velocity.allFinite());
    carom::InteriorPointSolver<double> one({.law = law, .tolerance = loose});
    Numbers alone;
    CHECK(one.solve(well, alone).status == report.status);
  }
}

TEST_CASE("petsc_interior_point: one brake that jams is known to all ranks", "[adapters][errors]") {
  const int last = petsc_rank_count() - 1;
  carom::PetscContactProblem problem(petsc_world(), 0.01);
  for (const bool jams : {false, true}) {
    problem.reset(0.01);
    problem.fill([&](carom::PetscContactProblem& part) {
      const int rank = carom::testing::petsc_rank();
      const double friction = jams && rank == last ? 0.6 : 0.4;
      const carom::examples::KleinBrake<double> brake{.friction = friction};
      const Index shoe =
          part.add_body(rank, carom::SquareMatrix<double, 1>::Constant(brake.inertia),
                        carom::Vector<double, 1>::Constant(-brake.press));
      part.local().add_contact(shoe, carom::Vector3<double>(brake.height, 0, brake.offset),
                               make_klein_brake(brake).friction_contact_law(0));
    });
    PetscInteriorPointSolver solver({.law = FrictionLaw::coulomb, .tolerance = loose});
    Numbers velocity = Numbers::Zero(problem.local().velocity_count());
    const auto report = solver.solve(problem, velocity);
    CAPTURE(jams, report.residual);
    CHECK(report.status ==
          (jams ? carom::SolveStatus::no_progress : carom::SolveStatus::converged));
  }
}

TEST_CASE("petsc_interior_point: no blocks, and numbers that are not finite",
          "[adapters][errors]") {
  carom::PetscContactProblem problem(petsc_world(), 0.01);
  const Numbers free = Numbers::Constant(3, 2.0);
  problem.fill([&](carom::PetscContactProblem& part) {
    part.add_body(carom::testing::petsc_rank(), carom::SquareMatrix<double, 3>::Identity(), free);
  });
  PetscInteriorPointSolver solver;
  Numbers velocity = Numbers::Zero(3);
  const auto report = solver.solve(problem, velocity);
  CHECK(report.converged());
  CHECK(report.iterations == 0);
  CHECK(velocity == free);

  // Velocities whose squares are not finite.
  carom::WeightedContact<double> law;
  law.friction = 0.5;
  law.regularization = {1e-3, 1e-3};
  const carom::SquareMatrix<double, 3> jacobian = carom::SquareMatrix<double, 3>::Identity();
  problem.reset(0.01);
  problem.fill([&](carom::PetscContactProblem& part) {
    const Numbers fast = Numbers::Constant(3, -1e300);
    const Index body = part.add_body(carom::testing::petsc_rank(), jacobian, fast);
    part.local().add_contact(body, jacobian, law);
  });
  CHECK_FALSE(solver.solve(problem, velocity).converged());
}

}  // namespace petsc_interior_point_test
