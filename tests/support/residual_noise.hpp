// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/contact_problem.hpp"

#include "support/tolerance.hpp"

namespace carom::testing {

/// What rounding an answer's velocity does to its relative residual: a rounding of v_c is one of
/// the impulse divided by R, which for stiff contacts is large.
template <typename Scalar>
[[nodiscard]] Scalar residual_noise(const ContactProblem<Scalar>& problem,
                                    const VectorX<Scalar>& velocity,
                                    const VectorX<Scalar>& impulse) {
  VectorX<Scalar> whitened = velocity, pushed = VectorX<Scalar>::Zero(velocity.size());
  problem.whiten(whitened.data());
  Scalar stiff = 0;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const auto [tangent, normal] = problem.regularization(i);
    Scalar speed = problem.bias_velocity(i).norm(), lever = 0;
    for (int side = 0; side < problem.side_count(i); ++side) {
      const auto [start, size] = problem.body(problem.side_body(i, side));
      speed += problem.jacobian(i, side).norm() * velocity.segment(start, size).norm();
      lever += problem.whitened_jacobian(i, side).norm();
      pushed.segment(start, size) +=
          problem.whitened_jacobian(i, side).lazyProduct(impulse.template segment<3>(3 * i));
    }
    stiff += lever * speed / std::min(tangent, normal);
  }
  const Scalar free = problem.whitened_free_velocity().norm(), push = pushed.norm();
  const Scalar scale = std::max(free, push);
  const Scalar size = whitened.norm() + free + push + stiff;
  return rounding(20, scale > Scalar(0) ? size / scale : size);
}

}  // namespace carom::testing
