// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "carom/impact/impact_report.hpp"
#include "carom/impact/order.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/reflection.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Propagative elastic impact: reflects across infeasible contacts, one at a time, until none is.
///
/// ```
/// carom::ImpactResolver<double> resolver;
/// resolver.prepare(problem);                                // cold
/// const auto report = resolver.resolve(problem, momentum);  // hot
/// ```
/// @tparam Order  which contact next, see order.hpp.
/// @cite   seghete2014propagative, algorithm of section IV, with admissible sequences.
template <RealScalar Scalar, ReflectionOrderLike<Scalar> Order = MostInfeasibleFirst<Scalar>>
class ImpactResolver {
 public:
  explicit ImpactResolver(const ImpactOptions<Scalar>& options = {}, Order order = {})
      : options_(options), order_(std::move(order)) {
    detail::reject_if(check(options));
  }

  /// Grows memory to the problem's size and finds out whether it is wedged.
  /// @param recorded  how many reflections sequence() can hold.
  /// @note  Allocates where no problem before was as large.
  void prepare(const ImpactProblem<Scalar>& problem, Index recorded = 0) {
    const auto count = static_cast<std::size_t>(problem.contact_count());
    rates_.resize(count);
    impulses_.assign(count, Scalar(0));
    sequence_.clear();
    sequence_.reserve(std::size_t(recorded));
    recorded_ = std::size_t(recorded);
    order_.prepare(problem.contact_count());
    wedged_ = !wedge_.has_interior(problem);
    plastic_.grow(problem.contact_count());
    if (wedged_) plastic_.prepare(problem);
  }

  /// Whether no motion opens all contacts, so that reflections would never end.
  [[nodiscard]] bool wedged() const noexcept { return wedged_; }

  /// Resolves an impact.
  /// @param momentum  p⁻ in, p⁺ out.
  /// @pre   prepare() was called with this problem.
  /// @note  Real-time safe: no allocation, no exception; a reflection costs the nonzeros of its
  ///        normal and its neighbours.
  ImpactReport<Scalar> resolve(const ImpactProblem<Scalar>& problem,
                               VectorX<Scalar>& momentum) noexcept {
    CAROM_EXPECTS(momentum.size() == problem.size());
    CAROM_EXPECTS(Index(rates_.size()) == problem.contact_count());
    ImpactReport<Scalar> report;
    sequence_.clear();
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
    for (bool feasible = false; !feasible && report.status == ImpactStatus::resolved;) {
      const Index before = report.reflections;
      reflect_until_feasible(problem, limit, momentum, report);
      feasible = true;
      for (std::size_t i = 0; i < rates_.size(); ++i) {
        rates_[i] = problem.rate(Index(i), momentum);
        feasible = feasible && !(rates_[i] < limit);
      }
      // The order names no contact although some close: the propagation ends here.
      if (!feasible && report.reflections == before) report.status = ImpactStatus::reflection_limit;
    }
    return report;
  }

  /// λ_i, the summed impulse of each contact in the last impact, per unit normal [√J].
  [[nodiscard]] std::span<const Scalar> impulses() const noexcept { return impulses_; }
  /// The contacts in the order of their reflections, as many as prepare() made room for.
  [[nodiscard]] std::span<const Index> sequence() const noexcept { return sequence_; }

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

  /// Reflections in the chosen order. The rate of a contact is taken afresh from the momentum just
  /// before it reflects, so each reflection is an isometry to the last digit; the rates of its
  /// neighbours are brought up to date in contact space, which serves to choose the next one.
  void reflect_until_feasible(const ImpactProblem<Scalar>& problem, const Scalar& limit,
                              VectorX<Scalar>& momentum, ImpactReport<Scalar>& report) noexcept {
    const std::span<const Scalar> rates(rates_);
    order_.start(rates);
    for (Index next = order_.pick(rates, limit); next >= 0; next = order_.pick(rates, limit)) {
      const Scalar rate = rates_[std::size_t(next)] = problem.rate(next, momentum);
      if (!(rate < limit)) {  // only round-off made it look infeasible
        order_.update(next, rate);
        continue;
      }
      if (report.reflections == options_.reflection_limit) {
        report.status = ImpactStatus::reflection_limit;
        return;
      }
      const Scalar impulse = reflect_rates(problem, next, rates_);
      problem.add_impulse(next, impulse, momentum);
      impulses_[std::size_t(next)] += impulse;
      report.energy_gain += impulse * (rate + impulse / 2);
      order_.update(next, rates_[std::size_t(next)]);
      for (const auto& entry : problem.neighbours(next)) {
        order_.update(entry.index, rates_[std::size_t(entry.index)]);
      }
      if (sequence_.size() < recorded_) sequence_.push_back(next);
      ++report.reflections;
    }
  }

  ImpactOptions<Scalar> options_;
  Order order_;
  PlasticImpact<Scalar> plastic_;
  WedgeTest<Scalar> wedge_;
  std::vector<Scalar> rates_, impulses_;
  std::vector<Index> sequence_;
  std::size_t recorded_ = 0;
  bool wedged_ = false;
};

}  // namespace CAROM_ABI
}  // namespace carom
