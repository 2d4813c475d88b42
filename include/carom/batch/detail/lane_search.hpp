// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_root.hpp"
#include "carom/batch/detail/lane_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The exact line search of LaneNewton along the directions of the lanes.
template <typename Number, int Stride>
class LaneSearch {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LaneSearch(const State& state) noexcept : state_(state) {}

  /// Step length where the slope along the direction vanishes; 1 where the direction does not
  /// descend. Writes what a full step changes in contact velocities and trial impulses.
  /// @param tolerance  share of the slope's start that may be left [-].
  [[nodiscard]] CAROM_DEVICE_CALL Number find_step(const Scalar& tolerance,
                                                   const Mask& lanes) const noexcept;

 private:
  CAROM_DEVICE void write_steps() const noexcept;
  [[nodiscard]] CAROM_DEVICE Number work_at(const Number& step) const noexcept;

  const State& state_;
};

// --- implementation ---

/// What the direction changes in contact velocities and trial impulses.
template <typename Number, int Stride>
CAROM_DEVICE void LaneSearch<Number, Stride>::write_steps() const noexcept {
  const Cells d = state_.vector(Names::direction);
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    const LaneImpulse<Number> u = state_.rows_times(k, d);
    c.set(Names::velocity_step, u.t1);
    c.set(Names::velocity_step + 1, u.t2);
    c.set(Names::velocity_step + 2, u.n);
    c.set(Names::trial_step, -u.t1 * c[Names::inverse_tangent]);
    c.set(Names::trial_step + 1, -u.t2 * c[Names::inverse_tangent]);
    c.set(Names::trial_step + 2, -u.n * c[Names::inverse_normal]);
  }
  state_.blocks().write_steps(d);
}

/// Σ Δγ·J d of a step length, Δγ the change of the impulses since the step's start.
template <typename Number, int Stride>
CAROM_DEVICE Number LaneSearch<Number, Stride>::work_at(const Number& step) const noexcept {
  Number work(Scalar(0));
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    LaneTrial<Number> at = state_.at_trial(k);
    at.y1 += step * c[Names::trial_step];
    at.y2 += step * c[Names::trial_step + 1];
    at.yn += step * c[Names::trial_step + 2];
    const LaneImpulse<Number> y = project_lanes(at);
    work += (y.t1 - c[Names::impulse]) * c[Names::velocity_step] +
            (y.t2 - c[Names::impulse + 1]) * c[Names::velocity_step + 1] +
            (y.n - c[Names::impulse + 2]) * c[Names::velocity_step + 2];
  }
  return state_.layout().block_count == 0 ? work : work + state_.blocks().work_at(step);
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneSearch<Number, Stride>::find_step(const Scalar& tolerance,
                                                          const Mask& lanes) const noexcept {
  write_steps();
  const Cells product = state_.vector(Names::scratch);
  multiply_lanes(state_.layout().mass_rows, state_.cells(state_.layout().mass_at),
                 state_.vector(Names::direction), product);
  const Number at_zero = state_.dot(Names::gradient, Names::direction);
  const Number momentum_curvature = state_.dot(Names::scratch, Names::direction);
  const auto slope = [&](const Number& step) {
    return at_zero + step * momentum_curvature - work_at(step);
  };
  const Mask descends = at_zero < Number(Scalar(0));  // else rounding has left nothing to search
  const Number step =
      find_root_in_lanes(slope, at_zero, -Number(tolerance) * at_zero, lanes & descends);
  return select(descends, step, Number(Scalar(1)));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
