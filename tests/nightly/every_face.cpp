// SPDX-License-Identifier: BSD-3-Clause
// All of carom, and every class of its faces for float and double, for scripts/nightly.sh to
// compile with many compilers, standards and warnings. What the compiled library holds comes from
// its own sources.
#include "carom/carom.hpp"
#include "carom/compiled.hpp"

#include "scenes/simple_systems.hpp"

#define CAROM_COMPILED_SCALAR float
#include "../../src/contact.cpp"
#include "../../src/convex.cpp"
#include "../../src/coulomb.cpp"
#include "../../src/viscoelastic.cpp"
#undef CAROM_COMPILED_SCALAR
#define CAROM_COMPILED_SCALAR double
#include "../../src/contact.cpp"
#include "../../src/convex.cpp"
#include "../../src/coulomb.cpp"
#include "../../src/viscoelastic.cpp"

namespace carom {
inline namespace CAROM_ABI {

#define CAROM_FOR_EACH_SCALAR(Class) \
  template class Class<float>;       \
  template class Class<double>

CAROM_FOR_EACH_SCALAR(ChatterWatch);
CAROM_FOR_EACH_SCALAR(ConstrainedMass);
CAROM_FOR_EACH_SCALAR(ConvexInverseMass);
CAROM_FOR_EACH_SCALAR(CoulombGain);
CAROM_FOR_EACH_SCALAR(CoulombInverseMass);
CAROM_FOR_EACH_SCALAR(FlightGuess);
CAROM_FOR_EACH_SCALAR(FrictionImpact);
CAROM_FOR_EACH_SCALAR(GeneralizedReflections);
CAROM_FOR_EACH_SCALAR(ImpactProblem);
CAROM_FOR_EACH_SCALAR(ImpactResolver);
CAROM_FOR_EACH_SCALAR(LuFactor);
CAROM_FOR_EACH_SCALAR(MassMatrix);
CAROM_FOR_EACH_SCALAR(NewtonImpact);
CAROM_FOR_EACH_SCALAR(PlanarTree);
CAROM_FOR_EACH_SCALAR(PlasticImpact);
CAROM_FOR_EACH_SCALAR(RestitutionImpact);
CAROM_FOR_EACH_SCALAR(SpatialTree);
CAROM_FOR_EACH_SCALAR(SymmetricEigen);
CAROM_FOR_EACH_SCALAR(WedgeTest);

template class LegendreMap<examples::PointDoublePendulum>;
template class StepDerivative<examples::PointDoublePendulum>;
template class VariationalStepper<examples::PointDoublePendulum>;
template class ImpactStepper<examples::BouncingBall, ImpactResolver<double>>;

}  // namespace CAROM_ABI
}  // namespace carom
