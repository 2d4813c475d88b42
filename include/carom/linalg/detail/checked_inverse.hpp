// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <Eigen/Core>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/rounded_number.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A matrix X near L⁻¹, A = L Lᵀ, with a proof of how near: ‖X A Xᵀ − I‖ ≤ ζ. Then for every p
/// √(1 + ζ) ‖p‖_{A⁻¹} ≥ ‖X p‖ ≥ √(1 − ζ) ‖p‖_{A⁻¹}, however X and L were found.
/// @cite  docs/derivations/rounding.md
/// @note  Cold: allocates; size³ work.
template <std::floating_point Scalar>
class CheckedInverse {
 public:
  using Number = RoundedNumber<Scalar>;

  /// That of a matrix of size 0.
  CheckedInverse() noexcept = default;
  /// @param matrix  A, symmetric.
  /// @param factor  L in the lower triangle, near the Cholesky factor of A.
  template <typename MatrixType>
  CheckedInverse(const MatrixType& matrix, const MatrixType& factor) {
    const Index size = matrix.rows();
    transposed_.setIdentity(size, size);
    for (Index c = 0; c < size; ++c) {
      solve_lower_transposed(factor.data(), size, size, transposed_.col(c).data());
    }
    check(matrix);
  }

  /// An upper bound of 1/√(1 − ζ), infinite where ζ ≥ 1: ‖p‖_{A⁻¹} is at most this times ‖X p‖.
  [[nodiscard]] const Scalar& factor() const noexcept { return factor_; }
  /// ζ; infinite or NaN where the numbers left the type's range.
  [[nodiscard]] const Scalar& defect() const noexcept { return defect_; }

  /// (X p)_i.
  /// @param p  numbers of the body, which are taken by their places.
  template <typename Numbers>
  [[nodiscard]] Number row_times(Index i, const Numbers& p) const noexcept {
    Number sum;
    for (Index k = 0; k <= i; ++k) sum += Number(transposed_(k, i)) * Number(p[std::size_t(k)]);
    return sum;
  }

 private:
  /// T = X A Xᵀ in two products, whose rounding γ_n |X| |A| |Xᵀ| is bounded entry by entry.
  template <typename MatrixType>
  void check(const MatrixType& matrix) {
    const Index size = matrix.rows();
    const Scalar lost = Scalar(size + 2) * (std::numeric_limits<Scalar>::min)();
    const Scalar nu = Scalar(size + 2) * unit_rounding<Scalar>;
    const Scalar gamma = raised(nu / (1 - nu), 4);
    const MatrixX<Scalar> sizes = transposed_.cwiseAbs();
    MatrixX<Scalar> product = matrix.lazyProduct(transposed_);  // A Xᵀ
    MatrixX<Scalar> doubt = matrix.cwiseAbs().lazyProduct(sizes);
    doubt = (gamma * (doubt + product.cwiseAbs())).array() + lost;
    VectorX<Scalar> rows(size);
    VectorX<Scalar> columns(size);
    for (Index c = 0; c < size; ++c) {
      for (Index r = 0; r < size; ++r) {
        const Scalar entry = transposed_.col(r).dot(product.col(c));
        const Scalar defect = std::abs(entry - Scalar(r == c ? 1 : 0));
        const Scalar sum = defect + sizes.col(r).dot(doubt.col(c)) + lost;
        rows(r) = raised(sum, int(2 * size) + 16);
      }
      columns(c) = norm_of_bounds(rows);
    }
    defect_ = norm_of_bounds(columns);
    const Scalar left = 1 - defect_;
    factor_ = left > Scalar(0) ? raised(1 / std::sqrt(left * (1 - 4 * unit_rounding<Scalar>)), 6)
                               : std::numeric_limits<Scalar>::infinity();
  }

  MatrixX<Scalar> transposed_;  ///< Xᵀ
  Scalar defect_ = 0, factor_ = 1;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
