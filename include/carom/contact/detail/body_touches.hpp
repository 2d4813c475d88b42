// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "carom/contact/contact_problem.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A block that acts on a body, and the side of the block at which this body is.
struct BodyTouch {
  int block, side;
};

/// The blocks that act on each body, in the order of the blocks. The sum over the blocks of one
/// body is independent of other bodies. Different threads may therefore sum different bodies.
/// @note  The memory is reused. gather() allocates only for a problem larger than every problem
///        before.
class BodyTouches {
 public:
  template <RealScalar Scalar>
  void gather(const ContactProblem<Scalar>& problem) {
    starts_.assign(problem.body_count() + 1, 0);
    for_each_side(problem, [&](Index body, int, int) { ++starts_[body + 1]; });
    for (Index b = 0; b < problem.body_count(); ++b) starts_[b + 1] += starts_[b];
    touches_.resize(starts_[problem.body_count()]);
    next_ = starts_;
    for_each_side(problem, [&](Index body, int block, int side) {
      touches_[next_[body]++] = {block, side};
    });
  }

  /// The touches of a body.
  [[nodiscard]] std::span<const BodyTouch> of(Index body) const noexcept {
    return {touches_.data() + starts_[body], touches_.data() + starts_[body + 1]};
  }

  /// Calls visit(body, block, side) for each side of each block.
  template <RealScalar Scalar, typename Visit>
  static void for_each_side(const ContactProblem<Scalar>& problem, const Visit& visit) {
    for (int i = 0; i < int(problem.block_count()); ++i) {
      for (int side = 0; side < problem.side_count(i); ++side) {
        visit(problem.side_body(i, side), i, side);
      }
    }
  }

 private:
  Sequence<int> starts_, next_;
  Sequence<BodyTouch> touches_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
