// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>

namespace carom::python {

/// The time on a clock that only goes forwards [s].
[[nodiscard]] inline double read_clock() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the thread that called do_all() does beside its part of the work: it asks now and then
/// whether to go on.
class Lookout {
 public:
  Lookout() = default;
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;
  virtual ~Lookout() = default;

  /// Asks if that is due, every twentieth of a second. Call it as often as that or oftener.
  /// @param now  as read_clock() gives it [s].
  void look(double now) noexcept {
    if (now < next_) return;
    ask();
    next_ = read_clock() + pause;
  }

 private:
  static constexpr double pause = 0.05;  // [s]: as fast as people notice, and rarely enough
  virtual void ask() noexcept = 0;
  double next_ = read_clock() + pause;
};

/// What one thread does with the items from `first` up to and without `last`, in that order.
using RangeWork = std::function<void(std::size_t first, std::size_t last)>;

/// Work on many items, shared by several threads.
struct SharedWork {
  std::size_t count = 0;  ///< Of items.
  int threads = 1;        ///< ≥ 1; the calling one is one of them.
  /// Called once on each thread, for memory of its own. The calling thread, where there is `ask`,
  /// gets a lookout, which may be asked between items and within; others get none.
  std::function<RangeWork(Lookout*)> make_work;
  /// Called now and then by the calling thread, with the share of items begun, in [0, 1]; true sets
  /// `stopped`. It must not throw. Empty: nobody asks.
  std::function<bool(double)> ask;
};

/// Does all items, whatever is next to whichever thread is free.
/// @param stopped  set when `ask` says so: no further item is taken, and work on a range that has
///                 begun may look at it to end early.
/// @throws what an item threw, such as std::bad_alloc; of several the one of the lowest item. Items
///         that have not been taken then are left out.
void do_all(const SharedWork& work, std::atomic<bool>& stopped);

}  // namespace carom::python
