// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/petsc.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/petsc_session.hpp"

#include "distributed/split_problem.hpp"
#include "io/text_problem.hpp"
#include "scenes/pile.hpp"

namespace petsc_test {

using carom::ContactProblem, carom::Index, carom::PetscContactProblem, carom::PetscSapOptions;
using carom::PetscSapSolver, carom::SolveReport, carom::SolveStatus;
using carom::distributed::choose_owners, carom::distributed::ProblemPart;
using carom::testing::petsc_rank, carom::testing::petsc_rank_count, carom::testing::petsc_world;
using Velocity = carom::VectorX<double>;

constexpr double tolerance = 1e-9;

struct Answer {
  SolveReport<double> report;
  Velocity velocity;  ///< of the whole
  carom::PetscCounts counts;
};

Answer solve(const ContactProblem<double>& whole, const Velocity& guess,
             const std::vector<int>& owners, PetscSapOptions options = {}) {
  ProblemPart part(petsc_world(), whole, owners);
  options.tolerance = tolerance;
  PetscSapSolver solver(options);
  Velocity velocity = part.cut(guess);
  const SolveReport<double> report = solver.solve(part.problem(), velocity);
  return {report, part.join(velocity), solver.counts()};
}

/// Checks an answer against that of one process: both are within their error bounds of the
/// solution.
void check_same(const ContactProblem<double>& whole, const Velocity& guess, const Answer& answer) {
  carom::SapSolver<double> serial({.tolerance = tolerance});
  Velocity expected = guess;
  const auto report = serial.solve(whole, expected);
  REQUIRE(report.converged());
  CHECK(answer.report.status == SolveStatus::converged);
  Velocity difference = answer.velocity - expected;
  whole.whiten(carom::as_span(difference));
  CHECK(difference.norm() <= report.error_bound + answer.report.error_bound);
}

std::string data(const std::string& name) {
  return std::string(CAROM_SOURCE_DIR) + "/examples/data/" + name + ".txt";
}

TEST_CASE("petsc: every bundled problem has the answer of one process", "[adapters][oracle]") {
  for (const char* name :
       {"pile_n1_s30", "pile_n10_s60", "pile_n100_s60", "pile_n100_s199", "dt1ms_n100_s600",
        "rigid_n100_s60", "robot_30x16", "wall_n10", "wall_n100", "mujoco_sphere_10",
        "mujoco_box_10", "mujoco_sphere_100", "mujoco_box_100", "constraints/arm_and_boxes"}) {
    INFO(name);
    const auto file = carom::files::read_text_problem(data(name));
    const auto owners = choose_owners(file.problem, petsc_rank_count());
    check_same(file.problem, file.guess, solve(file.problem, file.guess, owners));
  }
}

TEST_CASE("petsc: the answer does not depend on how directions are found", "[adapters][law]") {
  const auto pile = carom::examples::make_pile({.body_count = 60, .layers = 4});
  const auto owners = choose_owners(pile.problem, petsc_rank_count());
  PetscSapOptions options;
  SECTION("incomplete factors") {
    options.factor_work_limit = 0;
  }
  SECTION("factors of own bodies alone") {
    options.overlap = false;
  }
  SECTION("several aggregates on a rank") {
    options.bodies_per_aggregate = 8;
  }
  SECTION("a coarse space of all motions") {
    options.bodies_per_aggregate = 1;
  }
  check_same(pile.problem, pile.guess, solve(pile.problem, pile.guess, owners, options));
}

TEST_CASE("petsc: islands may be cut across all ranks, and ranks may have no bodies",
          "[adapters][law]") {
  const auto pile = carom::examples::make_piles(3, {.body_count = 14, .layers = 3});
  std::vector<int> owners(std::size_t(pile.problem.body_count()));
  SECTION("neighbours are never on one rank") {
    for (std::size_t b = 0; b < owners.size(); ++b) owners[b] = int(b) % petsc_rank_count();
  }
  SECTION("the last rank has all") {
    owners.assign(owners.size(), petsc_rank_count() - 1);
  }
  check_same(pile.problem, pile.guess, solve(pile.problem, pile.guess, owners));
}

TEST_CASE("petsc: with every motion in the coarse space a direction takes two products",
          "[adapters][law]") {
  const auto pile = carom::examples::make_pile({.body_count = 30, .layers = 3});
  const auto owners = choose_owners(pile.problem, petsc_rank_count());
  const Answer answer = solve(pile.problem, pile.guess, owners, {.bodies_per_aggregate = 1});
  CHECK(answer.report.iterations > 0);
  CHECK(answer.counts.linear_iterations <= 2 * answer.report.iterations);
}

TEST_CASE("petsc: counts say what was cut and sent", "[adapters][law]") {
  const auto pile = carom::examples::make_pile({.body_count = 30, .layers = 3});
  const auto owners = choose_owners(pile.problem, petsc_rank_count());
  long long cut = 0;
  for (Index i = 0; i < pile.problem.block_count(); ++i) {
    if (pile.problem.side_count(i) < 2) continue;
    cut += owners[std::size_t(pile.problem.side_body(i, 0))] !=
           owners[std::size_t(pile.problem.side_body(i, 1))];
  }
  const Answer answer = solve(pile.problem, pile.guess, owners);
  CHECK(answer.counts.cut_blocks == cut);
  CHECK((answer.counts.exchanged_bytes > 0) == (petsc_rank_count() > 1));
  CHECK(answer.counts.exchanges >= answer.counts.linear_iterations);
}

TEST_CASE("petsc: a guess that meets the tolerance is returned, one that is not finite refused",
          "[adapters][law]") {
  const auto pile = carom::examples::make_pile({.body_count = 12, .layers = 2});
  const auto owners = choose_owners(pile.problem, petsc_rank_count());
  const Answer answer = solve(pile.problem, pile.guess, owners);
  const Answer again = solve(pile.problem, answer.velocity, owners);
  CHECK(again.report.iterations == 0);
  CHECK(again.velocity == answer.velocity);
  Velocity bad = pile.guess;
  bad(5) = std::numeric_limits<double>::quiet_NaN();
  const Answer none = solve(pile.problem, bad, owners);
  CHECK(none.report.status == SolveStatus::not_finite);
}

TEST_CASE("petsc: a problem without bodies is solved in no iteration", "[adapters][law]") {
  const PetscContactProblem empty(petsc_world(), 0.01);
  Velocity velocity(0);
  PetscSapSolver solver;
  const auto report = solver.solve(empty, velocity);
  CHECK(report.converged());
  CHECK(report.iterations == 0);
}

TEST_CASE("petsc: ghosts that no rank owns, or of another size, are told to all ranks",
          "[adapters][errors]") {
  const auto told = [](Index ghost_size, std::int64_t ghost) -> std::string {
    PetscContactProblem problem(petsc_world(), 0.01);
    problem.fill([&](PetscContactProblem& part) {
      const carom::MatrixX<double> mass = carom::MatrixX<double>::Identity(6, 6);
      part.add_body(petsc_rank(), mass, Velocity::Zero(6).eval());
      if (petsc_rank() > 0) return;
      part.add_ghost(ghost, carom::MatrixX<double>::Identity(ghost_size, ghost_size),
                     Velocity::Zero(ghost_size).eval());
    });
    PetscSapSolver solver;
    Velocity velocity = problem.local().free_velocity();
    try {
      static_cast<void>(solver.solve(problem, velocity));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  CHECK(told(6, 77) == "rank 0: ghost body 77: expected a body that a rank owns, got none");
  CHECK(told(6, 0) == "rank 0: ghost body 0: expected a body of another rank, got an own one");
  if (petsc_rank_count() > 1) {
    CHECK(told(3, 1) == "rank 0: ghost body 1: unknowns: expected as many as on rank 1, got 3");
    CHECK(told(6, 1).empty());
  }
}

TEST_CASE("petsc: a body that two ranks own is told to all", "[adapters][errors]") {
  if (petsc_rank_count() < 2) return;
  PetscContactProblem problem(petsc_world(), 0.01);
  problem.add_body(0, carom::SquareMatrix<double, 3>::Identity(), carom::Vector3<double>::Zero());
  PetscSapSolver solver;
  Velocity velocity = problem.local().free_velocity();
  CHECK_THROWS_WITH(static_cast<void>(solver.solve(problem, velocity)),
                    "rank 0: body 0: expected one owner, got ranks 0 and 1");
}

}  // namespace petsc_test
