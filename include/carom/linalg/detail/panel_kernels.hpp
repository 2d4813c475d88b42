// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/detail/packet.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/linalg/detail/crew.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// target += source.
template <int Size, typename Scalar>
inline void add_fixed(Scalar* target, const Scalar* source) noexcept {
  using Numbers = Packet<Scalar, Size>;
  (Numbers::at(target) + Numbers::at(source)).write_to(target);
}

/// target += source for a small count of numbers.
template <typename Scalar>
void add_numbers(Scalar* target, const Scalar* source, int count) noexcept {
  int done = 0;
  for (; done + 8 <= count; done += 8) add_fixed<8>(target + done, source + done);
  if (done + 4 <= count) {
    add_fixed<4>(target + done, source + done);
    done += 4;
  }
  for (; done < count; ++done) target[done] += source[done];
}

/// A column-major matrix in the caller's memory.
template <typename Scalar>
struct Columns {
  Scalar* data;
  Index stride;
};

/// C −= A Bᵀ for `Width` columns of C and `Height` packets of rows, starting at `row`.
template <int Width, int Height, bool Fresh, typename Scalar>
void subtract_product_rows(const Columns<Scalar>& c, const Columns<const Scalar>& a,
                           const Scalar* b, Index depth, Index row) noexcept {
  RowPacket<Scalar> sum[std::size_t(Width)][std::size_t(Height)];
  for (int j = 0; j < Width; ++j) {
    for (int h = 0; h < Height; ++h) {
      if constexpr (Fresh) {
        sum[j][h].setZero();
      } else {
        sum[j][h] = packet_at(c.data + j * c.stride + row + h * row_lanes);
      }
    }
  }
  const Scalar* left = a.data + row;
  const Scalar* right = b;
  for (Index k = 0; k < depth; ++k, left += a.stride, right += a.stride) {
    RowPacket<Scalar> lanes[std::size_t(Height)];
    for (int h = 0; h < Height; ++h) lanes[h] = packet_at(left + h * row_lanes);
    for (int j = 0; j < Width; ++j) {
      for (int h = 0; h < Height; ++h) sum[j][h] -= lanes[h] * right[j];
    }
  }
  for (int j = 0; j < Width; ++j) {
    for (int h = 0; h < Height; ++h) {
      packet_at(c.data + j * c.stride + row + h * row_lanes) = sum[j][h];
    }
  }
}

/// C −= A Bᵀ for `Width` columns of C and the rows [begin, end), both multiples of row_lanes. Row r
/// of A belongs to row r of C, row c of B belongs to column c of C, and A and B have `depth`
/// columns. With `Fresh`, C counts as zero before.
template <int Width, bool Fresh, typename Scalar>
void subtract_product(const Columns<Scalar>& c, const Columns<const Scalar>& a, const Scalar* b,
                      Index depth, Index begin, Index end) noexcept {
  Index row = begin;
  for (; row + 2 * row_lanes <= end; row += 2 * row_lanes) {
    subtract_product_rows<Width, 2, Fresh>(c, a, b, depth, row);
  }
  if (row < end) subtract_product_rows<Width, 1, Fresh>(c, a, b, depth, row);
}

/// Cholesky factorisation of a Width × Width block in place, lower triangle. The diagonal of the
/// result is inverted.
template <int Width, typename Scalar>
[[nodiscard]] bool factor_corner(
    Scalar (&corner)[std::size_t(Width)][std::size_t(Width)]) noexcept {
  using std::sqrt;
  CAROM_UNROLL
  for (int c = 0; c < Width; ++c) {
    if (!(corner[c][c] > Scalar(0))) return false;
    const Scalar inverse = Scalar(1) / sqrt(corner[c][c]);
    corner[c][c] = inverse;
    CAROM_UNROLL
    for (int r = c + 1; r < Width; ++r) corner[c][r] *= inverse;
    CAROM_UNROLL
    for (int n = c + 1; n < Width; ++n) {
      CAROM_UNROLL
      for (int r = n; r < Width; ++r) corner[n][r] -= corner[c][n] * corner[c][r];
    }
  }
  return true;
}

