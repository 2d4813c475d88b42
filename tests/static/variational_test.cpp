// SPDX-License-Identifier: BSD-3-Clause
// Compile-time tests: nothing runs. Archetypes show the least a user type must offer.
#include <utility>

#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/variational/impact_stepper.hpp"
#include "carom/variational/planar_tree.hpp"
#include "carom/variational/stepper.hpp"

namespace {

using carom::Index, carom::MatrixX, carom::VectorX;

struct LagrangianArchetype {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return v(0) * v(0) - q(0);
  }
};
struct PartsArchetype {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  void write_mass(const VectorX<double>&, MatrixX<double>&) const noexcept {}
  [[nodiscard]] double potential(const VectorX<double>&) const noexcept { return 0; }
  void write_potential_gradient(const VectorX<double>&, VectorX<double>&) const noexcept {}
  void write_potential_hessian(const VectorX<double>&, MatrixX<double>&) const noexcept {}
};
struct PartsThatMayThrow : PartsArchetype {
  void write_mass(const VectorX<double>&, MatrixX<double>&) const {}
};
struct SizeAlone {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
};
struct OfIntegers {
  using scalar_type = int;
  [[nodiscard]] Index size() const { return 1; }
};

static_assert(carom::TemplatedLagrangianLike<LagrangianArchetype>);
static_assert(carom::MassPotentialLike<PartsArchetype>);
static_assert(!carom::VaryingMassLike<PartsArchetype>);
static_assert(!carom::MassPotentialLike<PartsThatMayThrow>);
static_assert(carom::LagrangianDerivativesLike<carom::PlanarTree<double>>);
static_assert(carom::LagrangianDerivativesLike<carom::PlanarTree<float>>);
static_assert(carom::LagrangianSystemLike<LagrangianArchetype>);
static_assert(carom::LagrangianSystemLike<PartsArchetype>);
static_assert(!carom::LagrangianSystemLike<SizeAlone>);
static_assert(!carom::SizedSystemLike<OfIntegers>);
static_assert(!carom::ConstrainedSystemLike<SizeAlone>);
static_assert(!carom::ContactSystemLike<SizeAlone>);

static_assert(carom::ImpactLawFor<carom::ImpactResolver<double>, double>);
static_assert(carom::ImpactLawFor<carom::RestitutionImpact<double>, double>);
static_assert(carom::ImpactLawFor<carom::PlasticImpact<float>, float>);
static_assert(carom::ImpactLawFor<carom::GeneralizedReflections<double>, double>);
static_assert(!carom::ImpactLawFor<carom::ImpactResolver<double>, float>);
static_assert(!carom::ImpactLawFor<SizeAlone, double>);

// --- hot calls never throw ---

template <typename Stepper>
inline constexpr bool steps_without_exceptions = noexcept(std::declval<Stepper&>().step(
    std::declval<typename Stepper::State&>(), std::declval<const typename Stepper::Scalar&>()));

static_assert(steps_without_exceptions<carom::VariationalStepper<LagrangianArchetype>>);
static_assert(steps_without_exceptions<carom::VariationalStepper<PartsArchetype>>);
static_assert(steps_without_exceptions<carom::VariationalStepper<carom::PlanarTree<float>>>);
static_assert(steps_without_exceptions<carom::ImpactStepper<LagrangianArchetype>>);

}  // namespace
