// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_cells.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// b − Σ row[k] x[k] over `first` ≤ k < `end`, in two sums that do not wait for each other.
template <typename Number, typename Cells>
[[nodiscard]] CAROM_DEVICE Number rest_of_row(const Number& b, const Cells& row, const Cells& x,
                                              int first, int end) noexcept {
  Number even = b, odd(0);
  int k = first;
  for (; k + 1 < end; k += 2) {
    even -= row[k] * x[k];
    odd -= row[k + 1] * x[k + 1];
  }
  if (k < end) even -= row[k] * x[k];
  return even + odd;
}

/// x[k] ← x[k] − column[k] x[end] over `first` ≤ k < `end`.
template <typename Cells>
CAROM_DEVICE void take_column(const Cells& column, int first, int end, const Cells& x) noexcept {
  const auto last = x[end];
  for (int k = first; k < end; ++k) x.set(k, x[k] - column[k] * last);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
