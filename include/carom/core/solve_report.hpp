// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Why a solver stopped. Every solver in the library ends with one of these.
enum class SolveStatus {
  converged,        ///< Residual at or below its target.
  iteration_limit,  ///< Limit reached; the best iterate is returned.
  no_progress,      ///< Round-off prevents a residual at the target; the best iterate is returned.
  deadline,         ///< The time limit of SolveLimits is reached; the best iterate is returned.
  infeasible,       ///< No answer exists; the solver has a proof.
  not_finite,       ///< NaN or infinity found; the output is the last finite iterate.
};

/// The status as a word for messages and files.
[[nodiscard]] constexpr const char* to_string(SolveStatus status) noexcept {
  switch (status) {
    case SolveStatus::converged:
      return "converged";
    case SolveStatus::iteration_limit:
      return "iteration_limit";
    case SolveStatus::no_progress:
      return "no_progress";
    case SolveStatus::deadline:
      return "deadline";
    case SolveStatus::infeasible:
      return "infeasible";
    case SolveStatus::not_finite:
      return "not_finite";
  }
  return "unknown";
}

/// The meaning of the residual in a report. `tolerance` in the options of a solver has the same
/// meaning. Contact solvers use one of the first two measures; certify() recomputes their value
/// from the answer.
enum class ResidualMeasure {
  /// Difference between the momentum A (v − v*) and the impulses Jᵀγ, in the norm of A⁻¹ and
  /// relative to both [-]: ContactCertificate::residual.
  momentum_balance,
  /// Error of impulses and velocities in their contact law, relative to both [-]: natural_map_error
  /// of ImpulseCertificate and ContactCertificate.
  natural_map,
  /// Error of the worst block in its law, and of the worst body in its momentum, each relative to
  /// the size of the terms of that block's bodies [-]: AnswerError::residual.
  block_error,
  /// Another measure. The documentation of the solver states it with its unit.
  own,
};

/// The measure as words for messages and files.
[[nodiscard]] constexpr const char* to_string(ResidualMeasure measure) noexcept {
  switch (measure) {
    case ResidualMeasure::momentum_balance:
      return "momentum_balance";
    case ResidualMeasure::natural_map:
      return "natural_map";
    case ResidualMeasure::block_error:
      return "block_error";
    case ResidualMeasure::own:
      return "own";
  }
  return "unknown";
}

/// Outcome of one solve. The caller owns the iterate; the report states its accuracy.
template <RealScalar Scalar>
struct [[nodiscard]] SolveReport {
  SolveStatus status = SolveStatus::not_finite;
  int iterations = 0;          ///< Count of outer iterations.
  Scalar residual = 0;         ///< Norm of the optimality residual [unit of its measure].
  Scalar residual_target = 0;  ///< Target of the residual, same unit.
  /// Proven bound on the distance to the exact answer [unit stated by the solver]; infinite if no
  /// bound is known.
  Scalar error_bound = 0;
  ResidualMeasure measure = ResidualMeasure::own;  ///< What `residual` is.
  Index worst_block = -1;  ///< Block with the largest error; −1 if the measure has none.
  /// ContactSolver only: overlap of the deepest contact before the step [m], ≥ 0.
  Scalar deepest_overlap = 0;

  [[nodiscard]] constexpr bool converged() const noexcept {
    return status == SolveStatus::converged;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
