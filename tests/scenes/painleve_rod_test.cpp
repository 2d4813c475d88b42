// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/painleve_rod.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/world_solver.hpp"

namespace painleve_rod_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::VectorX;
using carom::examples::all_solutions, carom::examples::make_painleve_rod;
using carom::examples::PainleveRod, carom::examples::planar_contact;
using carom::testing::VectorSource, carom::testing::WorldSolver;

namespace {

/// Solutions of the rod's step, and whether the solver found one of them.
int count_solutions(const PainleveRod& rod) {
  const auto contact = planar_contact(rod);
  const auto solutions = all_solutions(contact);
  const auto world = make_painleve_rod(rod);
  const auto problem = world.problem();
  VectorX<double> velocity = problem.free_velocity(), impulse;
  WorldSolver solver;
  solver(problem, velocity, impulse);
  CHECK(solver.report.converged());
  carom::DelassusProblem<double> dual;
  carom::DelassusForm<double>().write(problem, dual);
  const carom::Vector3<double> normal(0, 0, 1);
  const double along = normal.unitOrthogonal().x();  // t₁ or t₂ is ±x
  double nearest = 1e300;
  for (const auto& solution : solutions) {
    VectorX<double> row(3);
    row << along * solution(0), 0, solution(1);
    if (along == 0) row << 0, normal.cross(normal.unitOrthogonal()).x() * solution(0), solution(1);
    // Every one of them obeys the law of the whole problem.
    CHECK(certify(dual, row, carom::FrictionLaw::coulomb).natural_map_error <= rounding(5000, 1.0));
    nearest = std::min(nearest, (row - impulse).norm());
  }
  CHECK(nearest <=
        by_solver(1e-9) * (1 + impulse.norm()));  // where W_nn is near μ W_tn rounding grows
  return int(solutions.size());
}

/// Rods at random, every fourth one of those that may jam; how many have several solutions.
int count_ambiguous(int samples) {
  VectorSource<double> source(5u);
  int several = 0;
  for (int sample = 0; sample < samples; ++sample) {
    PainleveRod rod;
    rod.angle = 0.1 + 1.3 * source.unit();
    rod.friction = 4 * source.unit();
    rod.slip = source.entry(2, 0);
    rod.rise = source.entry(2, 0) / 10;
    if (sample % 4 == 0) {
      rod.angle = 0.9 + 0.4 * source.unit();
      rod.friction = 2 + 2 * source.unit();
      rod.slip = -std::abs(rod.slip);
      rod.rise = std::abs(rod.rise);
    }
    CAPTURE(sample, rod.angle, rod.friction, rod.slip, rod.rise);
    several += count_solutions(rod) > 1 ? 1 : 0;
  }
  return several;
}

}  // namespace

TEST_CASE("painleve rod: with little friction there is one solution", "[scenes][scene]") {
  for (const double mu : {0.0, 0.3, 1.0, 1.3}) {  // 4/3 is the least that can jam
    for (const double angle : {0.3, 0.8, 1.1, 1.4}) {
      for (const double slip : {-1.0, 1.0}) {
        for (const double rise : {-0.1, 0.0, 0.1}) {
          CAPTURE(mu, angle, slip, rise);
          CHECK(count_solutions({.angle = angle, .friction = mu, .slip = slip, .rise = rise}) == 1);
        }
      }
    }
  }
}

TEST_CASE("painleve rod: with much friction it flies on, slides or stops at once, all by the law",
          "[scenes][scene]") {
  // tan² a = 4 makes W_tn/W_nn largest: μ = 4/3 jams.
  const double angle = std::atan(2.0);
  const PainleveRod rod{.angle = angle, .friction = 2, .slip = -1, .rise = 0.1};
  const auto w = planar_contact(rod).inverse_mass;
  CHECK(w(1, 1) / std::abs(w(0, 1)) == Approx(4.0 / 3));
  CHECK(count_solutions(rod) == 3);
  PainleveRod other = rod;
  other.slip = 1;  // away from where it leans: nothing special
  CHECK(count_solutions(other) == 1);
  other = rod;
  other.rise = 0;  // pressed down: no impulse lets it slide on, it stops at once
  CHECK(count_solutions(other) == 1);
  const auto stopped = all_solutions(planar_contact(other));
  const auto contact = planar_contact(other);
  CHECK((contact.inverse_mass * stopped[0] + contact.load).norm() <= rounding(5000, 1.0));
}

TEST_CASE("painleve rod: some solution always exists where W is definite", "[scenes][law]") {
  CHECK(count_ambiguous(40) > 2);
}

TEST_CASE("painleve rod: some solution always exists, many rods", "[.][slow]") {
  CHECK(count_ambiguous(5000) > 400);
}

}  // namespace painleve_rod_test
