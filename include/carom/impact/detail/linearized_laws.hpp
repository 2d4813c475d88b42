// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "carom/impact/detail/reflection_chain.hpp"
#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/newton_restitution.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/restitution.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The impulses λ(s, G, e) of an impact, linearised in contact space.
///
/// The steps: (1) reflections along the sequence of the law; (2) a plastic impact at the end, if
/// the law has one; (3) for restitution by energy, the blend with a plastic impact of the same
/// rates. Each step stores what its derivative needs. push() applies the derivative to changes of
/// s, G and the restitution. pull() applies the transposed derivative to a gradient by λ, in the
/// reverse order of the steps.
///
/// Notation: λ_e and λ_p are the impulses of the two ends of the blend, δ = λ_e − λ_p, s_p = s + G
/// λ_p, x = δ·s_p, D = δᵀGδ; λ = λ_p + α(x, D, R) δ. α is the root of D α² + 2 x α = R² (2 x + D).
template <RealScalar Scalar>
class ImpactImpulses {
 public:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Allocates memory. Cold.
  void prepare(const ImpactProblem<Scalar>& problem, Index reflections) {
    const Index count = problem.contact_count();
    gram_.grow(count, count);
    for (Vector* vector : {&rates_, &impulses_, &difference_, &image_, &plastic_rates_, &no_change_,
                           &changes_, &by_elastic_, &by_plastic_}) {
      vector->grow(count);
    }
    no_change_.setZero();
    chain_.grow(count, reflections);
    end_.prepare(problem);
    plastic_.prepare(problem);
    boundaries_.resize(std::size_t(count));
  }

  /// Starts at the rates s of a momentum.
  /// @param scale      |p⁻|, an upper bound of all rates [√J].
  /// @param tolerance  rates are equal, or zero, if their difference is at most this share of the
  ///                   scale [-], ≥ 0.
  void start(const ImpactProblem<Scalar>& problem, const VectorX<Scalar>& momentum,
             const Scalar& scale, const Scalar& tolerance) noexcept {
    problem.write_gram(gram_);
    scale_ = scale;
    resting_ = tolerance * scale;
    restitution_count_ = 0;
    start_again(problem, momentum);
  }
  /// Starts again at the same impact, elastic, without the reflections since the start.
  void start_again(const ImpactProblem<Scalar>& problem, const VectorX<Scalar>& momentum) noexcept {
    for (Index i = 0; i < rates_.size(); ++i) rates_(i) = problem.rate(i, momentum);
    impulses_.setZero();
    chain_.start();
    ends_plastically_ = blended_ = false;
    std::fill(boundaries_.begin(), boundaries_.end(), ImpactBoundary::inside);
  }
  /// Sets the restitution e of each contact for the next reflections.
  void set_restitution(const VectorX<Scalar>& restitution) noexcept {
    chain_.set_restitution(restitution);
    restitution_count_ = restitution.size();
  }
  /// Reflects along a sequence, one contact after the other.
  void reflect(const ImpactProblem<Scalar>& problem, std::span<const Index> sequence,
               const SequenceRule& rule) noexcept {
    for (const Index contact : sequence) {
      mark_choice(problem, contact, rule);
      chain_.reflect(gram_, contact, rates_, impulses_);
    }
  }
  /// Reflects along a sequence; `steps` is the count of contacts that reflect at once.
  /// @return  false if a number is not finite.
  [[nodiscard]] bool reflect(const ImpactProblem<Scalar>& problem, std::span<const Index> sequence,
                             std::span<const Index> steps, const SequenceRule& rule) noexcept {
    std::size_t first = 0;
    for (const Index step : steps) {
      const std::span<const Index> contacts = sequence.subspan(first, std::size_t(step));
      for (const Index contact : contacts) mark_choice(problem, contact, rule);
      if (step == 1) {
        chain_.reflect(gram_, contacts.front(), rates_, impulses_);
      } else if (!chain_.reflect(gram_, contacts, rates_, impulses_)) {
        return false;
      }
      first += contacts.size();
    }
    return true;
  }
  /// Ends after the reflections. Contacts at rest are marked, because they would act after the
  /// slightest change.
  void end(const ImpactProblem<Scalar>& problem) noexcept {
    using std::abs;
    for (Index i = 0; i < rates_.size(); ++i) {
      if (problem.merged_into(i) < 0 && abs(rates_(i)) <= resting_) {
        mark(i, ImpactBoundary::rest);
      }
    }
  }
  /// Ends by a plastic impact.
  [[nodiscard]] bool end_plastically(const ImpactProblem<Scalar>& problem,
                                     PlasticLaw law) noexcept {
    ends_plastically_ = true;
    if (!end_.linearize(problem, gram_, law, rates_)) return false;
    impulses_ += end_.impulses();
    mark_projection(problem, end_, law, rates_);
    return true;
  }
  /// Blends the impulses so far with a plastic impact of the same initial rates.
  /// @param restitution  R [-], in [0, 1].
  [[nodiscard]] bool blend(const ImpactProblem<Scalar>& problem, const VectorX<Scalar>& momentum,
                           PlasticLaw law, const Scalar& restitution) noexcept {
    blended_ = true;
    restitution_count_ = 1;
    for (Index i = 0; i < rates_.size(); ++i) plastic_rates_(i) = problem.rate(i, momentum);
    if (!plastic_.linearize(problem, gram_, law, plastic_rates_)) return false;
    mark_projection(problem, plastic_, law, plastic_rates_);
    difference_ = impulses_ - plastic_.impulses();
    image_.noalias() = gram_ * difference_;
    linearize_blend(restitution);
    impulses_ = plastic_.impulses() + blend_ * difference_;
    return true;
  }

