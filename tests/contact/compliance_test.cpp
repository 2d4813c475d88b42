// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/compliance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "carom/contact/rigid_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace compliance_test {

using carom::CompliantContact, carom::make_weighted, carom::WeightedContact;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

static_assert(noexcept(make_weighted(std::declval<const CompliantContact<double>&>(), 0.1, 1.0)));

TEMPLATE_TEST_CASE("compliance: the weights are those of the formulas", "[contact][oracle]", float,
                   double) {
  using Scalar = TestType;
  const long double pi = std::acos(-1.0L);
  VectorSource<Scalar> source(90125u);
  WorstCase normal("R_n"), tangent("R_t"), bias("bias"), friction("friction is passed on");
  for (int sample = 0; sample < 4000; ++sample) {
    const Scalar dt = source.positive(4) / 100, w = source.positive(6);
    const CompliantContact<Scalar> contact{.gap = source.entry(6),
                                           .stiffness = source.positive(8) * 1000,
                                           .dissipation_time = source.non_negative(4),
                                           .friction = source.non_negative(2),
                                           .near_rigid = source.non_negative(2),
                                           .relative_slip = source.positive(4)};
    const WeightedContact<Scalar> law = make_weighted(contact, dt, w);
    const long double relaxation = static_cast<long double>(dt) + contact.dissipation_time;
    const long double spring = 1 / (static_cast<long double>(dt) * contact.stiffness * relaxation);
    const long double rigid =
        contact.near_rigid * contact.near_rigid / (4 * pi * pi) * static_cast<long double>(w);
    const auto note = [&](WorstCase& law_seen, Scalar got, long double expected) {
      law_seen.see(std::abs(got - expected), rounding(8, Scalar(1)) * std::abs(expected), dt, w,
                   contact.gap, contact.stiffness, contact.dissipation_time, contact.near_rigid);
    };
    note(normal, law.regularization.normal, spring > rigid ? spring : rigid);
    note(tangent, law.regularization.tangent, contact.relative_slip * static_cast<long double>(w));
    note(bias, law.bias_velocity.z(), -contact.gap / relaxation);
    friction.see_holds(law.friction == contact.friction && law.bias_velocity.x() == 0 &&
                       law.bias_velocity.y() == 0);
  }
  for (const WorstCase* law : {&normal, &tangent, &bias, &friction}) law->check(4000);
}

TEST_CASE("compliance: a soft contact keeps its spring, a stiff one is softened to the clamp",
          "[contact][example]") {
  // R_n = 1/(0.01 · 1000 · 0.05) = 2; the clamp at w = 1 is 1/(4π²) = 0.0253302959…
  const CompliantContact<double> soft{.gap = -0.1, .stiffness = 1000, .dissipation_time = 0.04};
  const auto weighted = make_weighted(soft, 0.01, 1.0);
  CHECK(weighted.regularization.normal == Approx(2).epsilon(rounding(50, 1.0)));
  CHECK(weighted.bias_velocity.z() == Approx(2).epsilon(rounding(50, 1.0)));
  CHECK(weighted.regularization.tangent == Approx(1e-3).epsilon(rounding(50, 1.0)));
  CHECK(weighted.friction == 0);
  const double clamp = 0.025330295910584443;
  CompliantContact<double> stiff{.gap = -0.1};
  for (const double stiffness : {1e7, 1e20, std::numeric_limits<double>::infinity()}) {
    stiff.stiffness = stiffness;
    stiff.compliance = stiffness < 1e30 ? carom::Compliance::stiffness : carom::Compliance::step;
    CAPTURE(stiffness);
    CHECK(make_weighted(stiff, 0.01, 1.0).regularization.normal ==
          Approx(clamp).epsilon(rounding(50, 1.0)));
    CHECK(make_weighted(stiff, 0.01, 8.0).regularization.normal ==
          Approx(8 * clamp).epsilon(rounding(50, 1.0)));
    CHECK(make_weighted(stiff, 0.01, 1.0).bias_velocity.z() ==
          Approx(10).epsilon(rounding(50, 1.0)));
  }
  const CompliantContact<double> twice{.gap = 0, .stiffness = 1e20, .near_rigid = 2};
  CHECK(make_weighted(twice, 0.01, 1.0).regularization.normal ==
        Approx(4 * clamp).epsilon(rounding(50, 1.0)));
  const CompliantContact<double> unclamped{.gap = 0, .stiffness = 1e20, .near_rigid = 0};
  CHECK(make_weighted(unclamped, 0.01, 1.0).regularization.normal ==
        Approx(1e-16).epsilon(rounding(50, 1.0)));
}

