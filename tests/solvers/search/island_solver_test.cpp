// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/island_solver.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/executors.hpp"
#include "support/tolerance.hpp"

#include "scenes/pile.hpp"

/// @file
/// Large islands, whose passes and directions are shared out, beside those of one thread and of
/// directions by a factor.
namespace island_solver_test {

using carom::FrictionLaw, carom::Index, carom::SapOptions, carom::SapSolver;
using carom::examples::make_pile, carom::examples::make_piles, carom::examples::Pile;
using carom::testing::by_solver, carom::testing::for_each_executor;

namespace {

constexpr double always = 0, never = 1e300;  // work limits: conjugate gradients, a factor

struct Solved {
  Eigen::VectorXd velocity, impulse;
  carom::SolveReport<double> report;

  friend bool operator==(const Solved& a, const Solved& b) {
    return a.velocity == b.velocity && a.impulse == b.impulse &&
           a.report.residual == b.report.residual && a.report.iterations == b.report.iterations;
  }
};

template <typename... Executor>
Solved solve(const Pile& pile, const SapOptions<double>& options, const Executor&... executor) {
  SapSolver<double> solver(options);
  Solved solved{pile.guess, {}, {}};
  solved.report = solver.solve(pile.problem, solved.velocity, executor...);
  solved.impulse = solver.impulse();
  return solved;
}

}  // namespace

TEST_CASE("island_solver: a large island has the same bits whoever shares it",
          "[.][slow][solvers][law]") {
  const Pile pile = make_pile({.body_count = 600});
  for (const double limit : {always, never}) {
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      const SapOptions<double> options{
          .law = law, .iteration_limit = 8, .factor_work_limit = limit};
      const Solved alone = solve(pile, options);
      for_each_executor([&](const auto& executor) {
        CAPTURE(limit, int(law));
        CHECK(solve(pile, options, executor) == alone);
      });
    }
  }
}

TEST_CASE("island_solver: large islands beside small ones have the same bits", "[solvers][law]") {
  Pile pile = make_piles(2, {.body_count = 450, .layers = 6});
  const Pile small = make_piles(5, {.body_count = 9});
  for (Index b = 0; b < small.problem.body_count(); ++b) {
    pile.problem.add_body(small.problem.momentum_matrix(b),
                          small.problem.free_velocity().segment<6>(6 * b));
  }
  pile.guess.conservativeResize(pile.problem.velocity_count());
  pile.guess.tail(small.guess.size()) = small.guess;
  const SapOptions<double> options{.iteration_limit = 3, .factor_work_limit = always};
  const Solved alone = solve(pile, options);
  for_each_executor([&](const auto& executor) { CHECK(solve(pile, options, executor) == alone); });
}

TEST_CASE("island_solver: shared conjugate gradients and a factor find the same",
          "[.][slow][solvers][oracle]") {
  for (const double stiffness : {1e4, 1e6, 1e10}) {
    const Pile pile = make_pile({.body_count = 500, .stiffness = stiffness});
    const Solved iterative = solve(pile, {.tolerance = 1e-10, .factor_work_limit = always});
    const Solved direct = solve(pile, {.tolerance = 1e-10, .factor_work_limit = never});
    CAPTURE(stiffness, iterative.report.iterations, direct.report.iterations);
    CHECK(iterative.report.converged());
    CHECK(direct.report.converged());
    const Eigen::VectorXd apart = iterative.velocity - direct.velocity;
    double squared = 0;
    for (Index b = 0; b < pile.problem.body_count(); ++b) {
      const auto own = apart.segment<6>(6 * b);
      squared += own.dot(pile.problem.momentum_matrix(b).lazyProduct(own));
    }
    CHECK(std::sqrt(squared) <= iterative.report.error_bound + direct.report.error_bound);
    const auto certificate = carom::certify(pile.problem, iterative.velocity, iterative.impulse);
    CHECK(certificate.residual <= by_solver(2e-10));
  }
}

}  // namespace island_solver_test
