// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/recorder.hpp"

#include <cstddef>
#include <utility>

#include "carom/solvers/contact_solver.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/recording_file.hpp"

namespace recorder_real_time_test {

static_assert(noexcept(std::declval<carom::Recorder&>().solve(
    std::declval<carom::ContactSolver<double>&>(), std::declval<carom::ContactProblem<double>&>(),
    std::declval<Eigen::VectorXd&>())));

TEST_CASE("real_time: a recorder allocates nothing for steps that are not larger than the first",
          "[solvers][real_time]") {
  for (const bool before_solve : {false, true}) {
    const carom::testing::RecordingFile file("recorder_real_time");
    carom::testing::VectorSource<double> source(3);
    const auto large =
        carom::testing::build(carom::testing::draw_constrained(source, {6, 6, 3, 2}, 9));
    const auto lesser = carom::testing::build(carom::testing::draw_constrained(source, {6, 2}, 2));
    // The ring is so small that it is full after a few steps.
    carom::Recorder recorder(file.path(), {.capacity = 40000, .before_solve = before_solve});
    carom::ContactSolver<double> solver;
    Eigen::VectorXd velocity = large.free_velocity();
    solver.prepare(large);
    static_cast<void>(recorder.solve(solver, large, velocity));
    static_cast<void>(recorder.solve_from(solver, large, solver.impulse(), velocity));
    Eigen::VectorXd shorter = lesser.free_velocity();
    static_cast<void>(recorder.solve(solver, lesser, shorter));
    std::size_t allocated = 0;
    for (int i = 0; i < 20; ++i) {
      allocated += carom::testing::allocations_of([&] {
        velocity.setZero();
        static_cast<void>(recorder.solve(solver, large, velocity));
        static_cast<void>(recorder.solve_from(solver, large, solver.impulse(), velocity));
        static_cast<void>(recorder.solve(solver, lesser, shorter));
      });
    }
    CHECK(allocated == 0);
    CHECK(recorder.lost_count() == 0);
    CHECK(file.read().steps().size() >= 2);
  }
}

}  // namespace recorder_real_time_test
