// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/step_parts.hpp"

#include "support/catch.hpp"

namespace step_parts_test {

using carom::SolveStatus, carom::detail::add_status, carom::detail::take_step_in_halves;

namespace {

struct Report {
  int substeps = 0;
  int parts = 0;  ///< taken, over all divisions.
};

/// A step whose parts succeed from `enough` parts on; counts how often it started again.
Report take(int enough, int halving_limit, int& restarts, bool worth_halving = true) {
  return take_step_in_halves(
      Report(), halving_limit,
      [&](int, Report& report) {
        ++report.parts;
        return report.substeps >= enough;
      },
      [&](Report&, bool may_halve) {
        ++restarts;
        return may_halve && worth_halving;
      });
}

}  // namespace

TEST_CASE("step_parts: a step that succeeds is taken as a whole", "[core][example]") {
  int restarts = 0;
  const Report report = take(1, 8, restarts);
  CHECK(report.substeps == 1);
  CHECK(report.parts == 1);
  CHECK(restarts == 0);
}

TEST_CASE("step_parts: a step that fails is halved until all its parts succeed",
          "[core][example]") {
  int restarts = 0;
  const Report report = take(8, 8, restarts);
  CHECK(report.substeps == 8);
  CHECK(report.parts == 1 + 1 + 1 + 8);  // a division ends with its first part that fails
  CHECK(restarts == 3);
}

TEST_CASE("step_parts: after the last halving everything is put back", "[core][edge]") {
  int restarts = 0;
  const Report report = take(1000, 3, restarts);
  CHECK(report.substeps == 8);
  CHECK(restarts == 4);
  restarts = 0;
  CHECK(take(1000, 0, restarts).substeps == 1);
  CHECK(restarts == 1);
  restarts = 0;
  CHECK(take(1000, 8, restarts, false).substeps == 1);  // the stepper refuses to halve
  CHECK(restarts == 1);
}

TEST_CASE("step_parts: a whole converged when every part did", "[core][law]") {
  SolveStatus whole = SolveStatus::converged;
  add_status(whole, SolveStatus::converged);
  CHECK(whole == SolveStatus::converged);
  add_status(whole, SolveStatus::iteration_limit);
  add_status(whole, SolveStatus::no_progress);
  add_status(whole, SolveStatus::converged);
  CHECK(whole == SolveStatus::no_progress);
}

}  // namespace step_parts_test
