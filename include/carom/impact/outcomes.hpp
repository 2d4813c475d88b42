// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "carom/impact/impact_report.hpp"
#include "carom/impact/reflection.hpp"
#include "carom/impact/wedge.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One way in which an impact can end.
template <RealScalar Scalar>
struct ImpactOutcome {
  VectorX<Scalar> momentum;     ///< p⁺.
  VectorX<Scalar> impulses;     ///< λ per contact along `sequence`, per unit normal [√J].
  std::vector<Index> sequence;  ///< a shortest admissible order that leads here.
};

/// Every way in which an impact can end.
template <RealScalar Scalar>
struct ImpactOutcomes {
  std::vector<ImpactOutcome<Scalar>> outcomes;  ///< distinct, in the order found, shortest first.
  bool complete = false;     ///< false: the budget ended the search, or the problem is wedged.
  Index states = 0;          ///< distinct momenta met on the way, the first one included.
  Scalar indeterminacy = 0;  ///< ξ = max |p_a − p_b|/|p⁻| over pairs of outcomes [-].
};

/// What counts as the same outcome, what as feasible, and how long to search.
template <RealScalar Scalar>
struct OutcomeOptions {
  /// Momenta closer than this fraction of |p⁻| are the same [-], > 0. Round-off along a few hundred
  /// reflections stays far below the default; truly different outcomes are rarely this near.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon()) / 16;
  /// Most distinct momenta visited, ≥ 1. The default takes a tenth of a second with few contacts;
  /// eight equal balls have 40,320.
  Index state_limit = 200'000;
  /// Contacts closing slower than this fraction of |p⁻| count as feasible [-], ≥ 0.
  Scalar feasibility = 1024 * std::numeric_limits<Scalar>::epsilon();
};

/// What is wrong with the options, as one sentence; empty when nothing is.
template <RealScalar Scalar>
[[nodiscard]] Fault check(const OutcomeOptions<Scalar>& options) {
  if (!(options.tolerance > Scalar(0) && options.tolerance < Scalar(1))) {
    return detail::fault("tolerance", "a fraction in (0, 1)", options.tolerance);
  }
  if (!(options.feasibility >= Scalar(0) && options.feasibility < Scalar(1))) {
    return detail::fault("feasibility", "a fraction in [0, 1)", options.feasibility);
  }
  if (options.state_limit < 1) {
    return detail::fault("state limit", "a count >= 1", options.state_limit);
  }
  return {};
}

namespace detail {

/// A fixed combination Σ w_i p_i of a momentum's entries, by which it is found again, and Σ w_i.
///
/// Exponentials of distinct algebraic numbers are independent over the rationals, so permuted or
/// reflected whole numbers, as equal masses give, never share a key.
template <RealScalar Scalar>
[[nodiscard]] std::pair<Scalar, Scalar> momentum_key(const VectorX<Scalar>& momentum) {
  Scalar key = 0, weight_sum = 0;
  for (Index i = 0; i < momentum.size(); ++i) {
    const Scalar weight = std::exp(std::fmod(Scalar(i) * std::numbers::phi_v<Scalar>, Scalar(1)));
    key += weight * momentum(i);
    weight_sum += weight;
  }
  return {key, weight_sum};
}

/// Momenta met so far, found again within a tolerance: ordered by one fixed combination of their
/// entries, compared in full only within its tolerance.
template <RealScalar Scalar>
class MomentumMemory {
 public:
  explicit MomentumMemory(const Scalar& tolerance) : tolerance_(tolerance) {}

  /// Index of the remembered momentum equal to this one, or −1 after remembering it as `index`.
  [[nodiscard]] Index find_or_add(const std::vector<VectorX<Scalar>>& states,
                                  const VectorX<Scalar>& momentum, Index index) {
    const auto [key, weight_sum] = momentum_key(momentum);
    const Scalar reach = weight_sum * tolerance_;
    for (auto it = places_.lower_bound(key - reach);
         it != places_.end() && it->first <= key + reach; ++it) {
      const VectorX<Scalar>& other = states[std::size_t(it->second)];
      if ((other - momentum).cwiseAbs().maxCoeff() <= tolerance_) return it->second;
    }
    places_.emplace(key, index);
    return -1;
  }

