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
/// Constraints count as contacts here: constraint c has the number of contacts plus c.
template <RealScalar Scalar>
struct Certificate {
  /// Momentum balance ‖A(v − v*) − Jᵀγ‖_{A⁻¹} relative to the momentum_scale() [-]. Any γ meets
  /// it with v = v* + A⁻¹Jᵀγ: velocity_residual says whether γ is the right one.
  Scalar residual = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹}, the balance with the impulses γ(v) = P(y(v)) that the velocity leads to,
  /// relative to the momentum_scale() [-]. What SapSolver reports. Needs v alone.
  Scalar velocity_residual = 0;
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

/// First contact, then constraint, with an impulse that is not finite, or −1.
template <RealScalar Scalar>
[[nodiscard]] Index find_not_finite(const ContactProblem<Scalar>& problem,
                                    const VectorX<Scalar>& impulse) noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) {
    if (!impulse.template segment<3>(3 * i).allFinite()) return i;
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    if (!constraint_rows(problem, c, impulse).allFinite()) return problem.contact_count() + c;
  }
  return -1;
}

/// The contact or constraint whose trial impulse is not finite, or −1.
template <RealScalar Scalar>
[[nodiscard]] Index find_trial_not_finite(const ContactProblem<Scalar>& problem,
                                          const VectorX<Scalar>& velocity) noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) {
    if (!trial_impulse(problem, i, contact_velocity(problem, i, velocity)).allFinite()) return i;
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    if (!constraint_trial(problem, c, constraint_velocity(problem, c, velocity)).allFinite()) {
      return problem.contact_count() + c;
    }
  }
  return -1;
}

/// ‖q‖², q = J v* − v̂, and the trace of W + R.
template <RealScalar Scalar>
struct DualSize {
  Scalar load_squared = 0, diagonal = 0;
};

template <RealScalar Scalar>
[[nodiscard]] DualSize<Scalar> dual_size(const ContactProblem<Scalar>& problem) noexcept {
  DualSize<Scalar> total;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> load =
        contact_velocity(problem, i, problem.free_velocity()) - problem.bias_velocity(i);
    total.load_squared += load.squaredNorm();
    const auto [tangent, normal] = problem.regularization(i);
    total.diagonal += 2 * tangent + normal;
    for (int side = 0; side < problem.side_count(i); ++side) {
      total.diagonal += problem.whitened_jacobian(i, side).squaredNorm();
    }
  }
  const ConstraintList<Scalar>& list = problem.constraints();
  for (Index c = 0; c < list.count(); ++c) {
    total.load_squared +=
        (constraint_velocity(problem, c, problem.free_velocity()) - list.law(c).bias_velocity)
            .squaredNorm();
    for (int i = 0; i < list.rows(c); ++i) total.diagonal += list.law(c).regularization(i);
    for (int side = 0; side < list.side_count(c); ++side) {
      for (int part = 0; part < list.parts(c); ++part) {
        total.diagonal += list.whitened_jacobian(c, side, part).squaredNorm();
      }
    }
  }
  return total;
}

