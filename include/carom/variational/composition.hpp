// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "carom/core/elementary.hpp"
#include "carom/variational/stepper.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Substeps, as shares of a step, that raise the order of a self-adjoint method from 2 to 4: (w,
/// 1 − 2w, w) with w = 1/(2 − ∛2). The middle one of the three goes 1.7 steps back in time.
/// @cite  yoshida1990construction, eq. (4.2)
template <RealScalar Scalar>
[[nodiscard]] std::array<Scalar, 3> yoshida_shares() noexcept {
  using elementary::cbrt;
  const Scalar w = Scalar(1) / (2 - cbrt(Scalar(2)));
  return {w, 1 - 2 * w, w};
}

/// The same with five substeps (w, w, 1 − 4w, w, w), w = 1/(4 − ∛4). None is longer than 0.66 of
/// the step. They need two solves more than Yoshida's method, and the error is about thirty times
/// smaller.
/// @cite  suzuki1990fractal, eq. (15)
template <RealScalar Scalar>
[[nodiscard]] std::array<Scalar, 5> suzuki_shares() noexcept {
  using elementary::cbrt;
  const Scalar w = Scalar(1) / (4 - cbrt(Scalar(4)));
  return {w, w, 1 - 4 * w, w, w};
}

/// One step, composed of substeps. The state advances by h. If a substep fails, the state does not
/// change.
/// @param shares  of the step, with the sum one.
/// @param saved   a state of the same size; overwritten by the state before the step.
/// @note  Real-time safe: no allocation, no exception.
template <LagrangianSystemLike System>
StepReport<typename System::scalar_type> composed_step(
    VariationalStepper<System>& stepper, MechanicalState<typename System::scalar_type>& state,
    const typename System::scalar_type& h, std::span<const typename System::scalar_type> shares,
    MechanicalState<typename System::scalar_type>& saved) noexcept {
  using Scalar = typename System::scalar_type;
  CAROM_EXPECTS(saved.q.size() == state.q.size() && saved.momentum.size() == state.q.size());
  saved = state;
  StepReport<Scalar> sum;
  sum.substeps = 0;
  for (const Scalar& share : shares) {
    const StepReport<Scalar> part = stepper.step(state, share * h);
    sum.status = part.status;
    sum.iterations += part.iterations;
    sum.substeps += part.substeps;
    sum.residual = (std::max)(sum.residual, part.residual);
    sum.residual_target = (std::max)(sum.residual_target, part.residual_target);
    if (!part.converged()) {
      state = saved;
      return sum;
    }
  }
  state.time = saved.time + h;
  return sum;
}

}  // namespace CAROM_ABI
}  // namespace carom
