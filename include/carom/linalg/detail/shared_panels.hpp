// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/crew.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// How the rows of a panel, and the panels of a square, are shared.
struct RowShares {
  /// Multiplications of a loop from which a crew shares it: some hundred microseconds.
  static constexpr Index least_work = 200000;
  /// Rows at the head of a panel that its pivots are in, on any width and start.
  static constexpr Index head = 4 * row_lanes;
  /// Rows of a share, a multiple of what the kernels take at once, so that a row goes through the
  /// same kernel whoever works on it.
  static constexpr Index share = 8 * row_lanes;

  Crew* crew = nullptr;  ///< none: the thread that calls does all

  /// Rows of [begin, end) that the leader does before the others.
  [[nodiscard]] Index head_end(Index begin, Index end, Index work_per_row) const noexcept {
    const bool shares = crew != nullptr && (end - begin - head) * work_per_row >= least_work;
    return shares ? begin + head : end;
  }
  /// Calls task(begin, end) for shares of the rows.
  template <typename Task>
  void operator()(Index begin, Index end, const Task& task) const noexcept {
    if (begin >= end) return;
    crew->run((end - begin + share - 1) / share,
              [&](Index k) { task(begin + k * share, (std::min)(end, begin + (k + 1) * share)); });
  }
  /// Calls task(false) and task(true), side by side where there is a crew.
  template <typename Task>
  void both(const Task& task) const noexcept {
    const auto run = [&](Index k) { task(k == 1); };
    if (crew != nullptr) return crew->run(2, run);
    for (const Index k : {0, 1}) Crew::call(run, k);
  }
};

/// As factor_columns(), with the rows below the pivots shared.
template <int Width, typename Scalar>
[[nodiscard]] bool factor_shared_columns(const Columns<Scalar>& lower, Index first, Index rows,
                                         Index head_end, const RowShares& shares) noexcept {
  const Columns<Scalar> panel{lower.data + first * lower.stride, lower.stride};
  const auto subtract = [&](Index begin, Index end) {
    subtract_product<Width, false, Scalar>(panel, {lower.data, lower.stride}, lower.data + first,
                                           first, begin, end);
  };
  subtract(lanes_below(first), head_end);
  Scalar corner[std::size_t(Width)][std::size_t(Width)];  // [column][row]
  if (!factor_panel_corner<Width>(panel, first, corner)) return false;
  divide_panel<Width>(panel, corner, lanes_below(first + Width), head_end);
  shares(head_end, lanes_above(rows), [&](Index begin, Index end) {
    subtract(begin, end);
    divide_panel<Width>(panel, corner, begin, end);
  });
  write_panel_corner<Width>(panel, first, corner);
  return true;
}

/// As factor_leading_columns() of one thread, to the same bits.
template <typename Scalar>
[[nodiscard]] bool factor_leading_columns(const Columns<Scalar>& lower, Index count, Index rows,
                                          const RowShares& shares) noexcept {
  if (shares.crew == nullptr) return factor_leading_columns(lower, count, rows);
  return for_each_panel(count, [&](Index first, auto width) {
    const Index end = lanes_above(rows);
    const Index head_end = shares.head_end(lanes_below(first), end, first * width.value);
    if (head_end == end) return factor_columns<width.value>(lower, first, rows);
    return factor_shared_columns<width.value>(lower, first, rows, head_end, shares);
  });
}

/// Calls run(first, width as a constant) for the panels of for_each_panel(), which a crew shares if
/// they are `work` multiplications in all and that is much.
template <typename Run>
void share_panels(Index count, Index work, const RowShares& shares, const Run& run) noexcept {
  constexpr Index columns = 24;  // of a share: whole panels of the widest kind
  if (shares.crew == nullptr || work < RowShares::least_work) {
    return static_cast<void>(for_each_panel(count, [&](Index first, auto width) {
      run(first, width);
      return true;
    }));
  }
  shares.crew->run((count + columns - 1) / columns, [&](Index k) {
    const Index begin = k * columns;
    static_cast<void>(
        for_each_panel((std::min)(columns, count - begin), [&](Index first, auto width) {
          run(begin + first, width);
          return true;
        }));
  });
}

/// As subtract_square() of one thread, to the same bits.
template <bool Fresh, typename Scalar>
void subtract_square(const Columns<Scalar>& u, const Columns<const Scalar>& b, Index depth,
                     Index rows, const RowShares& shares) noexcept {
  share_panels(rows, rows * rows * depth / 2, shares, [&](Index first, auto width) {
    const Columns<Scalar> panel{u.data + first * u.stride, u.stride};
    subtract_product<width.value, Fresh, Scalar>(panel, b, b.data + first, depth,
                                                 lanes_below(first), lanes_above(rows));
  });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
