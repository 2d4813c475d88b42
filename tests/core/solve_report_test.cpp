// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/solve_report.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/solve_status.hpp"

using carom::SolveReport, carom::SolveStatus;

static_assert(std::string_view(carom::to_string(SolveStatus::converged)) == "converged");

TEST_CASE("solve_report: every status has its own word", "[core][example]") {
  CHECK(std::string(to_string(SolveStatus::converged)) == "converged");
  CHECK(std::string(to_string(SolveStatus::iteration_limit)) == "iteration_limit");
  CHECK(std::string(to_string(SolveStatus::no_progress)) == "no_progress");
  CHECK(std::string(to_string(SolveStatus::deadline)) == "deadline");
  CHECK(std::string(to_string(SolveStatus::infeasible)) == "infeasible");
  CHECK(std::string(to_string(SolveStatus::not_finite)) == "not_finite");
  CHECK(std::string(to_string(static_cast<SolveStatus>(17))) == "unknown");
}

TEST_CASE("solve_report: every measure has its own word", "[core][example]") {
  using carom::ResidualMeasure;
  CHECK(std::string(to_string(ResidualMeasure::momentum_balance)) == "momentum_balance");
  CHECK(std::string(to_string(ResidualMeasure::natural_map)) == "natural_map");
  CHECK(std::string(to_string(ResidualMeasure::block_error)) == "block_error");
  CHECK(std::string(to_string(ResidualMeasure::own)) == "own");
  CHECK(std::string(to_string(static_cast<ResidualMeasure>(17))) == "unknown");
}

TEST_CASE("solve_report: nothing counts as converged until a solver says so", "[core][example]") {
  carom::testing::check_only_converged_counts(SolveReport<double>());
}

TEST_CASE("solve_report: a fresh report holds zeros", "[core][example]") {
  const SolveReport<float> report;
  CHECK(report.status == SolveStatus::not_finite);
  CHECK(report.iterations == 0);
  CHECK(report.residual == 0);
  CHECK(report.residual_target == 0);
  CHECK(report.error_bound == 0);
  CHECK(report.measure == carom::ResidualMeasure::own);
}
