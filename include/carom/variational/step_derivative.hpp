// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/variational/detail/step_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivative of the step map (q₀, p₀) → (q₁, p₁), for linearised optimal control and for a check
/// that the map is symplectic: YᵀΩY = Ω without forces.
///
/// By the implicit function theorem on the step's equations: left₁ dq₁ + C₀ᵀ
/// dλ = −(dp₀ + (left₀ + Σ λ_k ∇²c_k) dq₀), C₁ dq₁ = 0, dp₁ = right₀ dq₀ + right₁ dq₁. With
/// constraints, p₁ still contains its part along C₁ᵀ, which has no influence on the next step.
template <LagrangianSystemLike System>
class StepDerivative {
 public:
  using Scalar = typename System::scalar_type;

  explicit StepDerivative(const StepOptions<Scalar>& options = {}) noexcept : solver_(options) {}

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size();
    solver_.prepare(system);
    const Index rows = solver_.multipliers().size();
    curvature_.setZero(n, n);
    column_.setZero(n + rows);
    multiplier_slopes_.setZero(rows, 2 * n);
  }

  /// Solves the step from `now` of length h and writes its derivative.
  /// @param guess  start of q₁, for example the state's own q.
  /// @param out    2n×2n in blocks [∂q₁/∂q₀, ∂q₁/∂p₀; ∂p₁/∂q₀, ∂p₁/∂p₀].
  /// @note  Real-time safe once prepared: no allocation, no exception.
  SolveReport<Scalar> evaluate(const System& system, const MechanicalState<Scalar>& now,
                               const Scalar& h, const VectorX<Scalar>& guess,
                               MatrixX<Scalar>& out) noexcept {
    const Index n = system.size();
    CAROM_EXPECTS(out.rows() == 2 * n && out.cols() == 2 * n);
    SolveReport<Scalar> report = solver_.solve(system, now, h, guess);
    if (!report.converged()) return report;
    auto& action = solver_.action();
    const Index rows = solver_.rows(system);
    action.write_all(system, now.q, solver_.q_next(), now.time, h);
    curvature_.setZero();
    solver_.constraints().add_curvature(system, now.q, solver_.multipliers(), curvature_);
    if (!solver_.factor(rows)) {
      report.status = SolveStatus::no_progress;
      return report;
    }
    for (Index c = 0; c < 2 * n; ++c) write_column(c, rows, out);
    return report;
  }

  [[nodiscard]] StepSolver<System>& solver() noexcept { return solver_; }

  /// ∂λ/∂(q₀, p₀) of the last step, one row per constraint and constrained contact, 2n columns.
  [[nodiscard]] const MatrixX<Scalar>& multiplier_slopes() const noexcept {
    return multiplier_slopes_;
  }
  /// Solves the step's linear equations of the last evaluation in place.
  /// @param x  n right-hand sides of (q₁, p₀), then one per row; becomes (dq₁, dλ).
  void solve_linearized(VectorX<Scalar>& x) noexcept { solver_.solve_linearized(x); }

 private:
  void write_column(Index c, Index rows, MatrixX<Scalar>& out) noexcept {
    const Index n = out.rows() / 2;
    const auto& action = solver_.action();
    column_.head(n + rows).setZero();
    for (Index i = 0; i < n; ++i) {
      if (c < n) column_(i) = -(action.left_by_0(i, c) + curvature_(i, c));
      if (c == n + i) column_(i) = -1;
    }
    solve_linearized(column_);
    for (Index k = 0; k < rows; ++k) multiplier_slopes_(k, c) = column_(n + k);
    for (Index i = 0; i < n; ++i) {
      out(i, c) = column_(i);
      out(n + i, c) = c < n ? action.right_by_0(i, c) : Scalar(0);
      for (Index j = 0; j < n; ++j) out(n + i, c) += action.right_by_1(i, j) * column_(j);
    }
  }

  StepSolver<System> solver_;
  MatrixX<Scalar> curvature_, multiplier_slopes_;
  VectorX<Scalar> column_;
};

}  // namespace CAROM_ABI
}  // namespace carom
