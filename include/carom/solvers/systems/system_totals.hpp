// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether the blocks of a system are on several machines, which search in step with each other.
/// Such a system has counts(block), total(numbers), largest(number) and agreed(good), with the
/// meaning of the functions below. All machines call them, and all get the same results. In all
/// other systems each block exists once, on the calling machine.
template <typename System>
inline constexpr bool is_distributed = requires(const System& system) {
  system.counts(Index());
};

/// Whether this machine includes a block in totals: a block may be on two machines.
template <typename System>
[[nodiscard]] bool counts_block(const System& system, Index block) noexcept {
  if constexpr (is_distributed<System>) {
    return system.counts(block);
  } else {
    return true;
  }
}

/// The sums of numbers over all machines.
template <typename System, RealScalar Scalar, std::size_t Count>
[[nodiscard]] std::array<Scalar, Count> total_of(
    System& system, const std::array<Scalar, Count>& numbers) noexcept {
  if constexpr (is_distributed<System>) {
    return system.total(numbers);
  } else {
    return numbers;
  }
}

/// The largest of the machines' numbers.
template <typename System, RealScalar Scalar>
[[nodiscard]] Scalar largest_of(System& system, const Scalar& number) noexcept {
  if constexpr (is_distributed<System>) {
    return system.largest(number);
  } else {
    return number;
  }
}

/// Whether something is true on every machine.
template <typename System>
[[nodiscard]] bool agreed(System& system, bool good) noexcept {
  if constexpr (is_distributed<System>) {
    return system.agreed(good);
  } else {
    return good;
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
