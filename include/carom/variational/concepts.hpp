// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include "carom/core/scalar.hpp"
#include "carom/linalg/detail/second_order.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A Lagrangian L(q, v, t) with its derivatives at one point.
template <RealScalar Scalar>
struct LagrangianDerivatives {
  Scalar value = 0;       ///< L [J]
  VectorX<Scalar> by_q;   ///< ∂L/∂q, n
  VectorX<Scalar> by_v;   ///< ∂L/∂v, n: the momentum
  MatrixX<Scalar> by_qq;  ///< ∂²L/∂q∂q, n×n
  MatrixX<Scalar> by_qv;  ///< entry (i, j) is ∂²L/∂q_i∂v_j, n×n
  MatrixX<Scalar> by_vv;  ///< ∂²L/∂v∂v, n×n: the mass matrix

  /// Cold: allocates.
  void resize(Index size) {
    for (VectorX<Scalar>* vector : {&by_q, &by_v}) vector->setZero(size);
    for (MatrixX<Scalar>* matrix : {&by_qq, &by_qv, &by_vv}) matrix->setZero(size, size);
  }
};

/// Number types that differentiate a function twice, and once. The function is written once.
template <typename System>
using DerivativeNumber = SecondOrder<typename System::scalar_type>;
template <typename System>
using SlopeNumber = FirstOrder<typename System::scalar_type>;

// clang-format 14 breaks compound requirements over lines, so this part is formatted by hand.
// clang-format off

/// The requirements on each mechanical system: its number type and its count of coordinates.
template <typename System>
concept SizedSystemLike =
    RealScalar<typename System::scalar_type> &&
    requires(const System& system) { { system.size() } -> std::same_as<Index>; };

/// (a) A Lagrangian written once, `lagrangian(q, v, t)` for any number type; the library
/// differentiates it. Law: the function is twice differentiable. It makes no vectors of its own if
/// steps must not allocate.
template <typename System>
concept TemplatedLagrangianLike =
    SizedSystemLike<System> &&
    requires(const System& system, const VectorX<DerivativeNumber<System>>& q,
             DerivativeNumber<System> t) {
      { system.lagrangian(q, q, t) } -> std::convertible_to<DerivativeNumber<System>>;
    };

/// (b) L = ½ vᵀM(q)v − V(q) by its parts: mass matrix, potential, gradient and Hessian of the
/// potential. A varying mass matrix also needs its derivatives, see VaryingMassLike.
template <typename System>
concept MassPotentialLike =
    SizedSystemLike<System> &&
    requires(const System& system, const VectorX<typename System::scalar_type>& q,
             VectorX<typename System::scalar_type>& vector,
             MatrixX<typename System::scalar_type>& matrix) {
      { system.write_mass(q, matrix) } noexcept;
      { system.potential(q) } noexcept -> std::convertible_to<typename System::scalar_type>;
      { system.write_potential_gradient(q, vector) } noexcept;
      { system.write_potential_hessian(q, matrix) } noexcept;
    };

/// ∂M/∂q_i and ∂²M/∂q_i∂q_j of a varying mass matrix.
template <typename System>
concept VaryingMassLike =
    MassPotentialLike<System> &&
    requires(const System& system, const VectorX<typename System::scalar_type>& q, Index i,
             MatrixX<typename System::scalar_type>& matrix) {
      { system.write_mass_slope(q, i, matrix) } noexcept;
      { system.write_mass_curvature(q, i, i, matrix) } noexcept;
    };

/// (c) All derivatives at once, for systems that compute them faster themselves. write_lagrangian
/// writes value, by_q and by_v; write_lagrangian_curvature writes everything.
template <typename System>
concept LagrangianDerivativesLike =
    SizedSystemLike<System> &&
    requires(const System& system, const VectorX<typename System::scalar_type>& q,
             typename System::scalar_type t,
             LagrangianDerivatives<typename System::scalar_type>& out) {
      { system.write_lagrangian(q, q, t, out) } noexcept;
      { system.write_lagrangian_curvature(q, q, t, out) } noexcept;
    };

/// A system the variational stepper can advance.
template <typename System>
concept LagrangianSystemLike = TemplatedLagrangianLike<System> || MassPotentialLike<System> ||
                               LagrangianDerivativesLike<System>;

/// Optional: forces f(q, v, t) without a potential, written once for any number type.
template <typename System>
concept TemplatedForceLike =
    SizedSystemLike<System> &&
    requires(const System& system, const VectorX<SlopeNumber<System>>& q,
             SlopeNumber<System> t, VectorX<SlopeNumber<System>>& out) {
      system.force(q, q, t, out);
    };

/// Optional: the same with derivatives ∂f/∂q, ∂f/∂v written by the user.
template <typename System>
concept WrittenForceLike =
    SizedSystemLike<System> &&
    requires(const System& system, const VectorX<typename System::scalar_type>& q,
             typename System::scalar_type t, VectorX<typename System::scalar_type>& vector,
             MatrixX<typename System::scalar_type>& matrix) {
      { system.write_force(q, q, t, vector, matrix, matrix) } noexcept;
    };

/// Optional: holonomic constraints c(q) = 0, `constraint_count()` of them.
template <typename System>
concept ConstrainedSystemLike =
    SizedSystemLike<System> &&
    requires(const System& system) { { system.constraint_count() } -> std::same_as<Index>; };

/// Optional: unilateral contacts ϕ(q) ≥ 0, `gap_count()` of them.
template <typename System>
concept ContactSystemLike =
    SizedSystemLike<System> &&
    requires(const System& system) { { system.gap_count() } -> std::same_as<Index>; };

/// Constraints with gradients written by the user.
template <typename System>
concept WrittenConstraintsLike =
    SizedSystemLike<System> &&
    requires(const System& system, const VectorX<typename System::scalar_type>& q,
             VectorX<typename System::scalar_type>& vector,
             MatrixX<typename System::scalar_type>& matrix) {
      system.write_constraints(q, vector);
      system.write_constraint_gradients(q, matrix);
    };

/// Gaps with gradients written by the user.
template <typename System>
concept WrittenGapsLike =
    SizedSystemLike<System> &&
    requires(const System& system, const VectorX<typename System::scalar_type>& q,
             VectorX<typename System::scalar_type>& vector,
             MatrixX<typename System::scalar_type>& matrix) {
      system.write_gaps(q, vector);
      system.write_gap_gradients(q, matrix);
    };

/// Optional: friction in contacts that are closed by a constraint. `friction(contact)` is μ
/// [-], ≥ 0; `write_tangents(q, contact, out)` writes the gradients of the contact's two tangential
/// positions [-, m] to the two rows of `out`, 2×n. In the plane the second row is zero. Law: the
/// gap is a distance, and its gradient has the same length as those of the tangential positions.
template <typename System>
concept FrictionalSystemLike =
    LagrangianSystemLike<System> &&
    requires(const System& system, const VectorX<typename System::scalar_type>& q, Index contact,
             MatrixX<typename System::scalar_type>& out) {
      { system.friction(contact) } -> std::convertible_to<typename System::scalar_type>;
      { system.write_tangents(q, contact, out) } noexcept;
    };

/// The same system in the numbers that differentiate it: Pendulum<FirstOrder<double>> for
/// Pendulum<double>. Its second derivatives, computed in these numbers, contain the third
/// derivatives.
template <typename Lifted, typename System>
concept LiftedSystemLike = LagrangianSystemLike<System> && LagrangianSystemLike<Lifted> &&
    std::same_as<typename Lifted::scalar_type, SlopeNumber<System>>;

// clang-format on

}  // namespace CAROM_ABI
}  // namespace carom
