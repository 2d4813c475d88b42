// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// J diag(A)⁻¹ Jᵀ of one body, for three rows; ‖Σ‖_F/3 over the bodies is a contact's inverse mass.
template <typename MomentumType, typename MatrixType>
[[nodiscard]] auto diagonal_delassus(const Eigen::MatrixBase<MomentumType>& momentum,
                                     const Eigen::MatrixBase<MatrixType>& jacobian) noexcept {
  using Scalar = typename MomentumType::Scalar;
  SquareMatrix<Scalar, 3> result = SquareMatrix<Scalar, 3>::Zero();
  for (Index i = 0; i < jacobian.cols(); ++i) {
    const Vector3<Scalar> column = jacobian.col(i);
    result.noalias() += column * (column / momentum(i, i)).transpose();
  }
  return result;
}

/// The diagonal of J diag(A)⁻¹ Jᵀ of one body, for one to six rows: the rows' inverse masses.
template <typename MomentumType, typename MatrixType>
[[nodiscard]] auto delassus_diagonal(const Eigen::MatrixBase<MomentumType>& momentum,
                                     const Eigen::MatrixBase<MatrixType>& jacobian) noexcept {
  using Scalar = typename MomentumType::Scalar;
  Vector<Scalar, 6> sum = Vector<Scalar, 6>::Zero();
  for (Index i = 0; i < jacobian.rows(); ++i) {
    for (Index k = 0; k < jacobian.cols(); ++k) {
      sum(i) += jacobian(i, k) * jacobian(i, k) / momentum(k, k);
    }
  }
  return sum;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
