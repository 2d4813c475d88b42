// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "carom/core/invalid_input.hpp"
#include "carom/impact/concepts.hpp"
#include "carom/linalg/detail/cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A block-diagonal mass matrix M [kg, kg·m²], factored once. One block is a dense matrix, 1×1
/// blocks are a diagonal matrix.
template <RealScalar Scalar>
class MassMatrix {
 public:
  using scalar_type = Scalar;

  MassMatrix() = default;

  /// A dense matrix, n×n, symmetric positive definite.
  template <typename Derived>
  [[nodiscard]] static MassMatrix make_dense(const Eigen::MatrixBase<Derived>& matrix) {
    MassMatrix mass;
    mass.add_block(matrix);
    return mass;
  }

  /// A diagonal matrix, all entries > 0.
  template <typename Derived>
  [[nodiscard]] static MassMatrix make_diagonal(const Eigen::MatrixBase<Derived>& diagonal) {
    MassMatrix mass;
    for (Index i = 0; i < diagonal.size(); ++i) {
      mass.add_block(SquareMatrix<Scalar, 1>::Constant(diagonal(i)));
    }
    return mass;
  }

  /// Appends a block; the matrix grows by its size.
  /// @note  Cold: allocates, throws std::invalid_argument naming the block and the entry.
  template <typename Derived>
  void add_block(const Eigen::MatrixBase<Derived>& matrix) {
    const std::string item = "mass block " + std::to_string(blocks_.size());
    detail::reject_if(detail::symmetric_fault(item, "", matrix));
    const Index n = matrix.rows();
    const Index offset = Index(factor_.size());
    matrix_.resize(matrix_.size() + std::size_t(n * n));
    factor_.resize(matrix_.size());
    Eigen::Map<MatrixX<Scalar>>(matrix_.data() + offset, n, n) =
        (matrix + matrix.transpose()) / Scalar(2);
    Eigen::Map<MatrixX<Scalar>>(factor_.data() + offset, n, n) =
        Eigen::Map<MatrixX<Scalar>>(matrix_.data() + offset, n, n);
    if (!factor_cholesky(factor_.data() + offset, n, n)) {
      matrix_.resize(std::size_t(offset));
      factor_.resize(std::size_t(offset));
      detail::reject_if(item + ": expected a positive definite matrix, got an indefinite one");
    }
    blocks_.push_back({size_, n, offset});
    size_ += n;
  }

  [[nodiscard]] Index size() const noexcept { return size_; }

  /// M⁻¹ p in place: from a momentum [N·s, N·m·s] to a velocity [m/s, rad/s].
  /// @note  Real-time safe: no allocation, no exception.
  void apply_inverse(VectorX<Scalar>& momentum) const noexcept {
    CAROM_EXPECTS(momentum.size() == size_);
    for (const Block& b : blocks_) {
      const Scalar* const lower = factor_.data() + b.offset;
      solve_lower(lower, b.size, b.size, momentum.data() + b.start);
      solve_lower_transposed(lower, b.size, b.size, momentum.data() + b.start);
    }
  }

  /// M v: from a velocity [m/s, rad/s] to a momentum [N·s, N·m·s].
  /// @note  Cold: allocates.
  [[nodiscard]] VectorX<Scalar> momentum(const VectorX<Scalar>& velocity) const {
    CAROM_EXPECTS(velocity.size() == size_);
    VectorX<Scalar> result(size_);
    for (const Block& b : blocks_) {
      result.segment(b.start, b.size).noalias() =
          Eigen::Map<const MatrixX<Scalar>>(matrix_.data() + b.offset, b.size, b.size) *
          velocity.segment(b.start, b.size);
    }
    return result;
  }

 private:
  struct Block {
    Index start;  ///< first row
    Index size;
    Index offset;  ///< start of its numbers
  };

  Index size_ = 0;
  std::vector<Block> blocks_;
  std::vector<Scalar> matrix_, factor_;
};

}  // namespace CAROM_ABI
}  // namespace carom
