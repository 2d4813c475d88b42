// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/viscoelastic_box.hpp"

#include <cmath>

#include "support/box_body.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"

#include "scenes/spring_contact.hpp"

namespace viscoelastic_box_test {

using carom::testing::by_settling, carom::testing::by_step, carom::testing::clearly;

using carom::FreeBody, carom::FreeBodyState, carom::Index, carom::SlipLaw;
using carom::examples::box_distance, carom::examples::BoxScene;
using carom::examples::make_resting_box, carom::examples::make_viscoelastic_box;
using carom::examples::SpringContact, carom::examples::SpringIntegrator;
using carom::testing::energy_of, carom::testing::rounding;

namespace {

constexpr double weight = 98.1;

FreeBodyState<double> after(BoxScene kind, double duration, int steps) {
  const auto scene = make_viscoelastic_box(kind);
  auto stepper = scene.stepper();
  auto state = scene.state;
  for (int k = 0; k < steps; ++k) {
    const auto report = stepper.step(state, duration / steps);
    if (!report.converged()) state.position(0) = std::nan("");
  }
  return state;
}

}  // namespace

TEST_CASE("viscoelastic_box: stick, push and drop converge to the differential equation",
          "[scenes][oracle]") {
  struct Case {
    BoxScene kind;
    double duration;
    double bounds[2];  ///< at 2 ms and 0.5 ms [m]
  };
  const Case cases[] = {{BoxScene::stick, 0.02, {1e-8, 1e-9}},
                        {BoxScene::push, 0.02, {1e-4, 1e-5}},
                        {BoxScene::drop, 0.07, {1e-4, 1e-5}}};
  for (const Case& c : cases) {
    const auto scene = make_viscoelastic_box(c.kind);
    SpringContact<FreeBody<double>> contact(scene.body, scene.material);
    auto exact = scene.state;
    const int fine = int(std::lround(c.duration / 4e-5));
    for (int k = 0; k < fine; ++k) {
      contact.step(exact, c.duration / fine, SpringIntegrator::midpoint);
    }
    CHECK(box_distance(exact, scene.state) > clearly(c.kind == BoxScene::stick ? 1e-5 : 1e-4));
    for (int k = 0; k < 2; ++k) {
      const int steps = int(std::lround(c.duration / 0.002)) * (k == 0 ? 1 : 4);
      const double error = box_distance(after(c.kind, c.duration, steps), exact);
      CAPTURE(int(c.kind), steps, error);
      CHECK(error <= c.bounds[k]);
    }
  }
}

TEST_CASE("viscoelastic_box: pushed by 70 N it accelerates at 2.095 m/s2 at every step",
          "[scenes][scene]") {
  for (const double dt : {0.00025, 0.001, 0.0025, 0.005, 0.01}) {
    const auto scene = make_resting_box();
    auto stepper = scene.stepper();
    stepper.system().force(0) = 70;
    auto state = scene.state;
    const int steps = int(std::lround(0.1 / dt));
    for (int k = 0; k < steps; ++k) REQUIRE(stepper.step(state, dt).converged());
    const double before = state.velocity(0), height = state.position(2);
    for (int k = 0; k < steps; ++k) REQUIRE(stepper.step(state, dt).converged());
    CAPTURE(dt);
    CHECK(std::abs((state.velocity(0) - before) / (steps * dt) - (7 - 0.5 * 9.81)) <=
          by_settling(1e-6));
    CHECK(std::abs(state.position(2) - height) <= by_settling(1e-7));
  }
}

TEST_CASE("viscoelastic_box: the radial law is wrong where contacts are coupled",
          "[scenes][example]") {
  const auto scene = make_resting_box();
  auto stepper = scene.stepper(SlipLaw::radial);
  stepper.system().force << 70, 20, 0;
  stepper.system().torque(2) = 15;
  auto state = scene.state;
  for (int k = 0; k < 20; ++k) static_cast<void>(stepper.step(state, 0.005));
  CHECK(box_distance(state, after(BoxScene::push, 0.1, 20)) > clearly(1e-3));
}

TEST_CASE("viscoelastic_box: rest stays rest at any step, stiffness and damping", "[scenes][law]") {
  for (const double stiffness : {1e3, 1e5, 1e10}) {
    for (const double ratio : {0.05, 2.0}) {  // of the normal motion
      for (const double dt : {2.5e-4, 1e-2, 0.1}) {
        const double damping = 2 * ratio * std::sqrt(stiffness * 10 / 4);
        const auto scene = make_resting_box(stiffness, damping);
        auto stepper = scene.stepper();
        auto state = scene.state;
        // Average forces are differences of terms up to K t² g; places are rounded.
        const double force_scale = stiffness * dt * dt * 9.81 + weight;
        for (int k = 0; k < 20; ++k) REQUIRE(stepper.step(state, dt).converged());
        CAPTURE(stiffness, ratio, dt);
        CHECK(box_distance(state, scene.state) <=
              rounding(20, 0.1) + rounding(20, force_scale) * dt * dt / 10);
        for (Index i = 0; i < 4; ++i) {
          CHECK(std::abs(stepper.forces()(3 * i + 2) - weight / 4) <=
                rounding(100, force_scale) + stiffness * rounding(2, 0.1));
        }
      }
    }
  }
}

TEST_CASE("viscoelastic_box: energy is never created in stick", "[scenes][law]") {
  for (const double stiffness : {1e3, 1e6, 1e10}) {
    for (const double ratio : {0.05, 0.7, 2.0}) {
      for (const double dt : {1e-3, 1e-2}) {
        const double damping = 2 * ratio * std::sqrt(stiffness * 10 / 4);
        const auto scene = make_resting_box(stiffness, damping, 1e3);
        auto stepper = scene.stepper();
        auto state = scene.state;
        state.position(2) -= weight / 8 / stiffness;  // too little for a jump
        REQUIRE(stepper.step(state, 1e-9).converged());
        const double start = energy_of(stepper, state, stiffness);
        const double scale = std::abs(start) + 2 * weight;
        double before = start;
        for (int k = 0; k < 20; ++k) {
          REQUIRE(stepper.step(state, dt).converged());
          const double now = energy_of(stepper, state, stiffness);
          CAPTURE(stiffness, ratio, dt, k);
          CHECK(now <= before + rounding(100, scale));
          before = now;
        }
      }
    }
  }
}

TEST_CASE("viscoelastic_box: dropped, it loses energy and comes to rest", "[scenes][scene]") {
  const auto scene = make_viscoelastic_box(BoxScene::drop);
  auto stepper = scene.stepper();
  auto state = scene.state;
  const double start = energy_of(stepper, state, 1e5);
  double before = start;
  int closed = 0, opened = 0;
  for (int k = 0; k < 300; ++k) {
    const auto report = stepper.step(state, 0.002);
    REQUIRE(report.converged());
    closed += report.closed;
    opened += report.opened;
    const double now = energy_of(stepper, state, 1e5);
    CHECK(now <= before + by_step(1e-4) * start);
    before = now;
  }
  CHECK(closed - opened == 4);
  CHECK(opened >= 2);  // it rocks
  CHECK(std::abs(state.position(2) - (0.1 - weight / 4e5)) <= by_settling(1e-5));
  CHECK(state.velocity.norm() <= by_settling(1e-3));
  CHECK(state.position(0) > 0.02);
}

}  // namespace viscoelastic_box_test
