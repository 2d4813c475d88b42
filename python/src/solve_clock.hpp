// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <nanobind/nanobind.h>

#include "carom/core/solve_limits.hpp"

namespace carom::python {

/// The clock of a solve: it ends the solve at a deadline, and when the user presses Ctrl-C.
///
/// Python notes an interrupt and acts on it only when asked, on its main thread. The clock asks
/// every twentieth of a second, for which it takes the lock of the interpreter for a moment.
class SolveClock {
 public:
  /// @param seconds  deadline from now [s]; infinite for none.
  explicit SolveClock(double seconds) noexcept
      : start_(read()), seconds_(seconds), next_look_(start_ + pause) {}

  /// The limits of the solve. They refer to this clock.
  [[nodiscard]] SolveLimits limits() noexcept {
    return {.now = &SolveClock::now, .context = this, .deadline = start_ + seconds_};
  }
  /// Seconds since the clock was made.
  [[nodiscard]] double elapsed() const noexcept { return read() - start_; }
  /// Throws what the interrupt raised, KeyboardInterrupt as a rule.
  /// @pre  the lock of the interpreter is held.
  void raise_if_interrupted() const {
    if (interrupted_) throw nanobind::python_error();
  }

 private:
  static constexpr double pause = 0.05;  // [s]: as fast as people notice, and rarely enough

  [[nodiscard]] static double read() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  static double now(void* context) noexcept { return static_cast<SolveClock*>(context)->look(); }
  double look() noexcept {
    constexpr double over = std::numeric_limits<double>::infinity();
    if (interrupted_) return over;
    const double time = read();
    if (time < next_look_) return time;
    next_look_ = time + pause;
    const nanobind::gil_scoped_acquire lock;
    interrupted_ = PyErr_CheckSignals() != 0;
    return interrupted_ ? over : time;
  }

  double start_, seconds_, next_look_;
  bool interrupted_ = false;
};

}  // namespace carom::python