/// Natural map of the dual problem, and its worst contact.
template <RealScalar Scalar>
void certify_natural_map(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                         VectorX<Scalar>& workspace, Certificate<Scalar>& certificate) {
  if (problem.impulse_count() == 0) return;
  VectorX<Scalar> slope;
  write_dual_gradient(problem, impulse, workspace, slope);  // u
  const auto [load_squared, diagonal] = dual_size(problem);
  Scalar total_squared = 0;
  LargestPart<Scalar> worst(Scalar(-1));
  // The measure does not change when all of it is multiplied by ‖q‖, which may be zero.
  const Scalar inverse_mass = diagonal / Scalar(problem.impulse_count());
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
  const ConstraintList<Scalar>& list = problem.constraints();
  for (Index c = 0; c < list.count(); ++c) {
    const RowNumbers<Scalar> gamma = constraint_rows(problem, c, impulse);
    const RowNumbers<Scalar> trial = gamma - constraint_rows(problem, c, slope) / inverse_mass;
    if (!trial.allFinite()) {
      certificate.natural_map_error = std::numeric_limits<Scalar>::infinity();
      certificate.worst_contact = problem.contact_count() + c;
      return;
    }
    const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
    const RowNumbers<Scalar> nearest = nearest_impulse(list.law(c).set, ones, trial);
    const Scalar part = ((gamma - nearest) * inverse_mass).squaredNorm();
    total_squared += part;
    worst.see(part, problem.contact_count() + c);
  }
  certificate.worst_contact = worst.owner();
  const Scalar scale =
      (std::max)({std::sqrt(load_squared), impulse.norm() * inverse_mass, slope.norm()});
  if (scale > Scalar(0)) certificate.natural_map_error = std::sqrt(total_squared) / scale;
}

/// What impulses add up to, and what they would if none cancelled another.
template <RealScalar Scalar>
struct Momenta {
  VectorX<Scalar> sum;  ///< Jᵀγ
  Scalar gross_squared = 0;
};

/// ‖w − w* − Ĵᵀγ‖, how large that is relative to the momentum in play, and the worst body.
template <RealScalar Scalar>
struct MomentumBalance {
  Scalar norm, relative;
  Index body;
};

/// @param given  Jᵀγ; whitened in place.
template <RealScalar Scalar>
[[nodiscard]] MomentumBalance<Scalar> balance_of(const ContactProblem<Scalar>& problem,
                                                 const VectorX<Scalar>& whitened,
                                                 Momenta<Scalar>& given) noexcept {
  VectorX<Scalar>& pushed = given.sum;
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
  const Scalar norm = std::sqrt(squared);
  const Scalar scale =
      momentum_scale(free.squaredNorm(), pushed.squaredNorm(), given.gross_squared);
  return {norm, scale > Scalar(0) ? norm / scale : norm, worst.owner()};
}

/// One contact's or constraint's parts of the sums and of the largest values.
template <RealScalar Scalar>
struct ImpulseParts {
  Scalar gap;  ///< ½‖γ − P(y)‖²_R + (γ − P(y))ᵀR(P(y) − y), ≥ 0 for γ in its set
  Scalar violation;  ///< distance from the set
  Scalar work;       ///< |(γ − P(y))·u|, for cones |γ·u|
};

