// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "carom/core/detail/compiler.hpp"

// Where the system has no call for it, libstdc++ compares an atomic number first and takes the lock
// of its condition variable afterwards (bits/atomic_wait.h of GCC 12). A notification between the
// two is lost, and the thread may sleep for ever.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_HAVE_PLATFORM_WAIT)
#include "carom/linalg/detail/lock_sleep.hpp"
#endif

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

#if defined(__GLIBCXX__) && !defined(_GLIBCXX_HAVE_PLATFORM_WAIT)
using AtomicSleep = LockSleep;
#else
/// Lets threads sleep until an atomic number changes. One object serves several numbers.
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
#endif

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
