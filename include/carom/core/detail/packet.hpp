// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <Eigen/Core>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/scalar.hpp"

/// @file
/// Packets of numbers in registers. Their sums and products are values and not expression
/// templates, so a formula compiles as fast as the functions that it calls.

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A packet of Count numbers, in as few registers as the compiler flags allow. Its functions have
/// the names and the meaning of Eigen's array functions.
template <typename Scalar, int Count>
class Packet {
  using Widest = typename Eigen::internal::find_best_packet<Scalar, Count>::type;
  static constexpr bool fits = Count % Eigen::internal::unpacket_traits<Widest>::size == 0;

 public:
  using Register = std::conditional_t<fits, Widest, Scalar>;
  static constexpr int width = Eigen::internal::unpacket_traits<Register>::size;
  static constexpr int count = Count / width;

  /// Leaves the values uninitialised.
  Packet() noexcept = default;
  /// Reads the numbers at an address, which need not be aligned.
  [[nodiscard]] static Packet at(const Scalar* from) noexcept {
    Packet result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      result.registers_[k] = Eigen::internal::ploadu<Register>(from + k * width);
    }
    return result;
  }
  // NOLINTBEGIN(readability-identifier-naming): names of Eigen's arrays, in whose place it stands
  /// The same number in every entry.
  [[nodiscard]] static Packet Constant(const Scalar& number) noexcept {
    const Register all = Eigen::internal::pset1<Register>(number);
    Packet result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) result.registers_[k] = all;
    return result;
  }
  [[nodiscard]] static Packet Zero() noexcept { return Constant(Scalar(0)); }
  void setZero() noexcept { *this = Zero(); }
  // NOLINTEND(readability-identifier-naming)
  void write_to(Scalar* to) const noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) Eigen::internal::pstoreu(to + k * width, registers_[k]);
  }

  Packet& operator+=(const Packet& other) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      registers_[k] = Eigen::internal::padd(registers_[k], other.registers_[k]);
    }
    return *this;
  }
  Packet& operator-=(const Packet& other) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      registers_[k] = Eigen::internal::psub(registers_[k], other.registers_[k]);
    }
    return *this;
  }
  Packet& operator*=(const Packet& other) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      registers_[k] = Eigen::internal::pmul(registers_[k], other.registers_[k]);
    }
    return *this;
  }
  Packet& operator/=(const Packet& other) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      registers_[k] = Eigen::internal::pdiv(registers_[k], other.registers_[k]);
    }
    return *this;
  }
  Packet& operator*=(const Scalar& factor) noexcept { return *this *= Constant(factor); }

  [[nodiscard]] friend Packet operator+(Packet a, const Packet& b) noexcept { return a += b; }
  [[nodiscard]] friend Packet operator-(Packet a, const Packet& b) noexcept { return a -= b; }
  [[nodiscard]] friend Packet operator*(Packet a, const Packet& b) noexcept { return a *= b; }
  [[nodiscard]] friend Packet operator/(Packet a, const Packet& b) noexcept { return a /= b; }
  [[nodiscard]] friend Packet operator*(Packet a, const Scalar& factor) noexcept {
    return a *= factor;
  }
  [[nodiscard]] friend Packet operator*(const Scalar& factor, Packet a) noexcept {
    return a *= factor;
  }
  [[nodiscard]] friend Packet operator-(Packet a) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) a.registers_[k] = Eigen::internal::pnegate(a.registers_[k]);
    return a;
  }

  [[nodiscard]] Packet square() const noexcept { return *this * *this; }
  [[nodiscard]] Packet abs() const noexcept {
    Packet result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) result.registers_[k] = Eigen::internal::pabs(registers_[k]);
    return result;
  }
  [[nodiscard]] Packet sqrt() const noexcept {
    Packet result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) result.registers_[k] = Eigen::internal::psqrt(registers_[k]);
    return result;
  }
  [[nodiscard]] Packet larger_of(const Packet& other) const noexcept {
    Packet result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      result.registers_[k] = Eigen::internal::pmax(registers_[k], other.registers_[k]);
    }
    return result;
  }
  [[nodiscard]] Packet smaller_of(const Packet& other) const noexcept {
    Packet result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      result.registers_[k] = Eigen::internal::pmin(registers_[k], other.registers_[k]);
    }
    return result;
  }
  [[nodiscard]] Scalar sum() const noexcept {
    Register total = registers_[0];
    CAROM_UNROLL
    for (int k = 1; k < count; ++k) total = Eigen::internal::padd(total, registers_[k]);
    return Eigen::internal::predux(total);
  }
  // NOLINTNEXTLINE(readability-identifier-naming): the name that Eigen's arrays have for it
  [[nodiscard]] Scalar maxCoeff() const noexcept {
    Register largest = registers_[0];
    CAROM_UNROLL
    for (int k = 1; k < count; ++k) largest = Eigen::internal::pmax(largest, registers_[k]);
    if constexpr (width == 1)
      return largest;  // Eigen aligns a copy to its size, 12 of some types
    else
      return Eigen::internal::predux_max(largest);
  }

  /// The same numbers, converted to another type.
  template <typename Other>
  [[nodiscard]] Packet<Other, Count> cast() const noexcept {
    Scalar from[Count];
    Other to[Count];
    write_to(from);
    for (int k = 0; k < Count; ++k) to[k] = Other(from[k]);
    return Packet<Other, Count>::at(to);
  }

  /// A reference to numbers in the caller's memory, for reading and writing.
  class Place {
   public:
    explicit Place(Scalar* numbers) noexcept : numbers_(numbers) {}
    Place(const Place&) noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a place represents its numbers in formulas.
    operator Packet() const noexcept { return Packet::at(numbers_); }
    Place& operator=(const Packet& value) noexcept {
      value.write_to(numbers_);
      return *this;
    }
    Place& operator=(const Place& other) noexcept { return *this = Packet(other); }
    void operator+=(const Packet& value) noexcept { *this = *this + value; }
    void operator-=(const Packet& value) noexcept { *this = *this - value; }

   private:
    Scalar* numbers_;
  };

 private:
  Register registers_[count];
};

