// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/contact/dual.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// How good an answer to a convex contact problem is, computed from the answer alone.
///
/// Every measure is a number ≥ 0, but for the duality gap, and 0 at the solution; numbers too large
/// for the type make it infinite, never NaN. Each comes with the block or body that has the largest
/// part in it: −1 if there is none, or if an entry of the velocity itself is not finite.
template <RealScalar Scalar>
struct ContactCertificate {
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
  /// Largest distance of a block's impulse from its set [N·s].
  Scalar cone_violation = 0;
  /// Largest |γ·u| over the blocks, u = J v − v̂ + R γ [J]; where the set is no cone with its apex
  /// at zero, |(γ − P(y))·u|, y = γ − R⁻¹u. 0 at the solution.
  Scalar complementarity = 0;
  /// ‖r − P(r − u)‖/max(1, ‖r‖, ‖u‖) [-] in nondimensional form: r = γ w/‖q‖, u = (W γ + R γ +
  /// q)/‖q‖, q = J v* − v̂, w the mean diagonal of W + R. Needs γ alone.
  Scalar natural_map_error = 0;
  /// Block with the largest part in the natural map error.
  Index worst_contact = -1;
  /// Block with the largest part of the duality gap's sum over the blocks.
  Index duality_gap_contact = -1;
  /// Block farthest outside its set; −1 when all are inside.
  Index cone_violation_contact = -1;
  /// Block with the largest |γ·u|.
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
[[nodiscard]] ContactCertificate<Scalar> make_void_certificate(Index contact) noexcept {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  ContactCertificate<Scalar> result;
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

/// The first block of which something is not finite, or −1.
/// @param finite  finite(block) says whether it is.
template <RealScalar Scalar, typename Finite>
[[nodiscard]] Index find_not_finite(const ContactProblem<Scalar>& problem,
                                    const Finite& finite) noexcept {
  for (Index i = 0; i < problem.block_count(); ++i) {
    if (!problem.visit(i, finite)) return i;
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
  problem.for_each_block([&](const auto& block) {
    total.load_squared +=
        (block.velocity(problem.free_velocity()) - block.bias_velocity()).squaredNorm();
    const auto weights = block.regularization();
    for (int i = 0; i < block.rows(); ++i) total.diagonal += weights(i);
    for (int s = 0; s < block.side_count(); ++s) {
      total.diagonal += block.whitened_columns(s).squaredNorm();
    }
  });
  return total;
}

/// Natural map of the dual problem, and its worst block.
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
    certificate.worst_contact = not_finite;
    return;
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

/// One block's parts of the sums and of the largest values.
template <RealScalar Scalar>
struct ImpulseParts {
  Scalar gap;  ///< ½‖γ − P(y)‖²_R + (γ − P(y))ᵀR(P(y) − y), ≥ 0 for γ in its set
  Scalar violation;  ///< distance from the set
  Scalar work;       ///< |(γ − P(y))·u|, for cones |γ·u|
};

/// @param nearest  P(y).
template <typename Block, typename Rows>
[[nodiscard]] auto parts_of(const Block& block, const Rows& gamma, const Rows& y,
                            const Rows& nearest) noexcept {
  using Scalar = typename Rows::Scalar;
  const Rows weights = block.regularization(), change = gamma - nearest;
  const Rows& works = block.is_cone() ? gamma : change;  // P(y)ᵀR(P(y) − y) = 0 for a cone
  // u = J v − v̂ + R γ = R (γ − y).
  return ImpulseParts<Scalar>{
      change.cwiseAbs2().dot(weights) / 2 + works.cwiseProduct(weights).dot(nearest - y),
      (gamma - block.nearest_unweighted(gamma)).norm(),
      std::abs(works.cwiseProduct(weights).dot(gamma - y))};
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

/// Looks at every block of an answer (v, γ).
/// @param given, own  Jᵀγ and JᵀP(y(v)) are added.
/// @return  The first block whose y(v) is not finite; −1 if there is none.
template <RealScalar Scalar>
[[nodiscard]] Index see_impulses(const ContactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& velocity, const VectorX<Scalar>& impulse,
                                 Momenta<Scalar>& given, Momenta<Scalar>& own,
                                 PartsSeen<Scalar>& seen) noexcept {
  return find_not_finite(problem, [&](const auto& block) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows gamma = block.read(impulse), y = block.trial(block.velocity(velocity));
    if (!y.allFinite()) return false;
    const Rows nearest = block.nearest(y);
    block.add_momentum(gamma, given.sum);
    block.add_momentum(nearest, own.sum);
    given.gross_squared += block.gross_squared(gamma);
    own.gross_squared += block.gross_squared(nearest);
    seen.see(parts_of(block, gamma, y, nearest), block.number());
    return true;
  });
}

}  // namespace detail

/// Certifies an answer (v, γ) from whatever solver, in time and memory in proportion to bodies and
/// blocks.
/// @param velocity  v, n_v [m/s]. Entries may be anything.
/// @param impulse   γ, impulse_count() of them [N·s]. Entries may be anything.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] ContactCertificate<Scalar> certify(const ContactProblem<Scalar>& problem,
                                                 const VectorX<Scalar>& velocity,
                                                 const VectorX<Scalar>& impulse) {
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
  problem.whiten(whitened.data());
  const auto of_pair = detail::balance_of(problem, whitened, given);
  const auto of_velocity = detail::balance_of(problem, whitened, own);

  ContactCertificate<Scalar> certificate;
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
[[nodiscard]] ContactCertificate<Scalar> certify(const ContactProblem<Scalar>& problem,
                                                 const VectorX<Scalar>& velocity) {
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
