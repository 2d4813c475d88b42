// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_limits.hpp"

namespace carom::testing {

/// A clock that shows how often it has been asked.
struct FakeClock {
  int calls = 0;

  [[nodiscard]] SolveLimits until(double deadline) noexcept {
    return {
        .now = [](void* clock) noexcept { return double(static_cast<FakeClock*>(clock)->calls++); },
        .context = this,
        .deadline = deadline};
  }
};

}  // namespace carom::testing
