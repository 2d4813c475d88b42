// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "support/dense_problem.hpp"

/// @file
/// A slow, independent solver of the convex problem: accelerated projected gradient on its dual,
/// with restart, in the metric of a diagonal that bounds W + R from above (Gershgorin). Knows
/// nothing of whitening, Newton steps or line searches, and certifies its own answer.
namespace carom::testing {

template <typename Scalar>
struct OracleSolution {
  VectorX<Scalar> impulse, velocity;
  Scalar error_bound;  ///< ‖∇ℓ(v)‖_{A⁻¹} ≥ ‖v − v_opt‖_A, from the dense formulas
  int iterations;
};

/// Diagonal D ≥ H, equal over a contact's tangents.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> majorant(const MatrixX<Scalar>& hessian) {
  const Index size = hessian.rows();
  VectorX<Scalar> scale(size), rows = VectorX<Scalar>::Zero(size), result(size);
  for (Index i = 0; i < size; i += 3) {
    scale(i) = scale(i + 1) = std::sqrt(std::max(hessian(i, i), hessian(i + 1, i + 1)));
    scale(i + 2) = std::sqrt(hessian(i + 2, i + 2));
  }
  for (Index c = 0; c < size; ++c) {
    for (Index r = 0; r < size; ++r) rows(r) += std::abs(hessian(r, c)) / (scale(r) * scale(c));
  }
  for (Index i = 0; i < size; i += 3) {
    const Scalar tangent = std::max(rows(i), rows(i + 1));
    result(i) = result(i + 1) = tangent * scale(i) * scale(i);
    result(i + 2) = rows(i + 2) * scale(i + 2) * scale(i + 2);
  }
  return result;
}

/// Solves to a certified error of `tolerance` times ‖v*‖_A (or ‖v‖_A if larger), or to the limit.
template <typename Scalar>
[[nodiscard]] OracleSolution<Scalar> solve_by_dual_oracle(const DenseProblem<Scalar>& problem,
                                                          Scalar tolerance,
                                                          int iteration_limit = 200000) {
  MatrixX<Scalar> hessian = problem.delassus();
  for (Index i = 0; i < hessian.rows(); ++i) hessian(i, i) += problem.weights(i);
  const VectorX<Scalar> load = problem.load();
  DenseProblem<Scalar> metric = problem;  // projects in D instead of R
  metric.weights = majorant(hessian);
  const VectorX<Scalar>& step = metric.weights;
  const auto bound_at = [&](const VectorX<Scalar>& v) {
    return problem.momentum_norm(problem.gradient(v));
  };
  VectorX<Scalar> gamma = VectorX<Scalar>::Zero(load.size()), ahead = gamma, before = gamma;
  Scalar pace = 1;
  OracleSolution<Scalar> solution{gamma, problem.free_velocity, bound_at(problem.free_velocity), 0};
  const Scalar free_norm = problem.energy_norm(problem.free_velocity);
  for (int k = 1; k <= iteration_limit && load.size() > 0; ++k) {
    before = gamma;
    const VectorX<Scalar> slope = multiply(hessian, ahead) + load;
    gamma = metric.project(ahead - slope.cwiseQuotient(step));
    const VectorX<Scalar> change = gamma - before;
    if ((ahead - gamma).cwiseProduct(step).dot(change) > 0) {  // momentum points uphill: restart
      pace = 1;
      ahead = gamma;
    } else {
      const Scalar next = (1 + std::sqrt(1 + 4 * pace * pace)) / 2;
      ahead = gamma + ((pace - 1) / next) * change;
      pace = next;
    }
    if (k % 50 != 0) continue;
    const VectorX<Scalar> velocity = problem.velocity(gamma);
    const Scalar bound = bound_at(velocity);
    if (bound < solution.error_bound) solution = {gamma, velocity, bound, k};
    if (bound <= tolerance * std::max(free_norm, problem.energy_norm(velocity))) break;
  }
  return solution;
}

}  // namespace carom::testing
