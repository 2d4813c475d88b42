// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom::inline CAROM_ABI {
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

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
