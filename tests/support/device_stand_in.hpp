// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "carom/core/scalar.hpp"

/// @file
/// What takes the place of a graphics processor in tests: memory, and threads one after the other.
namespace carom::testing {

/// Memory in place of a device's, full of NaN, with a margin that nobody may write to.
class StandIn {
 public:
  explicit StandIn(std::size_t bytes) : bytes_(bytes), memory_(bytes / sizeof(double) + margin) {
    std::memset(memory_.data(), 0xff, memory_.size() * sizeof(double));
  }
  [[nodiscard]] void* data() noexcept { return memory_.data(); }
  [[nodiscard]] bool margin_is_intact() const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(memory_.data());
    return std::all_of(bytes + bytes_, bytes + memory_.size() * sizeof(double),
                       [](unsigned char byte) { return byte == 0xff; });
  }

 private:
  static constexpr std::size_t margin = 64;
  std::size_t bytes_;
  std::vector<double> memory_;
};

/// A copy to a device that is memory of the processor's.
inline bool copy_bytes(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return true;
}

/// Calls visit(thread) for all threads in an order that a seed gives.
template <typename Visit>
void for_each_thread(Index thread_count, unsigned seed, const Visit& visit) {
  std::vector<Index> threads(static_cast<std::size_t>(thread_count));
  std::iota(threads.begin(), threads.end(), Index(0));
  std::mt19937 engine(seed);
  std::shuffle(threads.begin(), threads.end(), engine);
  for (const Index thread : threads) visit(thread);
}

}  // namespace carom::testing
