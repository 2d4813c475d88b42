// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/contact_problem.hpp"

#include "support/tolerance.hpp"

namespace carom::testing {

/// ‖Jᵀγ‖_{A⁻¹} [√J].
template <typename Scalar>
[[nodiscard]] Scalar push_norm(const ContactProblem<Scalar>& problem,
                               const VectorX<Scalar>& impulse) {
  VectorX<Scalar> pushed = VectorX<Scalar>::Zero(problem.velocity_count());
  problem.for_each_block([&](const auto& block) {
    const auto gamma = block.read(impulse);
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      pushed.segment(start, size) +=
          block.whitened_columns(s).lazyProduct(gamma.head(block.rows()));
    }
  });
  return pushed.norm();
}

/// What rounding an answer's velocity does to its momentum balance ‖A(v − v*) − Jᵀγ(v)‖_{A⁻¹} [√J]:
/// a rounding of a row's velocity is one of the impulse divided by R, which for stiff contacts and
/// constraints is large.
template <typename Scalar>
[[nodiscard]] Scalar momentum_noise(const ContactProblem<Scalar>& problem,
                                    const VectorX<Scalar>& velocity,
                                    const VectorX<Scalar>& impulse) {
  VectorX<Scalar> whitened = velocity;
  problem.whiten(carom::as_span(whitened));
  Scalar stiff = 0;
  problem.for_each_block([&](const auto& block) {
    Scalar speed = block.bias_velocity().norm(), lever = 0;
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      speed += block.columns(s).norm() * velocity.segment(start, size).norm();
      lever += block.whitened_columns(s).norm();
    }
    stiff += lever * speed / block.regularization().head(block.rows()).minCoeff();
  });
  const Scalar free = problem.whitened_free_velocity().norm();
  return rounding(20, whitened.norm() + free + push_norm(problem, impulse) + stiff);
}

/// The same of its relative residual [-].
template <typename Scalar>
[[nodiscard]] Scalar residual_noise(const ContactProblem<Scalar>& problem,
                                    const VectorX<Scalar>& velocity,
                                    const VectorX<Scalar>& impulse) {
  const Scalar scale =
      std::max(problem.whitened_free_velocity().norm(), push_norm(problem, impulse));
  const Scalar noise = momentum_noise(problem, velocity, impulse);
  return scale > Scalar(0) ? noise / scale : noise;
}

}  // namespace carom::testing
