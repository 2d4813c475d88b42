// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/detail/block_symmetric.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Incomplete Cholesky factorisation H ≈ L Lᵀ of a sparse matrix of blocks, L keeping the pattern
/// of H: a preconditioner that couples neighbours and needs as much memory as H itself.
/// @note  reset() allocates beyond the largest problem so far; all else is real-time safe.
/// @cite  meijerink1977iterative, by blocks; shifted as in manteuffel1980incomplete.
template <RealScalar Scalar>
class BlockIncompleteCholesky {
 public:
  /// Takes the pattern of a matrix.
  void reset(const BlockSymmetric<Scalar>& matrix) { factor_.copy_pattern(matrix); }

  /// Factors a component. Where a pivot is not positive, it starts again with the diagonal raised.
  /// @return  false when even a doubled diagonal does not help: H is not positive definite, or
  ///          holds NaN.
  [[nodiscard]] bool factor(const BlockSymmetric<Scalar>& matrix,
                            const ColumnRange& range) noexcept {
    for (const double raise : {0.0, 1e-3, 1e-2, 1e-1, 1.0}) {
      if (try_factor(matrix, range, Scalar(raise))) return true;
    }
    return false;
  }

  /// x ← (L Lᵀ)⁻¹ x on a component's unknowns.
  void solve(const ColumnRange& range, Scalar* x) const noexcept;

 private:
  [[nodiscard]] bool try_factor(const BlockSymmetric<Scalar>& matrix, const ColumnRange& range,
                                const Scalar& raise) noexcept;
  void eliminate(Index column) noexcept;

  /// L below the diagonal; on it the inverse of its block in full, zeros above.
  BlockSymmetric<Scalar> factor_;
};

// --- implementation ---

namespace detail {

/// Replaces a symmetric matrix by the inverse of its Cholesky factor; false if it has none.
template <typename Block>
[[nodiscard]] bool invert_factor(Block& block) noexcept {
  const Index size = block.rows();
  if (!factor_cholesky(block.data(), size, size)) return false;
  for (Index c = 0; c < size; ++c) {
    for (Index r = 0; r < c; ++r) block(r, c) = 0;
  }
  // Column by column from the last: L⁻¹ fills the places of L that are no longer read.
  for (Index c = size - 1; c >= 0; --c) {
    const auto pivot = 1 / block(c, c);
    for (Index r = size - 1; r > c; --r) {
      auto sum = block(r, c + 1) * block(c + 1, c);
      for (Index k = c + 2; k <= r; ++k) sum += block(r, k) * block(k, c);
      block(r, c) = -sum * pivot;
    }
    block(c, c) = pivot;
  }
  return true;
}

}  // namespace detail

/// Subtracts what a finished column contributes to the blocks that the pattern has.
template <RealScalar Scalar>
void BlockIncompleteCholesky<Scalar>::eliminate(Index column) noexcept {
  const int width = factor_.size(column);
  const Index end = factor_.row_end(column);
  for (Index b = factor_.row_begin(column); b < end; ++b) {
    const int first = factor_.row(b);
    detail::with_block(factor_.below(b), factor_.size(first), width, [&](const auto& left) {
      detail::with_block(factor_.diagonal(first), factor_.size(first), factor_.size(first),
                         [&](auto target) { target -= left.lazyProduct(left.transpose()); });
    });
    Index place = factor_.row_begin(first);
    for (Index other = b + 1; other < end; ++other) {
      const int row = factor_.row(other);
      while (place < factor_.row_end(first) && factor_.row(place) < row) ++place;
      if (place == factor_.row_end(first)) break;
      if (factor_.row(place) != row) continue;
      detail::with_block(
          factor_.below(place), factor_.size(row), factor_.size(first), [&](auto target) {
            const Eigen::Map<const Eigen::Matrix<
                Scalar, std::remove_cvref_t<decltype(target)>::RowsAtCompileTime, Eigen::Dynamic>>
                lower(factor_.below(other), factor_.size(row), width);
            const Eigen::Map<const Eigen::Matrix<
                Scalar, std::remove_cvref_t<decltype(target)>::ColsAtCompileTime, Eigen::Dynamic>>
                upper(factor_.below(b), factor_.size(first), width);
            for (int k = 0; k < width; ++k) {
              target -= lower.col(k).lazyProduct(upper.col(k).transpose());
            }
          });
    }
  }
}

