// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "carom/contact/dual.hpp"
#include "carom/solvers/detail/certificate_parts.hpp"
#include "carom/solvers/detail/certificate_rounding.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Says how good an answer to a convex contact problem is. It is computed from the answer alone, so
/// it does not matter who found the answer.
///
/// Every measure is 0 at the solution and positive elsewhere; only the duality gap may be negative,
/// for impulses outside of their sets. Numbers too large for the type make a measure infinite,
/// never NaN. The duality gap, the bound on the velocity error and the natural map error are upper
/// bounds: they hold with all that rounding can have done on the way from the problem's numbers to
/// the measure, so that of an exact answer they say how well this arithmetic can confirm it
/// (docs/derivations/rounding.md). With each measure comes the block or the body that contributes
/// most to it: −1 if none does, or if an entry of the velocity itself is not finite.
template <RealScalar Scalar>
struct ContactCertificate {
  /// Momentum balance ‖A(v − v*) − Jᵀγ‖_{A⁻¹} relative to the momentum_scale() [-]. It says whether
  /// the velocity is that of the impulses, not whether the impulses are right: any γ has residual 0
  /// with v = v* + A⁻¹Jᵀγ. ResidualMeasure::momentum_balance.
  Scalar residual = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹}, the same balance with the impulses γ(v) = P(y(v)) that the velocity leads to,
  /// relative to the momentum_scale() [-]. It needs v alone and is 0 at the solution only. Under
  /// the convex law SapSolver reports it; its impulses are γ(v), so that both residuals agree.
  Scalar velocity_residual = 0;
  /// ℓ(v) + dual cost(γ) [J], an upper bound; ≥ 0 whenever γ lies in its cones, 0 at the solution
  /// only, but for rounding.
  Scalar duality_gap = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹} [√J], an upper bound. For any finite v it is proven to be at least
  /// ‖v − v_opt‖_A, rounding included; v_opt is the exact answer to the numbers A, v*, J, R, v̂ and
  /// sets that the problem holds. Infinite where A is singular but for rounding.
  Scalar velocity_error_bound = 0;
  /// Largest distance of a block's impulse from its set [N·s].
  Scalar cone_violation = 0;
  /// Largest |γ·u| over the blocks, u = J v − v̂ + R γ [J]; where the set is no cone with its apex
  /// at zero, |(γ − P(y))·u|, y = γ − R⁻¹u. 0 at the solution.
  Scalar complementarity = 0;
  /// ‖r − P(r − u)‖/max(1, ‖r‖, ‖u‖) [-] in nondimensional form: r = γ w/‖q‖, u = (W γ + R γ +
  /// q)/‖q‖, q = J v* − v̂, w the mean diagonal of W + R. It needs γ alone.
  /// ResidualMeasure::natural_map. An upper bound.
  Scalar natural_map_error = 0;
  /// Block with the largest part in the natural map error.
  Index worst_block = -1;
  /// Block with the largest part of the duality gap's sum over the blocks.
  Index duality_gap_block = -1;
  /// Block farthest outside its set; −1 when all are inside.
  Index cone_violation_block = -1;
  /// Block with the largest |γ·u|.
  Index complementarity_block = -1;
  /// Body with the largest part in the momentum balance.
  Index residual_body = -1;
  /// Body with the largest part in ‖∇ℓ(v)‖_{A⁻¹}.
  Index velocity_residual_body = -1;
};

namespace detail {

/// The certificate of an answer that is not finite: all measures are infinite.
/// @param block  of the problem, whose numbers are not finite; −1 where it is none in particular.
template <RealScalar Scalar>
[[nodiscard]] ContactCertificate<Scalar> make_void_certificate(Index block) noexcept {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  ContactCertificate<Scalar> result;
  for (Scalar* measure : {&result.residual, &result.velocity_residual, &result.duality_gap,
                          &result.velocity_error_bound, &result.cone_violation,
                          &result.complementarity, &result.natural_map_error}) {
    *measure = infinity;
  }
  for (Index* worst : {&result.worst_block, &result.duality_gap_block, &result.cone_violation_block,
                       &result.complementarity_block}) {
    *worst = block;
  }
  return result;
}

/// Writes the natural map error of the dual problem and its worst block.
template <RealScalar Scalar>
void certify_natural_map(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                         VectorX<Scalar>& workspace, ContactCertificate<Scalar>& certificate) {
  if (problem.impulse_count() == 0) return;
  VectorX<Scalar> slope;
  write_dual_gradient(problem, impulse, workspace, slope);  // u
  const auto [load_squared, diagonal] = dual_size(problem);
  Scalar total_squared = 0;
  LargestPart<Scalar> worst(Scalar(-1));
  // The measure does not change when all of it is multiplied by ‖q‖, which may be zero.
  const Scalar inverse_mass = diagonal / Scalar(problem.impulse_count());
  Index not_finite = -1;
  problem.for_each_block([&](const auto& block) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows gamma = block.read(impulse);
    const Rows trial = gamma - block.read(slope) / inverse_mass;
    if (!trial.allFinite()) {
      if (not_finite < 0) not_finite = block.number();
      return;
    }
    const Scalar part = ((gamma - block.nearest_unweighted(trial)) * inverse_mass).squaredNorm();
    total_squared += part;
    worst.see(part, block.number());
  });
  if (not_finite >= 0) {
    certificate.natural_map_error = std::numeric_limits<Scalar>::infinity();
    certificate.worst_block = not_finite;
    return;
  }
  certificate.worst_block = worst.owner();
  const Scalar scale =
      (std::max)({std::sqrt(load_squared), impulse.norm() * inverse_mass, slope.norm()});
  if (scale > Scalar(0)) certificate.natural_map_error = std::sqrt(total_squared) / scale;
}

