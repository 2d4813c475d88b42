// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/impact_stepper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/restitution.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace impact_stepper_test {

using namespace carom::testing;
using carom::ImpactResolver, carom::ImpactStepOptions, carom::ImpactStepper, carom::Index;
using carom::MechanicalState, carom::PlasticImpact, carom::RestitutionImpact, carom::SolveStatus;
using carom::VectorX;

namespace {

/// A free mass on a line and a wall of thickness 2·half about zero.
struct ThinWall : OnLine {
  double half = 0.01;
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::abs;
    out(0) = abs(q(0)) - half;
  }
};

/// Two unlike masses on springs that knock against each other.
struct Knocking {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return v(0) * v(0) / 2.0 + v(1) * v(1) - q(0) * q(0) / 2.0 - 1.7 * (q(1) * q(1));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(1) - q(0) + 0.1;
  }
};

/// A ball whose force is NaN from t = 0.2 on.
struct Failing : BouncingBall<double> {
  template <typename Q, typename T>
  void force(const Q&, const Q&, const T& t, Q& out) const {
    out(0) = t > T(0.2) ? T(std::nan("")) : T(0.0);
  }
};

}  // namespace

TEST_CASE("impact_stepper: a ball bounces when the closed form says", "[variational][oracle]") {
  // t_1 = sqrt(2/g), t_k = t_1 (1 + 2 sum_{j<k} e^j); at rest from t_1 (1+e)/(1-e).
  const double first = 0.451523640986;
  const auto run = [&](double e, double h, double rest) {
    ImpactStepper<BouncingBall<double>, RestitutionImpact<double>> stepper(
        {}, RestitutionImpact<double>(e));
    MechanicalState<double> state{0, numbers<double>({1}), numbers<double>({0})};
    int bounces = 0;
    double expected = first, worst = 0, power = 1;
    for (int k = 0; double(k) * h < 5; ++k) {
      const auto report = stepper.step(state, h);
      REQUIRE(report.converged());
      CHECK(report.penetration <= rounding(8192, 1.0));
      for (const auto& event : stepper.events()) {
        worst = std::max(worst, std::abs(event.time - expected));
        power *= e;
        expected += 2 * first * power;
        ++bounces;
      }
      if (report.plastic) {
        CHECK(state.time <= rest + h);
        CHECK(state.time >= rest - 2 * h);
      }
      if (!stepper.held().empty()) CHECK(state.time >= rest - h);
    }
    CAPTURE(e, h, bounces);
    CHECK(worst <= rounding(65536, 1.0));
    return std::pair(bounces, state);
  };
  for (const double h : {0.1, 0.01, 0.003}) {
    const auto [bounces, state] = run(0.8, h, 4.063712768872);
    CHECK(bounces > 10);
    CHECK(std::abs(state.q(0)) <= rounding(8192, 1.0));
    CHECK(std::abs(state.momentum(0)) <= rounding(8192, 1.0));
    const auto half = run(0.5, h, 1.354570922957);
    CHECK(std::abs(half.second.q(0)) <= rounding(8192, 1.0));
    const auto lossless = run(1.0, h, 1e9);
    CHECK(lossless.first == 6);
  }
}

TEST_CASE("impact_stepper: a resting ball is carried, a plastic one stays",
          "[variational][example]") {
  ImpactStepper<BouncingBall<double>, PlasticImpact<double>> stepper({});
  MechanicalState<double> state{0, numbers<double>({1}), numbers<double>({0})};
  for (int k = 0; k < 100; ++k) REQUIRE(stepper.step(state, 0.01).converged());
  REQUIRE(stepper.held().size() == 1);
  CHECK(std::abs(state.q(0)) <= rounding(8192, 1.0));
  // The weight's impulse over the step.
  CHECK(std::abs(stepper.held_impulses()(0) - 9.81 * 0.01) <= rounding(8192, 1.0));
  state.momentum(0) = 1;  // kicked off
  REQUIRE(stepper.step(state, 0.01).converged());
  stepper.restart();
  CHECK(stepper.held().empty());
}

