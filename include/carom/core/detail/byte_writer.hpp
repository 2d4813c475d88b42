// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "carom/core/detail/byte_hash.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes numbers one after the other into memory, the lowest byte of each first, on any machine.
class ByteWriter {
 public:
  explicit ByteWriter(unsigned char* at) noexcept : at_(at) {}

  [[nodiscard]] unsigned char* position() const noexcept { return at_; }

  /// A number: an integer, float or double.
  template <typename Number>
  void put(Number number) noexcept {
    using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
    static_assert(sizeof(Number) == sizeof(Bits) && std::is_arithmetic_v<Number>);
    const Bits bits = little_endian(std::bit_cast<Bits>(number));
    std::memcpy(at_, &bits, sizeof bits);
    at_ += sizeof bits;
  }
  /// Numbers, or characters, that stand side by side.
  template <typename Number>
  void put_all(const Number* numbers, std::ptrdiff_t count) noexcept {
    if constexpr (std::endian::native == std::endian::little || sizeof(Number) == 1) {
      if (count > 0) std::memcpy(at_, numbers, std::size_t(count) * sizeof(Number));
      at_ += std::size_t(count) * sizeof(Number);
    } else {
      for (std::ptrdiff_t i = 0; i < count; ++i) put(numbers[i]);
    }
  }
  /// Zeros up to a multiple of eight bytes from `start`.
  void fill(const unsigned char* start) noexcept {
    while ((at_ - start) % 8 != 0) *at_++ = 0;
  }

 private:
  unsigned char* at_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
