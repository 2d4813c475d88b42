// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/impact_step_report.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/solve_status.hpp"

namespace impact_step_report_test {

using carom::ImpactStatus, carom::ImpactStepOptions, carom::ImpactStepReport;
using carom::SolveStatus, carom::StepOptions;

TEST_CASE("impact_step_report: no status but converged counts as such", "[variational][example]") {
  ImpactStepReport<double> report;
  carom::testing::check_only_converged_counts(report);
  CHECK((report.iterations == 0 && report.solves == 0 && report.substeps == 1));
  CHECK((report.impacts == 0 && report.reflections == 0 && report.penetration == 0));
  report.status = SolveStatus::converged;
  // The law's status is separate from that of the step.
  for (const auto status : {ImpactStatus::reflection_limit, ImpactStatus::wedged,
                            ImpactStatus::collapsed, ImpactStatus::not_finite}) {
    report.impact_status = status;
    CHECK(report.converged());
  }
}

TEST_CASE("impact_step_report: every reason against a derivative has its own word",
          "[variational][example]") {
  using Status = carom::StepLinearizationStatus;
  std::set<std::string> words;
  for (int k = 0; k <= int(Status::not_solved); ++k) words.insert(to_string(Status(k)));
  CHECK(words.size() == 12);
  CHECK(words.count("linearized") == 1);
  CHECK(words.count("unknown") == 0);
  CHECK(std::string(to_string(Status(99))) == "unknown");
}

TEMPLATE_TEST_CASE("impact_step_report: the default tolerances fit together in either precision",
                   "[variational][example]", float, double) {
  using Scalar = TestType;
  const ImpactStepOptions<Scalar> options;
  const Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  // Roots are found more sharply than gaps count as closed, and no more so than rounding allows.
  const auto small = Scalar(1e-3);  // beside gaps, times and energies near one
  CHECK(options.root_tolerance > epsilon);
  CHECK(options.gap_tolerance == std::sqrt(epsilon) / 16);
  CHECK(options.gap_tolerance > epsilon);
  CHECK(options.gap_tolerance < small);
  CHECK(options.root_tolerance < small);
  CHECK(options.rest_share > 0);
  CHECK(options.rest_share < small);
  CHECK_FALSE(options.project_out);
  CHECK(options.event_limit == 100'000);
  CHECK(options.recorded_events == 1024);
  CHECK(options.step.tolerance == StepOptions<Scalar>().tolerance);
  CHECK(options.step.iteration_limit == StepOptions<Scalar>().iteration_limit);
}

}  // namespace impact_step_report_test
