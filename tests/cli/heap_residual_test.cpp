// SPDX-License-Identifier: BSD-3-Clause
#include "cli/heap_residual.hpp"

#include <limits>

#include "carom/contact/delassus_form.hpp"
#include "carom/contact/dual.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/certificate_noise.hpp"
#include "support/tolerance.hpp"

#include "scenes/pile.hpp"

namespace heap_residual_test {

using carom::testing::rounding;

using carom::FrictionLaw, carom::Index, carom::VectorX;
using carom::cli::heap_residual;
using carom::examples::make_pile, carom::examples::Pile;

namespace {

/// Impulses inside and outside of cones, and their velocities.
struct Answer {
  VectorX<double> impulse, velocity;

  explicit Answer(const Pile& pile) : impulse(pile.problem.impulse_count()) {
    carom::examples::detail::SteadyNoise noise(7);
    for (double& x : impulse) x = 0.02 * noise.next();
    write_velocity(pile.problem, impulse, velocity);
  }
};

}  // namespace

TEST_CASE("heap_residual: compliant and convex, it is the certificate's of the velocity",
          "[cli][oracle]") {
  for (const Index count : {1, 20, 60}) {
    const Pile pile = make_pile({.body_count = count});
    const Answer answer(pile);
    const double expected = certify(pile.problem, answer.velocity).velocity_residual;
    REQUIRE(expected > rounding(1000000000, 1.0));
    const double found =
        heap_residual(pile.problem, FrictionLaw::convex, answer.velocity, answer.impulse);
    CHECK(std::abs(found - expected) <= rounding(1000, expected));
  }
}

TEST_CASE(
    "heap_residual: otherwise it is the natural map error, or a velocity that is not the "
    "impulses'",
    "[cli][oracle]") {
  for (const bool rigid : {false, true}) {
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      if (!rigid && law == FrictionLaw::convex) continue;
      Pile pile = make_pile({.body_count = 40});
      if (rigid) pile.problem.make_rigid();
      Answer answer(pile);
      carom::DelassusForm<double> form;
      carom::DelassusProblem<double> dual;
      form.write(pile.problem, dual);
      const double expected = certify(dual, answer.impulse, law).natural_map_error;
      REQUIRE(expected > rounding(1000000000, 1.0));
      const auto found = [&] {
        return heap_residual(pile.problem, law, answer.velocity, answer.impulse);
      };
      const double noise = carom::testing::natural_map_noise(dual, law, answer.impulse).relative;
      CHECK(std::abs(found() - expected) <= noise);
      CHECK(noise <= rounding(10000, expected));
      answer.velocity(4) += 1e4;
      const double balance = certify(pile.problem, answer.velocity, answer.impulse).residual;
      REQUIRE(balance > expected);
      CHECK(std::abs(found() - balance) <= rounding(1000, balance));
    }
  }
}

TEST_CASE("heap_residual: a number that is not finite makes it infinite", "[cli][input]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Pile pile = make_pile({.body_count = 5});
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    for (const double bad : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
      Answer answer(pile);
      answer.velocity(3) = bad;
      CHECK(heap_residual(pile.problem, law, answer.velocity, answer.impulse) == infinity);
    }
  }
  Answer answer(pile);
  answer.impulse(2) = std::numeric_limits<double>::quiet_NaN();
  CHECK(heap_residual(pile.problem, FrictionLaw::coulomb, answer.velocity, answer.impulse) ==
        infinity);
}

}  // namespace heap_residual_test
