// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// One planar contact as a user gives it: gradients of the gap and of the sliding displacement.
template <RealScalar Scalar>
struct PlanarRows {
  VectorX<Scalar> normal;   ///< n, as long as the velocity, not zero
  VectorX<Scalar> tangent;  ///< T, as long as the velocity
  Scalar friction;          ///< μ [-], ≥ 0
};

/// Contacts in orthonormal coordinates x of the kinetic metric, without the directions that no
/// contact sees: v = v_rest + V x, and ½|x|² is the part of the kinetic energy that impacts change.
///
/// The speeds of contact i are n_i v = a_i·x and T_i v = b_i·x, and its impulses p and q along
/// normal and tangent move x by p a_i + q b_i: the same vectors serve both.
template <RealScalar Scalar>
class KineticContacts {
 public:
  /// @param mass      M, symmetric positive definite, n×n.
  /// @param contacts  of n numbers each.
  /// @param velocity  v before the impact, n numbers. It determines v_rest.
  /// @note  Cold: allocates.
  KineticContacts(const MatrixX<Scalar>& mass, const std::vector<PlanarRows<Scalar>>& contacts,
                  const VectorX<Scalar>& velocity) {
    const Index n = velocity.size(), count = Index(contacts.size());
    const Eigen::LLT<MatrixX<Scalar>> factor(mass);
    MatrixX<Scalar> rows(n, 2 * count);
    for (Index i = 0; i < count; ++i) {
      rows.col(2 * i) = contacts[std::size_t(i)].normal;
      rows.col(2 * i + 1) = contacts[std::size_t(i)].tangent;
      friction_.push_back(contacts[std::size_t(i)].friction);
    }
    factor.matrixL().solveInPlace(rows);
    MatrixX<Scalar> directions = rows;  // of equal length, so that units do not decide the rank
    for (Index c = 0; c < directions.cols(); ++c) {
      const Scalar length = directions.col(c).stableNorm();
      if (length > Scalar(0)) directions.col(c) /= length;
    }
    Eigen::ColPivHouseholderQR<MatrixX<Scalar>> range(directions);
    range.setThreshold(64 * std::numeric_limits<Scalar>::epsilon());
    const MatrixX<Scalar> basis = range.householderQ() * MatrixX<Scalar>::Identity(n, range.rank());
    rows_ = basis.transpose() * rows;
    start_ = basis.transpose() * (factor.matrixU() * velocity);
    to_velocity_ = factor.matrixU().solve(basis);
    rest_ = velocity - to_velocity_ * start_;
  }

  /// Count of coordinates, at most twice the count of contacts.
  [[nodiscard]] Index dimension() const noexcept { return start_.size(); }
  [[nodiscard]] Index count() const noexcept { return Index(friction_.size()); }
  /// a_i [√(1/kg)].
  [[nodiscard]] auto normal(Index i) const noexcept { return rows_.col(2 * i); }
  /// b_i.
  [[nodiscard]] auto tangent(Index i) const noexcept { return rows_.col(2 * i + 1); }
  /// μ_i [-].
  [[nodiscard]] const Scalar& friction(Index i) const noexcept { return friction_[std::size_t(i)]; }
  /// x of the velocity before the impact [√J].
  [[nodiscard]] const VectorX<Scalar>& start() const noexcept { return start_; }
  /// The velocity of x.
  [[nodiscard]] VectorX<Scalar> velocity(const VectorX<Scalar>& x) const {
    return rest_ + to_velocity_ * x;
  }

 private:
  MatrixX<Scalar> rows_;         ///< (a_1, b_1, a_2, …)
  MatrixX<Scalar> to_velocity_;  ///< V
  VectorX<Scalar> start_, rest_;
  std::vector<Scalar> friction_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
