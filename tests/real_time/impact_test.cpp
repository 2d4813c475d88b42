// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <vector>

#include "carom/impact/friction_impact.hpp"
#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/impact_derivative.hpp"
#include "carom/impact/newton_restitution.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/restitution.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"

namespace impact_test {

using carom::ImpactProblem, carom::ImpactStatus, carom::Index, carom::MassMatrix, carom::VectorX;
using carom::testing::allocations_of;

namespace {

/// Balls in line, unlike masses; a second wall wedges them.
struct Line {
  MassMatrix<double> mass;
  ImpactProblem<double> problem;
  VectorX<double> momentum;

  explicit Line(Index count, bool wedged = false) : problem(count) {
    VectorX<double> masses(count);
    for (Index i = 0; i < count; ++i) masses(i) = 1 + 0.3 * std::fmod(double(i) * 1.7, 1.0);
    mass = MassMatrix<double>::make_diagonal(masses);
    for (Index i = 0; i + 1 < count; ++i) {
      const VectorX<double> gradient =
          VectorX<double>::Unit(count, i + 1) - VectorX<double>::Unit(count, i);
      problem.add_contact(mass, gradient);
    }
    const VectorX<double> left = VectorX<double>::Unit(count, 0);
    const VectorX<double> right = -VectorX<double>::Unit(count, count - 1);
    if (wedged) problem.add_contact(mass, left);
    if (wedged) problem.add_contact(mass, right);
    problem.prepare();
    momentum = mass.momentum(VectorX<double>::LinSpaced(count, double(count), 1.0));
  }
};

/// Resolves the same impact again and again with all allocations counted.
template <typename Impact>
void resolve_guarded(Impact& impact, const Line& line, ImpactStatus expected) {
  VectorX<double> p = line.momentum;
  bool as_expected = true;
  CHECK(allocations_of([&] {
          for (int k = 0; k < 3; ++k) {
            p = line.momentum;
            as_expected = as_expected && impact.resolve(line.problem, p).status == expected;
          }
        }) == 0);
  CHECK(as_expected);
  CHECK(p.allFinite());
}

}  // namespace

TEST_CASE("real time: resolving impacts allocates nothing once prepared", "[real_time]") {
  for (const Index count : {3, 20}) {
    for (const bool wedged : {false, true}) {
      const Line line(count, wedged);
      const auto ended = wedged ? ImpactStatus::wedged : ImpactStatus::resolved;
      carom::ImpactResolver<double> together;
      together.prepare(line.problem, 1000);
      resolve_guarded(together, line, ended);
      carom::ImpactResolver<double, carom::MostInfeasibleFirst<double>> most;
      most.prepare(line.problem, 1000);
      resolve_guarded(most, line, ended);
      carom::ImpactResolver<double, carom::LeastInfeasibleFirst<double>> least;
      least.prepare(line.problem);
      resolve_guarded(least, line, ended);
      carom::ImpactResolver<double, carom::SweepOrder<double>> sweep;
      sweep.prepare(line.problem);
      resolve_guarded(sweep, line, ended);
      for (const auto law : {carom::PlasticLaw::moreau, carom::PlasticLaw::bilateral}) {
        carom::PlasticImpact<double> plastic(law);
        plastic.prepare(line.problem);
        resolve_guarded(plastic, line, ImpactStatus::resolved);
        carom::RestitutionImpact<double> blended(0.4, law);
        blended.prepare(line.problem, 1000);
        resolve_guarded(blended, line, ended);
      }
      carom::NewtonImpact<double> newton;
      newton.prepare(line.problem, VectorX<double>::Constant(line.problem.contact_count(), 0.9));
      resolve_guarded(newton, line, ended);
      carom::GeneralizedReflections<double> generalized;
      generalized.prepare(line.problem);
      resolve_guarded(generalized, line, ended);
    }
  }
}

TEST_CASE("real time: a collapsing impact allocates nothing", "[real_time]") {
  const Line line(4);
  carom::NewtonImpact<double> newton;
  newton.prepare(line.problem, VectorX<double>::Constant(3, 0.02));
  resolve_guarded(newton, line, ImpactStatus::collapsed);
}

TEST_CASE("real time: derivatives of impacts allocate nothing once prepared", "[real_time]") {
  using carom::ImpactDerivative, carom::ImpactLinearization;
  for (const Index count : {2, 12}) {
    for (const bool wedged : {false, true}) {
      const Line line(count, wedged);
      carom::MatrixX<double> gradients(count, line.problem.contact_count());
      gradients.setZero();
      for (Index i = 0; i < gradients.cols(); ++i) {
        for (const auto& e : line.problem.normal(i)) gradients(e.index, i) = e.value;
      }
      const auto differentiate = [&](auto& law) {
        VectorX<double> p = line.momentum, moved = p;
        static_cast<void>(law.resolve(line.problem, p));
        ImpactDerivative<double> derivative;
        carom::ImpactDifferential<double> gradient;
        derivative.prepare(line.problem, 1000);
        static_assert(
            noexcept(derivative.linearize(line.problem, line.mass, gradients, line.momentum, law)));
        static_assert(noexcept(derivative.push_forward(gradient, moved)));
        static_assert(noexcept(derivative.pull_back(moved, gradient)));
        static_assert(noexcept(derivative.push_forward_velocity(line.mass, gradient, moved)));
        static_assert(noexcept(derivative.pull_back_velocity(line.mass, moved, gradient)));
        CHECK(derivative.linearize(line.problem, line.mass, gradients, line.momentum, law) ==
              ImpactLinearization::usable);
        derivative.set_zero(gradient);
        bool usable = false;
        CHECK(allocations_of([&] {
                usable = derivative.linearize(line.problem, line.mass, gradients, line.momentum,
                                              law) == ImpactLinearization::usable;
                derivative.pull_back(line.momentum, gradient);
                derivative.push_forward(gradient, moved);
                derivative.pull_back_velocity(line.mass, line.momentum, gradient);
                derivative.push_forward_velocity(line.mass, gradient, moved);
              }) == 0);
        CHECK(usable);
        CHECK(moved.allFinite());
      };
      carom::ImpactResolver<double> elastic;
      elastic.prepare(line.problem, 1000);
      differentiate(elastic);
      carom::RestitutionImpact<double> blended(0.4);
      blended.prepare(line.problem, 1000);
      differentiate(blended);
      carom::NewtonImpact<double> newton;
      newton.prepare(line.problem, VectorX<double>::Constant(line.problem.contact_count(), 0.02),
                     1000);
      differentiate(newton);
      for (const auto kind : {carom::PlasticLaw::moreau, carom::PlasticLaw::bilateral}) {
        carom::PlasticImpact<double> plastic(kind);
        plastic.prepare(line.problem);
        differentiate(plastic);
      }
    }
  }
}

TEST_CASE("real time: impacts with friction allocate nothing", "[real_time]") {
  const auto mass = MassMatrix<double>::make_diagonal(VectorX<double>::Constant(3, 1.0));
  const VectorX<double> floor = VectorX<double>::Unit(3, 1);
  const VectorX<double> wall = -VectorX<double>::Unit(3, 0);
  const VectorX<double> on_floor = VectorX<double>::Unit(3, 0) + VectorX<double>::Unit(3, 2);
  const VectorX<double> on_wall = VectorX<double>::Unit(3, 1) + VectorX<double>::Unit(3, 2);
  for (const auto law : {carom::FrictionImpactLaw::routh, carom::FrictionImpactLaw::moreau}) {
    carom::FrictionImpact<double> impact(law);
    impact.add_contact(mass, floor, on_floor, 0.3, 0.8);
    impact.add_contact(mass, wall, on_wall, 0.3, 0.8);
    VectorX<double> p = -floor - wall;
    CHECK(allocations_of([&] { static_cast<void>(impact.resolve(p)); }) == 0);
    CHECK(p.allFinite());
    CHECK(p(1) > 0);
  }
  carom::FrictionImpact<double> spatial(carom::FrictionImpactLaw::moreau);
  const auto along = [](Index i) { return VectorX<double>(VectorX<double>::Unit(3, i)); };
  spatial.add_contact(mass, along(1), along(0), along(2) + 0.3 * along(1), 0.3, 0.8);
  VectorX<double> p = 2 * along(0) - along(1) + along(2);
  CHECK(allocations_of([&] { static_cast<void>(spatial.resolve(p)); }) == 0);
  CHECK(p(1) > 0);
}

}  // namespace impact_test