TEST_CASE("impact_stepper: a mass slides down a ball and leaves at two thirds of the height",
          "[variational][oracle]") {
  for (const double h : {0.01, 0.005, 0.0025}) {
    ImpactStepper<OnBall, PlasticImpact<double>> stepper({});
    const double v = 0.1;  // leaves at y = (2 + v²)/3
    MechanicalState<double> state{0, numbers<double>({0, 1}), numbers<double>({v, 0})};
    double left = 0;
    for (int k = 0; k * h < 4 && left == 0; ++k) {
      const double height = state.q(1);
      REQUIRE(stepper.step(state, h).converged());
      if (k > 2 && stepper.held().empty()) left = height;
      if (left == 0) CHECK(std::abs(state.q.norm() - 1) <= rounding(65536, 1.0));
    }
    const double error = std::abs(left - (2 + v * v) / 3);
    CAPTURE(h, left, error);
    CHECK(error < h);
    // Once off it flies freely.
    for (int k = 0; k < 10; ++k) REQUIRE(stepper.step(state, h).converged());
    CHECK(stepper.held().empty());
    CHECK(state.q.norm() > 1);
  }
}

TEST_CASE("impact_stepper: the law is the caller's", "[variational][example]") {
  // v = (2, 0, -1) at touch: propagative (-1, 0, 2), Generalized Reflections (-4/3, 2/3, 5/3).
  const auto after = [](auto law) {
    ImpactStepper<MassesOnLine, decltype(law)> stepper(MassesOnLine{{1, 1, 1}, false}, law);
    MechanicalState<double> state{0, numbers<double>({0, 0, 0}), numbers<double>({2, 0, -1})};
    REQUIRE(stepper.step(state, 0.1).converged());
    return state.momentum;
  };
  CHECK((after(ImpactResolver<double>()) - numbers<double>({-1, 0, 2})).norm() <=
        rounding(8192, 1.0));
  const VectorX<double> reflected = numbers<double>({-4.0 / 3, 2.0 / 3, 5.0 / 3});
  CHECK((after(carom::GeneralizedReflections<double>()) - reflected).norm() <= rounding(8192, 1.0));
}

TEST_CASE("impact_stepper: thin walls are not missed", "[variational][edge]") {
  for (const double half : {0.1, 0.01, 1e-4}) {
    ImpactStepper<ThinWall> stepper(ThinWall{{}, half});
    MechanicalState<double> state{0, numbers<double>({-1.234}), numbers<double>({7})};
    int impacts = 0;
    for (int k = 0; k < 5; ++k) {
      const auto report = stepper.step(state, 0.1);
      REQUIRE(report.converged());
      impacts += report.impacts;
    }
    CAPTURE(half);
    CHECK(impacts == 1);
    CHECK(std::abs(state.q(0) - (-half - (3.5 - 1.234 + half))) <= rounding(65536, 1.0));
    CHECK(std::abs(state.momentum(0) + 7) <= rounding(8192, 1.0));
  }
}

TEST_CASE("impact_stepper: the energy does not drift over many impacts", "[variational][law]") {
  ImpactStepper<Knocking> stepper({});
  MechanicalState<double> state{0, numbers<double>({-1, 0.3}), numbers<double>({0.3, 0.5})};
  const double start = stepper.energy(state);
  int impacts = 0, steps = 0;
  double worst = 0;
  while (impacts < carom::testing::sweep(100, 400)) {
    const auto report = stepper.step(state, 0.05);
    REQUIRE(report.converged());
    impacts += report.impacts;
    ++steps;
    worst = std::max(worst, std::abs(stepper.energy(state) - start));
  }
  CAPTURE(steps, start, worst);
  // The potential is a parabola, which the midpoint rule keeps.
  // Rounding of hundreds of impacts, which grows with each.
  CHECK(worst < by_conditioning(1e-9));
}

TEST_CASE("impact_stepper: constraints hold while a contact strikes", "[variational][law]") {
  ImpactStepper<RodWithStop> stepper({});
  MechanicalState<double> state{0, numbers<double>({-0.6, -0.8}), numbers<double>({0, 0})};
  int impacts = 0;
  double off = 0, energy = 0, start = stepper.energy(state);
  for (int k = 0; k < 2000; ++k) {
    const auto report = stepper.step(state, 0.01);
    REQUIRE(report.converged());
    impacts += report.impacts;
    off = std::max(off, std::abs(state.q.norm() - 1));
    energy = std::max(energy, std::abs(stepper.energy(state) - start));
    CHECK(state.q(0) < 0.3 + by_solver(1e-11));
  }
  CHECK(impacts > 4);
  CHECK(off <= rounding(8192, 1.0));
  // The energy of the midpoint rule swings by the order of h².
  CHECK(energy < by_step(1e-4));
}

