// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace carom::benchmarks {

/// The middle one of some numbers, which are reordered; there is at least one.
[[nodiscard]] inline double middle(std::vector<double>& seconds) {
  const auto at = seconds.begin() + std::ptrdiff_t(seconds.size() / 2);
  std::nth_element(seconds.begin(), at, seconds.end());
  return *at;
}

/// How long an action takes [s].
template <typename Action>
[[nodiscard]] double seconds_of(const Action& action) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace carom::benchmarks
