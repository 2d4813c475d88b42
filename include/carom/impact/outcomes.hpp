// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "carom/core/elementary.hpp"
#include "carom/impact/impact_report.hpp"
#include "carom/impact/reflection.hpp"
#include "carom/impact/resolve_impact.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/impact/wedge.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One possible outcome of an impact.
template <RealScalar Scalar>
struct ImpactOutcome {
  VectorX<Scalar> momentum;     ///< p⁺.
  VectorX<Scalar> impulses;     ///< λ per contact along `sequence`, per unit normal [√J].
  std::vector<Index> sequence;  ///< a shortest admissible order with this outcome.
  /// Whether equivalent contacts reflected together, see MostInfeasibleTogether. Then no order has
  /// this outcome.
  bool together = false;
};

/// All possible outcomes of an impact.
template <RealScalar Scalar>
struct ImpactOutcomes {
  std::vector<ImpactOutcome<Scalar>> outcomes;  ///< distinct, in the order found, shortest first.
  bool complete = false;     ///< false: the limit ended the search, or the problem is wedged.
  Index states = 0;          ///< count of distinct momenta visited, including the first.
  Scalar indeterminacy = 0;  ///< ξ = max |p_a − p_b|/|p⁻| over pairs of outcomes [-].
};

/// Tolerances for equal outcomes and for feasibility, and the limit of the search.
template <RealScalar Scalar>
struct OutcomeOptions {
  /// Two momenta are equal if their difference is below this fraction of |p⁻| [-], > 0. Round-off
  /// along a few hundred reflections is far below the default. Different outcomes are rarely this
  /// near.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon()) / 16;
  /// Largest count of distinct momenta visited, ≥ 1. With the default, a few contacts need a tenth
  /// of a second; eight equal balls have 40,320 momenta.
  Index state_limit = 200'000;
  /// A contact is feasible if it closes slower than this fraction of |p⁻| [-], ≥ 0.
  Scalar feasibility = 1024 * std::numeric_limits<Scalar>::epsilon();
  /// R [-], in [0, 1]: each elastic outcome is blended with the plastic one, as in
  /// RestitutionImpact.
  Scalar restitution = 1;
};

/// The fault of the options, as one sentence; empty if there is none.
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
  return detail::restitution_fault(options.restitution);
}

namespace detail {

/// A fixed combination Σ w_i p_i of a momentum's entries, used as a search key, and Σ w_i.
///
/// Exponentials of distinct algebraic numbers are linearly independent over the rationals. Permuted
/// or reflected whole numbers, which result from equal masses, therefore never have equal keys.
template <RealScalar Scalar>
[[nodiscard]] std::pair<Scalar, Scalar> momentum_key(const VectorX<Scalar>& momentum) {
  Scalar key = 0, weight_sum = 0;
  for (Index i = 0; i < momentum.size(); ++i) {
    const Scalar weight =
        elementary::exp(std::fmod(Scalar(i) * std::numbers::phi_v<Scalar>, Scalar(1)));
    key += weight * momentum(i);
    weight_sum += weight;
  }
  return {key, weight_sum};
}

/// The visited momenta, which can be found again within a tolerance. They are sorted by the key and
/// compared in full only within its tolerance.
template <RealScalar Scalar>
class MomentumMemory {
 public:
  explicit MomentumMemory(const Scalar& tolerance) : tolerance_(tolerance) {}

  /// Index of the stored momentum equal to this one. If there is none, the momentum is stored as
  /// `index` and the result is −1.
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

/// The breadth-first search for outcomes. Each momentum is visited once.
template <RealScalar Scalar, typename Mass>
class OutcomeSearch {
 public:
  OutcomeSearch(const ImpactProblem<Scalar>& problem, const Mass& mass,
                const VectorX<Scalar>& momentum, const OutcomeOptions<Scalar>& options)
      : problem_(problem),
        mass_(mass),
        options_(options),
        size_(norm(momentum)),
        limit_(-options.feasibility * size_),
        memory_(options.tolerance * momentum.cwiseAbs().maxCoeff()),
        states_{momentum},
        arrivals_{{-1, -1}} {
    static_cast<void>(memory_.find_or_add(states_, momentum, 0));
  }

