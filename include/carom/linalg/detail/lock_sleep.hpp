// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "carom/core/detail/compiler.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Lets threads sleep until an atomic number changes, by a lock: the number is compared and the
/// sleep begins as one action. One object serves several numbers.
/// @note  Only for systems on which std::atomic loses wake-ups, see atomic_sleep.hpp: its standard
///        headers do not bear the macros min and max.
class LockSleep {
 public:
  /// Sleeps while `number` is `seen`. The value read last is acquired.
  template <typename Number>
  void wait(const std::atomic<Number>& number, Number seen) noexcept {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return number.load(std::memory_order_acquire) != seen; });
  }
  /// Wakes all threads that sleep. Call it after each change of a number.
  template <typename Number>
  void wake(std::atomic<Number>&) noexcept {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
    }  // a thread that compares is asleep after it
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
