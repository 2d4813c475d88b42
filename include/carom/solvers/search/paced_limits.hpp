// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/core/solve_limits.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of Pace.
struct PaceTuning {
  /// Share of the longest iteration that is expected in the next solve: an iteration that was long
  /// by chance loses its influence.
  static constexpr double remembered_pace = 0.5;
};

/// The expected duration of an iteration [s], from one solve to the next.
struct Pace {
  double expected = 0;
  /// @param longest  duration of an iteration in the last solve [s]. The influence of an iteration
  ///                 that was long by chance decreases over the next solves.
  void learn(double longest) noexcept {
    expected = (std::max)(longest, PaceTuning::remembered_pace * expected);
  }
};

/// Limits that end as soon as one more iteration, with the duration of the longest so far, would
/// exceed the deadline. An iteration lasts from one clock reading to the next.
class PacedLimits {
 public:
  /// @param given     must outlive this object.
  /// @param expected  of an iteration [s], ≥ 0.
  PacedLimits(const SolveLimits& given, double expected) noexcept
      : given_(given), expected_(expected) {
    if (given.now != nullptr) last_ = given.now(given.context);
  }
  PacedLimits(const PacedLimits&) = delete;
  PacedLimits& operator=(const PacedLimits&) = delete;

  /// Limits that measure the duration of iterations; this object must outlive them.
  [[nodiscard]] SolveLimits limits() noexcept {
    SolveLimits paced = given_;
    if (given_.now == nullptr) return paced;
    paced.now = [](void* self) noexcept { return static_cast<PacedLimits*>(self)->look(); };
    paced.context = this;
    return paced;
  }
  /// The longest iteration so far [s].
  [[nodiscard]] double longest() const noexcept { return longest_; }
  /// Reserves time for the work after the last iteration [s], ≥ 0.
  void reserve(double seconds) noexcept { reserved_ = seconds; }

 private:
  double look() noexcept {
    const double now = given_.now(given_.context);
    longest_ = (std::max)(longest_, now - last_);
    last_ = now;
    return now + (std::max)(longest_, expected_) + reserved_;
  }

  const SolveLimits& given_;
  double expected_, last_ = 0, longest_ = 0, reserved_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
