// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "carom/batch/batch_pattern.hpp"
#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A view of the numbers of all problems of a batch. The numbers of one problem are consecutive.
/// @tparam Number  a scalar, const or not.
template <typename Number>
struct BatchArray {
  Number* data = nullptr;
  /// Distance from the first number of one problem to the first of the next; 0: all problems share
  /// them.
  Index stride = 0;
  const Index* offsets = nullptr;  ///< start of each problem; null: problem × stride.

  [[nodiscard]] CAROM_DEVICE Number* of(Index problem) const noexcept {
    return data + (offsets != nullptr ? offsets[problem] : problem * stride);
  }
};

/// Problems of one time step with contact each: the contents of ContactProblem in plain arrays. The
/// pattern defines the order of a problem's numbers; see BatchPattern.
template <RealScalar Scalar>
struct BatchView {
  Index count = 0;  ///< problems, ≥ 0
  const BatchPattern* patterns = nullptr;
  const int* pattern_numbers = nullptr;  ///< one for each problem; null: all have patterns[0].
  /// Length of `patterns`. A problem whose pattern number is not in 0 to pattern_count − 1 is
  /// rejected.
  int pattern_count = 1;

  BatchArray<const Scalar> mass{};           ///< A [kg, kg·m²], symmetric positive definite.
  BatchArray<const Scalar> free_velocity{};  ///< v* [m/s, rad/s], n_v.
  BatchArray<const Scalar> jacobian{};       ///< J [-, m]
  /// μ [-, m], ≥ 0: one for each friction contact, and those of an ImpulseSet for other cones.
  BatchArray<const Scalar> friction{};
  /// R [1/kg, 1/(kg·m²)], > 0: (Rₜ, Rₙ) for each friction contact, one for each row of other
  /// blocks. R of a rigid block has no influence on the answer.
  BatchArray<const Scalar> regularization{};
  BatchArray<const Scalar> bias{};  ///< v̂ [m/s, rad/s], one for each row.
  /// For blocks that are not friction contacts [N·s, N·m·s]: for intervals, the lower bounds and
  /// then the upper bounds, which may be infinite; for a cone, the shift. Null data: there are
  /// none.
  BatchArray<const Scalar> bounds{};
  BatchArray<const Scalar> guess{};  ///< v [m/s, rad/s], n_v; null data: v*.

  [[nodiscard]] CAROM_DEVICE int pattern_number(Index problem) const noexcept {
    return pattern_numbers != nullptr ? pattern_numbers[problem] : 0;
  }
  /// Whether the pattern number of a problem is valid.
  [[nodiscard]] CAROM_DEVICE bool has_pattern(Index problem) const noexcept {
    const int number = pattern_number(problem);
    return number >= 0 && number < pattern_count;
  }
  /// @pre  has_pattern(problem)
  [[nodiscard]] const BatchPattern& pattern(Index problem) const noexcept {
    return patterns[pattern_number(problem)];
  }
};

/// The fault of the numbers of a problem.
enum class BatchFault {
  none,
  mass,            ///< A is not positive definite, or not finite.
  free_velocity,   ///< not finite
  jacobian,        ///< not finite, or not zero where the pattern requires zeros
  friction,        ///< negative, or not finite
  regularization,  ///< not positive, not finite, or not equal in rows that are bounded together
  bias,            ///< not finite
  bounds,          ///< empty interval, or a shift that is not finite
  guess,           ///< not finite
  pattern,         ///< invalid pattern number; item: −1
};

/// The fault as a word for messages.
[[nodiscard]] constexpr const char* to_string(BatchFault fault) noexcept {
  constexpr const char* words[] = {"none",     "mass",           "free_velocity", "jacobian",
                                   "friction", "regularization", "bias",          "bounds",
                                   "guess",    "pattern"};
  return words[static_cast<int>(fault)];
}

/// Result of one problem.
template <RealScalar Scalar>
struct BatchProblemReport {
  SolveStatus status = SolveStatus::not_finite;
  int iterations = 0;  ///< of the island with the most iterations
  /// ‖∇ℓ‖_{A⁻¹} relative to the momenta [-]. For rigid blocks also √(δᵀw⁻¹δ), where δ is the change
  /// of v̂ for which the law is satisfied, and w the inverse mass of a row.
  Scalar residual = 0;
  /// ‖∇ℓ‖_{A⁻¹} [√J], an upper bound of ‖v − v_opt‖_A. It is infinite under Coulomb's law and if a
  /// block is rigid.
  Scalar error_bound = 0;
  /// Fault of its numbers; a problem with a fault is not solved.
  BatchFault fault = BatchFault::none;
  int item = -1;  ///< Body or block of the fault.
};

/// Arrays for the answers. For a problem without a pattern, only the report is written.
template <RealScalar Scalar>
struct BatchAnswers {
  BatchArray<Scalar> velocity{};  ///< v [m/s, rad/s], n_v.
  BatchArray<Scalar> impulse{};   ///< γ [N·s, N·m·s], one for each row; null data: not written.
  BatchProblemReport<Scalar>* reports = nullptr;  ///< One for each problem.
};

/// Gradients of a scalar c by the solution of each problem, and arrays for its gradients by the
/// data, in the order of the numbers of a BatchView. Null data: not given, or not written.
/// @pre  problems do not share numbers of gradients.
template <RealScalar Scalar>
struct BatchGradients {
  BatchArray<const Scalar> by_velocity{};  ///< ∂c/∂v, n_v; null data: c depends on impulses only.
  BatchArray<const Scalar> by_impulse{};  ///< ∂c/∂γ, one for each row; null data: zero.

  BatchArray<Scalar> mass{};            ///< ∂c/∂A, symmetric
  BatchArray<Scalar> free_velocity{};   ///< ∂c/∂v*, n_v
  BatchArray<Scalar> jacobian{};        ///< ∂c/∂J, including the zeros of the pattern.
  BatchArray<Scalar> friction{};        ///< ∂c/∂μ
  BatchArray<Scalar> regularization{};  ///< ∂c/∂R
  BatchArray<Scalar> bias{};            ///< ∂c/∂v̂, one for each row
  BatchArray<Scalar> bounds{};          ///< by the bounds of intervals, or by the shift of a cone
  /// One for each problem. converged: its gradients are written. not_finite: there are no
  /// gradients, or a number for them is not finite. Otherwise it is the status of the solve. All
  /// gradients except those of converged problems are zeros.
  SolveStatus* statuses = nullptr;
  /// Count of blocks of each problem on a boundary of two regions, as in CoulombDerivative with its
  /// default options. If there are any, the gradient is one-sided. 0 for a problem without a
  /// gradient. Null: not written.
  int* boundary_counts = nullptr;
};

}  // namespace CAROM_ABI
}  // namespace carom
