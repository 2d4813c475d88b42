// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace carom::ensemble {

/// Philox4x32: random numbers without a state. Four words are a function of a counter and a key.
/// Any number of any stream can therefore be computed without those before it, on any machine.
///
/// A round multiplies two words of the counter by constants. High halves are mixed with the other
/// words and the key, which is incremented by its own constants.
/// @param rounds  10 passes all tests of randomness that its authors tried, and 7 does too.
/// @cite  salmon2011parallel, Philox-4x32-10.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32(
    std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key,
    int rounds = 10) noexcept {
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t even = std::uint64_t(0xD2511F53) * counter[0];
    const std::uint64_t odd = std::uint64_t(0xCD9E8D57) * counter[2];
    counter = {std::uint32_t(odd >> 32U) ^ counter[1] ^ key[0], std::uint32_t(odd),
               std::uint32_t(even >> 32U) ^ counter[3] ^ key[1], std::uint32_t(even)};
    key[0] += 0x9E3779B9;  // golden ratio
    key[1] += 0xBB67AE85;  // √3 − 1
  }
  return counter;
}

/// The random numbers of one problem: draw k of problem i under a seed, 64 bits each.
///
/// Key: the seed. Counter: the index of the draw's pair in the upper two words, the problem in the
/// lower two. The numbers of a problem therefore depend only on (seed, problem, draw).
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t problem) noexcept
      : key_{std::uint32_t(seed), std::uint32_t(seed >> 32U)}, problem_(problem) {}

  /// Draw k, independent of earlier draws.
  [[nodiscard]] std::uint64_t at(std::uint64_t draw) const noexcept {
    const std::uint64_t pair = draw / 2;
    const auto words = philox4x32({std::uint32_t(problem_), std::uint32_t(problem_ >> 32U),
                                   std::uint32_t(pair), std::uint32_t(pair >> 32U)},
                                  key_);
    const std::size_t half = 2 * (draw % 2);
    return words[half] | (std::uint64_t(words[half + 1]) << 32U);
  }
  /// The next draw.
  std::uint64_t next() noexcept { return at(draw_++); }
  /// Count of draws.
  [[nodiscard]] std::uint64_t draw_count() const noexcept { return draw_; }

  /// In [0, 1): the upper 53 bits.
  double unit() noexcept { return double(next() >> 11U) * 0x1p-53; }
  /// In [low, high).
  double between(double low, double high) noexcept { return low + (high - low) * unit(); }
  /// Uniform in the logarithm, in [low, high), both > 0.
  double across_decades(double low, double high) noexcept {
    return low * std::pow(high / low, unit());
  }
  /// In {0, …, count − 1}, count > 0; as uniform as 64 bits divided by count are.
  int below(int count) noexcept { return int(((next() >> 32U) * std::uint64_t(count)) >> 32U); }
  bool chance(double probability) noexcept { return unit() < probability; }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint64_t problem_, draw_ = 0;
};

}  // namespace carom::ensemble