TEST_CASE("impact_stepper: float works to its own digits", "[variational][example]") {
  ImpactStepper<BouncingBall<float>, RestitutionImpact<float>> stepper(
      {}, RestitutionImpact<float>(0.5f));
  MechanicalState<float> state{0, numbers<float>({1}), numbers<float>({0})};
  for (int k = 0; k < 200; ++k) REQUIRE(stepper.step(state, 0.01f).converged());
  // Within the gaps that count as closed in float.
  CHECK(std::abs(state.q(0)) < by_solver(1e-4f));
  CHECK(stepper.held().size() == 1);
}

TEST_CASE("impact_stepper: overlap is projected out where the options say so",
          "[variational][example]") {
  ImpactStepOptions<double> options;
  options.project_out = true;
  ImpactStepper<MassesOnLine> stepper(MassesOnLine{{1, 3}, false}, ImpactResolver<double>(),
                                      options);
  MechanicalState<double> state{0, numbers<double>({2, 1.6}), numbers<double>({-1, 3})};
  const auto report = stepper.step(state, 0.1);
  CHECK(report.converged());
  CHECK(report.projected);
  CHECK(report.penetration == 2 - 1.6);
  CHECK(report.impacts == 0);
  // Half of the tolerance on gaps stays.
  CHECK((state.q - numbers<double>({1.6, 1.8})).norm() < by_solver(1e-8));
  CHECK_FALSE(stepper.step(state, 0.1).projected);
}

TEST_CASE("impact_stepper: a step too large for Newton is halved and reported",
          "[variational][edge]") {
  // Driven against a wall of potential 1/sqrt(q): the first guess lies behind it.
  ImpactStepper<RootedWell> stepper({});
  MechanicalState<double> state{0, numbers<double>({0.5}), numbers<double>({-2})};
  const double energy = stepper.energy(state);
  int halved = 0, impacts = 0;
  for (int k = 0; k < 10; ++k) {
    const auto report = stepper.step(state, 0.5);
    CAPTURE(k, int(report.status), report.impacts, report.substeps, state.q(0), state.momentum(0));
    REQUIRE(report.converged());
    if (report.substeps > 1) ++halved;
    impacts += report.impacts;
    CHECK(std::abs(state.time - 0.5 * (k + 1)) <= rounding(k, 5.0));
  }
  CHECK(halved > 0);
  CHECK(halved < 10);
  CHECK(impacts == 1);
  CHECK(std::abs(stepper.energy(state) - energy) < 0.5);
}

TEST_CASE("impact_stepper: forces that are no numbers leave the last good state",
          "[variational][edge]") {
  ImpactStepper<Failing> stepper({});
  MechanicalState<double> state{0, numbers<double>({1}), numbers<double>({0})};
  while (state.time < 0.195) REQUIRE(stepper.step(state, 0.01).converged());
  const MechanicalState<double> before = state;
  const auto report = stepper.step(state, 0.01);
  CHECK(report.status == SolveStatus::not_finite);
  CHECK(state.q(0) == before.q(0));
  CHECK(state.momentum(0) == before.momentum(0));
  CHECK(state.time == before.time);
}

TEST_CASE("impact_stepper: overlap is reported, bad numbers leave the state",
          "[variational][edge]") {
  ImpactStepper<BouncingBall<double>> stepper({});
  MechanicalState<double> state{0, numbers<double>({-0.25}), numbers<double>({1})};
  auto report = stepper.step(state, 0.01);
  CHECK(report.converged());
  CHECK(report.penetration == 0.25);
  state = {3, numbers<double>({1}), numbers<double>({std::numeric_limits<double>::quiet_NaN()})};
  report = stepper.step(state, 0.01);
  CHECK(report.status == SolveStatus::not_finite);
  CHECK(state.q(0) == 1);
  CHECK(state.time == 3);
}

namespace {

/// A mass with a gap that no motion changes.
struct Sunk : OnLine {
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0) * 0.0 - 1.0;
  }
};

}  // namespace

TEST_CASE("impact_stepper: overlap that no motion removes is reported, the state stays",
          "[variational][edge]") {
  ImpactStepOptions<double> options;
  options.project_out = true;
  ImpactStepper<Sunk, ImpactResolver<double>> stepper({}, ImpactResolver<double>(), options);
  MechanicalState<double> state{2, numbers<double>({1}), numbers<double>({0.5})};
  const auto report = stepper.step(state, 0.01);
  CHECK(report.status == SolveStatus::no_progress);
  CHECK(report.penetration == 1);
  CHECK_FALSE(report.projected);
  CHECK((state.time == 2 && state.q(0) == 1 && state.momentum(0) == 0.5));
}

