// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of Admm.
struct AdmmTuning {
  /// How often ϱ is raised, and by what factor, where rounding makes a factorisation fail.
  static constexpr int factor_attempts = 10;
  static constexpr double factor_rise = 10;
  /// Iterations between two measurements.
  static constexpr int interval = 6;
  /// ϱ changes first after so many iterations; from then on the time between changes grows by one
  /// part in `wait_growth`, so that ϱ comes to rest. A change costs a factorisation.
  static constexpr int first_wait = 8, wait_growth = 4;
  /// ϱ stays as it is where the rule asks for less than this many times more or less.
  static constexpr double least_change = 2;
  /// Most that ϱ changes at once, up or down, and its range, relative to the inverse masses.
  static constexpr double most_change = 20;
  static constexpr double least_penalty = 1e-7, most_penalty = 1e4;
  /// A curvature counts only where the step and the change of the slope correlate by more than
  /// this; xu2017adaptive, section 4.3, takes 0.2.
  static constexpr double least_correlation = 0.2;
  /// By how much ϱ grows where the impulses stand still but the two residuals differ.
  static constexpr double apart_rise = 10;
};

/// The curvature a convex function shows along one step, from how its slope changes, in a diagonal
/// metric D: slopes are given as D⁻¹ of themselves.
/// @cite  xu2017adaptive, sections 4.2 and 4.3: of two estimates the lower one unless they differ
///        much, and no answer where slope and step hardly correlate.
template <RealScalar Scalar>
class SpectralStep {
 public:
  /// @param weight  D of one entry, > 0.
  void add(const Scalar& weight, const Scalar& step, const Scalar& slope) noexcept {
    step_squared_ += weight * step * step;
    product_ += weight * step * slope;
    slope_squared_ += weight * slope * slope;
  }

  /// Relative to D, > 0; −1 if the correlation is too weak for an estimate.
  [[nodiscard]] Scalar curvature() const noexcept {
    using std::sqrt;
    const Scalar least = Scalar(AdmmTuning::least_correlation) * sqrt(step_squared_);
    if (!(product_ > least * sqrt(slope_squared_))) return Scalar(-1);
    const Scalar descent = slope_squared_ / product_, gradient = product_ / step_squared_;
    return 2 * gradient > descent ? gradient : descent - gradient / 2;
  }

 private:
  Scalar step_squared_ = 0, product_ = 0, slope_squared_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
