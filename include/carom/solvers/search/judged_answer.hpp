// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/detail/body_touches.hpp"
#include "carom/linalg/detail/range_loop.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Calls visit(block, part) for all blocks of a problem. @return the sum of the parts.
template <RealScalar Scalar, typename Part, typename Visit>
[[nodiscard]] Part sum_over_blocks(const ContactProblem<Scalar>& problem, const FixedRanges& ranges,
                                   const Part& empty, const Visit& visit) {
  return ranges.sum(problem.block_count(), empty, [&](Index begin, Index end, Part& part) {
    for (Index i = begin; i < end; ++i) {
      problem.visit(i, [&](const BlockView<Scalar>& block) { visit(block, part); });
    }
  });
}

/// An answer (v, γ) to a problem, and how to go over it: blocks and bodies by ranges, and a body's
/// blocks one after the other.
template <RealScalar Scalar>
class JudgedAnswer {
 public:
  using Block = BlockView<Scalar>;

  /// @note  Allocates.
  JudgedAnswer(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
               const VectorX<Scalar>& impulse, const FixedRanges& ranges)
      : problem_(problem), velocity_(velocity), impulse_(impulse), ranges_(ranges) {
    touches_.gather(problem);
  }

  [[nodiscard]] const ContactProblem<Scalar>& problem() const noexcept { return problem_; }
  [[nodiscard]] const VectorX<Scalar>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<Scalar>& impulse() const noexcept { return impulse_; }
  [[nodiscard]] const FixedRanges& ranges() const noexcept { return ranges_; }

  /// sum_over_blocks() of the problem.
  template <typename Part, typename Visit>
  [[nodiscard]] Part sum_over_blocks(const Part& empty, const Visit& visit) const {
    return detail::sum_over_blocks(problem_, ranges_, empty, visit);
  }
  /// Calls visit(block, side) for the blocks that act on a body, in their order.
  template <typename Visit>
  void for_each_touch(Index body, const Visit& visit) const {
    for (const BodyTouch& touch : touches_.of(body)) {
      problem_.visit(touch.block,
                     [&](const BlockView<Scalar>& block) { visit(block, touch.side); });
    }
  }

 private:
  const ContactProblem<Scalar>& problem_;
  const VectorX<Scalar>& velocity_;
  const VectorX<Scalar>& impulse_;
  const FixedRanges& ranges_;
  BodyTouches touches_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
