// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/device_call.hpp"
#include "carom/batch/detail/lane_cells.hpp"
#include "carom/batch/detail/lane_layout.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A sum with about twice the digits of its type: what the sums before have rounded away is summed
/// beside them.
/// @cite  dekker1971floating for the products, ogita2005accurate for the sums.
template <typename Number>
struct LaneSum {
  using Scalar = typename Number::scalar_type;

  Number high, low;

  CAROM_DEVICE void add(const Number& x) noexcept {
    const Number sum = high + x, taken = sum - high;
    low += (high - (sum - taken)) + (x - taken);
    high = sum;
  }
  CAROM_DEVICE void add_product(const Number& a, const Number& b) noexcept {
    const Number product = a * b;
    const Number a_high = upper_digits(a), b_high = upper_digits(b);
    const Number a_low = a - a_high, b_low = b - b_high;
    low += ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    add(product);
  }

 private:
  /// The first half of the digits of a number.
  [[nodiscard]] CAROM_DEVICE static Number upper_digits(const Number& x) noexcept {
    constexpr int low_digits = (std::numeric_limits<Scalar>::digits + 1) / 2;
    const Number scaled = x * Number(Scalar((1LL << low_digits) + 1));
    return scaled - (scaled - x);
  }
};

/// A (v − v*) − Jᵀγ of lanes in twice the digits of their type. A sum in those digits alone is off
/// by their rounding of every momentum, which A⁻¹ enlarges for the light parts of a body. A view of
/// the cells.
template <typename Number, int Stride>
class LaneBalance {
 public:
  using Cells = LaneCells<Number, Stride>;

  /// @param high, low  cells for the sums of every velocity.
  CAROM_DEVICE LaneBalance(const Cells& high, const Cells& low, int count) noexcept
      : high_(high), low_(low) {
    for (int i = 0; i < count; ++i) {
      high_.set(i, Number(0));
      low_.set(i, Number(0));
    }
  }
  /// Adds A (v − v*), where `matrix` has the lower half of A.
  CAROM_DEVICE void add_momentum(const LaneRows& rows, const Cells& matrix, const Cells& velocity,
                                 const Cells& free) const noexcept {
    const auto change = [&](int i) {
      LaneSum<Number> sum{velocity[i], Number(0)};
      sum.add(-free[i]);
      return sum;
    };
    for (int i = 0; i < rows.count; ++i) {
      const Cells row = matrix.from(rows.place[i]);
      const LaneSum<Number> own = change(i);
      for (int k = rows.first_column[i]; k < i; ++k) {
        add_product(i, row[k], change(k));
        add_product(k, row[k], own);
      }
      add_product(i, row[i], own);
    }
  }
  /// Takes away what the impulse of a row pushes.
  /// @param jacobian  of a side, `rows` numbers for each column.
  CAROM_DEVICE void take_push(const LaneSide& side, int rows, const Cells& jacobian,
                              const Cells& impulse) const noexcept {
    for (int c = 0; c < side.count; ++c) {
      for (int r = 0; r < rows; ++r) {
        add_product(side.column + c, -jacobian[rows * c + r], {impulse[r], Number(0)});
      }
    }
  }
  [[nodiscard]] CAROM_DEVICE Number sum(int i) const noexcept { return high_[i] + low_[i]; }

 private:
  CAROM_DEVICE void add_product(int i, const Number& a, const LaneSum<Number>& b) const noexcept {
    LaneSum<Number> sum{high_[i], low_[i]};
    sum.add_product(a, b.high);
    high_.set(i, sum.high);
    low_.set(i, sum.low + a * b.low);
  }

  Cells high_, low_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
