// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/dual.hpp"

namespace carom::inline CAROM_ABI {

/// How good an answer to a convex contact problem is, computed from the answer alone.
///
/// Every measure is a number ≥ 0, but for the duality gap, and 0 at the solution; numbers too large
/// for the type make it infinite, never NaN. Each comes with the contact or body that has the
/// largest part in it: −1 if there is none, or if an entry of the velocity itself is not finite.
template <RealScalar Scalar>
struct Certificate {
  /// Momentum balance ‖A(v − v*) − Jᵀγ‖_{A⁻¹} relative to max(‖v*‖_A, ‖Jᵀγ‖_{A⁻¹}) [-]. Any γ meets
  /// it with v = v* + A⁻¹Jᵀγ: velocity_residual says whether γ is the right one.
  Scalar residual = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹}, the balance with the impulses γ(v) = P(y(v)) that the velocity leads to,
  /// relative to max(‖v*‖_A, ‖Jᵀγ(v)‖_{A⁻¹}) [-]. What SapSolver reports. Needs v alone.
  Scalar velocity_residual = 0;
  /// ℓ(v) + dual cost(γ) [J]; ≥ 0 whenever γ lies in its cones, 0 at the solution only.
  Scalar duality_gap = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹} [√J], proven never smaller than ‖v − v_opt‖_A, for any v.
  Scalar velocity_error_bound = 0;
  /// Largest distance of a contact's impulse from its cone [N·s].
  Scalar cone_violation = 0;
  /// Largest |γ·u| over the contacts, u = J v − v̂ + R γ [J].
  Scalar complementarity = 0;
  /// ‖r − P(r − u)‖/max(1, ‖r‖, ‖u‖) [-] in nondimensional form: r = γ w/‖q‖, u = (W γ + R γ +
  /// q)/‖q‖, q = J v* − v̂, w the mean diagonal of W + R. Needs γ alone.
  Scalar natural_map_error = 0;
  /// Contact with the largest part in the natural map error.
  Index worst_contact = -1;
  /// Contact with the largest part of the duality gap's sum over the contacts.
  Index duality_gap_contact = -1;
  /// Contact farthest outside its cone; −1 when all are inside.
  Index cone_violation_contact = -1;
  /// Contact with the largest |γ·u|.
  Index complementarity_contact = -1;
  /// Body with the largest part in the momentum balance.
  Index residual_body = -1;
  /// Body with the largest part in ‖∇ℓ(v)‖_{A⁻¹}.
  Index velocity_residual_body = -1;
};

namespace detail {

/// The largest of some numbers ≥ 0, and whose it is.
template <RealScalar Scalar>
class LargestPart {
 public:
  explicit LargestPart(const Scalar& least) noexcept : value_(least) {}
  void see(const Scalar& part, Index owner) noexcept {
    if (!(part > value_)) return;
    value_ = part;
    owner_ = owner;
  }
  [[nodiscard]] const Scalar& value() const noexcept { return value_; }
  [[nodiscard]] Index owner() const noexcept { return owner_; }

