// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/coulomb_contact.hpp"
#include "carom/cones/ellipsoidal_cone.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/symmetric_eigen.hpp"
#include "carom/viscoelastic/detail/slip_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One contact under the associated law: the force of its cone nearest to l in the metric G⁻¹.
///
/// With G = C Cᵀ, λ = C z, that is the nearest point to C⁻¹l of an elliptic cone.
template <RealScalar Scalar>
class ConvexGain {
 public:
  ConvexGain() = default;

  /// @param gain  G [N·s/m], symmetric positive definite.
  /// @param friction  μ [-], ≥ 0.
  /// @param eigen  memory, prepared for size 3.
  ConvexGain(const SquareMatrix<Scalar, 3>& gain, const Scalar& friction,
             SymmetricEigen<Scalar>& eigen) noexcept
      : plain_(gain), friction_(friction) {
    using std::sqrt;
    if (!(friction > Scalar(0))) return;
    SquareMatrix<Scalar, 3> c = gain;
    static_cast<void>(factor_cholesky(c.data(), 3, 3));
    c(0, 1) = c(0, 2) = c(1, 2) = Scalar(0);
    // (1/μ, 1/μ, 1) but for a factor: of order one, so that nothing overflows.
    const Scalar across = (std::min)(Scalar(1), Scalar(1) / friction);
    const Vector3<Scalar> measure(across, across, (std::min)(Scalar(1), friction));
    const SquareMatrix<Scalar, 3> scaled = measure.asDiagonal() * c;
    const Vector3<Scalar> sides(Scalar(1), Scalar(1), Scalar(-1));
    eigen.matrix() = scaled.transpose() * sides.asDiagonal() * scaled;
    static_cast<void>(eigen.solve());
    Index axis = 0;
    eigen.values().minCoeff(&axis);
    SquareMatrix<Scalar, 3> frame;
    for (Index i = 0; i < 3; ++i) frame.col(i) = eigen.vectors().col((axis + 1 + i) % 3);
    const Scalar least = (std::max)(Scalar(0), Scalar(-eigen.values()(axis)));
    const Scalar rounding = std::numeric_limits<Scalar>::epsilon() * least;
    for (Index i = 0; i < 2; ++i) {  // of vast friction rounding is what is seen
      const Scalar other = (std::max)(eigen.values()((axis + 1 + i) % 3), rounding);
      cone_.friction(i) = other > Scalar(0) ? sqrt(least / other) : Scalar(0);
    }
    out_ = c * frame;
    if (out_(2, 2) < Scalar(0)) {
      frame.col(2) = -frame.col(2);
      out_.col(2) = -out_.col(2);
    }
    in_ = frame.transpose();  // frameᵀ C⁻¹, by rows
    for (Index i = 0; i < 3; ++i) {
      Vector3<Scalar> row = in_.row(i).transpose();
      solve_lower_transposed(c.data(), 3, 3, row.data());
      in_.row(i) = row.transpose();
    }
  }

  [[nodiscard]] CoulombContact<Scalar> solve(const Vector3<Scalar>& held) const noexcept {
    if (!(friction_ > Scalar(0))) return plain_.solve(held, Scalar(0));
    if (held.template head<2>().norm() <= friction_ * held(2)) {
      return {held, Vector3<Scalar>::Zero(), ConeRegion::stick, Scalar(0)};
    }
    const Vector3<Scalar> free = in_ * held;
    const auto nearest = project(cone_, Vector3<Scalar>(1, 1, 1), free);
    const Vector3<Scalar> force = out_ * nearest.point;
    const Vector3<Scalar> velocity = in_.transpose() * (nearest.point - free);
    return {force, velocity, nearest.region, Scalar(0)};
  }

  [[nodiscard]] const SquareMatrix<Scalar, 3>& gain() const noexcept { return plain_.gain(); }

 private:
  CoulombGain<Scalar> plain_;  ///< serves contacts without friction
  Scalar friction_ = 0;
  EllipticCone<Scalar> cone_{};
  SquareMatrix<Scalar, 3> in_, out_;  ///< ẑ = in λ, λ = out ẑ
};

