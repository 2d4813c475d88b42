// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace carom::cli {

/// A bar on standard error that shows the progress of a long run. It writes nothing unless standard
/// error is a terminal, and nothing for a run of less than half a second.
class ProgressBar {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param wanted  false: never shown.
  explicit ProgressBar(bool wanted = true)
      : shown_(wanted && is_terminal()), next_(Clock::now() + std::chrono::milliseconds(500)) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// Removes the line.
  ~ProgressBar() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }

  /// Whether the bar may be visible: standard error is a terminal.
  [[nodiscard]] bool shown() const noexcept { return shown_; }

  /// @param share  completed share, in [0, 1].
  void show(double share) {
    if (!shown_ || Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(100);
    drawn_ = true;
    constexpr int width = 40;
    const int full = int(width * std::clamp(share, 0.0, 1.0));
    const std::string bar =
        std::string(std::size_t(full), '#') + std::string(std::size_t(width - full), '.');
    std::fprintf(stderr, "\r[%s] %3d %%", bar.c_str(), int(100 * std::clamp(share, 0.0, 1.0)));
    std::fflush(stderr);
  }

 private:
  [[nodiscard]] static bool is_terminal() {
#if defined(__unix__) || defined(__APPLE__)
    return isatty(STDERR_FILENO) == 1;
#else
    return false;
#endif
  }

  bool shown_, drawn_ = false;
  Clock::time_point next_;
};

}  // namespace carom::cli
