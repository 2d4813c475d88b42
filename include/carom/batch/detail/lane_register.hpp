// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <type_traits>
#include <utility>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/expects.hpp"

// Registers of 64-bit processors only: on 32-bit x86, g++ 12 puts them on the stack unaligned.
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__) && \
    ((defined(__SSE2__) && defined(__x86_64__)) || defined(__aarch64__))
#define CAROM_LANE_REGISTERS 1
#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif
#else
#define CAROM_LANE_REGISTERS 0
#endif

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Bytes of the widest register under the caller's compiler flags; 0 if carom supports none.
#if !CAROM_LANE_REGISTERS
inline constexpr int lane_register_bytes = 0;
#elif defined(__AVX512F__)
inline constexpr int lane_register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int lane_register_bytes = 32;
#else
inline constexpr int lane_register_bytes = 16;
#endif

// Plain numbers.

template <std::floating_point Scalar>
[[nodiscard]] CAROM_DEVICE inline Scalar select_register(bool mask, const Scalar& a,
                                                         const Scalar& b) noexcept {
  return mask ? a : b;
}
[[nodiscard]] CAROM_DEVICE inline bool inverse_of(bool mask) noexcept {
  return !mask;
}
[[nodiscard]] CAROM_DEVICE inline bool any_in_register(bool mask) noexcept {
  return mask;
}
template <std::floating_point Scalar>
[[nodiscard]] CAROM_DEVICE inline Scalar root_of_register(const Scalar& x) noexcept {
  using std::sqrt;
  return sqrt(x);
}
/// a b, rounded. Compilers fuse a product and a sum if the processor has such an instruction. An
/// empty assembly statement between the two, which costs nothing, prevents this.
template <std::floating_point Scalar>
[[nodiscard]] CAROM_DEVICE inline Scalar rounded_product(const Scalar& a,
                                                         const Scalar& b) noexcept {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<Scalar, double>) return __dmul_rn(a, b);
  if constexpr (std::same_as<Scalar, float>) return __fmul_rn(a, b);
#endif
  Scalar product = a * b;
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#if defined(__FMA__)
  __asm__("" : "+x"(product));
#elif defined(__aarch64__)
  __asm__("" : "+w"(product));
#elif defined(__riscv) || defined(__s390x__)
  __asm__("" : "+f"(product));
#elif defined(__VSX__)
  __asm__("" : "+wa"(product));
#elif defined(__FP_FAST_FMA) || defined(__ARM_FEATURE_FMA)
  __asm__("" : "+m"(product));
#endif
#endif
  return product;
}

#if CAROM_LANE_REGISTERS

// Registers.

template <typename Register>
concept LaneVector = std::is_arithmetic_v<std::remove_cvref_t<decltype(Register()[0])>>;

template <LaneVector Mask>
[[nodiscard]] inline Mask inverse_of(const Mask& mask) noexcept {
  return ~mask;
}
template <LaneVector Mask>
[[nodiscard]] inline bool any_in_register(const Mask& mask) noexcept {
#if defined(__AVX512F__)
  if constexpr (sizeof(Mask) == 64)
    return _mm512_test_epi32_mask(__m512i(mask), __m512i(mask)) != 0;
#endif
#if defined(__AVX__)
  if constexpr (sizeof(Mask) == 32) return _mm256_movemask_ps(__m256(mask)) != 0;
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(Mask) == 16) return _mm_movemask_ps(__m128(mask)) != 0;
#else
  return vmaxvq_u32(uint32x4_t(mask)) != 0;
#endif
}
template <LaneVector Mask, LaneVector Register>
[[nodiscard]] inline Register select_register(const Mask& mask, const Register& a,
                                              const Register& b) noexcept {
  return mask ? a : b;
}
template <LaneVector Register>
[[nodiscard]] inline Register root_of_register(const Register& x) noexcept {
  constexpr bool wide = sizeof(x[0]) == 8;
#if defined(__AVX512F__)
  if constexpr (sizeof(Register) == 64 && wide)
    return Register(_mm512_maskz_sqrt_pd(0xff, __m512d(x)));
  if constexpr (sizeof(Register) == 64 && !wide)
    return Register(_mm512_maskz_sqrt_ps(0xffff, __m512(x)));
#endif
#if defined(__AVX__)
  if constexpr (sizeof(Register) == 32 && wide) return Register(_mm256_sqrt_pd(__m256d(x)));
  if constexpr (sizeof(Register) == 32 && !wide) return Register(_mm256_sqrt_ps(__m256(x)));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(Register) == 16 && wide) return Register(_mm_sqrt_pd(__m128d(x)));
  if constexpr (sizeof(Register) == 16 && !wide) return Register(_mm_sqrt_ps(__m128(x)));
#elif defined(__aarch64__)
  if constexpr (wide) return Register(vsqrtq_f64(float64x2_t(x)));
  if constexpr (!wide) return Register(vsqrtq_f32(float32x4_t(x)));
#endif
}
/// As for plain numbers.
template <LaneVector Register>
[[nodiscard]] inline Register rounded_product(const Register& a, const Register& b) noexcept {
  Register product = a * b;
#if defined(__AVX512F__)
  __asm__("" : "+v"(product));
#elif defined(__FMA__)
  __asm__("" : "+x"(product));
#elif defined(__aarch64__)
  __asm__("" : "+w"(product));
#endif
  return product;
}