template <RealScalar Scalar>
[[nodiscard]] ImpulseParts<Scalar> parts_of(const ContactProblem<Scalar>& problem, Index contact,
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

/// @copydoc parts_of  @note  Cones drop P(y)ᵀR(P(y) − y) = 0; other sets may not.
template <RealScalar Scalar>
[[nodiscard]] ImpulseParts<Scalar> parts_of(const WeightedConstraint<Scalar>& law,
                                            const RowNumbers<Scalar>& gamma,
                                            const RowNumbers<Scalar>& y,
                                            const RowNumbers<Scalar>& nearest) noexcept {
  const RowNumbers<Scalar>& weights = law.regularization;
  const RowNumbers<Scalar> change = gamma - nearest, ones = RowNumbers<Scalar>::Ones();
  return {change.cwiseAbs2().dot(weights) / 2 + change.cwiseProduct(weights).dot(nearest - y),
          (gamma - nearest_impulse(law.set, ones, gamma)).norm(),
          std::abs(change.cwiseProduct(weights).dot(gamma - y))};
}

/// The sum of the parts of the gap, and who has the largest part of each measure.
template <RealScalar Scalar>
struct PartsSeen {
  Scalar gap_sum = 0;
  LargestPart<Scalar> gap{Scalar(-1)}, violation{Scalar(0)}, work{Scalar(-1)};

  void see(const ImpulseParts<Scalar>& parts, Index owner) noexcept {
    gap_sum += parts.gap;
    gap.see(std::abs(parts.gap), owner);
    violation.see(parts.violation, owner);
    work.see(parts.work, owner);
  }
};

/// Looks at every contact, then at every constraint, of an answer (v, γ).
/// @param given, own  Jᵀγ and JᵀP(y(v)) are added.
/// @return  The first contact or constraint whose y(v) is not finite; −1 if there is none.
template <RealScalar Scalar>
[[nodiscard]] Index see_impulses(const ContactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& velocity, const VectorX<Scalar>& impulse,
                                 Momenta<Scalar>& given, Momenta<Scalar>& own,
                                 PartsSeen<Scalar>& seen) noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> gamma = impulse.template segment<3>(3 * i);
    const Vector3<Scalar> y = trial_impulse(problem, i, contact_velocity(problem, i, velocity));
    if (!y.allFinite()) return i;
    const Vector3<Scalar> nearest = project(problem.cone(i), problem.regularization(i), y).point;
    add_contact_momentum(problem, i, gamma, given.sum);
    add_contact_momentum(problem, i, nearest, own.sum);
    given.gross_squared += gross_momentum_squared(problem, i, gamma);
    own.gross_squared += gross_momentum_squared(problem, i, nearest);
    seen.see(parts_of(problem, i, gamma, y, nearest), i);
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    const WeightedConstraint<Scalar>& law = problem.constraints().law(c);
    const RowNumbers<Scalar> gamma = constraint_rows(problem, c, impulse);
    const RowNumbers<Scalar> y =
        constraint_trial(problem, c, constraint_velocity(problem, c, velocity));
    if (!y.allFinite()) return problem.contact_count() + c;
    const RowNumbers<Scalar> nearest = nearest_impulse(law.set, law.regularization, y);
    add_constraint_momentum(problem, c, gamma, given.sum);
    add_constraint_momentum(problem, c, nearest, own.sum);
    given.gross_squared += constraint_gross_squared(problem, c, gamma);
    own.gross_squared += constraint_gross_squared(problem, c, nearest);
    seen.see(parts_of(law, gamma, y, nearest), problem.contact_count() + c);
  }
  return -1;
}

}  // namespace detail

/// Certifies an answer (v, γ) from whatever solver, in time and memory in proportion to bodies and
/// contacts.
/// @param velocity  v, n_v [m/s]. Entries may be anything.
/// @param impulse   γ, impulse_count() of them [N·s]. Entries may be anything.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] Certificate<Scalar> certify(const ContactProblem<Scalar>& problem,
                                          const VectorX<Scalar>& velocity,
                                          const VectorX<Scalar>& impulse) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(impulse.size() == problem.impulse_count());
  if (const Index owner = detail::find_not_finite(problem, impulse);
      owner >= 0 || !velocity.allFinite()) {
    return detail::make_void_certificate<Scalar>(owner);
  }
  detail::Momenta<Scalar> given{VectorX<Scalar>::Zero(problem.velocity_count())}, own = given;
  detail::PartsSeen<Scalar> seen;
  if (const Index owner = detail::see_impulses(problem, velocity, impulse, given, own, seen);
      owner >= 0) {
    return detail::make_void_certificate<Scalar>(owner);
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
  certificate.duality_gap = of_pair.norm * of_pair.norm / 2 + seen.gap_sum;
  certificate.duality_gap_contact = seen.gap.owner();
  certificate.cone_violation = seen.violation.value();
  certificate.cone_violation_contact = seen.violation.owner();
  if (seen.work.owner() >= 0) certificate.complementarity = seen.work.value();
  certificate.complementarity_contact = seen.work.owner();
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
  if (const Index owner = detail::find_trial_not_finite(problem, velocity); owner >= 0) {
    return detail::make_void_certificate<Scalar>(owner);
  }
  VectorX<Scalar> impulse;
  write_impulse(problem, velocity, impulse);
  return certify(problem, velocity, impulse);
}

}  // namespace carom::inline CAROM_ABI
