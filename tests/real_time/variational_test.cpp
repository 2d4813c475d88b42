// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/variational/composition.hpp"
#include "carom/variational/impact_step_derivative.hpp"
#include "carom/variational/impact_stepper.hpp"
#include "carom/variational/planar_tree.hpp"
#include "carom/variational/spatial_tree.hpp"
#include "carom/variational/step_curvature.hpp"
#include "carom/variational/stepper.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"

#include "scenes/quadruped.hpp"

namespace variational_test {

using namespace carom::testing;
using carom::ImpactStepper, carom::MechanicalState, carom::StepDerivative;
using carom::VariationalStepper;

namespace {

/// Steps again and again with all allocations counted.
template <typename System>
void step_guarded(const System& system, std::initializer_list<double> q,
                  std::initializer_list<double> v) {
  VariationalStepper<System> stepper(system);
  StepDerivative<System> derivative;
  derivative.prepare(system);
  auto state = stepper.make_state(numbers<double>(q), numbers<double>(v));
  auto saved = state;
  carom::MatrixX<double> slope(2 * system.size(), 2 * system.size());
  const auto shares = carom::yoshida_shares<double>();
  bool converged = true;
  CHECK(allocations_of([&] {
          for (int k = 0; k < 10; ++k) {
            converged = stepper.step(state, 0.01).converged() && converged;
            converged =
                composed_step<System>(stepper, state, 0.01, shares, saved).converged() && converged;
            converged =
                derivative.evaluate(system, state, 0.01, state.q, slope).converged() && converged;
            converged = std::isfinite(stepper.energy(state)) && converged;
          }
        }) == 0);
  CHECK(converged);
}

/// Second derivatives again and again with all allocations counted.
template <template <typename> typename System>
void curve_guarded(std::initializer_list<double> q, std::initializer_list<double> p) {
  const System<double> system;
  const System<carom::FirstOrder<double>> lifted;
  const MechanicalState<double> state{0, numbers<double>(q), numbers<double>(p)};
  const carom::Index n = 2 * system.size();
  carom::StepCurvature<System<double>, System<carom::FirstOrder<double>>> curvature;
  curvature.prepare(system, lifted);
  std::vector<carom::MatrixX<double>> second(std::size_t(n), carom::MatrixX<double>::Zero(n, n));
  bool converged = true;
  const std::size_t allocations = allocations_of([&] {
    for (int k = 0; k < 3; ++k) {
      converged =
          converged && curvature.evaluate(system, lifted, state, 0.01, state.q, second).converged();
    }
  });
  CHECK(converged);
  CHECK(allocations == 0);
}

/// Unlike masses on a line that knock against each other and two walls.
struct Knocking {
  using scalar_type = double;
  [[nodiscard]] carom::Index size() const { return 3; }
  [[nodiscard]] carom::Index gap_count() const { return 4; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    return v(0) * v(0) + 1.7 * (v(1) * v(1)) + 0.6 * (v(2) * v(2));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0);
    for (carom::Index i = 1; i < 3; ++i) out(i) = q(i) - q(i - 1);
    out(3) = 1.0 - q(2);
  }
};

/// Steps through impacts of changing sets of contacts with all allocations counted.
template <typename Law>
void knock_guarded(Law law) {
  ImpactStepper<Knocking, Law> stepper(Knocking{}, law);
  // At first all four contacts are closed: no later impact has more.
  MechanicalState<double> state{0, numbers<double>({0, 0, 0}), numbers<double>({-1, -0.5, 0.3})};
  bool converged = stepper.step(state, 0.05).converged();
  state = {0, numbers<double>({0, 0.4, 1}), numbers<double>({-1, -3, 4})};
  int impacts = stepper.step(state, 0.05).impacts;
  const std::size_t allocations = allocations_of([&] {
    for (int k = 0; k < 100; ++k) {
      const auto report = stepper.step(state, 0.05);
      converged = report.converged() && converged;
      impacts += report.impacts;
    }
  });
  CHECK(converged);
  CHECK(impacts > 10);
  CHECK(allocations == 0);
}

/// Differentiates steps through impacts with all allocations counted.
template <typename Law>
void differentiate_guarded(Law law) {
  ImpactStepper<Knocking, Law> stepper(Knocking{}, law);
  carom::ImpactStepDerivative derivative(stepper);
  // At first impacts of one, two, three and four contacts, so that all memory has grown.
  bool usable = true;
  for (const double apart : {0.1, 0.0}) {
    for (const auto& q :
         {numbers<double>({0, 0.4, 0.8}), numbers<double>({0, apart, 0.8}),
          numbers<double>({0, apart, 2 * apart}), numbers<double>({0, 0.5 * apart, 10 * apart})}) {
      MechanicalState<double> state{0, q, numbers<double>({-1, -0.5, 0.3})};
      usable = derivative.step(stepper, state, 0.05).usable() && usable;
    }
  }
  MechanicalState<double> state{0, numbers<double>({0, 0.4, 1}), numbers<double>({-1, -3, 4})};
  usable = derivative.step(stepper, state, 0.05).usable() && usable;
  int impacts = 0;
  carom::VectorX<double> gradient = carom::VectorX<double>::Ones(6);
  const std::size_t allocations = allocations_of([&] {
    for (int k = 0; k < 100; ++k) {
      const auto report = derivative.step(stepper, state, 0.05);
      usable = report.usable() && usable;
      impacts += report.impacts;
      derivative.pull_back(gradient);
    }
  });
  CHECK(usable);
  CHECK(impacts > 10);
  CHECK(allocations == 0);
}

/// Falls, but not yet to the floor.
struct Falling : Thrown<double> {
  [[nodiscard]] carom::Index gap_count() const { return 1; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1);
  }
};

}  // namespace

