// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <tuple>
#include <type_traits>

#include "carom/contact/dual.hpp"
#include "carom/core/detail/compiler.hpp"
#include "carom/solvers/answer/certificate_parts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The errors of an answer to a convex contact problem. They are computed from the answer only, and
/// do not depend on the solver.
///
/// Each measure is 0 at the solution and positive elsewhere; only the duality gap may be negative,
/// for impulses outside of their sets. If numbers are too large for the type, a measure is
/// infinite, never NaN. The duality gap, the bound on the velocity error and the natural map error
/// are upper bounds that include all rounding between the problem's numbers and the measure. For an
/// exact answer they show the accuracy with which this arithmetic can confirm it
/// (docs/derivations/rounding.md). For each measure, the block or the body with the largest
/// contribution is stored: −1 if there is none, or if an entry of the velocity itself is not
/// finite.
template <RealScalar Scalar>
struct ContactCertificate {
  /// Momentum balance ‖A(v − v*) − Jᵀγ‖_{A⁻¹} relative to the momentum_scale() [-]. It tests
  /// whether the velocity is that of the impulses, not whether the impulses are correct: any γ has
  /// residual 0 with v = v* + A⁻¹Jᵀγ. ResidualMeasure::momentum_balance.
  Scalar residual = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹}, the same balance with the impulses γ(v) = P(y(v)) of the velocity, relative to
  /// the momentum_scale() [-]. It needs only v and is 0 only at the solution. Under the convex law
  /// SapSolver reports it; its impulses are γ(v), so that both residuals are equal.
  Scalar velocity_residual = 0;
  /// ℓ(v) + dual cost(γ) [J], an upper bound. It is ≥ 0 if γ is in its cones, and 0 only at the
  /// solution, up to rounding.
  Scalar duality_gap = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹} [√J], an upper bound. For any finite v it is proven to be at least
  /// ‖v − v_opt‖_A, including rounding; v_opt is the exact answer to the numbers A, v*, J, R, v̂
  /// and sets of the problem. Infinite if A is singular up to rounding.
  Scalar velocity_error_bound = 0;
  /// Largest distance of a block's impulse from its set [N·s].
  Scalar cone_violation = 0;
  /// Largest |γ·u| over the blocks, u = J v − v̂ + R γ [J]. If the set is not a cone with its apex
  /// at zero: |(γ − P(y))·u|, y = γ − R⁻¹u. 0 at the solution.
  Scalar complementarity = 0;
  /// ‖r − P(r − u)‖/max(1, ‖r‖, ‖u‖) [-] in nondimensional form: r = γ w/‖q‖, u = (W γ + R
  /// γ + q)/‖q‖, q = J v* − v̂, where w is the mean diagonal of W + R. It needs only γ.
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

  [[nodiscard]] friend bool operator==(const ContactCertificate&,
                                       const ContactCertificate&) noexcept = default;
};

namespace detail {

template <RealScalar Scalar>
[[nodiscard]] std::array<Scalar*, 7> measures_of(ContactCertificate<Scalar>& all) noexcept {
  return {
      &all.residual,       &all.velocity_residual, &all.duality_gap,      &all.velocity_error_bound,
      &all.cone_violation, &all.complementarity,   &all.natural_map_error};
}

/// The certificate of an answer that is not finite: all measures are infinite.
/// @param block  the block whose numbers are not finite; −1 if it is not known.
template <RealScalar Scalar>
[[nodiscard]] ContactCertificate<Scalar> make_void_certificate(Index block) noexcept {
  ContactCertificate<Scalar> result;
  for (Scalar* measure : measures_of(result)) *measure = std::numeric_limits<Scalar>::infinity();
  for (Index* worst : {&result.worst_block, &result.duality_gap_block, &result.cone_violation_block,
                       &result.complementarity_block}) {
    *worst = block;
  }
  return result;
}

/// Writes the upper bounds, which include all rounding.
/// @param close  v* + A⁻¹Jᵀγ.
template <RealScalar Scalar>
void raise_by_rounding(const JudgedAnswer<Scalar>& answer, const VectorX<Scalar>& close,
                       ContactCertificate<Scalar>& certificate) {
  if constexpr (std::floating_point<Scalar>) {
    const CheckedBodies<Scalar> bodies(answer.problem(), answer.ranges());
    const CheckedMeasures<Scalar> checked = check_answer(answer, bodies, close);
    certificate.velocity_error_bound = checked.velocity_error_bound;
    certificate.duality_gap = checked.duality_gap;
    if (answer.impulse().size() == 0 || !is_finite(certificate.natural_map_error)) return;
    certificate.natural_map_error = check_natural_map(answer, bodies, close, checked.off);
  }
}

/// Certifies an answer that is finite.
template <RealScalar Scalar>
[[nodiscard]] ContactCertificate<Scalar> certify_finite(const JudgedAnswer<Scalar>& answer) {
  VectorX<Scalar> own, close;
  const PartSums<Scalar> sums = sum_impulses(answer, own);
  if (sums.not_finite.number >= 0) return make_void_certificate<Scalar>(sums.not_finite.number);
  const auto [of_pair, of_velocity] = sum_balances(answer, own, close);

  ContactCertificate<Scalar> certificate;
  certificate.residual = of_pair.relative(sums.given_gross);
  certificate.residual_body = of_pair.worst();
  certificate.velocity_residual = of_velocity.relative(sums.own_gross);
  certificate.velocity_residual_body = of_velocity.worst();
  certificate.velocity_error_bound = of_velocity.norm();
  certificate.duality_gap = of_pair.norm() * of_pair.norm() / 2 + sums.gap_sum;
  certificate.duality_gap_block = sums.gap.owner();
  certificate.cone_violation = sums.violation.value();
  certificate.cone_violation_block = sums.violation.owner();
  if (sums.work.owner() >= 0) certificate.complementarity = sums.work.value();
  certificate.complementarity_block = sums.work.owner();
  std::tie(certificate.natural_map_error, certificate.worst_block) =
      natural_map_error(answer, close);
  raise_by_rounding(answer, close, certificate);
  for (Scalar* measure : measures_of(certificate)) {
    if (!is_finite(*measure)) *measure = std::numeric_limits<Scalar>::infinity();
  }
  return certificate;
}

/// Certifies any answer.
template <RealScalar Scalar>
[[nodiscard]] CAROM_ONE_CODE ContactCertificate<Scalar> certify_pair(
    const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
    const VectorX<Scalar>& impulse, const FixedRanges& ranges) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(impulse.size() == problem.impulse_count());
  for (Index i = 0; i < problem.block_count(); ++i) {
    const Scalar* const own = impulse.data() + problem.first_row(i);
    if (!all_finite(own, problem.rows(i))) return make_void_certificate<Scalar>(i);
  }
  if (!all_finite(velocity.data(), velocity.size())) return make_void_certificate<Scalar>(-1);
  return certify_finite(JudgedAnswer<Scalar>(problem, velocity, impulse, ranges));
}

