// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/rounded_number.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A matrix X near L⁻¹, A = L Lᵀ, with a proven bound of the error: ‖X A Xᵀ − I‖ ≤ ζ. For each p it
/// follows that √(1 + ζ) ‖p‖_{A⁻¹} ≥ ‖X p‖ ≥ √(1 − ζ) ‖p‖_{A⁻¹}. The bound does not depend on how X
/// and L were computed.
/// @cite  docs/derivations/rounding.md
/// @note  Cold: allocates; size³ work.
template <std::floating_point Scalar>
class CheckedInverse {
 public:
  using Number = RoundedNumber<Scalar>;

  /// The checked inverse of a matrix of size 0.
  CheckedInverse() noexcept = default;
  /// @param matrix  A, symmetric.
  /// @param factor  lower triangle: L, near the Cholesky factor of A.
  template <typename MatrixType>
  CheckedInverse(const MatrixType& matrix, const MatrixType& factor)
      : CheckedInverse(matrix.data(), factor.data(), matrix.rows()) {}
  /// The same for a matrix given by its columns, one after the other.
  CheckedInverse(const Scalar* matrix, const Scalar* factor, Index size) : size_(size) {
    transposed_.resize(size * size);
    for (Index c = 0; c < size; ++c) {
      Scalar* const column = transposed_.data() + c * size;
      column[c] = Scalar(1);
      solve_lower_transposed(factor, size, size, column);
    }
    check(matrix);
  }

  /// An upper bound of 1/√(1 − ζ), infinite where ζ ≥ 1: ‖p‖_{A⁻¹} is at most this times ‖X p‖.
  [[nodiscard]] const Scalar& factor() const noexcept { return factor_; }
  /// ζ. It is infinite or NaN if the numbers left the range of the type.
  [[nodiscard]] const Scalar& defect() const noexcept { return defect_; }

  /// (X p)_i.
  /// @param p  numbers of the body, read by their index.
  template <typename Numbers>
  [[nodiscard]] Number row_times(Index i, const Numbers& p) const noexcept {
    Number sum;
    for (Index k = 0; k <= i; ++k)
      sum += Number(transposed_[i * size_ + k]) * Number(p[std::size_t(k)]);
    return sum;
  }

 private:
  /// Computes T = X A Xᵀ in two products. Their rounding error γ_n |X| |A| |Xᵀ| is bounded entry by
  /// entry.
  void check(const Scalar* matrix) {
    const Index size = size_;
    const Scalar lost = Scalar(size + 2) * (std::numeric_limits<Scalar>::min)();
    const Scalar nu = Scalar(size + 2) * unit_rounding<Scalar>;
    const Scalar gamma = raised(nu / (1 - nu), 4);
    Sequence<Scalar> product, doubt, rows, columns;  // A xᵀ of a row x of X, and its rounding error
    for (Sequence<Scalar>* numbers : {&product, &doubt, &rows, &columns}) numbers->resize(size);
    for (Index c = 0; c < size; ++c) {
      const Scalar* const x = transposed_.data() + c * size;
      for (Index r = 0; r < size; ++r) {
        Scalar sum(0), absolute(0);
        for (Index k = 0; k < size; ++k) {
          const Scalar part = matrix[k * size + r] * x[k];
          sum += part;
          absolute += std::abs(part);
        }
        product[r] = sum;
        doubt[r] = gamma * (absolute + std::abs(sum)) + lost;
      }
      for (Index r = 0; r < size; ++r) {
        const Scalar* const y = transposed_.data() + r * size;
        Scalar entry(0), absolute(0);
        for (Index k = 0; k < size; ++k) {
          entry += y[k] * product[k];
          absolute += std::abs(y[k]) * doubt[k];
        }
        const Scalar defect = std::abs(entry - Scalar(r == c ? 1 : 0));
        rows[r] = raised(defect + absolute + lost, int(2 * size) + 16);
      }
      columns[c] = norm_of_bounds(rows);
    }
    defect_ = norm_of_bounds(columns);
    const Scalar left = 1 - defect_;
    factor_ = left > Scalar(0) ? raised(1 / std::sqrt(left * (1 - 4 * unit_rounding<Scalar>)), 6)
                               : std::numeric_limits<Scalar>::infinity();
  }

  Index size_ = 0;
  Sequence<Scalar> transposed_;  ///< Xᵀ, column by column
  Scalar defect_ = 0, factor_ = 1;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