TEST_CASE("compliance: without a stiffness a contact is a rigid one", "[contact][law]") {
  VectorSource<double> source(4712u);
  WorstCase same("the numbers of a RigidContact");
  for (int sample = 0; sample < 500; ++sample) {
    const double dt = source.positive(3), w = source.positive(4);
    carom::RigidContact<double> rigid{
        .gap = source.entry(4), .friction = source.non_negative(2), .correction = source.unit()};
    rigid.surface_velocity = {source.entry(2), source.entry(2), source.entry(2)};
    const auto found =
        make_weighted(CompliantContact<double>{.gap = rigid.gap,
                                               .friction = rigid.friction,
                                               .surface_velocity = rigid.surface_velocity,
                                               .correction = rigid.correction},
                      dt, w);
    const auto expected = make_weighted(rigid, dt, w);
    same.see_holds(found.rigid && found.friction == expected.friction &&
                       found.bias_velocity == expected.bias_velocity &&
                       found.regularization.normal == expected.regularization.normal &&
                       found.regularization.tangent == expected.regularization.tangent,
                   sample);
  }
  same.check(500);
  // A surface that moves shifts the velocity that a contact relaxes to, whether it gives way or
  // not.
  for (const double stiffness : {1e3, std::numeric_limits<double>::infinity()}) {
    CompliantContact<double> still{.gap = -0.1, .stiffness = stiffness, .friction = 0.5};
    CompliantContact<double> belt = still;
    belt.surface_velocity = {0.5, -0.25, 2};
    const Eigen::Vector3d shift = make_weighted(belt, 0.125, 1.0).bias_velocity -
                                  make_weighted(still, 0.125, 1.0).bias_velocity;
    CHECK((shift - belt.surface_velocity).norm() < rounding(10, 1.0));
  }
}

TEST_CASE("compliance: the impulse in stick is a spring and a damper taken implicitly",
          "[contact][law]") {
  // γₙ = (v̂ − vₙ)/Rₙ must be δt k (−(ϕ + δt vₙ) − τ vₙ) for every velocity of the contact.
  VectorSource<double> source(4711u);
  WorstCase spring("spring-damper law");
  for (int sample = 0; sample < 2000; ++sample) {
    const double dt = source.positive(2) / 100, gap = source.entry(4), v = source.entry(4);
    const double k = source.positive(8) * 1e3, tau = source.non_negative(2) / 100;
    const auto law = make_weighted(
        CompliantContact<double>{
            .gap = gap, .stiffness = k, .dissipation_time = tau, .near_rigid = 0},
        dt, 1.0);
    const double impulse = (law.bias_velocity.z() - v) / law.regularization.normal;
    const double expected = dt * k * (-(gap + dt * v) - tau * v);
    const double scale = dt * k * (std::abs(gap) + (dt + tau) * std::abs(v));
    spring.see(std::abs(impulse - expected), rounding(10, scale), dt, gap, v, k, tau);
  }
  spring.check(2000);
}

}  // namespace compliance_test

