// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "carom/impact/equivalent_contacts.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/wedge.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Generalized Reflections, the simultaneous law: all violated contacts act at once, so that the
/// outcome does not depend on an order.
///
/// The steps, until no contact is violated: (1) V is the set of violated contacts; (2) λ = argmin ½
/// λᵀGλ + sᵀλ over λ ≥ 0 with support in V; (3) p⁺ = p + 2 Σ λ_i u_i, a reflection across the
/// plastic outcome. If all violated contacts press, step 3 is the reflection about their common
/// face: all their rates change sign. If the impulses are not unique, equivalent contacts get equal
/// ones, see EquivalentContacts.
///
/// The law is elastic. Its outcome is equal to the propagative outcome for all-approaching momenta
/// exactly if −1 is in the reflection group; in general the two differ.
/// @cite smith2012reflections
template <RealScalar Scalar>
class GeneralizedReflections {
 public:
  explicit GeneralizedReflections(const ImpactOptions<Scalar>& options = {}) : options_(options) {
    detail::reject_if(check(options));
  }

  /// Allocates memory for the problem, if it is larger than every problem before.
  /// @param recorded  count of generalized reflections whose contacts sequence() can store.
  void prepare(const ImpactProblem<Scalar>& problem, Index recorded = 0) {
    problem.require_prepared();
    recorded_ = std::size_t(recorded);
    steps_.clear();
    steps_.reserve(recorded_);
    sequence_.clear();
    sequence_.reserve(std::size_t(recorded * problem.contact_count()));
    equivalent_.prepare(problem.contact_count());
    gram_.grow(problem.contact_count(), problem.contact_count());
    problem.write_gram(gram_);
    squares_.prepare(problem.contact_count());
    for (Vector* vector : {&rates_, &step_, &impulses_, &image_}) {
      vector->grow(problem.contact_count());
    }
    wedged_ = !wedge_.has_interior(problem);
    plastic_.grow(problem.contact_count());
    if (wedged_) plastic_.prepare(problem);
  }

  /// Resolves an impact: p⁻ is replaced by p⁺. `reflections` counts generalized ones. A wedged
  /// problem is resolved plastically.
  /// @pre   prepare() was called with this problem.
  /// @note  Real-time safe: no allocation, no exception, at most options.reflection_limit times one
  ///        non-negative least-squares problem.
  ImpactReport<Scalar> resolve(const ImpactProblem<Scalar>& problem,
                               VectorX<Scalar>& momentum) noexcept {
    CAROM_EXPECTS(momentum.size() == problem.size());
    CAROM_EXPECTS(rates_.size() == problem.contact_count());
    ImpactReport<Scalar> report;
    impulses_.setZero();
    sequence_.clear();
    steps_.clear();
    for (Index i = 0; i < rates_.size(); ++i) rates_(i) = problem.rate(i, momentum);
    if (!rates_.allFinite()) return report;
    if (wedged_) {
      report = plastic_.resolve(problem, momentum);
      impulses_ = plastic_.impulses();
      report.status = ImpactStatus::wedged;
      return report;
    }
    const Scalar limit = -options_.tolerance * problem.rate_scale(momentum);
    report.status = ImpactStatus::resolved;
    const bool grouped =
        equivalent_.split(problem, {rates_.data(), std::size_t(rates_.size())}, -limit);
    while (rates_.size() > 0 && rates_.minCoeff() < limit) {
      if (report.reflections == options_.reflection_limit) {
        report.status = ImpactStatus::reflection_limit;
        break;
      }
      static_cast<void>(squares_.solve(
          gram_, rates_, [&](Index i) { return rates_(i) < limit; }, step_));
      if (!(step_.maxCoeff() > Scalar(0))) break;  // the closing rates are below rounding
      if (grouped) {
        share_equally(problem);
      } else {
        step_ *= Scalar(2);
      }
      detail::multiply_gram(problem, step_, image_);
      report.energy_gain += step_.dot(rates_) + step_.dot(image_) / 2;
      impulses_ += step_;
      for (Index i = 0; i < rates_.size(); ++i) problem.add_impulse(i, step_(i), momentum);
      for (Index i = 0; i < rates_.size(); ++i) rates_(i) = problem.rate(i, momentum);
      record();
      ++report.reflections;
    }
    return report;
  }

  /// λ_i, the summed impulse of each contact in the last impact, per unit normal [√J].
  [[nodiscard]] const Growing<VectorX<Scalar>>& impulses() const noexcept { return impulses_; }
  /// The contacts that pressed, reflection by reflection, up to the limit of prepare().
  [[nodiscard]] std::span<const Index> sequence() const noexcept { return sequence_; }
  /// The count of contacts of sequence() that reflected at once, step by step.
  [[nodiscard]] std::span<const Index> steps() const noexcept { return steps_; }
  /// Whether no motion opens all contacts. The impact then ends plastically.
  [[nodiscard]] bool wedged() const noexcept { return wedged_; }

 private:
  using Vector = Growing<VectorX<Scalar>>;

  /// Averages the impulses of equivalent contacts, which is also a minimum, and doubles them. The
  /// factor makes the result an isometry even if the contacts differ by round-off.
  void share_equally(const ImpactProblem<Scalar>& problem) noexcept {
    equivalent_.average(step_);
    detail::multiply_gram(problem, step_, image_);
    const Scalar square = step_.dot(image_);
    step_ *= square > Scalar(0) ? Scalar(-2 * step_.dot(rates_) / square) : Scalar(2);
  }
  void record() noexcept {
    if (steps_.size() >= recorded_) return;
    steps_.push_back(0);
    for (Index i = 0; i < step_.size(); ++i) {
      if (!(step_(i) > Scalar(0))) continue;
      sequence_.push_back(i);
      ++steps_.back();
    }
  }

  ImpactOptions<Scalar> options_;
  NonnegativeLeastSquares<Scalar> squares_;
  PlasticImpact<Scalar> plastic_;
  WedgeTest<Scalar> wedge_;
  Growing<MatrixX<Scalar>> gram_;
  Vector rates_, step_, impulses_, image_;
  EquivalentContacts<Scalar> equivalent_;
  std::vector<Index> sequence_, steps_;
  std::size_t recorded_ = 0;  ///< largest count of stored steps
  bool wedged_ = false;
};

}  // namespace CAROM_ABI
}  // namespace carom
