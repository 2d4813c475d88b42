// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/variational/detail/evaluators.hpp"
#include "carom/variational/step_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Discrete Lagrangian L_d(q₀, q₁, h) = h L(q_α, (q₁ − q₀)/h, t₀ + α h) with its derivatives and
/// the discrete forces. The step equations are p₀ + left = 0 and p₁ = right.
///
/// left = D₁L_d + f⁻ and right = D₂L_d + f⁺ with f⁻ = (1−α) h f and f⁺ = α h f. For the midpoint,
/// each side has h/2.
/// @note  Real-time safe once prepared, if the system's functions are: no allocation, no exception.
/// @cite  marsden2001discrete, sections 2.3.1 and 3.2.3 (2.6.1 for the symmetric form)
template <LagrangianSystemLike System>
class DiscreteLagrangian {
 public:
  using Scalar = typename System::scalar_type;

  VectorX<Scalar> left, right;  ///< n [N·s]
  /// ∂left/∂h at fixed ends, without the dependence of L on t, n [N]
  VectorX<Scalar> left_by_step;
  /// ∂right/∂h at fixed ends, without the dependence of L on t, n [N]
  VectorX<Scalar> right_by_step;
  MatrixX<Scalar> left_by_0, left_by_1;    ///< ∂left/∂q₀, ∂left/∂q₁, n×n
  MatrixX<Scalar> right_by_0, right_by_1;  ///< ∂right/∂q₀, ∂right/∂q₁, n×n

  explicit DiscreteLagrangian(const Quadrature<Scalar>& quadrature = {}) noexcept
      : quadrature_(quadrature) {
    CAROM_EXPECTS(quadrature.alpha >= Scalar(0) && quadrature.alpha <= Scalar(1));
  }

  /// Cold: allocates.
  void prepare(const System& system) {
    const Index n = system.size();
    lagrangian_.prepare(system);
    force_.prepare(system);
    at_.resize(n);
    for (VectorX<Scalar>* v : {&left, &right, &left_by_step, &right_by_step, &q_, &v_}) {
      v->setZero(n);
    }
    for (MatrixX<Scalar>* m : {&left_by_0, &left_by_1, &right_by_0, &right_by_1}) m->setZero(n, n);
  }

  /// Writes left and right, and the discrete Lagrangian's value.
  /// @param t0  time at q₀ [s].
  /// @param h   step [s], not zero; a negative step goes back in time.
  void write_slopes(const System& system, const VectorX<Scalar>& q0, const VectorX<Scalar>& q1,
                    const Scalar& t0, const Scalar& h) noexcept {
    clear_slopes();
    for_each_node([&](const Scalar& alpha, const Scalar& weight) {
      place(q0, q1, alpha, h);
      lagrangian_.write_gradient(system, q_, v_, t0 + alpha * h, at_);
      force_.evaluate(system, q_, v_, t0 + alpha * h);
      add_slopes(alpha, weight, h);
    });
  }

  /// The same with left_by_1 and left_by_step for a Newton step.
  void write_newton(const System& system, const VectorX<Scalar>& q0, const VectorX<Scalar>& q1,
                    const Scalar& t0, const Scalar& h) noexcept {
    clear_slopes();
    left_by_1.setZero();
    left_by_step.setZero();
    for_each_node([&](const Scalar& alpha, const Scalar& weight) {
      read_node(system, q0, q1, t0, alpha, h);
      add_slopes(alpha, weight, h);
      add_curvature(weight * h * (1 - alpha), -weight, alpha, 1 / h, left_by_1);
      add_step_slope(weight * (1 - alpha), weight, h, left_by_step);
    });
  }

  /// The same with all four matrices and both derivatives by the step.
  void write_all(const System& system, const VectorX<Scalar>& q0, const VectorX<Scalar>& q1,
                 const Scalar& t0, const Scalar& h) noexcept {
    clear_slopes();
    for (MatrixX<Scalar>* m : {&left_by_0, &left_by_1, &right_by_0, &right_by_1}) m->setZero();
    left_by_step.setZero();
    right_by_step.setZero();
    for_each_node([&](const Scalar& alpha, const Scalar& weight) {
      read_node(system, q0, q1, t0, alpha, h);
      add_slopes(alpha, weight, h);
      add_step_slope(weight * (1 - alpha), weight, h, left_by_step);
      add_step_slope(weight * alpha, -weight, h, right_by_step);
      const Scalar before = weight * h * (1 - alpha), after = weight * h * alpha;
      add_curvature(before, -weight, alpha, 1 / h, left_by_1);
      add_curvature(before, -weight, 1 - alpha, -1 / h, left_by_0);
      add_curvature(after, weight, alpha, 1 / h, right_by_1);
      add_curvature(after, weight, 1 - alpha, -1 / h, right_by_0);
    });
  }

