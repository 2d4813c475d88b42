// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/constraint_primal.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/contact/curvature.hpp"

namespace carom::inline CAROM_ABI {

/// @file
/// The convex problem in velocities: ℓ(v) = ½‖v − v*‖²_A + ½‖P(y(v))‖²_R, y(v) = −R⁻¹(J v − v̂),
/// with derivatives, inverse dynamics, and the conic form it is equivalent to. Contact vectors are
/// stacked triples (t₁, t₂, n), 3 n_c long, and then the rows of the constraints that are not
/// contacts, whose cost is that of constraint_primal.hpp.
/// @cite  castro2021unconstrained, conic primal and unconstrained problem.

/// J v of one contact [m/s].
template <RealScalar Scalar, typename VectorType>
[[nodiscard]] Vector3<Scalar> contact_velocity(
    const ContactProblem<Scalar>& problem, Index contact,
    const Eigen::MatrixBase<VectorType>& velocity) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  Vector3<Scalar> result = Vector3<Scalar>::Zero();
  for (int side = 0; side < problem.side_count(contact); ++side) {
    const auto [start, size] = problem.body(problem.side_body(contact, side));
    const auto block = problem.jacobian(contact, side);
    for (int row = 0; row < 3; ++row) {
      result(row) += block.col(row).dot(velocity.segment(start, size));
    }
  }
  return result;
}

/// What an imbalance of momenta is relative to [√J]: the larger of ‖v*‖_A and ‖Jᵀγ‖_{A⁻¹}, and,
/// where impulses cancel each other, what their sum is rounded to.
/// @param gross_squared  Σ ‖Jₖ‖²_{A⁻¹} γₖ² over all rows k.
template <RealScalar Scalar>
[[nodiscard]] Scalar momentum_scale(const Scalar& free_squared, const Scalar& pushed_squared,
                                    const Scalar& gross_squared) noexcept {
  using std::sqrt;
  return sqrt((free_squared > pushed_squared ? free_squared : pushed_squared) +
              std::numeric_limits<Scalar>::epsilon() * gross_squared);
}

/// Σ ‖Jₖ‖²_{A⁻¹} γₖ² over the rows of one contact [J].
template <RealScalar Scalar>
[[nodiscard]] Scalar gross_momentum_squared(const ContactProblem<Scalar>& problem, Index contact,
                                            const Vector3<Scalar>& impulse) noexcept {
  Scalar sum = 0;
  for (int side = 0; side < problem.side_count(contact); ++side) {
    const auto block = problem.whitened_jacobian(contact, side);
    for (int row = 0; row < 3; ++row) {
      sum += block.col(row).squaredNorm() * impulse(row) * impulse(row);
    }
  }
  return sum;
}

/// y = −R⁻¹(v_c − v̂) of one contact [N·s], the impulse it would take without its cone.
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> trial_impulse(const ContactProblem<Scalar>& problem, Index contact,
                                            const Vector3<Scalar>& contact_velocity) noexcept {
  const auto [tangent, normal] = problem.regularization(contact);
  const Vector3<Scalar> excess = problem.bias_velocity(contact) - contact_velocity;
  return {excess.x() / tangent, excess.y() / tangent, excess.z() / normal};
}

/// Inverse dynamics of one contact: γ = P(y(v)) [N·s].
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> contact_impulse(const ContactProblem<Scalar>& problem, Index contact,
                                              const VectorX<Scalar>& velocity) noexcept {
  return project(problem.cone(contact), problem.regularization(contact),
                 trial_impulse(problem, contact, contact_velocity(problem, contact, velocity)))
      .point;
}

/// Adds Jᵀ γ of one contact to a momentum.
template <RealScalar Scalar, typename VectorType>
void add_contact_momentum(const ContactProblem<Scalar>& problem, Index contact,
                          const Vector3<Scalar>& impulse, VectorType& momentum) noexcept {
  for (int side = 0; side < problem.side_count(contact); ++side) {
    const auto [start, size] = problem.body(problem.side_body(contact, side));
    const auto block = problem.jacobian(contact, side);
    for (int row = 0; row < 3; ++row) {
      momentum.segment(start, size) += impulse(row) * block.col(row);
    }
  }
}

/// Inverse dynamics: γ = P(y(v)) of every contact and constraint.
/// @param impulse  written, impulse_count() [N·s].
/// @note  Real-time safe when impulse has its size: no allocation, no exception.
template <RealScalar Scalar>
void write_impulse(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                   VectorX<Scalar>& impulse) noexcept {
  impulse.resize(problem.impulse_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    impulse.template segment<3>(3 * i) = contact_impulse(problem, i, velocity);
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    write_constraint_rows(problem, c, constraint_impulse(problem, c, velocity), impulse);
  }
}

