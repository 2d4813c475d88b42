// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include <Eigen/Core>

namespace carom::bits {

/// Takes the numbers that a scene computes, one after the other: a 64-bit hash of their bits, which
/// is the same whatever the order of bytes in memory. All numbers that are not numbers are one,
/// since IEEE 754 leaves their other bits to the processor.
class Bits {
 public:
  /// @param listing  whether each number is also printed, one per line.
  explicit Bits(bool listing) : listing_(listing) {}

  void take(std::integral auto number) {
    mix(std::uint64_t(number));
    if (listing_) std::printf("  %lld\n", static_cast<long long>(number));
  }
  void take(std::floating_point auto number) {
    using Word = std::conditional_t<sizeof(number) == 4, std::uint32_t, std::uint64_t>;
    static_assert(sizeof(number) == sizeof(Word), "float and double only");
    mix(number == number ? std::uint64_t(std::bit_cast<Word>(number)) : 0x7ff8000000000000);
    if (listing_) std::printf("  %a\n", double(number));
  }
  template <typename Derived>
  void take(const Eigen::MatrixBase<Derived>& numbers) {
    for (Eigen::Index j = 0; j < numbers.cols(); ++j) {
      for (Eigen::Index i = 0; i < numbers.rows(); ++i) take(numbers.derived().coeff(i, j));
    }
  }
  /// Of a solve: how it ended and after how many iterations.
  template <typename Report>
  void take_report(const Report& report) {
    take(int(report.status));
    take(report.iterations);
  }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  /// FNV-1a, byte by byte from the lowest.
  void mix(std::uint64_t word) {
    for (int k = 0; k < 8; ++k, word >>= 8) hash_ = (hash_ ^ (word & 0xff)) * 0x100000001b3;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325;
  bool listing_;
};

/// A scene of the program: its name, one word, and what it computes. Scenes are registered as
/// objects with static storage, so that a program has those of the files it is linked from.
struct Scene {
  Scene(const char* scene_name, void (*action)(Bits&))
      : name(scene_name), run(action), next(first) {
    first = this;
  }
  const char* name;
  void (*run)(Bits&);
  const Scene* next;
  static inline const Scene* first = nullptr;
};

/// Numbers between -1 and 1 that are the same everywhere.
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return double(state_ >> 11) * 0x1p-52 - 1;
  }
  Eigen::VectorXd vector(Eigen::Index size) {
    Eigen::VectorXd out(size);
    for (double& number : out) number = next();
    return out;
  }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace carom::bits
