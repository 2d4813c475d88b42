// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/impact_report.hpp"

#include <limits>
#include <string>

#include "support/catch.hpp"

namespace impact_report_test {

using carom::ImpactOptions, carom::ImpactStatus, carom::Index;
using carom::detail::collapse_fault, carom::detail::restitution_fault;

static_assert(std::string_view(carom::to_string(ImpactStatus::wedged)) == "wedged");

namespace {

template <typename Scalar>
constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();
template <typename Scalar>
constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
/// The largest number below one.
template <typename Scalar>
constexpr Scalar below_one = 1 - std::numeric_limits<Scalar>::epsilon() / 2;
/// The smallest normal number above zero.
template <typename Scalar>
constexpr Scalar least = std::numeric_limits<Scalar>::min();

}  // namespace

TEST_CASE("impact_report: every status has its own word", "[impact][example]") {
  CHECK(std::string(to_string(ImpactStatus::resolved)) == "resolved");
  CHECK(std::string(to_string(ImpactStatus::reflection_limit)) == "reflection_limit");
  CHECK(std::string(to_string(ImpactStatus::wedged)) == "wedged");
  CHECK(std::string(to_string(ImpactStatus::collapsed)) == "collapsed");
  CHECK(std::string(to_string(ImpactStatus::not_finite)) == "not_finite");
  CHECK(std::string(to_string(static_cast<ImpactStatus>(17))) == "unknown");
}

TEMPLATE_TEST_CASE("impact_report: the defaults forgive roundings and are valid",
                   "[impact][example]", float, double) {
  const ImpactOptions<TestType> options;
  CHECK(options.tolerance == 32 * std::numeric_limits<TestType>::epsilon());
  CHECK(options.reflection_limit == 10'000'000);
  CHECK(check(options).empty());
}

TEST_CASE("impact_report: options at the edge of their range are valid", "[impact][edge]") {
  using Scalar = double;
  CHECK(check(ImpactOptions<Scalar>{0, 0}).empty());
  CHECK(check(ImpactOptions<Scalar>{-Scalar(0), 1}).empty());
  CHECK(check(ImpactOptions<Scalar>{below_one<Scalar>, 0}).empty());
  CHECK(check(ImpactOptions<Scalar>{0, std::numeric_limits<Index>::max()}).empty());
}

TEST_CASE("impact_report: options out of range are named", "[impact][edge]") {
  using Scalar = double;
  const auto tolerance = [](Scalar value) { return check(ImpactOptions<Scalar>{value, -1}); };
  const std::string expected = "tolerance: expected a fraction in [0, 1), got ";
  CHECK(tolerance(1) == expected + "1");
  CHECK(tolerance(Scalar(-0.5)) == expected + "-0.5");
  CHECK(tolerance(not_a_number<Scalar>) == expected + "nan");
  CHECK(tolerance(infinity<Scalar>) == expected + "inf");
  CHECK(tolerance(-infinity<Scalar>) == expected + "-inf");
  CHECK(tolerance(-least<Scalar>).find(expected + "-") == 0);
  CHECK(tolerance(0) == "reflection limit: expected a count >= 0, got -1");
}

TEST_CASE("impact_report: a restitution lies between zero and one", "[impact][edge]") {
  using Scalar = double;
  for (const Scalar e : {Scalar(0), least<Scalar>, Scalar(0.5), below_one<Scalar>, Scalar(1)}) {
    CAPTURE(e);
    CHECK(restitution_fault(e).empty());
  }
  const std::string expected = "restitution: expected a number in [0, 1], got ";
  CHECK(restitution_fault(Scalar(-0.25)) == expected + "-0.25");
  CHECK(restitution_fault(Scalar(1.5)) == expected + "1.5");
  CHECK(restitution_fault(not_a_number<Scalar>) == expected + "nan");
  CHECK(restitution_fault(infinity<Scalar>) == expected + "inf");
  CHECK_FALSE(restitution_fault(-least<Scalar>).empty());
  CHECK_FALSE(restitution_fault(1 + std::numeric_limits<Scalar>::epsilon()).empty());
}

TEST_CASE("impact_report: a collapse threshold lies inside zero and one", "[impact][edge]") {
  using Scalar = double;
  for (const Scalar share : {least<Scalar>, Scalar(1e-9), Scalar(0.5), below_one<Scalar>}) {
    CAPTURE(share);
    CHECK(collapse_fault(share).empty());
  }
  const std::string expected = "collapse threshold: expected a fraction in (0, 1), got ";
  CHECK(collapse_fault(Scalar(0)) == expected + "0");
  CHECK(collapse_fault(Scalar(1)) == expected + "1");
  CHECK(collapse_fault(Scalar(-0.25)) == expected + "-0.25");
  CHECK(collapse_fault(not_a_number<Scalar>) == expected + "nan");
  CHECK(collapse_fault(infinity<Scalar>) == expected + "inf");
}

}  // namespace impact_report_test
