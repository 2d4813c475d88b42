// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "carom/batch/batch_pattern.hpp"
#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Numbers of all problems of a batch, those of one problem side by side. A view.
/// @tparam Number  a scalar, const or not.
template <typename Number>
struct BatchArray {
  Number* data = nullptr;
  /// Numbers from the first of one problem to the first of the next; 0: all problems share them.
  Index stride = 0;
  const Index* offsets = nullptr;  ///< where each problem's begin; null: problem × stride.

  [[nodiscard]] CAROM_DEVICE Number* of(Index problem) const noexcept {
    return data + (offsets != nullptr ? offsets[problem] : problem * stride);
  }
};

/// Problems to be solved, each one time step with contact: what ContactProblem holds, in plain
/// arrays. The order of a problem's numbers is its pattern's; see BatchPattern.
template <RealScalar Scalar>
struct BatchView {
  Index count = 0;  ///< problems, ≥ 0
  const BatchPattern* patterns = nullptr;
  const int* pattern_numbers = nullptr;  ///< one for each problem; null: all have patterns[0].
  /// Length of `patterns`. A problem of another number than 0 to pattern_count − 1 is refused.
  int pattern_count = 1;

  BatchArray<const Scalar> mass{};           ///< A [kg, kg·m²], symmetric positive definite.
  BatchArray<const Scalar> free_velocity{};  ///< v* [m/s, rad/s], n_v.
  BatchArray<const Scalar> jacobian{};       ///< J [-, m]
  /// μ [-, m], ≥ 0: one of each friction contact, those of an ImpulseSet of other cones.
  BatchArray<const Scalar> friction{};
  /// R [1/kg, 1/(kg·m²)], > 0: (Rₜ, Rₙ) of each friction contact, one for each row of other blocks.
  /// That of a rigid block has no part in the answer.
  BatchArray<const Scalar> regularization{};
  BatchArray<const Scalar> bias{};  ///< v̂ [m/s, rad/s], one for each row.
  /// Of blocks that are no friction contacts [N·s, N·m·s]: the lower bounds and then the upper ones
  /// of intervals, which may be infinite; the shift of a cone. Null data: there are none.
  BatchArray<const Scalar> bounds{};
  BatchArray<const Scalar> guess{};  ///< v [m/s, rad/s], n_v; null data: v*.

  [[nodiscard]] CAROM_DEVICE int pattern_number(Index problem) const noexcept {
    return pattern_numbers != nullptr ? pattern_numbers[problem] : 0;
  }
  /// Whether the number of a problem's pattern is that of one.
  [[nodiscard]] CAROM_DEVICE bool has_pattern(Index problem) const noexcept {
    const int number = pattern_number(problem);
    return number >= 0 && number < pattern_count;
  }
  /// @pre  has_pattern(problem)
  [[nodiscard]] const BatchPattern& pattern(Index problem) const noexcept {
    return patterns[pattern_number(problem)];
  }
};

/// What is wrong with the numbers of a problem.
enum class BatchFault {
  none,
  mass,            ///< A is not positive definite, or not finite.
  free_velocity,   ///< not finite
  jacobian,        ///< not finite, or not zero where the pattern says so
  friction,        ///< negative, or not finite
  regularization,  ///< not positive, not finite, or not the same in rows bounded together
  bias,            ///< not finite
  bounds,          ///< nothing between them, or a shift that is not finite
  guess,           ///< not finite
  pattern,         ///< the number of its pattern is none; item: −1
};

/// The fault as a word for messages.
[[nodiscard]] constexpr const char* to_string(BatchFault fault) noexcept {
  constexpr const char* words[] = {"none",     "mass",           "free_velocity", "jacobian",
                                   "friction", "regularization", "bias",          "bounds",
                                   "guess",    "pattern"};
  return words[static_cast<int>(fault)];
}

/// How one problem ended.
template <RealScalar Scalar>
struct BatchProblemReport {
  SolveStatus status = SolveStatus::not_finite;
  int iterations = 0;  ///< of the island that took most
  /// ‖∇ℓ‖_{A⁻¹} relative to the momenta [-]; of rigid blocks also √(δᵀw⁻¹δ), δ by
  /// how much v̂ would have to move for the law to hold, w the inverse mass of a row.
  Scalar residual = 0;
  /// ‖∇ℓ‖_{A⁻¹} [√J], which ‖v − v_opt‖_A does not exceed; infinite under Coulomb's law and where
  /// a block is rigid.
  Scalar error_bound = 0;
  BatchFault fault = BatchFault::none;  ///< What is wrong with its numbers; then it is not solved.
  int item = -1;                        ///< Body or block of the fault.
};

/// Where the answers go. A problem without a pattern gets its report alone.
template <RealScalar Scalar>
struct BatchAnswers {
  BatchArray<Scalar> velocity{};  ///< v [m/s, rad/s], n_v.
  BatchArray<Scalar> impulse{};   ///< γ [N·s, N·m·s], one for each row; null data: not wanted.
  BatchProblemReport<Scalar>* reports = nullptr;  ///< One for each problem.
};

/// Slopes of a scalar c by the solution of each problem, and where its gradients by the data go, in
/// the order of the numbers of a BatchView. Null data: not given, or not wanted.
/// @pre  problems do not share numbers of gradients.
template <RealScalar Scalar>
struct BatchGradients {
  BatchArray<const Scalar> by_velocity{};  ///< ∂c/∂v, n_v; null data: c is one of impulses.
  BatchArray<const Scalar> by_impulse{};   ///< ∂c/∂γ, one for each row; null data: zero.

  BatchArray<Scalar> mass{};            ///< ∂c/∂A, symmetric
  BatchArray<Scalar> free_velocity{};   ///< ∂c/∂v*, n_v
  BatchArray<Scalar> jacobian{};        ///< ∂c/∂J, also where the pattern has zeros.
  BatchArray<Scalar> friction{};        ///< ∂c/∂μ
  BatchArray<Scalar> regularization{};  ///< ∂c/∂R
  BatchArray<Scalar> bias{};            ///< ∂c/∂v̂, one for each row
  BatchArray<Scalar> bounds{};          ///< by the bounds of intervals, the shift of a cone
  /// One for each problem. converged: its gradients have been written; not_finite: there are none,
  /// or a number that they need is not finite; else that of its solve. All but converged have
  /// zeros.
  SolveStatus* statuses = nullptr;
  /// Blocks of each problem on a boundary of two regions, as CoulombDerivative counts them with its
  /// default options: where there are any, the gradient is one-sided. 0 of a problem without a
  /// gradient. Null: not wanted.
  int* boundary_counts = nullptr;
};

}  // namespace CAROM_ABI
}  // namespace carom