/// x ← (L Lᵀ)⁻¹ x with the result of factor_corner().
template <int Width, typename Scalar>
void solve_corner(const Scalar (&corner)[std::size_t(Width)][std::size_t(Width)],
                  Scalar* x) noexcept {
  Scalar y[std::size_t(Width)];
  std::copy_n(x, Width, y);
  CAROM_UNROLL
  for (int c = 0; c < Width; ++c) {
    y[c] *= corner[c][c];
    CAROM_UNROLL
    for (int r = c + 1; r < Width; ++r) y[r] -= corner[c][r] * y[c];
  }
  CAROM_UNROLL
  for (int c = Width - 1; c >= 0; --c) {
    y[c] *= corner[c][c];
    CAROM_UNROLL
    for (int r = 0; r < c; ++r) y[r] -= corner[r][c] * y[c];
  }
  std::copy_n(y, Width, x);
}

/// Factors the pivot block of a panel. The contribution of the columns to the left is already
/// subtracted.
template <int Width, typename Scalar>
[[nodiscard]] bool factor_panel_corner(
    const Columns<Scalar>& panel, Index first,
    Scalar (&corner)[std::size_t(Width)][std::size_t(Width)]) noexcept {
  for (int c = 0; c < Width; ++c) {
    for (int r = 0; r < Width; ++r) corner[c][r] = panel.data[c * panel.stride + first + r];
  }
  return factor_corner<Width>(corner);
}
template <int Width, typename Scalar>
void write_panel_corner(const Columns<Scalar>& panel, Index first,
                        const Scalar (&corner)[std::size_t(Width)][std::size_t(Width)]) noexcept {
  for (int c = 0; c < Width; ++c) {  // zeros above the diagonal let solves run over whole packets
    Scalar* const column = panel.data + c * panel.stride;
    std::fill(column, column + first + c, Scalar(0));
    for (int r = c; r < Width; ++r) column[first + r] = corner[c][r];
  }
}
/// Computes the rows of a panel below its pivots.
/// @note  Both inner loops are unrolled, and a column changes in a packet of its own: of loops that
///        change lanes[c] in its place, g++ 12 -O1 and -O2 remove everything for some widths.
template <int Width, typename Scalar>
void divide_panel(const Columns<Scalar>& panel,
                  const Scalar (&corner)[std::size_t(Width)][std::size_t(Width)], Index begin,
                  Index end) noexcept {
  for (Index row = begin; row < end; row += row_lanes) {
    RowPacket<Scalar> lanes[std::size_t(Width)];
    CAROM_UNROLL
    for (int c = 0; c < Width; ++c) {
      RowPacket<Scalar> own = packet_at(panel.data + c * panel.stride + row);
      CAROM_UNROLL
      for (int k = 0; k < c; ++k) own -= lanes[k] * corner[k][c];
      own *= corner[c][c];
      own.write_to(panel.data + c * panel.stride + row);
      lanes[c] = own;
    }
  }
}

/// Factors `Width` columns, starting at `first`, and rows up to `rows`. The columns to the left are
/// already factored.
template <int Width, typename Scalar>
[[nodiscard]] bool factor_columns(const Columns<Scalar>& lower, Index first, Index rows) noexcept {
  const Columns<Scalar> panel{lower.data + first * lower.stride, lower.stride};
  const Index end = lanes_above(rows);
  subtract_product<Width, false, Scalar>(panel, {lower.data, lower.stride}, lower.data + first,
                                         first, lanes_below(first), end);
  Scalar corner[std::size_t(Width)][std::size_t(Width)];  // [column][row]
  if (!factor_panel_corner<Width>(panel, first, corner)) return false;
  divide_panel<Width>(panel, corner, lanes_below(first + Width), end);
  write_panel_corner<Width>(panel, first, corner);
  return true;
}

