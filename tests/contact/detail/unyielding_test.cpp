// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/unyielding.hpp"

#include <limits>

#include "carom/contact/compliance.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

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
  // A law may have another default.
  CHECK(yielding_fault("it", Law{.stiffness = 3, .correction = 0.5}, 0.5).empty());
}

}  // namespace unyielding_test
