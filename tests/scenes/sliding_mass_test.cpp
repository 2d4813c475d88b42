// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/sliding_mass.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "scenes/spring_contact.hpp"
#include "scenes/viscoelastic_box.hpp"

namespace sliding_mass_test {

using carom::testing::by_differences, carom::testing::by_solver, carom::testing::by_step;

using carom::FreeBody;
using carom::examples::make_sliding_point, carom::examples::SlidingMass;
using carom::examples::SlidingMotion, carom::examples::SpringContact;
using carom::examples::SpringIntegrator;
using carom::testing::rounding;

namespace {

SlidingMass pulled(double force, double friction, double damping = 300) {
  SlidingMass mass;
  mass.pull = force;
  mass.friction = friction;
  mass.damping = damping;
  return mass;
}

SlidingMass swung() {
  SlidingMass mass = pulled(0, 0.3);
  mass.swing = 6;
  mass.frequency = 20;
  return mass;
}

/// Largest error of x over a time, by ViscoelasticStepper [m].
double largest_error(const SlidingMass& mass, double velocity, double dt, double duration) {
  const auto scene = make_sliding_point(mass, velocity);
  auto stepper = scene.stepper();
  auto state = scene.state;
  SlidingMotion exact(mass, velocity);
  double worst = 0;
  for (int k = 0; k < int(std::lround(duration / dt)); ++k) {
    stepper.system().force(0) = mass.mean_force(k * dt, (k + 1) * dt);
    REQUIRE(stepper.step(state, dt).converged());
    const auto expected = exact.at((k + 1) * dt);
    worst = std::max(worst, std::abs(state.position(0) - expected.x));
    CHECK(std::abs(state.position(2) - scene.state.position(2)) <= rounding(2000, 1e-4));
  }
  return worst;
}

}  // namespace

TEST_CASE("sliding_mass: the exact motion obeys its differential equation", "[scenes][oracle]") {
  // Newton's law and Coulomb's by central differences, between events.
  const SlidingMass mass = swung();
  const double h = 1e-6;
  SlidingMotion motion(mass);
  int stuck = 0, slid = 0;
  for (int k = 1; k < 700; ++k) {
    const double time = 1e-3 * k;
    const int events = motion.event_count();
    const auto a = motion.at(time - h);
    const auto b = motion.at(time);
    const auto c = motion.at(time + h);
    if (motion.event_count() != events || time - h < motion.last_event()) continue;
    CAPTURE(time);
    CHECK(std::abs((c.x - a.x) / (2 * h) - b.v) <= by_differences(1e-8));
    const double force = mass.mass * (c.v - a.v) / (2 * h) - mass.force(time);
    const double stretching = (c.stretch - a.stretch) / (2 * h);
    const double held = -mass.stiffness * b.stretch - mass.damping * stretching;
    CHECK(std::abs(force - held) <= by_solver(1e-5));
    CHECK(std::abs(force) <= mass.reach() * (1 + by_solver(1e-6)));
    const double slip = (c.anchor() - a.anchor()) / (2 * h);
    if (motion.slides()) {
      CHECK(std::abs(std::abs(force) - mass.reach()) <= by_solver(1e-6));
      CHECK(slip * force <= 0);
      ++slid;
    } else {
      CHECK(std::abs(slip) <= by_solver(1e-9));
      ++stuck;
    }
  }
  CHECK(stuck > 10);
  CHECK(slid > 300);
}

TEST_CASE("sliding_mass: the exact motion under a swinging force, by other code",
          "[scenes][oracle]") {
  const SlidingMass mass = swung();
  SlidingMotion exact(mass);
  const auto scene = make_sliding_point(mass);
  double before = 1;
  for (const int steps : {250, 1000}) {  // of 0.05 s
    SpringContact<FreeBody<double>> contact(scene.body, scene.material);
    auto state = scene.state;
    for (int k = 0; k < steps; ++k) {
      contact.system().force(0) = mass.mean_force(0.05 * k / steps, 0.05 * (k + 1) / steps);
      contact.step(state, 0.05 / steps, SpringIntegrator::midpoint);
    }
    const double error = std::abs(state.position(0) - exact.at(0.05).x);
    CAPTURE(steps, error);
    CHECK(error <= before / 3);
    before = error;
  }
  CHECK(before <= by_step(2e-6));
}

TEST_CASE("sliding_mass: golden instants and places of stick, slide and brake",
          "[scenes][golden]") {
  SlidingMotion stick(pulled(2, 0.5));
  CHECK(std::abs(stick.at(0.2).x - 1.9999999999999565e-05) <= rounding(20, 2e-5));
  CHECK(stick.event_count() == 0);
  CHECK(stick.at(0.2).anchor() == 0);
  SlidingMotion slide(pulled(6, 0.3));
  CHECK(std::abs(slide.at(0.2).x - 0.06162198665047719) <= rounding(20, 0.06));
  CHECK(std::abs(slide.at(0.2).v - 0.6138165767277083) <= rounding(20, 0.6));
  CHECK(std::abs(slide.at(0.2).anchor() - 0.06159255665047719) <= rounding(20, 0.06));
  CHECK(std::abs(slide.last_event() - 0.00166369891206471) <= rounding(20, 2e-3));
  SlidingMotion softer(pulled(6, 0.3, 100));
  CHECK(std::abs(softer.at(0.2).x - 0.06199507786619261) <= rounding(20, 0.06));
  CHECK(std::abs(softer.last_event() - 0.0025714397718604263) <= rounding(20, 3e-3));
  SlidingMotion harder(pulled(10, 0.3));
  CHECK(std::abs(harder.at(0.1).x - 0.03542851625110656) <= rounding(20, 0.04));
  CHECK(std::abs(harder.at(0.1).v - 0.7071398615056474) <= rounding(20, 0.7));
  SlidingMotion brake(pulled(0, 0.5), 1);
  CHECK(std::abs(brake.at(0.5).x - 0.1018877491845056) <= rounding(20, 0.1));
  CHECK(std::abs(brake.last_event() - 0.203873598369011) <= rounding(5000, 1.0));
  CHECK(std::abs(brake.at(0.5).v) <= rounding(5, 1.0));
}

TEST_CASE("sliding_mass: stiction is exact at any step", "[scenes][scene]") {
  for (const double dt : {0.0005, 0.005, 0.02, 0.1}) {
    for (const double damping : {10.0, 300.0, 2000.0}) {  // ratios 0.016, 0.47, 3.2
      CAPTURE(dt, damping);
      CHECK(largest_error(pulled(2, 0.5, damping), 0, dt, 0.1) <= rounding(2000, 2e-5));
    }
  }
}

TEST_CASE("sliding_mass: slide and brake converge to the exact motion", "[scenes][scene]") {
  struct Case {
    SlidingMass mass;
    double velocity, duration;
    double bounds[3];  ///< at 4, 1 and 0.25 ms [m]
  };
  const Case cases[] = {{pulled(6, 0.3), 0, 0.2, {1e-3, 3e-5, 1e-5}},
                        {pulled(10, 0.3), 0, 0.1, {1e-3, 3e-5, 1e-5}},
                        {pulled(0, 0.5), 1, 0.3, {1e-3, 1e-4, 1e-5}}};
  for (const Case& c : cases) {
    for (int k = 0; k < 3; ++k) {
      const double dt = 0.004 / std::pow(4, k);
      CAPTURE(c.mass.pull, dt);
      CHECK(largest_error(c.mass, c.velocity, dt, c.duration) <= c.bounds[k]);
    }
  }
}

TEST_CASE("sliding_mass: stick and slip under a swinging force", "[scenes][scene]") {
  const SlidingMass mass = swung();
  SlidingMotion exact(mass);
  const double reach = exact.at(0.2).x;  // 20 mm
  CHECK(reach > 0.019);
  const double coarse = largest_error(mass, 0, 0.005, 0.4);
  const double fine = largest_error(mass, 0, 0.0005, 0.4);
  CAPTURE(coarse, fine);
  CHECK(coarse <= reach / 8);
  CHECK(fine <= reach / 4000);
  // Each half swing has one slide; it stops every time.
  CHECK(exact.at(1).x < reach);
  CHECK(exact.event_count() >= 12);
}

}  // namespace sliding_mass_test
