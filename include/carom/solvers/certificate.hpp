// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/dual.hpp"

namespace carom::inline CAROM_ABI {

/// How good an answer to a convex contact problem is, computed from the answer alone.
template <RealScalar Scalar>
struct Certificate {
  /// Momentum balance ‖A(v − v*) − Jᵀγ‖_{A⁻¹} relative to max(‖v*‖_A, ‖Jᵀγ‖_{A⁻¹}) [-].
  Scalar residual = 0;
  /// ℓ(v) + dual cost(γ) [J]; ≥ 0 whenever γ lies in its cones, 0 at the solution only.
  Scalar duality_gap = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹} [√J], proven never smaller than ‖v − v_opt‖_A, for any v.
  Scalar velocity_error_bound = 0;
  /// Largest distance of a contact's impulse from its cone [N·s].
  Scalar cone_violation = 0;
  /// Largest |γ·u| over the contacts, u = J v − v̂ + R γ [J]; over the constraints, whose sets need
  /// not be cones, largest |(γ − P(y))·u|, y = γ − R⁻¹u. 0 at the solution.
  Scalar complementarity = 0;
  /// ‖r − P(r − u)‖/max(1, ‖r‖, ‖u‖) [-] in nondimensional form: r = γ w/‖q‖, u = (W γ + R γ +
  /// q)/‖q‖, q = J v* − v̂, w the mean diagonal of W + R. Needs γ alone.
  Scalar natural_map_error = 0;
  /// Contact with the largest part in the natural map error; of a constraint, the number of
  /// contacts plus its own; −1 without either.
  Index worst_contact = -1;
};

namespace detail {

/// Natural map of the dual problem, and its worst contact.
template <RealScalar Scalar>
void certify_natural_map(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                         VectorX<Scalar>& workspace, Certificate<Scalar>& certificate) {
  VectorX<Scalar> slope;
  write_dual_gradient(problem, impulse, workspace, slope);  // u
  Scalar load_squared = 0, diagonal = 0, worst_squared = -1, total_squared = 0;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> load =
        contact_velocity(problem, i, problem.free_velocity()) - problem.bias_velocity(i);
    load_squared += load.squaredNorm();
    const auto [tangent, normal] = problem.regularization(i);
    diagonal += 2 * tangent + normal;
    for (int side = 0; side < problem.side_count(i); ++side) {
      diagonal += problem.whitened_jacobian(i, side).squaredNorm();
    }
  }
  const ConstraintList<Scalar>& list = problem.constraints();
  for (Index c = 0; c < list.count(); ++c) {
    load_squared +=
        (constraint_velocity(problem, c, problem.free_velocity()) - list.law(c).bias_velocity)
            .squaredNorm();
    diagonal += list.law(c).regularization.head(list.rows(c)).sum();
    for (int side = 0; side < list.side_count(c); ++side) {
      for (int part = 0; part < list.parts(c); ++part) {
        diagonal += list.whitened_jacobian(c, side, part).squaredNorm();
      }
    }
  }
  if (problem.impulse_count() == 0) return;
  // The measure does not change when all of it is multiplied by ‖q‖, which may be zero.
  const Scalar inverse_mass = diagonal / Scalar(problem.impulse_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> r = impulse.template segment<3>(3 * i) * inverse_mass;
    const Vector3<Scalar> u = slope.template segment<3>(3 * i);
    const Scalar part = (r - project(problem.cone(i), Vector3<Scalar>(r - u)).point).squaredNorm();
    total_squared += part;
    if (part > worst_squared) {
      worst_squared = part;
      certificate.worst_contact = i;
    }
  }
  for (Index c = 0; c < list.count(); ++c) {
    const RowNumbers<Scalar> gamma = constraint_rows(problem, c, impulse);
    const RowNumbers<Scalar> step = constraint_rows(problem, c, slope) / inverse_mass;
    const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
    const RowNumbers<Scalar> nearest =
        nearest_impulse(list.law(c).set, ones, RowNumbers<Scalar>(gamma - step));
    const Scalar part = ((gamma - nearest) * inverse_mass).squaredNorm();
    total_squared += part;
    if (part > worst_squared) {
      worst_squared = part;
      certificate.worst_contact = problem.contact_count() + c;
    }
  }
  const Scalar scale =
      std::max({std::sqrt(load_squared), impulse.norm() * inverse_mass, slope.norm()});
  if (scale > Scalar(0)) certificate.natural_map_error = std::sqrt(total_squared) / scale;
}

