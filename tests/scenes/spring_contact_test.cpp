// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/spring_contact.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "scenes/sliding_mass.hpp"
#include "scenes/viscoelastic_box.hpp"

namespace spring_contact_test {

using carom::testing::by_step;

using carom::FreeBody;
using carom::examples::box_distance, carom::examples::BoxScene;
using carom::examples::make_sliding_point, carom::examples::make_viscoelastic_box;
using carom::examples::SlidingMass, carom::examples::SlidingMotion;
using carom::examples::SpringContact, carom::examples::SpringIntegrator;

namespace {

constexpr SpringIntegrator eulers[] = {SpringIntegrator::explicit_euler,
                                       SpringIntegrator::symplectic_euler,
                                       SpringIntegrator::linearly_implicit_euler};

/// Error of x of a mass after some steps [m].
double point_error(const SlidingMass& mass, SpringIntegrator method, double dt, int steps) {
  const auto scene = make_sliding_point(mass);
  SpringContact<FreeBody<double>> contact(scene.body, scene.material);
  auto state = scene.state;
  for (int k = 0; k < steps; ++k) contact.step(state, dt, method);
  return std::abs(state.position(0) - SlidingMotion(mass).at(dt * steps).x);
}

carom::FreeBodyState<double> box_after(BoxScene kind, SpringIntegrator method, double duration,
                                       int steps) {
  const auto scene = make_viscoelastic_box(kind);
  SpringContact<FreeBody<double>> contact(scene.body, scene.material);
  auto state = scene.state;
  for (int k = 0; k < steps; ++k) contact.step(state, duration / steps, method);
  return state;
}

}  // namespace

TEST_CASE("spring_contact: orders in stick against the closed form", "[scenes][scene]") {
  SlidingMass mass;
  mass.pull = 2;
  for (const SpringIntegrator method : eulers) {
    const double order =
        std::log2(point_error(mass, method, 1e-5, 150) / point_error(mass, method, 5e-6, 300));
    CAPTURE(int(method), order);
    CHECK(std::abs(order - 1) <= 0.05);
  }
  const double order = std::log2(point_error(mass, SpringIntegrator::midpoint, 1e-5, 150) /
                                 point_error(mass, SpringIntegrator::midpoint, 5e-6, 300));
  CAPTURE(order);
  CHECK(std::abs(order - 2) <= 0.1);
}

TEST_CASE("spring_contact: every method finds the slide of a mass", "[scenes][scene]") {
  SlidingMass mass;
  mass.pull = 6;
  mass.friction = 0.3;
  for (const SpringIntegrator method : eulers) {
    const double coarse = point_error(mass, method, 2e-4, 100);
    const double fine = point_error(mass, method, 5e-5, 400);
    CAPTURE(int(method), coarse, fine);
    CHECK(fine <= coarse / 2);
    CHECK(fine <= by_step(2e-5));
  }
}

TEST_CASE("spring_contact: a stiff step beyond the limit blows up unless implicit",
          "[scenes][scene]") {
  // Explicit Euler of m ẍ = −K x − B ẋ is stable below B/K = 3 ms, symplectic Euler below 4.3 ms.
  SlidingMass mass;
  mass.pull = 0.01;
  mass.friction = 1e9;
  const double reach = mass.pull / mass.stiffness;
  CHECK(point_error(mass, SpringIntegrator::explicit_euler, 0.0025, 120) <= by_step(1e-3) * reach);
  CHECK(point_error(mass, SpringIntegrator::explicit_euler, 0.0035, 150) >= 1e3 * reach);
  CHECK(point_error(mass, SpringIntegrator::symplectic_euler, 0.0035, 120) <=
        by_step(1e-3) * reach);
  CHECK(point_error(mass, SpringIntegrator::symplectic_euler, 0.0055, 120) >= 1e3 * reach);
  CHECK(point_error(mass, SpringIntegrator::linearly_implicit_euler, 0.1, 50) <=
        by_step(1e-3) * reach);
}

TEST_CASE("spring_contact: fine steps of all methods meet, on the box too", "[scenes][oracle]") {
  for (const BoxScene kind : {BoxScene::stick, BoxScene::push}) {
    const auto middle = box_after(kind, SpringIntegrator::midpoint, 0.004, 100);
    for (const SpringIntegrator method : eulers) {
      const double coarse = box_distance(box_after(kind, method, 0.004, 40), middle);
      const double fine = box_distance(box_after(kind, method, 0.004, 160), middle);
      CAPTURE(int(kind), int(method), coarse, fine);
      CHECK(fine <= coarse / 2.5);
      CHECK(fine <= by_step(1e-5));
    }
  }
}

}  // namespace spring_contact_test