  /// Count of restitution coefficients on which the impulses depend.
  [[nodiscard]] Index restitution_count() const noexcept { return restitution_count_; }
  /// Whether the impulses of a law lead to the same momentum, to half of the digits. The impulses
  /// themselves may differ if normals are linearly dependent.
  template <typename Impulses>
  [[nodiscard]] bool agree_with(const Impulses& impulses) noexcept {
    for (Index i = 0; i < impulses_.size(); ++i) {
      changes_(i) = impulses_(i) - *(impulses.data() + i);
    }
    by_plastic_.noalias() = gram_ * changes_;
    return changes_.dot(by_plastic_) <= std::numeric_limits<Scalar>::epsilon() * scale_ * scale_;
  }
  /// λ.
  [[nodiscard]] const Vector& impulses() const noexcept { return impulses_; }
  [[nodiscard]] ImpactBoundary boundary(Index contact) const noexcept {
    return boundaries_[std::size_t(contact)];
  }

  /// Writes the change of λ for changes of s, of G and of the restitution: of each contact, or R.
  /// @param rates  a change of s; overwritten.
  void push(Vector& rates, const Matrix& gram, const Vector& restitution,
            Vector& impulses) noexcept {
    impulses.setZero();
    if (blended_) plastic_.push(gram, rates, by_plastic_), by_elastic_ = rates;
    chain_.push(gram_, gram, blended_ ? no_change_ : restitution, rates, impulses);
    if (ends_plastically_) {
      end_.push(gram, rates, changes_);
      impulses += changes_;
    }
    if (!blended_) return;
    impulses -= by_plastic_;  // by δ
    changes_ = by_elastic_;
    changes_.noalias() += gram * plastic_.impulses();
    changes_.noalias() += gram_ * by_plastic_;  // by s_p
    const Scalar by_x = impulses.dot(plastic_rates_) + difference_.dot(changes_);
    changes_.noalias() = gram * difference_;
    const Scalar by_square = 2 * impulses.dot(image_) + difference_.dot(changes_);
    const Scalar blend =
        x_slope_ * by_x + square_slope_ * by_square + restitution_slope_ * restitution(0);
    impulses *= blend_;
    impulses += by_plastic_ + blend * difference_;
  }

  /// Writes the gradients by s, G and the restitution of a scalar from its gradient by λ.
  void pull(const Vector& by_impulses, Vector& by_rates, Matrix& by_gram,
            Vector& by_restitution) noexcept {
    by_rates.setZero(), by_gram.setZero(), by_restitution.setZero();
    by_elastic_ = by_impulses;
    if (blended_) by_elastic_ *= blend_;
    const Scalar by_blend = blended_ ? by_impulses.dot(difference_) : Scalar(0);
    const Scalar by_x = x_slope_ * by_blend, by_square = square_slope_ * by_blend;
    if (blended_) by_elastic_ += by_x * plastic_rates_ + 2 * by_square * image_;  // by δ
    if (ends_plastically_) end_.pull(by_elastic_, by_rates, by_gram);
    chain_.pull(gram_, by_elastic_, by_rates, by_gram, by_restitution);
    if (!blended_) return;
    by_restitution.setZero();
    by_restitution(0) = restitution_slope_ * by_blend;
    by_plastic_ = by_impulses + by_x * image_ - by_elastic_;
    by_rates += by_x * difference_;
    by_gram.noalias() += by_x * difference_ * plastic_.impulses().transpose();
    by_gram.noalias() += by_square * difference_ * difference_.transpose();
    plastic_.pull(by_plastic_, by_rates, by_gram);
  }