#endif  // CAROM_LANE_REGISTERS

// Pairs, if one register contains too few numbers.

template <typename Half>
struct RegisterPair {
  Half low, high;

  friend CAROM_DEVICE RegisterPair operator+(const RegisterPair& a,
                                             const RegisterPair& b) noexcept {
    return {a.low + b.low, a.high + b.high};
  }
  friend CAROM_DEVICE RegisterPair operator-(const RegisterPair& a,
                                             const RegisterPair& b) noexcept {
    return {a.low - b.low, a.high - b.high};
  }
  friend CAROM_DEVICE RegisterPair operator/(const RegisterPair& a,
                                             const RegisterPair& b) noexcept {
    return {a.low / b.low, a.high / b.high};
  }
  friend CAROM_DEVICE RegisterPair operator-(const RegisterPair& a) noexcept {
    return {-a.low, -a.high};
  }
  friend CAROM_DEVICE auto operator<(const RegisterPair& a, const RegisterPair& b) noexcept {
    return RegisterPair<decltype(a.low < b.low)>{a.low < b.low, a.high < b.high};
  }
  friend CAROM_DEVICE auto operator<=(const RegisterPair& a, const RegisterPair& b) noexcept {
    return RegisterPair<decltype(a.low <= b.low)>{a.low <= b.low, a.high <= b.high};
  }
  friend CAROM_DEVICE RegisterPair operator&(const RegisterPair& a,
                                             const RegisterPair& b) noexcept {
    return {Half(a.low & b.low), Half(a.high & b.high)};
  }
  friend CAROM_DEVICE RegisterPair operator|(const RegisterPair& a,
                                             const RegisterPair& b) noexcept {
    return {Half(a.low | b.low), Half(a.high | b.high)};
  }
};

template <typename Half>
[[nodiscard]] CAROM_DEVICE RegisterPair<Half> inverse_of(const RegisterPair<Half>& mask) noexcept {
  return {inverse_of(mask.low), inverse_of(mask.high)};
}
template <typename Half>
[[nodiscard]] CAROM_DEVICE bool any_in_register(const RegisterPair<Half>& mask) noexcept {
  return any_in_register(mask.low) || any_in_register(mask.high);
}
template <typename Mask, typename Half>
[[nodiscard]] CAROM_DEVICE RegisterPair<Half> select_register(
    const RegisterPair<Mask>& mask, const RegisterPair<Half>& a,
    const RegisterPair<Half>& b) noexcept {
  return {select_register(mask.low, a.low, b.low), select_register(mask.high, a.high, b.high)};
}
template <typename Half>
[[nodiscard]] CAROM_DEVICE RegisterPair<Half> root_of_register(
    const RegisterPair<Half>& x) noexcept {
  return {root_of_register(x.low), root_of_register(x.high)};
}
template <typename Half>
[[nodiscard]] CAROM_DEVICE RegisterPair<Half> rounded_product(
    const RegisterPair<Half>& a, const RegisterPair<Half>& b) noexcept {
  return {rounded_product(a.low, b.low), rounded_product(a.high, b.high)};
}

/// Whether a register contains `Count` numbers.
template <typename Scalar, int Count>
inline constexpr bool fits_register =
    Count > 1 &&
    Count* int(sizeof(Scalar)) >= 16 && Count* int(sizeof(Scalar)) <= lane_register_bytes;

/// The storage of `Count` numbers, and of the results of a comparison of them.
template <typename Scalar, int Count>
struct LaneRegister {
  static_assert(std::has_single_bit(unsigned(Count)), "lanes come in powers of two");
  using Half = LaneRegister<Scalar, Count / 2>;
  using Type = RegisterPair<typename Half::Type>;
  using Mask = RegisterPair<typename Half::Mask>;
  [[nodiscard]] CAROM_DEVICE static Type broadcast(const Scalar& shared) noexcept {
    return {Half::broadcast(shared), Half::broadcast(shared)};
  }
  [[nodiscard]] CAROM_DEVICE static Type gather(const Scalar* const* arrays, int at) noexcept {
    return {Half::gather(arrays, at), Half::gather(arrays + Count / 2, at)};
  }
};

template <typename Scalar>
struct LaneRegister<Scalar, 1> {
  using Type = Scalar;
  using Mask = bool;
  [[nodiscard]] CAROM_DEVICE static Type broadcast(const Scalar& shared) noexcept { return shared; }
  [[nodiscard]] CAROM_DEVICE static Type gather(const Scalar* const* arrays, int at) noexcept {
    return arrays[0][at];
  }
};

#if CAROM_LANE_REGISTERS
template <typename Scalar, int Count>
requires fits_register<Scalar, Count>
struct LaneRegister<Scalar, Count> {
  using Type __attribute__((vector_size(Count * sizeof(Scalar)))) = Scalar;
  using Mask = decltype(Type() < Type());
  [[nodiscard]] static Type broadcast(const Scalar& shared) noexcept { return Type() + shared; }
  /// Avoids a copy through memory, which would wait for one store per number.
  [[nodiscard]] static Type gather(const Scalar* const* arrays, int at) noexcept {
    return [&]<int... Lane>(std::integer_sequence<int, Lane...>) {
      return Type{arrays[Lane][at]...};
    }
    (std::make_integer_sequence<int, Count>());
  }
};
#endif

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
