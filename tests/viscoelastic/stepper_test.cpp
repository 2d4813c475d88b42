// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/stepper.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <Eigen/Dense>

#include "carom/viscoelastic/free_body.hpp"

#include "support/box_body.hpp"
#include "support/catch.hpp"
#include "support/number_file.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace stepper_test {

using carom::testing::by_step, carom::testing::clearly;

using carom::ContactMaterial, carom::FreeBody, carom::FreeBodyState, carom::VectorX,
    carom::ViscoelasticOptions, carom::ViscoelasticStepper;
using carom::testing::make_box, carom::testing::make_material, carom::testing::make_point,
    carom::testing::read_numbers, carom::testing::rest_state, carom::testing::rounding;
using Stepper = ViscoelasticStepper<FreeBody<double>>;

TEST_CASE("stepper: a pushed and a spun box", "[viscoelastic][golden]") {
  for (const std::string scene : {"push", "spin"}) {
    Stepper stepper(make_box(), {make_material()});
    FreeBodyState<double> state = rest_state();
    if (scene == "push") {
      stepper.system().force << 70, 20, 0;
      stepper.system().torque << 0, 0, 15;
    } else {
      state.rate(2) = 10;
    }
    int steps = 0, compared = 0;
    for (const auto& line : read_numbers("box_steps.txt")) {
      if (line.name != scene) continue;
      for (; steps < int(line.numbers[0]); ++steps) {
        const auto report = stepper.step(state, 0.005);
        REQUIRE(report.converged());
        CHECK(report.parts == 1);
      }
      const Eigen::Map<const VectorX<double>> expected(line.numbers.data() + 1, 33);
      CAPTURE(scene, steps);
      // Where the golden solver stopped: forces to 1e-10 of the weight.
      CHECK((state.position - expected.head<3>()).norm() <= by_step(1e-9));
      CHECK((state.velocity - expected.segment<3>(3)).norm() <= by_step(1e-9));
      CHECK((state.rate - expected.segment<3>(6)).norm() <= by_step(2e-8));
      CHECK((stepper.forces() - expected.segment(9, 12)).norm() <= by_step(1e-7));
      CHECK((stepper.anchors() - expected.tail(12)).norm() <= by_step(1e-9));
      ++compared;
    }
    CHECK(compared == 4);
  }
}

TEST_CASE("stepper: with events a drop converges faster than without", "[viscoelastic][scene]") {
  const auto drop = [](double dt, bool events) {
    ViscoelasticOptions<double> options;
    options.events = events;
    Stepper stepper(make_point(), {make_material(1e5, 100)}, options);
    FreeBodyState<double> state;
    state.position(2) = 0.01;
    int closed = 0;
    for (int k = 0; k < int(std::lround(0.06 / dt)); ++k) {
      const auto report = stepper.step(state, dt);
      REQUIRE(report.converged());
      closed += report.closed;
    }
    CHECK(closed == 1);
    return state.position(2);
  };
  // One fall, one contact, one flight: all frozen parts are exact.
  const double exact = drop(1e-4, true);
  for (const double dt : {0.01, 0.005, 0.002}) {
    CHECK(std::abs(drop(dt, true) - exact) <= by_step(1e-7));
    CHECK(std::abs(drop(dt, false) - exact) >= clearly(1e-5));
  }
}

TEST_CASE("stepper: bad input is refused by name", "[viscoelastic][example]") {
  ContactMaterial<double> material = make_material();
  CHECK_THROWS_AS(Stepper(make_box(), {}), std::invalid_argument);
  CHECK_THROWS_AS(Stepper(make_box(), {material, material}), std::invalid_argument);
  material.stiffness(1) = -1;
  CHECK_THROWS_WITH(Stepper(make_box(), {make_material(), material, material, material}),
                    Catch::Contains("material 1: stiffness entry 1"));
  material = make_material();
  material.damping(2) = std::nan("");
  CHECK_THROWS_WITH(Stepper(make_box(), {material}),
                    Catch::Contains("material 0: damping entry 2"));
  material = make_material();
  material.friction = -1;
  CHECK_THROWS_WITH(Stepper(make_box(), {material}), Catch::Contains("friction"));
  ViscoelasticOptions<double> options;
  options.event_tolerance = 0;
  CHECK_THROWS_WITH(Stepper(make_box(), {make_material()}, options),
                    Catch::Contains("event tolerance"));
  Stepper stepper(make_box(), {make_material()});
  FreeBodyState<double> state = rest_state();
  state.velocity(0) = std::nan("");
  CHECK(stepper.step(state, 0.001).status == carom::SolveStatus::not_finite);
}