/// Calls run(first, width) for panels that cover `count` columns; width is a compile-time constant.
template <typename Run>
[[nodiscard]] bool for_each_panel(Index count, Run&& run) noexcept {
  Index first = 0;
  for (; first + 6 <= count; first += 6) {
    if (!run(first, std::integral_constant<int, 6>{})) return false;
  }
  for (; first + 3 <= count; first += 3) {
    if (!run(first, std::integral_constant<int, 3>{})) return false;
  }
  for (; first < count; ++first) {
    if (!run(first, std::integral_constant<int, 1>{})) return false;
  }
  return true;
}

/// Calls run for the same panels, from the last to the first.
template <typename Run>
[[nodiscard]] bool for_each_panel_in_reverse(Index count, Run&& run) noexcept {
  const Index sixes = count / 6 * 6, threes = sixes + (count - sixes) / 3 * 3;
  for (Index first = count - 1; first >= threes; --first) {
    if (!run(first, std::integral_constant<int, 1>{})) return false;
  }
  for (Index first = threes - 3; first >= sixes; first -= 3) {
    if (!run(first, std::integral_constant<int, 3>{})) return false;
  }
  for (Index first = sixes - 6; first >= 0; first -= 6) {
    if (!run(first, std::integral_constant<int, 6>{})) return false;
  }
  return true;
}

/// Right-looking steps by panels: Cholesky factorisation of the first `count` columns of a
/// symmetric matrix of `rows` rows, in place. The result is L of those columns with inverted
/// diagonal and zeros above the diagonal.
/// @pre  columns need no alignment, but have room for whole packets of rows.
template <typename Scalar>
[[nodiscard]] bool factor_leading_columns(const Columns<Scalar>& lower, Index count,
                                          Index rows) noexcept {
  return for_each_panel(count, [&](Index first, auto width) {
    return factor_columns<width.value>(lower, first, rows);
  });
}

/// U −= B Bᵀ, lower triangle, for B of `rows` rows and `depth` columns.
template <bool Fresh, typename Scalar>
void subtract_square(const Columns<Scalar>& u, const Columns<const Scalar>& b, Index depth,
                     Index rows) noexcept {
  static_cast<void>(for_each_panel(rows, [&](Index first, auto width) {
    const Columns<Scalar> panel{u.data + first * u.stride, u.stride};
    subtract_product<width.value, Fresh, Scalar>(panel, b, b.data + first, depth,
                                                 lanes_below(first), lanes_above(rows));
    return true;
  }));
}

/// x ← L⁻¹ x for the leading columns, including the rows below: x has lanes_above(rows) numbers.
template <typename Scalar>
void solve_leading_columns(const Columns<const Scalar>& lower, Index count, Index rows,
                           Scalar* x) noexcept {
  const Index end = lanes_above(rows);
  for (Index c = 0; c < count; ++c) {
    const Scalar* const column = lower.data + c * lower.stride;
    const Scalar value = x[c] * column[c];
    for (Index row = lanes_below(c); row < end; row += row_lanes) {
      packet_at(x + row) -= value * packet_at(column + row);
    }
    x[c] = value;
  }
}

/// x ← L⁻ᵀ x for the leading columns; the values of the rows below are known.
template <typename Scalar>
void solve_leading_columns_transposed(const Columns<const Scalar>& lower, Index count, Index rows,
                                      Scalar* x) noexcept {
  const Index end = lanes_above(rows);
  for (Index c = count - 1; c >= 0; --c) {
    const Scalar* const column = lower.data + c * lower.stride;
    const Scalar value = x[c];
    x[c] = Scalar(0);
    RowPacket<Scalar> covered = RowPacket<Scalar>::Zero();
    for (Index row = lanes_below(c); row < end; row += row_lanes) {
      covered += packet_at(x + row) * packet_at(column + row);
    }
    x[c] = (value - covered.sum()) * column[c];
  }
}

