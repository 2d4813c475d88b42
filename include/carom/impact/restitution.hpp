// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "carom/impact/resolve.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The share α of the way from the plastic to the elastic outcome for which the fraction R² remains
/// of the energy that a plastic impact would lose.
///
/// α = (−x + √(x² + R² D (2x + D)))/D with x = ⟨p_p, p_e − p_p⟩ and D = |p_e − p_p|², because
/// |p_e|² − |p_p|² = 2x + D. α = R if x = 0, which is true for the bilateral plastic law.
/// @param restitution  R [-], in [0, 1].
/// @cite  seghete2014propagative, eq. (16), with the exact α for each plastic law.
template <RealScalar Scalar>
[[nodiscard]] Scalar restitution_blend(const Scalar& restitution, const Scalar& x,
                                       const Scalar& difference_squared) noexcept {
  using std::sqrt;
  CAROM_EXPECTS(restitution >= Scalar(0) && restitution <= Scalar(1));
  const Scalar& d = difference_squared;
  if (!(d > Scalar(0))) return restitution;
  const Scalar kept = restitution * restitution * (2 * x + d);  // R² (|p_e|² − |p_p|²)
  const Scalar root = sqrt(x * x + d * kept);
  // x ≥ 0: the difference of nearly equal numbers is written as a quotient.
  return x > Scalar(0) ? Scalar(kept / (x + root)) : Scalar((root - x) / d);
}

/// Impact with one coefficient of restitution, defined by energy: elastic, plastic, and the blend
/// p⁺ = p_p + α(p_e − p_p) with |p⁺|² = |p_p|² + R²(|p⁻|² − |p_p|²).
///
/// It needs finitely many reflections for any R. Its outcome is feasible because both ends are
/// feasible.
/// @cite seghete2014propagative, eq. (16); docs/derivations/uniqueness.md
/// @tparam Elastic  the law of the elastic end: GeneralizedReflections for the simultaneous one.
template <RealScalar Scalar, ReflectionOrderLike<Scalar> Order = MostInfeasibleTogether<Scalar>,
          typename Elastic = ImpactResolver<Scalar, Order>>
class RestitutionImpact {
 public:
  /// @param restitution  R [-], in [0, 1].
  explicit RestitutionImpact(Scalar restitution, PlasticLaw plastic = PlasticLaw::moreau,
                             const ImpactOptions<Scalar>& options = {}, Order order = {})
      : restitution_(restitution),
        plastic_law_(plastic),
        elastic_(make_elastic(options, std::move(order))),
        plastic_(plastic) {
    detail::reject_if(detail::restitution_fault(restitution));
  }

  /// Allocates memory for the problem, if it is larger than every problem before.
  void prepare(const ImpactProblem<Scalar>& problem, Index recorded = 0) {
    elastic_.prepare(problem, recorded);
    plastic_.prepare(problem);
    momentum_.resize(problem.size());
    impulses_.grow(problem.contact_count());
    image_.grow(problem.contact_count());
  }

  /// Resolves an impact: p⁻ is replaced by p⁺. A wedged problem ends plastically.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  ImpactReport<Scalar> resolve(const ImpactProblem<Scalar>& problem,
                               VectorX<Scalar>& momentum) noexcept {
    momentum_ = momentum;  // becomes p_p
    const ImpactReport<Scalar> plastic = plastic_.resolve(problem, momentum_);
    if (plastic.status == ImpactStatus::not_finite) return plastic;
    ImpactReport<Scalar> report = elastic_.resolve(problem, momentum);  // becomes p_e
    for (Index i = 0; i < problem.contact_count(); ++i) {
      impulses_(i) = *(elastic_.impulses().data() + i) - plastic_.impulses()(i);
    }
    detail::multiply_gram(problem, impulses_, image_);
    Scalar x = 0;
    for (Index i = 0; i < problem.contact_count(); ++i) {
      x += impulses_(i) * problem.rate(i, momentum_);
    }
    const Scalar difference_squared = impulses_.dot(image_);
    const Scalar blend = restitution_blend(restitution_, x, difference_squared);
    momentum = momentum_;
    for (Index i = 0; i < problem.contact_count(); ++i) {
      problem.add_impulse(i, blend * impulses_(i), momentum);
      impulses_(i) = plastic_.impulses()(i) + blend * impulses_(i);
    }
    report.energy_gain = plastic.energy_gain + blend * (x + blend * difference_squared / 2);
    return report;
  }

  /// λ_i, the summed impulse of each contact in the last impact, per unit normal [√J].
  [[nodiscard]] const Growing<VectorX<Scalar>>& impulses() const noexcept { return impulses_; }
  /// The contacts in the order of their elastic reflections.
  [[nodiscard]] std::span<const Index> sequence() const noexcept { return elastic_.sequence(); }
  /// The count of contacts of sequence() that reflected at once, step by step.
  [[nodiscard]] std::span<const Index> steps() const noexcept { return elastic_.steps(); }
  /// Whether no motion opens all contacts. Both ends of the blend are then plastic.
  [[nodiscard]] bool wedged() const noexcept { return elastic_.wedged(); }
  /// R [-].
  [[nodiscard]] const Scalar& restitution() const noexcept { return restitution_; }
  [[nodiscard]] PlasticLaw plastic_law() const noexcept { return plastic_law_; }

 private:
  [[nodiscard]] static Elastic make_elastic(const ImpactOptions<Scalar>& options, Order order) {
    if constexpr (std::is_constructible_v<Elastic, const ImpactOptions<Scalar>&, Order>) {
      return Elastic(options, std::move(order));
    } else {
      return Elastic(options);
    }
  }

  Scalar restitution_;
  PlasticLaw plastic_law_;
  Elastic elastic_;
  PlasticImpact<Scalar> plastic_;
  VectorX<Scalar> momentum_;
  Growing<VectorX<Scalar>> impulses_, image_;
};

}  // namespace CAROM_ABI
}  // namespace carom
