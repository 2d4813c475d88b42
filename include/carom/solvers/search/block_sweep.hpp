// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A block in a sweep of Gauss-Seidel: held() is what its rows do while all other blocks are held,
/// solve() the answer of its own law to that, and spread() writes the answer and carries its change
/// to the rows of the other blocks.
template <typename Block>
concept SweepBlock = requires(Block& block) {
  block.spread(block.solve(block.held()));
};

/// Visits blocks one after the other and solves each with the others held; the next one already
/// sees what the last one changed.
/// @param visit  visit(k, solve) hands the k-th block of the order to solve(block), or several one
///               after the other, or none for a block that is passed over.
/// @note  Real-time safe when the blocks are: all calls are to be inlined.
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
