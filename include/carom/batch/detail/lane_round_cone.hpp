// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_block.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A cone in every lane whose groups of rows are each bounded by a multiple of the normal, under
/// the convex law: the same point as project() of a SharedNormalCone.
template <typename Number>
class LaneRoundCone {
 public:
  using Mask = typename Number::Mask;

  /// The condition on γₙ is a sum of hinges, decreasing and convex: Newton's method from the side
  /// where all groups slide rises to its root, past one hinge at least with every step.
  CAROM_DEVICE explicit LaneRoundCone(const LaneRowsTrial<Number>& rows) noexcept : rows_(rows) {
    const Number zero(0);
    const int n = rows.shape.normal;
    for (int b = 0; b < rows.shape.group_count; ++b) {
      norm_[b] = norm_of(rows.y, rows.shape.groups[b]);
      slides_[b] = norm_[b] > zero;
    }
    for (int step = 0; step <= rows.shape.group_count; ++step) {
      resistance_ = rows.weight[n];
      Number drive = rows.weight[n] * rows.y[n];
      for (int b = 0; b < rows.shape.group_count; ++b) {
        const Number mu = mu_of(b), pull = mu * rows.weight[rows.shape.groups[b].first];
        resistance_ += select(slides_[b], mu * pull, zero);
        drive += select(slides_[b], pull * norm_[b], zero);
      }
      normal_ = drive / resistance_;
      for (int b = 0; b < rows.shape.group_count; ++b) {
        slides_[b] = slides_[b] & (norm_[b] > mu_of(b) * normal_);
      }
    }
    // The apex is a point of the cone where nothing pulls it further.
    Mask pulled = everywhere<Number>(false);
    for (int b = 0; b < rows.shape.group_count; ++b) pulled = pulled | slides_[b];
    open_ = (normal_ < zero) | ((normal_ <= zero) & pulled);
  }

  /// γ
  CAROM_DEVICE void write_impulse(Number (&impulse)[6]) const noexcept {
    const Number zero(0), one(1);
    impulse[rows_.shape.normal] = select(open_, zero, normal_);
    for (int b = 0; b < rows_.shape.group_count; ++b) {
      const Number share = select(slides_[b], mu_of(b) * normal_ / norm_[b], one);
      for_each_row(b, [&](int r) { impulse[r] = select(open_, zero, share * rows_.y[r]); });
    }
  }

  /// G = (∂γ/∂y) R⁻¹, symmetric.
  CAROM_DEVICE void write_curvature(LaneBlockMatrix<Number>& g) const noexcept {
    const Number zero(0), one(1);
    const int n = rows_.shape.normal;
    Number along[6];  // ∂γₙ/∂z times the resistance
    along[n] = one;
    g.clear(rows_.rows);
    for (int b = 0; b < rows_.shape.group_count; ++b) {
      const Number inverse = select(slides_[b], one / norm_[b], zero), mu = mu_of(b);
      const Number held = one / rows_.weight[rows_.shape.groups[b].first];
      const Number across = select(slides_[b], mu * normal_ * inverse * held, held);
      for_each_row(b, [&](int r) {
        const Number t = rows_.y[r] * inverse;
        along[r] = mu * t;
        for_each_row(b, [&](int c) {
          const Number u = rows_.y[c] * inverse;
          g.entry[r][c] = across * ((r == c ? one : zero) - t * u);
        });
      });
    }
    const Number inverse = one / resistance_;
    for (int r = 0; r < rows_.rows; ++r) {
      for (int c = 0; c < rows_.rows; ++c) {
        g.entry[r][c] = select(open_, zero, g.entry[r][c] + along[r] * along[c] * inverse);
      }
    }
  }

  /// ‖x_b‖ of a group.
  [[nodiscard]] CAROM_DEVICE static Number norm_of(const Number (&x)[6],
                                                   const LaneGroup& group) noexcept {
    Number squared = x[group.first] * x[group.first];
    if (group.size > 1) squared += x[group.first + 1] * x[group.first + 1];
    return sqrt(squared);
  }

 private:
  [[nodiscard]] CAROM_DEVICE const Number& mu_of(int group) const noexcept {
    return rows_.mu_of(rows_.shape.groups[group].first);
  }
  template <typename Visit>
  CAROM_DEVICE void for_each_row(int group, const Visit& visit) const noexcept {
    const auto& [first, size] = rows_.shape.groups[group];
    for (int r = first; r < first + size; ++r) visit(r);
  }

  const LaneRowsTrial<Number>& rows_;
  Number norm_[3], normal_, resistance_;
  Mask slides_[3], open_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
