// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/answer/infeasibility_tuning.hpp"
#include "carom/solvers/answer/ray_columns.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Makes columns span the ray of one island. @return false where v* satisfies the gaps.
template <RealScalar Scalar>
[[nodiscard]] bool fit_island_ray(const DelassusProblem<Scalar>& problem, FrictionLaw law,
                                  const VectorX<Scalar>& impulse, RayColumns<Scalar>& columns) {
  const VectorX<Scalar> guess = ray_in_cone(problem, law, impulse);
  const Scalar largest = guess.size() > 0 ? guess.cwiseAbs().maxCoeff() : Scalar(0);
  if (largest > Scalar(0)) {
    for (Index i = 0; i < problem.count(); ++i) {
      const RowNumbers<Scalar> own = contact_rows(problem, i, guess);
      if (!(own.cwiseAbs().maxCoeff() > largest / Scalar(InfeasibilityTuning::guess_range)))
        continue;
      if (normal_row(problem.set(i).shape) >= 0) {
        columns.add(i, RowNumbers<Scalar>(own / own(normal_row(problem.set(i).shape))));
        continue;
      }
      for (int r = 0; r < problem.set(i).rows; ++r) {
        RowNumbers<Scalar> row = RowNumbers<Scalar>::Zero();
        row(r) = own(r) < Scalar(0) ? Scalar(-1) : Scalar(1);
        if (own(r) != Scalar(0)) columns.add(i, row);
      }
    }
  }
  if (!columns.weigh()) return false;
  columns.solve(InfeasibilityTuning::column_rounds);
  return true;
}

/// The ray of one island.
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> refine_island_ray(const DelassusProblem<Scalar>& problem,
                                                FrictionLaw law, const VectorX<Scalar>& impulse) {
  RayColumns<Scalar> columns(problem, law);
  if (fit_island_ray(problem, law, impulse, columns)) return columns.ray();
  return VectorX<Scalar>::Zero(problem.row_count());
}

/// Calls visit(row in the whole problem, row in the island's).
template <RealScalar Scalar, typename Contacts, typename Visit>
void for_each_island_row(const DelassusProblem<Scalar>& whole, const Contacts& contacts,
                         const Visit& visit) {
  Index place = 0;
  for (const int i : contacts) {
    for (int r = 0; r < whole.set(i).rows; ++r) visit(whole.first_row(i) + r, place++);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
