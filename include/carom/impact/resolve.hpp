// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "carom/impact/equivalent_contacts.hpp"
#include "carom/impact/impact_report.hpp"
#include "carom/impact/order.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/reflection.hpp"
#include "carom/impact/uniqueness.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Propagative elastic impact: reflects across infeasible contacts until none is infeasible. The
/// contacts reflect one at a time, or all equivalent ones at once if no order is given.
///
/// ```
/// carom::ImpactResolver<double> resolver;
/// resolver.prepare(problem);                                // cold
/// const auto report = resolver.resolve(problem, momentum);  // hot
/// ```
/// @tparam Order  chooses the next contact, see order.hpp.
/// @cite   seghete2014propagative, algorithm of section IV, with admissible sequences.
template <RealScalar Scalar, ReflectionOrderLike<Scalar> Order = MostInfeasibleTogether<Scalar>>
class ImpactResolver {
 public:
  explicit ImpactResolver(const ImpactOptions<Scalar>& options = {}, Order order = {})
      : options_(options), order_(std::move(order)) {
    detail::reject_if(check(options));
  }

  /// Allocates memory for the problem and tests whether it is wedged.
  /// @param recorded  count of reflections that sequence() can store.
  /// @note  Allocates only for a problem larger than every problem before.
  void prepare(const ImpactProblem<Scalar>& problem, Index recorded = 0) {
    const auto count = static_cast<std::size_t>(problem.contact_count());
    rates_.resize(count);
    impulses_.assign(count, Scalar(0));
    sequence_.clear();
    sequence_.reserve(std::size_t(recorded));
    steps_.clear();
    steps_.reserve(std::size_t(recorded));
    recorded_ = std::size_t(recorded);
    order_.prepare(problem.contact_count());
    if constexpr (reflects_together<Order>) equivalent_.prepare(problem.contact_count());
    wedged_ = !wedge_.has_interior(problem);
    plastic_.grow(problem.contact_count());
    if (wedged_) plastic_.prepare(problem);
  }

  /// Whether no motion opens all contacts. Reflections would then never end.
  [[nodiscard]] bool wedged() const noexcept { return wedged_; }

