// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/lanes.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An array whose every entry is a number for each lane, side by side in memory.
/// @tparam Number  Lanes<Scalar, Count>.
/// @tparam Stride  numbers from an entry to the next, at least the count of lanes: several groups
/// of
///                 lanes may share the entries, as the threads of a graphics processor do.
template <typename Number, int Stride>
class LaneCells {
 public:
  using Scalar = typename Number::scalar_type;
  static_assert(Stride >= Number::count);

  LaneCells() = default;
  CAROM_DEVICE explicit LaneCells(Scalar* first) noexcept : first_(first) {}

  CAROM_DEVICE Number operator[](int i) const noexcept { return Number::load(first_ + i * Stride); }
  CAROM_DEVICE void set(int i, const Number& number) const noexcept {
    number.store(first_ + i * Stride);
  }
  CAROM_DEVICE void add(int i, const Number& number) const noexcept { set(i, (*this)[i] + number); }
  /// The entries from one on.
  CAROM_DEVICE LaneCells from(int i) const noexcept { return LaneCells(first_ + i * Stride); }
  /// The number of one lane.
  CAROM_DEVICE Scalar& of_lane(int i, int lane) const noexcept { return first_[i * Stride + lane]; }

 private:
  Scalar* first_ = nullptr;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
