// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>

#include "carom/variational/step_derivative.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Second derivatives of the step map (q₀, p₀) → (q₁, p₁), for Newton methods in optimal control.
///
/// The linear equations of StepDerivative are differentiated once more. Their matrix is factored
/// once: left₁ d²q₁ + C₀ᵀ d²λ = −(d left₀ dq₀ + d left₁ dq₁ + dC₀ᵀ dλ), C₁ d²q₁ = −dC₁ dq₁. The
/// changes d of the matrices come from the lifted system at (q₁ + Y dx), four directions per
/// evaluation.
/// @cite  johnson2015structured, for first and second derivatives of midpoint steps
template <LagrangianSystemLike System, LiftedSystemLike<System> Lifted>
class StepCurvature {
 public:
  using Scalar = typename System::scalar_type;
  using Number = SlopeNumber<System>;

  explicit StepCurvature(const StepOptions<Scalar>& options = {}) noexcept
      : derivative_(options),
        action_(Quadrature<Number>{options.quadrature.alpha, options.quadrature.symmetric}) {}

  /// Cold: allocates.
  void prepare(const System& system, const Lifted& lifted) {
    CAROM_EXPECTS(system.size() == lifted.size());
    const Index n = system.size();
    derivative_.prepare(system);
    action_.prepare(lifted);
    constraints_.prepare(lifted);
    const Index rows = Constraints::count(lifted);
    for (VectorX<Number>* v : {&q0_, &q1_}) v->setConstant(n, Number());
    multipliers_.setConstant(rows, Number());
    curvature_.setConstant(n, n, Number());
    gradients_now_.setConstant(rows, n, Number());
    first_.setZero(2 * n, 2 * n);
    column_.setZero(n + derivative_.solver().multipliers().size());
  }

  /// Solves the step from `now` of length h and writes its first and second derivatives.
  /// @param guess  start of q₁, for example the state's own q.
  /// @param second  2n matrices 2n×2n; the k-th is the derivative by x_k, x = (q₀, p₀), of the
  ///                2n×2n matrix that StepDerivative writes.
  /// @pre   No contact is constrained: the multipliers are those of the constraints.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  SolveReport<Scalar> evaluate(const System& system, const Lifted& lifted,
                               const MechanicalState<Scalar>& now, const Scalar& h,
                               const VectorX<Scalar>& guess,
                               std::span<MatrixX<Scalar>> second) noexcept {
    const Index n = system.size();
    CAROM_EXPECTS(Index(second.size()) == 2 * n && derivative_.solver().held().empty());
    const SolveReport<Scalar> report = derivative_.evaluate(system, now, h, guess, first_);
    if (!report.converged()) return report;
    for (Index begin = 0; begin < 2 * n; begin += Number::inners) {
      const Index end = std::min<Index>(begin + Number::inners, 2 * n);
      move(now, begin, end);
      action_.write_all(lifted, q0_, q1_, Number(now.time), Number(h));
      constraints_.write_gradients(lifted, q0_);
      gradients_now_ = constraints_.gradients;
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) curvature_(i, j) = Number();
      }
      constraints_.add_curvature(lifted, q0_, multipliers_, curvature_);
      constraints_.write_gradients(lifted, q1_);
      for (Index d = begin; d < end; ++d) {
        for (Index c = 0; c < 2 * n; ++c) write_column(c, d - begin, second[std::size_t(d)]);
      }
    }
    return report;
  }

  /// Derivative of the last step, 2n×2n.
  [[nodiscard]] const MatrixX<Scalar>& first() const noexcept { return first_; }

  [[nodiscard]] StepDerivative<System>& derivative() noexcept { return derivative_; }

 private:
  using Constraints = LevelFunctions<Lifted, LevelKind::constraints>;

  /// The ends of the step and the multipliers with their changes along the directions begin..end.
  void move(const MechanicalState<Scalar>& now, Index begin, Index end) noexcept {
    const Index n = now.q.size();
    for (Index i = 0; i < n; ++i) {
      q0_(i) = Number(now.q(i));
      q1_(i) = Number(derivative_.solver().q_next()(i));
      for (Index d = begin; d < end; ++d) {
        q0_(i).inner(d - begin) = d == i ? Scalar(1) : Scalar(0);
        q1_(i).inner(d - begin) = first_(i, d);
      }
    }
    for (Index k = 0; k < multipliers_.size(); ++k) {
      multipliers_(k) = Number(derivative_.solver().multipliers()(k));
      for (Index d = begin; d < end; ++d) {
        multipliers_(k).inner(d - begin) = derivative_.multiplier_slopes()(k, d);
      }
    }
  }

  /// Column c of the derivative along the direction in slot d.
  void write_column(Index c, Index d, MatrixX<Scalar>& out) noexcept {
    const Index n = q0_.size(), rows = multipliers_.size();
    const MatrixX<Scalar>& slopes = derivative_.multiplier_slopes();
    for (Index i = 0; i < n; ++i) {
      Scalar sum = 0;
      if (c < n) sum += action_.left_by_0(i, c).inner(d) + curvature_(i, c).inner(d);
      for (Index j = 0; j < n; ++j) sum += action_.left_by_1(i, j).inner(d) * first_(j, c);
      for (Index k = 0; k < rows; ++k) sum += gradients_now_(k, i).inner(d) * slopes(k, c);
      column_(i) = -sum;
    }
    for (Index k = 0; k < rows; ++k) {
      Scalar sum = 0;
      for (Index j = 0; j < n; ++j) sum += constraints_.gradients(k, j).inner(d) * first_(j, c);
      column_(n + k) = -sum;
    }
    derivative_.solve_linearized(column_);
    const auto& base = derivative_.solver().action();
    for (Index i = 0; i < n; ++i) {
      Scalar sum = c < n ? action_.right_by_0(i, c).inner(d) : Scalar(0);
      for (Index j = 0; j < n; ++j) {
        sum +=
            action_.right_by_1(i, j).inner(d) * first_(j, c) + base.right_by_1(i, j) * column_(j);
      }
      out(i, c) = column_(i);
      out(n + i, c) = sum;
    }
  }

  StepDerivative<System> derivative_;
  DiscreteLagrangian<Lifted> action_;
  Constraints constraints_;
  VectorX<Number> q0_, q1_, multipliers_;
  MatrixX<Number> curvature_, gradients_now_;
  MatrixX<Scalar> first_;
  VectorX<Scalar> column_;
};

}  // namespace CAROM_ABI
}  // namespace carom