  [[nodiscard]] ImpactOutcomes<Scalar> run() {
    result_.complete = true;
    for (Index s = 0; s < Index(states_.size()); ++s) {
      if (visit(s)) result_.outcomes.push_back(trace(s));
    }
    result_.states = Index(states_.size());
    add_symmetric();
    if (options_.restitution < Scalar(1)) blend();
    for (std::size_t a = 0; a < result_.outcomes.size(); ++a) {
      for (std::size_t b = 0; b < a && size_ > Scalar(0); ++b) {
        const VectorX<Scalar> way = result_.outcomes[a].momentum - result_.outcomes[b].momentum;
        result_.indeterminacy = (std::max)(result_.indeterminacy, Scalar(norm(way) / size_));
      }
    }
    return std::move(result_);
  }

 private:
  struct Arrival {
    Index from, contact;
  };

  [[nodiscard]] Scalar norm(const VectorX<Scalar>& p) const {
    using std::sqrt;
    VectorX<Scalar> velocity = p;
    mass_.apply_inverse(velocity);
    return Scalar(sqrt((std::max)(Scalar(0), p.dot(velocity))));
  }
  /// Reflects a state across each contact that closes in it.
  /// @return  whether no contact closes.
  [[nodiscard]] bool visit(Index s) {
    bool feasible = true;
    for (Index i = 0; i < problem_.contact_count(); ++i) {
      if (!(problem_.rate(i, states_[std::size_t(s)]) < limit_)) continue;
      feasible = false;
      if (Index(states_.size()) >= options_.state_limit) {
        result_.complete = false;
        break;
      }
      VectorX<Scalar> next = states_[std::size_t(s)];
      reflect(problem_, i, next);
      if (memory_.find_or_add(states_, next, Index(states_.size())) >= 0) continue;
      states_.push_back(std::move(next));
      arrivals_.push_back({s, i});
    }
    return feasible;
  }
  [[nodiscard]] ImpactOutcome<Scalar> trace(Index s) const {
    ImpactOutcome<Scalar> outcome{
        states_[std::size_t(s)], VectorX<Scalar>::Zero(problem_.contact_count()), {}};
    for (Index at = s; arrivals_[std::size_t(at)].from >= 0; at = arrivals_[std::size_t(at)].from) {
      const auto [from, contact] = arrivals_[std::size_t(at)];
      outcome.sequence.push_back(contact);
      outcome.impulses(contact) -= 2 * problem_.rate(contact, states_[std::size_t(from)]);
    }
    std::reverse(outcome.sequence.begin(), outcome.sequence.end());
    return outcome;
  }
  /// Adds the outcome of equivalent contacts that reflect together, if it is not yet known.
  void add_symmetric() {
    ImpactSolution<Scalar> symmetric = resolve_impact(problem_, mass_, states_.front());
    if (symmetric.report.status != ImpactStatus::resolved) return;
    for (const ImpactOutcome<Scalar>& other : result_.outcomes) {
      if (norm(other.momentum - symmetric.momentum) <= options_.tolerance * size_) return;
    }
    result_.outcomes.push_back({std::move(symmetric.momentum), std::move(symmetric.impulses),
                                std::move(symmetric.sequence), true});
  }
  /// Blends each outcome with the plastic outcome according to R.
  void blend() {
    const ImpactSolution<Scalar> plastic =
        resolve_impact(problem_, mass_, states_.front(), PlasticImpact<Scalar>());
    for (ImpactOutcome<Scalar>& outcome : result_.outcomes) {
      const VectorX<Scalar> way = outcome.momentum - plastic.momentum;
      const Scalar square = norm(way);
      const Scalar share = restitution_blend(options_.restitution, plastic.velocity.dot(way),
                                             Scalar(square * square));
      outcome.momentum = plastic.momentum + share * way;
      outcome.impulses = plastic.impulses + share * (outcome.impulses - plastic.impulses);
    }
  }

  const ImpactProblem<Scalar>& problem_;
  const Mass& mass_;
  const OutcomeOptions<Scalar>& options_;
  Scalar size_, limit_;
  MomentumMemory<Scalar> memory_;
  std::vector<VectorX<Scalar>> states_;
  std::vector<Arrival> arrivals_;
  ImpactOutcomes<Scalar> result_;
};

}  // namespace detail

/// All distinct outcomes over all admissible orders, and the outcome of equivalent contacts that
/// reflect together, which is that of ImpactResolver without a given order.
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
  detail::reject_if(check(options));
  if (momentum.size() != problem.size()) {
    detail::reject_if(
        detail::fault("momentum entries", "as many as the problem's size", momentum.size()));
  }
  detail::reject_if(detail::finite_fault("momentum", momentum));
  if (!has_interior(problem)) return {};
  return detail::OutcomeSearch<Scalar, Mass>(problem, mass, momentum, options).run();
}

}  // namespace CAROM_ABI
}  // namespace carom