  /// Resolves an impact.
  /// @param momentum  p⁻, replaced by p⁺.
  /// @pre   prepare() was called with this problem.
  /// @note  Real-time safe: no allocation, no exception; a reflection costs the nonzeros of its
  ///        normal and its neighbours.
  ImpactReport<Scalar> resolve(const ImpactProblem<Scalar>& problem,
                               VectorX<Scalar>& momentum) noexcept {
    CAROM_EXPECTS(momentum.size() == problem.size());
    CAROM_EXPECTS(Index(rates_.size()) == problem.contact_count());
    ImpactReport<Scalar> report;
    sequence_.clear();
    steps_.clear();
    std::fill(impulses_.begin(), impulses_.end(), Scalar(0));
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      rates_[i] = problem.rate(Index(i), momentum);
      if (!detail::is_finite(rates_[i])) return report;
    }
    if (wedged_) {
      resolve_plastically(problem, momentum, report);
      return report;
    }
    report.status = ImpactStatus::resolved;
    const Scalar limit = -options_.tolerance * problem.rate_scale(momentum);
    grouped_ = false;
    if constexpr (reflects_together<Order>) {
      grouped_ = equivalent_.split(problem, rates_, -limit);
    }
    for (bool feasible = false; !feasible && report.status == ImpactStatus::resolved;) {
      const Index before = report.reflections;
      reflect_until_feasible(problem, limit, momentum, report);
      feasible = true;
      for (std::size_t i = 0; i < rates_.size(); ++i) {
        rates_[i] = problem.rate(Index(i), momentum);
        feasible = feasible && !(rates_[i] < limit);
      }
      // The order returns no contact although some contacts close: the propagation ends here.
      if (!feasible && report.reflections == before) report.status = ImpactStatus::reflection_limit;
    }
    return report;
  }

  /// λ_i, the summed impulse of each contact in the last impact, per unit normal [√J].
  [[nodiscard]] std::span<const Scalar> impulses() const noexcept { return impulses_; }
  /// The contacts in the order of their reflections, up to the limit of prepare().
  [[nodiscard]] std::span<const Index> sequence() const noexcept { return sequence_; }
  /// The count of contacts of sequence() that reflected at once, step by step; their sum is its
  /// length.
  [[nodiscard]] std::span<const Index> steps() const noexcept { return steps_; }

 private:
  void resolve_plastically(const ImpactProblem<Scalar>& problem, VectorX<Scalar>& momentum,
                           ImpactReport<Scalar>& report) noexcept {
    plastic_.project(problem, rates_);
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      impulses_[i] = plastic_.impulses()(Index(i));
      problem.add_impulse(Index(i), impulses_[i], momentum);
    }
    report.energy_gain = plastic_.energy_gain();
    report.status = ImpactStatus::wedged;
  }

  /// Reflects in the chosen order. The rate of a contact is computed from the momentum directly
  /// before it reflects, so each reflection is an isometry to the last digit. The rates of its
  /// neighbours are updated in contact space; they are used to choose the next contact.
  void reflect_until_feasible(const ImpactProblem<Scalar>& problem, const Scalar& limit,
                              VectorX<Scalar>& momentum, ImpactReport<Scalar>& report) noexcept {
    const std::span<const Scalar> rates(rates_);
    order_.start(rates);
    for (Index next = order_.pick(rates, limit); next >= 0; next = order_.pick(rates, limit)) {
      const Scalar rate = rates_[std::size_t(next)] = problem.rate(next, momentum);
      if (!(rate < limit)) {  // infeasible by round-off only
        order_.update(next, rate);
        continue;
      }
      const std::span<const Index> group = closing_group(problem, next, limit, momentum);
      const bool at_once = !group.empty() && order_matters(problem, group);
      const Index count = at_once ? Index(group.size()) : 1;
      if (report.reflections > options_.reflection_limit - count) {
        report.status = ImpactStatus::reflection_limit;
        return;
      }
      if (at_once) {
        reflect_group(problem, group, momentum, report);
      } else if (group.empty()) {
        reflect_one(problem, next, rate, momentum, report);
      } else {
        reflect_in_turn(problem, group, limit, momentum, report);
      }
    }
  }

  /// The contacts that act together with a contact. Empty if it acts alone, or if others of its
  /// group do not close, which only round-off can cause.
  [[nodiscard]] std::span<const Index> closing_group(const ImpactProblem<Scalar>& problem,
                                                     Index contact, const Scalar& limit,
                                                     const VectorX<Scalar>& momentum) noexcept {
    if (!grouped_) return {};
    const std::span<const Index> group = equivalent_.group_of(contact);
    if (group.size() < 2) return {};
    for (const Index i : group) {
      if (!(problem.rate(i, momentum) < limit)) return {};
    }
    return group;
  }
  void reflect_one(const ImpactProblem<Scalar>& problem, Index contact, const Scalar& rate,
                   VectorX<Scalar>& momentum, ImpactReport<Scalar>& report) noexcept {
    const Scalar impulse = reflect_rates(problem, contact, rates_);
    problem.add_impulse(contact, impulse, momentum);
    impulses_[std::size_t(contact)] += impulse;
    report.energy_gain += impulse * (rate + impulse / 2);
    tell_order(problem, contact);
    record({&contact, 1});
    ++report.reflections;
  }
  /// Reflects a group about its common face by equal impulses. They reflect across the mean of the
  /// normals, which is an isometry even if the contacts differ by round-off.
  void reflect_group(const ImpactProblem<Scalar>& problem, std::span<const Index> group,
                     VectorX<Scalar>& momentum, ImpactReport<Scalar>& report) noexcept {
    Scalar sum = 0, square = Scalar(group.size());  // of rates, and |Σ u_i|²
    for (const Index i : group) {
      sum += problem.rate(i, momentum);
      for (const auto& [other, product] : problem.neighbours(i)) {
        if (equivalent_.same(i, other)) square += product;
      }
    }
    const Scalar impulse = -2 * sum / square;
    report.energy_gain += impulse * (sum + impulse * square / 2);
    for (const Index i : group) {
      problem.add_impulse(i, impulse, momentum);
      impulses_[std::size_t(i)] += impulse;
      rates_[std::size_t(i)] += impulse;
      for (const auto& [other, product] : problem.neighbours(i)) {
        rates_[std::size_t(other)] += impulse * product;
      }
    }
    for (const Index i : group) tell_order(problem, i);
    record(group);
    report.reflections += Index(group.size());
  }
  /// Reflects a group whose order does not matter one by one, until none of its contacts closes or
  /// the limit of reflections is reached.
  void reflect_in_turn(const ImpactProblem<Scalar>& problem, std::span<const Index> group,
                       const Scalar& limit, VectorX<Scalar>& momentum,
                       ImpactReport<Scalar>& report) noexcept {
    for (bool closing = true; closing;) {
      closing = false;
      for (const Index i : group) {
        const Scalar rate = rates_[std::size_t(i)] = problem.rate(i, momentum);
        if (!(rate < limit)) continue;
        if (report.reflections == options_.reflection_limit) return;
        reflect_one(problem, i, rate, momentum, report);
        closing = true;
      }
    }
    for (const Index i : group) order_.update(i, rates_[std::size_t(i)]);
  }
  /// Whether the outcome of a group alone depends on the order of its reflections. It does not if
  /// the contacts are orthogonal, except for pairs at angles that classify() knows.
  [[nodiscard]] bool order_matters(const ImpactProblem<Scalar>& problem,
                                   std::span<const Index> group) const noexcept {
    for (const Index i : group) {
      int pairs = 0;
      for (const auto& [other, product] : problem.neighbours(i)) {
        if (!equivalent_.same(i, other)) continue;
        const int label = coxeter_label(product, EquivalentContacts<Scalar>::tolerance());
        if (label == 0) return true;
        pairs += label > 2 ? 1 : 0;
      }
      if (pairs > 1) return true;
    }
    return false;
  }
  void tell_order(const ImpactProblem<Scalar>& problem, Index contact) noexcept {
    order_.update(contact, rates_[std::size_t(contact)]);
    for (const auto& entry : problem.neighbours(contact)) {
      order_.update(entry.index, rates_[std::size_t(entry.index)]);
    }
  }
  void record(std::span<const Index> contacts) noexcept {
    if (sequence_.size() + contacts.size() > recorded_) return;
    sequence_.insert(sequence_.end(), contacts.begin(), contacts.end());
    steps_.push_back(Index(contacts.size()));
  }

  ImpactOptions<Scalar> options_;
  Order order_;
  PlasticImpact<Scalar> plastic_;
  WedgeTest<Scalar> wedge_;
  std::vector<Scalar> rates_, impulses_;
  std::vector<Index> sequence_, steps_;
  EquivalentContacts<Scalar> equivalent_;
  std::size_t recorded_ = 0;
  bool wedged_ = false;
  bool grouped_ = false;  ///< Whether the impact has equivalent contacts.
};

}  // namespace CAROM_ABI
}  // namespace carom
