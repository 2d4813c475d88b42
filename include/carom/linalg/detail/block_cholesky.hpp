// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/detail/front_factor.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Sparse Cholesky factorisation P H Pᵀ = L Lᵀ of a symmetric block matrix, front by front in dense
/// kernels. The components of a forest are independent: different threads may fill, factor and
/// solve different components.
///
/// The factorisation of a front F = [F₁₁ ·; F₂₁ F₂₂] (see FrontForest), children before parents:
/// (1) add the update matrices of its children; (2) factor F₁₁ = L₁₁ L₁₁ᵀ; (3) L₂₁ = F₂₁ L₁₁⁻ᵀ; (4)
/// the update matrix is F₂₂ − L₂₁ L₂₁ᵀ, where F₂₂ contains only the contributions of the children.
///
/// ```
/// cholesky.reset(forest);
/// cholesky.clear(range);
/// ... add to cholesky.diagonal(slot) and cholesky.below(column, row) ...
/// if (cholesky.factor(range)) cholesky.solve(range, x, starts);
/// ```
/// Where only a part of the matrix changes, call touch() for its nodes and then spread_touch().
/// Fronts with no touched node among their descendants are not factored again.
/// @note  reset() allocates only for a problem larger than every problem before; all else is
///        real-time safe.
/// @cite  liu1992multifrontal.
template <RealScalar Scalar>
class BlockCholesky : public detail::FrontFactor<BlockCholesky<Scalar>, Scalar> {
  using Base = detail::FrontFactor<BlockCholesky<Scalar>, Scalar>;
  friend Base;

 public:
  using Block = detail::Columns<Scalar>;

  /// Sets the pattern. The forest must outlive its use here and must not change.
  void reset(const FrontForest& forest) {
    forest_ = &forest;
    // With few unknowns, memory is reserved for any pattern that these unknowns can have.
    const Index dense = forest.unknown_count() * (forest.unknown_count() + 16);
    const bool few = forest.unknown_count() <= 128;
    values_.reserve(few ? dense : forest.value_count());
    updates_.reserve(few ? 4 * dense : forest.update_count());
    values_.resize(forest.value_count());
    updates_.resize(forest.update_count());
    touched_.reserve(few ? forest.unknown_count() : forest.fronts().size());
    touched_.assign(forest.fronts().size(), 1);
  }

  /// Sets the matrix of a component to zero. All of it is then filled and factored again.
  void clear(const FrontRange& range) noexcept {
    touch(range);
    this->clear_columns_of(range, values_);
  }

  /// Marks that the rows and columns of a node change.
  void touch(Index slot) noexcept { touched_[forest_->front_of(slot)] = 1; }
  /// Marks that the rows and columns of all nodes of a component change.
  void touch(const FrontRange& range) noexcept {
    std::fill(touched_.begin() + range.begin, touched_.begin() + range.end, char(1));
  }
  /// Marks all nodes of the fronts that contain touched nodes, and of the ancestors of these
  /// fronts. The caller clears and fills the marked columns, and factor() factors them again. The
  /// factor of all other fronts stays valid.
  /// @pre  factor() returned true since the last clear() of the component, or all nodes are
  ///       touched.
  void spread_touch(const FrontRange& range) noexcept;
  /// Sets the columns of a node to zero.
  void clear_columns(Index slot) noexcept {
    const Block block = diagonal(slot);
    std::fill_n(block.data - forest_->offset(slot), block.stride * forest_->size(slot), Scalar(0));
  }
  /// Whether the columns of a node must be filled. If so, the columns of its neighbours that are
  /// eliminated later must be filled too.
  [[nodiscard]] bool touched(Index slot) const noexcept {
    return touched_[forest_->front_of(slot)] != 0;
  }

