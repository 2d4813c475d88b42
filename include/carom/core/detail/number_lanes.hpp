// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <Eigen/Core>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/scalar.hpp"

/// @file
/// Numbers side by side in registers, whose sums and products are values and not expressions: a
/// formula costs no more to compile than the functions that it calls.

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Count numbers in as few registers as the caller's compiler flags allow. Its functions have the
/// names and the meaning of Eigen's for arrays.
template <typename Scalar, int Count>
class NumberLanes {
  using Widest = typename Eigen::internal::find_best_packet<Scalar, Count>::type;
  static constexpr bool fits = Count % Eigen::internal::unpacket_traits<Widest>::size == 0;

 public:
  using Register = std::conditional_t<fits, Widest, Scalar>;
  static constexpr int width = Eigen::internal::unpacket_traits<Register>::size;
  static constexpr int count = Count / width;

  /// Without values.
  NumberLanes() noexcept = default;
  /// The numbers that stand at a place, which need not be aligned.
  [[nodiscard]] static NumberLanes at(const Scalar* from) noexcept {
    NumberLanes result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      result.registers_[k] = Eigen::internal::ploadu<Register>(from + k * width);
    }
    return result;
  }
  /// The same number in every lane.
  [[nodiscard]] static NumberLanes Constant(const Scalar& number) noexcept {
    const Register all = Eigen::internal::pset1<Register>(number);
    NumberLanes result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) result.registers_[k] = all;
    return result;
  }
  [[nodiscard]] static NumberLanes Zero() noexcept { return Constant(Scalar(0)); }
  void setZero() noexcept { *this = Zero(); }
  void write_to(Scalar* to) const noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) Eigen::internal::pstoreu(to + k * width, registers_[k]);
  }

  NumberLanes& operator+=(const NumberLanes& other) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      registers_[k] = Eigen::internal::padd(registers_[k], other.registers_[k]);
    }
    return *this;
  }
  NumberLanes& operator-=(const NumberLanes& other) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      registers_[k] = Eigen::internal::psub(registers_[k], other.registers_[k]);
    }
    return *this;
  }
  NumberLanes& operator*=(const NumberLanes& other) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      registers_[k] = Eigen::internal::pmul(registers_[k], other.registers_[k]);
    }
    return *this;
  }
  NumberLanes& operator/=(const NumberLanes& other) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      registers_[k] = Eigen::internal::pdiv(registers_[k], other.registers_[k]);
    }
    return *this;
  }
  NumberLanes& operator*=(const Scalar& factor) noexcept { return *this *= Constant(factor); }

  [[nodiscard]] friend NumberLanes operator+(NumberLanes a, const NumberLanes& b) noexcept {
    return a += b;
  }
  [[nodiscard]] friend NumberLanes operator-(NumberLanes a, const NumberLanes& b) noexcept {
    return a -= b;
  }
  [[nodiscard]] friend NumberLanes operator*(NumberLanes a, const NumberLanes& b) noexcept {
    return a *= b;
  }
  [[nodiscard]] friend NumberLanes operator/(NumberLanes a, const NumberLanes& b) noexcept {
    return a /= b;
  }
  [[nodiscard]] friend NumberLanes operator*(NumberLanes a, const Scalar& factor) noexcept {
    return a *= factor;
  }
  [[nodiscard]] friend NumberLanes operator*(const Scalar& factor, NumberLanes a) noexcept {
    return a *= factor;
  }
  [[nodiscard]] friend NumberLanes operator-(NumberLanes a) noexcept {
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) a.registers_[k] = Eigen::internal::pnegate(a.registers_[k]);
    return a;
  }

  [[nodiscard]] NumberLanes square() const noexcept { return *this * *this; }
  [[nodiscard]] NumberLanes abs() const noexcept {
    NumberLanes result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) result.registers_[k] = Eigen::internal::pabs(registers_[k]);
    return result;
  }
  [[nodiscard]] NumberLanes sqrt() const noexcept {
    NumberLanes result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) result.registers_[k] = Eigen::internal::psqrt(registers_[k]);
    return result;
  }
  [[nodiscard]] NumberLanes larger_of(const NumberLanes& other) const noexcept {
    NumberLanes result;
    CAROM_UNROLL
    for (int k = 0; k < count; ++k) {
      result.registers_[k] = Eigen::internal::pmax(registers_[k], other.registers_[k]);
    }
    return result;
  }
  [[nodiscard]] NumberLanes smaller_of(const NumberLanes& other) const noexcept {
    NumberLanes result;
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
  [[nodiscard]] Scalar maxCoeff() const noexcept {
    Register largest = registers_[0];
    CAROM_UNROLL
    for (int k = 1; k < count; ++k) largest = Eigen::internal::pmax(largest, registers_[k]);
    return Eigen::internal::predux_max(largest);
  }

  /// The same numbers in another type.
  template <typename Other>
  [[nodiscard]] NumberLanes<Other, Count> cast() const noexcept {
    Scalar from[Count];
    Other to[Count];
    write_to(from);
    for (int k = 0; k < Count; ++k) to[k] = Other(from[k]);
    return NumberLanes<Other, Count>::at(to);
  }

  /// The numbers at a place of the caller's, to read and to write.
  class Place {
   public:
    explicit Place(Scalar* numbers) noexcept : numbers_(numbers) {}
    Place(const Place&) noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a place stands for its numbers in formulas.
    operator NumberLanes() const noexcept { return NumberLanes::at(numbers_); }
    Place& operator=(const NumberLanes& value) noexcept {
      value.write_to(numbers_);
      return *this;
    }
    Place& operator=(const Place& other) noexcept { return *this = NumberLanes(other); }
    void operator+=(const NumberLanes& value) noexcept { *this = *this + value; }
    void operator-=(const NumberLanes& value) noexcept { *this = *this - value; }

   private:
    Scalar* numbers_;
  };

 private:
  Register registers_[count];
};

