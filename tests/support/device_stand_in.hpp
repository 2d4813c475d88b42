// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "carom/batch/detail/device_memory.hpp"

#include "support/catch.hpp"

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
  [[nodiscard]] double* numbers() noexcept { return memory_.data(); }
  [[nodiscard]] bool margin_is_intact() const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(memory_.data());
    return std::all_of(bytes + bytes_, bytes + memory_.size() * sizeof(double),
                       [](unsigned char byte) { return byte == 0xff; });
  }

  /// Requires that of the numbers of a warp those of one lane were written, and no others.
  void check_written_by(std::size_t lane) const {
    const std::size_t count = bytes_ / sizeof(double), lanes = std::size_t(device_warp_size);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(memory_.data());
    std::size_t own = 0, others = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto* const number = bytes + i * sizeof(double);
      const bool written =
          std::any_of(number, number + sizeof(double), [](unsigned char b) { return b != 0xff; });
      (i % lanes == lane ? own : others) += std::size_t(written);
    }
    CHECK(others == 0);
    CHECK(own > count / lanes / 2);
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

/// A workspace needs its memory for each warp, asks for copies only where that is enough, and
/// reports one that fails; tasks are sorted by pattern, so that a warp reads memory together.
template <typename Workspace, typename View, typename Answers, typename Options>
void check_workspace(const View& view, const Answers& answers, const Options& options) {
  const std::size_t size = Workspace::bytes(view, 2);
  CHECK(size - Workspace::bytes(view, 1) == Workspace::numbers_of_warp(view) * sizeof(double));
  StandIn memory(size);
  Workspace workspace;
  int copies = 0;
  const auto refuse = [&](void*, const void*, std::size_t) { return ++copies > 1; };
  CHECK_FALSE(workspace.prepare(view, 2, memory.data(), size - 1, refuse));
  CHECK(copies == 0);
  CHECK_FALSE(workspace.prepare(view, 2, memory.data(), size, refuse));
  CHECK(copies == 1);
  CHECK(workspace.prepare(view, 2, memory.data(), size, copy_bytes));
  const auto task = workspace.task(view, answers, options);
  for (Index i = 1; i < view.count; ++i) {
    CHECK(view.pattern_number(task.problem(i - 1)) <= view.pattern_number(task.problem(i)));
  }
}

}  // namespace carom::testing
