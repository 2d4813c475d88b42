// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/impulse_memory.hpp"

#include <cstddef>

#include "carom/contact/rigid_contact.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"

namespace impulse_memory_real_time_test {

TEST_CASE("real_time: an impulse memory allocates nothing for steps no larger than the first",
          "[contact][real_time]") {
  carom::ContactProblem<double> problem(0.01);
  carom::ImpulseMemory<double> memory;
  Eigen::VectorXd impulse;
  const auto step = [&](std::uint64_t first) {
    problem.reset(0.01);
    problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -0.1));
    for (std::uint64_t i = 0; i < 20; ++i) {
      const auto block = problem.add_contact(0, Eigen::Matrix3d::Identity(),
                                             carom::RigidContact<double>{.friction = 0.5});
      memory.name_block(block, (first + 7 * i) % 20 + first);
    }
    memory.write_guess(problem, impulse);
    impulse.setConstant(double(first));
    memory.remember(problem, impulse);
  };
  step(0);
  std::size_t allocated = 0;
  for (std::uint64_t first = 1; first < 10; ++first) {
    allocated += carom::testing::allocations_of([&] { step(first); });
  }
  CHECK(allocated == 0);
  CHECK(memory.count() == 20);
}

}  // namespace impulse_memory_real_time_test
