// SPDX-License-Identifier: BSD-3-Clause
#include "cli/wandering_anchors.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "scenes/viscoelastic_box.hpp"

namespace wandering_anchors_test {

using carom::testing::clearly;

using carom::testing::by_step, carom::testing::rounding;

using carom::FreeBody, carom::Vector3;
using carom::cli::AnchorLaw, carom::cli::climb_acceleration, carom::cli::WanderingAnchors;
using carom::examples::make_resting_box;
using carom::examples::make_sliding_point, carom::examples::SlidingMass;

namespace {

/// A mass of 1 kg pulled for 0.2 s by 6 N where friction holds 2.943 N.
struct Pulled {
  Vector3<double> place, acceleration, force;  ///< acceleration over the last quarter

  Pulled(AnchorLaw law, double dt) {
    SlidingMass mass;
    mass.pull = 6;
    mass.friction = 0.3;
    const auto scene = make_sliding_point(mass);
    WanderingAnchors<FreeBody<double>> contact(scene.body, scene.material, law);
    auto state = scene.state;
    const int steps = int(std::lround(0.2 / dt));
    Vector3<double> before = state.velocity;
    for (int k = 0; k < steps; ++k) {
      if (4 * k == 3 * steps) before = state.velocity;
      REQUIRE(contact.step(state, dt));
    }
    place = state.position;
    acceleration = (state.velocity - before) / 0.05;
    force = contact.force();
  }
};

SlidingMass same_mass() {
  SlidingMass mass;
  mass.pull = 6;
  return mass;
}

}  // namespace

TEST_CASE("wandering_anchors: Coulomb's law keeps to the ground", "[cli][scene]") {
  for (const double dt : {0.0005, 0.005}) {
    const Pulled pulled(AnchorLaw::coulomb, dt);
    CAPTURE(dt);
    CHECK(std::abs(pulled.place(2) + 9.81e-5) <= rounding(5000, 1.0));
    CHECK(std::abs(pulled.acceleration(0) - (6 - 0.3 * 9.81)) <= by_step(1e-9));
    CHECK(std::abs(pulled.force(0) / pulled.force(2) + 0.3) <= rounding(5000, 1.0));
  }
}

TEST_CASE("wandering_anchors: a mass that brakes stops at the exact place", "[cli][scene]") {
  const SlidingMass mass;
  const auto scene = make_sliding_point(mass, 1);
  WanderingAnchors<FreeBody<double>> contact(scene.body, scene.material, AnchorLaw::coulomb);
  auto state = scene.state;
  for (int k = 0; k < 300; ++k) REQUIRE(contact.step(state, 0.001));
  const double exact = carom::examples::SlidingMotion(mass, 1).at(0.3).x;
  CHECK(std::abs(state.position(0) - exact) <= by_step(1e-6));
}

TEST_CASE("wandering_anchors: the document's program climbs 16 mm in 75 mm, with friction 24 % low",
          "[cli][scene]") {
  const double slope = 0.3 / std::sqrt(2.0);  // of the inner pyramid
  const double climb = climb_acceleration(same_mass(), slope);
  const double friction = slope * (9.81 + climb);
  CHECK(std::abs(friction / 2.943 - (1 - 0.2355)) <= by_step(5e-4));
  const Pulled pulled(AnchorLaw::program, 0.0005);
  CHECK(std::abs(pulled.acceleration(2) - climb) <= by_step(1e-3) * climb);
  CHECK(std::abs(pulled.acceleration(0) - (6 - friction)) <= by_step(1e-3));
  CHECK(std::abs(pulled.force(0) + friction) <= by_step(1e-3));
  CHECK(std::abs(pulled.place(2) - 0.0158) <= by_step(1e-4));
  // The printed column gives the same cone and another speed of the anchors.
  const Pulled printed(AnchorLaw::printed_program, 0.0005);
  CHECK(std::abs(printed.force(0) / printed.force(2) + slope) <= rounding(5000, 1.0));
  CHECK(std::abs(printed.place(2) - 0.0158) <= by_step(1e-4));
}

TEST_CASE("wandering_anchors: the document's program makes a pushed box climb", "[cli][scene]") {
  const auto scene = make_resting_box();
  WanderingAnchors<FreeBody<double>> contact(scene.body, scene.material, AnchorLaw::program);
  contact.system().force(0) = 70;
  auto state = scene.state;
  double highest = 0;
  for (int k = 0; k < 40; ++k) {
    REQUIRE(contact.step(state, 0.005));
    highest = std::max(highest, state.position(2) - scene.state.position(2));
  }
  CHECK(highest > clearly(1e-4));
}

TEST_CASE("wandering_anchors: the associated law climbs, with friction 8.6 % high",
          "[cli][scene]") {
  const double climb = climb_acceleration(same_mass(), 0.3);
  const Pulled pulled(AnchorLaw::convex, 0.0005);
  CHECK(std::abs(pulled.acceleration(2) - climb) <= by_step(1e-2) * climb);
  CHECK(std::abs(-pulled.force(0) / 2.943 - 1.086) <= by_step(1e-3));
}

TEST_CASE("wandering_anchors: a resting box stays, a lifted one lets go", "[cli][law]") {
  for (const AnchorLaw law : {AnchorLaw::coulomb, AnchorLaw::program}) {
    const auto scene = make_resting_box();
    WanderingAnchors<FreeBody<double>> contact(scene.body, scene.material, law);
    auto state = scene.state;
    for (int k = 0; k < 50; ++k) REQUIRE(contact.step(state, 0.005));
    CHECK((state.position - scene.state.position).norm() <= carom::testing::rounding(1000, 0.1));
    contact.system().force(2) = 2 * 98.1;
    for (int k = 0; k < 100; ++k) REQUIRE(contact.step(state, 0.002));
    // After the springs release it, it flies freely at g.
    CHECK(contact.force().size() == 0);
    CHECK(std::abs(state.velocity(2) - 9.81 * 0.2) <= 0.05);
  }
}

}  // namespace wandering_anchors_test
