// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "carom/impact/restitution.hpp"
#include "carom/variational/gap_root.hpp"
#include "carom/variational/impact_stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"

using namespace carom::testing;
using carom::GapRoot, carom::ImpactProblem, carom::ImpactStepper, carom::Index, carom::LegendreMap;
using carom::LagrangianDerivatives, carom::MassMatrix, carom::MatrixX, carom::MechanicalState,
    carom::PlasticImpact;
using carom::PlasticLaw, carom::RestitutionImpact, carom::VectorX;

namespace {

/// Two unlike pendula that knock against each other:
/// L = v₀²/2 + v₁² + cos q₀ + 1.7 cos q₁, ϕ = q₁ − q₀ + 0.1.
struct KnockingPendula {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 1; }
  void write_lagrangian(const VectorX<double>& q, const VectorX<double>& v, const double&,
                        LagrangianDerivatives<double>& out) const noexcept {
    out.value = v(0) * v(0) / 2 + v(1) * v(1) + std::cos(q(0)) + 1.7 * std::cos(q(1));
    out.by_q << -std::sin(q(0)), -1.7 * std::sin(q(1));
    out.by_v << v(0), 2 * v(1);
  }
  void write_lagrangian_curvature(const VectorX<double>& q, const VectorX<double>& v,
                                  const double& t,
                                  LagrangianDerivatives<double>& out) const noexcept {
    write_lagrangian(q, v, t, out);
    out.by_qq << -std::cos(q(0)), 0, 0, -1.7 * std::cos(q(1));
    out.by_qv.setZero();
    out.by_vv << 1, 0, 0, 2;
  }
  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const noexcept {
    out(0) = q(1) - q(0) + 0.1;
  }
  void write_gap_gradients(const VectorX<double>&, MatrixX<double>& out) const noexcept {
    out << -1, 1;
  }
};

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
  const double finishing = error_finishing(2000, 0.05), restarting = drift_restarting(2000, 0.05);
  CAPTURE(finishing, restarting);
  CHECK(finishing < 1e-4);
  CHECK(std::abs(restarting) > 2 * finishing);
}

TEST_CASE("knocking: a hundred thousand impacts", "[.][scene][variational][slow]") {
  const double finishing = error_finishing(100'000, 0.05);
  const double restarting = drift_restarting(100'000, 0.05);
  CAPTURE(finishing, restarting);
  CHECK(finishing < 1e-4);
  CHECK(std::abs(restarting) > 100 * finishing);
}

namespace {

/// A slender block rocking from corner to corner, seen mirrored while it stands on the other one:
/// the tilt q ≥ 0 about the corner it stands on. Unit radius from corner to centre, unit mass.
struct RockingBlock {
  using scalar_type = double;
  double alpha = 0.2, gravity = 9.81;
  [[nodiscard]] Index size() const { return 1; }
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos;
    return 2.0 / 3.0 * (v(0) * v(0)) - gravity * cos(alpha - q(0));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0);
  }
};

/// Ratio of the turning rates about the two corners: the block's momentum is projected onto
/// motions that leave the new corner where it is.
double ratio_of_corners(double alpha) {
  const double b = std::sin(alpha), height = std::cos(alpha);
  const auto mass = MassMatrix<double>::make_diagonal(numbers<double>({1, 1, 1.0 / 3}));
  ImpactProblem<double> problem(3);  // (x, y, angle); the corners lie at (±b, -height)
  problem.add_contact(mass, numbers<double>({1, 0, height}));
  problem.add_contact(mass, numbers<double>({0, 1, b}));
  problem.prepare();
  PlasticImpact<double> plastic(PlasticLaw::bilateral);
  plastic.prepare(problem);
  // Turning about the corner at (-b, -height) at rate -1: v = rate × (b, height) turned.
  VectorX<double> momentum = numbers<double>({height, -b, -1.0 / 3});
  static_cast<void>(plastic.resolve(problem, momentum));
  return -3 * momentum(2);
}

}  // namespace

TEST_CASE("rocking block: Housner's ratio, times and speeds", "[scene][variational]") {
  // Housner (1963): ratio 1 − 1.5 sin²α; slender blocks fall from θ₀ in (1/p) acosh(1/(1 − θ₀/α))
  // with p² = 3g/4R.
  for (const double alpha : {0.1, 0.2, 0.3}) {
    const double ratio = 1 - 1.5 * std::sin(alpha) * std::sin(alpha);
    CHECK(std::abs(ratio_of_corners(alpha) - ratio) < 1e-14);
    const RockingBlock block{alpha};
    ImpactStepper<RockingBlock, RestitutionImpact<double>> stepper(
        block, RestitutionImpact<double>(ratio));
    const double tilt = alpha / 2;
    MechanicalState<double> state{0, numbers<double>({tilt}), numbers<double>({0})};
    const double h = 1e-3;
    double speed = std::sqrt(1.5 * 9.81 * (std::cos(alpha - tilt) - std::cos(alpha)));
    double first = 0, worst = 0;
    for (int count = 0; count < 8;) {
      const auto report = stepper.step(state, h);
      REQUIRE(report.converged());
      if (report.impacts == 0) continue;
      if (count == 0) first = stepper.events()[0].time;
      ++count;
      speed *= ratio;
      // What the energy says of the speed at the corner.
      const double energy = stepper.energy(state) - 9.81 * std::cos(alpha);
      worst = std::max(worst, std::abs(std::sqrt(1.5 * energy) / speed - 1));
    }
    CAPTURE(alpha, first, worst);
    CHECK(worst < 1e-4);
    const double linear = std::acosh(2.0) / std::sqrt(0.75 * 9.81);
    CHECK(std::abs(first / linear - 1) < alpha * alpha);
  }
}
