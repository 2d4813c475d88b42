// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// How an impact ended.
enum class ImpactStatus {
  resolved,          ///< Every contact separates or rests, within tolerance.
  reflection_limit,  ///< Limit reached, or the order excludes contacts; contacts may still close.
  wedged,            ///< No motion opens all contacts; resolved plastically.
  collapsed,   ///< Infinite series of decreasing impacts (inelastic collapse); the law ended it.
  not_finite,  ///< NaN or infinity found; the momentum is unchanged.
};

/// The status as a word for messages and files.
[[nodiscard]] constexpr const char* to_string(ImpactStatus status) noexcept {
  switch (status) {
    case ImpactStatus::resolved:
      return "resolved";
    case ImpactStatus::reflection_limit:
      return "reflection_limit";
    case ImpactStatus::wedged:
      return "wedged";
    case ImpactStatus::collapsed:
      return "collapsed";
    case ImpactStatus::not_finite:
      return "not_finite";
  }
  return "unknown";
}

/// Tolerance of feasibility, and limit of the work.
template <RealScalar Scalar>
struct ImpactOptions {
  /// A contact is feasible if it closes slower than this fraction of ImpactProblem::rate_scale
  /// [-], ≥ 0. The default is some roundings: with a smaller one rounding counts as approach, with
  /// a larger one a real approach is ignored.
  Scalar tolerance = 32 * std::numeric_limits<Scalar>::epsilon();
  /// Largest count of reflections, ≥ 0. Impacts with extreme mass ratios need many: 31415 for 100⁴.
  /// The default ends an impact after about a tenth of a second; use a lower limit where time is
  /// short.
  Index reflection_limit = 10'000'000;
};

/// The fault of the options, as one sentence; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault check(const ImpactOptions<Scalar>& options) {
  if (!(options.tolerance >= Scalar(0) && options.tolerance < Scalar(1))) {
    return detail::fault("tolerance", "a fraction in [0, 1)", options.tolerance);
  }
  if (options.reflection_limit < 0) {
    return detail::fault("reflection limit", "a count >= 0", options.reflection_limit);
  }
  return {};
}

namespace detail {

/// The fault of a coefficient of restitution.
template <RealScalar Scalar>
[[nodiscard]] Fault restitution_fault(const Scalar& restitution) {
  if (restitution >= Scalar(0) && restitution <= Scalar(1)) return {};
  return fault("restitution", "a number in [0, 1]", restitution);
}

/// The fault of the collapse threshold, the share of the first closing rate.
template <RealScalar Scalar>
[[nodiscard]] Fault collapse_fault(const Scalar& threshold) {
  if (threshold > Scalar(0) && threshold < Scalar(1)) return {};
  return fault("collapse threshold", "a fraction in (0, 1)", threshold);
}

}  // namespace detail

/// Outcome of one impact.
template <RealScalar Scalar>
struct [[nodiscard]] ImpactReport {
  ImpactStatus status = ImpactStatus::not_finite;
  Index reflections = 0;  ///< Count of reflections.
  /// Increase of the kinetic energy, (|p⁺|² − |p⁻|²)/2 [J], summed over the impulses.
  Scalar energy_gain = 0;
};

}  // namespace CAROM_ABI
}  // namespace carom
