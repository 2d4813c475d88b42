// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether a matrix is symmetric positive semidefinite but for rounding, by elimination with the
/// largest pivots.
template <RealScalar Scalar, int Size>
[[nodiscard]] bool is_semidefinite(SquareMatrix<Scalar, Size> matrix) noexcept {
  const Scalar slack = 64 * std::numeric_limits<Scalar>::epsilon() * matrix.cwiseAbs().sum();
  if (!((matrix - matrix.transpose()).cwiseAbs().maxCoeff() <= slack)) return false;
  for (int step = 0; step < Size; ++step) {
    int at = 0;
    const Scalar pivot = matrix.diagonal().maxCoeff(&at);
    if (!(pivot > slack)) break;
    const Vector<Scalar, Size> column = matrix.col(at);
    matrix -= column * (column / pivot).transpose();
    matrix.row(at).setZero();
    matrix.col(at).setZero();
  }
  return matrix.cwiseAbs().maxCoeff() <= slack;
}

/// W_ii + R of a contact of one part or two, zero beyond its rows.
template <typename Problem>
[[nodiscard]] auto own_block(const Problem& problem, Index contact) noexcept {
  using Scalar = typename Problem::scalar_type;
  SquareMatrix<Scalar, 6> block = SquareMatrix<Scalar, 6>::Zero();
  const Index first = problem.first_part(contact);
  for (int p = 0; p < problem.parts(contact); ++p) {
    for (const auto* n = problem.begin(first + p); n != problem.end(first + p); ++n) {
      const Index o = n->part - first;
      if (o < 0 || o >= problem.parts(contact)) continue;
      block.template block<3, 3>(3 * p, 3 * o) = n->matrix;
    }
    block.diagonal().template segment<3>(3 * p) += problem.regularization(first + p);
  }
  return block;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
