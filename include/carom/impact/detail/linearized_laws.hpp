// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/impact/detail/impact_impulses.hpp"
#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/newton_restitution.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/restitution.hpp"

/// @file
/// Impact laws, each linearised at the impact that it has just resolved: linearize_law() makes
/// impulses that have been started follow the law, and returns false where a number is not finite.
namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Which coincidences an order of reflections is decided by; both for an order of the user's.
template <typename Order>
struct SequenceRuleOf {
  static constexpr SequenceRule rule{};
};
/// Contacts at rest have their turn when all others are open, and then they are found at the end.
template <RealScalar Scalar>
struct SequenceRuleOf<MostInfeasibleFirst<Scalar>> {
  static constexpr SequenceRule rule{.by_rate = true, .by_sign = false};
};
template <RealScalar Scalar>
struct SequenceRuleOf<MostInfeasibleTogether<Scalar>>
    : SequenceRuleOf<MostInfeasibleFirst<Scalar>> {};
/// All that close have their turn.
template <RealScalar Scalar>
struct SequenceRuleOf<GeneralizedReflections<Scalar>> {
  static constexpr SequenceRule rule{.by_rate = false, .by_sign = true};
};
/// Which contact has its turn does not depend on rates, whether it uses its turn does.
template <RealScalar Scalar>
struct SequenceRuleOf<SweepOrder<Scalar>> {
  static constexpr SequenceRule rule{.by_rate = false, .by_sign = true};
};

/// Elastic reflections, or their plastic end where the problem is wedged.
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

/// The impulses tell which of the two plastic laws it was. Where both laws give the same, a contact
/// that presses in one and not in the other is at rest, and is marked so.
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
/// with any order, GeneralizedReflections or PlasticImpact. Those with friction are none.
template <typename Law, typename Scalar>
concept DifferentiableImpactLaw = requires(ImpactImpulses<Scalar>& impulses,
                                           const ImpactProblem<Scalar>& problem,
                                           const VectorX<Scalar>& momentum, const Law& law) {
  detail::linearize_law(impulses, problem, momentum, law);
};

}  // namespace CAROM_ABI
}  // namespace carom
