// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/impulse_set.hpp"
#include "carom/core/scalar.hpp"

#include "support/random.hpp"

namespace carom::testing {

/// W + R of a contact's own rows, positive definite with a condition number of some tens; zero
/// beyond them.
template <typename Scalar>
[[nodiscard]] SquareMatrix<Scalar, 6> draw_block(VectorSource<Scalar>& source, int rows) {
  SquareMatrix<Scalar, 6> w = SquareMatrix<Scalar, 6>::Zero(), root = w;
  for (int c = 0; c < rows; ++c) {
    for (int r = 0; r < rows; ++r) root(r, c) = source.entry(1) / 4;
  }
  w = root * root.transpose();
  for (int r = 0; r < rows; ++r) w(r, r) += Scalar(0.5);
  return w;
}

/// Numbers of the rows, zero beyond them.
template <typename Scalar>
[[nodiscard]] RowNumbers<Scalar> draw_rows(VectorSource<Scalar>& source, int rows) {
  RowNumbers<Scalar> x = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < rows; ++r) x(r) = source.entry(1);
  return x;
}

}  // namespace carom::testing
