// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/detail/body_touches.hpp"
#include "carom/linalg/detail/fixed_ranges.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A block of a problem as one of up to six rows, whatever its kind, so that what looks at blocks
/// is compiled once.
/// @param law  that of the block, as problem.law() gives it.
template <RealScalar Scalar>
[[nodiscard]] BlockView<Scalar, 6> general_view(const ContactProblem<Scalar>& problem, Index number,
                                                const WeightedBlock<Scalar>& law) noexcept {
  return {number, problem.first_row(number), law, problem.side_count(number),
          problem.sides(number)};
}

/// Calls visit(block, part) for all blocks of a problem, each as a general_view(). @return the sum
/// of the parts.
template <RealScalar Scalar, typename Part, typename Visit>
[[nodiscard]] Part sum_over_blocks(const ContactProblem<Scalar>& problem, const FixedRanges& ranges,
                                   const Part& empty, const Visit& visit) {
  return ranges.sum(problem.block_count(), empty, [&](Index begin, Index end, Part& part) {
    for (Index i = begin; i < end; ++i) {
      const WeightedBlock<Scalar> law = problem.law(i);
      visit(general_view(problem, i, law), part);
    }
  });
}

/// An answer (v, γ) to a problem, and how to go over it: blocks and bodies by ranges, and a body's
/// blocks one after the other.
template <RealScalar Scalar>
class JudgedAnswer {
 public:
  using Block = BlockView<Scalar, 6>;

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
  /// Calls visit(block, side) for the blocks that act on a body, in their order, each as a
  /// general_view().
  template <typename Visit>
  void for_each_touch(Index body, const Visit& visit) const {
    for (const BodyTouch& touch : touches_.of(body)) {
      const WeightedBlock<Scalar> law = problem_.law(touch.block);
      visit(general_view(problem_, touch.block, law), touch.side);
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
