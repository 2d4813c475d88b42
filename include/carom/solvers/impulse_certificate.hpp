// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/detail/natural_map.hpp"
#include "carom/core/detail/small_vector.hpp"
#include "carom/core/elementary.hpp"
#include "carom/solvers/answer/map_rounding.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The errors of impulses in a DelassusProblem under a law. They are computed from the impulses
/// only, with the velocities u = (W + R) γ + q.
///
/// Each measure is 0 at a solution and positive elsewhere; it is infinite if an impulse is not
/// finite. The natural map errors are upper bounds that include all rounding between the problem's
/// numbers W, R and q and the measure (docs/derivations/rounding.md). If W is a function, its
/// product counts as exact. For each measure the block with the largest contribution is stored, −1
/// if there is none.
template <RealScalar Scalar>
struct ImpulseCertificate {
  /// err = ‖r − P(r − ũ)‖/max(1, ‖r‖, ‖u‖) [-] in nondimensional form: r = γ w/‖q‖, u/‖q‖, w the
  /// mean diagonal of W + R; ũ = u for the convex law, De Saxcé's for Coulomb's.
  Scalar natural_map_error = 0;
  /// err_abh = ‖r − P(r − ũ)‖ [-], relative to ‖q‖ alone: stricter where ‖r‖ is large.
  Scalar absolute_error = 0;
  /// Largest |min(γₙ w, uₙ)| of a normal, Signorini's condition [m/s]. Under the convex law with
  /// uₙ − Σ μ_b ‖u_b‖, because it permits this separation.
  Scalar signorini = 0;
  /// Largest distance of an impulse from its set [N·s].
  Scalar cone_violation = 0;
  /// Largest |γ·ũ| [J]; rows between bounds are excluded, because it need not be 0 there.
  Scalar complementarity = 0;
  /// Largest angle between γ_b and −u_b of a sliding block [rad]: friction opposes motion. Blocks
  /// slower than the natural map error, or rounding, times ‖q‖, ‖γ‖ w and ‖u‖ count as resting.
  Scalar dissipation_angle = 0;
  Index worst_block = -1;
  Index signorini_block = -1;
  Index cone_violation_block = -1;
  Index complementarity_block = -1;
  Index dissipation_block = -1;
};

namespace detail {

/// A measure; infinite if it is NaN.
template <RealScalar Scalar>
[[nodiscard]] Scalar finite_or_infinity(const Scalar& measure) noexcept {
  return is_finite(measure) ? measure : std::numeric_limits<Scalar>::infinity();
}

/// Replaces the largest value and its owner by a larger one.
template <RealScalar Scalar>
void raise_largest(const Scalar& value, Index owner, Scalar& largest, Index& whose) noexcept {
  if (!(value > largest)) return;
  largest = value;
  whose = owner;
}

/// Rows of a contact from numbers in parts.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> gather_rows(const DelassusProblem<Scalar>& problem, Index contact,
                                             const Scalar* parts) noexcept {
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < problem.set(contact).rows; ++r) {
    const auto [part, row] = problem.place_of(contact, r);
    rows(r) = parts[3 * part + row];
  }
  return rows;
}

/// The natural map error only, for solvers: err and err_abh.
template <RealScalar Scalar>
struct NaturalMap {
  Scalar relative, absolute;
  Index worst;
};

/// The natural map of numbers that are not finite: infinite. The worst contact is the first one
/// whose own impulse is not finite, otherwise the one that was found.
template <RealScalar Scalar>
[[nodiscard]] NaturalMap<Scalar> void_natural_map(const DelassusProblem<Scalar>& problem,
                                                  const Scalar* impulse, Index found) noexcept {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  for (Index i = 0; i < problem.count(); ++i) {
    const RowNumbers<Scalar> rows = gather_rows(problem, i, impulse);
    if (!all_finite(rows.data(), rows.size())) return {infinity, infinity, i};
  }
  return {infinity, infinity, found};
}

/// @param impulse, velocity  γ and u in parts.
template <RealScalar Scalar>
[[nodiscard]] NaturalMap<Scalar> natural_map(const DelassusProblem<Scalar>& problem,
                                             FrictionLaw law, const Scalar* impulse,
                                             const Scalar* velocity) noexcept {
  using std::sqrt;
  const Scalar w = problem.inverse_mass_scale();
  Scalar map_squared = 0, impulse_squared = 0, velocity_squared = 0, largest = -1;
  Index worst = -1;
  for (Index i = 0; i < problem.count(); ++i) {
    const RowNumbers<Scalar> gamma = gather_rows(problem, i, impulse);
    const RowNumbers<Scalar> u = gather_rows(problem, i, velocity);
    const Scalar part = natural_map_squared(law, problem.set(i), gamma, u, w);
    if (!is_finite(part)) return void_natural_map(problem, impulse, i);
    map_squared += part;
    raise_largest(part, i, largest, worst);
    for (int r = 0; r < gamma.size(); ++r) {
      impulse_squared += (gamma(r) * w) * (gamma(r) * w);
      velocity_squared += u(r) * u(r);
    }
  }
  const Scalar load = problem.load_norm();
  const Scalar scale =
      (std::max)({load, Scalar(sqrt(impulse_squared)), Scalar(sqrt(velocity_squared))});
  if (!is_finite(scale)) return void_natural_map(problem, impulse, worst);  // squares overflowed
  const Scalar map = sqrt(map_squared);
  return {relative_error(map, scale), relative_error(map, load), worst};
}

