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
using carom::examples::expected_contacts, carom::examples::pile_places;
using carom::examples::make_pile, carom::examples::make_piles, carom::examples::Pile;
using carom::examples::PileBodies, carom::examples::PileShape;

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

TEST_CASE("pile: spheres touch in one point, boxes at the corners of what their faces share",
          "[scenes][example]") {
  // Five bodies: four on the ground, side by side, and one on them.
  const auto count = [](PileBodies bodies, bool on_ground) {
    const Pile pile = make_pile({.body_count = 5, .bodies = bodies});
    Index found = 0;
    for (Index i = 0; i < pile.problem.block_count(); ++i) {
      const bool ground = pile.problem.side_count(i) == 1;
      const bool upper = !ground && pile.problem.side_body(i, 0) == 4;
      found += (on_ground ? ground : upper) ? 1 : 0;
    }
    return found;
  };
  CHECK(count(PileBodies::spheres, true) == 4);
  CHECK(count(PileBodies::boxes, true) == 16);
  CHECK(count(PileBodies::mixed, true) == 7);
  CHECK(count(PileBodies::spheres, false) == 4);
  CHECK(count(PileBodies::boxes, false) == 16);
  CHECK(count(PileBodies::mixed, false) == 5);
}

TEST_CASE("pile: both sides of a contact are at one place, and boxes turn harder",
          "[scenes][law]") {
  for (const PileBodies bodies : {PileBodies::mixed, PileBodies::spheres, PileBodies::boxes}) {
    const PileShape shape{.body_count = 120, .bodies = bodies};
    const Pile pile = make_pile(shape);
    const auto places = pile_places(shape);
    REQUIRE(places.size() == 120);
    for (Index i = 0; i < pile.problem.block_count(); ++i) {
      const Eigen::Matrix<double, 3, 6> first = pile.problem.jacobian(i, 0);
      if (pile.problem.side_count(i) < 2) continue;
      const Eigen::Matrix<double, 3, 6> second = pile.problem.jacobian(i, 1);
      CHECK((first.rightCols<3>() + second.rightCols<3>()).norm() == 0);
      // The moments of the three axes about both centres differ by the arm between them. Normals
      // are off by up to 0.1 in each direction, and so are points along them.
      const carom::Vector3<double> apart = places[std::size_t(pile.problem.side_body(i, 1))] -
                                           places[std::size_t(pile.problem.side_body(i, 0))];
      carom::SquareMatrix<double, 3> moments;
      for (int k = 0; k < 3; ++k) {
        const carom::Vector3<double> axis = first.block<1, 3>(k, 3);
        moments.row(k) = apart.cross(axis);
      }
      const double error = (first.leftCols<3>() + second.leftCols<3>() - moments).norm();
      const double most = bodies == PileBodies::boxes ? 0 : 0.04;
      CHECK(error <= carom::testing::rounding(100, 1.0) + most);
    }
    for (Index b = 0; b < 120; ++b) {
      const double mass = pile.problem.momentum_matrix(b)(5, 5);
      const bool box = bodies == PileBodies::boxes || (bodies == PileBodies::mixed && b % 4 == 3);
      CHECK(pile.problem.momentum_matrix(b)(0, 0) ==
            Approx((box ? 0.1 * 0.1 / 6 : 0.4 * 0.05 * 0.05) * mass));
    }
  }
}

TEST_CASE("pile: the expected contacts are those there are, but for the noise",
          "[scenes][oracle]") {
  for (const PileBodies bodies : {PileBodies::mixed, PileBodies::spheres, PileBodies::boxes}) {
    for (const Index count : {1, 5, 30, 385, 2000}) {
      const PileShape shape{.body_count = count, .bodies = bodies};
      const double found = double(make_pile(shape).problem.block_count());
      // Five standard deviations of the draws beside, and where the boxes of a mixed heap lie.
      const double spread = bodies == PileBodies::boxes ? 4 : 1;
      const double noise = 5 * spread * std::sqrt(2 * 0.21 * double(count)) + 4;
      const double mixing = bodies == PileBodies::mixed ? 0.03 * found : 0;
      CHECK(std::abs(expected_contacts(shape) - found) <= noise + mixing);
    }
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
