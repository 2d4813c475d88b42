// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/uniqueness.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Whether an impact could have another outcome.
template <RealScalar Scalar>
struct OutcomeJudgement {
  /// All orders of reflections have this outcome, and also equivalent contacts that reflect
  /// together. Only valid if `decided`.
  bool unique = false;
  bool decided = false;  ///< False: the search ended without a result, or the problem is wedged.
  Scalar indeterminacy = 0;  ///< ξ, largest distance of two known outcomes over |p⁻| [-].
};

/// Compares an outcome with all others: from the normals only if they certify one outcome,
/// otherwise by search.
///
/// ```
/// const auto solution = resolve_impact(problem, mass, momentum);
/// const auto judgement = judge_outcome(problem, mass, momentum, solution.momentum);
/// if (judgement.decided && !judgement.unique) warn(judgement.indeterminacy);
/// ```
/// @param mass     M or an operator for M⁻¹.
/// @param before   p⁻.
/// @param after    p⁺ of any law with the restitution in the options.
/// @param options  of the search. The default ends it after 2,000 momenta, some milliseconds for a
///                 handful of contacts. A longer search decides more impacts with many contacts.
/// @note  Cold: allocates, throws std::invalid_argument as enumerate_outcomes() does.
template <RealScalar Scalar, InverseMassLike Mass>
[[nodiscard]] OutcomeJudgement<Scalar> judge_outcome(
    const ImpactProblem<Scalar>& problem, const Mass& mass, const VectorX<Scalar>& before,
    const VectorX<Scalar>& after, const OutcomeOptions<Scalar>& options = {.state_limit = 2000}) {
  using std::sqrt;
  const auto square = [&](const VectorX<Scalar>& p) {
    VectorX<Scalar> velocity = p;
    mass.apply_inverse(velocity);
    return Scalar(p.dot(velocity));
  };
  ImpactOutcomes<Scalar> all;
  if (classify(problem).unique()) {
    detail::reject_if(check(options));
    RestitutionImpact<Scalar> law(options.restitution);
    all.outcomes.push_back({resolve_impact(problem, mass, before, law).momentum, {}, {}});
    all.complete = true;
  } else {
    all = enumerate_outcomes(problem, mass, before, options);
  }
  OutcomeJudgement<Scalar> result;
  result.indeterminacy = all.indeterminacy;
  const Scalar energy = square(before);
  for (const ImpactOutcome<Scalar>& outcome : all.outcomes) {
    if (!(energy > Scalar(0))) break;
    const Scalar distance = square(outcome.momentum - after) / energy;
    if (!(distance > options.tolerance * options.tolerance)) continue;
    result.indeterminacy = (std::max)(result.indeterminacy, Scalar(sqrt(distance)));
  }
  const bool differs = result.indeterminacy > options.tolerance;
  result.unique = all.complete && !differs;
  result.decided = all.complete || differs;
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
