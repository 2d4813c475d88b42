// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>

#include "carom/viscoelastic/free_body.hpp"
#include "carom/viscoelastic/step_derivative.hpp"
#include "carom/viscoelastic/stepper.hpp"

#include "support/allocation_guard.hpp"
#include "support/box_body.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/viscoelastic_cases.hpp"

namespace viscoelastic_test {

using carom::FreeBody, carom::FreeBodyState, carom::SlipLaw, carom::ViscoelasticStepper;
using carom::testing::allocations_of;
using carom::testing::make_box, carom::testing::make_material, carom::testing::rest_state;

namespace {

/// Steps through falls, slides and changing sets of contacts with all allocations counted.
void step_guarded(SlipLaw law, double extra_damping) {
  carom::ViscoelasticOptions<double> options;
  options.law = law;
  options.event_limit = 4;  // laws that lift anchors chatter up to any limit
  auto soft = make_material();
  soft.damping(0) += extra_damping;  // breaks B = β K
  ViscoelasticStepper<FreeBody<double>> stepper(make_box(), {soft}, options);
  FreeBodyState<double> state = rest_state();
  state.position(2) += 0.01;
  state.velocity << 1, 0.2, 0;
  state.rate << 0.5, 0.3, 1;
  bool finite = true;
  int closed = 0;
  const std::size_t allocations = allocations_of([&] {
    for (int k = 0; k < carom::testing::sweep(45, 100); ++k) {
      const auto report = stepper.step(state, 0.002);
      finite = finite && report.status != carom::SolveStatus::not_finite;
      closed += report.closed;
    }
  });
  CHECK(finite);
  CHECK(closed > 1);
  CHECK(allocations == 0);
}

}  // namespace

TEST_CASE("real_time: viscoelastic steps do not allocate", "[viscoelastic][real_time]") {
  for (const SlipLaw law : {SlipLaw::coulomb, SlipLaw::convex, SlipLaw::radial, SlipLaw::stick}) {
    CAPTURE(int(law));
    step_guarded(law, 0);
  }
}

TEST_CASE("real_time: neither do those of general damping", "[viscoelastic][real_time]") {
  step_guarded(SlipLaw::coulomb, 50);
}

TEST_CASE("real_time: the derivative of a viscoelastic step does not allocate",
          "[viscoelastic][real_time]") {
  auto ground = make_material();
  ground.damping(0) += 50;
  ViscoelasticStepper<FreeBody<double>> stepper(make_box(), {ground});
  carom::ViscoelasticStepDerivative<FreeBody<double>> derivative(stepper);
  FreeBodyState<double> state = rest_state();
  state.velocity << 1, 0.2, 0.05;  // it lifts off, and lands again
  state.rate << 0.1, 0.05, 1;
  carom::VectorX<double> change = carom::VectorX<double>::Ones(derivative.matrix().cols());
  carom::VectorX<double> out(derivative.matrix().rows());
  bool finite = true;
  int closed = 0, opened = 0;
  const std::size_t allocations = allocations_of([&] {
    for (int k = 0; k < carom::testing::sweep(20, 40); ++k) {
      const auto report = derivative.step(stepper, state, 0.002);
      derivative.push_forward(change, out);
      derivative.pull_back(out, change);
      change /= change.norm();
      finite = finite && report.converged() && out.allFinite();
      closed += report.closed;
      opened += report.opened;
    }
  });
  CHECK(finite);
  CHECK(closed > 1);
  CHECK(opened > 0);
  CHECK(allocations == 0);
}

TEST_CASE("real_time: coupled slip does not allocate, whatever it takes",
          "[viscoelastic][real_time]") {
  carom::testing::VectorSource<double> source(18u);
  constexpr carom::Index most = 7;
  carom::CoulombSlip<double> slip;
  slip.prepare(most);
  int hard = 0;
  for (int round = 0; round < carom::testing::sweep(70, 150); ++round) {
    const carom::Index n = 1 + round % most;
    const carom::testing::SlipCase<double> c(source, n);
    slip.prepare(n);
    carom::SolveReport<double> report;
    const std::size_t allocations =
        allocations_of([&] { report = slip.solve(c.gain, c.average, c.friction); });
    CAPTURE(round, n, report.iterations);
    CHECK(report.converged());
    CHECK(allocations == 0);
    if (report.iterations > carom::CoulombSlip<double>::sweep_limit) ++hard;
  }
  CHECK(hard > 3);
}

}  // namespace viscoelastic_test
