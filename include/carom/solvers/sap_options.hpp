// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/concepts.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Law, accuracy and directions of SapSolver.
template <RealScalar Scalar>
struct SapOptions {
  /// Coulomb's law is solved by a sequence of convex problems, each with De Saxcé's term of the one
  /// before, and near its solution by Newton's method. Islands above factor_work_limit are solved
  /// by the sequence only.
  FrictionLaw law = FrictionLaw::convex;
  /// T [-], > 0: the solve ends if ‖∇ℓ‖_{A⁻¹} ≤ T s, where s is the momentum_scale(). Half of the
  /// type's digits. The last Newton steps converge quadratically, so a smaller value costs an
  /// iteration or two.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Largest count of Newton iterations, ≥ 0. Piles from a poor guess need some tens.
  int iteration_limit = 200;
  /// The line search ends if the derivative has decreased to this fraction of its start [-], in (0,
  /// 1). Each evaluation is O(contacts), far below a factorisation.
  Scalar line_search_tolerance = Scalar(1e-1);
  /// Islands whose factorisation would need more multiply-adds per contact than this, ≥ 0, get
  /// their directions from conjugate gradients instead, with an incomplete factor and memory
  /// proportional to the contacts. Zero always selects them, infinity never. At the default the two
  /// need about the same time on piles; larger friction favours the factorisation.
  double factor_work_limit = 1.5e4;
  /// Problems of one body with at most this count of friction contacts, ≥ 0, and no other blocks
  /// are solved under the convex law with one dense matrix, unless factor_work_limit is zero. The
  /// answer is the same up to rounding and needs less time. Values above the default, 20, change
  /// nothing; with 0, all problems are solved island by island.
  int small_contact_limit = int(detail::SmallProblemLimits::contact_limit);

  /// Whether all options are in their ranges.
  [[nodiscard]] bool is_valid() const noexcept {
    return tolerance > Scalar(0) && iteration_limit >= 0 && line_search_tolerance > Scalar(0) &&
           line_search_tolerance < Scalar(1) && factor_work_limit >= 0 && small_contact_limit >= 0;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