/// How the rows of a panel, and the panels of a square, are shared between threads, and whether the
/// work on them may go on.
struct RowShares {
  /// A crew shares a loop from this count of multiplications on: some hundred microseconds of work.
  static constexpr Index least_work = 200000;
  /// The first rows of a panel, which contain its pivots for any width and start.
  static constexpr Index head = 4 * row_lanes;
  /// Rows of one share. It is a multiple of the rows that the kernels process at once, so that a
  /// row passes through the same kernel on every thread.
  static constexpr Index share = 8 * row_lanes;

  /// Of so many columns or fronts one asks whether the limits are over: reading a clock costs a
  /// thousandth of the work on them.
  static constexpr Index asked = 96;

  Crew* crew = nullptr;                 ///< nullptr: the calling thread does all the work
  const SolveLimits* limits = nullptr;  ///< nullptr: none

  /// Whether the work may end here, unfinished.
  /// @param number  of a column or front.
  [[nodiscard]] bool is_over(Index number) const noexcept {
    return limits != nullptr && number % asked == 0 && limits->is_over();
  }

  /// The rows of [begin, end) that the leading thread does before the others.
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
  /// Calls task(false) and task(true), in parallel if there is a crew.
  template <typename Task>
  void both(const Task& task) const noexcept {
    const auto run = [&](Index k) { task(k == 1); };
    if (crew != nullptr) return crew->run(2, run);
    for (const Index k : {0, 1}) Crew::call(run, k);
  }
};

/// As factor_columns(), with the rows below the pivots shared between threads.
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

/// As factor_leading_columns() of one thread; the bits are equal.
template <typename Scalar>
[[nodiscard]] bool factor_leading_columns(const Columns<Scalar>& lower, Index count, Index rows,
                                          const RowShares& shares) noexcept {
  if (shares.crew == nullptr && count <= RowShares::asked) {
    return factor_leading_columns(lower, count, rows);
  }
  return for_each_panel(count, [&](Index first, auto width) {
    if (first > 0 && shares.is_over(first)) return false;
    const Index end = lanes_above(rows);
    const Index head_end = shares.head_end(lanes_below(first), end, first * width.value);
    if (head_end == end) return factor_columns<width.value>(lower, first, rows);
    return factor_shared_columns<width.value>(lower, first, rows, head_end, shares);
  });
}

/// Calls run(first, width) for the panels of for_each_panel(). A crew shares the panels if they
/// have enough multiplications; `work` is their total. Returns false if the limits ended the work.
template <typename Run>
bool share_panels(Index count, Index work, const RowShares& shares, const Run& run) noexcept {
  constexpr Index columns = 24;  // of a share: whole panels of the largest width
  if (shares.crew == nullptr || work < RowShares::least_work) {
    return for_each_panel(count, [&](Index first, auto width) {
      if (first > 0 && shares.is_over(first)) return false;
      run(first, width);
      return true;
    });
  }
  shares.crew->run((count + columns - 1) / columns, [&](Index k) {
    const Index begin = k * columns;
    static_cast<void>(
        for_each_panel((std::min)(columns, count - begin), [&](Index first, auto width) {
          run(begin + first, width);
          return true;
        }));
  });
  return true;
}

/// As subtract_square() of one thread; the bits are equal. Returns false if the limits ended the
/// work.
template <bool Fresh, typename Scalar>
bool subtract_square(const Columns<Scalar>& u, const Columns<const Scalar>& b, Index depth,
                     Index rows, const RowShares& shares) noexcept {
  return share_panels(rows, rows * rows * depth / 2, shares, [&](Index first, auto width) {
    const Columns<Scalar> panel{u.data + first * u.stride, u.stride};
    subtract_product<width.value, Fresh, Scalar>(panel, b, b.data + first, depth,
                                                 lanes_below(first), lanes_above(rows));
  });
}

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
