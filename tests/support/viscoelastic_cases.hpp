// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Dense>

#include "carom/core/scalar.hpp"

#include "support/random.hpp"

namespace carom::testing {

/// Spring-dampers on a random mechanism: n contacts, some velocities, in no particular order of
/// stiffness.
template <typename Scalar>
struct SpringCase {
  MatrixX<Scalar> whitened;  ///< L⁻¹Jᵀ
  VectorX<Scalar> stiffness, damping, y, rate, acceleration;
  Scalar beta, time_step;

  /// @param damping_time  β [s]
  SpringCase(VectorSource<Scalar>& source, Index n, Index velocities, double damping_time)
      : whitened(velocities, 3 * n),
        stiffness(3 * n),
        y(3 * n),
        rate(3 * n),
        acceleration(3 * n),
        beta(Scalar(damping_time)),
        time_step(source.pick({1e-3, 5e-3, 1e-2})) {
    for (Index c = 0; c < 3 * n; ++c) {
      stiffness(c) = Scalar(1e4) * source.positive(2);
      y(c) = Scalar(1e-3) * source.entry(1);
      rate(c) = source.entry(1);
      acceleration(c) = 10 * source.entry(1);
      for (Index r = 0; r < velocities; ++r) whitened(r, c) = source.entry(1, 0.2);
    }
    damping = beta * stiffness;
  }

  [[nodiscard]] MatrixX<Scalar> inverse_mass() const { return whitened.transpose() * whitened; }
  /// What forces are made of [N].
  [[nodiscard]] Scalar force_size() const {
    const VectorX<Scalar> moved = y.cwiseAbs() + (time_step + beta) * rate.cwiseAbs() +
                                  time_step * (time_step + beta) * acceleration.cwiseAbs();
    return stiffness.cwiseProduct(moved).norm();
  }
};

}  // namespace carom::testing
