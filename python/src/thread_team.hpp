// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace carom::python {

/// What one thread does with an item, by its number.
using ItemWork = std::function<void(std::size_t)>;

/// Work on many items, shared by several threads.
struct SharedWork {
  std::size_t count = 0;                ///< Of items.
  int threads = 1;                      ///< ≥ 1
  std::function<ItemWork()> make_work;  ///< Called once on each thread, for memory of its own.
  /// Called now and then by the thread that waits, with the share of items begun, in [0, 1]; true
  /// sets `stopped`. Empty: nobody asks, and one thread is the calling one.
  std::function<bool(double)> ask;
};

/// Does all items, whatever is next to whichever thread is free.
/// @param stopped  set when `ask` says so or an item throws: no further item is begun, and those
/// that
///                 have begun may look at it to end early.
/// @throws what an item threw, such as std::bad_alloc.
void do_all(const SharedWork& work, std::atomic<bool>& stopped);

}  // namespace carom::python
