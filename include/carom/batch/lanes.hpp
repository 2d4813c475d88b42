// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstring>

#include "carom/batch/detail/lane_register.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// For each lane, whether it satisfies a condition.
template <std::floating_point Scalar, int Count>
struct LaneMask {
  using Register = typename detail::LaneRegister<Scalar, Count>::Mask;
  Register value;

  friend CAROM_DEVICE LaneMask operator&(const LaneMask& a, const LaneMask& b) noexcept {
    return {Register(a.value & b.value)};
  }
  friend CAROM_DEVICE LaneMask operator|(const LaneMask& a, const LaneMask& b) noexcept {
    return {Register(a.value | b.value)};
  }
  friend CAROM_DEVICE LaneMask operator!(const LaneMask& a) noexcept {
    return {detail::inverse_of(a.value)};
  }
};

/// Numbers of several problems, one per lane, in registers of the processor.
///
/// Each operation rounds each lane once, by the rules of IEEE 754, and does not depend on the other
/// lanes. A product is always rounded before it is added, also where the compiler could fuse the
/// two. The bits of a program with lanes are therefore the same for any count of lanes, on any
/// processor.
/// @tparam Count  1, or a power of two. If one register under the caller's compiler flags is too
///                small, several registers are used. One lane is the plain number.
template <std::floating_point Scalar, int Count>
struct Lanes {
  using scalar_type = Scalar;
  using Mask = LaneMask<Scalar, Count>;
  using Register = typename detail::LaneRegister<Scalar, Count>::Type;
  static constexpr int count = Count;

  Register value;

  Lanes() = default;
  CAROM_DEVICE Lanes(const Scalar& shared) noexcept  // NOLINT(google-explicit-constructor)
      : value(detail::LaneRegister<Scalar, Count>::broadcast(shared)) {}
  CAROM_DEVICE static Lanes of(const Register& value) noexcept {
    Lanes lanes;
    lanes.value = value;
    return lanes;
  }
  /// @param numbers  `Count` of them, of any alignment.
  CAROM_DEVICE static Lanes load(const Scalar* numbers) noexcept {
    Lanes lanes;
    std::memcpy(&lanes.value, numbers, sizeof(Register));
    return lanes;
  }
  /// One number from each of `Count` arrays.
  CAROM_DEVICE static Lanes gather(const Scalar* const* arrays, int at) noexcept {
    return of(detail::LaneRegister<Scalar, Count>::gather(arrays, at));
  }
  CAROM_DEVICE void store(Scalar* numbers) const noexcept {
    std::memcpy(numbers, &value, sizeof(Register));
  }

  friend CAROM_DEVICE Lanes operator+(const Lanes& a, const Lanes& b) noexcept {
    return of(a.value + b.value);
  }
  friend CAROM_DEVICE Lanes operator-(const Lanes& a, const Lanes& b) noexcept {
    return of(a.value - b.value);
  }
  friend CAROM_DEVICE Lanes operator*(const Lanes& a, const Lanes& b) noexcept {
    return of(detail::rounded_product(a.value, b.value));
  }
  friend CAROM_DEVICE Lanes operator/(const Lanes& a, const Lanes& b) noexcept {
    return of(a.value / b.value);
  }
  friend CAROM_DEVICE Lanes operator-(const Lanes& a) noexcept { return of(-a.value); }
  CAROM_DEVICE Lanes& operator+=(const Lanes& other) noexcept { return *this = *this + other; }
  CAROM_DEVICE Lanes& operator-=(const Lanes& other) noexcept { return *this = *this - other; }
  CAROM_DEVICE Lanes& operator*=(const Lanes& other) noexcept { return *this = *this * other; }

  friend CAROM_DEVICE Mask operator<(const Lanes& a, const Lanes& b) noexcept {
    return {a.value < b.value};
  }
  friend CAROM_DEVICE Mask operator<=(const Lanes& a, const Lanes& b) noexcept {
    return {a.value <= b.value};
  }
  friend CAROM_DEVICE Mask operator>(const Lanes& a, const Lanes& b) noexcept { return b < a; }
  friend CAROM_DEVICE Mask operator>=(const Lanes& a, const Lanes& b) noexcept { return b <= a; }

  /// In each lane `a` where the mask is true, `b` elsewhere.
  friend CAROM_DEVICE Lanes select(const Mask& mask, const Lanes& a, const Lanes& b) noexcept {
    return of(detail::select_register(mask.value, a.value, b.value));
  }
  /// The smaller number; `b` where one is NaN.
  friend CAROM_DEVICE Lanes smaller(const Lanes& a, const Lanes& b) noexcept {
    return select(a < b, a, b);
  }
  /// The larger number; `b` where one is NaN.
  friend CAROM_DEVICE Lanes larger(const Lanes& a, const Lanes& b) noexcept {
    return select(a > b, a, b);
  }
  /// The absolute value.
  friend CAROM_DEVICE Lanes abs(const Lanes& a) noexcept { return larger(a, -a); }
  friend CAROM_DEVICE Lanes sqrt(const Lanes& a) noexcept {
    return of(detail::root_of_register(a.value));
  }
};

/// Whether the condition is true in some lane.
template <typename Scalar, int Count>
[[nodiscard]] CAROM_DEVICE bool any(const LaneMask<Scalar, Count>& mask) noexcept {
  return detail::any_in_register(mask.value);
}

/// The same answer in each lane.
template <typename Number>
[[nodiscard]] CAROM_DEVICE typename Number::Mask everywhere(bool answer) noexcept {
  return answer ? Number(0) <= Number(0) : Number(0) < Number(0);
}

/// A condition on the numbers of the lanes: 1 where it is true, 0 elsewhere.
template <typename Scalar, int Count>
[[nodiscard]] CAROM_DEVICE Lanes<Scalar, Count> as_numbers(
    const LaneMask<Scalar, Count>& mask) noexcept {
  return select(mask, Lanes<Scalar, Count>(Scalar(1)), Lanes<Scalar, Count>(Scalar(0)));
}

}  // namespace CAROM_ABI
}  // namespace carom
