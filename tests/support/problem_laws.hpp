// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/concepts.hpp"

#include "support/random.hpp"
#include "support/worst_case.hpp"

/// @file
/// What every ContactProblemLike must obey, whatever it is made of.
namespace carom::testing {

/// write_gradient() is the derivative of primal_cost(), and primal_cost() is strictly convex.
/// @param draw  draw(source) gives a velocity to look at.
template <ContactProblemLike Problem, typename Draw>
void check_problem_laws(const Problem& problem, const Draw& draw, int count = 40) {
  using Scalar = typename Problem::scalar_type;
  using Velocity = VectorX<Scalar>;
  VectorSource<double> source(20240911u);
  WorstCase derivative("the gradient is the cost's derivative"), convex("strictly convex"),
      sized("the gradient has the velocity's length");
  const Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  for (int sample = 0; sample < count; ++sample) {
    const Velocity v = draw(source), other = draw(source);
    Velocity gradient, slope_ahead, slope_behind;
    write_gradient(problem, v, gradient);
    sized.see_holds(gradient.size() == problem.velocity_count());

    const Velocity direction = other - v;
    if (direction.norm() == Scalar(0)) continue;
    // Between two points the cost rises by at least one slope and at most the other.
    const Scalar rise = primal_cost(problem, other) - primal_cost(problem, v);
    write_gradient(problem, other, slope_ahead);
    const Scalar low = gradient.dot(direction), high = slope_ahead.dot(direction);
    const Scalar slack = 100 * epsilon *
                         (std::abs(primal_cost(problem, v)) +
                          std::abs(primal_cost(problem, other)) + std::abs(low) + std::abs(high));
    convex.see_holds(low <= rise + slack && rise <= high + slack && low < high, v, other);

    // Simpson's rule over one small step: fourth order wherever the cost is smooth.
    const Scalar step = std::cbrt(epsilon);
    const Velocity ahead = v + step * direction, behind = v - step * direction;
    write_gradient(problem, ahead, slope_ahead);
    write_gradient(problem, behind, slope_behind);
    const Scalar change = primal_cost(problem, ahead) - primal_cost(problem, behind);
    const Scalar predicted =
        step / 3 * (slope_ahead.dot(direction) + 4 * low + slope_behind.dot(direction));
    const Scalar noise = 50 * epsilon * std::abs(primal_cost(problem, v)) +
                         step * std::abs(slope_ahead.dot(direction) - slope_behind.dot(direction));
    derivative.see(std::abs(change - predicted), noise, v, direction);
  }
  sized.check();
  convex.check();
  derivative.check();
}

}  // namespace carom::testing
