// SPDX-License-Identifier: BSD-3-Clause
// Compile-time tests: nothing runs. Archetypes show the least a user type must offer.
#include <span>
#include <string_view>
#include <utility>

#include "carom/impact/design.hpp"
#include "carom/impact/friction_impact.hpp"
#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/impact_derivative.hpp"
#include "carom/impact/newton_restitution.hpp"
#include "carom/impact/outcomes.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/impact/simultaneous.hpp"
#include "carom/impact/uniqueness.hpp"

namespace {

using carom::ImpactProblem, carom::ImpactStatus, carom::Index, carom::VectorX;

// --- masses ---

struct MassArchetype {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  void apply_inverse(VectorX<double>&) const {}
};
struct MassWithoutSize {
  using scalar_type = double;
  void apply_inverse(VectorX<double>&) const {}
};
struct MassThatReturns {  // the covector must change in place
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  [[nodiscard]] VectorX<double> apply_inverse(const VectorX<double>& p) const { return p; }
};
struct MassOfIntegers {
  using scalar_type = int;
  [[nodiscard]] Index size() const { return 1; }
};

static_assert(carom::InverseMassLike<MassArchetype>);
static_assert(carom::InverseMassLike<carom::MassMatrix<float>>);
static_assert(carom::InverseMassLike<carom::MassMatrix<double>>);
static_assert(!carom::InverseMassLike<MassWithoutSize>);
static_assert(!carom::InverseMassLike<MassThatReturns>);
static_assert(!carom::InverseMassLike<MassOfIntegers>);

// --- orders ---

struct OrderArchetype {
  void prepare(Index) {}
  void start(std::span<const double>) noexcept {}
  void update(Index, double) noexcept {}
  Index pick(std::span<const double>, double) noexcept { return -1; }
};
struct OrderThatMayThrow : OrderArchetype {
  Index pick(std::span<const double>, double) { return -1; }
};
struct OrderWithoutUpdate {
  void prepare(Index) {}
  void start(std::span<const double>) noexcept {}
  Index pick(std::span<const double>, double) noexcept { return -1; }
};

using Choice = Index (*)(std::span<const double>, double);
static_assert(carom::ReflectionOrderLike<OrderArchetype, double>);
static_assert(carom::ReflectionOrderLike<carom::MostInfeasibleFirst<double>, double>);
static_assert(carom::ReflectionOrderLike<carom::MostInfeasibleTogether<double>, double>);
static_assert(carom::reflects_together<carom::MostInfeasibleTogether<double>>);
static_assert(!carom::reflects_together<carom::MostInfeasibleFirst<double>>);
static_assert(carom::ReflectionOrderLike<carom::LeastInfeasibleFirst<float>, float>);
static_assert(carom::ReflectionOrderLike<carom::SweepOrder<double>, double>);
static_assert(carom::ReflectionOrderLike<carom::ChosenOrder<double, Choice>, double>);
static_assert(!carom::ReflectionOrderLike<OrderThatMayThrow, double>);
static_assert(!carom::ReflectionOrderLike<OrderWithoutUpdate, double>);
static_assert(!carom::ReflectionOrderLike<carom::MostInfeasibleFirst<double>, float>);

// Everything generic compiles with the least a user offers.
[[maybe_unused]] void compile_with_archetypes() {
  ImpactProblem<double> problem(1);
  const MassArchetype mass;
  VectorX<double> p(1);
  problem.add_contact(mass, p);
  carom::ImpactResolver<double, OrderArchetype> elastic;
  carom::RestitutionImpact<double, OrderArchetype> blended(0.5);
  carom::NewtonImpact<double, OrderArchetype> newton;
  elastic.prepare(problem);
  blended.prepare(problem);
  newton.prepare(problem, p);
  static_cast<void>(elastic.resolve(problem, p));
  static_cast<void>(blended.resolve(problem, p));
  static_cast<void>(newton.resolve(problem, p));
  static_cast<void>(carom::make_reflection(mass, p));
  static_cast<void>(carom::enumerate_outcomes(problem, mass, p));
  carom::FrictionImpact<double> friction;
  friction.add_contact(mass, p, p, 0.5, 0.5);
}

// --- hot calls never throw ---

template <typename Impact, typename Scalar = double>
inline constexpr bool resolves_without_exceptions = noexcept(std::declval<Impact&>().resolve(
    std::declval<const ImpactProblem<Scalar>&>(), std::declval<VectorX<Scalar>&>()));

static_assert(resolves_without_exceptions<carom::ImpactResolver<double>>);
static_assert(resolves_without_exceptions<carom::ImpactResolver<float>, float>);
static_assert(resolves_without_exceptions<carom::PlasticImpact<double>>);
static_assert(resolves_without_exceptions<carom::RestitutionImpact<double>>);
static_assert(resolves_without_exceptions<carom::NewtonImpact<double>>);
static_assert(resolves_without_exceptions<carom::GeneralizedReflections<double>>);
static_assert(resolves_without_exceptions<carom::SimultaneousImpact<double>>);
static_assert(noexcept(
    std::declval<carom::FrictionImpact<double>&>().resolve(std::declval<VectorX<double>&>())));
static_assert(noexcept(carom::reflect(std::declval<const ImpactProblem<double>&>(), Index(0),
                                      std::declval<VectorX<double>&>())));
static_assert(noexcept(carom::reflect_rates(std::declval<const ImpactProblem<double>&>(), Index(0),
                                            std::declval<std::span<double>>())));
static_assert(noexcept(carom::routh_impulse(std::declval<const carom::PlanarImpact<double>&>())));
static_assert(noexcept(carom::moreau_impulse(std::declval<const carom::PlanarImpact<double>&>())));
static_assert(noexcept(carom::restitution_blend(0.5, 0.0, 1.0)));
static_assert(noexcept(carom::coxeter_label(-0.5, 1e-9)));

// --- reports ---

constexpr bool says(ImpactStatus status, std::string_view word) {
  return std::string_view(to_string(status)) == word;
}
static_assert(says(ImpactStatus::resolved, "resolved"));
static_assert(says(ImpactStatus::reflection_limit, "reflection_limit"));
static_assert(says(ImpactStatus::wedged, "wedged"));
static_assert(says(ImpactStatus::collapsed, "collapsed"));
static_assert(says(ImpactStatus::not_finite, "not_finite"));
static_assert(carom::ImpactReport<double>{}.status == ImpactStatus::not_finite);
static_assert(carom::ImpactOptions<double>{}.reflection_limit > 314'159);

// --- laws with a derivative ---

template <typename Law>
inline constexpr bool has_derivative = carom::DifferentiableImpactLaw<Law, double>;

static_assert(has_derivative<carom::ImpactResolver<double>>);
static_assert(has_derivative<carom::ImpactResolver<double, carom::SweepOrder<double>>>);
static_assert(has_derivative<carom::RestitutionImpact<double>>);
static_assert(has_derivative<carom::NewtonImpact<double>>);
static_assert(has_derivative<carom::PlasticImpact<double>>);
static_assert(has_derivative<carom::GeneralizedReflections<double>>);
static_assert(has_derivative<carom::SimultaneousImpact<double>>);
static_assert(!has_derivative<carom::FrictionImpact<double>>);

}  // namespace