  [[nodiscard]] const Quadrature<Scalar>& quadrature() const noexcept { return quadrature_; }

 private:
  template <typename Action>
  void for_each_node(const Action& action) const noexcept {
    if (!quadrature_.symmetric) {
      action(quadrature_.alpha, Scalar(1));
      return;
    }
    action(quadrature_.alpha, Scalar(1) / 2);
    action(1 - quadrature_.alpha, Scalar(1) / 2);
  }

  void clear_slopes() noexcept {
    left.setZero();
    right.setZero();
  }

  void place(const VectorX<Scalar>& q0, const VectorX<Scalar>& q1, const Scalar& alpha,
             const Scalar& h) noexcept {
    for (Index i = 0; i < q_.size(); ++i) {
      q_(i) = q0(i) + alpha * (q1(i) - q0(i));
      v_(i) = (q1(i) - q0(i)) / h;
    }
  }

  void read_node(const System& system, const VectorX<Scalar>& q0, const VectorX<Scalar>& q1,
                 const Scalar& t0, const Scalar& alpha, const Scalar& h) noexcept {
    place(q0, q1, alpha, h);
    lagrangian_.write_curvature(system, q_, v_, t0 + alpha * h, at_);
    force_.evaluate(system, q_, v_, t0 + alpha * h);
  }

  void add_slopes(const Scalar& alpha, const Scalar& weight, const Scalar& h) noexcept {
    const Scalar before = weight * h * (1 - alpha), after = weight * h * alpha;
    for (Index i = 0; i < q_.size(); ++i) {
      Scalar push = at_.by_q(i);
      if constexpr (ForceEvaluator<System>::present) push += force_.value(i);
      left(i) += before * push - weight * at_.by_v(i);
      right(i) += after * push + weight * at_.by_v(i);
    }
  }

  /// Adds a (∂(L_q + f)/∂q x + ∂(L_q + f)/∂v y) + b (∂L_v/∂q x + ∂L_v/∂v y).
  void add_curvature(const Scalar& a, const Scalar& b, const Scalar& x, const Scalar& y,
                     MatrixX<Scalar>& out) const noexcept {
    const Scalar ax = a * x, ay = a * y, bx = b * x, by = b * y;
    const Index n = q_.size();
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        out(i, j) += ax * at_.by_qq(i, j) + ay * at_.by_qv(i, j) + bx * at_.by_qv(j, i) +
                     by * at_.by_vv(i, j);
        if constexpr (ForceEvaluator<System>::present) {
          out(i, j) += ax * force_.by_q(i, j) + ay * force_.by_v(i, j);
        }
      }
    }
  }

  /// Adds share (L_q + f) + (inertia ∂L_v/∂v/h − share ∂(L_q + f)/∂v) v: dv/dh = −v/h at fixed
  /// ends.
  void add_step_slope(const Scalar& share, const Scalar& inertia, const Scalar& h,
                      VectorX<Scalar>& out) const noexcept {
    const Index n = q_.size();
    for (Index i = 0; i < n; ++i) {
      Scalar push = at_.by_q(i);
      if constexpr (ForceEvaluator<System>::present) push += force_.value(i);
      out(i) += share * push;
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        Scalar by_v = at_.by_qv(i, j);
        if constexpr (ForceEvaluator<System>::present) by_v += force_.by_v(i, j);
        out(i) += (inertia * at_.by_vv(i, j) / h - share * by_v) * v_(j);
      }
    }
  }

  Quadrature<Scalar> quadrature_;
  LagrangianEvaluator<System> lagrangian_;
  ForceEvaluator<System> force_;
  LagrangianDerivatives<Scalar> at_;
  VectorX<Scalar> q_, v_;
};

}  // namespace CAROM_ABI
}  // namespace carom