/// What the constraints add to momentum, gap, violation and complementarity.
template <RealScalar Scalar>
void certify_constraints(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                         const VectorX<Scalar>& impulse, VectorX<Scalar>& pushed, Scalar& gap,
                         Certificate<Scalar>& certificate) noexcept {
  using Rows = RowNumbers<Scalar>;
  const ConstraintList<Scalar>& list = problem.constraints();
  const Rows ones = Rows::Ones();
  for (Index c = 0; c < list.count(); ++c) {
    const ImpulseSet<Scalar>& set = list.law(c).set;
    const Rows& weights = list.law(c).regularization;
    const Rows gamma = constraint_rows(problem, c, impulse);
    add_constraint_momentum(problem, c, gamma, pushed);
    const Rows y = constraint_trial(problem, c, constraint_velocity(problem, c, velocity));
    const Rows p = nearest_impulse(set, weights, y);
    const Rows change = gamma - p;
    gap += change.cwiseAbs2().dot(weights) / 2 + change.cwiseProduct(weights).dot(p - y);
    certificate.cone_violation =
        std::max(certificate.cone_violation, (gamma - nearest_impulse(set, ones, gamma)).norm());
    const Rows u = weights.cwiseProduct(gamma - y);  // J v − v̂ + R γ
    certificate.complementarity = std::max(certificate.complementarity, std::abs(change.dot(u)));
  }
}

}  // namespace detail

/// Certifies an answer (v, γ) from whatever solver.
/// @param velocity  v, n_v [m/s].  @param impulse  γ, 3 n_c [N·s].
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] Certificate<Scalar> certify(const ContactProblem<Scalar>& problem,
                                          const VectorX<Scalar>& velocity,
                                          const VectorX<Scalar>& impulse) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(impulse.size() == problem.impulse_count());
  Certificate<Scalar> certificate;

  VectorX<Scalar> gradient;
  write_gradient(problem, velocity, gradient);
  problem.whiten_momentum(gradient.data());
  certificate.velocity_error_bound = gradient.norm();

  VectorX<Scalar> pushed = VectorX<Scalar>::Zero(problem.velocity_count());
  Scalar contact_gap = 0;  // Σ ½‖γ − P(y)‖²_R + γᵀR(P(y) − y), each term ≥ 0 for γ in its cone
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> gamma = impulse.template segment<3>(3 * i);
    add_contact_momentum(problem, i, gamma, pushed);
    const auto [tangent, normal] = problem.regularization(i);
    const Vector3<Scalar> weights(tangent, tangent, normal);
    const Vector3<Scalar> y = trial_impulse(problem, i, contact_velocity(problem, i, velocity));
    const Vector3<Scalar> p = project(problem.cone(i), weights, y).point;
    contact_gap +=
        (gamma - p).cwiseAbs2().dot(weights) / 2 + gamma.cwiseProduct(weights).dot(p - y);
    certificate.cone_violation = std::max(certificate.cone_violation,
                                          (gamma - project(problem.cone(i), gamma).point).norm());
    certificate.complementarity =
        std::max(certificate.complementarity,
                 std::abs(gamma.dot(conic_velocity(problem, i, velocity, gamma))));
  }
  detail::certify_constraints(problem, velocity, impulse, pushed, contact_gap, certificate);
  problem.whiten_momentum(pushed.data());
  VectorX<Scalar> whitened = velocity;
  problem.whiten(whitened.data());
  const VectorX<Scalar> imbalance = whitened - problem.whitened_free_velocity() - pushed;
  const Scalar scale = std::max(problem.whitened_free_velocity().norm(), pushed.norm());
  certificate.residual = scale > Scalar(0) ? imbalance.norm() / scale : imbalance.norm();
  certificate.duality_gap = imbalance.squaredNorm() / 2 + contact_gap;
  detail::certify_natural_map(problem, impulse, pushed, certificate);
  return certificate;
}

}  // namespace carom::inline CAROM_ABI