/// The associated law for contacts that act on each other: min ½ wᵀG w + λ_avgᵀw over w_i in the
/// dual cones, so that λ = λ_avg + G w lies in the cones and is complementary.
///
/// Block descent on a strictly convex problem with separate constraints: it converges whatever the
/// coupling.
template <RealScalar Scalar>
class ConvexSlip {
 public:
  static constexpr int sweep_limit = detail::ConvexSlipTuning::sweep_limit;

  /// Grows memory for n contacts. Cold: allocates.
  void prepare(Index contact_count) {
    eigen_.prepare(3);
    if (blocks_.size() < static_cast<std::size_t>(contact_count)) {
      blocks_.resize(static_cast<std::size_t>(contact_count));
      regions_.resize(static_cast<std::size_t>(contact_count));
    }
    force_.grow(3 * contact_count);
    velocity_.grow(3 * contact_count);
    response_.grow(3 * contact_count);
  }

  /// Takes G and μ.
  template <typename Matrix, typename Vector>
  void set(const Matrix& gain, const Vector& friction) noexcept {
    for (Index i = 0; i < friction.size(); ++i) {
      const SquareMatrix<Scalar, 3> block = gain.template block<3, 3>(3 * i, 3 * i);
      blocks_[std::size_t(i)] = ConvexGain<Scalar>(block, friction(i), eigen_);
    }
  }

  /// Solves for λ_avg.
  /// @return  residual: largest change of a force in the last sweep [N].
  /// @note  Real-time safe once prepared: no allocation, no exception, at most `sweeps` sweeps.
  template <typename Matrix, typename Vector>
  SolveReport<Scalar> solve(const Matrix& gain, const Vector& average,
                            int sweeps = detail::ConvexSlipTuning::sweep_limit) noexcept {
    const Index n = force_.size() / 3;
    CAROM_EXPECTS(average.size() == 3 * n);
    SolveReport<Scalar> report;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    if (!average.allFinite()) return report;
    velocity_.setZero();
    response_ = average;
    report.status = SolveStatus::iteration_limit;
    while (report.iterations < sweeps) {
      report.residual = Scalar(0);
      for (Index i = 0; i < n; ++i) {
        const auto at = [i](auto& v) { return v.template segment<3>(3 * i); };
        const auto& block = blocks_[std::size_t(i)];
        const Vector3<Scalar> old = at(velocity_);
        const Vector3<Scalar> held = at(response_) - block.gain() * old;
        const CoulombContact<Scalar> contact = block.solve(held);
        const Vector3<Scalar> change = contact.velocity - old;
        for (Index k = 0; k < 3; ++k) {
          if (change(k) != Scalar(0)) response_ += change(k) * gain.col(3 * i + k);
        }
        at(velocity_) = contact.velocity;
        at(force_) = contact.impulse;
        regions_[std::size_t(i)] = contact.region;
        report.residual = (std::max)(
            report.residual, Scalar((block.gain() * change).template lpNorm<Eigen::Infinity>()));
      }
      ++report.iterations;
      const Scalar size = (std::max)(average.template lpNorm<Eigen::Infinity>(),
                                     force_.template lpNorm<Eigen::Infinity>());
      report.residual_target = Scalar(detail::ConvexSlipTuning::rounding) *
                               std::numeric_limits<Scalar>::epsilon() * size;
      if (!(report.residual <= report.residual_target)) continue;
      report.status = SolveStatus::converged;
      break;
    }
    return report;
  }

  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return force_; }
  /// w [m/s]
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] ConeRegion region(Index contact) const noexcept {
    return regions_[std::size_t(contact)];
  }

 private:
  SymmetricEigen<Scalar> eigen_;
  std::vector<ConvexGain<Scalar>> blocks_;
  std::vector<ConeRegion> regions_;
  Growing<VectorX<Scalar>> force_, velocity_, response_;
};

}  // namespace CAROM_ABI
}  // namespace carom
