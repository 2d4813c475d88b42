// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>

#include "carom/batch/batch_storage.hpp"
#include "carom/batch/solve_batch.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/raw_problem.hpp"

namespace batch_test {

using carom::BatchStorage, carom::BatchWorkspace, carom::SapOptions;
using carom::testing::allocations_of, carom::testing::build, carom::testing::draw_problem;

TEST_CASE("real time: a batch allocates nothing once its workspace is prepared", "[real_time]") {
  carom::testing::VectorSource<double> source(22201u);
  BatchStorage<double> batch;
  for (int i = 0; i < 40; ++i) batch.add(build(draw_problem(source, {{6, 1, 2}, i % 4})));
  batch.add(build(draw_problem(source, {{6, 6, 6}, 9})));
  const auto view = batch.view();
  const auto answers = batch.answers();
  BatchWorkspace<double> workspace;
  workspace.prepare(view, 2);
  carom::BatchReport report;
  const std::size_t allocations =
      allocations_of([&] { report = solve_batch(view, answers, SapOptions<double>{}, workspace); });
  CHECK(allocations == 0);
  CHECK(report.converged == batch.count());
}

}  // namespace batch_test