 private:
  void mark(Index contact, ImpactBoundary boundary) noexcept {
    ImpactBoundary& known = boundaries_[std::size_t(contact)];
    known = (std::max)(known, boundary);
  }
  /// Marks the contacts that could have been chosen instead of a contact.
  void mark_choice(const ImpactProblem<Scalar>& problem, Index chosen,
                   const SequenceRule& rule) noexcept {
    using std::abs;
    for (Index i = 0; i < rates_.size(); ++i) {
      if (problem.merged_into(i) == chosen) {
        mark(i, ImpactBoundary::shape);
        mark(chosen, ImpactBoundary::shape);
      }
      if (problem.merged_into(i) >= 0) continue;
      const bool at_rest = abs(rates_(i)) <= resting_;
      if (at_rest && (rule.by_sign || i == chosen)) mark(i, ImpactBoundary::rest);
      if (at_rest || i == chosen || !rule.by_rate) continue;
      if (!(abs(rates_(i) - rates_(chosen)) <= resting_) || !have_common(problem, i, chosen)) {
        continue;
      }
      const bool orthogonal = abs(gram_(i, chosen)) <= 64 * std::numeric_limits<Scalar>::epsilon();
      for (const Index tied : {i, chosen}) {
        mark(tied, orthogonal ? ImpactBoundary::shape : ImpactBoundary::order);
      }
    }
  }
  /// Whether two contacts have a common coordinate, so that their product may differ from zero.
  [[nodiscard]] static bool have_common(const ImpactProblem<Scalar>& problem, Index a,
                                        Index b) noexcept {
    const auto first = problem.normal(a);
    const auto second = problem.response(b);
    for (std::size_t i = 0, j = 0; i < first.size() && j < second.size();) {
      if (first[i].index == second[j].index) return true;
      first[i].index < second[j].index ? ++i : ++j;
    }
    return false;
  }
  /// Marks contacts that neither press nor open. Also marks those whose impulses are not unique and
  /// would become negative for a slightly different shape of the normals.
  void mark_projection(const ImpactProblem<Scalar>& problem, const ProjectionSlope<Scalar>& slope,
                       PlasticLaw law, const Vector& rates) noexcept {
    using std::abs;
    if (law == PlasticLaw::bilateral) {
      slope.for_each_dependent([&](Index i) { mark(i, ImpactBoundary::shape); });
      return;
    }
    for (Index i = 0; i < rates.size(); ++i) {
      if (problem.merged_into(i) >= 0) continue;
      if (slope.impulses()(i) <= resting_ && rates(i) <= resting_) mark(i, ImpactBoundary::rest);
    }
  }
  /// α and its derivatives, from D α² + 2 x α = R² (2 x + D).
  void linearize_blend(const Scalar& restitution) noexcept {
    using std::sqrt;
    const Scalar& r = restitution;
    const Scalar x = difference_.dot(plastic_rates_), d = difference_.dot(image_);
    blend_ = restitution_blend(r, x, d);
    x_slope_ = square_slope_ = restitution_slope_ = Scalar(0);
    // Both ends are equal up to rounding: the blend does not matter.
    const Scalar negligible = 64 * std::numeric_limits<Scalar>::epsilon() * scale_;
    if (!(d > negligible * negligible)) return;
    const Scalar root = blend_ * d + x;
    if (!(root > std::numeric_limits<Scalar>::epsilon() * 64 * d)) {  // x = 0 and R = 0: α = R
      restitution_slope_ = Scalar(1);
      return;
    }
    x_slope_ = (r * r - blend_) / root;
    square_slope_ = (r * r - blend_ * blend_) / (2 * root);
    restitution_slope_ = r * (2 * x + d) / root;
  }

  Matrix gram_;
  ReflectionChain<Scalar> chain_;
  ProjectionSlope<Scalar> end_, plastic_;
  std::vector<ImpactBoundary> boundaries_;
  Vector rates_, impulses_, difference_, image_, plastic_rates_, no_change_;
  Vector changes_, by_elastic_, by_plastic_;  ///< of the product being computed
  Scalar scale_ = 0, resting_ = 0;
  Scalar blend_ = 0, x_slope_ = 0, square_slope_ = 0, restitution_slope_ = 0;
  Index restitution_count_ = 0;
  bool ends_plastically_ = false, blended_ = false;
};

// Linearisation of each impact law at the impact that it has just resolved: linearize_law() applies
// the steps of the law to ImpactImpulses. It returns false if a number is not finite.

