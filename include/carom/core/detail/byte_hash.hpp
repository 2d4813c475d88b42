// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "carom/core/expects.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An unsigned integer with its bytes in the other order.
template <typename Integer>
[[nodiscard]] constexpr Integer with_bytes_reversed(Integer x) noexcept {
  Integer result = 0;
  for (std::size_t i = 0; i < sizeof x; ++i) {
    result = Integer(result << 8) | Integer(x & 0xff);
    x = Integer(x >> 8);
  }
  return result;
}

/// The integer whose bytes in memory are those of x from the lowest to the highest. It is its own
/// inverse.
template <typename Integer>
[[nodiscard]] constexpr Integer little_endian(Integer x) noexcept {
  static_assert(
      std::endian::native == std::endian::little || std::endian::native == std::endian::big,
      "the bytes of a number are in one of the two usual orders");
  return std::endian::native == std::endian::little ? x : with_bytes_reversed(x);
}

/// A hash of 64 bits over words of eight bytes, equal on all machines (docs/file_formats.md). It
/// finds accidental changes, not intended ones.
///
/// Four lanes take the words in turn: h ← rotl(h ⊕ word, 29) · P with an odd P. Each step, and the
/// sum of the lanes at the end, can be inverted in h and in the word. Bytes that differ in one word
/// therefore always have different hashes.
/// @param bytes  `count` of them, a multiple of eight.
[[nodiscard]] inline std::uint64_t hash_words(const void* bytes, std::size_t count) noexcept {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;  // odd, 2⁶⁴ divided by the golden ratio
  const auto* at = static_cast<const unsigned char*>(bytes);
  const auto mix = [&](std::uint64_t& lane) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    lane = std::rotl(lane ^ little_endian(word), 29) * factor;
    at += sizeof word;
  };
  std::uint64_t lanes[4]{1, 2, 3, 4};
  const std::size_t words = count / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < words / 4; ++i) {
    for (std::uint64_t& lane : lanes) mix(lane);
  }
  for (std::size_t i = 0; i < words % 4; ++i) mix(lanes[i]);
  std::uint64_t hash = std::uint64_t(count);
  for (const std::uint64_t lane : lanes) {
    hash = (hash ^ lane) * factor;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