/// The angle between the slip μ ∘ u and −γ/μ of a block [rad], in [0, π]; 0 if the block rests or
/// has no friction impulse.
template <RealScalar Scalar>
[[nodiscard]] Scalar dissipation_angle(const FrictionBlock<Scalar>& block,
                                       const RowNumbers<Scalar>& impulse,
                                       const RowNumbers<Scalar>& velocity,
                                       const Scalar& at_rest) noexcept {
  using elementary::atan2, std::sqrt;
  SmallVector<Scalar, 5> slip, rub;  // μ ∘ u, −γ/μ
  Scalar largest(0), squared(0);
  for (int k = 0; k < block.size; ++k) {
    const Scalar& mu = block.mu(k);
    if (!(mu > Scalar(0))) continue;  // no friction in this row
    largest = (std::max)(largest, mu);
    slip(k) = mu * velocity(block.row(k));
    rub(k) = -impulse(block.row(k)) / mu;
  }
  if (!(slip.norm() > at_rest * largest) || rub.is_zero()) return Scalar(0);
  for (int k = 0; k < 5; ++k) {
    for (int l = 0; l < k; ++l) {
      const Scalar across = slip(k) * rub(l) - slip(l) * rub(k);
      squared += across * across;
    }
  }
  return atan2(sqrt(squared), slip.dot(rub));
}

}  // namespace detail

/// Certifies impulses.
/// @param impulse  γ, row_count().
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] ImpulseCertificate<Scalar> certify(
    const DelassusProblem<Scalar>& problem, const std::type_identity_t<VectorX<Scalar>>& impulse,
    FrictionLaw law) {
  using std::abs;
  CAROM_EXPECTS(impulse.size() == problem.row_count());
  ImpulseCertificate<Scalar> result;
  if (problem.count() == 0) return result;
  VectorX<Scalar> gamma(3 * problem.part_count()), velocity(3 * problem.part_count());
  problem.write_parts(impulse, gamma);
  problem.write_velocities(as_span(gamma), as_span(velocity));
  const auto map = detail::natural_map(problem, law, gamma.data(), velocity.data());
  result.natural_map_error = map.relative;
  result.absolute_error = map.absolute;
  if (map.relative > Scalar(0)) result.worst_block = map.worst;
  if (!detail::is_finite(map.relative)) {
    result.signorini = result.cone_violation = result.complementarity = result.dissipation_angle =
        map.relative;
    result.signorini_block = result.cone_violation_block = result.complementarity_block =
        result.dissipation_block = map.worst;
    return result;
  }
  if constexpr (std::floating_point<Scalar>) {
    const auto checked = detail::check_natural_map(problem, law, gamma);
    result.natural_map_error = detail::finite_or_infinity(checked.relative());
    result.absolute_error = detail::finite_or_infinity(checked.absolute());
  }
  const Scalar w = problem.inverse_mass_scale();
  // Possible size of a zero velocity in roundings of the largest of q, W γ and u, as a sum over a
  // contact's neighbours. A much larger number would hide the angles of slowly sliding contacts.
  constexpr int roundings = 64;
  constexpr Scalar rounding = roundings * std::numeric_limits<Scalar>::epsilon();
  const Scalar at_rest =
      (std::max)(map.relative, rounding) *
      (std::max)({problem.load_norm(), Scalar(w * detail::norm(gamma.data(), gamma.size())),
                  detail::norm(velocity.data(), velocity.size())});
  for (Index i = 0; i < problem.count(); ++i) {
    const ImpulseSet<Scalar>& set = problem.set(i);
    const RowNumbers<Scalar> g = detail::gather_rows(problem, i, gamma.data());
    const RowNumbers<Scalar> u = detail::gather_rows(problem, i, velocity.data());
    const RowNumbers<Scalar> lifted = detail::law_velocity(law, set, u);
    const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
    const RowNumbers<Scalar> nearest = nearest_impulse(set, ones, g);
    RowNumbers<Scalar> outside, from_apex;
    detail::write_difference(g.data(), nearest.data(), g.size(), outside.data());
    for (int r = 0; r < g.size(); ++r) from_apex(r) = g(r) + set.shift(r);
    detail::raise_largest(detail::norm(outside.data(), outside.size()), i, result.cone_violation,
                          result.cone_violation_block);
    for (const detail::FrictionBlock<Scalar>& block : detail::FrictionBlocks<Scalar>(set)) {
      detail::raise_largest(detail::dissipation_angle(block, from_apex, u, at_rest), i,
                            result.dissipation_angle, result.dissipation_block);
    }
    const int n = detail::normal_row(set.shape);
    if (n < 0) continue;
    const Scalar normal = law == FrictionLaw::coulomb ? u(n) : u(n) - de_saxce_lift(set, u);
    detail::raise_largest(Scalar(abs((std::min)(from_apex(n) * w, normal))), i, result.signorini,
                          result.signorini_block);
    const Scalar work = detail::dot(from_apex.data(), lifted.data(), from_apex.size());
    detail::raise_largest(Scalar(abs(work)), i, result.complementarity,
                          result.complementarity_block);
  }
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
