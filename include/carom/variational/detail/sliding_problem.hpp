// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/cones/friction_cone.hpp"
#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Friction of contacts whose normal impulses are known, by maximal dissipation: the impulses that
/// take most energy out of a slip,
///
///   min ½ βᵀW β + uᵀβ  over  ‖β_i‖ ≤ μ_i γ_i,
///
/// so that a contact sticks (slip u_i + (W β)_i = 0) or slides with β_i against its slip.
///
/// Block Gauss-Seidel. A contact's step is the projection onto its friction cone in a metric that
/// holds the normal impulse, which leaves the cone's section at γ_i.
/// @cite  moreau1988unilateral
template <RealScalar Scalar>
class SlidingProblem {
 public:
  static constexpr int sweep_limit = 1000;

  MatrixX<Scalar> response;  ///< W, 2k×2k [1/kg]; a planar contact's second row is zero.
  VectorX<Scalar> slip;      ///< u without friction, (t₁, t₂) per contact [m/s].
  VectorX<Scalar> normal;    ///< γ_i [N·s]; negative counts as none.
  VectorX<Scalar> friction;  ///< μ_i [-], ≥ 0.
  VectorX<Scalar> impulse;   ///< β [N·s]; start in, result out.

  /// Memory for up to `count` contacts. Cold: allocates.
  void prepare(Index count) {
    response.setZero(2 * count, 2 * count);
    slip.setZero(2 * count);
    impulse.setZero(2 * count);
    normal.setZero(count);
    friction.setZero(count);
  }

  /// Solves for the first `count` contacts.
  /// @return  residual: largest change of an impulse in the last sweep [N·s].
  /// @note  Real-time safe: no allocation, no exception, at most sweep_limit × (2·count)²
  ///        multiply-adds.
  SolveReport<Scalar> solve(Index count) noexcept {
    CAROM_EXPECTS(count <= normal.size());
    using std::abs;
    SolveReport<Scalar> report;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    report.status = SolveStatus::iteration_limit;
    while (report.iterations < sweep_limit) {
      Scalar largest = 0;
      report.residual = 0;
      for (Index i = 0; i < count; ++i) {
        report.residual = (std::max)(report.residual, relax(i, count));
        largest =
            (std::max)({largest, Scalar(abs(impulse(2 * i))), Scalar(abs(impulse(2 * i + 1)))});
      }
      ++report.iterations;
      report.residual_target = 2 * std::numeric_limits<Scalar>::epsilon() * largest;
      if (!(report.residual <= report.residual_target)) continue;
      report.status = SolveStatus::converged;
      break;
    }
    return report;
  }

 private:
  /// Solves one contact with the others held; returns how far its impulse moved.
  Scalar relax(Index i, Index count) noexcept {
    using std::abs, std::sqrt;
    const Index t = 2 * i;
    const Scalar a = response(t, t), b = response(t, t + 1), d = response(t + 1, t + 1);
    const Scalar stiffest = (a + d) / 2 + sqrt((a - d) * (a - d) / 4 + b * b);
    if (!(stiffest > Scalar(0)) || !(normal(i) > Scalar(0))) {
      impulse(t) = impulse(t + 1) = 0;
      return Scalar(0);
    }
    Vector3<Scalar> wanted(impulse(t), impulse(t + 1), normal(i));
    for (Index r = 0; r < 2; ++r) {
      Scalar speed = slip(t + r);
      for (Index c = 0; c < 2 * count; ++c) speed += response(t + r, c) * impulse(c);
      wanted(r) -= speed / stiffest;
    }
    constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
    const ContactWeights<Scalar> held{Scalar(1), 1 / (rounding * rounding)};
    const FrictionCone<Scalar> cone{friction(i)};
    const Vector3<Scalar> point = project(cone, held, wanted).point;
    const Scalar moved =
        (std::max)(Scalar(abs(point(0) - impulse(t))), Scalar(abs(point(1) - impulse(t + 1))));
    impulse(t) = point(0);
    impulse(t + 1) = point(1);
    return moved;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
