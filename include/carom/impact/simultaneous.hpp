// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/impact/generalized_reflections.hpp"
#include "carom/impact/restitution.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The simultaneous law with restitution by energy: all closing contacts act at once, so that no
/// order is chosen. R = 1 is GeneralizedReflections, R = 0 is the plastic impact.
///
/// ```
/// carom::SimultaneousImpact<double> law(0.8);
/// const auto solution = resolve_impact(problem, mass, momentum, law);
/// ```
template <RealScalar Scalar>
using SimultaneousImpact =
    RestitutionImpact<Scalar, MostInfeasibleTogether<Scalar>, GeneralizedReflections<Scalar>>;

}  // namespace CAROM_ABI
}  // namespace carom
