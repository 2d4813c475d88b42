// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Why a solver stopped. Every solver in the library ends with one of these.
enum class SolveStatus {
  converged,        ///< Residual at or below its target.
  iteration_limit,  ///< Budget spent; the best iterate is returned.
  no_progress,      ///< Round-off floor reached above the target; the best iterate is returned.
  deadline,         ///< The time of SolveLimits is over; the best iterate is returned.
  infeasible,       ///< No answer exists, and the solver has a proof.
  not_finite,       ///< NaN or infinity met; the output is left at the last finite iterate.
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

/// What the residual of a report measures; `tolerance` in the options of a solver means the same.
/// Solvers of contact name one of the first two, whose value certify() finds again from the answer.
enum class ResidualMeasure {
  /// How far the momentum A (v − v*) is from the impulses Jᵀγ, in the norm of A⁻¹ and relative to
  /// both [-]: ContactCertificate::residual.
  momentum_balance,
  /// How far impulses and their velocities are from the law that binds them, relative to both [-]:
  /// natural_map_error of ImpulseCertificate and ContactCertificate.
  natural_map,
  /// How far the worst block is from its law, and the worst body from its momentum, each relative
  /// to what that block's own bodies do [-]: AnswerError::residual.
  block_error,
  /// Another one, which the solver's own documentation names with its unit.
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

/// Outcome of one solve. The iterate itself stays with the caller; this says how far to trust it.
template <RealScalar Scalar>
struct [[nodiscard]] SolveReport {
  SolveStatus status = SolveStatus::not_finite;
  int iterations = 0;          ///< Outer iterations taken.
  Scalar residual = 0;         ///< Norm of the optimality residual [unit of its measure].
  Scalar residual_target = 0;  ///< Value the residual was asked to reach, same unit.
  Scalar error_bound = 0;      ///< Proven bound on the distance to the exact answer
                               ///< [unit named by the solver]; infinite where none is known.
  ResidualMeasure measure = ResidualMeasure::own;  ///< What `residual` is.
  Index worst_block = -1;      ///< Block with the largest error; −1 where the measure has none.
  Scalar deepest_overlap = 0;  ///< Of ContactSolver: how deep the bodies of the deepest contact are
                               ///< in each other before the step [m], ≥ 0.

  [[nodiscard]] constexpr bool converged() const noexcept {
    return status == SolveStatus::converged;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
