// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/rocking_block.hpp"

#include <algorithm>
#include <cmath>

#include "carom/impact/plastic.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/variational/impact_stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace rocking_block_test {

using carom::testing::by_step;

using namespace carom::testing;
using carom::ImpactProblem, carom::ImpactStepper, carom::MassMatrix, carom::MechanicalState;
using carom::PlasticImpact, carom::PlasticLaw, carom::RestitutionImpact, carom::VectorX;
using carom::examples::RockingBlock;

namespace {

/// Ratio of the turning rates about the two corners: the block's momentum is projected onto
/// motions that leave the new corner where it is.
double ratio_of_corners(const RockingBlock& block) {
  const double b = block.width / 2, h = block.height / 2, r = block.radius();
  const auto mass = MassMatrix<double>::make_diagonal(
      numbers<double>({block.mass, block.mass, block.mass * r * r / 3}));
  ImpactProblem<double> problem(3);  // (x, y, angle); the corners lie at (±b, -h)
  problem.add_contact(mass, numbers<double>({1, 0, h}));
  problem.add_contact(mass, numbers<double>({0, 1, b}));
  problem.prepare();
  PlasticImpact<double> plastic(PlasticLaw::bilateral);
  plastic.prepare(problem);
  // Turning about the corner at (-b, -h) at rate -1: v = rate × (b, h) turned.
  VectorX<double> momentum = mass.momentum(numbers<double>({h, -b, -1}));
  static_cast<void>(plastic.resolve(problem, momentum));
  return -momentum(2) / (block.mass * r * r / 3);
}

}  // namespace

TEST_CASE("rocking_block: Housner's ratio is the projection onto the new corner",
          "[scenes][oracle]") {
  for (const double width : {0.01, 0.1, 0.3, 0.7}) {
    const RockingBlock block{width, 0.9, 3, 9.81};
    CAPTURE(width);
    CHECK(std::abs(ratio_of_corners(block) - block.rate_ratio()) <= rounding(32, 1.0));
  }
  CHECK(RockingBlock{2, 1}.rate_ratio() == 0);
  CHECK(ratio_of_corners({2, 1}) < 0);  // would turn back: it stays on both corners
}

TEST_CASE("rocking_block: rates, energies and the first impact are Housner's",
          "[scenes][variational]") {
  // Housner (1963): slender blocks fall from θ₀ in (1/p) acosh(1/(1 − θ₀/α)), p² = 3g/4R.
  for (const double width : {0.1, 0.2, 0.3}) {
    const RockingBlock block{width, 1, 2, 9.81};
    const double alpha = block.balance_angle(), tilt = alpha / 2, r = block.radius();
    ImpactStepper<RockingBlock, RestitutionImpact<double>> stepper(
        block, RestitutionImpact<double>(block.rate_ratio()));
    MechanicalState<double> state{0, numbers<double>({tilt}), numbers<double>({0})};
    double speed = std::sqrt(1.5 * 9.81 / r * (std::cos(alpha - tilt) - std::cos(alpha)));
    double first = 0, worst = 0;
    for (int count = 0; count < 8;) {
      const auto report = stepper.step(state, 1e-3);
      REQUIRE(report.converged());
      if (report.impacts == 0) continue;
      if (count == 0) first = stepper.events()[0].time;
      ++count;
      speed *= block.rate_ratio();
      // What the energy says of the speed at the corner.
      const double above = stepper.energy(state) - 2 * 9.81 * r * std::cos(alpha);
      worst = std::max(worst, std::abs(std::sqrt(1.5 * above / 2) / r / speed - 1));
    }
    CAPTURE(width, first, worst);
    CHECK(worst < by_step(1e-4));
    const double linear = std::acosh(2.0) / std::sqrt(0.75 * 9.81 / r);
    CHECK(std::abs(first / linear - 1) < alpha * alpha);
  }
}

}  // namespace rocking_block_test
