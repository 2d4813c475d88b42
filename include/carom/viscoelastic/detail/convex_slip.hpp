// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/cones/convex_contact.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/viscoelastic/detail/slip_sweep.hpp"
#include "carom/viscoelastic/detail/slip_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The associated law for contacts that act on each other: min ½ wᵀG w + λ_avgᵀw over w_i in the
/// dual cones, so that λ = λ_avg + G w lies in the cones and is complementary.
///
/// It is block descent on a strictly convex problem with separate constraints, which converges for
/// any coupling.
template <RealScalar Scalar>
class ConvexSlip {
 public:
  static constexpr int sweep_limit = detail::ConvexSlipTuning::sweep_limit;

  /// Sets the number of contacts. Cold: allocates beyond the largest so far.
  void prepare(Index contact_count) { contacts_.prepare(contact_count); }

  /// @param gain      G, 3n×3n [N·s/m], symmetric positive definite.
  /// @param average   λ_avg, 3n [N].
  /// @param friction  μ, n [-], ≥ 0.
  /// @return  residual: largest change of a force in the last sweep [N].
  /// @note  Real-time safe once prepared: no allocation, no exception, at most `sweeps` sweeps.
  template <typename Matrix, typename Values1, typename Values2>
  SolveReport<Scalar> solve(const Matrix& gain, const Values1& average, const Values2& friction,
                            int sweeps = sweep_limit) noexcept {
    CAROM_EXPECTS(average.size() == 3 * contacts_.count() && friction.size() == contacts_.count());
    SolveReport<Scalar> report;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    if (!average.allFinite()) return report;
    contacts_.start(gain, average);
    report.status = SolveStatus::iteration_limit;
    while (report.iterations < sweeps) {
      report.residual = contacts_.sweep(gain, friction).change;
      ++report.iterations;
      report.residual_target =
          contacts_.target(average, Scalar(detail::ConvexSlipTuning::rounding));
      if (!(report.residual <= report.residual_target)) continue;
      report.status = SolveStatus::converged;
      break;
    }
    return report;
  }

  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return contacts_.force(); }
  /// w [m/s]
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept {
    return contacts_.velocity();
  }
  [[nodiscard]] ConeRegion region(Index contact) const noexcept {
    return contacts_.contact(contact).region;
  }

 private:
  detail::SlipSweep<Scalar, ConvexGain<Scalar>> contacts_;
};

}  // namespace CAROM_ABI
}  // namespace carom