/// ½‖γ‖²_R [J].
template <RealScalar Scalar>
[[nodiscard]] Scalar regularization_cost(const ContactProblem<Scalar>& problem,
                                         const VectorX<Scalar>& impulse) noexcept {
  Scalar twice = 0;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const auto [tangent, normal] = problem.regularization(i);
    twice += tangent * impulse.template segment<2>(3 * i).squaredNorm() +
             normal * impulse(3 * i + 2) * impulse(3 * i + 2);
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    twice += problem.constraints().law(c).regularization.dot(
        constraint_rows(problem, c, impulse).cwiseAbs2());
  }
  return twice / 2;
}

/// ½‖v − v*‖²_A [J].
template <RealScalar Scalar>
[[nodiscard]] Scalar momentum_cost(const ContactProblem<Scalar>& problem,
                                   const VectorX<Scalar>& velocity) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  Scalar twice = 0;
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const auto momentum = problem.momentum_matrix(b);
    const auto change =
        velocity.segment(start, size) - problem.free_velocity().segment(start, size);
    for (Index c = 0; c < size; ++c) twice += momentum.col(c).dot(change) * change(c);
  }
  return twice / 2;
}

/// Cost of the unconstrained form, ℓ(v) [J].
/// @note  Real-time safe: no allocation, no exception, O(bodies + contacts).
template <RealScalar Scalar>
[[nodiscard]] Scalar primal_cost(const ContactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& velocity) noexcept {
  Scalar cost = momentum_cost(problem, velocity);
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const auto [tangent, normal] = problem.regularization(i);
    const Vector3<Scalar> impulse = contact_impulse(problem, i, velocity);
    cost +=
        (tangent * impulse.template head<2>().squaredNorm() + normal * impulse.z() * impulse.z()) /
        2;
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    const auto trial = constraint_trial(problem, c, constraint_velocity(problem, c, velocity));
    cost += constraint_cost(problem, c, trial, constraint_impulse(problem, c, velocity));
  }
  return cost;
}

/// Gradient ∇ℓ = A (v − v*) − Jᵀ P(y(v)) [N·s].
/// @param gradient  written, n_v.
/// @note  Real-time safe when gradient has its size: no allocation, no exception.
template <RealScalar Scalar>
void write_gradient(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                    VectorX<Scalar>& gradient) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  gradient.setZero(problem.velocity_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    add_contact_momentum(problem, i, Vector3<Scalar>(-contact_impulse(problem, i, velocity)),
                         gradient);
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    add_constraint_momentum(
        problem, c, RowNumbers<Scalar>(-constraint_impulse(problem, c, velocity)), gradient);
  }
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const auto momentum = problem.momentum_matrix(b);
    for (Index c = 0; c < size; ++c) {
      gradient.segment(start, size) +=
          (velocity(start + c) - problem.free_velocity()(start + c)) * momentum.col(c);
    }
  }
}

/// Hessian A + Jᵀ G J, dense [kg, kg·m²]; on a region boundary one generalised Hessian.
/// @param hessian  written, n_v × n_v, both triangles.
/// @note  Cold: for checking and for small problems; O(n_v²) memory.
template <RealScalar Scalar>
void write_hessian(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                   MatrixX<Scalar>& hessian) {
  hessian.setZero(problem.velocity_count(), problem.velocity_count());
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    hessian.block(start, start, size, size) = problem.momentum_matrix(b);
  }
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const ContactCurvature<Scalar> curvature =
        make_curvature(problem.cone(i), problem.regularization(i),
                       trial_impulse(problem, i, contact_velocity(problem, i, velocity)));
    const SquareMatrix<Scalar, 3> g = curvature.root * curvature.root.transpose();
    for (int row = 0; row < problem.side_count(i); ++row) {
      for (int column = 0; column < problem.side_count(i); ++column) {
        const auto [r, row_size] = problem.body(problem.side_body(i, row));
        const auto [c, column_size] = problem.body(problem.side_body(i, column));
        hessian.block(r, c, row_size, column_size) +=
            (problem.jacobian(i, row) * g).lazyProduct(problem.jacobian(i, column).transpose());
      }
    }
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    add_constraint_hessian(problem, c,
                           constraint_trial(problem, c, constraint_velocity(problem, c, velocity)),
                           hessian);
  }
}

/// Cost of the conic form, ½‖v − v*‖²_A + ½‖σ‖²_R [J], for a velocity and a slack σ [N·s].
template <RealScalar Scalar>
[[nodiscard]] Scalar conic_cost(const ContactProblem<Scalar>& problem,
                                const VectorX<Scalar>& velocity,
                                const VectorX<Scalar>& slack) noexcept {
  return momentum_cost(problem, velocity) + regularization_cost(problem, slack);
}

/// u = J v − v̂ + R σ of one contact [m/s]; the conic form asks for u ∈ ℱ*.
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> conic_velocity(const ContactProblem<Scalar>& problem, Index contact,
                                             const VectorX<Scalar>& velocity,
                                             const Vector3<Scalar>& slack) noexcept {
  const auto [tangent, normal] = problem.regularization(contact);
  return contact_velocity(problem, contact, velocity) - problem.bias_velocity(contact) +
         Vector3<Scalar>(tangent * slack.x(), tangent * slack.y(), normal * slack.z());
}

}  // namespace carom::inline CAROM_ABI