 private:
  Scalar value_;
  Index owner_ = -1;
};

/// Nothing can be said for this answer: all measures are infinite.
template <RealScalar Scalar>
[[nodiscard]] Certificate<Scalar> make_void_certificate(Index contact) noexcept {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  Certificate<Scalar> result;
  for (Scalar* measure : {&result.residual, &result.velocity_residual, &result.duality_gap,
                          &result.velocity_error_bound, &result.cone_violation,
                          &result.complementarity, &result.natural_map_error}) {
    *measure = infinity;
  }
  for (Index* worst : {&result.worst_contact, &result.duality_gap_contact,
                       &result.cone_violation_contact, &result.complementarity_contact}) {
    *worst = contact;
  }
  return result;
}

/// First contact with an entry that is not finite, or −1.
template <RealScalar Scalar>
[[nodiscard]] Index find_not_finite(const VectorX<Scalar>& triples) noexcept {
  for (Index i = 0; i < triples.size(); ++i) {
    if (!is_finite(triples(i))) return i / 3;
  }
  return -1;
}

/// Natural map of the dual problem, and its worst contact.
template <RealScalar Scalar>
void certify_natural_map(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                         VectorX<Scalar>& workspace, Certificate<Scalar>& certificate) {
  if (problem.contact_count() == 0) return;
  VectorX<Scalar> slope;
  write_dual_gradient(problem, impulse, workspace, slope);  // u
  Scalar load_squared = 0, diagonal = 0, total_squared = 0;
  LargestPart<Scalar> worst(Scalar(-1));
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
  // The measure does not change when all of it is multiplied by ‖q‖, which may be zero.
  const Scalar inverse_mass = diagonal / Scalar(3 * problem.contact_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> r = impulse.template segment<3>(3 * i) * inverse_mass;
    const Vector3<Scalar> u = slope.template segment<3>(3 * i);
    const Vector3<Scalar> trial = r - u;
    if (!trial.allFinite()) {
      certificate.natural_map_error = std::numeric_limits<Scalar>::infinity();
      certificate.worst_contact = i;
      return;
    }
    const Scalar part = (r - project(problem.cone(i), trial).point).squaredNorm();
    total_squared += part;
    worst.see(part, i);
  }
  certificate.worst_contact = worst.owner();
  const Scalar scale =
      std::max({std::sqrt(load_squared), impulse.norm() * inverse_mass, slope.norm()});
  if (scale > Scalar(0)) certificate.natural_map_error = std::sqrt(total_squared) / scale;
}

/// ‖w − w* − Ĵᵀγ‖, how large that is relative to the momentum in play, and the worst body.
template <RealScalar Scalar>
struct MomentumBalance {
  Scalar norm, relative;
  Index body;
};

/// @param pushed  Jᵀγ; whitened in place.
template <RealScalar Scalar>
[[nodiscard]] MomentumBalance<Scalar> balance_of(const ContactProblem<Scalar>& problem,
                                                 const VectorX<Scalar>& whitened,
                                                 VectorX<Scalar>& pushed) noexcept {
  problem.whiten_momentum(pushed.data());
  const auto free = problem.whitened_free_velocity();
  Scalar squared = 0;
  LargestPart<Scalar> worst(Scalar(0));
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const Scalar part =
        (whitened.segment(start, size) - free.segment(start, size) - pushed.segment(start, size))
            .squaredNorm();
    squared += part;
    worst.see(part, b);
  }
  const Scalar norm = std::sqrt(squared), scale = std::max(free.norm(), pushed.norm());
  return {norm, scale > Scalar(0) ? norm / scale : norm, worst.owner()};
}

/// One contact's parts of the sums and of the largest values.
template <RealScalar Scalar>
struct ContactParts {
  Scalar gap;        ///< ½‖γ − P(y)‖²_R + γᵀR(P(y) − y), ≥ 0 for γ in its cone
  Scalar violation;  ///< distance from the cone
  Scalar work;       ///< |γ·u|
};

template <RealScalar Scalar>
[[nodiscard]] ContactParts<Scalar> parts_of(const ContactProblem<Scalar>& problem, Index contact,
                                            const Vector3<Scalar>& gamma, const Vector3<Scalar>& y,
                                            const Vector3<Scalar>& nearest) noexcept {
  const auto [tangent, normal] = problem.regularization(contact);
  const Vector3<Scalar> weights(tangent, tangent, normal);
  // u = J v − v̂ + R γ = R (γ − y).
  return {
      (gamma - nearest).cwiseAbs2().dot(weights) / 2 + gamma.cwiseProduct(weights).dot(nearest - y),
      (gamma - project(problem.cone(contact), gamma).point).norm(),
      std::abs(gamma.cwiseProduct(weights).dot(gamma - y))};
}

}  // namespace detail