namespace unyielding_test {

using carom::Compliance, carom::CompliantContact;
using carom::detail::gap_velocity, carom::detail::is_soft_by_step, carom::detail::is_unyielding;
using carom::detail::unyielding_weight, carom::detail::yielding_fault;
using carom::testing::rounding;

TEST_CASE("unyielding: only what has neither a stiffness nor the step's", "[contact][example]") {
  const CompliantContact<double> plain, spring{.stiffness = 1e9};
  const CompliantContact<double> soft{.compliance = Compliance::step};
  CHECK((is_unyielding(plain) && !is_unyielding(spring) && !is_unyielding(soft)));
  CHECK((!is_soft_by_step(plain) && !is_soft_by_step(spring) && is_soft_by_step(soft)));
}

TEMPLATE_TEST_CASE("unyielding: the gap after a step at the least velocity", "[contact][law]",
                   float, double) {
  using Scalar = TestType;
  carom::testing::VectorSource<Scalar> source(90u);
  carom::testing::WorstCase open("closes and no further"), deep("the share is taken out");
  for (int sample = 0; sample < 1000; ++sample) {
    const Scalar gap = source.entry(6), step = source.positive(4), share = Scalar(source.unit());
    const Scalar after = gap + step * gap_velocity(gap, share, step);
    if (gap > 0) {
      open.see(std::abs(after), rounding(2, gap), gap, step);
    } else {
      deep.see(std::abs(after - (1 - share) * gap), rounding(4, std::abs(gap)), gap, step);
    }
  }
  open.check(300);
  deep.check(300);
  CHECK(unyielding_weight(Scalar(8)) == 8 * unyielding_weight(Scalar(1)));
  CHECK(unyielding_weight(Scalar(1)) > 0);
}

TEST_CASE("unyielding: what cannot act is named, and what is out of range before it",
          "[contact][input]") {
  using Law = CompliantContact<double>;
  const auto said = [](const Law& law) {
    return yielding_fault("it", law, carom::usual_overlap_share);
  };
  CHECK(said({}).empty());
  CHECK(said({.stiffness = 3, .dissipation_time = 1, .near_rigid = 0}).empty());
  CHECK(said({.dissipation_time = 1, .near_rigid = 2, .compliance = Compliance::step}).empty());
  CHECK(said({.correction = 1}).empty());
  CHECK(said({.dissipation_time = -1}) ==
        "it: dissipation time: expected a finite number >= 0, got -1");
  CHECK(said({.dissipation_time = 1}).find("it: dissipation time: expected its default") == 0);
  CHECK(said({.near_rigid = 2}).find("it: near-rigid factor: expected its default") == 0);
  CHECK(
      said({.stiffness = 3, .compliance = Compliance::step}).find("it: stiffness: expected none") ==
      0);
  CHECK(said({.stiffness = 3, .correction = 0.5}).find("it: correction: expected its default") ==
        0);
  CHECK(said({.compliance = Compliance::step, .correction = 0.5})
            .find("it: correction: expected its default") == 0);
  CHECK(said({.correction = std::numeric_limits<double>::quiet_NaN()}) ==
        "it: correction: expected a number in [0, 1], got nan");
  CHECK(
      law_fault("it", Law{.relative_slip = 0.1}).find("it: relative slip: expected its default") ==
      0);
  CHECK(law_fault("it", Law{.stiffness = 3, .relative_slip = 0.1}).empty());
  // A law may have another default.
  CHECK(yielding_fault("it", Law{.stiffness = 3, .correction = 0.5}, 0.5).empty());
}

}  // namespace unyielding_test

namespace near_rigid_test {

using carom::detail::NearRigidWeight, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

TEMPLATE_TEST_CASE("near_rigid: the weight is the larger of spring and clamp", "[contact][law]",
                   float, double) {
  using Scalar = TestType;
  const long double pi = std::acos(-1.0L);
  VectorSource<Scalar> source(611u);
  WorstCase value("R"), slope("dR/dw"), which("which");
  int clamped = 0;
  for (int sample = 0; sample < 2000; ++sample) {
    const Scalar compliant = source.positive(4), beta = source.non_negative(2),
                 w = source.positive(4) * 40;
    const NearRigidWeight<Scalar> weight(compliant, beta, w);
    const long double share = beta * static_cast<long double>(beta) / (4 * pi * pi);
    const long double expected = std::max(static_cast<long double>(compliant), share * w);
    value.see(std::abs(weight.value - expected), rounding(8, Scalar(1)) * expected, compliant, beta,
              w);
    slope.see(std::abs(weight.by_inverse_mass - share), rounding(8, Scalar(1)) * share, beta);
    which.see_holds(weight.clamped == (weight.value != compliant), compliant, beta, w);
    clamped += weight.clamped ? 1 : 0;
  }
  for (const WorstCase* law : {&value, &slope, &which}) law->check(2000);
  CHECK(clamped > 400);
  CHECK(clamped < 1600);
}

TEMPLATE_TEST_CASE("near_rigid: where both are equal the clamp holds", "[contact][edge]", float,
                   double) {
  using Scalar = TestType;
  const NearRigidWeight<Scalar> far(Scalar(0), Scalar(3), Scalar(7));
  CHECK(far.clamped);
  const NearRigidWeight<Scalar> equal(far.value, Scalar(3), Scalar(7));
  CHECK(equal.clamped);
  CHECK(equal.value == far.value);
  // A rigid spring without a clamp.
  CHECK(NearRigidWeight<Scalar>(Scalar(0), Scalar(0), Scalar(7)).value == 0);
  // A spring of no stiffness.
  const Scalar infinity = std::numeric_limits<Scalar>::infinity();
  CHECK(NearRigidWeight<Scalar>(infinity, Scalar(1), Scalar(1)).value == infinity);
  CHECK_FALSE(NearRigidWeight<Scalar>(infinity, Scalar(1), Scalar(1)).clamped);
}

}  // namespace near_rigid_test
