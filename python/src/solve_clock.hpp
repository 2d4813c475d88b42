// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <limits>

#include "carom/core/solve_limits.hpp"

#include "long_work.hpp"

namespace carom::python {

/// The clock of a solve: it ends the solve at a deadline, and when the user presses Ctrl-C.
///
/// Python notes an interrupt and acts on it only when asked, on its main thread. The clock asks
/// every twentieth of a second, for which it takes the lock of the interpreter for a moment.
class SolveClock {
 public:
  /// @param seconds  deadline from now [s]; infinite for none.
  /// @param work     what is asked; it lives as long as this.
  SolveClock(double seconds, LongWork& work) noexcept
      : work_(work), start_(read()), seconds_(seconds), next_look_(start_ + pause) {}

  /// The limits of the solve. They refer to this clock.
  [[nodiscard]] SolveLimits limits() noexcept {
    return {.now = &SolveClock::now, .context = this, .deadline = start_ + seconds_};
  }
  /// Seconds since the clock was made.
  [[nodiscard]] double elapsed() const noexcept { return read() - start_; }

 private:
  static constexpr double pause = 0.05;  // [s]: as fast as people notice, and rarely enough

  [[nodiscard]] static double read() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  static double now(void* context) noexcept { return static_cast<SolveClock*>(context)->look(); }
  double look() noexcept {
    constexpr double over = std::numeric_limits<double>::infinity();
    if (work_.is_interrupted()) return over;
    const double time = read();
    if (time < next_look_) return time;
    next_look_ = time + pause;
    return work_.goes_on(std::numeric_limits<double>::quiet_NaN()) ? time : over;
  }

  LongWork& work_;
  double start_, seconds_, next_look_;
};

}  // namespace carom::python