TEST_CASE("real_time: second derivatives of a step", "[variational][real_time]") {
  curve_guarded<DoublePendulum>({1, -0.5}, {0.2, 0.1});
  curve_guarded<RodPendulum>({0.6, -0.8}, {0.32, 0.24});
}

TEST_CASE("real_time: variational steps do not allocate", "[variational][real_time]") {
  step_guarded(Pendulum<double>{}, {1}, {0.5});
  step_guarded(DoublePendulumByParts<double>{}, {1, 2}, {0.5, -1});
  step_guarded(DrivenOscillator<double>{}, {1}, {0.5});
  step_guarded(RodPendulum<double>{}, {0.6, -0.8}, {0.8, 0.6});
  using Body = carom::PlanarBody<double>;
  std::vector<Body> bodies(4);
  for (int i = 0; i < 4; ++i) {
    bodies[std::size_t(i)].parent = i - 1;
    bodies[std::size_t(i)].centre << 0.5, 0;
    if (i > 0) bodies[std::size_t(i)].hinge << 1, 0;
  }
  step_guarded(carom::PlanarTree<double>(bodies), {0.1, 0.2, 0.3, 0.4}, {1, 0, 0, 1});
}

TEST_CASE("real_time: a step that is halved does not allocate", "[variational][real_time]") {
  VariationalStepper<Pendulum<double>> stepper(Pendulum<double>{});
  auto state = stepper.make_state(numbers<double>({1}), numbers<double>({0}));
  state.momentum(0) = std::nan("");
  bool converged = true;
  CHECK(allocations_of([&] { converged = stepper.step(state, 0.01).converged(); }) == 0);
  CHECK_FALSE(converged);
}

TEST_CASE("real_time: impacts no larger than earlier ones do not allocate",
          "[variational][real_time]") {
  knock_guarded(carom::ImpactResolver<double>());
  knock_guarded(carom::RestitutionImpact<double>(0.95));
  knock_guarded(carom::GeneralizedReflections<double>());
}

TEST_CASE("real_time: derivatives of steps through impacts do not allocate",
          "[variational][real_time]") {
  differentiate_guarded(carom::ImpactResolver<double>());
  differentiate_guarded(carom::RestitutionImpact<double>(0.95));
}

TEST_CASE("real_time: steps with open and held contacts do not allocate",
          "[variational][real_time]") {
  ImpactStepper<Falling, carom::PlasticImpact<double>> stepper({});
  MechanicalState<double> state{0, numbers<double>({0, 1}), numbers<double>({1, 0})};
  bool converged = true;
  int impacts = 0;
  CHECK(allocations_of([&] {
          for (int k = 0; k < 20; ++k)
            converged = stepper.step(state, 0.01).converged() && converged;
        }) == 0);
  for (int k = 0; k < 60; ++k) impacts += stepper.step(state, 0.01).impacts;
  CHECK(impacts == 1);
  CHECK(stepper.held().size() == 1);
  CHECK(allocations_of([&] {
          for (int k = 0; k < 20; ++k)
            converged = stepper.step(state, 0.01).converged() && converged;
        }) == 0);
  CHECK(converged);
}

TEST_CASE("real_time: spatial trees do not allocate, standing on their feet either",
          "[variational][real_time]") {
  using namespace carom::examples;
  std::vector<carom::SpatialBody<double>> bodies(3);
  for (int i = 0; i < 3; ++i) {
    auto& body = bodies[std::size_t(i)];
    body.parent = i - 1;
    body.axis = carom::Vector3<double>::Unit(i);
    body.place << 0.5, 0, 0;
    body.centre << 0.3, 0.1, 0;
    body.inertia.setIdentity();
  }
  step_guarded(carom::SpatialTree<double>(bodies), {0.1, 0.2, 0.3}, {1, 0, -1});

  const QuadrupedStance stance;
  QuadrupedStepper stepper(make_quadruped(stance));
  MechanicalState<double> state{0, make_quadruped_posture(stepper.system(), stance, 0.01),
                                carom::VectorX<double>::Zero(quadruped_size)};
  bool converged = true;
  for (int k = 0; k < 20; ++k) converged = stepper.step(state, 0.01).converged() && converged;
  CHECK(stepper.held().size() == 4);
  CHECK(allocations_of([&] {
          for (int k = 0; k < 10; ++k)
            converged = stepper.step(state, 0.01).converged() && converged;
        }) == 0);
  CHECK(converged);
}

}  // namespace variational_test