 private:
  Scalar tolerance_;
  std::multimap<Scalar, Index> places_;
};

}  // namespace detail

/// All distinct outcomes over all admissible orders, breadth first, each momentum visited once.
///
/// @param mass      M or an operator for M⁻¹, for the norm of momenta.
/// @param momentum  p⁻.
/// @note  Cold: allocates, throws std::invalid_argument for options out of range, a momentum of
///        the wrong size or not finite, and for a problem that is not prepared().
/// @cite  seghete2014propagative, section V (indeterminacy), over admissible orders.
template <RealScalar Scalar, InverseMassLike Mass>
[[nodiscard]] ImpactOutcomes<Scalar> enumerate_outcomes(
    const ImpactProblem<Scalar>& problem, const Mass& mass, const VectorX<Scalar>& momentum,
    const OutcomeOptions<Scalar>& options = {}) {
  using std::sqrt;
  detail::reject_if(check(options));
  if (momentum.size() != problem.size()) {
    detail::reject_if(
        detail::fault("momentum entries", "as many as the problem's size", momentum.size()));
  }
  detail::reject_if(detail::finite_fault("momentum", momentum));
  ImpactOutcomes<Scalar> result;
  if (!has_interior(problem)) return result;
  const auto norm = [&](const VectorX<Scalar>& p) {
    VectorX<Scalar> velocity = p;
    mass.apply_inverse(velocity);
    return Scalar(sqrt((std::max)(Scalar(0), p.dot(velocity))));
  };
  const Scalar size = norm(momentum);
  const Scalar limit = -options.feasibility * size;
  struct Arrival {
    Index from, contact;
  };
  std::vector<VectorX<Scalar>> states{momentum};
  std::vector<Arrival> arrivals{{-1, -1}};
  detail::MomentumMemory<Scalar> memory(options.tolerance * momentum.cwiseAbs().maxCoeff());
  static_cast<void>(memory.find_or_add(states, momentum, 0));
  result.complete = true;
  for (Index s = 0; s < Index(states.size()); ++s) {
    bool feasible = true;
    for (Index i = 0; i < problem.contact_count(); ++i) {
      if (!(problem.rate(i, states[std::size_t(s)]) < limit)) continue;
      feasible = false;
      if (Index(states.size()) >= options.state_limit) {
        result.complete = false;
        break;
      }
      VectorX<Scalar> next = states[std::size_t(s)];
      reflect(problem, i, next);
      if (memory.find_or_add(states, next, Index(states.size())) >= 0) continue;
      states.push_back(std::move(next));
      arrivals.push_back({s, i});
    }
    if (!feasible) continue;
    ImpactOutcome<Scalar> outcome{
        states[std::size_t(s)], VectorX<Scalar>::Zero(problem.contact_count()), {}};
    for (Index at = s; arrivals[std::size_t(at)].from >= 0; at = arrivals[std::size_t(at)].from) {
      const auto [from, contact] = arrivals[std::size_t(at)];
      outcome.sequence.push_back(contact);
      outcome.impulses(contact) -= 2 * problem.rate(contact, states[std::size_t(from)]);
    }
    std::reverse(outcome.sequence.begin(), outcome.sequence.end());
    for (const auto& other : result.outcomes) {
      if (!(size > Scalar(0))) break;
      result.indeterminacy =
          (std::max)(result.indeterminacy, Scalar(norm(outcome.momentum - other.momentum) / size));
    }
    result.outcomes.push_back(std::move(outcome));
  }
  result.states = Index(states.size());
  return result;
}

}  // namespace CAROM_ABI
}  // namespace carom