/// Writes the upper bounds, which hold with all rounding.
/// @param workspace  holds v* + A⁻¹Jᵀγ.
template <RealScalar Scalar>
void raise_by_rounding(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
                       const VectorX<Scalar>& impulse, const VectorX<Scalar>& workspace,
                       ContactCertificate<Scalar>& certificate) {
  if constexpr (std::floating_point<Scalar>) {
    const CheckedBodies<Scalar> bodies(problem);
    const auto checked = check_answer(problem, bodies, velocity, impulse);
    certificate.velocity_error_bound = checked.velocity_error_bound;
    certificate.duality_gap = checked.duality_gap;
    if (problem.impulse_count() == 0 || !is_finite(certificate.natural_map_error)) return;
    certificate.natural_map_error = check_natural_map(problem, bodies, workspace, impulse);
  }
}

}  // namespace detail

/// Certifies an answer (v, γ) from whatever solver, in time and memory in proportion to bodies and
/// blocks.
/// @param velocity  v, n_v [m/s]. Entries may be anything.
/// @param impulse   γ, impulse_count() of them [N·s]. Entries may be anything.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] ContactCertificate<Scalar> certify(
    const ContactProblem<Scalar>& problem, const std::type_identity_t<VectorX<Scalar>>& velocity,
    const std::type_identity_t<VectorX<Scalar>>& impulse) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(impulse.size() == problem.impulse_count());
  const Index not_finite = detail::find_not_finite(
      problem, [&](const auto& block) { return block.read(impulse).allFinite(); });
  if (not_finite >= 0 || !velocity.allFinite()) {
    return detail::make_void_certificate<Scalar>(not_finite);
  }
  detail::Momenta<Scalar> given{VectorX<Scalar>::Zero(problem.velocity_count())}, own = given;
  detail::PartsSeen<Scalar> seen;
  if (const Index owner = detail::see_impulses(problem, velocity, impulse, given, own, seen);
      owner >= 0) {
    return detail::make_void_certificate<Scalar>(owner);
  }
  VectorX<Scalar> whitened = velocity;
  problem.whiten(as_span(whitened));
  const auto of_pair = detail::balance_of(problem, whitened, given);
  const auto of_velocity = detail::balance_of(problem, whitened, own);

  ContactCertificate<Scalar> certificate;
  certificate.residual = of_pair.relative;
  certificate.residual_body = of_pair.body;
  certificate.velocity_residual = of_velocity.relative;
  certificate.velocity_residual_body = of_velocity.body;
  certificate.velocity_error_bound = of_velocity.norm;
  certificate.duality_gap = of_pair.norm * of_pair.norm / 2 + seen.gap_sum;
  certificate.duality_gap_block = seen.gap.owner();
  certificate.cone_violation = seen.violation.value();
  certificate.cone_violation_block = seen.violation.owner();
  if (seen.work.owner() >= 0) certificate.complementarity = seen.work.value();
  certificate.complementarity_block = seen.work.owner();
  detail::certify_natural_map(problem, impulse, whitened, certificate);
  detail::raise_by_rounding(problem, velocity, impulse, whitened, certificate);
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
[[nodiscard]] ContactCertificate<Scalar> certify(
    const ContactProblem<Scalar>& problem, const std::type_identity_t<VectorX<Scalar>>& velocity) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  if (!velocity.allFinite()) return detail::make_void_certificate<Scalar>(-1);
  const Index owner = detail::find_not_finite(problem, [&](const auto& block) {
    return block.trial(block.velocity(velocity)).allFinite();
  });
  if (owner >= 0) return detail::make_void_certificate<Scalar>(owner);
  VectorX<Scalar> impulse;
  write_impulse(problem, velocity, impulse);
  return certify(problem, velocity, impulse);
}

}  // namespace CAROM_ABI
}  // namespace carom
