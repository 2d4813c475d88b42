// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/pile.hpp"

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace pile_test {

using carom::testing::by_solver;

using carom::Index, carom::SapSolver;
using carom::examples::make_pile, carom::examples::make_piles, carom::examples::Pile;

TEST_CASE("pile: it has the bodies asked for, each touching, and the same ones each time",
          "[scenes][law]") {
  for (const Index count : {1, 2, 5, 30, 100}) {
    const Pile pile = make_pile({.body_count = count}), again = make_pile({.body_count = count});
    CHECK(pile.problem.body_count() == count);
    CHECK(pile.guess.size() == 6 * count);
    CHECK(pile.guess == again.guess);
    CHECK(pile.problem.block_count() == again.problem.block_count());
    CHECK(pile.problem.block_count() >= count);
    SapSolver<double> solver;
    solver.prepare(pile.problem);
    CHECK(solver.graph().slot_count() == count);
  }
}

TEST_CASE("pile: heaps are islands", "[scenes][example]") {
  const Pile piles = make_piles(7, {.body_count = 30});
  SapSolver<double> solver;
  solver.prepare(piles.problem);
  CHECK(solver.graph().islands().size() == 7);
}

TEST_CASE("pile: it is solved with a factor or without, to the same certificate",
          "[scenes][scene]") {
  const Pile pile = make_pile({.body_count = carom::testing::sweep(60, 200)});
  Eigen::VectorXd solutions[2];
  for (int k = 0; k < 2; ++k) {
    SapSolver<double> solver({.tolerance = 1e-10, .factor_work_limit = k == 0 ? 1e300 : 0.0});
    solutions[k] = pile.guess;
    const auto report = solver.solve(pile.problem, solutions[k]);
    CHECK(report.converged());
    CHECK(report.iterations <= 30);
    CHECK(solver.graph().islands()[0].direct == (k == 0));
    const Eigen::VectorXd impulse = solver.impulse();
    CHECK(carom::certify(pile.problem, solutions[k], impulse).residual <= by_solver(1.01e-10));
  }
  CHECK((solutions[0] - solutions[1]).norm() <= by_solver(1e-8) * solutions[0].norm());
}

TEST_CASE("pile: a hundred thousand bodies are solved", "[scenes][scene][.slow]") {
  const Pile pile = make_pile({.body_count = 100000});
  CHECK(pile.problem.block_count() >= 250000);
  SapSolver<double> solver({.tolerance = 1e-8});
  Eigen::VectorXd velocity = pile.guess;
  const auto report = solver.solve(pile.problem, velocity);
  CHECK(report.converged());
  CHECK(report.iterations <= 60);
}

}  // namespace pile_test