/// Count of rows that are processed together. Columns are padded to a multiple of it, so that no
/// rows remain.
inline constexpr Index row_lanes = 8;

template <typename Scalar>
using RowPacket = Packet<Scalar, int(row_lanes)>;

[[nodiscard]] constexpr Index lanes_below(Index row) noexcept {
  return row / row_lanes * row_lanes;
}
[[nodiscard]] constexpr Index lanes_above(Index row) noexcept {
  return lanes_below(row + row_lanes - 1);
}

/// Reads the numbers at an address.
template <typename Scalar>
[[nodiscard]] inline RowPacket<Scalar> packet_at(const Scalar* data) noexcept {
  return RowPacket<Scalar>::at(data);
}
/// The same address, for reading and writing.
template <typename Scalar>
[[nodiscard]] inline typename RowPacket<Scalar>::Place packet_at(Scalar* data) noexcept {
  return typename RowPacket<Scalar>::Place(data);
}

/// Calls visit<Numbers>(k) for all numbers, in packets; Numbers is the type of the packet that
/// begins at k.
template <typename Scalar, typename Visit>
void for_each_packet(Index count, const Visit& visit) noexcept {
  Index k = 0;
  for (; k + row_lanes <= count; k += row_lanes) visit.template operator()<RowPacket<Scalar>>(k);
  for (; k < count; ++k) visit.template operator()<Packet<Scalar, 1>>(k);
}
/// The sum of term<Numbers>(k) over all numbers, with k as in the function above.
template <typename Scalar, typename Term>
[[nodiscard]] Scalar sum_packets(Index count, const Term& term) noexcept {
  RowPacket<Scalar> sum = RowPacket<Scalar>::Zero();
  Packet<Scalar, 1> rest = Packet<Scalar, 1>::Zero();
  Index k = 0;
  for (; k + row_lanes <= count; k += row_lanes) {
    sum += term.template operator()<RowPacket<Scalar>>(k);
  }
  for (; k < count; ++k) rest += term.template operator()<Packet<Scalar, 1>>(k);
  return sum.sum() + rest.sum();
}

/// x·x.
template <typename Scalar>
[[nodiscard]] Scalar squared_norm(const Scalar* x, Index count) noexcept {
  return sum_packets<Scalar>(
      count, [&]<typename Numbers>(Index k) { return Numbers::at(x + k).square(); });
}
/// Σ a x².
template <typename Scalar>
[[nodiscard]] Scalar weighted_square(const Scalar* a, const Scalar* x, Index count) noexcept {
  return sum_packets<Scalar>(count, [&]<typename Numbers>(Index k) {
    return Numbers::at(a + k) * Numbers::at(x + k).square();
  });
}

/// Σ a b.
template <typename Scalar>
[[nodiscard]] Scalar sum_of_products(const Scalar* a, const Scalar* b, Index count) noexcept {
  return sum_packets<Scalar>(
      count, [&]<typename Numbers>(Index k) { return Numbers::at(a + k) * Numbers::at(b + k); });
}
/// Σ |x|.
template <typename Scalar>
[[nodiscard]] Scalar sum_of_sizes(const Scalar* x, Index count) noexcept {
  return sum_packets<Scalar>(count,
                             [&]<typename Numbers>(Index k) { return Numbers::at(x + k).abs(); });
}
/// y ← a + factor b; y may be a or b.
template <typename Scalar>
void write_sum(const Scalar* a, const Scalar& factor, const Scalar* b, Index count,
               Scalar* y) noexcept {
  for_each_packet<Scalar>(count, [&]<typename Numbers>(Index k) {
    (Numbers::at(a + k) + factor * Numbers::at(b + k)).write_to(y + k);
  });
}
/// y ← −x.
template <typename Scalar>
void write_negative(const Scalar* x, Index count, Scalar* y) noexcept {
  for_each_packet<Scalar>(
      count, [&]<typename Numbers>(Index k) { (-Numbers::at(x + k)).write_to(y + k); });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
