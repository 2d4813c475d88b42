// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/uniqueness.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Whether an impact could have ended otherwise than it did.
template <RealScalar Scalar>
struct OutcomeJudgement {
  bool unique = false;   ///< Every order of reflections ends there, and so do equivalent contacts
                         ///< that reflect together. Only to be read where `decided`.
  bool decided = false;  ///< False: the search ended before it was known, or the problem is wedged.
  Scalar indeterminacy = 0;  ///< ξ, largest distance of two outcomes over |p⁻| [-], of those found.
};

/// Judges an outcome by all others: by the normals alone where they certify one outcome, else by
/// search.
///
/// ```
/// const auto solution = resolve_impact(problem, mass, momentum);
/// const auto judgement = judge_outcome(problem, mass, momentum, solution.momentum);
/// if (judgement.decided && !judgement.unique) warn(judgement.indeterminacy);
/// ```
/// @param mass     M or an operator for M⁻¹.
/// @param before   p⁻.
/// @param after    p⁺ by any law, of the restitution in the options.
/// @param options  of the search. The default ends it after 2,000 momenta, some milliseconds with a
///                 handful of contacts; a longer search decides more impacts of many contacts.
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
