// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/trex_stance.hpp"

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace trex_stance_test {

using carom::testing::by_conditioning, carom::testing::rounding;

using namespace carom::examples;
using namespace carom::testing;
using carom::VectorX;

namespace {

/// A stance in centimetres and radians.
///
/// Made by an independent program from the model of docs/derivations/trex.md (golden/trex.json of
/// the project's reference numbers). They change when the model does. Its straight rows list φ_R
/// and φ_L 0.15 rad above the plumb leg to which ⟨u, v⟩ and ξ belong.
struct Golden {
  const char* name;
  TrexStance stance;
  double y, lean, product, indeterminacy;
};

std::vector<Golden> golden_rows() {
  const TrexShape optimum{0.0669, 0.0422, 0.0781, 0.0986};
  return {
      {"initial", trex_initial(), 12.287202089067048, 5.783986628300144, -0.0004207664120424701,
       0.00023305607910410387},
      {"optimized", trex_printed_optimum(), 13.642482329471903, 5.921023005981998,
       0.0006290988262177983, 0.00038682153279959966},
      {"straight", trex_straight(), 18, 5.50596764029608, 0.07332010578732026, 0.2857285168391316},
      {"straight, optimized lengths", trex_straight(optimum, -0.19), 17.67, 5.758983830717963,
       0.049721477366201326, 0.18859562523728196}};
}

}  // namespace

TEST_CASE("trex_stance: product and indeterminacy of the paper's stances", "[scenes][golden]") {
  for (const Golden& row : golden_rows()) {
    const auto landing = trex_landings(row.stance);
    const double product = carom::normal_product(trex_contacts_of(row.stance));
    CAPTURE(row.name, product, landing.indeterminacy, landing.outcomes.size());
    CHECK(std::abs(100 * row.stance.q(trex_y) - row.y) < rounding(5000, 1.0));
    CHECK(std::abs(row.stance.q(trex_body) - row.lean) < rounding(500, 1.0));
    CHECK(std::abs(product - row.product) < rounding(500, 1.0));
    CHECK(std::abs(landing.indeterminacy - row.indeterminacy) < rounding(500, 1.0));
    CHECK(trex_contacts_of(row.stance).constraints.norm() < rounding(5, 1.0));
    CHECK(landing.complete);
  }
}

TEST_CASE("trex_stance: optimisation makes the product vanish near the initial stance",
          "[scenes][golden]") {
  TrexStance stance = trex_initial();
  const auto report = optimize_trex(stance);
  const auto point = trex_contacts_of(stance);
  const double product = carom::normal_product(point);
  CAPTURE(report.iterations, report.residual, product);
  CHECK(report.converged());
  CHECK(std::abs(product) <= rounding(50, 1.0));
  CHECK(100 * point.constraints.norm() <= rounding(5000, 1.0));
  CHECK(report.iterations <= 8);
  // "own optimum" of the same numbers: orthogonal here, too, and farther from the start, as its
  // steps weighed the coordinates in another way.
  const VectorX<double> golden = numbers<double>(
      {0.0, 12.624967385227443, 5.832350935335905, 5.0917021445072566, 5.29047121402542,
       1.9905866234970646, 5.240204732111874, 0.056711453800473724, 6.749600643819328,
       4.360092951592556, 7.93335291465629, 9.71178589579894});
  CHECK(std::abs(carom::normal_product(trex_contacts_of(trex_stance(golden)))) <=
        rounding(50, 1.0));
  CHECK(trex_landings(trex_stance(golden)).indeterminacy <= rounding(50, 1.0));
  const VectorX<double> start = trex_design(trex_initial());
  CHECK((trex_design(stance) - start).norm() < (golden - start).norm());
}

TEST_CASE("trex_stance: the optimised stance is five orders less indeterminate than straight legs",
          "[scenes][law]") {
  TrexStance stance = trex_initial();
  REQUIRE(optimize_trex(stance).converged());
  const double optimized = trex_landings(stance).indeterminacy;
  const double straight = trex_landings(trex_straight()).indeterminacy;
  CAPTURE(optimized, straight);
  CHECK(straight > 0.28);
  CHECK(optimized <= by_conditioning(1e-5) * straight);
  CHECK(optimized <= rounding(10, 1.0));
}

}  // namespace trex_stance_test
