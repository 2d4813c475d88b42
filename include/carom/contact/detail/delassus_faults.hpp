// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Core>

#include "carom/contact/weighted_block.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether a matrix is symmetric positive semidefinite up to rounding, by elimination with the
/// largest pivots.
template <RealScalar Scalar, int Size>
[[nodiscard]] bool is_semidefinite(SquareMatrix<Scalar, Size> matrix) noexcept {
  using std::abs;
  Scalar sum(0);
  for (int k = 0; k < Size * Size; ++k) sum += abs(matrix.data()[k]);
  const Scalar slack = 64 * std::numeric_limits<Scalar>::epsilon() * sum;
  for (int c = 0; c < Size; ++c) {
    for (int r = 0; r < c; ++r) {
      if (!(abs(matrix(r, c) - matrix(c, r)) <= slack)) return false;
    }
  }
  for (int step = 0; step < Size; ++step) {
    int at = 0;
    for (int i = 1; i < Size; ++i) {
      if (matrix(i, i) > matrix(at, at)) at = i;
    }
    const Scalar pivot = matrix(at, at);
    if (!(pivot > slack)) break;
    const Vector<Scalar, Size> column = matrix.col(at);
    for (int c = 0; c < Size; ++c) {
      for (int r = 0; r < Size; ++r) matrix(r, c) -= column(r) * (column(c) / pivot);
    }
    for (int i = 0; i < Size; ++i) matrix(at, i) = matrix(i, at) = Scalar(0);
  }
  for (int k = 0; k < Size * Size; ++k) {
    if (!(abs(matrix.data()[k]) <= slack)) return false;
  }
  return true;
}

/// W_ii + R of a contact with one or two parts; zero beyond its rows.
template <typename Problem>
[[nodiscard]] auto own_block(const Problem& problem, Index contact) noexcept {
  using Scalar = typename Problem::scalar_type;
  SquareMatrix<Scalar, 6> block = SquareMatrix<Scalar, 6>::Zero();
  const Index first = problem.first_part(contact);
  for (Index p = 0; p < problem.parts(contact); ++p) {
    for (const auto* n = problem.begin(first + p); n != problem.end(first + p); ++n) {
      const Index o = n->part - first;
      if (o < 0 || o >= problem.parts(contact)) continue;
      for (Index c = 0; c < 3; ++c) {
        for (Index r = 0; r < 3; ++r) block(3 * p + r, 3 * o + c) = n->matrix(r, c);
      }
    }
    for (Index r = 0; r < 3; ++r) {
      block(3 * p + r, 3 * p + r) += problem.regularization(first + p)(r);
    }
  }
  return block;
}

/// The fault of a contact of a DelassusProblem; empty if there is none.
/// @param load  all numbers of the load, or the first six.
template <RealScalar Scalar>
[[nodiscard]] Fault delassus_contact_fault(Index contact, const ImpulseSet<Scalar>& set,
                                           Index load_size, const RowNumbers<Scalar>& load,
                                           const RowNumbers<Scalar>& regularization) {
  const std::string item = "contact " + std::to_string(contact);
  if (Fault wrong = set_fault(item, set); !wrong.empty()) return wrong;
  if (load_size != set.rows) {
    return fault(item + ": load size", std::to_string(set.rows).c_str(), load_size);
  }
  for (int r = 0; r < set.rows; ++r) {
    if (!is_finite(load(r))) {
      return fault(entry(item + ": load", r), "a finite number", load(r));
    }
    if (!is_nonnegative(regularization(r))) {
      return fault(entry(item + ": regularization", r), "a finite number >= 0", regularization(r));
    }
  }
  return {};
}

/// The fault of a block W_ij of a DelassusProblem; empty if there is none.
template <typename Problem>
[[nodiscard]] Fault delassus_block_fault(
    const Problem& problem, Index i, Index j,
    const MatrixEntries<typename Problem::scalar_type>& block) {
  const auto item = [&] {  // long names allocate
    return "block (" + std::to_string(i) + ", " + std::to_string(j) + ")";
  };
  for (const Index contact : {i, j}) {
    if (contact >= 0 && contact < problem.count()) continue;
    return fault(item(), "contacts that were added", contact);
  }
  const int rows = problem.set(i).rows, columns = problem.set(j).rows;
  if (block.rows != rows) {
    return fault(item() + ": rows", std::to_string(rows).c_str(), block.rows);
  }
  if (block.columns != columns) {
    return fault(item() + ": columns", std::to_string(columns).c_str(), block.columns);
  }
  for (Index c = 0; c < columns; ++c) {
    for (Index r = 0; r < rows; ++r) {
      if (!is_finite(block(r, c))) return finite_fault(item(), block);
    }
  }
  return {};
}

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