namespace detail {

/// The coincidences that can change the sequence of an order; both kinds for an order of the user.
template <typename Order>
struct SequenceRuleOf {
  static constexpr SequenceRule rule{};
};
/// Contacts at rest come last, when all others are open. They are then found at the end.
template <RealScalar Scalar>
struct SequenceRuleOf<MostInfeasibleFirst<Scalar>> {
  static constexpr SequenceRule rule{.by_rate = true, .by_sign = false};
};
template <RealScalar Scalar>
struct SequenceRuleOf<MostInfeasibleTogether<Scalar>>
    : SequenceRuleOf<MostInfeasibleFirst<Scalar>> {};
/// All closing contacts reflect.
template <RealScalar Scalar>
struct SequenceRuleOf<GeneralizedReflections<Scalar>> {
  static constexpr SequenceRule rule{.by_rate = false, .by_sign = true};
};
/// The contact that comes next does not depend on rates; whether it reflects does.
template <RealScalar Scalar>
struct SequenceRuleOf<SweepOrder<Scalar>> {
  static constexpr SequenceRule rule{.by_rate = false, .by_sign = true};
};

/// Elastic reflections, or a plastic impact if the problem is wedged.
template <typename Order, RealScalar Scalar, typename Law>
[[nodiscard]] bool follow_reflections(ImpactImpulses<Scalar>& impulses,
                                      const ImpactProblem<Scalar>& problem,
                                      const Law& law) noexcept {
  if (law.wedged()) return impulses.end_plastically(problem, PlasticLaw::moreau);
  const bool finite =
      impulses.reflect(problem, law.sequence(), law.steps(), SequenceRuleOf<Order>::rule);
  impulses.end(problem);
  return finite;
}

template <RealScalar Scalar, typename Order>
[[nodiscard]] bool linearize_law(ImpactImpulses<Scalar>& impulses,
                                 const ImpactProblem<Scalar>& problem, const VectorX<Scalar>&,
                                 const ImpactResolver<Scalar, Order>& law) noexcept {
  return follow_reflections<Order>(impulses, problem, law);
}

template <RealScalar Scalar>
[[nodiscard]] bool linearize_law(ImpactImpulses<Scalar>& impulses,
                                 const ImpactProblem<Scalar>& problem, const VectorX<Scalar>&,
                                 const GeneralizedReflections<Scalar>& law) noexcept {
  return follow_reflections<GeneralizedReflections<Scalar>>(impulses, problem, law);
}

template <RealScalar Scalar, typename Order, typename Elastic>
[[nodiscard]] bool linearize_law(ImpactImpulses<Scalar>& impulses,
                                 const ImpactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& momentum,
                                 const RestitutionImpact<Scalar, Order, Elastic>& law) noexcept {
  using Rule =
      std::conditional_t<std::is_same_v<Elastic, GeneralizedReflections<Scalar>>, Elastic, Order>;
  return follow_reflections<Rule>(impulses, problem, law) &&
         impulses.blend(problem, momentum, law.plastic_law(), law.restitution());
}

template <RealScalar Scalar, typename Order>
[[nodiscard]] bool linearize_law(ImpactImpulses<Scalar>& impulses,
                                 const ImpactProblem<Scalar>& problem, const VectorX<Scalar>&,
                                 const NewtonImpact<Scalar, Order>& law) noexcept {
  impulses.set_restitution(law.restitution());
  impulses.reflect(problem, law.sequence(), SequenceRuleOf<Order>::rule);
  if (law.ended_plastically()) return impulses.end_plastically(problem, PlasticLaw::moreau);
  impulses.end(problem);
  return true;
}

/// The impulses show which of the two plastic laws was used. If both laws have equal impulses, a
/// contact that presses in one law and not in the other is at rest and is marked as such.
template <RealScalar Scalar>
[[nodiscard]] bool linearize_law(ImpactImpulses<Scalar>& impulses,
                                 const ImpactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& momentum,
                                 const PlasticImpact<Scalar>& law) noexcept {
  if (!impulses.end_plastically(problem, PlasticLaw::moreau)) return false;
  const Scalar half = std::sqrt(std::numeric_limits<Scalar>::epsilon());  // of the digits
  if (impulses.impulses().isApprox(law.impulses(), half)) return true;
  impulses.start_again(problem, momentum);
  return impulses.end_plastically(problem, PlasticLaw::bilateral);
}

}  // namespace detail

/// A law that ImpactDerivative can differentiate: ImpactResolver, RestitutionImpact, NewtonImpact
/// with any order, GeneralizedReflections or PlasticImpact. Laws with friction are excluded.
template <typename Law, typename Scalar>
concept DifferentiableImpactLaw = requires(ImpactImpulses<Scalar>& impulses,
                                           const ImpactProblem<Scalar>& problem,
                                           const VectorX<Scalar>& momentum, const Law& law) {
  detail::linearize_law(impulses, problem, momentum, law);
};

}  // namespace CAROM_ABI
}  // namespace carom