TEST_CASE("stepper: single precision comes to rest as double does", "[viscoelastic][law]") {
  std::vector<carom::Vector3<float>> corners;
  for (const float x : {-0.2F, 0.2F}) {
    for (const float y : {-0.15F, 0.15F}) corners.emplace_back(x, y, -0.1F);
  }
  const carom::Vector3<float> inertia(0.11F, 0.17F, 0.21F);
  const carom::ContactMaterial<float> material{carom::Vector3<float>::Constant(1e4F),
                                               carom::Vector3<float>::Constant(300), 0.5F};
  ViscoelasticStepper<FreeBody<float>> stepper(FreeBody<float>(10, inertia.asDiagonal(), corners),
                                               {material});
  FreeBodyState<float> state;
  state.position(2) = 0.15F;
  state.velocity(0) = 0.5F;
  bool finite = true;
  for (int k = 0; k < 400; ++k) {
    finite = finite && stepper.step(state, 0.005F).status != carom::SolveStatus::not_finite;
  }
  CHECK(finite);
  CHECK(std::abs(state.position(2) - (0.1F - 98.1F / 4 / 1e4F)) <= by_step(1e-5F));
  CHECK(state.velocity.norm() <= by_step(1e-4F));
  CHECK(state.rate.norm() <= by_step(1e-4F));
  CHECK(std::abs(state.orientation.norm() - 1) <= by_step(1e-5F));
  CHECK(state.position(0) > 0);
  CHECK(state.position(0) < 0.5F);
}

TEST_CASE("stepper: a pushed box accelerates by Coulomb's law at any stiffness",
          "[viscoelastic][law]") {
  for (const double stiffness : {1e6, 1e8}) {
    Stepper stepper(make_box(), {make_material(stiffness, std::sqrt(stiffness))});
    FreeBodyState<double> state = rest_state(stiffness);
    stepper.system().force(0) = 70;
    int parts = 0;
    const int steps = carom::testing::sweep(2, 20);
    for (int k = 0; k < steps; ++k) {
      const auto report = stepper.step(state, 0.01);
      CHECK(report.converged());
      parts += report.parts;
    }
    CAPTURE(stiffness, parts);
    const double expected = 0.01 * steps * 2.095;
    CHECK(std::abs(state.velocity(0) - expected) <= 0.01 * expected);
    // Corners that open a rounding apart turn the box; contacts that open and close amplify that.
    CHECK(std::abs(state.velocity(1)) <= by_step(1e-5));
    CHECK(std::abs(state.position(2) - 0.1) <= by_step(1e-4));
  }
}

TEST_CASE("stepper: more events than allowed are reported", "[viscoelastic][example]") {
  carom::ViscoelasticOptions<double> options;
  options.event_limit = 2;
  Stepper stepper(make_box(), {make_material(1e8, 1e4)}, options);
  FreeBodyState<double> state = rest_state(1e8);
  stepper.system().force(0) = 70;
  CHECK(stepper.step(state, 0.01).status == carom::SolveStatus::iteration_limit);
  options.event_limit = 0;  // no event is looked for: the step is one part
  Stepper blind(make_box(), {make_material(1e8, 1e4)}, options);
  FreeBodyState<double> calm = rest_state(1e8);
  const auto report = blind.step(calm, 1e-4);
  CHECK((report.converged() && report.parts == 1));
  options.event_limit = -1;
  CHECK_THROWS_WITH(Stepper(make_box(), {make_material()}, options),
                    Catch::Contains("event limit"));
}

}  // namespace stepper_test