  /// The diagonal block of a node, lower triangle. Entries above the diagonal are not used.
  [[nodiscard]] Block diagonal(Index slot) noexcept {
    const Front& front = forest_->fronts()[forest_->front_of(slot)];
    const Index offset = forest_->offset(slot);
    return {values_.data() + front.columns + offset * front.stride + offset, front.stride};
  }
  /// The block of the matrix at a place. `column` is the argument of place().
  [[nodiscard]] Block block(Index place, Index column) noexcept {
    return {values_.data() + place, forest_->fronts()[forest_->front_of(column)].stride};
  }

  /// Factors in place all cleared columns of a component. Returns false when a pivot is not
  /// positive; the caller must then call clear() for the whole component.
  [[nodiscard]] bool factor(const FrontRange& range) noexcept {
    return end_factor(range, this->factor_fronts(range));
  }
  /// The same factorisation, shared by a crew; the bits are equal.
  /// @param branches  the component is appended to them.
  [[nodiscard]] bool factor(const FrontRange& range, const detail::FrontBranches& branches,
                            Crew& crew) noexcept {
    return end_factor(range, this->factor_fronts(range, branches, crew));
  }

 private:
  /// Marks the fronts of a component as factored if the factorisation succeeded.
  [[nodiscard]] bool end_factor(const FrontRange& range, bool positive) noexcept {
    if (!positive) return false;
    std::fill(touched_.begin() + range.begin, touched_.begin() + range.end, char(0));
    return true;
  }
  /// Calls run(passes) with the steps of a solve.
  template <typename Run>
  void with_passes(const Run& run) const noexcept;
  /// Factors a front if it is touched. Its children are factored before. A crew shares large
  /// fronts.
  [[nodiscard]] bool factor_front(int f, const detail::RowShares& shares) noexcept;
  [[nodiscard]] Block columns(const Front& front) noexcept {
    return {values_.data() + front.columns, front.stride};
  }
  [[nodiscard]] detail::Columns<const Scalar> columns(const Front& front) const noexcept {
    return {values_.data() + front.columns, front.stride};
  }
  [[nodiscard]] Block update(const Front& front) noexcept {
    return {updates_.data() + front.update, front.update_stride};
  }
  using Base::forest_;
  Sequence<Scalar> values_, updates_;
  Sequence<char> touched_;  ///< per front
};

// --- implementation ---

template <RealScalar Scalar>
void BlockCholesky<Scalar>::spread_touch(const FrontRange& range) noexcept {
  for (int f = range.begin; f < range.end; ++f) {
    const int parent = forest_->fronts()[f].parent;
    if (touched_[f] != 0 && parent >= 0) touched_[parent] = 1;
  }
}

template <RealScalar Scalar>
bool BlockCholesky<Scalar>::factor_front(int f, const detail::RowShares& shares) noexcept {
  if (touched_[f] == 0) return true;
  const Front& front = forest_->fronts()[f];
  const Index own = front.own_size, rows = front.row_size;
  const Block lower = columns(front), rest = update(front);
  if (front.first_child >= 0) {
    detail::gather_children(*forest_, front, values_.data(), updates_.data());
  }
  if (!detail::factor_leading_columns(lower, own, own + rows, shares)) return false;
  const detail::Columns<const Scalar> below{lower.data + own, lower.stride};
  if (front.first_child >= 0) {
    return detail::subtract_square<false>(rest, below, own, rows, shares);
  }
  return detail::subtract_square<true>(rest, below, own, rows, shares);
}

template <RealScalar Scalar>
template <typename Run>
void BlockCholesky<Scalar>::with_passes(const Run& run) const noexcept {
  const auto size = [](const Front& front) { return Index(front.own_size) + front.row_size; };
  const auto down = [&](int f, Scalar* y) {
    const Front& front = forest_->fronts()[f];
    detail::solve_leading_columns(columns(front), Index(front.own_size), size(front), y);
  };
  const auto up = [&](int f, Scalar* y) {
    const Front& front = forest_->fronts()[f];
    detail::solve_leading_columns_transposed(columns(front), Index(front.own_size), size(front), y);
  };
  run(detail::FrontPasses{down, up});
}

}  // namespace CAROM_ABI
}  // namespace carom
