// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Core>

#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/detail/average_forces.hpp"
#include "carom/viscoelastic/detail/coulomb_slip.hpp"
#include "carom/viscoelastic/detail/slip_sweep.hpp"
#include "carom/viscoelastic/slip_law.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Whether all forces are in their cones. If so, all anchors rest, and no gain is needed.
/// @note  Real-time safe: O(contacts), no square root.
template <typename Vector1, typename Vector2>
[[nodiscard]] bool all_stick(const Vector1& force, const Vector2& friction) noexcept {
  bool inside = true;
  for (Index i = 0; i < friction.size(); ++i) {
    const auto x = force(3 * i), y = force(3 * i + 1);
    const auto reach = friction(i) * force(3 * i + 2);
    inside = inside && reach >= 0 && x * x + y * y <= reach * reach;
  }
  return inside;
}

/// Moves forces to their cones: computes the velocities of the anchors and both averages.
template <RealScalar Scalar>
class ForceCone {
 public:
  /// Sets the count of contacts. Cold: allocates only for a count larger than all before.
  void prepare(Index contact_count) {
    coulomb_.prepare(contact_count);
    convex_.prepare(contact_count);
    const Index n = 3 * contact_count;
    gain_.grow(n, n);
    gain2_.grow(n, n);
    spare_.grow(n, n);
    for (Vector* v : {&force_, &force2_, &velocity_}) v->grow(n);
    if (regions_.size() < static_cast<std::size_t>(contact_count)) {
      regions_.resize(static_cast<std::size_t>(contact_count));
    }
  }

  /// Applies a law to a step's averages.
  /// @param forces  contains the step's data. G and G₂ are computed only if a contact slips.
  /// @param average, average2  λ_avg and λ_avg2, 3n [N].
  /// @param friction  μ, n [-], ≥ 0.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  template <typename Values>
  SolveReport<Scalar> apply(SlipLaw law, AverageForces<Scalar>& forces, const Values& average,
                            const Values& average2, const Values& friction) noexcept {
    SolveReport<Scalar> report;
    const Index n = friction.size();
    CAROM_EXPECTS(force_.size() == 3 * n && average.size() == 3 * n);
    velocity_.setZero();
    force_ = average;
    force2_ = average2;
    std::fill_n(regions_.begin(), n, ConeRegion::stick);
    report.status = average.allFinite() && average2.allFinite() ? SolveStatus::converged
                                                                : SolveStatus::not_finite;
    if (!report.converged() || law == SlipLaw::stick || all_stick(average, friction)) return report;
    if (!forces.write_gains(gain_, gain2_) || !gain_.allFinite()) {
      report.status = SolveStatus::not_finite;
      return report;
    }
    for (Index r = 0; r < 3 * n; ++r) {  // the gain of a row without spring and damper is zero
      if (!(gain_(r, r) > Scalar(0))) gain_(r, r) = Scalar(1);
    }
    report = slip(law, average, friction);
    force2_.noalias() += gain2_ * velocity_;
    for (Index i = 0; i < n; ++i) place_second(i, friction(i));
    return report;
  }

  /// λ̄ [N]
  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return force_; }
  /// λ̄₂ [N]; that of a sliding contact is on its cone, in the direction of λ̄.
  [[nodiscard]] const Growing<VectorX<Scalar>>& force2() const noexcept { return force2_; }
  /// w [m/s]
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] ConeRegion region(Index contact) const noexcept {
    return regions_[std::size_t(contact)];
  }

 private:
  using Vector = Growing<VectorX<Scalar>>;

  template <typename Values>
  SolveReport<Scalar> slip(SlipLaw law, const Values& average, const Values& friction) noexcept {
    if (law == SlipLaw::coulomb) {
      const SolveReport<Scalar> report = coulomb_.solve(gain_, average, friction);
      take(coulomb_, friction.size());
      return report;
    }
    if (law == SlipLaw::convex) {
      const SolveReport<Scalar> report = convex_.solve(gain_, average, friction);
      take(convex_, friction.size());
      return report;
    }
    return cut(average, friction);
  }

  template <typename Solver>
  void take(const Solver& solver, Index count) noexcept {
    force_ = solver.force();
    velocity_ = solver.velocity();
    for (Index i = 0; i < count; ++i) regions_[std::size_t(i)] = solver.region(i);
  }

  /// The radial law. w is computed from the change of force, G w = λ̄ − λ_avg.
  template <typename Values>
  SolveReport<Scalar> cut(const Values& average, const Values& friction) noexcept {
    using std::sqrt;
    for (Index i = 0; i < friction.size(); ++i) {
      auto f = force_.template segment<3>(3 * i);
      const Scalar tangent = f.template head<2>().norm();
      if (!(f(2) > Scalar(0))) {
        f.setZero();
        regions_[std::size_t(i)] = ConeRegion::separate;
      } else if (tangent > friction(i) * f(2)) {
        f.template head<2>() *= friction(i) * f(2) / tangent;
        regions_[std::size_t(i)] = ConeRegion::slide;
      }
    }
    velocity_ = force_ - average;
    spare_ = gain_;
    SolveReport<Scalar> report;
    report.status = SolveStatus::converged;
    if (factor_cholesky(spare_.data(), spare_.rows(), spare_.rows())) {
      solve_lower(spare_.data(), spare_.rows(), spare_.rows(), velocity_.data());
      solve_lower_transposed(spare_.data(), spare_.rows(), spare_.rows(), velocity_.data());
    } else {
      report.status = SolveStatus::no_progress;
      velocity_.setZero();
    }
    return report;
  }

  void place_second(Index i, const Scalar& friction) noexcept {
    auto second = force2_.template segment<3>(3 * i);
    const auto first = force_.template segment<3>(3 * i);
    const ConeRegion region = regions_[std::size_t(i)];
    if (region == ConeRegion::separate) second.setZero();
    if (region != ConeRegion::slide) return;
    second(2) = (std::max)(second(2), Scalar(0));
    const Scalar tangent = first.template head<2>().norm();
    const Scalar reach = tangent > Scalar(0) ? friction * second(2) / tangent : Scalar(0);
    second.template head<2>() = reach * first.template head<2>();
  }

  CoulombSlip<Scalar> coulomb_;
  ConvexSlip<Scalar> convex_;
  Growing<MatrixX<Scalar>> gain_, gain2_, spare_;
  Vector force_, force2_, velocity_;
  std::vector<ConeRegion> regions_;
};

}  // namespace CAROM_ABI
}  // namespace carom