/// Certifies any velocity with its own impulses.
template <RealScalar Scalar>
[[nodiscard]] CAROM_ONE_CODE ContactCertificate<Scalar> certify_velocity(
    const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
    const FixedRanges& ranges) {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  if (!all_finite(velocity.data(), velocity.size())) return make_void_certificate<Scalar>(-1);
  VectorX<Scalar> impulse(problem.impulse_count());
  const auto add = [&](const BlockView<Scalar>& block, FirstIndex& not_finite) {
    const RowNumbers<Scalar> y = block.trial(block.velocity(velocity));
    if (!all_finite(y.data(), y.size())) return not_finite.add(block.number());
    block.write(block.nearest(y), impulse);
  };
  const Index owner = sum_over_blocks(problem, ranges, FirstIndex(), add).number;
  if (owner >= 0) return make_void_certificate<Scalar>(owner);
  return certify_pair(problem, velocity, impulse, ranges);
}

/// Computes certify_with(ranges), with the work of its ranges shared between the tasks of an
/// executor.
template <RealScalar Scalar, typename Executor, typename Certify>
[[nodiscard]] ContactCertificate<Scalar> certify_shared(const ContactProblem<Scalar>& problem,
                                                        Executor& executor,
                                                        const Certify& certify_with) {
  ContactCertificate<Scalar> result;
  share_ranges(executor, (std::max)(problem.body_count(), problem.block_count()),
               [&](const FixedRanges& ranges) { result = certify_with(ranges); });
  return result;
}

}  // namespace detail

/// Certifies an answer (v, γ) of any solver. Time and memory are proportional to bodies and blocks.
/// @param velocity  v, n_v [m/s]. Any entries are valid.
/// @param impulse   γ, impulse_count() numbers [N·s]. Any entries are valid.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] ContactCertificate<Scalar> certify(
    const ContactProblem<Scalar>& problem, const std::type_identity_t<VectorX<Scalar>>& velocity,
    const std::type_identity_t<VectorX<Scalar>>& impulse) {
  return detail::certify_pair(problem, velocity, impulse, detail::FixedRanges());
}

/// Certifies a velocity with its own impulses: γ = P(y(v)).
/// @param velocity  v, n_v [m/s]. Any entries are valid.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] ContactCertificate<Scalar> certify(
    const ContactProblem<Scalar>& problem, const std::type_identity_t<VectorX<Scalar>>& velocity) {
  return detail::certify_velocity(problem, velocity, detail::FixedRanges());
}

/// Certifies (v, γ) with the work shared between the tasks of an executor.
/// @param executor  as in SapSolver::solve(). The bits of the certificate do not depend on it, and
///                  are those without it. It is not called for a small problem.
/// @note  Cold: allocates; if memory runs out, the program ends.
template <RealScalar Scalar, detail::ExecutorLike Executor>
[[nodiscard]] ContactCertificate<Scalar> certify(
    const ContactProblem<Scalar>& problem, const std::type_identity_t<VectorX<Scalar>>& velocity,
    const std::type_identity_t<VectorX<Scalar>>& impulse, Executor&& executor) {
  return detail::certify_shared(problem, executor, [&](const detail::FixedRanges& ranges) {
    return detail::certify_pair(problem, velocity, impulse, ranges);
  });
}

/// The same for a velocity with its own impulses.
template <RealScalar Scalar, typename Executor>
requires(!std::is_convertible_v<Executor, VectorX<Scalar>> && detail::ExecutorLike<Executor>)
    [[nodiscard]] ContactCertificate<Scalar> certify(
        const ContactProblem<Scalar>& problem,
        const std::type_identity_t<VectorX<Scalar>>& velocity, Executor&& executor) {
  return detail::certify_shared(problem, executor, [&](const detail::FixedRanges& ranges) {
    return detail::certify_velocity(problem, velocity, ranges);
  });
}

}  // namespace CAROM_ABI
}  // namespace carom
