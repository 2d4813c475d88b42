// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/primal.hpp"
#include "carom/solvers/search/small_newton.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Solves small problems under the convex law on one dense matrix; SapSolver hands them over.
/// @note  lay_out() allocates beyond the largest problem so far; solve() is real-time safe.
template <RealScalar Scalar>
class SmallSolver {
 public:
  /// Room for small problems of no more velocities and contacts.
  void reserve(Index velocities, Index contacts) { problem_.reserve(velocities, contacts); }
  /// Takes on a problem's size.
  /// @pre  is_small(problem).
  void lay_out(const ContactProblem<Scalar>& problem) { problem_.lay_out(problem); }
  /// Whether the problem last laid out had as many velocities and contacts.
  [[nodiscard]] bool fits(const ContactProblem<Scalar>& problem) const noexcept {
    return problem_.size() == problem.velocity_count() && problem_.count() == problem.block_count();
  }

  /// Solves the problem laid out from a first guess, which is finite.
  /// @param impulse, contact_velocity  written, three numbers for each contact.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            const NewtonLimits<Scalar>& limits, Scalar* impulse,
                            Scalar* contact_velocity) noexcept {
    problem_.gather(problem, velocity);
    const auto report = iterate(problem, velocity, limits);
    for (Index k = 0; k < problem_.count(); ++k) {
      const Index row = 3 * problem_.contact_at(k);
      for (int c = 0; c < 3; ++c) {
        impulse[row + c] = problem_.array(SmallProblem<Scalar>::impulse + c)[k];
        contact_velocity[row + c] = problem_.array(SmallProblem<Scalar>::velocity + c)[k];
      }
    }
    return report;
  }

 private:
  SolveReport<Scalar> iterate(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                              const NewtonLimits<Scalar>& limits) noexcept;

  SmallProblem<Scalar> problem_;
};

// --- implementation ---

template <RealScalar Scalar>
SolveReport<Scalar> SmallSolver<Scalar>::iterate(const ContactProblem<Scalar>& problem,
                                                 VectorX<Scalar>& velocity,
                                                 const NewtonLimits<Scalar>& limits) noexcept {
  SmallState<Scalar> state(problem_);
  state.evaluate();
  SolveReport<Scalar> report;
  report.residual_target = limits.tolerance;
  report.status = SolveStatus::converged;
  const auto scale = [&] {
    return momentum_scale(state.free_squared, state.pushed_squared, state.gross_squared);
  };
  const auto met = [&] { return meets_tolerance(state.residual, scale(), limits.tolerance); };
  if (!met()) {
    report.status = SmallNewton<Scalar>(state, limits).solve(report.iterations);
    // A guess from which the numbers leave their range is returned as it was.
    if (state.residual <= (std::numeric_limits<Scalar>::max)()) {
      std::copy_n(problem_.vector(SmallProblem<Scalar>::whitened), velocity.size(),
                  velocity.data());
      problem.unwhiten(as_span(velocity));
    }
    if (met()) report.status = SolveStatus::converged;
  }
  finish_report(state.residual, scale(), report);
  return report;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