/// Rows handled together. Columns are padded to a multiple of it, so that no rows are left over.
inline constexpr Index row_lanes = 8;

template <typename Scalar>
using RowLanes = NumberLanes<Scalar, int(row_lanes)>;

[[nodiscard]] constexpr Index lanes_below(Index row) noexcept {
  return row / row_lanes * row_lanes;
}
[[nodiscard]] constexpr Index lanes_above(Index row) noexcept {
  return lanes_below(row + row_lanes - 1);
}

/// The numbers from a place on, to read.
template <typename Scalar>
[[nodiscard]] inline RowLanes<Scalar> lanes_at(const Scalar* data) noexcept {
  return RowLanes<Scalar>::at(data);
}
/// The same to write to as well.
template <typename Scalar>
[[nodiscard]] inline typename RowLanes<Scalar>::Place lanes_at(Scalar* data) noexcept {
  return typename RowLanes<Scalar>::Place(data);
}

/// Calls visit<Lanes>(k) for numbers from k on, as many as Lanes has, until all are visited.
template <typename Scalar, typename Visit>
void for_each_lanes(Index count, const Visit& visit) noexcept {
  Index k = 0;
  for (; k + row_lanes <= count; k += row_lanes) visit.template operator()<RowLanes<Scalar>>(k);
  for (; k < count; ++k) visit.template operator()<NumberLanes<Scalar, 1>>(k);
}
/// The sum of term<Lanes>(k) over all numbers, with k as above.
template <typename Scalar, typename Term>
[[nodiscard]] Scalar sum_lanes(Index count, const Term& term) noexcept {
  RowLanes<Scalar> sum = RowLanes<Scalar>::Zero();
  NumberLanes<Scalar, 1> rest = NumberLanes<Scalar, 1>::Zero();
  Index k = 0;
  for (; k + row_lanes <= count; k += row_lanes) {
    sum += term.template operator()<RowLanes<Scalar>>(k);
  }
  for (; k < count; ++k) rest += term.template operator()<NumberLanes<Scalar, 1>>(k);
  return sum.sum() + rest.sum();
}

/// x·x.
template <typename Scalar>
[[nodiscard]] Scalar squared_norm(const Scalar* x, Index count) noexcept {
  return sum_lanes<Scalar>(count,
                           [&]<typename Lanes>(Index k) { return Lanes::at(x + k).square(); });
}
/// Σ a x².
template <typename Scalar>
[[nodiscard]] Scalar weighted_square(const Scalar* a, const Scalar* x, Index count) noexcept {
  return sum_lanes<Scalar>(
      count, [&]<typename Lanes>(Index k) { return Lanes::at(a + k) * Lanes::at(x + k).square(); });
}

/// Σ a b.
template <typename Scalar>
[[nodiscard]] Scalar sum_of_products(const Scalar* a, const Scalar* b, Index count) noexcept {
  return sum_lanes<Scalar>(
      count, [&]<typename Lanes>(Index k) { return Lanes::at(a + k) * Lanes::at(b + k); });
}
/// Σ |x|.
template <typename Scalar>
[[nodiscard]] Scalar sum_of_sizes(const Scalar* x, Index count) noexcept {
  return sum_lanes<Scalar>(count, [&]<typename Lanes>(Index k) { return Lanes::at(x + k).abs(); });
}
/// y ← a + factor b; y may be one of them.
template <typename Scalar>
void write_sum(const Scalar* a, const Scalar& factor, const Scalar* b, Index count,
               Scalar* y) noexcept {
  for_each_lanes<Scalar>(count, [&]<typename Lanes>(Index k) {
    (Lanes::at(a + k) + factor * Lanes::at(b + k)).write_to(y + k);
  });
}
/// y ← −x.
template <typename Scalar>
void write_negative(const Scalar* x, Index count, Scalar* y) noexcept {
  for_each_lanes<Scalar>(count,
                         [&]<typename Lanes>(Index k) { (-Lanes::at(x + k)).write_to(y + k); });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
