// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/coulomb_law.hpp"

#include "support/dual_problems.hpp"

/// @file
/// Problems in impulses with a solution known beforehand.
namespace carom::testing {

struct PlantedDual {
  DualData data;
  Eigen::VectorXd impulse;
};

/// Draws impulses and velocities that obey the law, contact by contact, and the load that makes
/// them a solution: q = u − (W + R) γ.
[[nodiscard]] inline PlantedDual plant_dual(VectorSource<double>& source, const DualShape& shape,
                                            FrictionLaw law) {
  PlantedDual planted{draw_dual(source, shape), {}};
  DualData& data = planted.data;
  planted.impulse.resize(data.q.size());
  Eigen::VectorXd velocity(data.q.size());
  Index row = 0;
  for (const ImpulseSet<double>& set : data.sets) {
    RowNumbers<double> y = RowNumbers<double>::Zero(), step = RowNumbers<double>::Ones();
    for (int r = 0; r < set.rows; ++r) y(r) = 2 * source.unit() - 0.8;
    const bool coulomb = law == FrictionLaw::coulomb;
    if (coulomb && set.shape == ImpulseShape::elliptic) {  // steps in proportion to μ²
      const double largest = std::max(set.friction(0), set.friction(1));
      for (int r = 0; r < 2 && largest > 0; ++r) {
        step(r) = set.friction(r) * set.friction(r) / (largest * largest);
      }
    }
    const RowNumbers<double> impulse =
        coulomb ? coulomb_impulse(set, y) : nearest_impulse(set, step, y);
    for (int r = 0; r < set.rows; ++r) {
      planted.impulse(row + r) = impulse(r);
      velocity(row + r) = step(r) > 0 ? (impulse(r) - y(r)) / step(r) : y(r);
    }
    row += set.rows;
  }
  data.q = velocity - data.w * planted.impulse - data.r.cwiseProduct(planted.impulse);
  return planted;
}

}  // namespace carom::testing