namespace {

/// Masses over a floor at zero, or under a ceiling there, drawn to it; gaps in any order.
struct FallingMasses : MassesOnLine {
  double pull = 9.81, side = 1;
  std::vector<Index> order;
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T& t) const {
    T sum = MassesOnLine::lagrangian(q, v, t);
    for (Index i = 0; i < size(); ++i) sum -= masses[std::size_t(i)] * pull * side * q(i);
    return sum;
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    for (Index k = 0; k < size(); ++k) {
      const Index i = order[std::size_t(k)];
      out(k) = side * (i == 0 ? q(0) : q(i) - q(i - 1));
    }
  }
};

}  // namespace

TEST_CASE("impact_stepper: masses that lie on each other without a freedom left stay there",
          "[variational][edge]") {
  VectorSource<double> random(11);
  std::mt19937 shuffles(11);
  for (int draw = 0; draw < 60; ++draw) {
    FallingMasses system;
    system.wall = true;
    const Index n = 1 + draw % 4;
    const double size = std::pow(10.0, draw % 7 - 3);  // of lengths
    for (Index i = 0; i < n; ++i) system.masses.push_back(random.positive(2));
    system.pull = 9.81 * size;
    system.side = draw % 2 == 0 ? 1 : -1;
    for (Index i = 0; i < n; ++i) system.order.push_back(i);
    std::shuffle(system.order.begin(), system.order.end(), shuffles);
    VectorX<double> q(n), v(n);
    double place = 0;
    for (Index i = 0; i < n; ++i) {
      q(i) = system.side * (place += size * random.unit());
      v(i) = size * (2 * random.unit() - 1);
    }
    ImpactStepper<FallingMasses, PlasticImpact<double>> stepper(system);
    auto state = stepper.make_state(q, v);
    double most = stepper.energy(state);
    const double scale = most + size * size;
    for (int k = 0; k < 40; ++k) {
      CAPTURE(draw, k, n, size, state.q.transpose(), state.momentum.transpose());
      REQUIRE(stepper.step(state, 0.1).converged());
      const double energy = stepper.energy(state);
      REQUIRE(energy <= most + rounding(4096, scale));
      most = energy;
    }
    CAPTURE(draw, n, size, state.q.transpose(), state.momentum.transpose());
    REQUIRE(Index(stepper.held().size()) == n);
    CHECK(state.q.cwiseAbs().maxCoeff() <= rounding(65536, size));
    VectorX<double> velocity(n);
    REQUIRE(stepper.write_velocity(state, velocity));
    CHECK(velocity.cwiseAbs().maxCoeff() <= rounding(65536, size));
  }
}

TEST_CASE("impact_stepper: a state without a mass has no energy", "[variational][edge]") {
  ImpactStepper<MassesOnLine> stepper(MassesOnLine{{0, 1}, false});
  const MechanicalState<double> state{0, numbers<double>({1, 2}), numbers<double>({1, 1})};
  CHECK(std::isnan(stepper.energy(state)));
  VectorX<double> velocity(2);
  CHECK_FALSE(stepper.write_velocity(state, velocity));
  ImpactStepper<MassesOnLine> moving(MassesOnLine{{1, 2}, false});
  CHECK(moving.write_velocity(state, velocity));
  CHECK((velocity(0) == 1 && velocity(1) == 0.5));
}

namespace {

/// A mass at whose place the gap may have no value.
struct Rooted : OnLine {
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sqrt;
    out(0) = sqrt(q(0));
  }
};

}  // namespace

TEST_CASE("impact_stepper: a gap that is not a number is reported, the state stays",
          "[variational][input]") {
  for (const bool project_out : {false, true}) {
    ImpactStepOptions<double> options;
    options.project_out = project_out;
    ImpactStepper<Rooted, ImpactResolver<double>> stepper({}, ImpactResolver<double>(), options);
    MechanicalState<double> state{0, numbers<double>({-1}), numbers<double>({0.5})};
    const auto report = stepper.step(state, 0.01);
    CHECK(report.status == SolveStatus::not_finite);
    CHECK(state.time == 0);
    CHECK(state.q(0) == -1);
    CHECK(state.momentum(0) == 0.5);
  }
}

}  // namespace impact_stepper_test
