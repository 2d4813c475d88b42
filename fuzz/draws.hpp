// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "carom/core/scalar.hpp"

/// @file
/// Numbers out of the bytes of an input, and what ends a target that has found something.
namespace carom::fuzz {

/// Ends the program with a sentence if something does not hold.
inline void demand(bool holds, const char* what, double got = 0, double allowed = 0) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s (%.9g, allowed %.9g)\n", what, got, allowed);
  std::abort();
}

/// Draws from the bytes of an input, so that a change of one byte changes one draw. Behind the last
/// byte a generator with the first bytes as its seed continues: a short input is a whole problem
/// too.
class Draws {
 public:
  Draws(const std::uint8_t* data, std::size_t size) noexcept : next_(data), end_(data + size) {
    for (std::size_t i = 0; i < size && i < 8; ++i) state_ = state_ * 257 + data[i];
  }

  [[nodiscard]] unsigned byte() noexcept {
    if (next_ != end_) return *next_++;
    state_ += 0x9e3779b97f4a7c15u;  // splitmix64
    std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return unsigned((mixed ^ (mixed >> 31)) & 0xff);
  }
  /// A number in (0, 1) with the digits of two bytes.
  [[nodiscard]] double unit() noexcept {
    const unsigned high = byte();
    return (high * 256 + byte() + 0.5) / 65536;
  }
  [[nodiscard]] bool chance(double share) noexcept { return (byte() + 0.5) / 256 < share; }
  /// 0 … count − 1, for counts up to 256.
  [[nodiscard]] int below(int count) noexcept { return int(byte()) % count; }
  template <typename T, std::size_t Count>
  [[nodiscard]] T pick(const T (&list)[Count]) noexcept {
    return list[std::size_t(below(int(Count)))];
  }
  /// A number > 0, as likely in each of `decades` decades around one.
  [[nodiscard]] double positive(double decades) noexcept {
    return std::pow(10.0, decades * (unit() - 0.5));
  }
  /// A number of either sign, one in ten zero.
  [[nodiscard]] double entry(double decades) noexcept {
    const unsigned kind = byte();
    if (kind % 10 == 0) return 0;
    const double size = positive(decades);
    return kind % 2 == 0 ? size : -size;
  }
  template <typename Matrix>
  void fill(Matrix& matrix, double decades) noexcept {
    using Scalar = typename Matrix::Scalar;
    for (Index c = 0; c < matrix.cols(); ++c) {
      for (Index r = 0; r < matrix.rows(); ++r) matrix(r, c) = Scalar(entry(decades));
    }
  }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
  std::uint64_t state_ = 1;
};

}  // namespace carom::fuzz
