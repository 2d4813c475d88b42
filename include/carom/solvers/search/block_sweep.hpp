// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A block in a sweep of Gauss-Seidel: held() is the velocity of its rows with all other blocks
/// fixed, solve() the answer of its law to this velocity, and spread() writes the answer and adds
/// its effect to the rows of the other blocks.
template <typename Block>
concept SweepBlock = requires(Block& block) {
  block.spread(block.solve(block.held()));
};

/// Visits blocks one after the other and solves each with the others fixed. The next block already
/// uses the changes of the last one.
/// @param visit  visit(k, solve) calls solve(block) for the k-th block of the order, for several
///               blocks one after the other, or for none if a block is skipped.
/// @note  Real-time safe if the blocks are: all calls are inlined.
template <typename Visit>
inline void sweep_blocks(Index count, bool backward, Visit&& visit) noexcept {
  for (Index k = 0; k < count; ++k) {
    visit(backward ? count - 1 - k : k, []<SweepBlock Block>(Block&& block) noexcept {
      block.spread(block.solve(block.held()));
    });
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
