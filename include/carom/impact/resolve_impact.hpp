// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "carom/core/invalid_input.hpp"
#include "carom/impact/concepts.hpp"
#include "carom/impact/resolve.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A resolved impact and its errors.
template <RealScalar Scalar>
struct ImpactSolution {
  VectorX<Scalar> momentum;  ///< p⁺.
  VectorX<Scalar> velocity;  ///< v⁺ = M⁻¹ p⁺.
  VectorX<Scalar> impulses;  ///< λ per contact, per unit normal [√J].
  /// contacts in the order of their reflections; empty for laws without a sequence.
  std::vector<Index> sequence;
  ImpactReport<Scalar> report;
  /// p⁺ − p⁻ − Σ λ_i u_i|/|p⁻|: the change of momentum that is not from a contact [-].
  Scalar momentum_error = 0;
  /// |E⁺ − E⁻ − energy_gain|/E⁻, with the gain summed from the impulses [-].
  Scalar energy_error = 0;
  /// The largest remaining closing rate, max(0, −min s_i)/|p⁻| [-].
  Scalar infeasibility = 0;
};

/// Resolves an impact in one call.
///
/// @param mass      M, or an operator for M⁻¹.
/// @param momentum  p⁻.
/// @param law       elastic by default; any law of this room. If its prepare() needs more than the
///                  problem, the law must be prepared before.
/// @throws std::invalid_argument if the momentum has another size than the problem, or an entry
///         that is not finite.
/// @note  Cold: allocates. Use the law itself inside a simulation loop.
template <RealScalar Scalar, InverseMassLike Mass,
          ImpactLawLike<Scalar> Law = ImpactResolver<Scalar>>
[[nodiscard]] ImpactSolution<Scalar> resolve_impact(const ImpactProblem<Scalar>& problem,
                                                    const Mass& mass,
                                                    const VectorX<Scalar>& momentum,
                                                    Law law = Law()) {
  if (momentum.size() != problem.size()) {
    detail::reject_if(
        detail::fault("momentum entries", "as many as the problem's size", momentum.size()));
  }
  detail::reject_if(detail::finite_fault("momentum", momentum));
  const auto velocity_of = [&](VectorX<Scalar> p) {
    mass.apply_inverse(p);
    return p;
  };
  ImpactSolution<Scalar> solution;
  solution.momentum = momentum;
  if constexpr (requires { law.prepare(problem); }) law.prepare(problem);
  solution.report = law.resolve(problem, solution.momentum);
  if constexpr (requires {
                  law.prepare(problem, Index());
                  law.sequence();
                }) {
    // The length of the sequence is known only now: the law runs again and records it.
    law.prepare(problem, solution.report.reflections);
    solution.momentum = momentum;
    solution.report = law.resolve(problem, solution.momentum);
    solution.sequence.assign(law.sequence().begin(), law.sequence().end());
  }
  solution.velocity = velocity_of(solution.momentum);
  solution.impulses.resize(problem.contact_count());
  std::copy_n(law.impulses().data(), problem.contact_count(), solution.impulses.data());

  VectorX<Scalar> rest = momentum - solution.momentum;
  Scalar least_rate = 0;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    problem.add_impulse(i, solution.impulses(i), rest);
    least_rate = (std::min)(least_rate, problem.rate(i, solution.momentum));
  }
  const Scalar before = momentum.dot(velocity_of(momentum));
  if (!(before > Scalar(0))) return solution;
  const Scalar after = solution.momentum.dot(solution.velocity);
  using std::abs, std::sqrt;
  solution.momentum_error = sqrt(rest.dot(velocity_of(rest)) / before);
  solution.energy_error = abs(after - before - 2 * solution.report.energy_gain) / before;
  solution.infeasibility = -least_rate / sqrt(before);
  return solution;
}

}  // namespace CAROM_ABI
}  // namespace carom
