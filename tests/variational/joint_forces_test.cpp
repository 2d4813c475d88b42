// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/joint_forces.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "carom/variational/stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace joint_forces_test {

using namespace carom::testing;
using carom::Index, carom::JointForce, carom::MatrixX, carom::VariationalStepper, carom::VectorX;
using carom::WithJointForces;

namespace {

using Forced = WithJointForces<Oscillator<double>>;

}  // namespace

TEST_CASE("joint_forces: a spring with a damper is the damped oscillator",
          "[variational][oracle]") {
  // m x" + d x' + k x = 0 with m = 1, k = 4, d = 0.4: x = e^{-0.2 t}(cos wt + (0.2/w) sin wt).
  const double w = std::sqrt(4 - 0.04);
  double errors[2];
  for (int k = 0; k < 2; ++k) {
    const double h = 0.01 / (1 + k);
    VariationalStepper<Forced> stepper(
        Forced({1, 0}, {JointForce<double>::spring(0, 4), JointForce<double>::damper(0, 0.4)}));
    auto state = stepper.make_state(numbers<double>({1}), numbers<double>({0}));
    for (int i = 0; i < 300 * (1 + k); ++i) REQUIRE(stepper.step(state, h).converged());
    const double t = 3;
    const double exact = std::exp(-0.2 * t) * (std::cos(w * t) + 0.2 / w * std::sin(w * t));
    errors[k] = std::abs(state.q(0) - exact);
  }
  // An error of the method, of order 2.
  CHECK(errors[0] < by_step(1e-4));
  CHECK(errors[1] < errors[0] / 3.9);  // order 2
}

TEST_CASE("joint_forces: a servo holds its target, a new one is taken up",
          "[variational][example]") {
  Forced system({1, 0}, {JointForce<double>::servo(0, 100, 20, 0.7)});
  VectorX<double> f(1), q = numbers<double>({0.2}), v = numbers<double>({0.1});
  MatrixX<double> by_q(1, 1), by_v(1, 1);
  system.write_force(q, v, 0, f, by_q, by_v);
  CHECK(std::abs(f(0) - (100 * 0.5 - 2)) <= rounding(8192, 1.0));
  CHECK((by_q(0, 0) == -100 && by_v(0, 0) == -20));
  system.aim(0, -0.3);
  VariationalStepper<Forced> stepper(system);
  auto state = stepper.make_state(q, v);
  for (int i = 0; i < 400; ++i) REQUIRE(stepper.step(state, 0.01).converged());
  // The servo approaches its target exponentially.
  CHECK(std::abs(state.q(0) + 0.3) < by_settling(1e-9));
}

TEST_CASE("joint_forces: actuators give no more than their limit", "[variational][edge]") {
  JointForce<double> weak = JointForce<double>::servo(0, 100, 20, 1);
  weak.limit = 3;
  const Forced system({1, 0}, {weak});
  VectorX<double> f(1), q = numbers<double>({0}), v = numbers<double>({0});
  MatrixX<double> by_q(1, 1), by_v(1, 1);
  system.write_force(q, v, 0, f, by_q, by_v);
  CHECK(f(0) == 3);
  CHECK(by_q(0, 0) == 0);
  q(0) = 2;
  system.write_force(q, v, 0, f, by_q, by_v);
  CHECK(f(0) == -3);
  q(0) = 0.99;  // within its limit
  system.write_force(q, v, 0, f, by_q, by_v);
  CHECK(std::abs(f(0) - 1) <= rounding(100, 1.0));
  CHECK((by_q(0, 0) == -100 && by_v(0, 0) == -20));
}

TEST_CASE("joint_forces: forces that make no sense are named", "[variational][edge]") {
  const Oscillator<double> system;
  const auto fault = [&](const JointForce<double>& f) { return Forced::check(system, {f}); };
  CHECK(fault(JointForce<double>::spring(1, 4)).find("force 0: coordinate") == 0);
  CHECK(fault(JointForce<double>::spring(-1, 4)).find("force 0: coordinate") == 0);
  CHECK(fault(JointForce<double>::damper(0, -1)).find("force 0: damping") == 0);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(fault(JointForce<double>::spring(0, 1, infinity)).find("force 0: rest") == 0);
  CHECK(fault(JointForce<double>::spring(0, 1)).empty());
  CHECK_THROWS_AS(Forced(system, {JointForce<double>::spring(1, 4)}), std::invalid_argument);
}

}  // namespace joint_forces_test