/// Certifies an answer (v, γ) from whatever solver, in time and memory in proportion to bodies and
/// contacts.
/// @param velocity  v, n_v [m/s].  @param impulse  γ, 3 n_c [N·s]. Entries may be anything.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] Certificate<Scalar> certify(const ContactProblem<Scalar>& problem,
                                          const VectorX<Scalar>& velocity,
                                          const VectorX<Scalar>& impulse) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(impulse.size() == 3 * problem.contact_count());
  if (const Index contact = detail::find_not_finite(impulse);
      contact >= 0 || !velocity.allFinite()) {
    return detail::make_void_certificate<Scalar>(contact);
  }
  VectorX<Scalar> given = VectorX<Scalar>::Zero(problem.velocity_count()), own = given;
  Scalar contact_gap = 0;
  detail::LargestPart<Scalar> gap(Scalar(-1)), violation(Scalar(0)), work(Scalar(-1));
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> gamma = impulse.template segment<3>(3 * i);
    const Vector3<Scalar> y = trial_impulse(problem, i, contact_velocity(problem, i, velocity));
    if (!y.allFinite()) return detail::make_void_certificate<Scalar>(i);
    const Vector3<Scalar> nearest = project(problem.cone(i), problem.regularization(i), y).point;
    add_contact_momentum(problem, i, gamma, given);
    add_contact_momentum(problem, i, nearest, own);
    const detail::ContactParts<Scalar> parts = detail::parts_of(problem, i, gamma, y, nearest);
    contact_gap += parts.gap;
    gap.see(std::abs(parts.gap), i);
    violation.see(parts.violation, i);
    work.see(parts.work, i);
  }
  VectorX<Scalar> whitened = velocity;
  problem.whiten(whitened.data());
  const auto of_pair = detail::balance_of(problem, whitened, given);
  const auto of_velocity = detail::balance_of(problem, whitened, own);

  Certificate<Scalar> certificate;
  certificate.residual = of_pair.relative;
  certificate.residual_body = of_pair.body;
  certificate.velocity_residual = of_velocity.relative;
  certificate.velocity_residual_body = of_velocity.body;
  certificate.velocity_error_bound = of_velocity.norm;
  certificate.duality_gap = of_pair.norm * of_pair.norm / 2 + contact_gap;
  certificate.duality_gap_contact = gap.owner();
  certificate.cone_violation = violation.value();
  certificate.cone_violation_contact = violation.owner();
  if (work.owner() >= 0) certificate.complementarity = work.value();
  certificate.complementarity_contact = work.owner();
  detail::certify_natural_map(problem, impulse, whitened, certificate);
  for (Scalar* measure :
       {&certificate.residual, &certificate.velocity_residual, &certificate.duality_gap,
        &certificate.velocity_error_bound, &certificate.cone_violation,
        &certificate.complementarity, &certificate.natural_map_error}) {
    if (!detail::is_finite(*measure)) *measure = std::numeric_limits<Scalar>::infinity();
  }
  return certificate;
}

/// Certifies a velocity alone, with the impulses it leads to: γ = P(y(v)).
/// @param velocity  v, n_v [m/s]. Entries may be anything.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] Certificate<Scalar> certify(const ContactProblem<Scalar>& problem,
                                          const VectorX<Scalar>& velocity) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  if (!velocity.allFinite()) return detail::make_void_certificate<Scalar>(-1);
  VectorX<Scalar> impulse(3 * problem.contact_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> y = trial_impulse(problem, i, contact_velocity(problem, i, velocity));
    if (!y.allFinite()) return detail::make_void_certificate<Scalar>(i);
    impulse.template segment<3>(3 * i) =
        project(problem.cone(i), problem.regularization(i), y).point;
  }
  return certify(problem, velocity, impulse);
}

}  // namespace carom::inline CAROM_ABI
