// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/knocking_pendula.hpp"

#include <algorithm>
#include <cmath>

#include "carom/variational/detail/gap_root.hpp"
#include "carom/variational/impact_stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace knocking_pendula_test {

using carom::testing::by_step;

using namespace carom::testing;
using carom::GapRoot, carom::ImpactStepper, carom::Index, carom::LegendreMap, carom::MatrixX;
using carom::MechanicalState, carom::VectorX;
using carom::examples::KnockingPendula;

namespace {

MechanicalState<double> start_of_knocking() {
  return {0, numbers<double>({-1, 0.3}), numbers<double>({0.3, 0.5})};
}

/// Energy change [J] after so many impacts when each impact begins a full step.
double drift_restarting(int impacts, double h) {
  const KnockingPendula system;
  GapRoot<KnockingPendula> root;
  root.prepare(system);
  LegendreMap<KnockingPendula> legendre;
  legendre.prepare(system);
  MechanicalState<double> state = start_of_knocking();
  VectorX<double> v = VectorX<double>::Zero(2), guess(2);
  bool good = true;
  const auto energy = [&] {
    good = legendre.write_velocity(system, state.q, state.momentum, 0, v) && good;
    return legendre.energy(system, state.q, v, 0);
  };
  const double start = energy();
  for (int count = 0; good && count < impacts;) {
    good = legendre.write_velocity(system, state.q, state.momentum, 0, v);
    auto& gaps = root.solver().gaps();
    gaps.write_gradients(system, state.q);
    const VectorX<double> values = gaps.values;
    const MatrixX<double> gradients = gaps.gradients;
    guess = state.q + h * v;
    good = root.solver().solve(system, state, h, guess).converged() && good;
    root.start(state, h, v, values, gradients, 1e-9);
    double time = h;
    const Index contact = root.find_first(system, state, 1e-13, time);
    good = good && !root.failed();
    state.q = root.solver().q_next();
    state.momentum = root.solver().momentum_next();
    if (contact < 0) continue;
    // Masses 1 and 2: an elastic impact.
    const double impulse = 2 * (state.momentum(0) - state.momentum(1) / 2) / 1.5;
    state.momentum(0) -= impulse;
    state.momentum(1) += impulse;
    ++count;
  }
  const double drift = energy() - start;
  REQUIRE(good);
  return drift;
}

/// The largest energy error met when the original step is finished.
double error_finishing(int impacts, double h) {
  ImpactStepper<KnockingPendula> stepper({});
  MechanicalState<double> state = start_of_knocking();
  const double start = stepper.energy(state);
  double worst = 0;
  bool good = true;
  for (int count = 0; good && count < impacts;) {
    const auto report = stepper.step(state, h);
    good = report.converged();
    count += report.impacts;
    worst = std::max(worst, std::abs(stepper.energy(state) - start));
  }
  REQUIRE(good);
  return worst;
}

}  // namespace

TEST_CASE("knocking: finishing the step keeps the energy that restarting it loses",
          "[scene][variational]") {
  const int impacts = sweep(1200, 2000);
  const double finishing = error_finishing(impacts, 0.05);
  const double restarting = drift_restarting(impacts, 0.05);
  CAPTURE(finishing, restarting);
  CHECK(finishing < by_step(1e-4));
  CHECK(std::abs(restarting) > 2 * finishing);
}

TEST_CASE("knocking: a hundred thousand impacts", "[.][scene][variational][slow]") {
  const double finishing = error_finishing(100'000, 0.05);
  const double restarting = drift_restarting(100'000, 0.05);
  CAPTURE(finishing, restarting);
  CHECK(finishing < by_step(1e-4));
  CHECK(std::abs(restarting) > 100 * finishing);
}

}  // namespace knocking_pendula_test
