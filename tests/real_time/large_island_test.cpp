// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>

#include "carom/solvers/sap.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"

#include "scenes/pile.hpp"

namespace large_island_test {

using carom::Index, carom::SapSolver, carom::testing::allocations_of;

TEST_CASE("real time: a large island is solved again without an allocation", "[real_time]") {
  const auto pile = carom::examples::make_pile({.body_count = 450});
  for (const double limit : {0.0, 1e300}) {  // conjugate gradients, and a factor
    constexpr int iterations = 2;            // these files are never optimised
    SapSolver<double> solver({.iteration_limit = iterations, .factor_work_limit = limit});
    carom::VectorX<double> velocity = pile.guess, again = pile.guess;
    REQUIRE(solver.solve(pile.problem, velocity).iterations == iterations);
    int done = 0;
    const std::size_t allocations =
        allocations_of([&] { done = solver.solve(pile.problem, again).iterations; });
    CHECK(done == iterations);
    CHECK(allocations == 0);
    CHECK((again - velocity).isZero(0.0));
  }
}

}  // namespace large_island_test
