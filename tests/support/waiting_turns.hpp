// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace carom::testing {

/// Whether two threads that wait for each other in turn come to an end in turn: only if no wake-up
/// is lost do they end at all.
template <typename Sleep, typename Number>
[[nodiscard]] bool take_turns(int rounds) {
  Sleep sleep;
  std::atomic<Number> turn{0};
  std::vector<int> order;
  const auto player = [&](Number own) {
    for (int round = 0; round < rounds; ++round) {
      for (Number now = turn.load(std::memory_order_acquire); now % 2 != own;
           now = turn.load(std::memory_order_acquire)) {
        sleep.wait(turn, now);
      }
      order.push_back(int(own));
      turn.fetch_add(1, std::memory_order_acq_rel);
      sleep.wake(turn);
    }
  };
  std::thread other([&] { player(1); });
  player(0);
  other.join();
  bool in_turn = order.size() == std::size_t(2 * rounds);
  for (std::size_t k = 0; k < order.size(); ++k) in_turn = in_turn && order[k] == int(k % 2);
  return in_turn;
}

}  // namespace carom::testing
