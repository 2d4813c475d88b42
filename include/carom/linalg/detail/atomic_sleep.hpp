// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "carom/core/detail/compiler.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether the standard library lets a thread sleep on an atomic number by a call of the system.
/// Where there is no such call, libstdc++ compares the number first and takes the lock of its
/// condition variable afterwards (bits/atomic_wait.h of GCC 12). A notification between the two is
/// lost, and the thread may sleep for ever.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_HAVE_PLATFORM_WAIT)
inline constexpr bool atomic_sleeps_by_system = false;
#else
inline constexpr bool atomic_sleeps_by_system = true;
#endif

/// Lets threads sleep until an atomic number changes. One object serves several numbers.
template <bool by_system = atomic_sleeps_by_system>
class AtomicSleep {
 public:
  /// Sleeps while `number` is `seen`. May return early. The value read last is acquired.
  template <typename Number>
  void wait(const std::atomic<Number>& number, Number seen) noexcept {
    number.wait(seen, std::memory_order_acquire);
  }
  /// Wakes all threads that sleep on `number`. Call it after each change of the number.
  template <typename Number>
  void wake(std::atomic<Number>& number) noexcept {
    number.notify_all();
  }
};

/// The same with a lock: the number is compared and the sleep begins as one action.
template <>
class AtomicSleep<false> {
 public:
  template <typename Number>
  void wait(const std::atomic<Number>& number, Number seen) noexcept {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return number.load(std::memory_order_acquire) != seen; });
  }
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