template <RealScalar Scalar>
bool BlockIncompleteCholesky<Scalar>::try_factor(const BlockSymmetric<Scalar>& matrix,
                                                 const ColumnRange& range,
                                                 const Scalar& raise) noexcept {
  factor_.copy(range, matrix);
  for (Index c = range.begin; c < range.end; ++c) {
    bool positive = true;
    detail::with_block(factor_.diagonal(c), factor_.size(c), factor_.size(c), [&](auto block) {
      if (raise > Scalar(0)) {
        detail::with_block(
            matrix.diagonal(c), factor_.size(c), factor_.size(c),
            [&](const auto& given) { block.diagonal() += raise * given.diagonal(); });
      }
      positive = detail::invert_factor(block);
    });
    if (!positive) return false;
    for (Index b = factor_.row_begin(c); b < factor_.row_end(c); ++b) {
      detail::with_block(
          factor_.below(b), factor_.size(factor_.row(b)), factor_.size(c), [&](auto block) {
            // B L⁻ᵀ in place, from the last column: column k needs the ones up to k alone.
            const Index size = block.cols();
            const Eigen::Map<const MatrixX<Scalar>> inverse(factor_.diagonal(c), size, size);
            for (Index k = size - 1; k >= 0; --k) {
              block.col(k) *= inverse(k, k);
              for (Index j = 0; j < k; ++j) block.col(k) += inverse(k, j) * block.col(j);
            }
          });
    }
    eliminate(c);
  }
  return true;
}

template <RealScalar Scalar>
void BlockIncompleteCholesky<Scalar>::solve(const ColumnRange& range, Scalar* x) const noexcept {
  const auto scale = [&](Index c, bool transposed) {
    detail::with_block(factor_.diagonal(c), factor_.size(c), factor_.size(c),
                       [&](const auto& inverse) {
                         auto here = detail::rows_of(x + factor_.start(c), inverse);
                         using Block = std::remove_cvref_t<decltype(inverse)>;
                         if constexpr (Block::RowsAtCompileTime != Eigen::Dynamic) {
                           Vector<Scalar, Block::RowsAtCompileTime> scaled;
                           if (transposed) {
                             scaled.noalias() = inverse.transpose().lazyProduct(here);
                           } else {
                             scaled.noalias() = inverse.lazyProduct(here);
                           }
                           here = scaled;
                           return;
                         }
                         const Index size = here.size();
                         for (Index k = 0; k < size;
                              ++k) {  // in place, triangular: no entry is needed once written
                           const Index entry = transposed ? k : size - 1 - k;
                           Scalar sum = 0;
                           if (transposed) {
                             for (Index j = entry; j < size; ++j)
                               sum += inverse(j, entry) * here(j);
                           } else {
                             for (Index j = 0; j <= entry; ++j) sum += inverse(entry, j) * here(j);
                           }
                           here(entry) = sum;
                         }
                       });
  };
  for (Index c = range.begin; c < range.end; ++c) {
    scale(c, false);
    for (Index b = factor_.row_begin(c); b < factor_.row_end(c); ++b) {
      detail::with_block(factor_.below(b), factor_.size(factor_.row(b)), factor_.size(c),
                         [&](const auto& block) {
                           detail::rows_of(x + factor_.start(factor_.row(b)), block) -=
                               block.lazyProduct(detail::columns_of(x + factor_.start(c), block));
                         });
    }
  }
  for (Index c = range.end - 1; c >= range.begin; --c) {
    for (Index b = factor_.row_begin(c); b < factor_.row_end(c); ++b) {
      detail::with_block(
          factor_.below(b), factor_.size(factor_.row(b)), factor_.size(c), [&](const auto& block) {
            detail::columns_of(x + factor_.start(c), block) -= block.transpose().lazyProduct(
                detail::rows_of(x + factor_.start(factor_.row(b)), block));
          });
    }
    scale(c, true);
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
