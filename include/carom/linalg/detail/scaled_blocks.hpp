// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/detail/cluster_pattern.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A symmetric matrix of blocks L + K + Lᵀ, L strictly below the diagonal, that is scaled so that
/// (I + L)(I + Lᵀ) is near it: the system of conjugate gradients with that preconditioner. One pass
/// with I + Lᵀ and one with I + L serve the product and the preconditioner together.
///
/// Rows of a cluster are worked on one after the other, clusters of one colour in any order.
/// @tparam Real  the type of the numbers, which may be shorter than the solver's.
/// @note  reset() allocates beyond the largest pattern so far.
/// @cite  eisenstat1981efficient
template <RealScalar Real>
class ScaledBlocks {
 public:
  void reset(const ClusterPattern& pattern) {
    before_.assign(pattern.side_size(), Real(0));
    behind_.assign(pattern.behind_size(), Real(0));
    own_.assign(pattern.own_size(), Real(0));
  }
  [[nodiscard]] bool fits(const ClusterPattern& pattern) const noexcept {
    return before_.size() == pattern.side_size() && own_.size() == pattern.own_size();
  }

  /// Blocks of L, of Lᵀ, and of K − 2I on the diagonal: columns of whole registers.
  [[nodiscard]] Real* before(Index values) noexcept { return before_.data() + values; }
  [[nodiscard]] Real* behind(Index values) noexcept { return behind_.data() + values; }
  [[nodiscard]] Real* own(Index values) noexcept { return own_.data() + values; }

  /// x_p ← x_p − (L x)_p for a row p: a step of x ← (I + L)⁻¹ x.
  void reduce_before(const ClusterPattern& pattern, Index p, Real* x) const noexcept {
    const auto& row = pattern.row(p);
    subtract(
        pattern, row, before_.data() + row.before_values, row.before_begin,
        row.before_end, [&](Index k) -> const auto& { return pattern.before(k); }, x);
  }
  /// x_p ← x_p − (Lᵀ x)_p for a row p: a step of x ← (I + Lᵀ)⁻¹ x.
  void reduce_behind(const ClusterPattern& pattern, Index p, Real* x) const noexcept {
    const auto& row = pattern.row(p);
    subtract(
        pattern, row, behind_.data() + row.behind_values, row.behind_begin,
        row.behind_end, [&](Index k) -> const auto& { return pattern.behind(k); }, x);
  }
  /// y_p ← y_p + ((K − 2I) x)_p.
  void add_own(const ClusterPattern& pattern, Index p, const Real* x, Real* y) const noexcept {
    const auto& row = pattern.row(p);
    const Index lanes = detail::lanes_above(row.size);
    const Real* const block = own_.data() + row.own_values;
    for (Index i = 0; i < lanes; i += detail::row_lanes) {
      Lanes sum = detail::lanes_at(y + row.start + i);
      for (Index c = 0; c < row.size; ++c) {
        sum += detail::lanes_at(block + c * lanes + i) * x[row.start + c];
      }
      detail::lanes_at(y + row.start + i) = sum;
    }
  }

 private:
  using Lanes = detail::RowLanes<Real>;

  template <typename At>
  static void subtract(const ClusterPattern& pattern, const ClusterPattern::Row& row,
                       const Real* values, int begin, int end, const At& at, Real* x) noexcept {
    const Index lanes = detail::lanes_above(row.size);
    for (Index i = 0; i < lanes; i += detail::row_lanes) {
      const Real* block = values + i;
      Lanes even = detail::lanes_at(x + row.start + i), odd = Lanes::Zero();
      for (int k = begin; k < end; ++k) {
        const auto& column = pattern.row(at(k).column);
        const Real* const given = x + column.start;
        int c = 0;
        for (; c + 2 <= column.size; c += 2, block += 2 * lanes) {  // two chains of sums
          even -= detail::lanes_at(block) * given[c];
          odd -= detail::lanes_at(block + lanes) * given[c + 1];
        }
        if (c < column.size) {
          even -= detail::lanes_at(block) * given[c];
          block += lanes;
        }
      }
      detail::lanes_at(x + row.start + i) = even + odd;
    }
  }

  Sequence<Real> before_, behind_, own_;
};

}  // namespace CAROM_ABI
}  // namespace carom
