// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/contact_problem.hpp"

#include "support/tolerance.hpp"

namespace carom::testing {

/// What rounding an answer's velocity does to its relative residual: a rounding of a row's velocity
/// is one of the impulse divided by R, which for stiff contacts and constraints is large.
template <typename Scalar>
[[nodiscard]] Scalar residual_noise(const ContactProblem<Scalar>& problem,
                                    const VectorX<Scalar>& velocity,
                                    const VectorX<Scalar>& impulse) {
  VectorX<Scalar> whitened = velocity, pushed = VectorX<Scalar>::Zero(velocity.size());
  problem.whiten(carom::as_span(whitened));
  Scalar stiff = 0;
  problem.for_each_block([&](const auto& block) {
    Scalar speed = block.bias_velocity().norm(), lever = 0;
    const auto gamma = block.read(impulse);
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      speed += block.columns(s).norm() * velocity.segment(start, size).norm();
      lever += block.whitened_columns(s).norm();
      pushed.segment(start, size) +=
          block.whitened_columns(s).lazyProduct(gamma.head(block.rows()));
    }
    stiff += lever * speed / block.regularization().head(block.rows()).minCoeff();
  });
  const Scalar free = problem.whitened_free_velocity().norm(), push = pushed.norm();
  const Scalar scale = std::max(free, push);
  const Scalar size = whitened.norm() + free + push + stiff;
  return rounding(20, scale > Scalar(0) ? size / scale : size);
}

}  // namespace carom::testing
