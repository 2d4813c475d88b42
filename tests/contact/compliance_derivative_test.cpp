// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/compliance_derivative.hpp"

#include <utility>

#include "support/catch.hpp"
#include "support/dual.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace compliance_derivative_test {

using carom::testing::by_differences;

using carom::CompliantContact, carom::ContactProblem, carom::Index, carom::inverse_mass_of;
using carom::make_compliance_derivative, carom::make_weighted, carom::Vector3;
using carom::testing::draw_body, carom::testing::draw_matrix, carom::testing::Dual;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

static_assert(noexcept(inverse_mass_of(std::declval<const ContactProblem<double>&>(), Index())));

TEMPLATE_TEST_CASE("compliance_derivative: slopes of R and v-hat by autodiff",
                   "[contact][derivative]", float, double) {
  using Scalar = TestType;
  using Number = Dual<long double, 5>;  // ϕ, k, τ_d, w, σ
  VectorSource<Scalar> source(20u);
  WorstCase same("slopes");
  int rigid = 0;
  for (int sample = 0; sample < 2000; ++sample) {
    const CompliantContact<Scalar> given{.gap = source.entry(3),
                                         .stiffness = source.positive(6),
                                         .dissipation_time = source.non_negative(3),
                                         .near_rigid = source.pick({0, 1, 1, 3}),
                                         .relative_slip = source.positive(3)};
    const Scalar step = source.positive(3), w = source.positive(4);
    const auto d = make_compliance_derivative(given, step, w);
    rigid += d.near_rigid ? 1 : 0;
    CompliantContact<Number> numbers{.gap = Number::variable(given.gap, 0),
                                     .stiffness = Number::variable(given.stiffness, 1)};
    numbers.dissipation_time = Number::variable(given.dissipation_time, 2);
    numbers.near_rigid = Number(given.near_rigid);
    numbers.relative_slip = Number::variable(given.relative_slip, 4);
    const auto law = make_weighted(numbers, Number(step), Number::variable(w, 3));
    const auto see = [&](const Scalar& slope, const Number& number, std::size_t by) {
      same.see(std::abs(slope - number.slope[by]),
               rounding(20, Scalar(std::abs(number.slope[by]))));
    };
    see(d.bias_by_gap, law.bias_velocity.z(), 0);
    see(d.bias_by_dissipation, law.bias_velocity.z(), 2);
    see(d.normal_by_stiffness, law.regularization.normal, 1);
    see(d.normal_by_dissipation, law.regularization.normal, 2);
    see(d.normal_by_inverse_mass, law.regularization.normal, 3);
    see(d.tangent_by_inverse_mass, law.regularization.tangent, 3);
    see(d.tangent_by_slip, law.regularization.tangent, 4);
  }
  CHECK(rigid > 300);
  CHECK(rigid < 1700);
  same.check(14000);
}

TEST_CASE("compliance_derivative: what is rigid follows its gap alone", "[contact][derivative]") {
  for (const double gap : {0.25, -0.25}) {
    const CompliantContact<double> rigid{
        .gap = gap, .friction = 0.5, .correction = 0.125, .pressing = {100, true}};
    const auto d = make_compliance_derivative(rigid, 0.5, 3.0);
    CHECK(d.bias_by_gap == (gap > 0 ? -2 : -0.25));
    CHECK((d.bias_by_dissipation == 0 && d.normal_by_stiffness == 0));
    CHECK((d.normal_by_dissipation == 0 && d.normal_by_inverse_mass == 0));
    CHECK((d.tangent_by_inverse_mass == 0 && d.tangent_by_slip == 0));
    CHECK(!d.near_rigid);
  }
}

TEST_CASE("compliance_derivative: the inverse mass is the one R was made with, and follows masses",
          "[contact][derivative]") {
  VectorSource<double> source(21u);
  WorstCase value("w = R_t/sigma"), slope("dw/d ln m by differences");
  for (int sample = 0; sample < 60; ++sample) {
    const auto first = draw_body(source, 6, source.positive(2));
    const auto second = draw_body(source, 3, source.positive(2));
    const Eigen::MatrixXd a = draw_matrix(source, 3, 6), b = draw_matrix(source, 3, 3);
    const bool two_sided = sample % 3 != 0;
    const auto make = [&](double first_scale, double second_scale) {
      ContactProblem<double> problem(0.01);
      problem.add_body(first_scale * first.momentum, first.free_velocity);
      problem.add_body(second_scale * second.momentum, second.free_velocity);
      const CompliantContact<double> law{.gap = 0, .stiffness = 1, .relative_slip = 0.125};
      if (two_sided) {
        problem.add_contact(0, a, 1, b, law);
      } else {
        problem.add_contact(0, a, law);
      }
      return problem;
    };
    const auto here = inverse_mass_of(make(1, 1), 0);
    value.see(
        std::abs(here.value - make(1, 1).friction_contact_law(0).regularization.tangent / 0.125),
        rounding(50, here.value));
    const double h = 1e-5;
    const auto w = [&](double x, double y) {
      return inverse_mass_of(make(std::exp(x), std::exp(y)), 0).value;
    };
    slope.see(std::abs(here.by_log_mass[0] - (w(h, 0) - w(-h, 0)) / (2 * h)),
              by_differences(1e-9) * here.value);
    slope.see(std::abs(here.by_log_mass[1] - (w(0, h) - w(0, -h)) / (2 * h)),
              by_differences(1e-9) * here.value);
  }
  // Nothing moves the contact: it has no inverse mass, whatever the masses are.
  ContactProblem<double> blocked(0.01);
  blocked.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  blocked.add_contact(0, Eigen::Matrix3d::Zero(),
                      CompliantContact<double>{.gap = 0, .stiffness = 1});
  CHECK(inverse_mass_of(blocked, 0).by_log_mass[0] == 0);
  value.check(60);
  slope.check(120);
}

}  // namespace compliance_derivative_test
