// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/concepts.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Which law SapSolver solves, how accurately, and by which directions.
template <RealScalar Scalar>
struct SapOptions {
  /// Coulomb's law itself is solved by a sequence of convex problems, each with De Saxcé's lift of
  /// the one before, and near its solution by Newton's method. Islands beyond factor_work_limit are
  /// solved by the sequence alone.
  FrictionLaw law = FrictionLaw::convex;
  /// T [-], > 0: stop when ‖∇ℓ‖_{A⁻¹} ≤ T s, s the momentum_scale(). Half the type's digits; the
  /// last Newton steps converge quadratically, so a tighter one costs an iteration or two.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Most Newton iterations, ≥ 0. Piles from a poor guess take some tens.
  int iteration_limit = 200;
  /// The line search ends when the slope has fallen to this fraction of its start [-], in (0, 1).
  /// Each evaluation is O(contacts), far below a factorisation.
  Scalar line_search_tolerance = Scalar(1e-1);
  /// Islands whose factorisation would take more multiply-adds per contact than this, ≥ 0, get
  /// their directions from conjugate gradients instead, with an incomplete factor and memory in
  /// proportion to the contacts. Zero asks for them always, infinity never. At the default the two
  /// take about as long on piles; harder friction favours the factorisation.
  double factor_work_limit = 1.5e4;
  /// Problems of one body with no more friction contacts than this, ≥ 0, and no other blocks are
  /// solved under the convex law on one dense matrix, unless factor_work_limit is zero. The answer
  /// is the same to rounding and takes less time. Values beyond the default, 20, change nothing; 0
  /// solves all problems island by island.
  int small_contact_limit = int(detail::SmallProblemLimits::contact_limit);

  /// Whether every option is in its range.
  [[nodiscard]] bool is_valid() const noexcept {
    return tolerance > Scalar(0) && iteration_limit >= 0 && line_search_tolerance > Scalar(0) &&
           line_search_tolerance < Scalar(1) && factor_work_limit >= 0 && small_contact_limit >= 0;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
