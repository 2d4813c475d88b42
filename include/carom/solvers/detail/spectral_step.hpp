// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/solvers/detail/impulse_solver_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

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
