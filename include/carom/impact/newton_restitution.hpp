// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Propagation with Newton's restitution at each reflection, contact by contact: s_i⁺ = −e_i s_i⁻.
///
/// The impacts may be infinitely many and decreasing (a cradle at e ≤ 7 − 4√3). If all closing
/// rates are below the collapse threshold, Moreau's plastic law ends the impact; the status states
/// this.
/// @cite seghete2014propagative, section V; restitution per contact
template <RealScalar Scalar, ReflectionOrderLike<Scalar> Order = MostInfeasibleFirst<Scalar>>
class NewtonImpact {
 public:
  /// @param collapse_threshold  the impact has collapsed when all closing rates are below this
  ///                            fraction of the largest rate before the impact [-], > 0. With a
  ///                            smaller one, there are more reflections. With a larger one, visible
  ///                            bounces are cut off. Other values than the default were not
  ///                            measured.
  explicit NewtonImpact(Scalar collapse_threshold = Scalar(1e-6),
                        const ImpactOptions<Scalar>& options = {}, Order order = {})
      : threshold_(collapse_threshold), options_(options), order_(std::move(order)) {
    detail::reject_if(detail::collapse_fault(collapse_threshold));
    detail::reject_if(check(options));
  }

  /// Allocates memory for the problem.
  /// @param restitution  e_i [-], in [0, 1], one per contact.
  /// @param recorded     count of reflections that sequence() can store.
  /// @note  Cold: allocates, throws std::invalid_argument naming the contact.
  void prepare(const ImpactProblem<Scalar>& problem, const VectorX<Scalar>& restitution,
               Index recorded = 0) {
    if (restitution.size() != problem.contact_count()) {
      detail::reject_if(
          detail::fault("restitution entries", "one per contact", restitution.size()));
    }
    for (Index i = 0; i < restitution.size(); ++i) {
      if (restitution(i) >= Scalar(0) && restitution(i) <= Scalar(1)) continue;
      detail::reject_if(detail::fault("contact " + std::to_string(i) + ": restitution",
                                      "a number in [0, 1]", restitution(i)));
    }
    restitution_ = restitution;
    rates_.resize(std::size_t(problem.contact_count()));
    impulses_.resize(problem.contact_count());
    order_.prepare(problem.contact_count());
    plastic_.prepare(problem);
    wedged_ = !has_interior(problem);
    sequence_.clear();
    sequence_.reserve(std::size_t(recorded));
    recorded_ = std::size_t(recorded);
  }

  /// Resolves an impact: p⁻ is replaced by p⁺. A wedged problem is resolved plastically.
  /// @pre   prepare() was called with this problem.
  /// @note  Real-time safe: no allocation, no exception, at most options.reflection_limit
  ///        reflections.
  ImpactReport<Scalar> resolve(const ImpactProblem<Scalar>& problem,
                               VectorX<Scalar>& momentum) noexcept {
    CAROM_EXPECTS(momentum.size() == problem.size());
    CAROM_EXPECTS(restitution_.size() == problem.contact_count());
    using std::abs;
    ImpactReport<Scalar> report;
    impulses_.setZero();
    sequence_.clear();
    ended_plastically_ = false;
    Scalar fastest = 0;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      rates_[i] = problem.rate(Index(i), momentum);
      if (!detail::is_finite(rates_[i])) return report;
      fastest = (std::max)(fastest, Scalar(abs(rates_[i])));
    }
    report.status = ImpactStatus::resolved;
    const Scalar resting = -options_.tolerance * problem.rate_scale(momentum);
    const Scalar limit = (std::min)(resting, Scalar(-threshold_ * fastest));
    const std::span<const Scalar> rates(rates_);
    order_.start(rates);
    Index next = wedged_ ? -1 : order_.pick(rates, limit);
    for (; next >= 0 && report.reflections < options_.reflection_limit;
         next = order_.pick(rates, limit)) {
      reflect(problem, next, momentum, report);
    }
    if (next >= 0) report.status = ImpactStatus::reflection_limit;
    const bool closing =
        std::any_of(rates_.begin(), rates_.end(), [&](Scalar rate) { return rate < resting; });
    if (next < 0 && closing) {
      const ImpactReport<Scalar> rest = plastic_.resolve(problem, momentum);
      impulses_ += plastic_.impulses();
      report.energy_gain += rest.energy_gain;
      report.status = wedged_ ? ImpactStatus::wedged : ImpactStatus::collapsed;
      ended_plastically_ = true;
    }
    return report;
  }

  /// λ_i, the summed impulse of each contact in the last impact, per unit normal [√J].
  [[nodiscard]] const VectorX<Scalar>& impulses() const noexcept { return impulses_; }
  /// The contacts in the order of their reflections, up to the limit of prepare().
  [[nodiscard]] std::span<const Index> sequence() const noexcept { return sequence_; }
  /// e_i [-], the argument of prepare().
  [[nodiscard]] const VectorX<Scalar>& restitution() const noexcept { return restitution_; }
  /// Whether Moreau's plastic law ended the last impact, because it collapsed or is wedged.
  [[nodiscard]] bool ended_plastically() const noexcept { return ended_plastically_; }

 private:
  void reflect(const ImpactProblem<Scalar>& problem, Index contact, VectorX<Scalar>& momentum,
               ImpactReport<Scalar>& report) noexcept {
    const Scalar rate = problem.rate(contact, momentum);
    const Scalar impulse = -(1 + restitution_(contact)) * rate;
    problem.add_impulse(contact, impulse, momentum);
    impulses_(contact) += impulse;
    report.energy_gain += impulse * (rate + impulse / 2);
    rates_[std::size_t(contact)] = -restitution_(contact) * rate;
    order_.update(contact, rates_[std::size_t(contact)]);
    for (const auto& [other, product] : problem.neighbours(contact)) {
      rates_[std::size_t(other)] += impulse * product;
      order_.update(other, rates_[std::size_t(other)]);
    }
    if (sequence_.size() < recorded_) sequence_.push_back(contact);
    ++report.reflections;
  }

  Scalar threshold_;
  ImpactOptions<Scalar> options_;
  Order order_;
  PlasticImpact<Scalar> plastic_;
  VectorX<Scalar> restitution_, impulses_;
  std::vector<Scalar> rates_;
  std::vector<Index> sequence_;
  std::size_t recorded_ = 0;
  bool wedged_ = false, ended_plastically_ = false;
};

}  // namespace CAROM_ABI
}  // namespace carom
