// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/impact/plastic.hpp"
#include "carom/impact/wedge.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Generalized Reflections: all violated contacts at once, so that the outcome depends on no order.
///
/// Among the contacts V that are violated, λ = argmin ½ λᵀGλ + sᵀλ over λ ≥ 0 supported in V; the
/// momentum moves by twice Σ λ_i u_i, a reflection across the plastic outcome. This repeats until
/// no contact is violated. Elastic, and equal to the propagative outcome for all-approaching
/// momenta exactly when −1 is in the reflection group; in general the two differ.
/// @cite smith2012reflections
template <RealScalar Scalar>
class GeneralizedReflections {
 public:
  explicit GeneralizedReflections(const ImpactOptions<Scalar>& options = {}) : options_(options) {
    detail::reject_if(check(options));
  }

  /// Grows memory to the problem's size; allocates where none was as large.
  void prepare(const ImpactProblem<Scalar>& problem) {
    problem.require_prepared();
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

  /// Resolves an impact: p⁻ in, p⁺ out. `reflections` counts generalized ones; a wedged problem is
  /// resolved plastically.
  /// @pre   prepare() was called with this problem.
  /// @note  Real-time safe: no allocation, no exception, at most options.reflection_limit times one
  ///        non-negative least-squares problem.
  ImpactReport<Scalar> resolve(const ImpactProblem<Scalar>& problem,
                               VectorX<Scalar>& momentum) noexcept {
    CAROM_EXPECTS(momentum.size() == problem.size());
    CAROM_EXPECTS(rates_.size() == problem.contact_count());
    ImpactReport<Scalar> report;
    impulses_.setZero();
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
    while (rates_.size() > 0 && rates_.minCoeff() < limit) {
      if (report.reflections == options_.reflection_limit) {
        report.status = ImpactStatus::reflection_limit;
        break;
      }
      static_cast<void>(squares_.solve(
          gram_, rates_, [&](Index i) { return rates_(i) < limit; }, step_));
      if (!(step_.maxCoeff() > Scalar(0))) break;  // what closes is below rounding
      step_ *= Scalar(2);
      detail::multiply_gram(problem, step_, image_);
      report.energy_gain += step_.dot(rates_) + step_.dot(image_) / 2;
      impulses_ += step_;
      for (Index i = 0; i < rates_.size(); ++i) problem.add_impulse(i, step_(i), momentum);
      for (Index i = 0; i < rates_.size(); ++i) rates_(i) = problem.rate(i, momentum);
      ++report.reflections;
    }
    return report;
  }

  /// λ_i, the summed impulse of each contact in the last impact, per unit normal [√J].
  [[nodiscard]] const Growing<VectorX<Scalar>>& impulses() const noexcept { return impulses_; }

 private:
  using Vector = Growing<VectorX<Scalar>>;

  ImpactOptions<Scalar> options_;
  NonnegativeLeastSquares<Scalar> squares_;
  PlasticImpact<Scalar> plastic_;
  WedgeTest<Scalar> wedge_;
  Growing<MatrixX<Scalar>> gram_;
  Vector rates_, step_, impulses_, image_;
  bool wedged_ = false;
};

}  // namespace CAROM_ABI
}  // namespace carom
